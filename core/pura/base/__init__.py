"""What every package stands on: errors, texts, strict decoder, JSON, files, SQLite, processes.

Read :mod:`pura.base.errors` first, then :mod:`pura.base.decoder`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Args:
        package: Its name.
        homes: For each name that it offers, the module that defines it.
    """

    def fetch(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return fetch
