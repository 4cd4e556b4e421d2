"""A case log of its own, and records to save in it."""

from __future__ import annotations

import datetime as dt
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pura.caselog import CaseLog, Person
from pura.record.audit import Audit


def _builder() -> Any:
    place = Path(__file__).resolve().parents[1] / "record" / "test_json_io.py"
    spec = importlib.util.spec_from_file_location("json_io_builder", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_BUILDER = _builder()


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
    compare: Callable[[Any, Any], bool] = _BUILDER.same
    return compare
