"""The findings in words, and the linter that finds phrases which no finding may use.

Sentences travel by key and values, and one function fills them. A finding is weakened most by what
reads too much into it: "proves", "87 % AI", "the probability that the text is marked". Such phrases
are data (``forbidden-phrases.json`` of each language, with examples that its test must catch). The
catalogue, the window's texts and every free text of a report go through :func:`forbidden`; what an
audit says goes through :func:`out_of_order`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeAlias

from pura.base.catalogue import Catalogue, FillError, Phrase, catalogue, check_language, phrase
from pura.base.errors import RecordError
from pura.base.paths import resource


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of the catalogue with what fills it.

    Attributes:
        key: Name in the catalogue, e.g. ``outcome.mark``.
        values: What its blanks are filled with, ready for every language.
    """

    key: str
    values: dict[str, str | int | float] = field(default_factory=dict)

    def words(self, language: str = "en") -> str:
        """Return it in words; see :func:`fill`."""
        return fill(self, language)

    def __str__(self) -> str:
        """Return it in English words."""
        return fill(self, "en")


def sentence(key: str, /, **values: str | float) -> Sentence:
    """Return a sentence by its key and the values of its blanks."""
    return Sentence(key=key, values=values)


Note: TypeAlias = str | tuple[Sentence, ...]
"""A remark in a record; in records up to version 0.2.0 it is an English text, shown as it is."""


Value = str | int | float

# The titles of eight keys, whose names have 80 characters at most; what is longer comes from a
# damaged record.
_MAX_TEXT: Final = 1000


@dataclass(frozen=True, kw_only=True)
class ScaleRow:
    """One row of the verbal scale.

    Attributes:
        key: Its name in the catalogue, ``scale.…``.
        low: log10 of the likelihood ratio from which it holds, included; 0 for the first.
        high: log10 up to which it holds, excluded; None for the last.
        range: The likelihood ratios in words.
        word: The word of the scale.
    """

    key: str
    low: float
    high: float | None
    range: str
    word: str


# Lower ends in log10, included (verbal scale of AFSP 2009 and ENFSI 2015). The printed first cut
# is the likelihood ratio 2, so its logarithm is taken at full precision, not as 0.3.
SCALE: Final[tuple[tuple[float, str], ...]] = (
    (0.0, "scale.none"),
    (0.3010299956639812, "scale.weak"),
    (1.0, "scale.moderate"),
    (2.0, "scale.moderately-strong"),
    (3.0, "scale.strong"),
    (4.0, "scale.very-strong"),
    (6.0, "scale.extremely-strong"),
)


def fill(sentence: Sentence, language: str) -> str:
    """Return a sentence in words.

    Args:
        sentence: A key of the catalogue and the raw values of its blanks.
        language: ``en`` or ``de``.

    Raises:
        RecordError: The catalogue has no such sentence, or a value is missing, too many, or of
            a wrong kind.
        ValueError: No such language.
    """
    template = findings().get(sentence.key)
    if template is None:
        raise _refuse(sentence.key, phrase("sentence.unknown"))
    values = sentence.values
    if missing := sorted(template.blanks.keys() - values.keys()):
        raise _refuse(sentence.key, phrase("sentence.lacks", name=missing[0]))
    if surplus := sorted(values.keys() - template.blanks.keys()):
        raise _refuse(sentence.key, phrase("sentence.surplus", name=surplus[0][:40]))
    for name, kind in template.blanks.items():
        if kind == "text":
            _check_text(sentence.key, name, values[name])
    try:
        return findings().fill(sentence.key, language, values)
    except FillError as error:
        raise _refuse(sentence.key, phrase("sentence.range", name=error.name)) from None


def say(key: str, language: str, **values: Value) -> str:
    """Fill a sentence by its key; see :func:`fill`."""
    return fill(Sentence(key=key, values=values), language)


def noted(note: Note, language: str) -> str:
    """Return a remark of a record in words, one thing after another; an old one as it stands."""
    if isinstance(note, str):
        return note
    return "; ".join(fill(one, language) for one in note)


def changed(name: str, count: int, note: Note, language: str) -> str:
    """Say what was done to the characters of a text, or found among them.

    Args:
        name: What; one that the catalogue does not have stands as it is.
        count: How often.
        note: What else is known of it; the whole remark in old records.
        language: ``en`` or ``de``.
    """
    if note and isinstance(note, str):
        return note
    if f"change.{name}" not in findings():
        return f"{name}: {count}"
    words = say("changed", language, what=f"change.{name}", n=count)
    return f"{words} ({noted(note, language)})" if note else words


def change_name(name: str, language: str) -> str:
    """Return what was done to characters, without saying how often."""
    return say(f"change.{name}", language) if f"change.{name}" in findings() else name


def step_name(name: str, language: str) -> str:
    """Return the name of a step of an audit."""
    return say(f"step.{name}", language) if f"step.{name}" in findings() else name


def headline(verdict: str, marks: int = 1, *, at_least: bool = False) -> Sentence:
    """Return the headline of an outcome, e.g. "A mark was found".

    Args:
        verdict: The outcome's word.
        marks: How many marks the text carries; counts where the outcome is ``mark``.
        at_least: There may be more: a limit was reached.
    """
    if verdict == "mark" and at_least and marks > 1:
        return Sentence(key="title.mark-at-least", values={"n": marks})
    counted: dict[str, Value] = {"n": max(1, marks)} if verdict == "mark" else {}
    return Sentence(key=f"title.{verdict}", values=counted)


def title(verdict: str, language: str, marks: int = 1, *, at_least: bool = False) -> str:
    """Return the same in words.

    Args:
        verdict: See :func:`headline`.
        language: ``en`` or ``de``.
        marks: See there.
        at_least: See there.
    """
    return fill(headline(verdict, marks, at_least=at_least), language)


def scale(language: str) -> tuple[ScaleRow, ...]:
    """Return the whole verbal scale, which stands under every finding that uses a word of it."""
    rows = []
    ends = [low for low, _ in SCALE[1:]] + [None]
    for (low, key), high in zip(SCALE, ends, strict=True):
        below = {} if low == 0 else {"low": round(10**low)}
        above = {} if high is None else {"high": round(10**high)}
        form = "under" if not below else "between" if above else "from"
        words = say(f"scale.{form}", language, **below, **above)
        word = say(key, language)
        rows.append(ScaleRow(key=key, low=low, high=high, range=words, word=word))
    return tuple(rows)


def scale_word(log10_size: float) -> str:
    """Return the word, English, for the size of a log10 likelihood ratio (0 and up)."""
    key = next(key for low, key in reversed(SCALE) if log10_size >= low)
    return findings()[key].texts["en"]


def findings() -> Catalogue:
    """Return all sentences by key."""
    return catalogue("findings")


def _refuse(key: str, what: Phrase) -> RecordError:
    return RecordError("record.sentence", key=key[:60], what=what)


def _check_text(key: str, name: str, value: object) -> None:
    """Refuse what no audit writes as a name or a fingerprint; it comes from a damaged record."""
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_TEXT or not value.isprintable():
        raise _refuse(key, phrase("sentence.range", name=name))


SCHEMA: Final = "pura-forbidden/2"


@cache
def phrases(language: str) -> tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...]:
    """Return the forbidden phrases of a language: name, pattern, texts that it must catch."""
    check_language(language)
    path = resource("languages", language, "forbidden-phrases.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        (entry["name"], re.compile(entry["pattern"], re.IGNORECASE), tuple(entry["examples"]))
        for entry in data["phrases"]
    )


def forbidden(text: str, language: str) -> list[tuple[int, str, str]]:
    """Return every forbidden phrase of a text, in the order in which they stand.

    Args:
        text: Plain text; runs of white space count as one blank.
        language: ``en`` or ``de``.

    Returns:
        Of each where it begins, the name of its rule, and what was found.
    """
    flat = " ".join(text.split())
    return sorted(
        (hit.start(), name, hit[0])
        for name, pattern, _ in phrases(language)
        for hit in pattern.finditer(flat)
    )


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
