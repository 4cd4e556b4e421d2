"""The message catalogue: every text for people by its key, in every language.

Each language has a folder in ``resources/languages``; the files in its ``words`` are the volumes,
which contain the texts by key. If the English text is in the code, as for the help of the command,
it is the key, and there is no English volume. All volumes share one syntax. A blank is written
``{name:kind}``; its kind decides how a value is written in each language.
``{name:plural(form for 1|form for other counts)}`` chooses a form, which may contain further
blanks. ``{name:word(group)}`` stands for the word of the group whose English text is the value.

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
"""The present key of each former key, and the values that the former one did not have."""


SCHEMA: Final = "pura-words/2"
NOT_REGULAR: Final = -1
"""Number of an :class:`OSError` that this program raises for a pipe, a device or a socket."""
# The forms of a plural may contain blanks, and words in parentheses.
_BLANK: Final = re.compile(r"\{(\w+):(\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?\}")


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A text that is independent of the language; as a value it fills a blank of another text.

    Attributes:
        key: Key of the text in the volume.
        values: Values of its blanks, by name.
    """

    key: str
    values: Mapping[str, Value]


Value: TypeAlias = str | int | float | Phrase | tuple[Phrase, ...]
"""A value for a blank; several phrases are written one after another."""


def phrase(key: str, /, **values: Value) -> Phrase:
    """Return a text by its key and the values of its blanks."""
    return Phrase(key=key, values=values)


def quoted(names: Sequence[str | Phrase], *, most: int = 0) -> Phrase | str:
    """Return a list of names, each in the quotation marks of the reader's language.

    Args:
        names: The names; no names give an empty text.
        most: Maximum number of names, followed by dots; 0 lists all.
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
    """A value is missing, or does not fit its blank.

    Attributes:
        name: Name of the blank.
        lacking: There is no value.
        out_of_range: The value has the right type, but cannot be written.
    """

    def __init__(self, name: str, *, lacking: bool = False, out_of_range: bool = False) -> None:
        super().__init__(f"the blank {name!r} cannot be filled")
        self.name = name
        self.lacking = lacking
        self.out_of_range = out_of_range


@dataclass(frozen=True, kw_only=True)
class Template:
    """A text of the catalogue.

    Attributes:
        key: Key of the text.
        texts: The text in every language, including its blanks.
        hint: Key of the text with the way out of an error; empty for other texts.
        blanks: Kind of every blank; a blank that only chooses a form has the kind ``plural``.
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
        """Return a text with its blanks filled; values without a blank are ignored.

        Raises:
            KeyError: There is no such text.
            FillError: A value is missing or does not fit.
            ValueError: No such language.
        """
        check_language(language)
        return self.fill_text(self[key].texts[language], language, values)

    def retold(self, group: str, text: str, language: str) -> str:
        """Translate an English text that a text of a group has produced.

        This is for texts without a key, from a library or the file of an installed model. A text
        that matches none of the group is returned unchanged. Values in its blanks are translated
        too.
        """
        for key, template in self.items():
            if not key.startswith(f"{group}."):
                continue
            fixed, *blanks = re.split(r"\{(\w+):text\}", template.texts["en"])
            pattern = re.escape(fixed)
            for name, between in zip(blanks[::2], blanks[1::2], strict=True):
                pattern += f"(?P<{name}>.+?){re.escape(between)}"
            if match := re.fullmatch(pattern, text, re.DOTALL):
                values = {k: self.retold(group, v, language) for k, v in match.groupdict().items()}
                return self.fill(key, language, values)
        return text

    def fill_text(self, text: str, language: str, values: Mapping[str, Value]) -> str:
        """Fill the blanks of a text without a key, such as a text of the window.

        A blank inside a value is not filled.

        Raises:
            FillError: A value is missing or does not fit.
        """

        def write(blank: re.Match[str]) -> str:
            name, kind, argument = blank.groups()
            if name not in values:
                raise FillError(name, lacking=True)
            value = values[name]
            if kind == "plural":
                singular, _, plural = argument.partition("|")
                return self.fill_text(singular if value == 1 else plural, language, values)
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
    """Return a volume of the catalogue, which is read only once.

    Raises:
        FileNotFoundError: There is no such volume.
        ValueError: The file belongs to another version.
    """
    volumes = {language: _volume(volume, language) for language in LANGUAGES}
    written = dict.fromkeys(key for volume_texts in volumes.values() for key in volume_texts)
    if not written:
        raise FileNotFoundError(volume)
    texts = {}
    for key in written:
        entries = {
            name: volume_texts[key] for name, volume_texts in volumes.items() if key in volume_texts
        }
        hints = {name: e["hint"] for name, e in entries.items() if "hint" in e}
        hint = f"{key}.hint" if hints else entries.get("en", {}).get("hint-of", "")
        if hints:
            texts[hint] = _template(hint, hints, "")
        texts[key] = _template(key, {n: e["text"] for n, e in entries.items()}, hint)
    return Catalogue(texts)


def _volume(volume: str, language: str) -> dict[str, dict[str, str]]:
    """Return the texts of a volume in a language; none if the language lacks the volume."""
    try:
        path = resource("languages", language, "words", f"{volume}.json")
    except FileNotFoundError:
        return {}
    parsed = json.loads(path.read_text(encoding="utf-8"))
    if parsed["schema"] != SCHEMA:
        raise ValueError(f"the words {volume!r} are not those of this program")
    return {
        key: {"text": entry} if isinstance(entry, str) else entry
        for key, entry in parsed["words"].items()
    }


def check_language(language: str) -> None:
    """Require a language of the catalogue.

    Raises:
        ValueError: The catalogue does not have the language.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no sentences in the language {language!r}")


def _template(key: str, entry: Mapping[str, str], hint: str) -> Template:
    with_english = {"en": key, **entry}
    texts = {language: with_english[language] for language in LANGUAGES}
    blanks: dict[str, str] = {}
    for text in texts.values():
        for name, kind in _blanks(text):
            first_kind = blanks.setdefault(name, kind)
            if first_kind == "plural":
                blanks[name] = kind
            elif kind not in (first_kind, "plural"):
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
    volume: Catalogue, value: str | int | Phrase | tuple[Phrase, ...], language: str, _: str
) -> str:
    if isinstance(value, tuple):
        return " ".join(volume.fill(part.key, language, part.values) for part in value)
    if isinstance(value, Phrase):
        return volume.fill(value.key, language, value.values)
    return str(value)


def _term(volume: Catalogue, key: str, language: str, _: str) -> str:
    if volume[key].blanks:
        raise ValueError("a term has no blanks")
    return volume[key].texts[language]


def _word(volume: Catalogue, english: str, language: str, group: str) -> str:
    for key in volume:
        if key.startswith(f"{group}.") and volume[key].texts["en"] == english:
            return volume[key].texts[language]
    raise KeyError(english)


def _count(_volume_texts: Catalogue, number: int, language: str, _: str) -> str:
    if number < 0:
        raise ValueError("a count is not negative")
    return numerals.count(number, language)


def _reason(_volume_texts: Catalogue, number: int, language: str, _: str) -> str:
    """Write the operating system's message for an error number; 0 is an unknown error."""
    reasons = catalogue("reasons")
    if number in (0, NOT_REGULAR):
        return reasons["special" if number else "unknown"].texts[language]
    name = errno.errorcode.get(number, "")
    if language == "en" or name not in reasons:
        # The messages of the system are English, since this program sets no locale for them.
        message = os.strerror(number)
        return message if language == "en" else reasons.fill("number", language, {"n": number})
    return reasons[name].texts[language]


def _least(_volume_texts: Catalogue, flag: int, language: str, _: str) -> str:
    if flag not in (0, 1):
        raise ValueError("neither 0 nor 1")
    return numerals.SPOKEN[language].least if flag else ""


def _gaps(volume: Catalogue, gaps: str, language: str, _: str) -> str:
    """Write the positions of gaps, each given by four character positions.

    ``922 935 1187 1313`` is a gap that begins between the characters 922 and 935 and ends between
    1,187 and 1,313. Several gaps are separated by commas; dots at the end stand for further ones.
    """
    written = []
    for gap in gaps.split(", "):
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
        written.append(volume.fill("gap.limits", language, {"after": after, "before": before}))
    return "; ".join(written)


def _numeral(write: Callable[[Any, str], str]) -> Writer:
    return lambda _volume_texts, value, language, _: write(value, language)


Writer: TypeAlias = Callable[[Catalogue, Any, str, str], str]
_Accepted: TypeAlias = type[Any] | tuple[type[Any], ...]

# For each kind of blank the types of its values, and the function that writes them.
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
    """Return a value as JSON, to pass it to another process."""
    if isinstance(value, Phrase):
        return {"key": value.key, "values": {k: packed(v) for k, v in value.values.items()}}
    if isinstance(value, tuple):
        return [packed(part) for part in value]
    return value


def unpacked(value: Any) -> Value:
    """Undo :func:`packed`.

    Raises:
        ValueError: The value has another form, or is a phrase that the errors do not contain.
    """
    if isinstance(value, dict):
        key, added = PRESENT.get(value["key"], (value["key"], {}))
        if key not in catalogue("errors"):
            raise ValueError("no such phrase")
        values = {str(k): unpacked(v) for k, v in {**value["values"], **added}.items()}
        return Phrase(key=key, values=values)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("not a value")
    return cast("Value", value)
