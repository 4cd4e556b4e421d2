"""The colours: one table of tokens from which everything on screen is drawn.

docs/architecture.md, "Rooms"; the colours mean one thing each. Blue is for the payload, orange
against it or in need of attention, green a finished finding, violet repaired, grey the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

from PySide6.QtGui import QColor, QPalette

# Shares of the evidence colour that are mixed into the card, weakest to strongest.
SHADES: Final = (0.0, 0.10, 0.20, 0.31, 0.43)


@dataclass(frozen=True, kw_only=True)
class Colours:
    """The colours, as ``#RRGGBB``.

    Attributes:
        background: Behind the cards.
        card: Of a card.
        line: One-pixel lines.
        text: Of texts.
        muted: Of labels and remarks.
        accent: Selection, focus, the one main button.
        accent_soft: Ground of what is selected.
        on_accent: Text on the accent.
        support: For the payload.
        against: Against the payload, or attention.
        found: A finished finding.
        repaired: Repaired bits.
    """

    background: str
    card: str
    line: str
    text: str
    muted: str
    accent: str
    accent_soft: str
    on_accent: str
    support: str
    against: str
    found: str
    repaired: str

    @property
    def dark(self) -> bool:
        """Whether light text stands on dark ground."""
        return luminance(self.background) < luminance(self.text)

    def mark(self, number: int) -> str:
        """Return the colour of a mark's brackets; 0 is the first."""
        return (self.found, self.support, self.repaired)[number % 3]

    def shade(self, level: int) -> str:
        """Return the ground of a token: level -4 … -1 against, 0 none, 1 … 4 for the payload."""
        if level == 0:
            return self.card
        return mix(self.card, self.support if level > 0 else self.against, SHADES[abs(level)])


LIGHT: Final = Colours(
    background="#F5F6F8",
    card="#FFFFFF",
    line="#DFE3E9",
    text="#18202C",
    muted="#5A6576",
    accent="#2B5FA8",
    accent_soft="#E6EEF9",
    on_accent="#FFFFFF",
    support="#2B6CB0",
    against="#A64A0C",
    found="#1F7A55",
    repaired="#7A3FA8",
)
DARK: Final = Colours(
    background="#12161C",
    card="#1A2029",
    line="#2B3440",
    text="#E8EDF4",
    muted="#94A1B3",
    accent="#7FB2F0",
    accent_soft="#22344D",
    on_accent="#10151C",
    support="#6FA8E6",
    against="#F0A062",
    found="#63C79B",
    repaired="#C79AF0",
)

HIGH: Final = 7.0  # contrast that high contrast keeps (WCAG AAA)

# Every pair of text and ground that occurs, with the contrast that WCAG AA asks of it.
PAIRS: Final[tuple[tuple[str, str, float], ...]] = (
    *(
        (front, ground, 4.5)
        for front in ("text", "muted", "accent", "support", "against", "found", "repaired")
        for ground in ("background", "card")
    ),
    *(
        (front, "accent_soft", 4.5)
        for front in ("text", "muted", "accent", "against", "found", "support")
    ),
    ("on_accent", "accent", 4.5),
)


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#RRGGBB`` (WCAG 2.2)."""

    def linear(channel: int) -> float:
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)

    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def contrast(front: str, ground: str) -> float:
    """Return the contrast ratio of two colours, 1 … 21 (WCAG 2.2)."""
    bright, dim = sorted((luminance(front), luminance(ground)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@lru_cache(maxsize=256)  # each token on screen asks for its shade, each time it is drawn
def mix(ground: str, colour: str, share: float) -> str:
    """Return ``ground`` with a share of ``colour`` in it."""
    a, b = QColor(ground), QColor(colour)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    parts = (round(x + (y - x) * share) for x, y in pairs)
    return "#{:02X}{:02X}{:02X}".format(*parts)


def from_palette(palette: QPalette) -> Colours:
    """Return tokens made of the system's own palette: what high contrast uses."""

    def name(role: QPalette.ColorRole) -> str:
        return palette.color(QPalette.ColorGroup.Active, role).name().upper()

    roles = QPalette.ColorRole
    ground, text = name(roles.Base), name(roles.Text)
    dark = luminance(ground) < luminance(text)
    base = DARK if dark else LIGHT
    soft = mix(ground, text, 0.12)
    strong = {
        key: _readable(getattr(base, key), text, (ground, soft))
        for key in ("support", "against", "found", "repaired")
    }
    accent = _readable(name(roles.Highlight), text, (ground, soft))
    return Colours(
        background=ground,
        card=ground,
        line=text,
        text=text,
        muted=text,
        accent=accent,
        accent_soft=soft,
        on_accent=ground,
        **strong,
    )


def _readable(colour: str, text: str, grounds: Sequence[str]) -> str:
    """Return a colour with as much of the text's in it as it needs to be read on all grounds."""
    shares = (share / 20 for share in range(20))
    mixed = (mix(colour, text, share) for share in shares)
    strong = (c for c in mixed if all(contrast(c, ground) >= HIGH for ground in grounds))
    return next(strong, text)


def token_names() -> tuple[str, ...]:
    """Return the names of all colours."""
    return tuple(field.name for field in fields(Colours))
