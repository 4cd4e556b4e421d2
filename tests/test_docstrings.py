"""The examples in docstrings, which the site prints, are what Python answers."""

import doctest
import importlib
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parent.parent / "core"
MODULES = [
    ".".join(path.relative_to(CORE).with_suffix("").parts)
    for path in sorted(CORE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name):
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    for case in doctest.DocTestFinder().find(importlib.import_module(name)):
        runner.run(case, out=told.append)
    assert runner.summarize(verbose=False).attempted > 0
    assert told == [], "".join(told)
