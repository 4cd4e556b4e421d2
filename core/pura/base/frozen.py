"""Let a packaged program be its own child process.

Work that must be stoppable or caged runs in a child, started as ``python -m module``. A packaged
program has no ``python``: :data:`sys.executable` is the program itself. Its start scripts call
:func:`run_as_child` first, which understands the same arguments for modules of ours only.
"""

from __future__ import annotations

import multiprocessing
import runpy
import sys
from collections.abc import Sequence
from typing import Final

CHILDREN: Final = ("pura.", "pura_audit.")
"""Prefixes of the modules that a packaged program may be told to run."""


def run_as_child(arguments: Sequence[str]) -> None:
    """Run the module that the arguments name, and leave; return when they name none.

    Args:
        arguments: As in :data:`sys.argv`: the program, ``-m``, a module, its own arguments.
    """
    # Children that multiprocessing starts carry arguments of its own.
    multiprocessing.freeze_support()
    rest = list(arguments[1:])
    # Flags of the interpreter mean nothing here: a packaged program is always isolated.
    while rest and rest[0] in ("-I", "-E", "-s", "-P", "-B"):
        rest.pop(0)
    if len(rest) < 2 or rest[0] != "-m":
        return
    module = rest[1]
    if not module.startswith(CHILDREN):
        sys.exit(f"“{module}” is no module of this program.")
    sys.argv[:] = [arguments[0], *rest[2:]]
    runpy.run_module(module, run_name="__main__")
    sys.exit(0)
