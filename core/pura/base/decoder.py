"""The strict decoder from parsed JSON to frozen dataclasses, with precise error messages.

A dataclass declares the required fields, and limits of a value beyond its type are declared with
it, as ``Annotated[int, whole(1, 8)]`` (decision 063). Nothing is guessed: unknown or missing names,
a text instead of a number, or a boolean instead of a number are refused. The error contains the
path of the value, and a phrase for the error of the caller. The JSON Schemas are generated from the
same declarations.
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
"""Converts a JSON value, or raises :class:`DecodeError`."""

Rule = tuple[Callable[[Any], object], Phrase]
"""A condition on a value, and the phrase that reports its violation."""

IS_TEXT: Final[Rule] = (lambda json_value: isinstance(json_value, str), phrase("what.not-text"))
UNBROKEN: Final[Rule] = (
    lambda text: not any("\ud800" <= sign <= "\udfff" for sign in text),
    phrase("what.broken"),
)
"""Half of a surrogate pair can be spelled in JSON, but is not a character and cannot be written."""

JSON_NAME: Final = "json"
"""Metadata of a field that has another name in JSON."""
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
    """A value does not match its declaration.

    Attributes:
        where: Path of the value, such as ``input.transforms[0].count``; empty for the top level.
        what: Phrase that describes the fault.
    """

    def __init__(self, fault: Phrase, path: str = "") -> None:
        super().__init__(f"{path}: {fault.key}")
        self.what = fault
        self.where = path

    def below(self, name: str) -> str:
        """Return the path below a named value."""
        return f"{name}.{self.where}".strip(".").replace(".[", "[")


@contextmanager
def refused_as(error: type[PuraError], file_kind: str, below: str = "") -> Iterator[None]:
    """Convert errors on decoding a file to an error for people, with the path of the fault.

    Args:
        error: Type of the error.
        file_kind: Content of the file, as :func:`~pura.base.errors.unusable` takes it.
        below: Name of the decoded value.
    """
    try:
        yield
    except TwiceError as wrong:
        raise unusable(error, file_kind, phrase("what.twice"), str(wrong)) from None
    except DecodeError as wrong:
        raise unusable(error, file_kind, wrong.what, wrong.below(below)) from None
    except (ValueError, RecursionError):
        raise unusable(error, file_kind, phrase("what.no-json")) from None


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Form:
    """Declaration of a value beyond its type, in ``Annotated[type, form]``.

    Attributes:
        read: Reads and checks the value.
        schema: The same declaration in JSON Schema.
    """

    read: Read
    schema: Mapping[str, Any]


def form_of(schema: Mapping[str, Any], *rules: Rule) -> Form:
    """Return the form of a value that is checked but not converted.

    Args:
        schema: The declaration in JSON Schema.
        *rules: Conditions in the order in which they are checked, with their phrases.
    """

    def read(json_value: Any) -> Any:
        for holds, message in rules:
            if not holds(json_value):
                raise DecodeError(message)
        return json_value

    return Form(read=read, schema=schema)


def whole(low: int, high: int) -> Form:
    """Return the form of an integer between two limits, inclusive."""
    return form_of(
        {"type": "integer", "minimum": low, "maximum": high},
        (lambda json_value: type(json_value) is int, phrase("what.not-whole")),
        (lambda json_value: low <= json_value <= high, phrase("what.between", low=low, high=high)),
    )


def number(low: float, high: float, ends: str = "[]") -> Form:
    """Return the form of a number between two limits.

    Args:
        low: Lower limit.
        high: Upper limit.
        ends: Whether the limits are allowed values: ``[]``, ``(]`` or ``()``.
    """
    key = {"[]": "what.between", "(]": "what.above-to", "()": "what.above-below"}[ends]
    minimum_key = "minimum" if ends[0] == "[" else "exclusiveMinimum"
    maximum_key = "maximum" if ends[1] == "]" else "exclusiveMaximum"

    def read(json_value: Any) -> float:
        parsed = _number(json_value)
        above = parsed >= low if ends[0] == "[" else parsed > low
        below = parsed <= high if ends[1] == "]" else parsed < high
        if not (above and below):
            raise DecodeError(phrase(key, low=f"{low:g}", high=f"{high:g}"))
        return parsed

    return Form(read=read, schema={"type": "number", minimum_key: low, maximum_key: high})


def one_of(*names: str) -> Form:
    """Return the form of a text with several allowed values."""
    message = phrase("what.one-of", known=", ".join(names))
    return form_of({"enum": list(names)}, (lambda v: isinstance(v, str) and v in names, message))


def text(message: Phrase, min_length: int, max_length: int, *rules: Rule) -> Form:
    """Return the form of a text of limited length.

    Args:
        message: What is reported of another value.
        min_length: Least number of characters.
        max_length: Greatest number of characters.
        *rules: Further conditions with their phrases.
    """
    return form_of(
        {"type": "string", "minLength": min_length, "maxLength": max_length},
        (
            lambda json_value: (
                isinstance(json_value, str) and min_length <= len(json_value) <= max_length
            ),
            message,
        ),
        *rules,
    )


def matching(pattern: str, message: Phrase) -> Form:
    """Return the form of a text that a pattern has to match completely.

    Args:
        pattern: A regular expression.
        message: What is reported of a text that does not match.
    """
    fits = re.compile(pattern).fullmatch
    return form_of(
        {"type": "string", "pattern": f"^{pattern}$"},
        (lambda json_value: isinstance(json_value, str) and fits(json_value), message),
    )


def list_of(form: Form, max_items: int, example: str, *, unique: bool = False) -> Form:
    """Return the form of a list.

    Args:
        form: Form of each element.
        max_items: Greatest length.
        example: Description of the elements for the error message.
        unique: All elements must be different.
    """

    def read(json_value: Any) -> tuple[Any, ...]:
        try:
            parsed = (
                tuple(map(form.read, json_value)) if isinstance(json_value, list | tuple) else None
            )
        except DecodeError:
            parsed = None
        if parsed is None or len(parsed) > max_items or (unique and len(set(parsed)) < len(parsed)):
            raise DecodeError(phrase("what.list-of", most=max_items, form=example))
        return parsed

    several = {"uniqueItems": True} if unique else {}
    schema = {"type": "array", "maxItems": max_items, **several, "items": form.schema}
    return Form(read=read, schema=schema)


def later(default: Any, *, omitted: bool = True) -> Any:
    """Declare a field that files of earlier versions do not have.

    Args:
        default: Value for files without the field.
        omitted: The field is not written if it has this value.
    """
    return dataclasses.field(default=default, metadata={_LATER: True, _OMITTED: omitted})


def json_name(field: dataclasses.Field[Any]) -> str:
    """Return the name of a field in JSON."""
    return str(field.metadata.get(JSON_NAME, field.name))


def left_out(field: dataclasses.Field[Any], value: object) -> bool:
    """Return whether a field is not written, because it has its default value."""
    return bool(field.metadata.get(_OMITTED)) and (value is field.default or value == ())


def decode(cls: type[T], json_value: object, *, sparse: bool = False) -> T:
    """Decode parsed JSON to a dataclass.

    Args:
        cls: Type of the dataclass.
        json_value: Parsed JSON.
        sparse: Every field with a default may be missing.

    Raises:
        DecodeError: The first value that does not match its declaration.
        Exception: Any exception that the class itself raises.
    """
    kind: Any = cls
    return typing.cast("T", _reader(kind, sparse)(json_value))


def check(instance: Any) -> None:
    """Check a frozen dataclass that the program created, as if it had been decoded.

    Fields that are dataclasses check themselves. Numbers are converted as on decoding: 1 to 1.0.

    Raises:
        DecodeError: The first field that does not match its declaration.
    """
    kind: Any = type(instance)
    for name, read in _checked(kind):
        object.__setattr__(instance, name, _inside(f".{name}", read, getattr(instance, name)))


def hold(shape: Any, json_value: object) -> Any:
    """Check plain JSON against a shape, and return it with tuples for lists.

    Args:
        shape: A type that :func:`decode` reads, or a combination: a dictionary of shapes by name (a
            name with ``?`` may be absent), a list of one shape, or a shape with its description.
        json_value: Parsed JSON.

    Raises:
        DecodeError: The first value that does not match its declaration.
    """
    return _reader(shape, False)(json_value)


def schema_of(kind: Any, *, sparse: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a type or a shape, from the declarations that decode it.

    A text next to a shape, or in ``Annotated``, is the description of the value. Another shape next
    to it is an alternative.
    """
    if (form := _form(kind)) is not None:
        return dict(form.schema)
    if isinstance(kind, dict):
        parts = {n.removesuffix("?"): (member, not n.endswith("?")) for n, member in kind.items()}
        return _schema_of_object(parts, sparse)
    is_compound = isinstance(kind, tuple)
    origin, kinds = typing.get_origin(kind), kind if is_compound else typing.get_args(kind)
    inner = [schema_of(member, sparse=sparse) for member in kinds if not isinstance(member, str)]
    if origin is Annotated or (is_compound and len(inner) == 1):
        return {**inner[0], "description": kinds[1]}
    if origin is typing.Literal:
        return {"enum": [*kinds]} if len(kinds) > 1 else {"const": kinds[0]}
    if _is_union(kind) or is_compound:
        plain = [member["type"] for member in inner if member.keys() == {"type"}]
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
        hints, declared = _hints(kind), dataclasses.fields(kind)
        properties = {json_name(f): (hints[f.name], _needed(f, sparse)) for f in declared}
        description = {"description": (kind.__doc__ or "").split("\n", 1)[0]}
        return _schema_of_object(properties, sparse, description)
    if _is_enum(kind):
        return {"enum": [*kind]}
    return {"type": _NAMES[kind]} if kind in _NAMES else {}


def _schema_of_object(
    properties: Mapping[str, tuple[Any, bool]], sparse: bool, description: Mapping[str, str] = {}
) -> dict[str, Any]:
    return {
        "type": "object",
        **description,
        "properties": {
            name: schema_of(kind, sparse=sparse) for name, (kind, _) in properties.items()
        },
        "required": sorted(name for name, (_, needed) in properties.items() if needed),
        "additionalProperties": False,
    }


def described(cls: Any) -> dict[str, Any]:
    """Return the JSON Schema of settings, with defaults, and descriptions from the docstring."""
    descriptions = dict(
        re.findall(r"^ {4}(\w+): (.*(?:\n {6,}.*)*)", inspect.getdoc(cls) or "", re.MULTILINE)
    )
    body = schema_of(cls, sparse=True)
    for field in dataclasses.fields(cls):
        description = " ".join(descriptions[field.name].replace("``", "").split())
        schema: dict[str, Any] = {"description": description}
        if (usual := field.default) is not dataclasses.MISSING:
            schema["default"] = list(usual) if isinstance(usual, tuple) else usual
        body["properties"][field.name] = schema | body["properties"][field.name]
    return body


@cache
def _checked(cls: Any) -> list[tuple[str, Read]]:
    return [
        (name, _reader(hint, False))
        for name, hint in _hints(cls).items()
        if all(
            _form(member) is not None or member in _NAMES
            for member in (typing.get_args(hint) if _is_union(hint) else (hint,))
        )
    ]


def _hints(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls, include_extras=True)


def _needed(field: dataclasses.Field[Any], sparse: bool) -> bool:
    """Return whether a field is required."""
    may_lack = sparse and field.default is not dataclasses.MISSING
    return not (may_lack or field.metadata.get(_LATER))


def _form(kind: Any) -> Form | None:
    declared = kind.__metadata__[0] if typing.get_origin(kind) is Annotated else kind
    return declared if isinstance(declared, Form) else None


def _reader(kind: Any, sparse: bool) -> Read:
    """Return the function that reads a type or a shape."""
    if isinstance(kind, tuple):
        return _reader(kind[0], sparse)
    if isinstance(kind, list):
        return _list(_reader(kind[0], sparse), 0)
    if isinstance(kind, dict):
        names = {name: name.removesuffix("?") for name in kind}
        members = {names[n]: (names[n], _reader(member, sparse)) for n, member in kind.items()}
        return _object(members, members.keys() & kind.keys(), dict)
    return _reader_of_type(kind, sparse)


@cache
def _reader_of_type(kind: Any, sparse: bool) -> Read:
    if (form := _form(kind)) is not None:
        return form.read
    if dataclasses.is_dataclass(kind):
        hints, declared = _hints(kind), dataclasses.fields(kind)
        members = {json_name(f): (f.name, _reader(hints[f.name], sparse)) for f in declared}
        return _object(members, {json_name(f) for f in declared if _needed(f, sparse)}, kind)
    kinds = typing.get_args(kind)
    if _is_tuple(kind):
        return _list(_reader(kinds[0], sparse), 0 if kinds[-1] is ... else len(kinds))
    if _is_mapping(kind):
        return _mapping(_reader(kinds[1], sparse))
    if _is_union(kind):
        return _either({member: _reader(member, sparse) for member in kinds})
    if typing.get_origin(kind) is typing.Literal:
        return one_of(*kinds).read
    if _is_enum(kind):
        return lambda json_value: kind(one_of(*kind).read(json_value))
    if kind is float:
        return _number
    return _plain(kind) if kind in _NEEDED else lambda json_value: json_value


def _inside(path: str, read: Read, json_value: Any) -> Any:
    """Read the value at a path, and add the path to an error."""
    try:
        return read(json_value)
    except DecodeError as error:
        raise DecodeError(error.what, error.below(path).removeprefix(".")) from None


def _object(members: Mapping[str, tuple[str, Read]], needed: set[str], make: Any) -> Read:
    def read(json_value: Any) -> Any:
        if not isinstance(json_value, dict):
            raise DecodeError(phrase("what.not-object"))
        if missing := sorted(needed - json_value.keys()):
            raise DecodeError(phrase("what.missing"), missing[0])
        if unknown := sorted(str(name) for name in json_value.keys() - members.keys()):
            raise DecodeError(phrase("what.unknown"), unknown[0])
        parts = {}
        for name, part in json_value.items():
            attribute, read_part = members[name]
            parts[attribute] = _inside(f".{name}", read_part, part)
        return make(**parts)

    return read


def _list(read_one: Read, length: int) -> Read:
    def read(json_value: Any) -> Any:
        if not isinstance(json_value, list):
            raise DecodeError(phrase("what.not-list"))
        if length and len(json_value) != length:
            raise DecodeError(phrase("what.shape"))
        return tuple(
            _inside(f"[{index}]", read_one, element) for index, element in enumerate(json_value)
        )

    return read


def _mapping(read_one: Read) -> Read:
    def read(json_value: Any) -> Any:
        if not isinstance(json_value, dict):
            raise DecodeError(phrase("what.not-object"))
        return {
            name: _inside(f".{name}", read_one, element) for name, element in json_value.items()
        }

    return read


def _either(readers: Mapping[Any, Read]) -> Read:
    """Read a value of several possible types; its type in JSON decides."""
    lists = [read for kind, read in readers.items() if _is_tuple(kind)]
    default_reader = next(read for kind, read in readers.items() if kind is not types.NoneType)

    def read(json_value: Any) -> Any:
        if type(json_value) in readers:
            return json_value if json_value is None else readers[type(json_value)](json_value)
        return (lists[0] if lists and isinstance(json_value, list) else default_reader)(json_value)

    return read


def _plain(kind: type) -> Read:
    def read(json_value: Any) -> Any:
        if type(json_value) is not kind:
            raise DecodeError(phrase(_NEEDED[kind]))
        return json_value

    return read


def _number(json_value: Any) -> float:
    if isinstance(json_value, bool) or not isinstance(json_value, int | float):
        raise DecodeError(phrase("what.not-number"))
    try:
        number = float(json_value)
    except OverflowError:  # an integer beyond the range of floats
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
