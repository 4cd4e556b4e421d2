"""Paragraphs of office documents, joined to a text as a plain-text writer would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.transforms import Transform
from pura.words.sentences import Sentence

QUOTATION_STYLES: Final = frozenset(
    {"quote", "intense quote", "block text", "quotation", "quotations", "block quotation"}
)
"""Names, in lower case, of the built-in paragraph styles for quotations in office programs.

Word and LibreOffice store these names in their files whatever the language of the user."""
MIN_WORDS: Final = 8
"""Least number of words of a cell, of a message between people or of a title that is audited."""


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """One paragraph, list item or table row.

    Attributes:
        text: Its characters; may be empty.
        tight: No blank line separates it from a tight block before it (list items, table rows).
        quotation: The format marks it as a quotation.
    """

    text: str
    tight: bool = False
    quotation: bool = False


def extract(
    blocks: Sequence[TextBlock],
    part: str = "",
    role: str = MAIN,
    *,
    kind: LeftOutKind | None = None,
    dropped: tuple[Transform, ...] = (),
    notes: tuple[Sentence, ...] = (),
    left_out: tuple[LeftOut, ...] = (),
    page_starts: Sequence[int] = (),
) -> Extract:
    """Return blocks as one text of a file.

    Args:
        blocks: In reading order.
        part: Which part of the file it is.
        role: As in :class:`Extract`.
        kind: As in :class:`Extract`.
        dropped: Transforms for what was removed from the blocks.
        notes: As in :class:`Extract`.
        left_out: As in :class:`Extract`.
        page_starts: Indices of the blocks that begin a page.
    """
    text, joined, starts = join(blocks)
    pages = tuple((*starts, len(text))[first] for first in page_starts)
    return Extract(
        text=text,
        part=part,
        role=role,
        kind=kind,
        transforms=(*joined, *dropped),
        notes=notes,
        left_out=left_out,
        pages=pages,
        quotations=_quotations(blocks, starts),
    )


def extract_apart(blocks: Sequence[TextBlock], part: str, kind: LeftOutKind) -> list[Extract]:
    """Return blocks beside the main text as a separate part; none if they have no words."""
    if not any(block.text.strip() for block in blocks):
        return []
    return [extract(blocks, part, ALTERNATIVE, kind=kind)]


def _quotations(blocks: Sequence[TextBlock], starts: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the stretches of paragraphs with a quotation style; adjacent ones are joined."""
    stretches: list[tuple[int, int]] = []
    is_open = False
    for block, start in zip(blocks, starts, strict=True):
        if block.quotation:
            begin = stretches.pop()[0] if is_open else start
            stretches.append((begin, start + len(block.text)))
        is_open = block.quotation or (is_open and not block.text.strip())
    return tuple(stretches)


def join(blocks: Sequence[TextBlock]) -> tuple[str, tuple[Transform, ...], tuple[int, ...]]:
    """Join blocks as a plain-text writer would.

    Office formats do not record whether a paragraph break was one line end or two. If the document
    has empty paragraphs as blank lines, every break becomes one line end. Otherwise paragraphs are
    separated by a blank line, as usual in generated text.

    Returns:
        The text, the transforms, and the start of each block in characters.
    """
    full = [bool(block.text.strip()) for block in blocks]
    first = full.index(True) if any(full) else len(full)
    last = len(full) - 1 - full[::-1].index(True) if any(full) else -1
    spaced = not all(full[first : last + 1])
    pieces: list[str] = []
    starts: list[int] = []
    blank = length = 0
    for n, block in enumerate(blocks):
        if first < n <= last:
            single = spaced or (blocks[n - 1].tight and block.tight)
            blank += not single
            pieces.append("\n" if single else "\n\n")
            length += len(pieces[-1])
        starts.append(length)
        if full[n]:
            pieces.append(block.text)
            length += len(block.text)
    transforms = (Transform(name="paragraph-breaks", count=blank),) if blank else ()
    return "".join(pieces), transforms, tuple(starts)
