"""A whole marked text has exactly the model's law: enumerated, not sampled.

A "model" of three tokens, its probabilities multiples of 1/16 given by a table. The keyed function
is replaced by all functions: wherever the schedule first asks for a context's phase, the walk
branches into the 16 midpoints of a grid, each with weight 1/16, and remembers the answer for that
context. On this grid every anchor is a grid point again and every interval holds exactly its
share of them, so the sums below are exact, in fractions. Dice are integrated in the same way.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from pura.embed.engine import MarkedRow, entropy_bits, inverse_transform
from pura.scheme import Payload, Profile, SecretKey
from pura.scheme.keys import LABEL_SEED

GRID = 16
LENGTH = 5
TOKENS = 3
# Sixteenths, by the token before; entropies 1.41, 0.87 and 0.34 bits: arity 2, 1 and 0.
TABLE = {None: (6, 5, 5), 0: (5, 3, 8), 1: (12, 0, 4), 2: (1, 15, 0)}
THRESHOLDS = (0.5, 1.0, 9.0)
ORDER = np.array([2, 0, 1])


class MissingPhaseError(Exception):
    """The walk asked for the phase of a context that has none yet."""


class EveryKey(SecretKey):
    """Answers from a table that the enumeration fills in."""

    __slots__ = ("index", "phases")

    def __init__(self, phases: dict[bytes, int], index: int) -> None:
        super().__init__(bytes(32))
        self.phases = phases
        self.index = index

    def prf(self, label: bytes, context: bytes) -> int:
        if label != LABEL_SEED:
            return self.index + int.from_bytes(context[:1], "little")
        if context not in self.phases:
            raise MissingPhaseError(context)
        # The midpoint of a grid cell in the top bits; the context below them, so that two
        # contexts with one phase stay two contexts.
        return ((2 * self.phases[context] + 1) << 123) | int.from_bytes(context, "little")


class NoDice:
    """Plain steps are integrated over their whole distribution instead."""

    def random(self) -> float:
        return -1.0


class Forgetful(set[int]):
    """A history that remembers nothing."""

    def add(self, _value: int) -> None:
        return


def model(tokens: tuple[int, ...]) -> np.ndarray:
    return np.array(TABLE[tokens[-1] if tokens else None]) / GRID


def next_tokens(
    tokens: tuple[int, ...], key: EveryKey, payload: Payload, profile: Profile, *, forget: bool
) -> list[tuple[int, Fraction]]:
    """Walk the real row along ``tokens``; return what can follow, with probabilities."""
    row = MarkedRow(key, payload, profile, NoDice())  # type: ignore[arg-type]
    if forget:
        row._schedule._history = Forgetful()
    for t in range(len(tokens)):
        row.point(entropy_bits(model(tokens[:t])))
        row.push(tokens[t])
    pi = model(tokens)
    point, arity = row.point(entropy_bits(pi))
    if arity:
        return [(inverse_transform(pi, ORDER, point), Fraction(1))]
    return [(v, Fraction(round(p * GRID), GRID)) for v, p in enumerate(pi) if p > 0]


def law(
    payload: Payload, profile: Profile, index: int, *, forget: bool = False
) -> tuple[dict[tuple[int, ...], Fraction], int]:
    """Return the exact probability of every text, and how many steps carried bits."""
    out: dict[tuple[int, ...], Fraction] = {}
    asked = 0

    def walk(tokens: tuple[int, ...], phases: dict[bytes, int], weight: Fraction) -> None:
        nonlocal asked
        if len(tokens) == LENGTH:
            out[tokens] = out.get(tokens, Fraction(0)) + weight
            return
        key = EveryKey(phases, index)
        try:
            following = next_tokens(tokens, key, payload, profile, forget=forget)
        except MissingPhaseError as missing:
            asked += 1
            context = missing.args[0]
            for phase in range(GRID):
                walk(tokens, phases | {context: phase}, weight / GRID)
            return
        for token, probability in following:
            walk((*tokens, token), phases, weight * probability)

    walk((), {}, Fraction(1))
    return out, asked


def truth() -> dict[tuple[int, ...], Fraction]:
    out = {}
    for text in product(range(TOKENS), repeat=LENGTH):
        p = Fraction(1)
        for t in range(LENGTH):
            p *= Fraction(TABLE[text[t - 1] if t else None][text[t]], GRID)
        if p:
            out[text] = p
    return out


def make(history: str, window: int) -> Profile:
    return Profile(
        payload_bits=4,
        blocks=2,
        vocab_size=TOKENS,
        context_window=window,
        entropy_thresholds_bits=THRESHOLDS,
        history=history,
    )


@pytest.mark.parametrize(
    ("history", "window", "payload", "index"),
    [
        ("used", 1, "0000", 0),
        ("used", 1, "1011", 3),
        ("used", 2, "0000", 0),
        ("used", 2, "1011", 3),
        ("all", 1, "1011", 3),  # many more contexts are asked for: one payload will do
    ],
)
def test_the_law_of_whole_texts_is_the_models(
    history: str, window: int, payload: str, index: int
) -> None:
    got, asked = law(Payload(text=payload), make(history, window), index)
    assert asked > 50
    assert sum(got.values()) == 1
    assert got == truth()


def test_without_the_history_rule_the_law_is_another() -> None:
    """The enumeration sees the bias that the rule is there to prevent."""
    got, _ = law(Payload(text="1011"), make("used", 1), 3, forget=True)
    assert sum(got.values()) == 1
    assert got != truth()


def test_the_table_has_every_arity() -> None:
    entropies: list[Any] = [entropy_bits(model((v,))) for v in range(TOKENS)]
    assert [int(np.searchsorted(THRESHOLDS, h, "right")) for h in entropies] == [2, 1, 0]
