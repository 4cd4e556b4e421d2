"""What an interruption does to the program: end it at once, or have it end tidily."""

from __future__ import annotations

import signal


def end_at_once() -> None:
    """Have the system end the program when it is interrupted, unless that is ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_tidily() -> None:
    """Have an interruption be the exception that the command ends tidily by; undo the above."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
