"""The gap analysis: what was seen stands, statements stand beside it, and gaps are not covered."""

import json
from dataclasses import replace
from pathlib import Path

import pikepdf
import pytest
from pypdfium2 import PdfDocument
from tests.core.cli.conftest import pura

from pura.base.errors import ReportError
from pura.base.numerals import LANGUAGES
from pura.base.paths import user_paths
from pura.detect.verdict.policy import Policy
from pura.detect.verdict.power import shipped_power
from pura.report.gap_analysis import (
    MEASURES,
    PLACES,
    SCHEMA,
    STATEMENTS,
    GapAnalysis,
    GapStatements,
    Measure,
    OperatorStatement,
)
from pura.report.regulators import AnnexFacts
from pura.scheme import Profile
from pura.usecases.duties import DUTIES, deployment, duties
from pura.usecases.environment import Environment

PROFILE = Profile(payload_bits=36, vocab_size=64, code="tbcc", model="0" * 16)


def analysis(**measures: OperatorStatement) -> GapAnalysis:
    """Return an analysis of an installation without anything."""
    at = Environment(paths=user_paths(), device="cpu")
    annex = AnnexFacts(
        profile=PROFILE,
        policy=Policy(),
        own=(),
        shipped=shipped_power(),
        date="2026-11-29",
        duties=duties(deployment(at, PROFILE)),
    )
    places = {name.replace("_", "."): statement for name, statement in measures.items()}
    return GapAnalysis(annex=annex, statements=GapStatements(measures=places))


def measure(place: str) -> Measure:
    return next(one for one in MEASURES if one.place == place)


def test_every_duty_of_a_measure_exists():
    names = {name for name, *_ in DUTIES}
    assert {duty for one in MEASURES for duty in one.duties} <= names
    assert len(set(PLACES)) == len(PLACES)


def test_statement_never_covers_what_a_check_saw():
    stated = OperatorStatement(state="have", text="All is well.")
    bare, covered = analysis(), analysis(**{"1_1_3": stated})
    assert bare.state_of(measure("1.1.3")) == "absent"
    assert covered.state_of(measure("1.1.3")) == "absent"


def test_statement_counts_where_the_program_sees_nothing():
    assert analysis().state_of(measure("1.2")) == "unknown"
    stated = analysis(**{"1_2": OperatorStatement(state="partly", text="In part.")})
    assert stated.state_of(measure("1.2")) == "partly"


def test_measure_that_does_not_apply_says_so():
    stated = OperatorStatement(state="not-applicable", text="Plain text only.")
    assert analysis(**{"1_1_1": stated}).state_of(measure("1.1.1")) == "not-applicable"


def test_weakest_of_several_checks_counts():
    both = analysis()
    duties_met = tuple(
        replace(duty, state="have" if duty.id == "routed" else duty.state)
        for duty in both.annex.duties
    )
    mixed = GapAnalysis(annex=replace(both.annex, duties=duties_met), statements=both.statements)
    assert mixed.state_of(measure("3.4")) == "absent"


def test_statements_come_back_the_same():
    blank = GapStatements.blank()
    assert GapStatements.from_json(blank.to_json()) == blank
    filled = replace(
        blank,
        signed=False,
        measures={"1.2": OperatorStatement(state="have", text="§ 7", planned="2027")},
    )
    assert GapStatements.from_json(filled.to_json()) == filled


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("no JSON", "document.form"),
        ("[]", "document.form"),
        ('{"schema": "pura-gap-analysis/2"}', "document.field"),
        ('{"signed": "yes"}', "document.field"),
        ('{"more": 1}', "document.field"),
        ('{"measures": {"9.9": {}}}', "gap.place"),
        ('{"measures": {"1.2": {"state": "done"}}}', "document.field"),
        ('{"measures": {"1.2": {"state": "not-applicable", "text": " "}}}', "gap.reason"),
    ],
)
def test_bad_statements_are_refused_with_the_way_out(content: str, key: str):
    with pytest.raises(ReportError) as refused:
        GapStatements.from_json(content.encode())
    assert refused.value.key == key
    for language in LANGUAGES:
        assert all(refused.value.words(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_command_writes_pdf_and_html(language: str, tmp_path: Path):
    paths = user_paths()
    paths.profiles.mkdir(parents=True)
    (paths.profiles / "house.json").write_text(PROFILE.to_json())
    template, pdf, html = (tmp_path / name for name in ("gaps.json", "gaps.pdf", "gaps.html"))
    assert pura("report", "gap-analysis", "--template", template).exit_code == 0
    stated = json.loads(template.read_text())
    assert stated["schema"] == SCHEMA
    assert list(stated["measures"]) == list(PLACES)
    stated["measures"]["1.2"] = {"state": "have", "text": "Seven <b>of</b> #our terms"}
    stated["measures"]["4"] = {"planned": "Spring 2027"}
    template.write_text(json.dumps(stated))
    options = ("--profile", "house", "--statements", template, "--pdf", pdf, "--html", html)
    result = pura("--language", language, "report", "gap-analysis", *options)
    assert result.exit_code == 0, result.output
    with PdfDocument(pdf) as document:
        pages = " ".join(" ".join(p.get_textpage().get_text_range().split()) for p in document)
    markup = html.read_text()
    for text in ("Seven <b>of</b> #our terms", "Spring 2027"):
        assert text in pages
    assert "Seven &lt;b&gt;of&lt;/b&gt; #our terms" in markup
    with pikepdf.open(pdf) as inside:
        assert STATEMENTS in inside.attachments
        assert "profile.json" in inside.attachments
    # A second time nothing is replaced unasked.
    assert pura("report", "gap-analysis", *options).exit_code != 0
    again = pura("report", "gap-analysis", *options, "--force", "--json")
    row = json.loads(again.stdout)
    assert (row["what"], [Path(name) for name in row["files"]]) == ("gap-analysis", [pdf, html])
    assert row["count"] == pdf.stat().st_size + html.stat().st_size


def test_command_needs_a_profile_and_somewhere_to_write(tmp_path: Path):
    paths = user_paths()
    paths.profiles.mkdir(parents=True)
    (paths.profiles / "house.json").write_text(PROFILE.to_json())
    assert pura("report", "gap-analysis", "--pdf", tmp_path / "a.pdf").exit_code != 0
    assert pura("report", "gap-analysis", "--profile", "house").exit_code != 0
