"""Cases: what is saved comes back, four eyes are two persons, what is erased is gone."""

import base64
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.core.caselog.test_caselog_absence import changed, closed, opened
from tests.core.records import RECORD

from pura.base.errors import CaseLogError, InputError, KeyFormatError
from pura.caselog import (
    ACTIONS,
    KEEP,
    LEAVE_OUT,
    SEAL,
    CaseLog,
    Person,
    Vault,
    erase,
    erase_person,
    export_case,
    find_case,
    import_case,
    list_cases,
    load_audit,
    open_case,
    read_case,
    record_event,
    record_failure,
    record_report,
    rename_case,
    save_audit,
    set_closed,
    set_hold,
    set_tags,
    sign_off,
    write_note,
)
from pura.caselog.log import entry_hash, written
from pura.caselog.package import FORM
from pura.caselog.verify import verify_log
from pura.record.audit import Audit
from pura.record.json_io import NO_ID, without_text
from pura.record.naming import CandidateFacts

Make = Callable[..., Audit]
Same = Callable[[Any, Any], bool]


def faults(log: CaseLog) -> list[str]:
    return [check.key for check in verify_log(log) if check.state == "bad"]


# ------------------------------------------------------------------------------- opening, finding


def test_a_case_is_what_was_said_of_it(log, anna, bela):
    case = open_case(log, "  Letter  to the editor ", anna, notes="by mail", tags=["press", "A"])
    told = (case.name, case.auditor, case.tags)
    assert told == ("Letter to the editor", "Anna Beispiel", ("press", "A"))
    write_note(log, case.id, "second thoughts", bela)
    set_tags(log, case.id, ["press", "press", " "], bela)
    rename_case(log, case.id, "Letter", anna)
    again = read_case(log, case.id)
    assert (again.name, again.tags) == ("Letter", ("press",))
    notes = [(note.who, note.text) for note in again.notes]
    assert notes == [("Anna Beispiel", "by mail"), ("Béla Muster", "second thoughts")]
    assert again.opened < again.changed


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\x07b"])
def test_a_name_has_to_be_one(log, anna, name):
    with pytest.raises(CaseLogError, match="name has 1 to 200"):
        open_case(log, name, anna)


def test_two_cases_have_two_names(log, anna):
    open_case(log, "Thesis", anna)
    with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-taken"):
        open_case(log, "THESIS", anna)


def test_the_same_person_is_known_again(log, anna):
    assert log.person(" anna  BEISPIEL") == anna
    with pytest.raises(CaseLogError, match="who acts"):
        log.person("  ")


def test_search_and_filters(log, anna, bela, make_audit):
    one = open_case(log, "Straße", anna, tags=["press"])
    two = open_case(log, "Thesis", anna, notes="urgent")
    three = open_case(log, "Empty", anna)
    item = save_audit(log, one.id, make_audit(1), anna)
    marked = replace(make_audit(2), verdict="mark", id="2" * 32)
    bits = marked.decoded.bits
    sure = (CandidateFacts(bits=bits, posterior=1.0, fields=marked.decoded.fields),)
    doubt = (replace(sure[0], posterior=0.5),)
    save_audit(log, two.id, replace(marked, candidates=sure), anna)
    save_audit(log, one.id, replace(marked, candidates=doubt, id="3" * 32), anna)
    sign_off(log, item, bela, agree=True, recomputed="from the record")
    set_closed(log, three.id, anna, closed=True)
    set_hold(log, two.id, anna, held=True, reason="court")

    def found(**query: str) -> list[str | None]:
        return sorted(str(case.name) for case in list_cases(log, **query))

    assert found() == ["Empty", "Straße", "Thesis"]
    assert found(search="STRASSE") == ["Straße"]
    assert found(search="urgent thesis") == ["Thesis"]
    assert found(search=marked.decoded.bits) == ["Thesis"]  # a payload, where it is identified
    assert found(search=marked.input.sha256) == ["Straße", "Thesis"]
    assert found(tag="PRESS") == ["Straße"]
    assert found(verdict="mark") == ["Straße", "Thesis"]
    assert found(state="closed") == ["Empty"]
    assert found(state="held") == ["Thesis"]
    assert found(state="unreviewed") == ["Straße", "Thesis"]
    assert found(since="2026-07-02") == []
    assert found(until="2026-06-30") == []
    assert next(case.name for case in list_cases(log)) == "Thesis"  # the newest entry first
    assert find_case(log, "thesis") == read_case(log, two.id)
    assert find_case(log, two.id[:8]) == read_case(log, two.id)
    assert find_case(log, "nobody") is None


# ------------------------------------------------------------------------------ saving, reopening


def test_an_audit_comes_back_in_full(log, anna, make_audit, same, path, case):
    audit = make_audit(1, register=RECORD.register)
    saved = save_audit(log, case.id, audit, anna, purpose="complaint 17")
    log.close()
    with CaseLog(path) as again:  # no model, no key
        item = read_case(again, case.id).item(audit.id)
        assert item == saved
        assert same(load_audit(again, item, actor=anna), audit)
        assert (item.name, item.verdict, item.run, item.mode, item.auditor) == (
            "a\u202eb.txt",
            "insufficient",
            1,
            KEEP,
            "Anna Beispiel",
        )
        actions = [entry.action for entry in again.entries(case=case.id)]
        assert actions[-3:] == ["examination-finished", "register-looked-up", "text-opened"]


def test_left_out_means_that_nothing_tells_the_text(log, anna, make_audit, same, case):
    audit = make_audit(1)
    item = save_audit(log, case.id, audit, anna, text=LEAVE_OUT)
    back = load_audit(log, item, actor=anna)
    assert back.text is None
    assert set(back.tokens.ids.tolist()) == {NO_ID}
    assert same(back, without_text(audit))
    assert [e.action for e in log.entries(case=case.id)][-1] != "text-opened"


def test_a_sealed_text_opens_with_its_passphrase_only(log, anna, make_audit, same, path, case):
    audit = make_audit(1)
    vault = Vault(bytearray(b"correct horse battery"))
    item = save_audit(log, case.id, audit, anna, text=SEAL, vault=vault)
    vault.wipe()
    assert load_audit(log, item).text is None
    assert same(load_audit(log, item, passphrase=bytearray(b"correct horse battery")), audit)
    with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-passphrase"):
        load_audit(log, item, passphrase=bytearray(b"correct horse batter"))
    assert faults(log) == []


def test_a_passphrase_of_a_vault_is_not_short():
    with pytest.raises(KeyFormatError, match="at least"):
        Vault(bytearray(b"short"))


def test_the_same_bytes_again_are_a_repetition_and_the_same_audit_is_not(
    log, anna, make_audit, case, item
):
    again = save_audit(log, case.id, make_audit(2), anna)
    assert (again.run, again.entry.action) == (2, "examination-repeated")
    with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-twice"):
        save_audit(log, case.id, make_audit(1), anna)


def test_what_failed_is_in_the_log_too(log, anna, case):
    record_failure(
        log, case.id, "secret name.txt", InputError("input.empty", code="input-empty"), anna
    )
    entry = list(log.entries(case=case.id))[-1]
    assert (entry.action, entry.result) == ("examination-failed", "input-empty")
    assert "secret" not in entry.line()
    assert read_case(log, case.id).failures == 1


# --------------------------------------------------------------------------------------- four eyes


def test_four_eyes_are_two_persons(log, anna, bela, case, item):
    with pytest.raises(CaseLogError, check=lambda e: e.code == "four-eyes"):
        sign_off(log, item, log.person("ANNA beispiel"), agree=True, recomputed="all")
    with pytest.raises(CaseLogError, match="Text is needed"):
        sign_off(log, item, bela, agree=True, recomputed=" ")
    sign_off(log, item, bela, agree=False, recomputed="evidence", words="too short a text")
    sign_off(log, item, bela, agree=True, recomputed="all of it, from the record")
    review = read_case(log, case.id).item(item.id).review
    assert (review.state, review.who, review.recomputed) == (
        "confirmed",
        "Béla Muster",
        "all of it, from the record",
    )
    entry = list(log.entries(case=case.id))[-1]
    assert (entry.role, entry.facts["examiner"], entry.actor) == ("reviewer", anna.id, bela.id)


def test_a_closed_case_takes_nothing_more(log, anna, bela, make_audit, case, item):
    set_closed(log, case.id, anna, closed=True)
    for act in (
        lambda: write_note(log, case.id, "x", anna),
        lambda: set_tags(log, case.id, [], anna),
        lambda: save_audit(log, case.id, make_audit(2), anna),
        lambda: sign_off(log, item, bela, agree=True, recomputed="x"),
    ):
        with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-closed"):
            act()
    set_closed(log, case.id, anna, closed=False)
    write_note(log, case.id, "x", anna)


def test_reports_are_told(log, anna, case):
    said = {"action": "report-issued", "number": "PURA-1", "sha256": "a" * 64, "final": True}
    entry = record_report(log, case.id, anna, **said, items=["b" * 32], recipient="the dean")
    assert entry.role == "authoriser"
    assert log.kept(entry, "recipient") == "the dean"
    assert "dean" not in entry.line()


def test_custody_is_put_on_record(log, anna, make_audit, case):
    said = {"details": "by mail", "handed": "Front desk", "taken": "Anna", "digest": "SHA-256 9f2c"}
    entry = record_event(log, anna, "item-received", case=case.id, **said)
    assert {name: log.kept(entry, name) for name in said} == said
    assert "Front" not in entry.line()
    for action, details in (("item-lost", "x"), ("key-added", "x"), ("item-received", " ")):
        with pytest.raises(CaseLogError):
            record_event(log, anna, action, details, case=case.id)
    for action, what in (("item-received", "case"), ("key-leaked", "key")):
        with pytest.raises(CaseLogError, check=lambda e: e.code == f"case-log-event-{what}"):  # noqa: B023
            record_event(log, anna, action, "x", key="nonsense")


def test_a_leaked_key_names_the_reports_that_rest_on_it(log, anna, case, item):
    said = {"action": "report-issued", "number": "1", "sha256": "a" * 64, "final": True}
    told = record_report(log, case.id, anna, **said, items=[item.id])
    (key,) = load_audit(log, item).keys[1:]
    entry = record_event(log, anna, "key-leaked", "stolen", key=key.fingerprint)
    assert entry.facts["reports"] == [{"log": log.id, "seq": told.seq}]
    other = record_event(log, anna, "key-leaked", "stolen", key="0" * 16)
    assert other.facts["reports"] == []
    assert faults(log) == []


# ----------------------------------------------------------------------------------------- erasing


def everything(path: Path) -> bytes:
    return b"".join(p.read_bytes() for p in path.parent.iterdir())


def test_what_is_erased_is_gone_from_the_disk_and_the_chain_is_whole(
    log, anna, bela, make_audit, path
):
    case = open_case(log, "Zebra crossing affair", anna, notes="quokka")
    item = save_audit(log, case.id, make_audit(1), anna)
    sign_off(log, item, bela, agree=True, recomputed="okapi")
    assert b"Zebra crossing" in everything(path)
    gone = erase(log, case.id, bela, reason="request under article 17")
    assert gone == 5  # name, note, what a list shows of the audit, its record, the review's words
    for word in (b"Zebra crossing", b"quokka", b"okapi"):
        assert word not in everything(path)
    after = read_case(log, case.id)
    assert (after.name, after.notes) == (None, ())
    assert after.items[0].record is None
    assert after.items[0].verdict == "insufficient"  # the chain keeps what happened
    with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-erased"):
        load_audit(log, after.items[0])
    assert faults(log) == []


def test_the_text_alone_can_be_erased(log, anna, make_audit, same, case):
    first, second = make_audit(1), make_audit(2)
    save_audit(log, case.id, first, anna)
    save_audit(log, case.id, second, anna)
    assert erase(log, case.id, anna, item=first.id, reason="kept long enough", text_only=True) == 1
    found = read_case(log, case.id)
    assert same(load_audit(log, found.item(first.id)), without_text(first))
    assert found.item(first.id).mode == LEAVE_OUT
    assert same(load_audit(log, found.item(second.id)), second)
    assert erase(log, case.id, anna, item=first.id, reason="all of it") >= 2
    with pytest.raises(CaseLogError, match="erased"):
        load_audit(log, read_case(log, case.id).item(first.id))
    assert faults(log) == []


def test_a_hold_forbids_erasing(log, anna, case, item):
    with pytest.raises(CaseLogError, match="Text is needed"):
        set_hold(log, case.id, anna, held=True, reason="")
    set_hold(log, case.id, anna, held=True, reason="litigation")
    assert read_case(log, case.id).held
    with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-hold"):
        erase(log, case.id, anna, reason="x")
    set_hold(log, case.id, anna, held=False, reason="settled")
    assert erase(log, case.id, anna, reason="x") > 0


def test_a_person_can_be_forgotten_and_four_eyes_still_show(log, anna, bela, path, case, item):
    sign_off(log, item, bela, agree=True, recomputed="x")
    assert erase_person(log, "béla muster", anna, reason="left us")
    assert not erase_person(log, "béla muster", anna, reason="left us")
    assert "Béla".encode() not in everything(path)
    review = read_case(log, case.id).item(item.id).review
    assert (review.who, review.state) == (None, "confirmed")
    assert log.person("Béla Muster").id != bela.id
    assert faults(log) == []


# ------------------------------------------------------------------------------- one case, one file


@pytest.fixture
def packed(log: CaseLog, anna: Person, bela: Person, make_audit: Make) -> bytes:
    """A case with everything in it; another case beside it stays at home."""
    case = open_case(log, "Thesis", anna, notes="urgent", tags=["x"])
    other = open_case(log, "Private matter", anna)
    item = save_audit(log, case.id, make_audit(1), anna)
    save_audit(log, other.id, make_audit(2), anna)
    sign_off(log, item, bela, agree=True, recomputed="x")
    return export_case(log, case.id, anna, purpose="second opinion")


def test_a_case_travels_whole(packed, log, elsewhere, make_audit, same):
    carla = elsewhere.person("Carla")
    case = import_case(elsewhere, packed, carla)
    home = read_case(log, case.id)
    assert (case.name, case.auditor, case.tags, case.notes) == (
        home.name,
        home.auditor,
        home.tags,
        home.notes,
    )
    assert case.imported == log.id
    assert case.items[0].review is not None
    assert same(load_audit(elsewhere, case.items[0]), make_audit(1))
    assert faults(elsewhere) == []
    write_note(elsewhere, case.id, "and on", carla)
    sign_off(elsewhere, case.items[0], carla, agree=False, recomputed="again")
    assert faults(elsewhere) == []
    assert b"Private matter" not in packed
    assert "Private matter" not in zipfile.ZipFile(io.BytesIO(packed)).read("case.json").decode()


def test_a_case_travels_on_and_home_again_is_refused(packed, log, elsewhere, anna, tmp_path):
    carla = elsewhere.person("Carla")
    case = import_case(elsewhere, packed, carla)
    write_note(elsewhere, case.id, "seen", carla)
    further = export_case(elsewhere, case.id, carla)
    with CaseLog(tmp_path / "third.sqlite3", create=True) as third:
        found = import_case(third, further, third.person("Dora"))
        assert [note.who for note in found.notes] == ["Anna Beispiel", "Carla"]
        assert faults(third) == []
    for target, who in ((elsewhere, carla), (log, anna)):
        with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-imported"):
            import_case(target, further, who)


def _cut(index: Any) -> None:
    """Take off the end, and state the head that is then the last."""
    index["entries"].pop()
    last = index["entries"][-1]
    body = json.loads(last["body"])
    index["head"] = {"log": body["log"], "seq": body["seq"], "hash": last["hash"]}


def _huge(index: Any) -> None:
    """A sound chain whose last number no database holds."""
    body = {**json.loads(index["entries"][-1]["body"]), "seq": 1 << 70, "v": 1}
    index["entries"][-1] = {"hash": entry_hash(body), "body": written(body).decode()}
    index["head"] |= {"seq": body["seq"], "hash": index["entries"][-1]["hash"]}


def _twice(index: Any) -> None:
    """A name twice in an entry: of two readers one sees another result under the same hash."""
    body = index["entries"][1]["body"]
    index["entries"][1]["body"] = body.replace('"result":', '"result":"mark","result":', 1)


def at(name: str, value: Any) -> Callable[[Any], None]:
    """Put another value at a place of the index: ``at("head.hash", …)``."""
    *path, last = name.split(".")

    def change(index: Any) -> None:
        for part in path:
            index = index[int(part) if part.isdigit() else part]
        index[last] = value(index[last]) if callable(value) else value

    return change


INDEX: dict[str, Callable[[Any], object]] = {
    "body": at("entries.1.body", lambda body: body.replace("insufficient", "mark")),
    "order": at("entries", lambda entries: entries[::-1]),
    "missing": lambda index: index["entries"].pop(1),
    "form": at("form", "other/1"),
    "shape": at("entries", {"a": 1}),
    "head": at("head", {}),
    "end": lambda index: index["entries"].pop(),
    "end and head": _cut,
    "false head": at("head.hash", "a" * 64),
    "false log": at("head.log", "b" * 32),
    "number": _huge,
    "name twice": _twice,
    "salt": at("kept.0.salt", "eA=="),
    "part": at("kept.0.part", 999),
}
PARTS: dict[str, Callable[[dict[str, bytes]], dict[str, bytes]]] = {
    "kept": lambda parts: parts | {"kept/0": parts["kept/0"] + b" "},
    "no index": lambda parts: {name: parts[name] for name in parts if name != "case.json"},
    "no json": lambda parts: parts | {"case.json": b"{"},
    "deep": lambda parts: parts | {"case.json": b"[" * 100_000},
}


@pytest.mark.parametrize("name", [*INDEX, *PARTS])
def test_an_altered_file_is_refused_and_leaves_nothing(packed, elsewhere, name):
    before = elsewhere.head()
    data = changed(packed, INDEX[name]) if name in INDEX else closed(PARTS[name](opened(packed)))
    with pytest.raises(CaseLogError) as caught:
        import_case(elsewhere, data, elsewhere.person("Carla"))
    assert caught.value.code in ("case-file-altered", "case-log-file")
    assert elsewhere.head() == before
    assert list_cases(elsewhere) == ()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04nonsense", b"text" * 100])
def test_something_else_is_no_case(elsewhere, data):
    with pytest.raises(CaseLogError, match="not an exported case"):
        import_case(elsewhere, data, elsewhere.person("Carla"))


def test_a_bomb_is_refused_before_it_is_unpacked(elsewhere):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("case.json", b" " * (65 << 20))
    with pytest.raises(CaseLogError, match="too large"):
        import_case(elsewhere, out.getvalue(), elsewhere.person("Carla"))


def test_a_fault_of_the_file_is_not_blamed_on_the_log(packed, elsewhere, monkeypatch):
    """What an entry of the file says stands in the log already, with another hash."""
    carla = elsewhere.person("Carla")

    def claim(index: Any) -> None:
        body = json.loads(index["people"][0]["body"]) | {"log": elsewhere.id, "seq": 1}
        index["people"][0] = {"hash": entry_hash(body), "body": written(body).decode()}
        index["kept"][0] |= {"log": elsewhere.id, "seq": 1}

    with pytest.raises(CaseLogError, check=lambda e: e.key == "case.altered"):
        import_case(elsewhere, changed(packed, claim), carla)

    def broken(*_: object) -> None:
        raise sqlite3.IntegrityError("nothing that the log did")

    monkeypatch.setattr("pura.caselog.package.insert", broken)
    with pytest.raises(CaseLogError, check=lambda e: e.key == "caselog.not-a-case"):
        import_case(elsewhere, packed, carla)
    assert faults(elsewhere) == []


def test_an_imported_case_that_is_altered_later_is_named(packed, elsewhere):
    import_case(elsewhere, packed, elsewhere.person("Carla"))
    for trigger in ("entries_stay", "entries_remain"):
        elsewhere.db.execute(f"DROP TRIGGER {trigger}")
    elsewhere.db.execute(
        "UPDATE entries SET body = replace(body, 'insufficient', 'mark') WHERE log != ?",
        (elsewhere.id,),
    )
    assert "cases.foreign" in faults(elsewhere)


NONSENSE: dict[str, tuple[str, Any]] = {
    "action": ("action", "unheard-of"),
    "run": ("facts.run", "first"),
    "no run": ("facts", lambda facts: facts.pop("run") and facts),
    "mode": ("facts.text", "shouted"),
    "keys": ("facts.keys", 7),
    "verdict": ("result", "guilty"),
    "erased": ("facts", lambda facts: facts | {"erased": ["all"]}),
    "name": ("kept", lambda kept: kept | {"name": 5}),
    "tags": ("kept", lambda kept: kept | {"tags": {"a": 1}}),
    "item": ("kept.item", ["x"]),
    "evidence": ("kept.item", {"name": "x", "log10_e": "much"}),
}


@pytest.mark.parametrize("name", ["", *NONSENSE])
def test_a_sound_chain_that_says_nonsense_is_refused(log, elsewhere, anna, case, name):
    entry: dict[str, Any] = {
        "action": "examination-finished",
        "result": "mark",
        "facts": {"run": 1, "text": "keep", "keys": []},
        "kept": {"item": {"name": "x", "log10_e": 2.0}},
    }
    if name:
        at(*NONSENSE[name])(entry)
    with log.writing(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("pura.caselog.log.ACTIONS", (*ACTIONS, "unheard-of"))
        log.append(actor=anna.id, case=case.id, item="1" * 32, **entry)
        data = _zipped_without_reading(log, case.id)
    carla = elsewhere.person("Carla")
    if not name:  # made by the same hand, and nothing is wrong with it
        assert import_case(elsewhere, data, carla).name == "Thesis"
        return
    with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-file"):
        import_case(elsewhere, data, carla)
    assert list_cases(elsewhere) == ()


def _zipped_without_reading(log: CaseLog, case: str) -> bytes:
    """What a stranger could put together: a sound chain, whatever it says, and a right end."""
    log.append("case-exported", case=case, role="custodian")
    people, entries = list(log.acts("person-added")), list(log.entries(case=case))
    own = {entry.seq for entry in (*people, *entries)}
    rows = [
        row for row in log.db.execute("SELECT seq, field, salt, value FROM kept") if row[0] in own
    ]
    head = log.head()
    index = {
        "form": FORM,
        "case": case,
        "people": [{"hash": entry.hash, "body": entry.line()} for entry in people],
        "head": {"log": head.log, "seq": head.seq, "hash": head.hash},
        "entries": [{"hash": entry.hash, "body": entry.line()} for entry in entries],
        "kept": [
            {"log": log.id, "seq": seq, "field": field, "part": part}
            | {"salt": base64.b64encode(salt).decode()}
            for part, (seq, field, salt, _) in enumerate(rows)
        ],
    }
    parts = {f"kept/{part}": row[3] for part, row in enumerate(rows)}
    return closed({"case.json": json.dumps(index).encode(), **parts})


def test_a_sealed_text_that_was_erased_is_no_longer_called_sealed(log, anna, make_audit, case):
    vault = Vault(bytearray(b"correct horse battery"))
    item = save_audit(log, case.id, make_audit(1), anna, text=SEAL, vault=vault)
    assert erase(log, case.id, anna, reason="kept long enough", text_only=True) == 1
    found = read_case(log, case.id).item(item.id)
    assert (found.mode, found.record is not None) == (LEAVE_OUT, True)
    assert load_audit(log, found).text is None
    assert faults(log) == []


def test_a_case_whose_examiner_was_forgotten_travels_too(log, elsewhere, anna, bela, case, item):
    assert erase_person(log, anna.name, bela, reason="left us")
    carla = elsewhere.person("Carla")
    found = import_case(elsewhere, export_case(log, case.id, bela), carla)
    assert found.auditor is None
    assert found.missing == ()
    assert faults(elsewhere) == []
    with CaseLog(elsewhere.path.with_name("third.sqlite3"), create=True) as third:
        again = import_case(third, export_case(elsewhere, case.id, carla), third.person("Dora"))
        assert again.missing == ()
        assert [c.key for c in verify_log(third) if c.name == "kept"] == ["kept.whole"]
