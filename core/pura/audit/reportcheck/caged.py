"""The parent's side: start the child, feed it, and believe nothing it does."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import IO, Final

from pura.audit.reportcheck.child import MAX_FILE_BYTES
from pura.audit.reportcheck.facts import FileFacts, from_plain
from pura.errors import ReportFileError

WALL_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 128 << 20
_BEAT_S: Final = 0.05
_CHUNK: Final = 1 << 16
# Enough for Python to find its own files; no secrets of the user's shell.
_PASSED: Final = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "SYSTEMROOT",
                  "SystemRoot", "TEMP", "TMP", "HOME", "LANG", "VIRTUAL_ENV")  # fmt: skip


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
        raise ReportFileError(
            f"The file has more than {MAX_FILE_BYTES >> 20} MiB; no report of ours has.",
            "Choose the PDF of a report.",
        )
    head = {"moment": moment.isoformat(),
            "trust": [base64.b64encode(der).decode() for der in trust]}  # fmt: skip
    child = _start()
    answer = bytearray()
    line = json.dumps(head).encode() + b"\n"
    assert child.stdin is not None
    assert child.stdout is not None
    threads = [
        threading.Thread(target=_feed, args=(child.stdin, line + data), daemon=True),
        threading.Thread(target=_take, args=(child, child.stdout, answer), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        late = _wait(child, beat)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        for thread in threads:
            thread.join()
        child.stdin.close()
        child.stdout.close()
    return _judge(child.returncode, bytes(answer), late=late)


def _start() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    environment |= {"PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-B", "-m", "pura.audit.reportcheck.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        close_fds=True,
        bufsize=0,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _feed(pipe: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[pipe.write(view[:_CHUNK]) :]
        pipe.close()
    except (OSError, ValueError):
        return  # the child is gone; its end of the story is told by its exit


def _take(child: subprocess.Popen[bytes], pipe: IO[bytes], answer: bytearray) -> None:
    while piece := pipe.read(_CHUNK):
        answer += piece
        if len(answer) > MAX_ANSWER_BYTES:
            child.kill()
            return


def _wait(child: subprocess.Popen[bytes], beat: Callable[[], None] | None) -> bool:
    """Wait for the end; True when the time was up first."""
    end = time.monotonic() + WALL_SECONDS
    while time.monotonic() < end:
        try:
            child.wait(timeout=_BEAT_S)
        except subprocess.TimeoutExpired:
            if beat is not None:
                beat()
        else:
            return False
    return True


def _judge(status: int, answer: bytes, *, late: bool) -> FileFacts:
    if late:
        raise ReportFileError(
            f"Taking the file apart took longer than {WALL_SECONDS:g} seconds.",
            "Ask the sender for the report as it was issued.",
        )
    try:
        if status != 0:
            raise ValueError("status")
        return from_plain(json.loads(answer))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ReportFileError(
            f"The reader stopped on this file (status {status}); it may be damaged on purpose.",
            "Ask the sender for the report as it was issued.",
        ) from None
