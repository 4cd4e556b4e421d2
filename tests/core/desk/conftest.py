"""A workplace of this test alone, with the small model and no keyring."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pura.base.paths import user_paths
from pura.desk.workplace import Workplace
from pura.model.held import HeldModel
from pura.record.audit import Audit
from pura.words.sentence import Sentence

WORDS = b"four words in a row"


@pytest.fixture
def models(small_models: Path) -> Path:
    """The folder of the models that are installed."""
    return small_models


@pytest.fixture
def reader(small_model: Any) -> Any:
    """The model that is lent to the quick workplace."""
    return small_model


@pytest.fixture
def at(models: Path) -> Workplace:
    """The workplace; its key files have a passphrase that is told to whoever asks."""
    paths = user_paths()
    paths.models.parent.mkdir(parents=True, exist_ok=True)
    paths.models.symlink_to(models)
    return Workplace(paths=paths, device="cpu", ask_folder=lambda _new: bytearray(WORDS))


@pytest.fixture
def loads() -> list[str]:
    """Every model that was loaded at the quick workplace."""
    return []


@pytest.fixture
def quick(at: Workplace, reader: Any, loads: list[str]) -> Workplace:
    """The same, with the session's model instead of one that is loaded for each test."""

    def load(source: Any, device: Any) -> Any:
        loads.append(f"{source.name} {device.kind} {device.dtype}")
        return reader

    return Workplace(paths=at.paths, device="cpu", ask_folder=at.ask_folder, held=HeldModel(load))


@pytest.fixture(scope="session")
def make_record() -> Callable[[int], Audit]:
    """Make a complete record without a model: ``make_record(1)``."""
    place = Path(__file__).resolve().parents[1] / "record" / "test_json_io.py"
    spec = importlib.util.spec_from_file_location("json_io_for_the_desk", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def make(number: int) -> Audit:
        made: Audit = module.make_audit()
        sentences = (Sentence(key="note.n1"),)
        return replace(made, id=f"{number:032x}", sentences=sentences, cautions=())

    return make


@pytest.fixture
def alone() -> Workplace:
    """A workplace without models: for what is done to records."""
    return Workplace(paths=user_paths(), device="cpu")
