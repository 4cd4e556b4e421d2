"""Who works here is asked for a name once; login and name are one person, who reviews nothing."""

from collections.abc import Callable

import pytest

from pura.base.errors import CaseLogError
from pura.caselog import CaseItem, CaseLog
from pura.caselog.keeping import erase_person
from pura.caselog.reports import confirmations
from pura.record.audit import Audit
from pura.usecases import cases
from pura.usecases.environment import Environment

Make = Callable[[int], Audit]


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "max")


def saved(at: Environment, audit: Audit, auditor: str | None = None) -> CaseItem:
    cases.save_audits(at, cases.SaveTo(case="Thesis", auditor=auditor), [audit])
    return cases.items_of(at, "Thesis", [audit.id])[1][0]


def review(at: Environment, item: CaseItem, who: str | None) -> str:
    """Return the code of the refusal; "" where there was none."""
    try:
        cases.review_finding(at, item=item, reviewer=who, agree=True, recomputed="all of it")
    except CaseLogError as error:
        return error.code
    return ""


def confirmed(at: Environment, audit: Audit) -> list[tuple[str, str]]:
    with cases.open_log(at, read_only=True) as log:
        return [(one.examiner, one.reviewer) for one in confirmations(log, [audit.id])]


def test_whoever_examined_under_the_logins_name_is_no_second_person(alone, make_record):
    audit = make_record(1)
    item = saved(alone, audit)
    assert item.examiner == "max"
    for name in ("Max Muster", "Béla", "max", None):
        assert review(alone, item, name) == "four-eyes-unnamed"
    cases.name_worker(alone, "  Max   Muster ")
    cases.name_worker(alone, "Somebody else")  # asked for once
    for name in ("max muster", "max", None):
        assert review(alone, item, name) == "four-eyes"
    assert confirmed(alone, audit) == []
    assert review(alone, item, "Béla") == ""
    later = saved(alone, make_record(2))
    assert (later.examiner, later.examined_by) == ("Max Muster", item.examined_by)
    _, [first, _] = cases.items_of(alone, "Thesis")
    # An entry keeps the name that was known when it was written.
    assert first.examiner == "max"
    assert confirmed(alone, audit) == [("Max Muster", "Béla")]
    with cases.open_log(alone, read_only=True) as log:
        (told,) = confirmations(log, [audit.id])
    assert told.examiner_names == ("max", "Max Muster")  # neither may authorise the report


def test_a_log_of_an_earlier_version_knows_the_login_already(alone, make_record):
    with CaseLog(alone.paths.caselog, create=True) as log:
        earlier = log.person("max")
    cases.name_worker(alone, "Max Muster")
    item = saved(alone, make_record(1))
    assert (item.examined_by, item.examiner) == (earlier.id, "Max Muster")


def test_an_identifier_goes_with_its_person_into_another_log(alone, make_record):
    cases.name_worker(alone, "Max Muster")
    item = saved(alone, make_record(1))
    alone.paths.caselog.unlink()
    assert saved(alone, make_record(1)).examined_by == item.examined_by


def test_an_erased_name_does_not_come_back(alone, make_record):
    cases.name_worker(alone, "Max Muster")
    item = saved(alone, make_record(1))
    with cases.open_log(alone) as log:
        assert erase_person(log, "Max Muster", log.person("Anna"), reason="asked for")
    later = saved(alone, make_record(2))
    assert later.examined_by != item.examined_by
    _, [first, _] = cases.items_of(alone, "Thesis")
    assert first.examiner is None


def test_others_who_are_named_are_others(alone, make_record):
    cases.name_worker(alone, "Max Muster")
    item = saved(alone, make_record(1), "Anna")
    assert item.examiner == "Anna"
    assert review(alone, item, None) == ""


@pytest.mark.parametrize("damaged", ["", "[]", '{"id": 1}', "\udcff"])
def test_a_damaged_file_asks_again(alone, damaged):
    alone.paths.worker.parent.mkdir(parents=True, exist_ok=True)
    alone.paths.worker.write_bytes(damaged.encode(errors="surrogateescape"))
    worker = cases.worker_of(alone)
    assert (worker.name, len(worker.id)) == ("", 16)
    assert cases.worker_of(alone) == worker
