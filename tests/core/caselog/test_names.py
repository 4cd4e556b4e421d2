"""Entries keep the name of their time; a signature is that of its certificate."""

import datetime as dt
import hashlib
import shutil
from pathlib import Path

import pytest
from tests.core.certificates import packed, self_signed
from tests.core.records import RECORD
from typer.testing import CliRunner

from pura.base.identity import Identity, load_identity
from pura.base.paths import user_paths
from pura.caselog import (
    CaseLog,
    Person,
    PersonNames,
    export_case,
    import_case,
    open_case,
    read_case,
    record_report,
    save_audit,
    sign_off,
    statuses,
    write_note,
)
from pura.caselog.keeping import erase_person
from pura.caselog.names import signer
from pura.caselog.reports import confirmations, note_signed, request_of_case
from pura.caselog.verify import verify_log
from pura.cli.__main__ import app
from pura.report.request import ReportRequest

OLD = Path(__file__).parents[2] / "data" / "v0.3.0"
WORKER = "0123456789abcdef"


@pytest.fixture
def log(tmp_path):
    with CaseLog(tmp_path / "log.sqlite3", create=True) as opened:
        yield opened


@pytest.fixture
def identity() -> Identity:
    key, cert = self_signed("Contoso Compliance Desk", None)
    return load_identity(packed(key, cert), None, now=dt.datetime.now(dt.UTC))


@pytest.fixture
def renamed(log) -> tuple[str, Person]:
    """A case in which a finding was saved before its worker said how they are called."""
    root = log.person("root", WORKER)
    case = open_case(log, "Thesis", root).id
    save_audit(log, case, RECORD, root)
    write_note(log, case, "first", root)
    named = log.person("A. Example", WORKER)
    write_note(log, case, "second", named)
    return case, named


def test_an_entry_keeps_the_name_that_was_valid_when_it_was_written(log, renamed):
    case, _ = renamed
    found = read_case(log, case)
    assert found.auditor == "root"
    assert [note.who for note in found.notes] == ["root", "A. Example"]
    assert (found.items[0].auditor, found.items[0].examiner) == ("root", "root")
    status = statuses(log, [RECORD.id])[RECORD.id]
    assert status.acts["save"][0] == "root"


def test_a_report_names_its_examiner_as_that_person_is_called_now(log, renamed):
    case, _ = renamed
    found = read_case(log, case)
    request = request_of_case(log, found, found.items, ReportRequest())
    assert request.parties.examiner == "A. Example"


def test_a_second_person_confirms_a_finding_of_somebody_who_took_another_name(log, renamed):
    case, _ = renamed
    sign_off(
        log, read_case(log, case).items[0], log.person("B. Muster"), agree=True, recomputed="x"
    )
    log.person("A. Later", WORKER)
    (confirmed,) = confirmations(log, [RECORD.id])
    assert confirmed.examiner == "A. Later"
    assert set(confirmed.examiner_names) == {"root", "A. Example", "A. Later"}
    assert read_case(log, case).items[0].review.who == "B. Muster"


def test_an_erased_name_is_not_replaced_by_a_later_one(log, renamed):
    case, named = renamed
    erase_person(log, "root", named, reason="asked for")
    log.person("Another", WORKER)
    assert [note.who for note in read_case(log, case).notes] == [None, None]


def test_names_of_a_case_from_elsewhere_are_those_of_its_own_log(log, renamed, tmp_path):
    case, named = renamed
    data = export_case(log, case, named)
    with CaseLog(tmp_path / "other.sqlite3", create=True) as other:
        other.person("Somebody here", WORKER)
        taken = import_case(other, data, other.person("C. There"))
        assert [note.who for note in taken.notes] == ["root", "A. Example"]


def signed(log: CaseLog, case: str, actor: Person, identity: Identity) -> None:
    record_report(
        log,
        case,
        actor,
        action="report-issued",
        number="1",
        sha256=hashlib.sha256(b"unsigned").hexdigest(),
        items=[RECORD.id],
        final=True,
    )
    note_signed(log, b"unsigned", b"after", identity, actor)


def test_who_signed_is_the_subject_of_the_certificate(log, renamed, identity):
    case, named = renamed
    signed(log, case, named, identity)
    status = statuses(log, [RECORD.id])[RECORD.id]
    assert status.signed
    assert status.acts["sign"][0] == "Contoso Compliance Desk"
    assert status.acts["report"][0] == "A. Example"
    assert status.examiner == "root"
    people = PersonNames(log)
    for entry in log.acts("report-signed", "head-signed"):
        by = people.attribution(entry)
        assert (by.name, by.operator) == ("Contoso Compliance Desk", "A. Example")
    checks = {check.key: check for check in verify_log(log)}
    assert checks["signatures.untrusted"].values["who"] == "Contoso Compliance Desk"


def test_nobody_stands_beside_a_signer_of_the_same_name(log, identity):
    desk = log.person("contoso compliance desk")
    case = open_case(log, "Thesis", desk).id
    save_audit(log, case, RECORD, desk)
    signed(log, case, desk, identity)
    (entry,) = log.acts("report-signed")
    assert PersonNames(log).attribution(entry).operator == ""


@pytest.mark.parametrize("action", ["report-signed", "head-signed"])
def test_a_signature_of_an_earlier_version_is_attributed_by_its_certificate(tmp_path, action):
    path = tmp_path / "cases.sqlite3"
    shutil.copy(OLD / "home" / "data" / "cases.sqlite3", path)
    with CaseLog(path, read_only=True) as log:
        entries = list(log.acts(action))
        assert entries
        for entry in entries:
            assert "signer" not in entry.kept
            assert signer(log, entry) == "Example Desk, Example"
            by = PersonNames(log).attribution(entry)
            assert (by.name, by.operator) == ("Example Desk, Example", "A. Example")


def test_the_command_shows_who_signed_and_who_entered_it(identity):
    path = user_paths().caselog
    with CaseLog(path, create=True) as log:
        root = log.person("root", WORKER)
        case = open_case(log, "Thesis", root).id
        save_audit(log, case, RECORD, root)
        named = log.person("A. Example", WORKER)
        signed(log, case, named, identity)
    shown = CliRunner().invoke(app, ["caselog", "show", "Thesis"]).stdout
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()[:1].isdigit()}
    (entry,) = (line for line in lines.values() if "Contoso" in line)
    assert entry.rstrip().endswith("Contoso Compliance Desk (entered by A. Example)")
    assert sum(line.rstrip().endswith("root") for line in lines.values()) >= 2
