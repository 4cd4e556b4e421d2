"""The standing of a program that holds keys and texts: others do not look into it."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Final, NoReturn

from pura.base.linux import kernel

_ENDING: Final = ("SIGTERM", "SIGHUP")
NOT_SHUT_STATUS: Final = 77
"""Exit status of a child that could not shut its cage; it has read nothing."""


class EndedError(KeyboardInterrupt):
    """The system asked this program to end; it ends as when a person interrupts it.

    Attributes:
        status: Its exit status, as shells expect it: 128 and the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


class Signals:
    """What ends a run beside its own end: terminate and hang up act like an interruption.

    Attributes:
        ended: What asked for the end; None while nothing did.
    """

    def __init__(self) -> None:
        self.ended: EndedError | None = None

    def catch(self) -> None:
        """Take the signals over; one that is ignored, as under ``nohup``, stays ignored."""
        for name in _ENDING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)

    def _end(self, number: int, _: FrameType | None) -> NoReturn:
        # Whoever asks twice does not want to wait until all is tidy.
        signal.signal(number, signal.SIG_DFL)
        self.ended = EndedError(number)
        raise self.ended


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
