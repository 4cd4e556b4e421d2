"""The parent's side of every cage: start a child, feed it, and believe nothing it does.

The child gets bytes and answers with bytes. It is killed when its time is up, when it answers too
much, and when whoever waits wants to stop; how it ended is told, and judged by the caller.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

from pura.base.linux.kernel import PARENT

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


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a child ended.

    Attributes:
        status: Its exit status, negative for a signal.
        answer: What it wrote; one byte more than allowed, or more, when it was stopped for that.
        late: It was stopped because its time was up.
    """

    status: int
    answer: bytes
    late: bool


def start_child(module: str) -> subprocess.Popen[bytes]:
    """Start a module of ours as a child, without the user's environment.

    Raises:
        OSError: The system starts no more programs.
    """
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    environment |= {"PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    if sys.platform == "linux":
        environment[PARENT] = str(os.getpid())
    return subprocess.Popen(  # noqa: S603  (a module of ours, named by our own code)
        [sys.executable, "-P", "-B", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        close_fds=True,
        bufsize=0,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def converse(
    child: subprocess.Popen[bytes],
    data: bytes,
    *,
    seconds: float,
    most: int,
    beat: Callable[[], None] | None = None,
) -> Ending:
    """Feed a child, take its answer, and wait for its end.

    Args:
        child: From :func:`start_child`.
        data: All that it gets.
        seconds: How long it may take.
        most: Bytes that it may answer.
        beat: Called twenty times a second; whatever it raises kills the child first.
    """
    assert child.stdin is not None  # both were asked for
    assert child.stdout is not None
    answer = bytearray()
    threads = [
        threading.Thread(target=_feed, args=(child.stdin, data), daemon=True),
        threading.Thread(target=_take, args=(child, child.stdout, answer, most), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        late = _wait(child, seconds, beat)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        for thread in threads:
            thread.join()
        child.stdin.close()
        child.stdout.close()
    return Ending(status=child.returncode, answer=bytes(answer), late=late)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[pipe.write(view[:_CHUNK]) :]
        pipe.close()
    except (OSError, ValueError):
        return  # the child is gone; its end of the story is told by its exit


def _take(child: subprocess.Popen[bytes], pipe: IO[bytes], answer: bytearray, most: int) -> None:
    while piece := pipe.read(_CHUNK):
        answer += piece
        if len(answer) > most:
            child.kill()
            return


def _wait(child: subprocess.Popen[bytes], seconds: float, beat: Callable[[], None] | None) -> bool:
    """Wait for the end; True when the time was up first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            child.wait(timeout=_BEAT_S)
        except subprocess.TimeoutExpired:
            if beat is not None:
                beat()
        else:
            return False
    return True
