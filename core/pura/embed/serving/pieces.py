"""Texts on their way from a model to an answer: what is asked for, and each piece of it."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class WritingRequest:
    """What one text is written from.

    Attributes:
        prompt: The token ids before it.
        ticket: The ticket of its mark; None for an unmarked text.
        most_tokens: It has at most so many; None: as many as there is room for.
        stop: Texts that end it; none of them is part of it.
        ignore_end: Whether it goes on behind the model's end token.
        logprobs: How many likely tokens are named beside each one.
    """

    prompt: Sequence[int]
    ticket: str | None
    most_tokens: int | None = None
    stop: tuple[str, ...] = ()
    ignore_end: bool = False
    logprobs: int = 0


@dataclass(frozen=True, kw_only=True)
class WrittenPiece:
    """A piece of a text: one token, and the words that are certain by now.

    Attributes:
        text: Words; those of earlier tokens may come late.
        ids: The token; empty where the text ended without one.
        finish: ``stop`` or ``length`` where the text ends here, else None.
        logprobs: Log-probabilities of likely tokens, by their words; None: not asked for.
    """

    text: str
    ids: tuple[int, ...]
    finish: str | None = None
    logprobs: dict[str, float] | None = None


class CertainWords:
    """The words of a text, as far as they are certain: whole characters, and no part of a stop.

    Args:
        stop: Texts that end it.

    Attributes:
        stopped: Whether one of them has come.
    """

    def __init__(self, stop: tuple[str, ...]) -> None:
        self._stop = stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self.stopped = False

    def add(self, part: bytes) -> str:
        """Return the words that are certain with a further token."""
        self._held += self._decoder.decode(part)
        places = [at for at in (self._held.find(stop) for stop in self._stop) if at >= 0]
        if places:
            certain, self._held, self.stopped = self._held[: min(places)], "", True
            return certain
        kept = max(
            (
                length
                for stop in self._stop
                for length in range(1, len(stop))
                if self._held.endswith(stop[:length])
            ),
            default=0,
        )
        certain = self._held[: len(self._held) - kept]
        self._held = self._held[len(self._held) - kept :]
        return certain

    def close(self) -> str:
        """Return the words that were held back, at the end of the text."""
        rest = "" if self.stopped else self._held + self._decoder.decode(b"", final=True)
        self._held = ""
        return rest
