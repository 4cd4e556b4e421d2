"""Subtitles (SubRip and WebVTT) as one text without numbers, times and line ends."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Final

from pura.documents.encodings import decode
from pura.documents.extraction import Extract
from pura.documents.formats import FORMATS, ReadOptions, damaged
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.transforms import Transform

_TIME: Final = r"(?:\d{1,4}:)?\d{1,2}:\d{1,2}[.,]\d{1,3}"
_TIMING: Final = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}")
_TAG: Final = re.compile(r"</?(?:[bius]|c|v|font|ruby|rt|lang)(?:[ .][^<>]*)?>|<\d\d:[\d:.]+>")
_PLACEMENT: Final = re.compile(r"\{\\[^{}]*\}")
_ASIDE: Final = re.compile(r"NOTE(?=\s|$)|STYLE\s*$|REGION\s*$|WEBVTT(?=\s|$)")
"""Beginnings of blocks of WebVTT that are not cues."""


@dataclass
class _Cues:
    """Content that is collected block by block.

    Attributes:
        lines: Visible lines.
        count: Number of cues.
        notes: Lines of comments, which are not shown.
    """

    lines: list[str] = field(default_factory=list)
    count: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, block: list[str]) -> None:
        """Add a block of lines between blank lines."""
        timing = next((n for n, line in enumerate(block[:2]) if _TIMING.match(line)), None)
        if timing is not None:
            self.count += 1
            self.lines += block[timing + 1 :]
        elif aside := _ASIDE.match(block[0]):
            if aside[0].startswith("NOTE"):
                self.notes += [block[0][len("NOTE") :], *block[1:]]
        elif not (len(block) == 1 and block[0].strip().isdigit()):
            # After a blank line inside a cue, most players still show the following lines.
            self.lines += block


def read_subtitles(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the visible lines as one text, joined by blanks."""
    decoded = decode(file_bytes, choice=options.encoding)
    cues = _Cues()
    block: list[str] = []
    for line in [*decoded.text.removeprefix("\ufeff").splitlines(), ""]:
        if line.strip():
            block.append(line)
        elif block:
            cues.add(block)
            block = []
    if not cues.count:
        raise damaged(FORMATS["subtitles"].label)
    visible_lines = [_shown(line) for line in cues.lines]
    visible_lines = [line for line in visible_lines if line]
    text = " ".join(visible_lines)
    transforms = [Transform(name="cue-times-removed", count=cues.count)]
    if len(visible_lines) > 1:
        transforms.append(Transform(name="line-ends-joined", count=len(visible_lines) - 1))
    notes = "\n".join(cues.notes).strip()
    left_out = (LeftOut.of_text(LeftOutKind.COMMENT, notes),) if notes else ()
    return [Extract.of(decoded, text, transforms=tuple(transforms), left_out=left_out)]


def _shown(line: str) -> str:
    """Return a line as players show it, without tags and character references."""
    return html.unescape(_PLACEMENT.sub("", _TAG.sub("", line))).strip()
