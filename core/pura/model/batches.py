"""In which order windows are fed to the network, and which of them side by side.

Windows of about the same length share a pass, be they of one text or of many. What stands behind
the end of a shorter one changes nothing before it, so it needs no mask; and at most a tenth of a
pass is such padding. Windows that take over the beginning of another one follow right behind it,
so that only a few states are kept at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

Place = tuple[int, int]
"""A window: number of the text, number of the window in it."""

Batch = tuple[Place, ...]

PADDING: Final = 0.1  # share of a pass that may go on what is thrown away


def batches(
    places: Sequence[Place],
    *,
    size: Mapping[Place, int],
    source: Mapping[Place, Place],
    most: int,
    alone: Callable[[Place], int],
) -> list[Batch]:
    """Put windows into batches, in an order in which what a window takes over was read before.

    Args:
        places: The windows.
        size: Inputs that each of them feeds; 0 takes over everything.
        source: The window that one takes over from; whoever is not among ``places`` was read.
        most: Inputs of a batch, padding included.
        alone: Inputs from which on a window goes alone, in pieces.
    """
    here = set(places)

    def root(place: Place) -> Place:
        while place in source and source[place] in here:
            place = source[place]
        return place

    out: list[Batch] = []
    for batch in _packed([p for p in places if root(p) == p], size, most, alone):
        out.append(batch)
        begun = set(batch)
        behind = [p for p in places if p not in begun and root(p) in begun]
        if behind:
            out += batches(behind, size=size, source=source, most=most, alone=alone)
    return out


def _packed(
    places: Iterable[Place],
    size: Mapping[Place, int],
    most: int,
    alone: Callable[[Place], int],
) -> list[Batch]:
    """Pack windows that wait for nothing, the longest first; equal ones stay in their order."""
    out: list[Batch] = []
    batch: list[Place] = []
    fed = width = 0
    for place in sorted(places, key=lambda place: -size[place]):
        inputs = size[place]
        if inputs > alone(place):
            out.append((place,))
            continue
        whole = width * (len(batch) + 1)
        if batch and (whole > most or fed + inputs < (1 - PADDING) * whole):
            out.append(tuple(batch))
            batch, fed = [], 0
        if not batch:
            width = inputs
        batch.append(place)
        fed += inputs
    return [*out, tuple(batch)] if batch else out
