"""What a model thinks and what it answers, told apart in a text that comes in pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.embed.serving.llama_answers import ThinkingSplit


def split(pieces: list[str], *, begun: bool) -> tuple[str, str]:
    """Return thought and answer of a text."""
    splitter = ThinkingSplit(begun=begun)
    parts = [
        splitter.add(piece, last=number == len(pieces) - 1) for number, piece in enumerate(pieces)
    ]
    return "".join(thought for thought, _ in parts), "".join(answer for _, answer in parts)


@pytest.mark.parametrize(
    ("text", "begun", "thought", "answer"),
    [
        ("It is old.</think>The harbour", True, "It is old.", "The harbour"),
        ("<think>It is old.</think>The harbour", False, "It is old.", "The harbour"),
        ("The harbour", False, "", "The harbour"),
        ("It goes on and on", True, "It goes on and on", ""),
        ("</think>", True, "", ""),
        ("a</think>b<think>c", True, "a", "b<think>c"),
        ("a < b </thin", True, "a < b </thin", ""),
        ("a <thin", False, "", "a <thin"),
    ],
)
def test_thought_and_answer(text: str, begun: bool, thought: str, answer: str) -> None:
    assert split([text], begun=begun) == (thought, answer)
    assert split(list(text), begun=begun) == (thought, answer)


@given(
    parts=st.lists(st.sampled_from(["<think>", "</think>", "<", "think>", "a", "/"]), max_size=12),
    cuts=st.lists(st.integers(0, 40), max_size=6),
    begun=st.booleans(),
)
def test_it_makes_no_difference_where_a_text_was_cut(
    parts: list[str], cuts: list[int], *, begun: bool
) -> None:
    text = "".join(parts)
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    thought, answer = split(pieces, begun=begun)
    assert (thought, answer) == split([text], begun=begun)
    assert len(text) - len(thought) - len(answer) in (0, 7, 8, 15)  # the tags, each once at most
