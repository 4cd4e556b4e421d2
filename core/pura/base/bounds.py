"""A number that may be chosen: its limits and what holds where nobody says otherwise."""

from __future__ import annotations

from typing import NamedTuple


class Bounds(NamedTuple):
    """A number that may be chosen.

    Attributes:
        least: The smallest.
        most: The largest.
        usual: The one that is taken where none is chosen.
    """

    least: int
    most: int
    usual: int
