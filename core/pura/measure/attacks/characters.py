"""Attacks on characters: slips of the keyboard, what office programs change, what only looks alike.

A rate means a share of the places where the attack can act, to the nearest whole number, drawn
without replacement.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np

from pura.measure.attacks.base import count_of

_WORD: Final = re.compile(r"[^\W\d_]+")
_KEYBOARD: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_HOMOGLYPHS: Final = dict(
    zip("aceijopsxyABCEHIJKMOPSTXY", "асеіјорѕхуАВСЕНІЈКМОРЅТХУ", strict=True)
)
"""Latin letters and the Cyrillic ones that look like them."""
_ZERO_WIDTH: Final = "\u200b\u200c\u200d\u2060"
_OFFICE: Final = re.compile(r"\"|'|--|\.\.\.|(?<=\d) (?=\w)")


def at_places(
    text: str,
    spans: list[tuple[int, int]],
    rng: np.random.Generator,
    rate: float,
    change: Callable[[str, int], str],
) -> str:
    """Change some places of a text.

    Args:
        text: The text.
        spans: Begin and end of every place where something can be done, ascending.
        rng: Randomness.
        rate: Share of them.
        change: Gets what stands there and where it begins; returns what is to stand there.
    """
    chosen = rng.choice(len(spans), count_of(len(spans), rate), replace=False) if spans else ()
    parts, last = [], 0
    for number in sorted(int(c) for c in chosen):
        begin, end = spans[number]
        parts += [text[last:begin], change(text[begin:end], begin)]
        last = end
    return "".join([*parts, text[last:]])


def word_spans(text: str, least: int = 1) -> list[tuple[int, int]]:
    """Return begin and end of every word of letters with at least so many."""
    return [m.span() for m in _WORD.finditer(text) if m.end() - m.start() >= least]


def typos(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Put a slip of the keyboard into a share of the words of three letters or more.

    Two neighbours change places, a letter is missing, stands twice, or is the key beside it.
    """

    def slip(word: str, _: int) -> str:
        at = int(rng.integers(0, len(word) - 1))
        kind = int(rng.integers(0, 4))
        letter = word[at]
        if kind == 0 and word[at + 1] != letter:
            return word[:at] + word[at + 1] + letter + word[at + 2 :]
        if kind == 1:
            return word[:at] + word[at + 1 :]
        beside = _beside(letter)
        if kind == 2 and beside:
            return word[:at] + beside[int(rng.integers(len(beside)))] + word[at + 1 :]
        return word[: at + 1] + letter + word[at + 1 :]

    return at_places(text, word_spans(text, 3), rng, rate, slip)


def _beside(letter: str) -> str:
    for row in _KEYBOARD:
        at = row.find(letter.lower())
        if at >= 0:
            keys = row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
            return keys.upper() if letter.isupper() else keys
    return ""


def change_case(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Turn the first letter of a share of the words from large to small or back."""
    return at_places(text, word_spans(text), rng, rate, lambda w, _: w[0].swapcase() + w[1:])


def drop_punctuation(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Leave out a share of the punctuation marks."""
    spans = [m.span() for m in re.finditer(r"[.,;:!?()\"'-]", text)]
    return at_places(text, spans, rng, rate, lambda _, __: "")


def homoglyphs(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Replace a share of the letters that have a Cyrillic double by it."""
    spans = [(i, i + 1) for i, sign in enumerate(text) if sign in _HOMOGLYPHS]
    return at_places(text, spans, rng, rate, lambda sign, _: _HOMOGLYPHS[sign])


def zero_width(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Put a character of no width behind a share of the characters."""
    signs = rng.integers(0, len(_ZERO_WIDTH), len(text))
    spans = [(i, i + 1) for i in range(len(text))]
    return at_places(text, spans, rng, rate, lambda sign, i: sign + _ZERO_WIDTH[signs[i]])


def office_typography(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Do what word processors do: curly quotes, dashes, one sign of three dots, hard spaces."""

    def typeset(sign: str, begin: int) -> str:
        opens = begin == 0 or text[begin - 1].isspace() or text[begin - 1] in "([{“‘"
        return {
            '"': "“" if opens else "”",
            "'": "‘" if opens else "’",
            "--": "–",
            "...": "…",
            " ": "\u00a0",
        }[sign]

    spans = [m.span() for m in _OFFICE.finditer(text)]
    return at_places(text, spans, rng, rate, typeset)
