"""What is said of a text without a mark: nothing of passages, payloads and repaired bits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pura.batch.results import finding_of
from pura.detect.verdict.agreement import disagreements
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.comparison import compare_audits
from pura.record.marks import bits_of
from pura.report.annexes import bits_csv
from pura.words.sentences import fill

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def audit(audited: Callable[..., Audit], samples: dict[str, Any]) -> Audit:
    """A text without a mark, with curly quotes, under a profile that nothing was measured for."""
    words = " ".join(one["text"] for one in samples["plain"]["texts"][:2]).split(" ")
    words[5], words[9] = f"“{words[5]}", f"{words[9]}”"
    return audited(" ".join(words), "marked", profile={"temperature": 0.83})


def test_no_passage_is_found(audit):
    assert audit.verdict == "insufficient"
    (step,) = (one for one in audit.log if one.name == "passages")
    assert (step.words("en"), step.words("de")) == ("0 found", "0 gefunden")


def test_no_bit_is_repaired(audit):
    assert any(bit.repaired for bit in audit.bits)  # as it was decoded
    assert not any(bit.repaired for bit in bits_of(audit, None))
    assert all(line.split(",")[4] == "0" for line in bits_csv(audit).splitlines()[1:])
    assert not any("repaired" in one.key for one in audit.cautions)
    other = replace(audit, decoded=replace(audit.decoded, repaired=audit.decoded.repaired + 9))
    (line,) = (one for one in compare_audits(audit, other) if one.name == "repaired")
    assert (line.same, line.first) == (True, "–")


def test_that_nothing_was_measured_is_said_with_the_command_that_measures(audit):
    for language, words in (("en", "has not been measured"), ("de", "ist nicht gemessen")):
        said = fill(audit.sentences[0], language)
        assert words in said
        assert "pura power measure" in said
        assert "too little evidence" not in said.lower()
        title = {"en": "No conclusion: not measured", "de": "Kein Schluss möglich: nicht gemessen"}
        assert audit.title(language) == title[language]
    assert disagreements(audit) == ()


def test_rows_name_cautions_and_what_was_undone(audit):
    row, columns = json_io.summary(audit), finding_of(audit.finding)
    assert row["undone"] == columns["undone"] == list(audit.undone) == ["curly-quotes"]
    keys = [one.key for one in audit.cautions]
    assert [one["key"] for one in row["cautions"]] == columns["cautions"] == keys
    assert "caution.several-readings" in keys
    assert audit.to_row()["undone"] == "curly-quotes"
