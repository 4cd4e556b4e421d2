"""Pieces of streamed answers, however they are cut on their way."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.embed.serving import answers
from pura.embed.serving.answers import Splitter

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
# Whatever JSON can hold: also what would end a line elsewhere than in a stream of events.
PIECES = st.lists(
    st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.none(), min_size=1, max_size=3),
    max_size=6,
)


def cut(content: bytes, places: list[int]) -> list[bytes]:
    """Return a stream in parts."""
    ends = sorted(place % (len(content) + 1) for place in places)
    return [content[a:b] for a, b in zip([0, *ends], [*ends, len(content)], strict=True)]


def split(parts: list[bytes], *, lines: bool) -> list[Any]:
    splitter = Splitter(lines=lines)
    contents = [content for part in parts for content in splitter.feed(part)]
    return [json.loads(content) for content in [*contents, *splitter.close()]]


@settings(deadline=None)
@given(
    pieces=PIECES,
    end=ENDS,
    places=st.lists(st.integers(0, 10_000), max_size=30),
    comment=st.sampled_from(["", ": still here{end}", "event: x{end}id: 1{end}", "retry: 5{end}"]),
    blank=st.sampled_from(["", " "]),
    closed=st.booleans(),
)
def test_events_are_the_same_wherever_a_stream_is_cut(
    pieces: list[Any], end: str, places: list[int], comment: str, blank: str, *, closed: bool
) -> None:
    events = [
        f"{comment.format(end=end)}data:{blank}{json.dumps(piece)}{end}{end}" for piece in pieces
    ]
    stream = "".join(events).encode()
    if not closed:
        stream = stream.removesuffix(end.encode())
    assert split(cut(stream, places), lines=False) == pieces


@settings(deadline=None)
@given(pieces=PIECES, end=ENDS, places=st.lists(st.integers(0, 10_000), max_size=30))
def test_lines_are_the_same_wherever_a_stream_is_cut(
    pieces: list[Any], end: str, places: list[int]
) -> None:
    stream = "".join(f"{json.dumps(piece)}{end}" for piece in pieces).encode()
    assert split(cut(stream, places), lines=True) == pieces


@given(parts=st.lists(st.binary(max_size=50), max_size=20), lines=st.booleans())
def test_any_bytes_are_split_alike_in_one_part_or_many(parts: list[bytes], *, lines: bool) -> None:
    def contents(pieces: list[bytes]) -> list[bytes]:
        splitter = Splitter(lines=lines)
        return [content for part in pieces for content in splitter.feed(part)] + splitter.close()

    assert contents(parts) == contents([b"".join(parts)])


def test_an_event_of_several_lines_is_one_piece() -> None:
    splitter = Splitter(lines=False)
    assert splitter.feed(b'data: {"a":\ndata: 1}\n\ndata: 2\n') == [b'{"a":\n1}']
    assert splitter.close() == [b"2"]


@pytest.mark.parametrize("lines", [False, True])
def test_a_piece_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, *, lines: bool) -> None:
    monkeypatch.setattr(answers, "_MAX_PIECE", 100)
    splitter = Splitter(lines=lines)
    piece = b"0123456789" if lines else b"data: 0123456789\n"
    with pytest.raises(ValueError, match="too long"):
        list(map(splitter.feed, [piece] * 20))
