"""The seeds of the fuzzing targets: what was found once, or leads far in, stays an answer."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parent


def _targets() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_targets", HERE / "targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_seed_is_answered(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    from pura.keys import sealed

    monkeypatch.setattr(sealed, "_stretch", sealed._stretch)  # the target puts another one there
    module = _targets()
    known = module.targets()
    seeds = sorted(path for path in (HERE / "corpus").rglob("*") if path.is_file())
    assert len(seeds) > 30
    assert {seed.parent.name for seed in seeds} <= set(known)
    for seed in seeds:
        with subtests.test(seed=str(seed.relative_to(HERE))):
            target = known[seed.parent.name]()
            data = seed.read_bytes()
            module.tried(target, data)
            module.tried(target, data[: len(data) // 2])
