"""Run a child process that can be stopped between two heartbeats."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pura.base.linux.kernel import PARENT

_BEAT_S: Final = 0.1
_TAIL: Final = 4000


def run_child(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    beat: Callable[[], None] | None = None,
) -> tuple[int, str]:
    """Run a command to its end.

    Args:
        command: Program and arguments; no shell reads them.
        folder: Working folder; also where the child's words are kept while it runs.
        environment: The whole environment of the child.
        beat: Called ten times a second; whatever it raises kills the child first.

    Returns:
        Exit status and the end of what the child said.
    """
    log = folder / "child.log"
    with log.open("wb") as sink:
        child = subprocess.Popen(  # noqa: S603 - a fixed program, arguments of our own
            list(command),
            cwd=folder,
            env=dict(environment) | {PARENT: str(os.getpid())},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
        try:
            while True:
                try:
                    status = child.wait(timeout=_BEAT_S)
                    break
                except subprocess.TimeoutExpired:
                    if beat is not None:
                        beat()
        except BaseException:
            child.kill()
            child.wait()
            raise
    words = log.read_bytes()[-_TAIL:].decode("utf-8", "replace")
    log.unlink()
    return status, words
