"""Measurements on texts: attacks, power tables, and the fitness of a proxy model.

This module holds the defaults and limits of measurements. Use cases, command and dialogs import it,
so it imports nothing slow.
"""

from typing import Final, NamedTuple


class Bounds(NamedTuple):
    """Limits and default of a number.

    Attributes:
        least: Smallest value.
        most: Largest value.
        usual: Default value.
    """

    least: int
    most: int
    usual: int


TEXTS: Final = Bounds(1, 1000, 64)
"""Number of marked texts of a power table."""
LEARNT: Final = Bounds(0, 1000, 0)
"""Number of further texts, from which a likelihood table is learnt."""
TOKENS: Final = Bounds(20, 4000, 200)
"""Length of each text, in tokens."""
PASSAGES: Final = (60, 100, 200)
"""Lengths of passages in longer texts, in tokens."""
DOCUMENTS: Final = (500, 2000)
"""Lengths of these texts, in tokens."""
PROXY_TEXTS: Final = Bounds(1, 1000, 12)
"""Number of texts on which the fitness of a model is measured."""
