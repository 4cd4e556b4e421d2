"""Every token is predicted once, in order, and from enough context."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.model.pieces import plan


@settings(max_examples=300)
@given(
    length=st.integers(0, 200),
    context=st.integers(4, 64),
    window=st.none() | st.integers(4, 64),
    overlap=st.none() | st.integers(0, 40),
    opened=st.booleans(),
    prompt=st.integers(0, 80),
)
def test_plan_covers_the_text_once(
    length: int, context: int, window: int | None, overlap: int | None, opened: bool, prompt: int
) -> None:
    ids = np.arange(1000, 1000 + length)
    opening = (1,) if opened else ()
    windows = plan(
        ids,
        context=context,
        window=window,
        overlap=overlap,
        opening=opening,
        prompt=range(prompt),
    )
    longest = min(window or context, context)
    least = longest // 2 if overlap is None else min(overlap, longest // 2)
    predicted: list[int] = []
    for number, one in enumerate(windows):
        assert 0 < one.inputs.size <= (longest if number or not prompt else context)
        assert one.count > 0
        if opened:
            assert one.inputs[0] == 1
        for place in range(one.first, one.inputs.size):
            token = one.target + place - one.first
            predicted.append(token)
            before = one.inputs[place]
            # What stands at the place is the token in front of the one it predicts.
            assert before == 1000 + token - 1 or (token == 0 and number == 0)
            if number:
                assert place + 1 >= min(least, windows[0].inputs.size)
    start = 0 if opened or prompt else 1
    assert predicted == list(range(start, length))


def test_long_prompt_loses_its_beginning() -> None:
    (first, *_) = plan(np.arange(50), context=20, opening=(1,), prompt=range(100, 200))
    assert first.inputs[:11].tolist() == [1, *range(190, 200)]
    (only,) = plan(np.arange(5), context=20, prompt=range(100, 116))
    assert only.inputs.tolist() == [*range(100, 116), 0, 1, 2, 3]


def test_a_prompt_takes_nothing_of_a_window() -> None:
    first, second = plan(np.arange(50), context=100, window=30, overlap=5, prompt=range(200, 260))
    assert first.inputs.tolist() == [*range(200, 260), *range(30)]
    assert second.inputs.tolist() == list(range(25, 49))
