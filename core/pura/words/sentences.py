"""The findings in words: one catalogue, two languages, one function that fills it.

Window, report, command line and JSON all say the same sentences, because all of them take a
:class:`~pura.record.audit.Sentence` (a key and raw values) and fill it here. The catalogue is
``resources/sentences.json``: a blank is written ``{name:kind}``, and its kind decides how a number
is written in each language. A sentence that counts something holds a form for one and for more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pura.base.errors import RecordError
from pura.base.resources import resource
from pura.record.audit import Sentence
from pura.words import numerals
from pura.words.numerals import LANGUAGES

SCHEMA: Final = "pura-sentences/1"
Value = str | int | float

_BLANK: Final = re.compile(r"\{(\w+):(\w+)\}")
_LEAST: Final = {"en": "at least ", "de": "mindestens "}
_MAX_TEXT: Final = 200  # a name or a fingerprint; longer ones come from a damaged record
_HINT: Final = "Open the record with the version of the program that wrote it."


@dataclass(frozen=True, kw_only=True)
class Template:
    """One sentence of the catalogue.

    Attributes:
        key: Its name.
        texts: The text of every language, blanks included; where ``count`` is set, the text for
            more than one.
        singles: The text of every language for exactly one; empty unless ``count`` is set.
        count: The blank that decides between one and more, or None.
        blanks: Kind of every blank, in any language and form.
    """

    key: str
    texts: Mapping[str, str]
    singles: Mapping[str, str]
    count: str | None
    blanks: Mapping[str, str]


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
    check_language(language)
    template = catalogue().get(sentence.key)
    if template is None:
        raise _refuse(sentence.key, "is not in the catalogue")
    values = sentence.values
    if missing := sorted(template.blanks.keys() - values.keys()):
        raise _refuse(sentence.key, f"lacks the value “{missing[0]}”")
    if surplus := sorted(values.keys() - template.blanks.keys()):
        raise _refuse(sentence.key, f"has the surplus value “{surplus[0][:40]}”")
    one = template.count is not None and values[template.count] == 1
    text = (template.singles if one else template.texts)[language]
    words = {
        name: _write(sentence.key, name, kind, values[name], language)
        for name, kind in template.blanks.items()
    }
    return _BLANK.sub(lambda blank: words[blank[1]], text)


def say(key: str, language: str, **values: Value) -> str:
    """Fill a sentence by its key; see :func:`fill`."""
    return fill(Sentence(key=key, values=values), language)


def title(verdict: str, language: str) -> str:
    """Return the headline of an outcome, e.g. "A mark was found"."""
    return say(f"title.{verdict}", language)


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
    return catalogue()[key].texts["en"]


@cache
def catalogue() -> Mapping[str, Template]:
    """Return all sentences by key, read once."""
    data = json.loads(resource("sentences.json").read_text(encoding="utf-8"))
    if data["schema"] != SCHEMA or tuple(data["languages"]) != LANGUAGES:
        raise ValueError("the sentence catalogue is not the one of this program")
    return {key: _template(key, entry) for key, entry in data["sentences"].items()}


def check_language(language: str) -> None:
    """Refuse a language that the catalogue does not have.

    Raises:
        ValueError: Neither ``en`` nor ``de``.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no sentences in the language {language!r}")


def _template(key: str, entry: Mapping[str, Any]) -> Template:
    counted = entry.get("count")
    texts = {language: entry[language] for language in LANGUAGES}
    singles = {}
    if counted:
        singles = {language: texts[language]["one"] for language in LANGUAGES}
        texts = {language: texts[language]["other"] for language in LANGUAGES}
    blanks: dict[str, str] = {}
    for text in (*texts.values(), *singles.values()):
        for name, kind in _BLANK.findall(text):
            if kind not in _KINDS or blanks.setdefault(name, kind) != kind:
                raise ValueError(f"the blank {name!r} of the sentence {key!r} has no clear kind")
    return Template(key=key, texts=texts, singles=singles, count=counted, blanks=blanks)


def _refuse(key: str, what: str) -> RecordError:
    return RecordError(f"The sentence “{key[:60]}” of the record {what}.", _HINT)


def _write(key: str, name: str, kind: str, value: object, language: str) -> str:
    accepted, write = _KINDS[kind]
    if isinstance(value, bool) or not isinstance(value, accepted):
        raise _refuse(key, f"has a value of a wrong type for “{name}”")
    try:
        return write(value, language)
    except (ValueError, OverflowError, KeyError):
        raise _refuse(key, f"has a value out of range for “{name}”") from None


def _text(value: str, _language: str) -> str:
    if not value or len(value) > _MAX_TEXT or not value.isprintable():
        raise ValueError
    return value


def _count(value: int, language: str) -> str:
    if value < 0:
        raise ValueError
    return numerals.count(value, language)


def _least(value: int, language: str) -> str:
    if value not in (0, 1):
        raise ValueError
    return _LEAST[language] if value else ""


def _word(value: str, language: str) -> str:
    return say(_scale_keys()[value], language)


@cache
def _scale_keys() -> Mapping[str, str]:
    return {catalogue()[key].texts["en"]: key for _, key in SCALE}


def _term(value: str, language: str) -> str:
    if catalogue()[value].blanks:
        raise ValueError
    return catalogue()[value].texts[language]


# Kind of a blank: which Python types it takes, and how it is written.
_KINDS: Final[dict[str, tuple[type | tuple[type, ...], Callable[[Any, str], str]]]] = {
    "text": (str, _text),
    "count": (int, _count),
    "ratio": ((int, float), numerals.ratio),
    "chance": ((int, float), numerals.chance),
    "percent": ((int, float), numerals.percent),
    "share": ((int, float), numerals.share),
    "weight": ((int, float), numerals.weight),
    "date": (str, numerals.date),
    "least": (int, _least),
    "word": (str, _word),
    "term": (str, _term),
}
