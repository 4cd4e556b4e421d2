"""Texts after programs that nobody here wrote: what must hold of each, read in one company.

Made by ``tests/data/make_held_out.py``.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import pura

HELD_OUT = Path(__file__).parents[1] / "data" / "held_out.json"
EDITED = 0.1
"""Share of edited tokens below which a mark must be found."""


def failing(one: dict[str, Any], audit: pura.Audit) -> str | None:
    """Return what does not hold of a text."""
    if any(mark.payload.bits not in (None, one["payload"]) for mark in audit.finding.marks):
        return "a wrong payload is named"
    said = {sentence.key for sentence in (*audit.sentences, *audit.cautions)}
    if not one["edited"] and {"text.gap-between", "caution.edited-here"} & said:
        return "words are said to be put in that nobody put in"
    if one["kind"] != "marked":
        return "a mark is found" if audit.verdict == "mark" else None
    if audit.verdict == "no-mark":
        return "it is called unmarked"
    if audit.verdict != "mark":
        return "its mark is missed" if one["edited"] < EDITED else None
    text, original = one["text"].strip(), one["original"].strip()
    laid_out = text.split() == original.split() and text.count("\n") > original.count("\n")
    return "nothing is said of its handling" if laid_out and not audit.finding.handling else None


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("code", ["spc", "tbcc"])
def test_what_must_hold_of_texts_after_the_tools_of_others(builtin_model, code, part):
    data = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    assert len(data["texts"]) == 40
    texts = [one for one in data["texts"] if one["code"] == code][part::3]
    results = pura.verify_many(
        [one["text"] for one in texts],
        key=pura.SecretKey.from_hex(data["key_hex"]),
        profile=pura.Profile.from_dict(data["profiles"][code]),
        model=builtin_model,
    )
    others = {}
    for one, result in zip(texts, results, strict=True):
        name = f"{one['kind']}, {one['tool']}"
        assert result.audit is not None, f"{name}: {result.error}"
        found, evidence = failing(one, result.audit), result.audit.evidence.log10_e
        if found is not None:
            others[name] = found, result.audit.verdict, round(evidence, 1)
    assert not others, others
