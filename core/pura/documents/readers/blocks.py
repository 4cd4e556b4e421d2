"""Paragraphs, list items and table rows become one text, in the same way for every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pura.record.transform import Transform


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """One paragraph, list item or table row.

    Attributes:
        text: Its characters; may be empty.
        tight: It belongs on the line after a tight block before it, without a blank line (list
            items, table rows).
    """

    text: str
    tight: bool = False


def join(blocks: Sequence[TextBlock]) -> tuple[str, tuple[Transform, ...]]:
    """Join blocks as a plain-text writer would.

    Office formats do not say whether a paragraph break was one line end or two. Where the writer
    made empty paragraphs for blank lines, every break is one line end; where there are none,
    paragraphs are set apart by a blank line, as generated text usually has them.

    Returns:
        The text, and what was done.
    """
    inner = _strip_ends(blocks)
    if any(not b.text.strip() for b in inner):
        return "\n".join(b.text if b.text.strip() else "" for b in inner), ()
    pieces: list[str] = []
    blank = 0
    for before, block in zip([None, *inner], inner, strict=False):
        if before is not None:
            single = before.tight and block.tight
            blank += not single
            pieces.append("\n" if single else "\n\n")
        pieces.append(block.text)
    if not blank:
        return "".join(pieces), ()
    return "".join(pieces), (Transform(name="paragraph-breaks", count=blank),)


def _strip_ends(blocks: Sequence[TextBlock]) -> list[TextBlock]:
    full = [i for i, b in enumerate(blocks) if b.text.strip()]
    return list(blocks[full[0] : full[-1] + 1]) if full else []
