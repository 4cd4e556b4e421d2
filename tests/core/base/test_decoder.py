"""The strict decoder: what is wrong is named with its place, and what is made is checked alike."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import jsonschema
import pytest

from pura.base.catalogue import phrase
from pura.base.decoder import (
    DecodeError,
    check,
    decode,
    later,
    list_of,
    matching,
    number,
    one_of,
    refused_as,
    schema_of,
    whole,
)
from pura.base.errors import PolicyError
from pura.base.json_text import read_json


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, kw_only=True)
class Inner:
    rows: tuple[int, ...] = ()
    named: dict[str, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Whole:
    inner: Inner
    share: Annotated[float, number(0.0, 1.0, "(]")]
    count: Annotated[int, whole(1, 8)] | None = None
    kind: Literal["a", "b"] = "a"
    side: Annotated[str, one_of("left", "right")] = "left"
    colour: Colour = Colour.RED
    tags: Annotated[
        tuple[str, ...], list_of(matching("[a-z]+", phrase("what.unfit")), 2, "abc")
    ] = ()
    pair: tuple[int, int] = (0, 0)
    note: str | tuple[Inner, ...] = ""
    new: int = later(7)


GOOD: dict[str, Any] = {"inner": {"rows": [1], "named": {"x": 1}}, "share": 1}


def test_what_is_declared_is_read():
    found = decode(Whole, GOOD | {"note": [{"rows": []}], "tags": ["a", "b"]}, sparse=True)
    assert (found.share, type(found.share), found.inner.named) == (1.0, float, {"x": 1.0})
    assert (found.note, found.tags, found.new) == ((Inner(),), ("a", "b"), 7)
    with pytest.raises(DecodeError, match=r"colour: what\.missing"):
        decode(Whole, GOOD)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"inner": []}, "inner: what.not-object"),
        ({"inner": {"rows": [1, True]}}, "inner.rows[1]: what.not-whole"),
        ({"inner": {"named": {"a": 1, "b": "2"}}}, "inner.named.b: what.not-number"),
        ({"inner": {"named": {"a": 10**400}}}, "inner.named.a: what.not-finite"),
        ({"inner": {"other": 1}}, "inner.other: what.unknown"),
        ({"share": 0}, "share: what.above-to"),
        ({"count": 9}, "count: what.between"),
        ({"kind": "c"}, "kind: what.one-of"),
        ({"side": ["left"]}, "side: what.one-of"),
        ({"colour": "blue"}, "colour: what.one-of"),
        ({"tags": ["a", "B"]}, "tags: what.list-of"),
        ({"pair": [1]}, "pair: what.shape"),
        ({"note": [{"rows": 1}]}, "note[0].rows: what.not-list"),
        ({"new": "8"}, "new: what.not-whole"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(changes, said):
    with pytest.raises(DecodeError) as caught:
        decode(Whole, GOOD | changes, sparse=True)
    assert str(caught.value) == said
    if "not-finite" not in said:
        schema = jsonschema.Draft202012Validator(schema_of(Whole, sparse=True))
        assert schema.is_valid(GOOD)
        assert not schema.is_valid(GOOD | changes)


def test_what_the_program_makes_is_held_to_the_same_declaration():
    made = Whole(inner=Inner(), share=1)
    check(made)
    assert type(made.share) is float
    with pytest.raises(DecodeError, match=r"count: what\.between"):
        check(Whole(inner=Inner(), share=1.0, count=0))


@pytest.mark.parametrize(
    ("text", "said"), [('{"a": 1, "a": 2}', "“a” is there twice"), ("{", "JSON"), ("[NaN]", "JSON")]
)
def test_a_refusal_says_what_of_the_file_is_wrong(text, said):
    with pytest.raises(PolicyError, match=said), refused_as(PolicyError, "policy"):
        read_json(text)
