"""Candidate prompts: how they are read, and what they do to an audit."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pura.base.errors import InputError, ReportFileError
from pura.detect.options import AuditText
from pura.detect.prompts import PromptCandidate, prompt_readings
from pura.documents import from_text
from pura.record import json_io
from pura.usecases.audits import audit, audit_again
from pura.usecases.choices import candidates_of, candidates_text, read_candidates
from pura.words.sentences import fill


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("one\n\n  two \r\none\n", ("one", "two")),
        ('{"prompt": "a\\nb", "when": 3}\n\n{"prompt": "c"}', ("a\nb", "c")),
        ("a {\n{b", ("a {", "{b")),
    ],
)
def test_a_candidate_a_line_or_json_lines(text, want):
    assert candidates_of(text) == want
    assert candidates_of(candidates_text(want)) == want


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no candidate"),
        (" \n\n", "no candidate"),
        ('{"prompt": "a"}\n\nb', "Line 3 .* is not a JSON object"),
        ('{"prompt": "a"}\n[1]', "Line 2 .* is not a JSON object"),
        ('{"text": "a"}', "Line 1 .* no text in the field “prompt”"),
        ('{"prompt": " "}', "Line 1 .* no text in the field “prompt”"),
    ],
)
def test_what_is_no_candidate_is_named_with_its_line(text, says):
    with pytest.raises(InputError, match=says) as caught:
        candidates_of(text)
    assert caught.value.code == "prompts"


def test_a_file_is_read_as_it_stands_whatever_it_is_called(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"text": "no", "prompt": "Grüße"}, ensure_ascii=False), "utf-8")
    assert read_candidates(path) == ("Grüße",)
    with pytest.raises(InputError):
        read_candidates(tmp_path / "none.txt")


def test_candidates_that_were_not_read_any_more_are_named_without_evidence():
    openings = [PromptCandidate(variant=0, ids=(), candidate=None)]
    openings += [PromptCandidate(variant=0, ids=(1, 2), candidate=i) for i in range(3)]
    trials: list[Any] = [
        SimpleNamespace(reading=number, exact=SimpleNamespace(log10_e=e))
        for number, e in ((0, 1.0), (1, 7.0), (1, 5.0))
    ]
    found = prompt_readings(("a", "b", "c"), openings, trials, trials[1])
    assert [p.log10_e for p in found] == [pytest.approx(6.70, abs=0.01), None, None]
    assert [p.shown for p in found] == [True, False, False]
    assert [p.number for p in found] == [1, 2, 3]


@pytest.fixture
def models(installed_models: Path) -> Path:
    return installed_models


@pytest.fixture
def reader(builtin_model: Any) -> Any:
    """A real model: what comes before the text has to make a difference."""
    return builtin_model


@pytest.fixture
def marked(samples: dict[str, Any]) -> Any:
    return samples["marked-tbcc"]


def test_the_evidence_is_the_mean_over_candidates_and_the_text_without_any(quick, setup, samples):
    sample = samples["marked-tbcc"]["texts"][0]
    document = from_text(sample["text"][:250], name="memo")
    wrong = ("Once upon a time", "Dear Sir or Madam,", "The weather tomorrow:")
    candidates = (*wrong[:2], sample["prompt"], wrong[2])

    def of(*prompts: str) -> Any:
        return audit(quick, setup, AuditText(document=document, prompts=prompts)).audit

    alone, known, several = of(), of(sample["prompt"]), of(*candidates)
    assert known.evidence.log10_e > alone.evidence.log10_e + 10
    best = known.evidence.log10_e
    assert several.evidence.log10_e == pytest.approx(best - 0.699, abs=0.02)
    assert [p.number for p in several.prompts if p.shown] == [3]
    assert [p.sha256 for p in several.prompts] == [
        hashlib.sha256(p.encode()).hexdigest() for p in candidates
    ]
    assert several.prompts[2].log10_e == pytest.approx(best, abs=1e-4)
    assert several.variants[0].log10_e == pytest.approx(alone.evidence.log10_e, abs=1e-4)
    assert several.prompt.known
    assert several.prompt.sha256 == several.prompts[2].sha256
    assert (alone.prompts, known.prompts) == ((), ())
    said = next(c for c in several.cautions if c.key == "caution.prompts-one")
    assert "4 candidate prompts" in fill(said, "en")
    assert "Prompt 3" in fill(said, "de")
    assert "caution.prompt-unknown" not in {c.key for c in several.cautions}
    assert json_io.from_json(json_io.to_json(several)).prompts == several.prompts
    with pytest.raises(ReportFileError, check=lambda e: e.code == "repeat-prompt"):
        audit_again(quick, several)

    none = of(*wrong)
    assert none.evidence.log10_e >= alone.evidence.log10_e - 0.61
    assert not any(p.shown for p in none.prompts)
    assert not none.prompt.known
    assert "caution.prompts-none" in {c.key for c in none.cautions}

    with pytest.raises(
        InputError,
        match="201 candidate prompts; at most 200",
        check=lambda e: e.code == "prompts-many",
    ):
        of(*map(str, range(201)))
    with pytest.raises(InputError, match="at most 200,000"):
        of("a" * 200_001, "b")


def test_a_profile_that_knows_the_beginning_is_read_after_it(quick, setup, samples):
    sample = samples["marked-tbcc"]["texts"][0]
    text = AuditText(document=from_text(sample["text"][:250], name="memo"))
    plain = audit(quick, setup, text).audit
    # The sample's generator was given its prompt and nothing else: all but its end is known.
    head, tail = sample["prompt"][:40], sample["prompt"][40:]
    profile = setup.profile.with_(chat_template="{system}{prompt}" + tail, system_prompt=head)
    chat = audit(quick, replace(setup, profile=profile), text).audit
    assert chat.evidence.log10_e > plain.evidence.log10_e + 5
    assert not chat.prompt.known
    assert "caution.message-unknown" in {c.key for c in chat.cautions}
    assert "after the profile's template" in chat.log[2].words("en")
    again = audit_again(quick, json_io.from_json(json_io.to_json(chat)))
    assert again.evidence == chat.evidence
