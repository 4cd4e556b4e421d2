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
"""Names, in small letters, of the paragraph styles for quotations that office programs bring.

Word and LibreOffice keep these names in their files whatever language they show them in."""
MIN_WORDS: Final = 8
"""Words from which on a cell of a table, a message among persons or a title is worth an audit."""


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """One paragraph, list item or table row.

    Attributes:
        text: Its characters; may be empty.
        tight: It belongs on the line after a tight block before it, without a blank line (list
            items, table rows).
        quotation: The format calls it a quotation.
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
    begun: Sequence[int] = (),
) -> Extract:
    """Return blocks as one text of a file.

    Args:
        blocks: In reading order.
        part: Which part of the file it is.
        role: Whether it is audited, as of an :class:`Extract`.
        kind: What it is, where it holds words beside the main text.
        dropped: What was left out of the blocks.
        notes: What is uncertain.
        left_out: What stands near the blocks and is no part of its own.
        begun: The blocks with which pages begin.
    """
    text, joined, starts = join(blocks)
    pages = tuple((*starts, len(text))[first] for first in begun)
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
    """Return blocks that stand beside the main text as a part; none where they hold no words."""
    if not any(block.text.strip() for block in blocks):
        return []
    return [extract(blocks, part, ALTERNATIVE, kind=kind)]


def _quotations(blocks: Sequence[TextBlock], starts: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the stretches that paragraphs with a style for quotations fill; neighbours are one."""
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

    Office formats do not say whether a paragraph break was one line end or two. Where the writer
    made empty paragraphs for blank lines, every break is one line end; where there are none,
    paragraphs are set apart by a blank line, as generated text usually has them.

    Returns:
        The text, what was done, and where each block begins, in characters.
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
    done = (Transform(name="paragraph-breaks", count=blank),) if blank else ()
    return "".join(pieces), done, tuple(starts)
