"""A mailbox (mbox): messages one after another, each read as :mod:`.mail` reads it."""

from __future__ import annotations

import re
from typing import Final

from pura.documents.readers.mail import message_extracts
from pura.documents.values import MAX_PARTS, Extract, ReadOptions, over

_FROM: Final = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
_QUOTED_FROM: Final = re.compile(rb"^>(>*From )", re.MULTILINE)


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the texts of all messages; parts are ``message 1, body`` and so on."""
    # A "From " inside a body stands after a blank line only when the writer forgot to quote it.
    if not data.strip():
        return []
    marks = _marks(data)
    extracts: list[Extract] = []
    ends = [m.start() for m in marks[1:]] + [len(data)]
    for number, (mark, end) in enumerate(zip(marks, ends, strict=True), 1):
        message = _QUOTED_FROM.sub(rb"\1", data[mark.end() : end])
        extracts += message_extracts(message, options, f"message {number}, ")
        if len(extracts) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
    return extracts


def _marks(data: bytes) -> list[re.Match[bytes]]:
    return [
        m
        for m in _FROM.finditer(data)
        if m.start() == 0 or data[max(0, m.start() - 4) : m.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
