"""Everything that earlier versions wrote opens, is checked, and is gone on with."""

import io
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from pura.base.errors import CaseLogError
from pura.base.paths import resource, user_paths
from pura.caselog import (
    CaseLog,
    export_case,
    find_case,
    import_case,
    list_cases,
    load_audit,
    save_audit,
    write_note,
)
from pura.caselog.verify import parse_head, verify_log
from pura.cli.__main__ import app
from pura.detect.verdict.policy import load_policy
from pura.keys import load_key, passphrase_bytes
from pura.record import json_io
from pura.record.json_io import findings_digest
from pura.register.store import Register
from pura.register.table import import_csv
from pura.register.under import IssuedUnder
from pura.register.verification import verify
from pura.report.build import build_report
from pura.report.check import BAD, check_report, load_trust
from pura.report.request import ReportRequest
from pura.scheme import Payload, Profile, unpack
from pura.scheme.profile import ProfileFolder
from pura.serve.settings import Places, Role, TokenFile
from pura.usecases.environment import Environment

DATA = Path(__file__).parents[1] / "data"
PASSPHRASE = (DATA / "v0.1.0" / "passphrase.txt").read_text().strip()
# Of what they wrote: the form of an entry of the case log.
FORMS = {"v0.1.0": 1, "v0.3.0": 2}
NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture(params=FORMS)
def old(request) -> Path:
    """The files of a version."""
    folder: Path = DATA / request.param
    return folder


@pytest.fixture
def home(old, tmp_path, monkeypatch) -> Path:
    """The old user's folder, in use."""
    copy = shutil.copytree(old / "home", tmp_path / "home")
    monkeypatch.setenv("PURA_HOME", str(copy))
    monkeypatch.setenv("PURA_PASSPHRASE_FILE", str(old / "passphrase.txt"))
    return copy


@pytest.fixture
def log(home) -> Iterator[CaseLog]:
    with CaseLog(user_paths().caselog) as opened:
        yield opened


def pura(*words: str | Path) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def trust(old) -> tuple[bytes, ...]:
    return load_trust((old / "org.pem").read_bytes())


def faults(log: CaseLog, trust: tuple[bytes, ...]) -> list[str]:
    return [c.key for c in verify_log(log, trust=trust, moment=NOW) if c.state != "good"]


# ---------------------------------------------------------------------------------- the case log


def test_the_old_chain_and_its_signed_heads_are_sound(old, log, trust):
    assert {entry.body["v"] for entry in log.entries()} == {FORMS[old.name]}
    assert faults(log, trust) == ["head.none"]
    head = log.entry(log.head().seq - 5)
    known = parse_head(f"{head.seq}:{head.hash}", log.id)
    found = {c.name: c for c in verify_log(log, head=known, trust=trust, moment=NOW)}
    assert found["head"].key == "head.there"
    assert found["signatures"].values["count"] == 2


def test_new_entries_follow_the_old_ones_in_the_new_form(old, log, trust):
    before = log.head().seq
    case = find_case(log, "Letter 17")
    write_note(log, case.id, "später: ja", log.person("A. Example"))
    save_audit(
        log, case.id, json_io.from_json((old / "record.json").read_text()), log.person("D. Neu")
    )
    assert {entry.body["v"] for entry in log.entries() if entry.seq > before} == {2}
    assert faults(log, trust) == ["head.none"]


@pytest.mark.parametrize("seq", [1, 8, 20])
def test_a_change_in_an_old_entry_is_found(home, log, seq, trust):
    log.db.execute("DROP TRIGGER entries_stay")
    log.db.execute(
        "UPDATE entries SET body = replace(body, '\"role\"', '\"Role\"') WHERE seq = ?", (seq,)
    )
    assert any(key.startswith("chain.") for key in faults(log, trust))


def test_the_cases_hold_what_they_held(log):
    letter, inquiry = sorted(list_cases(log), key=lambda case: case.name or "")
    assert (letter.name, inquiry.name) == ("Letter 17", "Old inquiry")
    assert letter.tags == ("press", "überfällig")
    assert letter.notes[0].text == "Asked the sender for the file: “ja”, 17 €."
    assert [item.mode for item in letter.items] == ["keep", "keep", "seal", "leave-out"]
    states = [item.review.state if item.review else None for item in letter.items]
    assert states == ["confirmed", "disputed", None, None]
    assert inquiry.closed
    assert not inquiry.held
    assert inquiry.notes[0].who is None, "the name was erased"
    assert inquiry.items[0].record is None, "the audit was erased"
    assert [case.id for case in list_cases(log, search="sender")] == [letter.id]


def test_saved_audits_open_with_and_without_their_text(old, log):
    case = find_case(log, "Letter 17")
    kept, known, sealed, left = case.items
    assert load_audit(log, kept).text == (old / "letter.txt").read_text()
    assert load_audit(log, known).prompt.known
    assert load_audit(log, sealed).text is None
    opened = load_audit(log, sealed, passphrase=passphrase_bytes(PASSPHRASE))
    assert opened.text == (old / "note.txt").read_text()
    assert load_audit(log, left).text is None
    erased = find_case(log, "Old inquiry")
    with pytest.raises(CaseLogError):
        load_audit(log, erased.items[0])


def test_an_exported_case_goes_into_another_log_and_on_from_there(old, tmp_path):
    with CaseLog(tmp_path / "other.sqlite3", create=True) as other:
        who = other.person("D. Neu")
        case = import_case(other, (old / "letter-17.puracase").read_bytes(), who)
        write_note(other, case.id, "arrived", who)
        assert [c.key for c in verify_log(other) if c.state == "bad"] == []
        again = export_case(other, case.id, who)
        assert load_audit(other, case.items[0]).text == (old / "letter.txt").read_text()
    with CaseLog(tmp_path / "third.sqlite3", create=True) as third:
        both = import_case(third, again, third.person("E. Dritte"))
        assert {entry.body["v"] for entry in third.entries(case=both.id)} == {FORMS[old.name], 2}
        assert [c.key for c in verify_log(third) if c.state == "bad"] == []


def test_the_older_program_refuses_what_is_gone_on_with(old, home, log):
    """It takes a higher version of the log, and another form of a case, as those of a newer one."""

    def version(path: Path) -> int:
        with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as opened:
            return int(opened.execute("PRAGMA user_version").fetchone()[0])

    def form(case: bytes) -> str:
        with zipfile.ZipFile(io.BytesIO(case)) as parts:
            return str(json.loads(parts.read("case.json"))["form"])

    case = find_case(log, "Letter 17")
    written = export_case(log, case.id, log.person("A. Example"))
    log.close()
    assert version(user_paths().caselog) > version(old / "home/data/cases.sqlite3")
    assert form(written) > form((old / "letter-17.puracase").read_bytes())


# -------------------------------------------------------------------------- records and reports


@pytest.mark.parametrize("name", ["record.json", "record-paper.json"])
def test_records_are_read_without_loss(old, name):
    text = (old / name).read_text(encoding="utf-8")
    audit = json_io.from_json(text)
    data = json.loads(text)
    if "payload" in data:  # 0.1.0: what is decoded has a name of its own since
        data["decoded"] = data.pop("payload")
    assert audit.to_dict() == data
    jsonschema.validate(data, json.loads(resource("audit.schema.json").read_text()))


def test_a_record_names_what_was_found(old):
    audit = json_io.from_json((old / "record.json").read_text())
    assert audit.verdict == "mark"
    profile = Profile.load(old / "house.json")
    fields = unpack(profile.fields, Payload(text=audit.payload.bits))
    assert [field.text for field in fields] == ["417", "2026-11-21", "1.4"]
    short = json.loads((old / "summary.json").read_text())["payload"]
    assert (short["bits"] if old.name == "v0.1.0" else short) == audit.payload.bits


@pytest.mark.parametrize("name", ["report.pdf", "signed.pdf"])
def test_old_reports_pass_every_check(old, name, trust):
    trusted = trust if name == "signed.pdf" else ()
    found = check_report((old / name).read_bytes(), moment=NOW, trust=trusted)
    assert [check.key for check in found.checks if check.state == BAD] == []
    states = {check.name: check.state for check in found.checks}
    assert states["findings"] == states["printed"] == "good"
    [pages] = [check for check in found.checks if check.name == "pages"]
    why = {"v0.1.0": "pages.no-particulars", "v0.3.0": "pages.version"}[old.name]
    assert (pages.state, pages.key) == ("open", why)


@pytest.mark.parametrize("old", ["v0.1.0"], indirect=True)
def test_an_old_digest_is_of_the_former_form(old):
    audit = json_io.from_json((old / "report.json").read_text())
    page = (old / "report.html").read_text().replace("\u200b", "").replace(" ", "")
    assert findings_digest(audit, 1) in page
    assert findings_digest(audit) not in page


def test_a_new_report_of_an_old_record_is_sound(old):
    audit = json_io.from_json((old / "record.json").read_text())
    report = build_report([audit], ReportRequest())
    found = check_report(report.pdf, moment=NOW)
    assert [check.key for check in found.checks if check.state == BAD] == []
    other = replace(audit, verdict="indication")
    assert findings_digest(other) != findings_digest(audit)


# ------------------------------------------------------------------------ what a user has set up


def test_settings_are_kept(home):
    from pura_audit.platform.settings import SettingsFile

    file = SettingsFile(user_paths().config)
    assert file.problems == ()
    now = file.current
    assert (now.theme, now.language, now.text_size) == ("dark", "de", 17)
    assert now.recent == ("/home/example/letters/letter.txt",)
    assert (now.auditor, now.case_text, now.report_paper) == ("A. Example", "seal", "us-letter")
    assert now.columns == (240, 700, 360)


@pytest.mark.parametrize("name", ["house", "paper"])
def test_profiles_are_the_same(old, home, name):
    stored = ProfileFolder(user_paths().profiles).get(name)
    assert stored == Profile.load(old / f"{name}.json")
    assert stored.to_json() == (old / f"{name}.json").read_text()
    record = {"house": "record.json", "paper": "record-paper.json"}[name]
    told = json_io.from_json((old / record).read_text()).profile
    assert told.fingerprint == stored.fingerprint


def test_keys_open_with_their_passphrase(old, home):
    listed = json.loads((home / "config" / "keys.json").read_text())
    done = pura("key", "list")
    assert done.exit_code == 0, done.output
    for entry in listed:
        assert entry["fingerprint"] in done.output
    place = Environment(paths=user_paths(), ask_folder=lambda _new: passphrase_bytes(PASSPHRASE))
    with place.opened_keys([place.stored_key(entry["name"]) for entry in listed]) as keys:
        assert [key.fingerprint for key, _ in keys] == [e["fingerprint"] for e in listed]
    handed = load_key(old / "desk.purakey", lambda: passphrase_bytes(PASSPHRASE))
    assert (handed.name, handed.note) == ("desk", "of the tests")
    assert handed.key.fingerprint == listed[0]["fingerprint"]


def test_the_register_is_read_written_and_added_to(old, home, tmp_path):
    profile = Profile.load(old / "house.json")
    record = json_io.from_json((old / "record.json").read_text())
    mark = record.identity(record.key.fingerprint, record.payload.bits)
    with Register(user_paths().register, create=True) as register:
        assert register.find(mark) is None
        assert register.assign(IssuedUnder(profile=profile, key=mark.key)) == 2
        entry = register.find(mark)
        assert entry.issue.who == "City paper"
        assert verify(register).sound
        register.add(replace(entry.issue, payload=Payload(text="01" * 18)))
        assert len(register) == 3
    for name in ("register.csv", "register-export.csv"):
        with Register(tmp_path / f"{name}.sqlite3", create=True) as fresh:
            assert import_csv(fresh, old / name, IssuedUnder(profile=profile)) == 2
            assert fresh.unassigned() == 2


def test_the_policy_is_the_one_that_was_set(home):
    policy = load_policy(user_paths().policy, must_exist=True)
    assert (policy.rule, policy.draws, policy.yearly_volume) == ("desk/3", 99, 2000)


def test_an_old_report_is_audited_again_with_the_old_keys(old, home, installed_models):
    (home / "data" / "models").symlink_to(installed_models, target_is_directory=True)
    done = pura(
        "report", "verify", old / "signed.pdf", "--trust", old / "org.pem", "--rerun", "--json"
    )
    checks = {row["name"]: row for row in json.loads(done.stdout)["checks"]}
    assert done.exit_code == 0, checks
    assert checks["repeat"]["state"] in ("good", "notice"), checks["repeat"]


@pytest.mark.parametrize("old", ["v0.3.0"], indirect=True)
def test_a_token_of_the_detector_is_still_good(old, home):
    tokens = TokenFile(Places.of(user_paths()).tokens)
    asker = tokens.asker((old / "token.txt").read_text().strip())
    assert (asker.name, asker.role) == ("Newsroom", Role.TRUSTED)
    assert tokens.asker("pura_another") is None
    tokens.new("Archive", Role.PUBLIC, per_day=1)
    assert [token.name for token in tokens.list()] == ["Newsroom", "Archive"]
