"""The one strict decoder: parsed JSON to frozen dataclasses, and what is wrong with it, where.

A dataclass declares what there must be; cattrs walks it (decision 056). Nothing is guessed: a name
too many or too few, a text for a number, a truth value for one are refused with the place where
they stand, as a phrase that the room's own error takes up. What a value may be beyond its type is
checked by the class itself.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pura.base.catalogue import Phrase, phrase

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]
"""Takes a value of JSON and the type that is declared, returns what stands for it."""

JSON_NAME: Final = "json"
"""Metadata of a field whose name in JSON is another one."""
READ: Final = "read"
"""Metadata of a field that is read by a hook of its own."""
_NEEDED: Final = {str: "what.not-text", int: "what.not-whole", bool: "what.not-bool"}
_NAMES: Final = {str: "string", int: "integer", float: "number", bool: "boolean"}
_LENGTHS: Final = ("minItems", "maxItems")
_LATER: Final = "later"
_OMITTED: Final = "omitted"


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
        return f"{name}.{self.where}" if self.where else name


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


def may_lack(field: dataclasses.Field[Any]) -> bool:
    """Say whether files of earlier versions lack a field."""
    return bool(field.metadata.get(_LATER))


def left_out(field: dataclasses.Field[Any], value: object) -> bool:
    """Say whether a field is not written, because it is what it would be without."""
    return bool(field.metadata.get(_OMITTED)) and (value is field.default or value == ())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Own:
    """A type that is no dataclass and no type of JSON.

    Attributes:
        read: How it is read.
        schema: What it is in the words of JSON Schema.
    """

    read: Hook
    schema: Mapping[str, Any]


class Decoder:
    """Reads the dataclasses of a room.

    Args:
        own: Types that are read in a way of their own.
        sparse: Whoever writes a file may leave out every field that has a default.
    """

    def __init__(self, own: Mapping[Any, Own] | None = None, *, sparse: bool = False) -> None:
        self._own = own or {}
        self._sparse = sparse

    def needs(self, field: dataclasses.Field[Any]) -> bool:
        """Say whether a field must be there."""
        return not (may_lack(field) or (self._sparse and field.default is not dataclasses.MISSING))

    def schema(self, kind: Any) -> dict[str, Any]:
        """Return the JSON Schema of a type, made from the declaration that is decoded by."""
        for own, how in self._own.items():
            if _same_as(own)(kind):
                return dict(how.schema)
        kinds = typing.get_args(kind)
        if dataclasses.is_dataclass(kind):
            return self._schema_of_object(kind)
        if _is_union(kind):
            found = [self.schema(one) for one in kinds]
            plain = [one["type"] for one in found if one.keys() == {"type"}]
            return {"type": plain} if len(plain) == len(found) else {"anyOf": found}
        if _is_tuple(kind):
            several = {"type": "array", "items": self.schema(kinds[0])}
            return several if kinds[-1] is ... else several | dict.fromkeys(_LENGTHS, len(kinds))
        if _is_mapping(kind):
            each = self.schema(kinds[1])
            return {"type": "object"} | ({"additionalProperties": each} if each else {})
        if kind is type(None):
            return {"type": "null"}
        return {"type": _NAMES[kind]} if kind in _NAMES else {}

    def _schema_of_object(self, cls: Any) -> dict[str, Any]:
        hints = typing.get_type_hints(cls)
        own = dataclasses.fields(cls)
        return {
            "type": "object",
            "description": (cls.__doc__ or "").split("\n", 1)[0],
            "properties": {json_name(f): self.schema(hints[f.name]) for f in own},
            "required": sorted(json_name(f) for f in own if self.needs(f)),
            "additionalProperties": False,
        }

    def decode(self, cls: type[T], data: object) -> T:
        """Return a dataclass.

        Raises:
            DecodeError: The first thing that is not as declared.
            Exception: What a class or a hook refuses otherwise, as it is.
        """
        from cattrs import BaseValidationError

        try:
            return self._converter.structure(data, cls)
        except BaseValidationError as error:
            raise _first(error) from None

    @cached_property
    def _converter(self) -> Converter:
        from cattrs import Converter

        made = Converter()
        made.register_structure_hook_factory(
            dataclasses.is_dataclass, lambda kind: _object(kind, made, self.needs)
        )
        made.register_structure_hook_factory(_is_tuple, lambda kind: _list(kind, made))
        made.register_structure_hook_func(_is_union, lambda v, kind: _either(v, kind, made))
        for plain in (str, int, bool):
            made.register_structure_hook(plain, _plain)
        made.register_structure_hook(float, _number)
        made.register_structure_hook_func(lambda kind: kind in (object, Any), _as_it_is)
        made.register_structure_hook_factory(_is_mapping, lambda kind: _mapping(kind, made))
        for own, how in self._own.items():
            made.register_structure_hook_func(_same_as(own), how.read)
        return made


def _same_as(own: Any) -> Callable[[Any], bool]:
    return lambda kind: kind == own or typing.get_origin(kind) is own


def _object(cls: Any, converter: Converter, needs: Callable[[Any], bool]) -> Hook:
    from cattrs.gen import make_dict_structure_fn, override

    own = dataclasses.fields(cls)
    names = {json_name(f) for f in own}
    needed = {json_name(f) for f in own if needs(f)}
    renamed: Any = {
        f.name: override(rename=json_name(f), struct_hook=f.metadata.get(READ)) for f in own
    }
    structure = make_dict_structure_fn(cls, converter, **renamed)

    def read(value: Any, kind: Any) -> Any:
        if not isinstance(value, dict):
            raise DecodeError(phrase("what.not-object"))
        if missing := sorted(needed - value.keys()):
            raise DecodeError(phrase("what.missing"), missing[0])
        if unknown := sorted(str(name) for name in value.keys() - names):
            raise DecodeError(phrase("what.unknown"), unknown[0])
        return structure(value, kind)

    return read


def _list(kind: Any, converter: Converter) -> Hook:
    from cattrs.cols import homogenous_tuple_structure_factory

    kinds = typing.get_args(kind)
    several = kinds[-1] is ...
    inner = homogenous_tuple_structure_factory(tuple[kinds[0], ...], converter)  # type: ignore[valid-type]

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise DecodeError(phrase("what.not-list"))
        if not several and len(value) != len(kinds):
            raise DecodeError(phrase("what.shape"))
        return inner(value, kind)

    return read


def _mapping(kind: Any, converter: Converter) -> Hook:
    from cattrs.gen import make_mapping_structure_fn

    inner = make_mapping_structure_fn(kind, converter, dict)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise DecodeError(phrase("what.not-object"))
        return inner(value, kind)

    return read


def _either(value: Any, kind: Any, converter: Converter) -> Any:
    """Read what may be of several types; which of them, the value's own type in JSON says."""
    kinds = [one for one in typing.get_args(kind) if one is not type(None)]
    if value is None and len(kinds) < len(typing.get_args(kind)):
        return None
    exact = [one for one in kinds if one is type(value)]
    listed = [one for one in kinds if isinstance(value, list) and _is_tuple(one)]
    return converter.structure(value, (exact or listed or kinds)[0])


def _first(error: BaseException) -> BaseException:
    """Return the first thing that is wrong, with its place."""
    from cattrs import AttributeValidationNote, BaseValidationError, IterableValidationNote

    place = ""
    while isinstance(error, BaseValidationError):
        error = error.exceptions[0]
        for note in getattr(error, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                place += f".{note.name}"
            elif isinstance(note, IterableValidationNote):
                place += f"[{note.index}]"
    if not isinstance(error, DecodeError):
        return error
    below = f".{error.where}" if error.where else ""
    return DecodeError(error.what, f"{place}{below}".removeprefix("."))


def _is_tuple(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (types.UnionType, typing.Union)


def _is_mapping(kind: Any) -> bool:
    return typing.get_origin(kind) in (dict, Mapping)


def _plain(value: Any, kind: Any) -> Any:
    if type(value) is not kind:
        raise DecodeError(phrase(_NEEDED[kind]))
    return value


def _as_it_is(value: Any, _: Any) -> Any:
    return value


def _number(value: Any, _: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DecodeError(phrase("what.not-number"))
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond every float
        number = math.inf
    if not math.isfinite(number):
        raise DecodeError(phrase("what.not-finite"))
    return number
