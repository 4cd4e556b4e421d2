"""What is not in a case file was erased, as an entry says; else it was taken out, and is told."""

import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from pura.base.errors import CaseLogError
from pura.caselog import (
    SEAL,
    CaseLog,
    Person,
    Vault,
    erase,
    erase_person,
    export_case,
    import_case,
    list_cases,
    load_audit,
    open_case,
    read_case,
    save_audit,
    sign_off,
    write_note,
)
from pura.caselog.log import entry_hash, written
from pura.caselog.reports import request_of_case
from pura.caselog.verify import verify_log
from pura.record.audit import Audit
from pura.report.build import build_report
from pura.report.request import ReportRequest

OLD = Path(__file__).parents[2] / "data" / "v0.1.0"
Make = Callable[..., Audit]
Parts = dict[str, bytes]


@pytest.fixture
def packed(log: CaseLog, anna: Person, bela: Person, make_audit: Make) -> bytes:
    """A case with everything that is kept, and with all that can be erased erased."""
    case = open_case(log, "Thesis", anna, notes="urgent", tags=["x"])
    item = save_audit(log, case.id, make_audit(1), anna, purpose="court")
    vault = Vault(bytearray(b"correct horse battery"))
    sealed = save_audit(log, case.id, make_audit(2), anna, text=SEAL, vault=vault)
    kept = save_audit(log, case.id, make_audit(3), anna)
    save_audit(log, case.id, make_audit(4), anna)
    sign_off(log, item, bela, agree=True, recomputed="x", words="as it was")
    write_note(log, case.id, "seen", anna)
    erase(log, case.id, anna, reason="kept long enough", item=sealed.id)
    erase(log, case.id, anna, reason="not needed", item=kept.id, text_only=True)
    dora = log.person("Dora")
    write_note(log, case.id, "seen too", dora)
    erase_person(log, "Dora", log.person("Emil"), reason="left us")
    return export_case(log, case.id, anna, purpose="second opinion")


def opened(packed: bytes) -> Parts:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def closed(parts: Parts) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def index_of(packed: bytes) -> Any:
    return json.loads(opened(packed)["case.json"])


def changed(packed: bytes, change: Callable[[Any], object]) -> bytes:
    """Return a case file with another index."""
    parts = opened(packed)
    index = json.loads(parts["case.json"])
    change(index)
    return closed(parts | {"case.json": json.dumps(index).encode()})


def kept(log: CaseLog) -> tuple[str, str]:
    [found] = [check for check in verify_log(log) if check.name == "kept"]
    return found.state, found.key


def report_pages(pdf: bytes) -> list[str]:
    with closing(pypdfium2.PdfDocument(pdf)) as document:
        return [" ".join(page.get_textpage().get_text_range().split()) for page in document]


def refused(log: CaseLog, data: bytes) -> str:
    """Return why a file is refused; the log stays what it was."""
    before, count = log.head(), sum(1 for _ in log.entries())
    with pytest.raises(CaseLogError) as caught:
        import_case(log, data, log.person("Carla"))
    assert (log.head(), sum(1 for _ in log.entries())) == (before, count)
    assert list_cases(log) == ()
    english, german = caught.value.words("en"), caught.value.words("de")
    assert all(english)
    assert all(german)
    assert "othing was imported" in english[1]
    return caught.value.key


def test_whole_it_goes_in_and_says_what_was_erased_when_by_whom_and_why(packed, elsewhere):
    case = import_case(elsewhere, packed, elsewhere.person("Carla"))
    assert case.missing == ()
    whole, sealed, without_text, last = case.items
    assert [item.missing for item in case.items] == [False] * 4
    assert (sealed.erased.who, sealed.erased.reason) == ("Anna Beispiel", "kept long enough")
    with pytest.raises(CaseLogError) as caught:
        load_audit(elsewhere, sealed)
    said = caught.value.message
    assert "was erased on 1 July 2026" in said
    assert "by Anna Beispiel: kept long enough" in said
    assert load_audit(elsewhere, without_text).text is None
    assert load_audit(elsewhere, whole).text == load_audit(elsewhere, last).text
    assert kept(elsewhere) == ("good", "kept.whole")


def test_each_kept_thing_that_was_taken_out_is_told(packed, elsewhere):
    rows = index_of(packed)["kept"]
    fields = {row["field"] for row in rows}
    assert {"name", "record", "item", "reason", "notes", "tags", "purpose", "words"} <= fields
    assert any(field.startswith("record-") for field in fields)
    for place, row in enumerate(rows):
        taken = changed(packed, lambda index, place=place: index["kept"].pop(place))
        assert refused(elsewhere, taken) == "case.taken-out", row
        parts = opened(packed)
        del parts[f"kept/{row['part']}"]
        assert refused(elsewhere, closed(parts)) == "caselog.not-a-case", row
    import_case(elsewhere, packed, elsewhere.person("Carla"))


def test_each_entry_that_was_taken_out_is_told(packed, elsewhere):
    index = index_of(packed)

    def without(name: str, place: int) -> Callable[[Any], None]:
        """Take an entry out, and with it all that is kept beside it."""

        def change(index: Any) -> None:
            body = json.loads(index[name].pop(place)["body"])
            gone = (body["log"], body["seq"])
            index["kept"] = [row for row in index["kept"] if (row["log"], row["seq"]) != gone]

        return change

    last = len(index["entries"]) - 1
    for place in range(last + 1):
        told = refused(elsewhere, changed(packed, without("entries", place)))
        assert told == {0: "caselog.not-a-case", last: "case.cut"}.get(place, "case.gap"), place
    for place in range(len(index["people"])):
        assert refused(elsewhere, changed(packed, without("people", place))) == "case.nobody"
    assert len(index["erasures"]) == 1
    assert refused(elsewhere, changed(packed, without("erasures", 0))) == "case.taken-out"
    for name in ("people", "entries", "kept", "head", "case", "form"):
        assert refused(elsewhere, changed(packed, lambda index, name=name: index.pop(name)))
    assert refused(elsewhere, changed(packed, lambda index: index.pop("erasures")))
    parts = opened(packed)
    del parts["case.json"]
    assert refused(elsewhere, closed(parts)) == "caselog.not-a-case"


def test_an_erasure_of_another_case_or_log_accounts_for_nothing(packed, elsewhere):
    """A stranger adds an entry of no case that says what he took out was erased."""

    def claim(index: Any) -> None:
        [row] = [one for one in index["kept"] if one["field"] == "purpose" and one["seq"] < 12]
        index["kept"].remove(row)
        body = json.loads(index["erasures"][0]["body"])
        body["seq"] = 900
        body["facts"]["erased"].append({name: row[name] for name in ("log", "seq", "field")})
        body["kept"] = {}
        index["erasures"].append({"hash": entry_hash(body), "body": written(body).decode()})

    assert refused(elsewhere, changed(packed, claim)) == "case.taken-out"


def test_what_was_missing_at_home_goes_in_marked_as_incomplete(
    log, elsewhere, anna, make_audit, tmp_path, case
):
    first = save_audit(log, case.id, make_audit(1), anna)
    save_audit(log, case.id, make_audit(2), anna)
    place = (log.id, first.entry.seq, "record")
    log.db.execute("DELETE FROM kept WHERE log = ? AND seq = ? AND field = ?", place)
    assert kept(log) == ("bad", "kept.missing")
    assert read_case(log, case.id).missing == (place,)
    found = import_case(elsewhere, export_case(log, case.id, anna), elsewhere.person("Carla"))
    assert kept(log) == ("bad", "kept.missing"), "an export is no excuse at home"
    with CaseLog(tmp_path / "third.sqlite3", create=True) as third:
        further = export_case(elsewhere, case.id, elsewhere.person("Carla"))
        again = import_case(third, further, third.person("Dora"))
        for where, what in ((elsewhere, found), (third, again)):
            assert what.missing == (place,)
            assert f"record ({place[1]})" in what.incomplete()
            assert "unvollständig" in what.incomplete("de")
            assert [item.missing for item in what.items] == [True, False]
            assert kept(where) == ("notice", "kept.incomplete")
            with pytest.raises(CaseLogError) as caught:
                load_audit(where, what.items[0])
            assert caught.value.key == "caselog.record-missing"
            assert "erased" not in caught.value.hint
            told = request_of_case(where, what, what.items[1:], ReportRequest())
            assert what.incomplete() in told.log
            assert what.incomplete() in told.review
            page = report_pages(build_report([make_audit(2)], told).pdf)
            assert "The case is incomplete" in page[0]
            assert sum("The case is incomplete" in one for one in page) >= 2


def test_a_record_that_was_edited_or_exchanged_is_refused(log, elsewhere, anna, make_audit, case):
    audit = make_audit(1)
    save_audit(log, case.id, replace(audit, decoder="exact", verdict="mark"), anna)
    assert refused(elsewhere, export_case(log, case.id, anna)) == "case.record-differs"
    other = open_case(log, "Another", anna)
    item = save_audit(log, other.id, make_audit(2), anna)
    with log.writing():
        body = dict(item.entry.body)
        log.append(
            "examination-repeated",
            anna.id,
            case=other.id,
            item="7" * 32,
            result=str(body["result"]),
            facts=body["facts"],
            kept={"record": log.kept_bytes(item.entry, "record") or b""},
        )
    assert refused(elsewhere, export_case(log, other.id, anna)) == "case.record-other"


def test_a_case_file_of_an_earlier_version_goes_in_and_a_tampered_one_does_not(elsewhere):
    data = (OLD / "letter-17.puracase").read_bytes()
    for place, row in enumerate(index_of(data)["kept"]):
        taken = changed(data, lambda index, place=place: index["kept"].pop(place))
        people = {json.loads(one["body"])["seq"] for one in index_of(data)["people"]}
        if row["field"] != "name" or row["seq"] not in people:
            assert refused(elsewhere, taken) == "case.taken-out", row
    case = import_case(elsewhere, data, elsewhere.person("Carla"))
    assert case.missing == ()
    assert kept(elsewhere) == ("good", "kept.whole")


def test_a_name_that_a_file_of_an_earlier_version_lacks_makes_it_incomplete(elsewhere):
    """They did not hand on by which entry a name was erased: nobody can know whether it was."""

    def nameless(index: Any) -> None:
        body = json.loads(index["people"][0]["body"])
        index["kept"] = [one for one in index["kept"] if one["seq"] != body["seq"]]

    data = changed((OLD / "letter-17.puracase").read_bytes(), nameless)
    case = import_case(elsewhere, data, elsewhere.person("Carla"))
    assert [place[2] for place in case.missing] == ["name"]
    assert kept(elsewhere) == ("notice", "kept.incomplete")


def test_a_log_that_took_in_a_tampered_file_says_so_now(log, elsewhere, anna, case, item):
    """Earlier versions imported it as whole, and called what was taken out erased."""
    import_case(elsewhere, export_case(log, case.id, anna), elsewhere.person("Carla"))
    with closing(sqlite3.connect(elsewhere.path)) as db, db:
        db.execute("DELETE FROM kept WHERE field = 'record'")
    found = read_case(elsewhere, case.id)
    assert [place[2] for place in found.missing] == ["record"]
    assert found.items[0].missing
    assert kept(elsewhere) == ("bad", "kept.missing")
