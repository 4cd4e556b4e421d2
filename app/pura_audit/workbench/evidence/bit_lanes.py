"""Where each position of the codeword stands in the chart: lanes, columns, gaps between blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pura.scheme import Profile
from pura_audit.platform.i18n import filled, translate

GAP: Final = 0.9  # columns between two blocks
MOST: Final = 48  # columns of a lane with parity blocks, before the next lane is begun


@dataclass(frozen=True)
class Lanes:
    """The arrangement.

    Attributes:
        column: Of every position.
        lane: Of every position, 0 at the top.
        names: Of the lanes.
        width: In columns.
    """

    column: tuple[float, ...]
    lane: tuple[int, ...]
    names: tuple[str, ...]
    width: float


def arrange(profile: Profile) -> Lanes:
    """Arrange the codeword of a profile.

    ``tbcc``: one lane a generator, so that the three bits of one payload bit stand under each
    other. ``spc``: blocks beside each other, with air between them, as many lanes as needed.
    """
    if profile.code == "tbcc":
        size = profile.payload_bits
        names = tuple(filled(translate("Bits", "Generator {n:text}"), n=i + 1) for i in range(3))
        return Lanes(
            tuple(float(i % size) for i in range(3 * size)),
            tuple(i // size for i in range(3 * size)),
            names,
            float(size),
        )
    blocks = profile.block_count
    size = profile.payload_bits // blocks + 1
    a_lane = max(1, min(blocks, MOST // size))
    columns: list[float] = []
    lanes: list[int] = []
    for block in range(blocks):
        place = block % a_lane
        columns += [place * (size + GAP) + i for i in range(size)]
        lanes += [block // a_lane] * size
    count = (blocks + a_lane - 1) // a_lane
    names = tuple(
        filled(
            translate("Bits", "Blocks {range:text}"),
            range=f"{i * a_lane + 1}–{min(blocks, (i + 1) * a_lane)}",
        )
        for i in range(count)
    )
    return Lanes(tuple(columns), tuple(lanes), names if count > 1 else ("",), max(columns) + 1)
