"""Texts that attackers made of collected answers name nobody; those of the service keep theirs.

The texts are of ``bench/forgery.py``, read by the model that wrote the answers: 128 answers of one
customer and a table of their words (``replay``), three accounts that frame a fourth (``accounts``),
pieces of 30 tokens of three people (``pieces``); and one of the service with every tenth word
exchanged (``edited``). 0.4.0 named a person for each.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from pura.base.numerals import LANGUAGES
from pura.batch.results import finding_in, finding_of, row_line, row_of
from pura.detect.options import Options
from pura.detect.together import audit_text
from pura.detect.verdict.agreement import disagreements
from pura.record import json_io
from pura.record.audit import Audit
from pura.register.rows import Issue, Recipient
from pura.register.store import Register
from pura.report.annexes import Seals
from pura.report.blocks import html_page
from pura.report.build import content_of
from pura.report.request import ReportRequest
from pura.scheme import Payload, PayloadSeries, Profile, SecretKey
from pura.words.sentences import forbidden

TEXTS = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "forged" / "texts.json").read_text("utf-8")
)
VICTIM = "Somebody who wrote nothing"
PLACE = {"input": 1, "item": 1, "piece": 1, "path": "/a.txt", "part": ""}


@pytest.fixture(scope="module", params=sorted(TEXTS))
def name(request: Any) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def audit(name: str, builtin_model: Any, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """The audit of a text, with a register that has an entry for its payload."""
    case = TEXTS[name]
    key, profile = SecretKey.from_hex(case["key_hex"]), Profile.from_dict(case["profile"])
    mark = PayloadSeries.of(key, profile).mark(Payload(text=case["payload"]))
    with Register(tmp_path_factory.mktemp("register") / "register", create=True) as register:
        register.add(Issue.of(mark, Recipient(who=VICTIM)), profile)
        return audit_text(
            case["text"],
            model=builtin_model,
            keys=[(key, None)],
            profile=profile,
            options=Options(register=register),
        )


def outputs(audit: Audit) -> dict[str, str]:
    """Return what each output says of an audit."""
    row = row_line(row_of(PLACE, finding_of(audit.finding)))
    found = {"record": json_io.to_json(audit), "row": row}
    for language in LANGUAGES:
        request = ReportRequest(language=language)
        seals = Seals(name="record.json", record="0" * 64, size=1)
        found[f"report {language}"] = html_page(content_of([audit], request, seals))
        found[f"answer {language}"] = audit.finding.to_html(language)
    return {name: text if isinstance(text, str) else text.decode() for name, text in found.items()}


@pytest.mark.slow
@pytest.mark.model
def test_a_forged_text_names_nobody_in_any_output(audit, name):
    bits = TEXTS[name]["payload"]
    number = Payload(text=bits).hex
    assert audit.verdict == "mark"
    for output, text in outputs(audit).items():
        named = [one for one in (VICTIM, bits, number) if one in text]
        if name == "edited":  # whose name the report has in its annex
            assert VICTIM in named or output.startswith("report"), output
        else:
            assert named == [], output
    assert disagreements(audit) == ()
    why = {"replay": "unfit", "accounts": "unfit", "pieces": "pieces", "edited": ""}[name]
    assert [one.payload.withheld for one in audit.named_marks] == [why]
    summary = json_io.summary(audit)
    row = row_of(PLACE, finding_of(audit.finding))
    for columns in (summary, summary["marks"][0], row, audit.to_row()):
        assert columns["payload_withheld"] == (why or None)
    assert row["marks_withheld"] == [why or None]
    listed = finding_in(row)  # as the window's table of results shows it
    assert listed is not None
    assert [mark.payload.withheld for mark in listed.marks] == [why]
    assert json_io.from_json(json_io.to_json(audit)).named_marks == audit.named_marks


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("language", LANGUAGES)
def test_instead_of_the_name_stands_why(audit, name, language):
    said = audit.finding.to_html(language)
    reasons = {
        "unfit": {"en": "put together from pieces of several texts", "de": "schlechter"},
        "pieces": {"en": "from pieces of several marked texts", "de": "aus Stücken mehrerer"},
    }
    for why in {one.payload.withheld for one in audit.named_marks} - {""}:
        assert reasons[why][language] in said
        assert not forbidden(said, language)
