"""Long documents with a marked passage, put together from readings of their parts.

A model reads a long document slowly, and most of it is text without a mark that many documents can
share. So the text around the passages is read once, each passage is read after a few hundred tokens
of it, and a document is what these readings say one after the other. Its schedule is made from all
of its tokens under the key that is asked, as for a document that was read whole: only entropies and
intervals come from the parts. Intervals of the text around belong to another key's secret order;
they are independent of the asked key's phases, as its own would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pura.decode import ExactDecision
from pura.measure.evaluate import TextReading, joined
from pura.scheme import Payload

PLACES: Final = ("start", "middle", "end")
"""Where in a document a passage may stand."""

READ_WHOLE: Final = 0.8
"""What counts of the evidence of a spliced document: read whole, documents had up to a quarter less
(docs/study.md §5)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedText:
    """A marked text, read where a document may have it.

    Attributes:
        alone: Read with nothing before it.
        behind: Read after the first tokens of the text around it, these included.
        lead: How many tokens those are.
    """

    alone: TextReading
    behind: TextReading
    lead: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SplicedDocument:
    """A document with one marked passage.

    Attributes:
        reading: Of the whole of it.
        begin: First token of the passage.
        marked: Tokens of the passage.
    """

    reading: TextReading
    begin: int
    marked: int


def spliced(
    passage: PlacedText, around: TextReading, *, marked: int, tokens: int, place: str
) -> SplicedDocument:
    """Put the first tokens of a passage into the text around it.

    Args:
        passage: The passage; its lead is the beginning of ``around``.
        around: The text around, a ring that is opened where the lead begins: what stands before
            the lead in a document is taken from its end.
        marked: Tokens of the passage.
        tokens: Length of the document.
        place: One of :data:`PLACES`.

    Raises:
        ValueError: The text around is too short, or the document shorter than the passage.
    """
    rest = tokens - marked
    if not 0 <= rest <= around.ids.size:
        raise ValueError(f"{tokens} tokens; {around.ids.size} around {marked}")
    if place == PLACES[0]:
        parts = [passage.alone.part(0, marked), around.part(0, rest)]
        return SplicedDocument(reading=joined(parts), begin=0, marked=marked)
    before = rest if place == PLACES[2] else rest // 2
    lead, size = passage.lead, around.ids.size
    parts = [
        around.part(size - max(0, before - lead), size),
        passage.behind.part(max(0, lead - before), lead + marked),
        around.part(lead, lead + rest - before),
    ]
    return SplicedDocument(reading=joined(parts), begin=before, marked=marked)


@dataclass(frozen=True, kw_only=True)
class DocumentResult:
    """How one document came out.

    Attributes:
        usable: Steps of the document that carry bits.
        marked_usable: Those of them that stand in the passage.
        log10_e: The evidence.
        log10_e_whole: The half of it that takes the document as marked from end to end.
        right: The payload was found.
        off: Tokens between the passage's true limits and the reported ones, first and last token;
            empty where no passage was reported.
    """

    usable: int
    marked_usable: int
    log10_e: float
    log10_e_whole: float
    right: bool
    off: tuple[int, ...]


def finding(
    document: SplicedDocument, token: np.ndarray, decision: ExactDecision, payload: Payload
) -> DocumentResult:
    """Compare a decision with the truth.

    Args:
        document: The document.
        token: int64 [S], tokens that carry bits.
        decision: What was made of it.
        payload: The payload of the passage.
    """
    last = document.begin + document.marked - 1
    ranges = () if decision.strongest is None else decision.strongest.ranges
    off = (abs(ranges[0][0] - document.begin), abs(ranges[-1][1] - last)) if ranges else ()
    return DocumentResult(
        usable=decision.usable,
        marked_usable=int(np.count_nonzero((token >= document.begin) & (token <= last))),
        log10_e=decision.log10_e,
        log10_e_whole=float(decision.log_e_whole / np.log(10)),
        right=decision.payload == payload,
        off=off,
    )
