"""The one strict decoder: parsed JSON to frozen dataclasses, and what is wrong with it, where.

A dataclass declares what there must be, and what a value may be beyond its type stands in the same
place, as ``Annotated[int, whole(1, 8)]`` (decision 063). Nothing is guessed: a name too many or too
few, a text for a number, a truth value for one are refused with the place where they stand, as a
phrase that the caller's own error takes up. The JSON Schemas are made of the same declarations.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import PuraError, unusable
from pura.base.json_text import TwiceError

T = TypeVar("T")
Read = Callable[[Any], Any]
"""Takes a value of JSON, returns what stands for it, or raises :class:`DecodeError`."""

Rule = tuple[Callable[[Any], object], Phrase]
"""What a value has to be, and what is said where it is not."""

IS_TEXT: Final[Rule] = (lambda value: isinstance(value, str), phrase("what.not-text"))
UNBROKEN: Final[Rule] = (
    lambda text: not any("\ud800" <= sign <= "\udfff" for sign in text),
    phrase("what.broken"),
)
"""Half of a surrogate pair, which JSON can spell, is no character and cannot be written."""

JSON_NAME: Final = "json"
"""Metadata of a field whose name in JSON is another one."""
_LATER: Final = "later"
_OMITTED: Final = "omitted"
_NEEDED: Final = {str: "what.not-text", int: "what.not-whole", bool: "what.not-bool"}
_NAMES: Final[dict[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    types.NoneType: "null",
}
_LENGTHS: Final = ("minItems", "maxItems")


class DecodeError(ValueError):
    """What is not as declared.

    Attributes:
        where: The place, such as ``input.transforms[0].count``; empty for the whole.
        what: What is wrong there.
    """

    def __init__(self, what: Phrase, where: str = "") -> None:
        super().__init__(f"{where}: {what.key}")
        self.what = what
        self.where = where

    def below(self, name: str) -> str:
        """Return the place, in something that has a name."""
        return f"{name}.{self.where}".strip(".").replace(".[", "[")


@contextmanager
def refused_as(error: type[PuraError], whole: str, below: str = "") -> Iterator[None]:
    """Have what is wrong with a file of ours said by an error: that it is no JSON, or where.

    Args:
        error: The error.
        whole: What the file holds, as :func:`~pura.base.errors.unusable` takes it.
        below: The name of what is read.
    """
    try:
        yield
    except TwiceError as wrong:
        raise unusable(error, whole, phrase("what.twice"), str(wrong)) from None
    except DecodeError as wrong:
        raise unusable(error, whole, wrong.what, wrong.below(below)) from None
    except (ValueError, RecursionError):
        raise unusable(error, whole, phrase("what.no-json")) from None


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Form:
    """What is declared of a value beyond its type, in ``Annotated[type, form]``.

    Attributes:
        read: Reads the value.
        schema: The same in the words of JSON Schema.
    """

    read: Read
    schema: Mapping[str, Any]


def form_of(schema: Mapping[str, Any], *rules: Rule) -> Form:
    """Return the form of a value that is taken as it stands.

    Args:
        schema: What it is in the words of JSON Schema.
        *rules: Each holds, in this order, or is refused with its phrase.
    """

    def read(value: Any) -> Any:
        for holds, what in rules:
            if not holds(value):
                raise DecodeError(what)
        return value

    return Form(read=read, schema=schema)


def whole(low: int, high: int) -> Form:
    """Return the form of a whole number between two, inclusive."""
    return form_of(
        {"type": "integer", "minimum": low, "maximum": high},
        (lambda value: type(value) is int, phrase("what.not-whole")),
        (lambda value: low <= value <= high, phrase("what.between", low=low, high=high)),
    )


def number(low: float, high: float, ends: str = "[]") -> Form:
    """Return the form of a number between two.

    Args:
        low: The least.
        high: The greatest.
        ends: Whether they are numbers of it themselves: ``[]``, ``(]`` or ``()``.
    """
    key = {"[]": "what.between", "(]": "what.above-to", "()": "what.above-below"}[ends]
    least = "minimum" if ends[0] == "[" else "exclusiveMinimum"
    most = "maximum" if ends[1] == "]" else "exclusiveMaximum"

    def read(value: Any) -> float:
        found = _number(value)
        above = found >= low if ends[0] == "[" else found > low
        below = found <= high if ends[1] == "]" else found < high
        if not (above and below):
            raise DecodeError(phrase(key, low=f"{low:g}", high=f"{high:g}"))
        return found

    return Form(read=read, schema={"type": "number", least: low, most: high})


def one_of(*names: str) -> Form:
    """Return the form of a text that is one of several."""
    what = phrase("what.one-of", known=", ".join(names))
    return form_of({"enum": list(names)}, (lambda v: isinstance(v, str) and v in names, what))


def text(what: Phrase, least: int, most: int, *rules: Rule) -> Form:
    """Return the form of a text of a bounded length; ``what`` says that it is none such."""
    return form_of(
        {"type": "string", "minLength": least, "maxLength": most},
        (lambda value: isinstance(value, str) and least <= len(value) <= most, what),
        *rules,
    )


def matching(pattern: str, what: Phrase) -> Form:
    """Return the form of a text that a pattern fits from end to end; ``what`` says it does not."""
    fits = re.compile(pattern).fullmatch
    return form_of(
        {"type": "string", "pattern": f"^{pattern}$"},
        (lambda value: isinstance(value, str) and fits(value), what),
    )


def list_of(form: Form, most: int, example: str, *, unique: bool = False) -> Form:
    """Return the form of a list.

    Args:
        form: Of each of its texts.
        most: Its greatest length.
        example: What its texts are like, for who is told that they are not.
        unique: No text stands twice.
    """

    def read(value: Any) -> tuple[Any, ...]:
        try:
            found = tuple(map(form.read, value)) if isinstance(value, list | tuple) else None
        except DecodeError:
            found = None
        if found is None or len(found) > most or (unique and len(set(found)) < len(found)):
            raise DecodeError(phrase("what.list-of", most=most, form=example))
        return found

    several = {"uniqueItems": True} if unique else {}
    schema = {"type": "array", "maxItems": most, **several, "items": form.schema}
    return Form(read=read, schema=schema)


def later(default: Any, *, omitted: bool = True) -> Any:
    """Declare a field that files of earlier versions do not have.

    Args:
        default: What stands in for it.
        omitted: It is not written where it is that.
    """
    return dataclasses.field(default=default, metadata={_LATER: True, _OMITTED: omitted})


def json_name(field: dataclasses.Field[Any]) -> str:
    """Return the name of a field in JSON."""
    return str(field.metadata.get(JSON_NAME, field.name))


def left_out(field: dataclasses.Field[Any], value: object) -> bool:
    """Say whether a field is not written, because it is what it would be without."""
    return bool(field.metadata.get(_OMITTED)) and (value is field.default or value == ())


def decode(cls: type[T], data: object, *, sparse: bool = False) -> T:
    """Return a dataclass.

    Args:
        cls: Its type.
        data: Parsed JSON.
        sparse: Whoever writes it may leave out every field that has a default.

    Raises:
        DecodeError: The first thing that is not as declared.
        Exception: What a class refuses otherwise, as it is.
    """
    kind: Any = cls
    return typing.cast("T", _reader(kind, sparse)(data))


def check(made: Any) -> None:
    """Hold a frozen dataclass that the program makes to its declaration, as if it were read.

    Fields of other dataclasses are left to those. A number is taken as it is read: 1 as 1.0.

    Raises:
        DecodeError: The first field that is not as declared.
    """
    kind: Any = type(made)
    for name, read in _checked(kind):
        object.__setattr__(made, name, _inside(f".{name}", read, getattr(made, name)))


def hold(shape: Any, data: object) -> Any:
    """Hold plain JSON to a shape, and return it with tuples for lists.

    Args:
        shape: A type that :func:`decode` reads, or one made of them: a dictionary of shapes by name
            (a name with ``?`` may be absent), a list of one shape, or a shape and what it means.
        data: Parsed JSON.

    Raises:
        DecodeError: The first thing that is not as declared.
    """
    return _reader(shape, False)(data)


def schema_of(kind: Any, *, sparse: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a type or a shape, made from what it is decoded by.

    A text beside a shape, or in ``Annotated``, is what is said of the value; another shape beside
    it is what it may be instead.
    """
    if (form := _form(kind)) is not None:
        return dict(form.schema)
    if isinstance(kind, dict):
        parts = {n.removesuffix("?"): (one, not n.endswith("?")) for n, one in kind.items()}
        return _schema_of_object(parts, sparse)
    beside = isinstance(kind, tuple)
    origin, kinds = typing.get_origin(kind), kind if beside else typing.get_args(kind)
    inner = [schema_of(one, sparse=sparse) for one in kinds if not isinstance(one, str)]
    if origin is Annotated or (beside and len(inner) == 1):
        return {**inner[0], "description": kinds[1]}
    if origin is typing.Literal:
        return {"enum": [*kinds]} if len(kinds) > 1 else {"const": kinds[0]}
    if _is_union(kind) or beside:
        plain = [one["type"] for one in inner if one.keys() == {"type"}]
        return {"type": plain} if len(plain) == len(inner) else {"anyOf": inner}
    if isinstance(kind, list):
        return {"type": "array", "items": schema_of(kind[0], sparse=sparse)}
    if origin in (tuple, list):
        several = {"type": "array", "items": inner[0]}
        fixed = origin is tuple and kinds[-1] is not ...
        return several | (dict.fromkeys(_LENGTHS, len(kinds)) if fixed else {})
    if _is_mapping(kind):
        return {"type": "object"} | ({"additionalProperties": inner[1]} if inner[1] else {})
    if dataclasses.is_dataclass(kind):
        hints, own = _hints(kind), dataclasses.fields(kind)
        named = {json_name(f): (hints[f.name], _needed(f, sparse)) for f in own}
        about = {"description": (kind.__doc__ or "").split("\n", 1)[0]}
        return _schema_of_object(named, sparse, about)
    if _is_enum(kind):
        return {"enum": [*kind]}
    return {"type": _NAMES[kind]} if kind in _NAMES else {}


def _schema_of_object(
    named: Mapping[str, tuple[Any, bool]], sparse: bool, about: Mapping[str, str] = {}
) -> dict[str, Any]:
    return {
        "type": "object",
        **about,
        "properties": {name: schema_of(kind, sparse=sparse) for name, (kind, _) in named.items()},
        "required": sorted(name for name, (_, needed) in named.items() if needed),
        "additionalProperties": False,
    }


def described(cls: Any) -> dict[str, Any]:
    """Return the JSON Schema of settings: each with its default, and what the docstring says."""
    about = dict(
        re.findall(r"^ {4}(\w+): (.*(?:\n {6,}.*)*)", inspect.getdoc(cls) or "", re.MULTILINE)
    )
    body = schema_of(cls, sparse=True)
    for field in dataclasses.fields(cls):
        words = " ".join(about[field.name].replace("``", "").split())
        told: dict[str, Any] = {"description": words}
        if (usual := field.default) is not dataclasses.MISSING:
            told["default"] = list(usual) if isinstance(usual, tuple) else usual
        body["properties"][field.name] = told | body["properties"][field.name]
    return body


@cache
def _checked(cls: Any) -> list[tuple[str, Read]]:
    return [
        (name, _reader(hint, False))
        for name, hint in _hints(cls).items()
        if all(
            _form(one) is not None or one in _NAMES
            for one in (typing.get_args(hint) if _is_union(hint) else (hint,))
        )
    ]


def _hints(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls, include_extras=True)


def _needed(field: dataclasses.Field[Any], sparse: bool) -> bool:
    """Say whether a field must be there."""
    may_lack = sparse and field.default is not dataclasses.MISSING
    return not (may_lack or field.metadata.get(_LATER))


def _form(kind: Any) -> Form | None:
    said = kind.__metadata__[0] if typing.get_origin(kind) is Annotated else kind
    return said if isinstance(said, Form) else None


def _reader(kind: Any, sparse: bool) -> Read:
    """Return what reads a type or a shape."""
    if isinstance(kind, tuple):
        return _reader(kind[0], sparse)
    if isinstance(kind, list):
        return _list(_reader(kind[0], sparse), 0)
    if isinstance(kind, dict):
        names = {name: name.removesuffix("?") for name in kind}
        named = {names[n]: (names[n], _reader(one, sparse)) for n, one in kind.items()}
        return _object(named, named.keys() & kind.keys(), dict)
    return _reader_of_type(kind, sparse)


@cache
def _reader_of_type(kind: Any, sparse: bool) -> Read:
    if (form := _form(kind)) is not None:
        return form.read
    if dataclasses.is_dataclass(kind):
        hints, own = _hints(kind), dataclasses.fields(kind)
        named = {json_name(f): (f.name, _reader(hints[f.name], sparse)) for f in own}
        return _object(named, {json_name(f) for f in own if _needed(f, sparse)}, kind)
    kinds = typing.get_args(kind)
    if _is_tuple(kind):
        return _list(_reader(kinds[0], sparse), 0 if kinds[-1] is ... else len(kinds))
    if _is_mapping(kind):
        return _mapping(_reader(kinds[1], sparse))
    if _is_union(kind):
        return _either({one: _reader(one, sparse) for one in kinds})
    if typing.get_origin(kind) is typing.Literal:
        return one_of(*kinds).read
    if _is_enum(kind):
        return lambda value: kind(one_of(*kind).read(value))
    if kind is float:
        return _number
    return _plain(kind) if kind in _NEEDED else lambda value: value


def _inside(place: str, read: Read, value: Any) -> Any:
    """Read what stands at a place."""
    try:
        return read(value)
    except DecodeError as error:
        raise DecodeError(error.what, error.below(place).removeprefix(".")) from None


def _object(named: Mapping[str, tuple[str, Read]], needed: set[str], make: Any) -> Read:
    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise DecodeError(phrase("what.not-object"))
        if missing := sorted(needed - value.keys()):
            raise DecodeError(phrase("what.missing"), missing[0])
        if unknown := sorted(str(name) for name in value.keys() - named.keys()):
            raise DecodeError(phrase("what.unknown"), unknown[0])
        parts = {}
        for name, part in value.items():
            attribute, read_part = named[name]
            parts[attribute] = _inside(f".{name}", read_part, part)
        return make(**parts)

    return read


def _list(read_one: Read, length: int) -> Read:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise DecodeError(phrase("what.not-list"))
        if length and len(value) != length:
            raise DecodeError(phrase("what.shape"))
        return tuple(_inside(f"[{at}]", read_one, one) for at, one in enumerate(value))

    return read


def _mapping(read_one: Read) -> Read:
    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise DecodeError(phrase("what.not-object"))
        return {name: _inside(f".{name}", read_one, one) for name, one in value.items()}

    return read


def _either(readers: Mapping[Any, Read]) -> Read:
    """Read what may be of several types; which of them, the value's own type in JSON says."""
    lists = [read for kind, read in readers.items() if _is_tuple(kind)]
    other = next(read for kind, read in readers.items() if kind is not types.NoneType)

    def read(value: Any) -> Any:
        if type(value) in readers:
            return value if value is None else readers[type(value)](value)
        return (lists[0] if lists and isinstance(value, list) else other)(value)

    return read


def _plain(kind: type) -> Read:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise DecodeError(phrase(_NEEDED[kind]))
        return value

    return read


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DecodeError(phrase("what.not-number"))
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond every float
        number = math.inf
    if not math.isfinite(number):
        raise DecodeError(phrase("what.not-finite"))
    return number


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def _is_tuple(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (types.UnionType, typing.Union)


def _is_mapping(kind: Any) -> bool:
    return typing.get_origin(kind) in (dict, Mapping)
