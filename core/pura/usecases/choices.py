"""How texts are audited, apart from key, profile and model: one record of fields and defaults.

Command, window and programs take their options from it. It imports nothing that takes time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pura.verdict.policy import Policy

DECODERS: Final = ("exact", "paper")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How texts are audited.

    Attributes:
        decoder: Which payload is reported, one of :data:`DECODERS`; ``paper`` is the published
            method.
        policy: A policy, or its file, instead of the user's; None takes the user's, or the default
            one.
        ask_register: True asks the register of issued payloads, and wants one; False does not
            ask; None asks where there is one.
        restore: Also read the text with typographic substitutions undone.
        stop_early: Read no further once the evidence has reached what is ever reported; False does
            what the policy says.
        follow: Tell of the evidence while a long text is read.
        epochs: ``FROM..TO``: the keys of these days, weeks or months are tried, derived from
            the chosen ones; empty takes the last ones, up to today and as many as the policy says,
            where the profile says that keys are such; ``none`` takes the keys as they are.
        weigh: Let the model read the text for marks by others too, where that sharpens the
            evidence (Gumbel-max).
    """

    decoder: str = DECODERS[0]
    policy: Path | Policy | None = None
    ask_register: bool | None = None
    restore: bool = True
    stop_early: bool = False
    follow: bool = False
    epochs: str = ""
    weigh: bool = False
