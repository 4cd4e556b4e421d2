"""A report names the table that its shares come from."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pura.record.audit import Audit
from pura.record.evidence import PowerFacts
from pura.report.blocks import Labels
from pura.report.method import method, validation
from pura.report.request import ReportRequest


@pytest.fixture(scope="module")
def audit() -> Audit:
    place = Path(__file__).resolve().parents[1] / "record" / "test_json_io.py"
    spec = importlib.util.spec_from_file_location("json_io_for_power", place)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Audit = module.make_audit()
    return replace(made, power=OWN)


OWN = PowerFacts(table="6" * 64, name="Chat, German", own=True, texts=64, date="2026-11-22")


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_method_names_the_table(audit: Audit, language: str) -> None:
    labels = Labels(language)
    own = str(method(audit, ReportRequest(), labels))
    assert "Chat, German" in own
    assert "6666" in own
    shipped = replace(audit, power=replace(OWN, name="", own=False))
    assert labels("power.shipped") in str(method(shipped, ReportRequest(), labels))
    assert labels("power.table") not in str(
        method(replace(audit, power=None), ReportRequest(), labels)
    )


def test_what_was_validated_follows_the_tables(audit: Audit) -> None:
    labels = Labels("en")
    built_in, english = "SmolLM2-135M-Instruct", "Languages other than English"
    own = str(validation([audit], labels))
    assert "“Chat, German” of 2026-11-22, on 64 marked texts" in own
    assert built_in not in own
    assert english not in own
    before = str(validation([replace(audit, power=None)], labels))
    assert built_in in before
    assert english in before
    both = str(validation([audit, replace(audit, power=None)], labels))
    assert "Chat, German" in both
    assert built_in in both
