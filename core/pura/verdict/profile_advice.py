"""What to think about before a profile is used: odd values, and how much text it takes.

A profile that is valid can still be unwise. Each piece of advice has a code for the window's own
words, and an English sentence for the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pura.scheme import Profile
from pura.verdict.power_claim import length_found, shipped_power

# Share of the tokens that carry bits: 179 of 200, measured with the built-in model at temperature 1
# (docs/study.md §2). Larger models leave fewer.
USABLE_SHARE: Final = 0.895
THRESHOLD: Final = 6.0
GOAL: Final = 0.9


@dataclass(frozen=True, kw_only=True)
class Advice:
    """One piece of advice.

    Attributes:
        code: For programs.
        setting: The field that it is about.
    """

    code: str
    setting: str


@dataclass(frozen=True, kw_only=True)
class Length:
    """How much unedited text a finding takes, nine times in ten.

    Attributes:
        usable: Positions that carry bits; None when these settings were not measured.
        tokens: About how many tokens that is with the built-in model, or None.
    """

    usable: int | None
    tokens: int | None


def length_needed(profile: Profile) -> Length:
    """Return how long a text must be, from the power tables; never guessed."""
    usable = length_found(shipped_power(), profile, THRESHOLD, GOAL)
    return Length(usable=usable, tokens=None if usable is None else round(usable / USABLE_SHARE))


def advise(profile: Profile) -> tuple[Advice, ...]:
    """Return what is odd about a profile, in the order of its settings."""
    p, low = profile, profile.entropy_thresholds_bits[0]
    rows = (
        (
            p.payload_bits < 16,
            "few-bits",
            "payload_bits",
        ),
        (
            p.payload_bits > 128,
            "many-bits",
            "payload_bits",
        ),
        (
            p.code == "spc",
            "paper-code",
            "code",
        ),
        (
            p.temperature < 0.5,
            "cold",
            "temperature",
        ),
        (
            p.temperature > 1.5,
            "hot",
            "temperature",
        ),
        (
            0 < p.top_k < 10,
            "narrow-k",
            "top_k",
        ),
        (p.top_p < 0.5, "narrow-p", "top_p"),
        (
            low < 0.5,
            "low-gate",
            "entropy_thresholds_bits",
        ),
        (
            low > 4,
            "high-gate",
            "entropy_thresholds_bits",
        ),
        (
            p.context_window == 1,
            "short-window",
            "context_window",
        ),
        (
            p.context_window > 4,
            "long-window",
            "context_window",
        ),
        (
            p.tokenizer is None,
            "no-tokenizer",
            "tokenizer",
        ),
        (
            p.key is None,
            "no-key",
            "key",
        ),
    )
    return tuple(Advice(code=c, setting=f) for odd, c, f in rows if odd)
