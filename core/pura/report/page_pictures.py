"""Pictures of the original pages with passages, shaded by the evidence of each token."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.base.progress import Checkpoint, never_cancelled
from pura.documents.pages import Pages
from pura.documents.places import columns, page_of, token_boxes
from pura.record.audit import Audit
from pura.report.annexes import shades
from pura.report.figures import AGAINST, MARKS
from pura.report.request import MAX_PAGE, PagePicture

MAX_PAGES: Final = 24
"""Most pages shown of one text; if more have passages, those with the most evidence are shown."""
_WIDTHS: Final = (1000, 700, 500)  # pixels; the first whose picture is small enough is taken
_TALLEST: Final = 3  # times its width; a longer page is drawn narrower
_GROUNDS: Final = ("#E6EEF9", "#CFE0F3", "#B3CDEA", "#93B7DF")  # as report.typ has them
_AWAY: Final = 8  # pixels from a bracket to the text
Image = npt.NDArray[np.uint8]


def page_pictures(
    audit: Audit, pages: Pages, checkpoint: Checkpoint = never_cancelled
) -> tuple[PagePicture, ...]:
    """Draw the pages of a text that hold a passage.

    Args:
        audit: The audit of the text.
        pages: Pages of its file.
        checkpoint: Called before each page; may raise.

    Returns:
        Number and PNG of each page, in the order of the file; nothing if no passage can be
        located on a page.

    Raises:
        InputError: The file or a page cannot be read.
    """
    passages = audit.finding.passages
    layout = pages.places(audit.text or "") if passages else None
    if layout is None:
        return ()
    spans, sizes = audit.tokens.spans, pages.sizes()
    levels = np.zeros(len(spans), dtype=np.int8)  # tokens outside passages stay unshaded
    for _, passage in passages:
        inside = slice(passage.first_token, passage.last_token + 1)
        levels[inside] = shades(audit)[inside]
    sums = np.concatenate(([0.0], np.cumsum(audit.tokens.log10_evidence)))
    evidence: dict[int, float] = {}
    for _, passage in passages:
        for page in range(
            page_of(layout, passage.start), page_of(layout, max(0, passage.end - 1)) + 1
        ):
            edges = np.append(layout.starts, len(layout.boxes))[page : page + 2]
            first, last = np.searchsorted(spans[:, 0], edges)
            within = max(first, passage.first_token), min(last, passage.last_token + 1)
            evidence[page] = evidence.get(page, 0.0) + sums[within[1]] - sums[within[0]]
    pictures = []
    for page in sorted(sorted(evidence, key=lambda p: -evidence[p])[:MAX_PAGES]):
        checkpoint()
        boxes, tokens = token_boxes(layout, spans, page, sizes[page])
        brackets = [
            (mark, columns(boxes[(tokens >= passage.first_token) & (tokens <= passage.last_token)]))
            for mark, passage in passages
        ]
        if not any(len(column) for _, column in brackets):
            continue
        png = _png(pages, page, sizes[page], boxes, levels[tokens], brackets)
        if png:
            pictures.append((page + 1, png))
    return tuple(pictures)


def _png(
    pages: Pages,
    page: int,
    size: tuple[float, float],
    boxes: npt.NDArray[np.float64],
    levels: npt.NDArray[np.int8],
    brackets: Sequence[tuple[int, npt.NDArray[np.float64]]],
) -> bytes:
    """Draw one page as PNG; return no bytes if no picture of it is small enough."""
    from PIL import Image as Pictures

    for wide in _WIDTHS:
        scale = wide / max(size[0], size[1] / _TALLEST)
        width, high = (max(1, round(side * scale)) for side in size)
        pixels = np.frombuffer(pages.draw(page, width, high), dtype=np.uint8)
        image = pixels.reshape(high, width, 4)[:, :, 2::-1].copy()
        edges = np.array([width, high, width, high])
        for (left, top, right, end), level in zip(
            np.rint(boxes * edges).astype(int).tolist(), levels.tolist(), strict=True
        ):
            if level > 0:
                shade = image[top:end, left:right].astype(np.uint16) * _rgb(_GROUNDS[level - 1])
                image[top:end, left:right] = shade // 255
            elif level < 0:
                for x in range(left, right, 4):
                    image[end : end + 2, x : min(x + 2, right)] = _rgb(AGAINST)
        for mark, fills in brackets:
            for left, top, _, end in np.rint(fills * edges).astype(int).tolist():
                x = max(0, left - _AWAY)
                image[top:end, x : x + 3] = _rgb(MARKS[mark % len(MARKS)])
        sink = io.BytesIO()
        Pictures.fromarray(image).save(sink, "PNG", optimize=True)
        if sink.tell() <= MAX_PAGE:
            return sink.getvalue()
    return b""


def _rgb(colour: str) -> npt.NDArray[np.uint16]:
    return np.frombuffer(bytes.fromhex(colour[1:]), dtype=np.uint8).astype(np.uint16)
