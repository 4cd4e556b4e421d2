"""Reports in the cage: whatever happens there, here it is facts or one error."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from pura.base.errors import ReportFileError
from pura.documents.caged_child import converse, start_child
from pura.documents.limits import NOT_SHUT_STATUS
from pura.report.check.child import MAX_FILE_BYTES
from pura.report.check.facts import FileFacts, from_plain

WALL_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 128 << 20
CHILD: Final = "pura.report.check.child"


def take_apart(
    data: bytes,
    trust: Sequence[bytes],
    *,
    moment: datetime,
    beat: Callable[[], None] | None = None,
) -> FileFacts:
    """Take a PDF apart in a child process.

    Args:
        data: The whole file.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against, with a zone.
        beat: Called twenty times a second; whatever it raises kills the child first.

    Raises:
        ReportFileError: Too large, or the child died, ran out of time or answered nonsense.
    """
    if len(data) > MAX_FILE_BYTES:
        raise ReportFileError("report.file-large", mebibytes=MAX_FILE_BYTES >> 20)
    head = {
        "moment": moment.isoformat(),
        "trust": [base64.b64encode(der).decode() for der in trust],
    }
    try:
        child = start_child(CHILD)
    except OSError as error:
        raise ReportFileError("reader.start", why=error.errno or 0) from None
    ending = converse(
        child,
        json.dumps(head).encode() + b"\n" + data,
        seconds=WALL_SECONDS,
        most=MAX_ANSWER_BYTES,
        beat=beat,
    )
    return _judge(ending.status, ending.answer, late=ending.late)


def _judge(status: int, answer: bytes, *, late: bool) -> FileFacts:
    if late:
        raise ReportFileError("report.file-slow", seconds=f"{WALL_SECONDS:g}")
    if status == NOT_SHUT_STATUS:
        raise ReportFileError("reader.cage")
    try:
        if status != 0:
            raise ValueError("status")
        return from_plain(json.loads(answer))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ReportFileError("report.file-stopped", status=status) from None
