"""Where the command begins, before anything is imported that takes time.

Whoever presses Ctrl+C while the program loads wants it gone. Python would show a traceback of
whatever it was importing; here the system ends the program at once. From the moment on when
:func:`~pura.cli.__main__.main` runs it, the command ends tidily instead, and says so.
"""

from __future__ import annotations

from pura.cli.interrupt import end_at_once


def run() -> None:
    """Run the command in a process of its own."""
    end_at_once()
    from pura.cli.__main__ import run as run_command

    try:
        run_command()
    finally:
        end_at_once()  # what Python tidies up at its end is no business of the user's


if __name__ == "__main__":
    run()
