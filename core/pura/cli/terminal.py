"""The terminal: its two consoles, how an error stands there, and whether a person reads it."""

from __future__ import annotations

import sys

from rich.console import Console

from pura.base.errors import PuraError

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(error: PuraError, name: str | None = None) -> None:
    """Print an error on standard error: what happened, then the way out."""
    prefix = f"{name}: " if name else ""
    err.print(f"{prefix}{error.message}", style="bold red", markup=False)
    if error.hint:
        err.print(error.hint, markup=False)


def interactive() -> bool:
    """Whether a person sits at the other end of standard input."""
    return sys.stdin.isatty()
