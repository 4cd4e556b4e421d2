"""Reports in the cage: whatever happens there, here it is facts or one error."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from pura.base.caged_child import Ending, converse, start_child
from pura.base.errors import ReportFileError
from pura.base.process import NOT_SHUT_STATUS
from pura.report.check.child import MAX_FILE_BYTES
from pura.report.check.facts import FileFacts, from_plain

WALL_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 128 << 20
CHILD: Final = "pura.report.check.child"
REMAKER: Final = "pura.report.check.remaker"


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
    ending = _run(CHILD, head, data, beat)
    return _judge(ending.status, ending.answer, late=ending.late)


def look_different(
    data: bytes, other: bytes, *, beat: Callable[[], None] | None = None
) -> tuple[int, ...]:
    """Draw two PDFs in a child process and return the pages that look different, from 1.

    Raises:
        ReportFileError: The child died, ran out of time or answered nonsense.
    """
    ending = _run(CHILD, {"like": len(other)}, other + data, beat)
    try:
        if ending.status != 0 or ending.late:
            raise ValueError("status")
        return tuple(int(page) for page in json.loads(ending.answer))
    except (ValueError, TypeError, RecursionError):
        raise ReportFileError("report.file-stopped", status=ending.status) from None


def made_again(
    record: bytes, told: bytes, *, beat: Callable[[], None] | None = None
) -> bytes | None:
    """Make the report of a record and its particulars again, in a child process.

    Returns:
        The PDF; None when none can be made of them.

    Raises:
        ReportFileError: No child can be started.
    """
    with tempfile.TemporaryDirectory(prefix="pura-remake-") as folder:
        head = {"folder": folder, "record": len(record), "particulars": len(told)}
        ending = _run(REMAKER, head, record + told, beat)
    made = ending.answer if ending.status == 0 and not ending.late else b""
    return made if made.startswith(b"%PDF-") and len(made) <= MAX_ANSWER_BYTES else None


def _run(
    module: str, head: Mapping[str, object], data: bytes, beat: Callable[[], None] | None
) -> Ending:
    try:
        child = start_child(module)
    except OSError as error:
        raise ReportFileError("reader.start", why=error.errno or 0) from None
    return converse(
        child,
        json.dumps(head).encode() + b"\n" + data,
        seconds=WALL_SECONDS,
        most=MAX_ANSWER_BYTES,
        beat=beat,
    )


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
