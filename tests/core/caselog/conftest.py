"""A case log of its own, and records to save in it."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pura.caselog import Case, CaseItem, CaseLog, Person, open_case, save_audit
from pura.record.audit import Audit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "cases.sqlite3"


@pytest.fixture
def log(path: Path) -> Iterator[CaseLog]:
    zone = dt.timezone(dt.timedelta(hours=2), "CEST")
    times = iter(
        dt.datetime(2026, 7, 1, 12, tzinfo=zone) + dt.timedelta(seconds=i) for i in range(100_000)
    )
    with CaseLog(path, create=True, station="5" * 16, clock=lambda: next(times)) as opened:
        yield opened


@pytest.fixture
def anna(log: CaseLog) -> Person:
    return log.person("Anna Beispiel")


@pytest.fixture
def case(log: CaseLog, anna: Person) -> Case:
    """An empty case of Anna's."""
    return open_case(log, "Thesis", anna)


@pytest.fixture
def item(log: CaseLog, anna: Person, case: Case, make_audit: Callable[..., Audit]) -> CaseItem:
    """What the case holds: ``make_audit(1)``."""
    return save_audit(log, case.id, make_audit(1), anna)


@pytest.fixture
def bela(log: CaseLog) -> Person:
    return log.person("Béla Muster")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[CaseLog]:
    with CaseLog(tmp_path / "elsewhere.sqlite3", create=True) as opened:
        opened.person("Carla")
        yield opened


@pytest.fixture
def make_audit(honest_record: Callable[..., Audit]) -> Callable[..., Audit]:
    """Make a record of its own: ``make_audit(1, text="…")``."""
    return honest_record


@pytest.fixture
def same() -> Callable[[Any, Any], bool]:
    from tests.core.record.test_json_io import same

    return same
