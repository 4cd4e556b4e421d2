"""A environment of this test alone, with the small model and no keyring."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.core.programs import lend
from tests.core.records import RECORD

from pura.base.paths import user_paths
from pura.keys import KeyRef
from pura.model.store import ModelCache
from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Setup
from pura.usecases.environment import Environment

WORDS = b"four words in a row"


@pytest.fixture
def models(small_models: Path) -> Path:
    """The folder of the models that are installed."""
    return small_models


@pytest.fixture
def reader(small_model: Any) -> Any:
    """The model that is lent to the quick environment."""
    return small_model


@pytest.fixture
def at(models: Path) -> Environment:
    """The environment; its key files have a passphrase that is told to whoever asks."""
    paths = user_paths()
    lend(models, paths.models)
    return Environment(paths=paths, device="cpu", ask_folder=lambda _new: bytearray(WORDS))


@pytest.fixture
def loads() -> list[str]:
    """Every model that was loaded at the quick environment."""
    return []


@pytest.fixture
def quick(at: Environment, reader: Any, loads: list[str]) -> Environment:
    """The same, with the session's model instead of one that is loaded for each test."""

    def load(source: Any, device: Any) -> Any:
        loads.append(f"{source.name} {device.kind} {device.dtype}")
        return reader

    return Environment(
        paths=at.paths, device="cpu", ask_folder=at.ask_folder, held=ModelCache(load)
    )


@pytest.fixture
def marked(small_samples: dict[str, Any]) -> dict[str, Any]:
    """The marked samples that belong to the reader."""
    return small_samples["marked-tbcc"]


@pytest.fixture
def setup(quick: Environment, marked: dict[str, Any]) -> Setup:
    """The key of the marked samples, stored, and their profile."""
    with SecretKey.from_hex(marked["key_hex"]) as key:
        entry = quick.keys.add("Desk", key)
    ref = KeyRef(fingerprint=entry.fingerprint, label="Desk")
    return Setup(keys=(ref,), profile=Profile.from_dict(marked["profile"]))


@pytest.fixture(scope="session")
def make_record() -> Callable[[int], Audit]:
    """Make a complete record without a model: ``make_record(1)``."""
    return lambda number: replace(RECORD, id=f"{number:032x}")


@pytest.fixture
def alone() -> Environment:
    """A environment without models: for what is done to records."""
    return Environment(paths=user_paths(), device="cpu")
