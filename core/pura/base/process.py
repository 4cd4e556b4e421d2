"""The standing of a program that holds keys and texts: others do not look into it."""

from __future__ import annotations

import sys

from pura.base.linux import kernel


def close_to_others() -> None:
    """Let no other program of this user look into this one's memory, and no core file be written.

    Linux refuses debuggers and readers of memory; elsewhere only core files are switched off.

    Raises:
        OSError: The system refused what it can do.
    """
    if sys.platform == "linux":
        kernel.hide()
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
