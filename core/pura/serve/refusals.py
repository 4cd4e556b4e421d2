"""What was refused, in the log: who in general terms, why, from which part of the network."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

from pura.serve.log import Log

_TOGETHER_S: Final = 10.0
_MOST: Final = 1000


class Refusals:
    """Writes the first refusal of a kind at once; those like it after ten seconds, counted.

    Whoever asks in vain very often would fill the disk with lines otherwise. One thread: that of
    the event loop.

    Args:
        log: Where to.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._more: Counter[tuple[str, str, str]] = Counter()

    def add(self, role: str, reason: str, block: str) -> None:
        """Take a refusal down.

        Args:
            role: Of whoever was refused; empty where that is not known.
            reason: The code of the error.
            block: Of addresses, from which it came; empty where there is none.
        """
        if not self._more:
            asyncio.get_running_loop().call_later(_TOGETHER_S, self.flush)
        kind = (role, reason, block)
        if kind not in self._more and len(self._more) >= _MOST:
            kind = (role, reason, "")  # from very many places: they are counted together
        if kind in self._more:
            self._more[kind] += 1
        else:
            self._more[kind] = 0
            self._write(kind, 1)

    def flush(self) -> None:
        """Write those that were only counted."""
        for kind, count in self._more.items():
            if count:
                self._write(kind, count)
        self._more.clear()

    def _write(self, kind: tuple[str, str, str], count: int) -> None:
        role, reason, block = kind
        self._log("refused", role=role, reason=reason, block=block, count=count)
