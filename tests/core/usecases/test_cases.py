"""Cases at the desk: audits saved all or none, opened again, reviewed, exported, checked."""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.core.stops import stop_after

from pura.base.errors import Cancelled, CaseLogError, InputError, KeyFormatError
from pura.base.paths import user_paths
from pura.caselog import SEAL, CaseLog, list_cases, set_closed
from pura.caselog.cases import UNFILED
from pura.caselog.package import import_case
from pura.keys import Secret
from pura.record.audit import Audit
from pura.usecases import cases
from pura.usecases.environment import Environment

Make = Callable[[int], Audit]
TO = cases.SaveTo(case="Thesis", auditor="Anna")


def words(text: bytes = b"a quiet passphrase") -> Secret:
    return Secret(bytearray(text))


def test_without_a_log_nothing_is_made_by_looking(alone):
    for work in (
        lambda: cases.items_of(alone, "Thesis"),
        lambda: cases.check_log(alone),
        lambda: cases.export_to_file(alone, case="Thesis", path=Path("x")),
    ):
        with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-missing"):
            work()
    assert not alone.paths.caselog.exists()


def test_audits_are_saved_all_or_none(alone, make_record):
    both = [make_record(1), make_record(2)]
    with pytest.raises(Cancelled):
        cases.save_audits(alone, TO, both, checkpoint=stop_after(1))
    with cases.open_log(alone, read_only=True) as log:
        assert list_cases(log) == ()
    case, count = cases.save_audits(alone, TO, both)
    assert (count, case.name) == (2, "Thesis")
    again, count = cases.save_audits(alone, TO, [*both, make_record(3)])
    assert (count, again.id, len(again.items)) == (1, case.id, 3)
    with pytest.raises(CaseLogError, check=lambda e: e.code == "case-log-twice"):
        cases.save_audits(alone, TO, both)


def test_a_sealed_text_is_read_with_its_passphrase_alone(alone, make_record):
    record, passphrase = make_record(1), words()
    to = cases.SaveTo(case="Thesis", auditor="Anna", text=SEAL, passphrase=passphrase)
    cases.save_audits(alone, to, [record])
    assert passphrase.copy() == b""
    _, items = cases.items_of(alone, "Thesis")
    [without] = cases.open_audits(alone, items=items, auditor="Béla")
    assert without.text is None
    with pytest.raises(CaseLogError):
        cases.open_audits(alone, items=items, auditor="Béla", passphrase=words(b"another"))
    [opened] = cases.open_audits(alone, items=items, auditor="Béla", passphrase=words())
    assert opened.text == record.text
    with cases.open_log(alone, read_only=True) as log:
        assert [e.action for e in log.entries()].count("text-opened") == 1
    short = cases.SaveTo(case="Other", auditor="Anna", text=SEAL, passphrase=words(b"short"))
    with pytest.raises(KeyFormatError):
        cases.save_audits(alone, short, [make_record(2)])


def test_a_run_says_what_began_what_failed_and_what_was_found(alone, make_record):
    with cases.saving_run(alone, TO) as run:
        assert run.opened
        run.start("a.txt")
        assert run.save(make_record(1)).id == make_record(1).id
        run.fail("b.txt", InputError("file.read", name="b.txt", why=5))
        case = run.case
    with cases.open_log(alone) as log:
        actions = [entry.action for entry in log.entries(case=case.id)]
        assert actions[:4] == [
            "case-opened",
            "examination-started",
            "examination-finished",
            "register-looked-up",
        ]
        assert "examination-failed" in actions
        set_closed(log, case.id, log.person("Anna"), closed=True)
    with pytest.raises(CaseLogError) as caught, cases.saving_run(alone, TO):
        pass
    assert caught.value.code == "case-log-closed"


def test_audits_of_an_earlier_run_are_filed_by_their_names(alone, make_record):
    unfiled = cases.SaveTo(case=UNFILED, auditor="Anna")
    cases.save_audits(alone, unfiled, [make_record(1), make_record(2)])
    case, count = cases.save_audits(alone, TO, [make_record(1), make_record(2).id])
    assert count == 2
    assert [item.id for item in case.items] == [make_record(1).id, make_record(2).id]
    assert cases.open_saved(alone, make_record(2).id).text == make_record(2).text
    with cases.open_log(alone) as log:
        [left] = [one for one in list_cases(log) if one.name == UNFILED]
    assert left.items == ()
    with pytest.raises(CaseLogError):
        cases.save_audits(alone, cases.SaveTo(case="Other", auditor="Anna"), ["0" * 32])


def test_examined_filed_and_confirmed_are_three_people(alone, make_record, tmp_path):
    record = make_record(1)
    cases.save_audits(alone, cases.SaveTo(case=UNFILED, auditor="Anna"), [record])
    cases.save_audits(alone, cases.SaveTo(case="Thesis", auditor="Béla"), [record])
    _, [item] = cases.items_of(alone, "Thesis")
    assert (item.examiner, item.examined, item.auditor) == ("Anna", record.created, "Béla")
    assert item.entry.time != item.examined
    assert item.headline("en") == record.title("en")
    review = partial(cases.review_finding, alone, item=item, agree=True, recomputed="all of it")
    for name in ("Anna", "Béla"):
        with pytest.raises(CaseLogError, match="Two people"):
            review(reviewer=name)
    review(reviewer="Chidi")
    # The name travels with the case, though its entry stands in another.
    path = tmp_path / "thesis.puracase"
    cases.export_to_file(alone, case="Thesis", path=path, auditor="Anna")
    with CaseLog(tmp_path / "other", create=True) as log:
        taken = import_case(log, path.read_bytes(), log.person("Dora"))
    assert [one.examiner for one in taken.items] == ["Anna"]


def test_heads_are_laid_down_by_themselves_and_show_an_older_copy(alone, make_record, tmp_path):
    cases.save_audits(alone, TO, [make_record(1)])
    older = tmp_path / "older.sqlite3"
    folder = tmp_path / "archive"
    with pytest.raises(CaseLogError, match="archive"):
        cases.deposit_head(alone, folder=folder, always=True)
    folder.mkdir()
    made = cases.deposit_head(alone, folder=folder, always=True)
    with sqlite3.connect(alone.paths.caselog) as source, sqlite3.connect(older) as copy:
        source.backup(copy)
    source.close()
    copy.close()
    cases.save_audits(alone, TO, [make_record(2)])
    check = {one.name: one for one in cases.check_log(alone)}["deposits"]
    assert (check.state, check.values["count"]) == ("good", 1), "one file a day"
    made.unlink()
    cases.save_audits(alone, TO, [make_record(3)])
    assert made.exists(), "laid down again by itself"
    older.replace(alone.paths.caselog)
    keys = [one.key for one in cases.check_log(alone) if one.state == "bad"]
    assert keys == ["deposits.cut"]
    cases.end_deposits(alone)
    assert not any(one.state == "bad" for one in cases.check_log(alone))


def test_the_log_is_checked_and_says_so_where_that_is_wanted(alone, make_record, tmp_path):
    cases.save_audits(alone, TO, [make_record(1)])
    checks = cases.check_log(alone, record=True, auditor="Anna")
    assert all(check.state != "bad" for check in checks)
    with cases.open_log(alone, read_only=True) as log:
        head = str(log.head())
        assert list(log.entries())[-1].action == "log-verified"
    elsewhere = Environment(paths=user_paths(tmp_path / "elsewhere"))
    checks = cases.check_log(elsewhere, log=alone.paths.caselog, head=head, record=True)
    assert all(check.state != "bad" for check in checks)
    assert not elsewhere.paths.caselog.exists(), "another log is only read"
    with CaseLog(alone.paths.caselog, read_only=True) as log:
        assert str(log.head()) == head
