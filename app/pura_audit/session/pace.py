"""How long an audit takes here: measured on those that were done, and remembered."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from pura.model.device import Device
from pura.model.installed import InstalledModel
from pura.record.audit import Audit
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.items import Item

SHORTEST: Final = 400  # characters of a text that tells something of the pace
LONG_S: Final = 300.0  # from here on somebody is asked first
LONG_CHARACTERS: Final = 60_000  # the same where nothing was measured yet
EXCERPT_S: Final = 60.0
EXCERPT: Final = (2_000, 20_000)  # characters of an excerpt, at least and at most
EXCERPT_UNMEASURED: Final = 4_000


class Pace:
    """Characters a second, of one model on one device.

    Args:
        settings: Remember the pace until the next start.
    """

    def __init__(self, settings: SettingsFile) -> None:
        self._settings = settings
        self._of = ""

    def use(self, model: InstalledModel | None, device: object) -> None:
        """Say with what the next audits are done."""
        place = f"{device.name} {device.dtype}" if isinstance(device, Device) else ""
        self._of = f"{model.fingerprint} {place}" if model is not None and place else ""

    @property
    def rate(self) -> float | None:
        """Characters a second; None while nothing was measured."""
        now = self._settings.current
        known = self._of and now.pace_of == self._of
        return now.pace if known and math.isfinite(now.pace) and now.pace > 0 else None

    def note(self, audit: Audit) -> None:
        """Learn from an audit that was done."""
        spent = sum(step.seconds for step in audit.log)
        short = audit.input.characters < SHORTEST or audit.stopped is not None
        if not self._of or short or spent <= 0:
            return
        rate, before = audit.input.characters * _readings_of(audit) / spent, self.rate
        self._settings.update(
            pace=rate if before is None else (before + rate) / 2, pace_of=self._of
        )

    def seconds(self, items: Iterable[Item]) -> float | None:
        """Return how long audits of these texts take together; None where that is not known."""
        rate = self.rate
        return None if rate is None else sum(map(_characters, items)) / rate

    def long(self, items: Iterable[Item]) -> bool:
        """Whether somebody is to be asked before these texts are audited."""
        chosen = list(items)
        expected = self.seconds(chosen)
        if expected is None:
            return sum(map(_characters, chosen)) > LONG_CHARACTERS
        return expected > LONG_S

    @property
    def excerpt(self) -> int:
        """How many characters are read in about a minute."""
        rate = self.rate
        if rate is None:
            return EXCERPT_UNMEASURED
        return max(EXCERPT[0], min(EXCERPT[1], 1000 * round(rate * EXCERPT_S / 1000)))


def excerpt_of(text: str, characters: int) -> str:
    """Return how a text begins, up to the end of a paragraph, a sentence or a word."""
    if len(text) <= characters:
        return text
    begin = text[:characters]
    for end in ("\n\n", "\n", ". ", " "):
        place = begin.rfind(end)
        if place > characters // 2:
            return begin[: place + len(end)].rstrip()
    return begin


def length(item: Item) -> int:
    """Return the characters of a row's text; 0 while it was never read."""
    return len(item.document.text) if item.document is not None else item.noted


def _characters(item: Item) -> int:
    prompts = item.prompt.count("\n") + 1 if item.several and item.prompt.strip() else 0
    return length(item) * (1 + prompts)


def _readings_of(audit: Audit) -> int:
    return max(1, len(audit.prompts))
