"""What a report hides is not in it at all."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pura.base.errors import InputError
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.naming import CandidateFacts, Passage
from pura.report.annexes import BLOCK, NO_ID, names, public_audit, public_audits, table_files
from pura.report.request import OMITTED, REDACTED, ReportRequest, check_request


def _builder() -> Any:
    place = Path(__file__).resolve().parents[1] / "record" / "test_json_io.py"
    spec = importlib.util.spec_from_file_location("json_io_builder", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def audit() -> Audit:
    made: Audit = _builder().make_audit()
    spans = np.array([[0, 5], [6, 7]])
    return replace(
        made,
        text="Alice 7",
        tokens=replace(made.tokens, spans=spans),
        passages=(Passage(first_token=0, last_token=1, start=0, end=7),),
    )


def test_a_redacted_stretch_is_neither_text_nor_token(audit: Audit) -> None:
    shown = public_audit(audit, ReportRequest(text=REDACTED, redactions=((0, 5),)))
    assert shown.text == BLOCK * 5 + " 7"
    assert shown.tokens.ids.tolist() == [NO_ID, 1]
    assert "Alice" not in json_io.to_json(shown)


def test_every_text_has_stretches_of_its_own(audit: Audit) -> None:
    request = ReportRequest(text=REDACTED, redactions=((0, 5),), further=((), ((6, 7),)))
    shown = public_audits([audit] * 4, request)
    assert [one.text for one in shown] == [BLOCK * 5 + " 7", "Alice 7", "Alice " + BLOCK, "Alice 7"]
    tables = dict(table_files([replace(audit, id=f"{i:08}") for i in range(3)], request))
    assert len(tables) == 6
    held = [d.decode() for n, d in sorted(tables.items()) if n.endswith("tokens.csv")]
    assert ["Alice" in words for words in held] == [False, True, True]


def test_a_text_left_out_takes_its_tokens_along(audit: Audit) -> None:
    shown = public_audit(audit, ReportRequest(text=OMITTED))
    assert shown.text is None
    assert set(shown.tokens.ids.tolist()) == {NO_ID}


def test_names_are_kept_for_the_annex_alone(audit: Audit) -> None:
    assert names([audit]) == []  # the payload is in question: the entry is nobody's
    assert audit.register is not None
    bits = audit.register.matches[0].payload
    sure = replace(
        audit,
        verdict="mark",
        marks=(),
        decoded=replace(audit.decoded, bits=bits),
        candidates=(CandidateFacts(bits=bits, posterior=1.0, fields=audit.decoded.fields),),
    )
    assert names([sure])[0][2] == "w"
    shown = public_audit(sure, ReportRequest())
    assert shown.register is not None
    assert all(match.who == "" for match in shown.register.matches)


@pytest.mark.parametrize(
    "wrong", [{"language": "fr"}, {"paper": "a3"}, {"logo": b"GIF89a"}, {"case": "x" * 5000}]
)
def test_what_no_report_can_be_made_of_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        check_request(replace(ReportRequest(), **wrong))  # type: ignore[arg-type]
