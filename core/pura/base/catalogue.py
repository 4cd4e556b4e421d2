"""The one catalogue of words: every text for people by its key, in every language.

Each language has a folder in ``resources/languages``; the files of its ``words`` are the volumes,
which hold its texts by key. A text whose English stands in the code, as the help of the command
does, has that as its key, and no volume in English. All
volumes share one syntax. A blank is written ``{name:kind}``; its kind decides how a value is
written in each language. ``{name:plural(form for 1|form for other counts)}`` chooses a form, which
may hold blanks of its own; ``{name:word(group)}`` stands for the word of the group whose English
the value is.

>>> catalogue("errors").fill("input.part", "en", {})
'It is not clear which part of the file is meant.'
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias, cast

from pura.base import numerals
from pura.base.numerals import LANGUAGES
from pura.base.paths import resource

_MERGED: Final[Mapping[str, tuple[str, ...]]] = {
    "fitness.tokenizer": ("fitness.vocabulary",),
    "input.empty": ("input.no-text",),
    "input.outside": ("packed.entities",),
    "input.read": ("input.read-end",),
    "input.surrogates": ("input.surrogate",),
    "json.no-field": ("batch.no-column",),
    "batch.damaged": ("batch.csv",),
    "limit.characters": ("limit.pdf",),
    "limit.deep": ("limit.document-deep", "limit.json", "limit.mail-depth"),
    "limit.file": ("limit.answer", "limit.part", "limit.rtf"),
    "limit.mail-header": ("limit.mail-headers",),
    "limit.parts": (
        "limit.mail-parameters",
        "limit.mail-parts",
        "limit.packed",
        "limit.pages",
    ),
    "limit.texts": ("limit.mailbox", "limit.table"),
    "limit.time": ("limit.computing",),
    "packed.locked": ("batch.zip-locked",),
}
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "kind.packed": ("7z", "bzip2", "gzip", "rar", "xz", "zip"),
    "kind.picture": ("gif", "jpeg", "png"),
}
PRESENT: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    **{old: (key, {}) for key, olds in _MERGED.items() for old in olds},
    **{
        f"kind.{name}": (key, {"name": name if key == "kind.packed" else name.upper()})
        for key, names in _KINDS.items()
        for name in names
    },
    "input.special": ("input.read", {"why": {"key": "reason.special", "values": {}}}),
    "model.ids": ("audit.ids-list", {}),
}
"""The key of today, and the values that the former one did not have."""


SCHEMA: Final = "pura-words/2"
NOT_REGULAR: Final = -1
"""Number of an :class:`OSError` of ours: what was to be read is a pipe, a device or a socket."""
# The forms of a plural may hold blanks, and words in parentheses.
_BLANK: Final = re.compile(r"\{(\w+):(\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?\}")


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A text that is not yet in any language; as a value it fills a blank of another one.

    Attributes:
        key: Its name in the volume.
        values: What its blanks hold, by name.
    """

    key: str
    values: Mapping[str, Value]


Value: TypeAlias = str | int | float | Phrase | tuple[Phrase, ...]
"""What fills a blank; several phrases stand one after another."""


def phrase(key: str, /, **values: Value) -> Phrase:
    """Return a text by its key and the values of its blanks."""
    return Phrase(key=key, values=values)


def quoted(names: Sequence[str | Phrase], *, most: int = 0) -> Phrase | str:
    """Return names one after another, each in the quotation marks of the reader's language.

    Args:
        names: The names; none gives an empty text.
        most: How many are said at most, with dots after them; 0 is all.
    """
    if not names:
        return ""
    first, *rest = names
    if not rest:
        return Phrase(key="quoted", values={"name": first})
    if most == 1:
        return Phrase(key="quoted.cut", values={"name": first})
    return Phrase(key="quoted.more", values={"name": first, "rest": quoted(rest, most=most - 1)})


class FillError(ValueError):
    """A value is missing, or not what its blank takes.

    Attributes:
        name: The blank.
        lacking: There is no value at all.
        out_of_range: The value has the right type, but cannot be written.
    """

    def __init__(self, name: str, *, lacking: bool = False, out_of_range: bool = False) -> None:
        super().__init__(f"the blank {name!r} cannot be filled")
        self.name = name
        self.lacking = lacking
        self.out_of_range = out_of_range


@dataclass(frozen=True, kw_only=True)
class Template:
    """One text of the catalogue.

    Attributes:
        key: Its name.
        texts: The text of every language, blanks included.
        hint: Key of the text that says the way out, or empty; errors alone have one.
        blanks: Kind of every blank; a blank that only chooses a form is of the kind ``plural``.
    """

    key: str
    texts: Mapping[str, str]
    hint: str
    blanks: Mapping[str, str]


class Catalogue(Mapping[str, Template]):
    """One volume: its texts by key.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Mapping[str, Template]) -> None:
        self._texts = texts

    def __getitem__(self, key: str) -> Template:
        return self._texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def fill(self, key: str, language: str, values: Mapping[str, Value]) -> str:
        """Return a text with its blanks filled; values that it has no blank for are left out.

        Raises:
            KeyError: There is no such text.
            FillError: A value is missing or does not fit.
            ValueError: No such language.
        """
        check_language(language)
        return self.fill_text(self[key].texts[language], language, values)

    def retold(self, group: str, text: str, language: str) -> str:
        """Return what was said in English by a text of a group, in a language.

        For what comes from a library, or from the file of an installed model, without its key; what
        no text of the group says stays as it is. What stands in its blanks is retold as well.
        """
        for key, template in self.items():
            if not key.startswith(f"{group}."):
                continue
            fixed, *blanks = re.split(r"\{(\w+):text\}", template.texts["en"])
            pattern = re.escape(fixed)
            for name, between in zip(blanks[::2], blanks[1::2], strict=True):
                pattern += f"(?P<{name}>.+?){re.escape(between)}"
            if found := re.fullmatch(pattern, text, re.DOTALL):
                values = {k: self.retold(group, v, language) for k, v in found.groupdict().items()}
                return self.fill(key, language, values)
        return text

    def fill_text(self, text: str, language: str, values: Mapping[str, Value]) -> str:
        """Return a text that has no key, such as one of the window, with its blanks filled.

        Values are taken as they are: a blank in a value stays what it is.

        Raises:
            FillError: A value is missing or does not fit.
        """

        def write(blank: re.Match[str]) -> str:
            name, kind, argument = blank.groups()
            if name not in values:
                raise FillError(name, lacking=True)
            value = values[name]
            if kind == "plural":
                one, _, other = argument.partition("|")
                return self.fill_text(one if value == 1 else other, language, values)
            accepted, writer = KINDS[kind]
            if isinstance(value, bool) or not isinstance(value, accepted):
                raise FillError(name)
            try:
                return writer(self, value, language, argument or "")
            except (ValueError, OverflowError, KeyError):
                raise FillError(name, out_of_range=True) from None

        return _BLANK.sub(write, text)


@cache
def catalogue(volume: str) -> Catalogue:
    """Return a volume of the catalogue, read once.

    Raises:
        FileNotFoundError: There is no such volume.
        ValueError: The file is not one of this program.
    """
    found = {language: _volume(volume, language) for language in LANGUAGES}
    written = dict.fromkeys(key for words in found.values() for key in words)
    if not written:
        raise FileNotFoundError(volume)
    texts = {}
    for key in written:
        entries = {name: words[key] for name, words in found.items() if key in words}
        own = {name: e["hint"] for name, e in entries.items() if "hint" in e}
        hint = f"{key}.hint" if own else entries.get("en", {}).get("hint-of", "")
        if own:
            texts[hint] = _template(hint, own, "")
        texts[key] = _template(key, {n: e["text"] for n, e in entries.items()}, hint)
    return Catalogue(texts)


def _volume(volume: str, language: str) -> dict[str, dict[str, str]]:
    """Return the texts of a volume in a language; none where it has no such volume."""
    try:
        path = resource("languages", language, "words", f"{volume}.json")
    except FileNotFoundError:
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["schema"] != SCHEMA:
        raise ValueError(f"the words {volume!r} are not those of this program")
    return {
        key: {"text": entry} if isinstance(entry, str) else entry
        for key, entry in data["words"].items()
    }


def check_language(language: str) -> None:
    """Refuse a language that the catalogue does not have.

    Raises:
        ValueError: Neither ``en`` nor ``de``.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no sentences in the language {language!r}")


def _template(key: str, entry: Mapping[str, str], hint: str) -> Template:
    whole = {"en": key, **entry}
    texts = {language: whole[language] for language in LANGUAGES}
    blanks: dict[str, str] = {}
    for text in texts.values():
        for name, kind in _blanks(text):
            known = blanks.setdefault(name, kind)
            if known == "plural":
                blanks[name] = kind
            elif kind not in (known, "plural"):
                raise ValueError(f"the blank {name!r} of the text {key!r} has no clear kind")
    return Template(key=key, texts=texts, hint=hint, blanks=blanks)


def _blanks(text: str) -> Iterator[tuple[str, str]]:
    for name, kind, argument in _BLANK.findall(text):
        if kind != "plural" and kind not in KINDS:
            raise ValueError(f"there is no kind of blank {kind!r}")
        yield name, kind
        if kind == "plural":
            yield from _blanks(argument)


def _text(
    words: Catalogue, value: str | int | Phrase | tuple[Phrase, ...], language: str, _: str
) -> str:
    if isinstance(value, tuple):
        return " ".join(words.fill(part.key, language, part.values) for part in value)
    if isinstance(value, Phrase):
        return words.fill(value.key, language, value.values)
    return str(value)


def _term(words: Catalogue, value: str, language: str, _: str) -> str:
    if words[value].blanks:
        raise ValueError("a term has no blanks")
    return words[value].texts[language]


def _word(words: Catalogue, value: str, language: str, group: str) -> str:
    for key in words:
        if key.startswith(f"{group}.") and words[key].texts["en"] == value:
            return words[key].texts[language]
    raise KeyError(value)


def _count(_words: Catalogue, value: int, language: str, _: str) -> str:
    if value < 0:
        raise ValueError("a count is not negative")
    return numerals.count(value, language)


def _reason(_words: Catalogue, value: int, language: str, _: str) -> str:
    """Write what the operating system says of an error, from its number; 0 is none."""
    reasons = catalogue("reasons")
    if value in (0, NOT_REGULAR):
        return reasons["special" if value else "unknown"].texts[language]
    name = errno.errorcode.get(value, "")
    if language == "en" or name not in reasons:
        # The system's own words are English for every program that sets no messages' locale.
        known = os.strerror(value)
        return known if language == "en" else reasons.fill("number", language, {"n": value})
    return reasons[name].texts[language]


def _least(_words: Catalogue, value: int, language: str, _: str) -> str:
    if value not in (0, 1):
        raise ValueError("neither 0 nor 1")
    return numerals.SPOKEN[language].least if value else ""


def _gaps(words: Catalogue, value: str, language: str, _: str) -> str:
    """Write where gaps lie, each given by four characters: what it comes after, and before.

    ``922 935 1187 1313`` is a gap somewhere between the characters 922 to 935 and 1,187 to 1,313;
    several stand one after another with commas between them, and dots at the end for more.
    """
    written = []
    for gap in value.split(", "):
        if gap == "…":
            written.append(gap)
            continue
        numbers = [int(number) for number in gap.split(" ")]
        if len(numbers) != 4 or min(numbers) < 0:
            raise ValueError("a gap has four characters")
        if numbers[0] > numbers[1] or numbers[2] > numbers[3]:
            raise ValueError("the limits of a gap are in order")
        after, before = (
            numerals.count(low, language)
            if low == high
            else f"{numerals.count(low, language)}\N{EN DASH}{numerals.count(high, language)}"
            for low, high in (numbers[:2], numbers[2:])
        )
        written.append(words.fill("gap.limits", language, {"after": after, "before": before}))
    return "; ".join(written)


def _numeral(write: Callable[[Any, str], str]) -> Writer:
    return lambda _words, value, language, _: write(value, language)


Writer: TypeAlias = Callable[[Catalogue, Any, str, str], str]
_Accepted: TypeAlias = type[Any] | tuple[type[Any], ...]

# Kind of a blank: which types it takes, and how a value is written.
KINDS: Final[Mapping[str, tuple[_Accepted, Writer]]] = {
    "text": ((str, int, Phrase, tuple), _text),
    "count": (int, _count),
    "ratio": ((int, float), _numeral(numerals.ratio)),
    "chance": ((int, float), _numeral(numerals.chance)),
    "percent": ((int, float), _numeral(numerals.percent)),
    "share": ((int, float), _numeral(numerals.share)),
    "weight": ((int, float), _numeral(numerals.weight)),
    "date": (str, _numeral(numerals.date)),
    "moment": (str, _numeral(numerals.moment)),
    "reason": (int, _reason),
    "least": (int, _least),
    "word": (str, _word),
    "term": (str, _term),
    "gaps": (str, _gaps),
}


def packed(value: Value) -> Any:
    """Return a value as JSON holds it, to cross from one process to another."""
    if isinstance(value, Phrase):
        return {"key": value.key, "values": {k: packed(v) for k, v in value.values.items()}}
    if isinstance(value, tuple):
        return [packed(part) for part in value]
    return value


def unpacked(value: Any) -> Value:
    """Read what :func:`packed` returned.

    Raises:
        ValueError: It is something else, or a phrase that the errors do not have.
    """
    if isinstance(value, dict):
        key, more = PRESENT.get(value["key"], (value["key"], {}))
        if key not in catalogue("errors"):
            raise ValueError("no such phrase")
        values = {str(k): unpacked(v) for k, v in {**value["values"], **more}.items()}
        return Phrase(key=key, values=values)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("not a value")
    return cast("Value", value)
