"""Attacks on sentences: what a person does with a text in an editor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

_END: Final = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|\n+")


def split_sentences(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a text and what stands between them.

    A sentence ends at white space after a full stop, question or exclamation mark (closing
    quotes included), or at a line break. Abbreviations are cut too: an attack need not parse.

    Returns:
        Sentences and separators; putting them together alternately gives the text, and there is
        one separator less than there are sentences.
    """
    sentences, separators, start = [], [], 0
    for match in _END.finditer(text):
        cut = match.end() - len(match.group()) + len(match.group().rstrip())
        if not text[start:cut].strip() or not text[match.end() :].strip():
            continue
        sentences.append(text[start:cut])
        separators.append(text[cut : match.end()])
        start = match.end()
    return [*sentences, text[start:]], separators


def sentence_shuffle(text: str, rng: np.random.Generator) -> str:
    """Put the sentences into another order; the white space between them stays in place.

    With two sentences or more the order always changes.
    """
    sentences, separators = split_sentences(text)
    if len(sentences) < 2:
        return text
    order = rng.permutation(len(sentences))
    while np.all(order[:-1] < order[1:]):
        order = rng.permutation(len(sentences))
    return _join([sentences[i].strip() for i in order], separators)


def copy_paste(text: str, rng: np.random.Generator, *, share: float, foreign: Sequence[str]) -> str:
    """Mix in sentences of somebody else.

    The text's own sentences stay in order; foreign ones go between them at random places until
    they make up ``share`` of all sentences.

    Args:
        text: The text.
        rng: Randomness.
        share: Foreign share of the sentences of the result, in [0, 1).
        foreign: Sentences to take from, each at most once.

    Raises:
        ValueError: There are too few foreign sentences.
    """
    sentences, separators = split_sentences(text)
    count = round(len(sentences) * share / (1 - share))
    if count > len(foreign):
        raise ValueError("too few foreign sentences")
    chosen = [foreign[i].strip() for i in rng.choice(len(foreign), count, replace=False)]
    for sentence, place in zip(
        chosen,
        sorted(rng.integers(0, len(sentences) + 1, count).tolist(), reverse=True),
        strict=True,
    ):
        sentences.insert(place, sentence)
        separators.insert(min(place, len(separators)), " ")
    return _join(sentences, separators)


def _join(sentences: Sequence[str], separators: Sequence[str]) -> str:
    parts = [sentences[0]]
    for separator, sentence in zip(separators, sentences[1:], strict=True):
        parts += [separator, sentence]
    return "".join(parts)
