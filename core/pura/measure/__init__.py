"""What the tool measures on texts: attacks, power tables, a proxy model's fitness.

Here stands what measurements do where nobody says otherwise, and within which limits. Use cases,
command and dialogs take both from here, so this imports nothing that takes time.
"""

from typing import Final, NamedTuple


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


TEXTS: Final = Bounds(1, 1000, 64)
"""Marked texts of a table of power."""
LEARNT: Final = Bounds(0, 1000, 0)
"""Further texts, of which a likelihood table is learnt."""
TOKENS: Final = Bounds(20, 4000, 200)
"""Length of each text."""
PASSAGES: Final = (60, 100, 200)
"""Lengths of passages in longer texts."""
DOCUMENTS: Final = (500, 2000)
"""Lengths of those texts."""
PROXY_TEXTS: Final = Bounds(1, 1000, 12)
"""Texts that the fitness of a model is measured on."""
