"""The parent's side of the cage: start a child, feed it, and believe nothing it does.

Whatever happens there, here it is a list of extracts or one error.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import IO, Any, Final

from pura.audit.documents import limits
from pura.audit.documents.formats import Format
from pura.audit.documents.refusals import check, damaged, memory
from pura.audit.documents.values import ROLES, Extract, ReadOptions, Transform
from pura.errors import InputError

_BEAT_S: Final = 0.05
_CHUNK: Final = 1 << 16
# Enough for Python and the loader to find their own files; no secrets of the user's shell.
_PASSED: Final = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
    "SYSTEMROOT",
    "SystemRoot",
    "TEMP",
    "TMP",
    "HOME",
    "LANG",
    "VIRTUAL_ENV",
)
_HINT: Final = "Open it in the program that made it, and save the text as plain text."


def read_caged(
    data: bytes,
    form: Format,
    options: ReadOptions,
    *,
    beat: Callable[[], None] | None = None,
) -> list[Extract]:
    """Parse bytes in a child process.

    Args:
        data: The whole file.
        form: Its format.
        options: What the user said about it.
        beat: Called twenty times a second; whatever it raises kills the child first.

    Raises:
        InputError: The child refused the file, broke a limit, or died.
    """
    head = json.dumps({"format": form.name, "options": asdict(options)}).encode() + b"\n"
    try:
        child = _start()
    except OSError as error:
        raise _unstarted(error) from None
    answer = bytearray()
    feeder = threading.Thread(target=_feed, args=(child.stdin, head, data), daemon=True)
    taker = threading.Thread(target=_take, args=(child, answer), daemon=True)
    feeder.start()
    taker.start()
    late = False
    try:
        late = _wait(child, beat)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        feeder.join()
        taker.join()
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None  # both were asked for
            pipe.close()
    return _judge(child.returncode, bytes(answer), form, late=late)


def _start() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    environment |= {"PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-B", "-m", "pura.audit.documents.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        close_fds=True,
        bufsize=0,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def _unstarted(error: OSError) -> InputError:
    return InputError(
        f"The reader cannot be started: {error.strerror or 'unknown reason'}.",
        "Close other programs, and try again.",
        code="input-crash",
    )


def _feed(pipe: IO[bytes], head: bytes, data: bytes) -> None:
    view = memoryview(head + data)
    try:
        while view:
            view = view[pipe.write(view[:_CHUNK]) :]
        pipe.close()
    except (OSError, ValueError):
        return  # the child is gone; its end of the story is told by its exit


def _take(child: subprocess.Popen[bytes], answer: bytearray) -> None:
    assert child.stdout is not None  # it was asked for
    while piece := child.stdout.read(_CHUNK):
        answer += piece
        if len(answer) > limits.MAX_ANSWER_BYTES:
            child.kill()
            return


def _wait(child: subprocess.Popen[bytes], beat: Callable[[], None] | None) -> bool:
    """Wait for the end; True when the time was up first."""
    end = time.monotonic() + limits.CHILD_WALL_SECONDS
    while time.monotonic() < end:
        try:
            child.wait(timeout=_BEAT_S)
        except subprocess.TimeoutExpired:
            if beat is not None:
                beat()
        else:
            return False
    return True


def _judge(status: int, answer: bytes, form: Format, *, late: bool) -> list[Extract]:
    if late:
        raise limits.over(
            f"Reading the file took longer than {limits.CHILD_WALL_SECONDS:g} seconds.", _HINT
        )
    if len(answer) > limits.MAX_ANSWER_BYTES:
        raise limits.over(
            f"The file unpacks to more than {limits.MAX_ANSWER_BYTES >> 20} MiB of text.", _HINT
        )
    if status == -getattr(signal, "SIGXCPU", 0) != 0:
        raise limits.over(
            f"Reading the file took more than {limits.CHILD_CPU_SECONDS} seconds of computing.",
            _HINT,
        )
    if status != 0:
        # Python says MemoryError, C code dies of it: by abort, by a bad access, or by a status.
        if status in (-getattr(signal, "SIGKILL", 9), -getattr(signal, "SIGABRT", 6)):
            raise memory()
        raise InputError(
            f"The reader for {form.label} stopped on this file (status {status}).",
            _HINT,
            code="input-crash",
        )
    try:
        reply = json.loads(answer)
        if "error" in reply:
            raise _refusal(reply["error"])
        extracts = [_extract(item) for item in reply["extracts"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise damaged(form.label, "no answer") from None
    check(extracts)
    return extracts


def _refusal(found: dict[str, Any]) -> InputError:
    return InputError(str(found["message"]), str(found["hint"]), code=str(found["code"]))


def _extract(item: dict[str, Any]) -> Extract:
    if item["role"] not in ROLES:
        raise ValueError("role")
    return Extract(
        text=str(item["text"]),
        part=str(item["part"]),
        role=str(item["role"]),
        encoding=str(item["encoding"]),
        encoding_source=str(item["encoding_source"]),
        transforms=tuple(
            Transform(name=str(t["name"]), count=int(t["count"]), note=str(t["note"]))
            for t in item["transforms"]
        ),
        notes=tuple(str(note) for note in item["notes"]),
    )
