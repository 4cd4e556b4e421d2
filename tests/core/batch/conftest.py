"""A reader without a model, that processes of this test can import as well."""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the reader."""
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    return importlib.import_module("_fast_reader")
