"""Phrases that a finding never uses, and the order in which sentences must stand.

A finding is weakened most by what reads too much into it: "proves", "87 % AI", "the probability
that the text is marked". The phrases are data (``forbidden-phrases.json`` of each language, with
examples that its test must catch). The sentence catalogue, the window's texts and every free text
of a report go through :func:`forbidden`; what an audit says goes through :func:`out_of_order`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pura.base.catalogue import check_language
from pura.base.paths import resource
from pura.words.sentences import Sentence, findings

SCHEMA: Final = "pura-forbidden/2"


@dataclass(frozen=True, kw_only=True)
class Offence:
    """One phrase that must not stand there.

    Attributes:
        name: Which rule.
        phrase: What was found.
        start: Where in the text.
    """

    name: str
    phrase: str
    start: int


@dataclass(frozen=True, kw_only=True)
class ForbiddenPhrase:
    """One forbidden phrase.

    Attributes:
        name: What the rule is called.
        pattern: Finds it; upper and lower case alike.
        examples: Texts that it must catch.
    """

    name: str
    pattern: re.Pattern[str]
    examples: tuple[str, ...]


@cache
def phrases(language: str) -> tuple[ForbiddenPhrase, ...]:
    """Return the forbidden phrases of a language."""
    check_language(language)
    path = resource("languages", language, "forbidden-phrases.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        ForbiddenPhrase(
            name=entry["name"],
            pattern=re.compile(entry["pattern"], re.IGNORECASE),
            examples=tuple(entry["examples"]),
        )
        for entry in data["phrases"]
    )


def forbidden(text: str, language: str) -> list[Offence]:
    """Return every forbidden phrase of a text, in the order in which they stand.

    Args:
        text: Plain text; runs of white space count as one blank.
        language: ``en`` or ``de``.
    """
    flat = " ".join(text.split())
    found = [
        Offence(name=phrase.name, phrase=hit[0], start=hit.start())
        for phrase in phrases(language)
        for hit in phrase.pattern.finditer(flat)
    ]
    return sorted(found, key=lambda finding: (finding.start, finding.name))


def out_of_order(sentences: Sequence[Sentence]) -> list[str]:
    """Return what is wrong with the order of an audit's sentences; empty when all is well.

    The first sentence is the outcome. A likelihood ratio is followed by N1. A probability stands
    only in a sentence that says what it is not, or beside a register entry. Sentences about the
    payload stand only under the outcome "mark".
    """
    problems = []
    keys = [sentence.key for sentence in sentences]
    if not keys or not keys[0].startswith("outcome."):
        problems.append("the first sentence is not the outcome")
    for place, key in enumerate(keys):
        kinds = findings()[key].blanks.values()
        if "ratio" in kinds and keys[place + 1 : place + 2] != ["note.n1"]:
            problems.append(f"{key} is not followed by note.n1")
        if (
            key.startswith(("register.", "candidates.", "payload.", "marks.", "text."))
            and keys[0] != "outcome.mark"
        ):
            problems.append(f"{key} stands under an outcome other than a mark")
    if sum(key.startswith("outcome.") for key in keys) > 1:
        problems.append("there is more than one outcome")
    return problems
