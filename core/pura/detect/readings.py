"""What a text asks of the model, and what it gets: the exchange of steps 5 and 8."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pura.base.errors import PuraError

if TYPE_CHECKING:
    from pura.model.evidence import Request
    from pura.model.reading import Reading


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadingRequest:
    """What the model is to read for one text.

    Attributes:
        step: Number of the step that asks.
        requests: What is read; each by itself, so that none knows the states of another.
        keys: Numbers of the keys in whose secret order the intervals are needed.
        chunk: Tokens between two looks at the evidence; None reads all at once.
    """

    step: int
    requests: tuple[Request, ...]
    keys: tuple[int, ...]
    chunk: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Readings:
    """What the model read for one text.

    Attributes:
        results: For each request its readings, or why it could not be read.
        rows: For each number of a key the row that it has in the intervals of every reading.
        seconds: How long reading took; of a pass over many texts this text's share.
    """

    results: tuple[list[Reading] | PuraError, ...]
    rows: Mapping[int, int]
    seconds: float

    def all(self) -> list[Reading]:
        """Return the readings of all requests, in order.

        Raises:
            PuraError: One could not be read.
        """
        readings: list[Reading] = []
        for result in self.results:
            if isinstance(result, PuraError):
                raise result
            readings += result
        return readings
