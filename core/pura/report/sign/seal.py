"""The visible seal: who signed and when, set with embedded fonts, on a place that is free."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

from pura.report.labels import Labels
from pura.report.sign.identity import Certificate

WIDTH: Final = 220
HEIGHT: Final = 62
"""Points."""
_MARGIN: Final = 12
_STEP: Final = 4
_WHITE: Final = 250
_TEMPLATE: Final = """
#let d = json(bytes(sys.inputs.data))
#set document(title: d.head, date: none)
#set page(width: WIDTHpt, height: HEIGHTpt, margin: 0pt)
#set text(size: 7.5pt, fill: rgb("#1f2937"))
#rect(width: 100%, height: 100%, inset: 7pt, radius: 3pt, stroke: 0.7pt + rgb("#1d4ed8"))[
  #set par(leading: 0.6em)
  #text(size: 8.5pt, weight: "bold", fill: rgb("#1d4ed8"), d.head) \\
  #text(weight: "bold", d.who) \\
  #d.when \\
  #text(size: 6pt, fill: rgb("#4b5563"), d.finger) \\
  #text(size: 6pt, fill: rgb("#4b5563"), d.note)
]
"""


def draw_seal(certificate: Certificate, language: str, now: datetime) -> bytes:
    """Draw the seal as a PDF of one small page; names go in as data, never as markup."""
    import typst

    words = Labels(language)
    mark = certificate.sha256[:32]
    data = {
        "head": words("seal.head"),
        "who": _short(certificate.subject),
        "when": f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "finger": "SHA-256 " + " ".join(mark[i : i + 4] for i in range(0, len(mark), 4)) + " …",
        "note": words("seal.note"),
    }
    source = _TEMPLATE.replace("WIDTH", str(WIDTH)).replace("HEIGHT", str(HEIGHT))
    made = typst.compile(source.encode(), sys_inputs={"data": json.dumps(data)})
    assert isinstance(made, bytes)  # one page, no path was given
    return made


def free_place(pdf: bytes) -> tuple[int, tuple[int, int, int, int]] | None:
    """Find an empty place for the seal, from the end of the last page upwards.

    Args:
        pdf: The report.

    Returns:
        Index of the page and the box (left, bottom, right, top) in points; None when the last
        three pages are full: then the signature stays invisible rather than cover anything.
    """
    import numpy as np
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        for index in range(len(document) - 1, max(-1, len(document) - 4), -1):
            # One pixel a point: hairlines are lighter then, but never white.
            page = np.asarray(document[index].render(scale=1, grayscale=True).to_numpy())
            inked = page.reshape(page.shape[0], page.shape[1]) < _WHITE
            if (box := _free_box(inked)) is not None:
                return index, box
    finally:
        document.close()
    return None


def _free_box(inked: object) -> tuple[int, int, int, int] | None:
    import numpy as np

    ink = np.asarray(inked)
    height, width = ink.shape
    used = np.flatnonzero(ink.any(axis=0))
    right = int(used[-1]) + 1 if used.size else width - 4 * _MARGIN
    left = max(right - WIDTH, _MARGIN)
    column = ink[:, max(left - _MARGIN, 0) : right + _MARGIN]
    lines = np.concatenate([[0], np.cumsum(column.any(axis=1))])
    room = HEIGHT + 2 * _MARGIN
    best = None
    for top in range(4 * _MARGIN, height - room - 4 * _MARGIN, _STEP):
        if lines[top + room] == lines[top]:
            best = top if best is None else best
        elif best is not None:
            break
    if best is None:
        return None
    return left, height - best - _MARGIN - HEIGHT, left + WIDTH, height - best - _MARGIN


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"
