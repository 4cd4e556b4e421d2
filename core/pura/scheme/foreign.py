"""Marks that other programs write: their public settings, as a profile holds them.

What is secret at the other program (a number, or a list of them) stands in the profile only sealed
under a key of ours (:mod:`pura.keys.foreign`), so it has the same custody as every key.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from pura.base.catalogue import Phrase, phrase
from pura.base.decoder import DecodeError, Decoder
from pura.base.errors import ProfileError, unusable

MAX_WIDTH: Final = 64
MAX_SEALED: Final = 16 << 10
LEFT_HASH: Final = "lefthash"
SELF_HASH: Final = "selfhash"


@dataclass(frozen=True, kw_only=True)
class ForeignMark:
    """What all have in common.

    Attributes:
        sealed: The other program's secret, sealed; base64.
        context_width: Tokens of a context.
    """

    sealed: str
    context_width: int

    def __post_init__(self) -> None:
        for field in fields(self):
            if problem := _CHECKS[field.name](getattr(self, field.name)):
                raise unusable(ProfileError, "profile", problem, f"{SETTINGS_FIELD}.{field.name}")

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the settings from parsed JSON.

        Raises:
            ProfileError: Names the one that is missing, unknown, or of a wrong type or range.
        """
        try:
            return _DECODER.decode(cls, data)
        except DecodeError as error:
            name = error.below(SETTINGS_FIELD)
            raise unusable(ProfileError, "profile", error.what, name) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain JSON values, every one of them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, kw_only=True)
class GumbelMark(ForeignMark):
    """The Gumbel-max mark of vLLM, with the PRF ``philox4x32-10-v1``.

    Attributes:
        alpha: Share of the second of two derived keys (``dual_key_gumbel``); None: one key.
    """

    context_width: int = 4
    alpha: float | None = None


@dataclass(frozen=True, kw_only=True)
class SynthIdMark(ForeignMark):
    """SynthID-Text as its public code and transformers write it; the secret has a key a layer.

    Attributes:
        context_width: ``ngram_len - 1``.
        table_size: Entries of the table of coins.
        table_seed: From which the table is drawn.
    """

    context_width: int = 4
    table_size: int = 1 << 16
    table_seed: int = 0


@dataclass(frozen=True, kw_only=True)
class KgwMark(ForeignMark):
    """The green lists of transformers (Kirchenbauer et al. 2023).

    Attributes:
        gamma: Share of the vocabulary that is green.
        seeding: ``lefthash`` or ``selfhash``.
        list_width: Rows of the generating model's output, of which green tokens are a share.
    """

    context_width: int = 1
    gamma: float = 0.25
    seeding: str = LEFT_HASH
    list_width: int


_DECODER: Final = Decoder()

FOREIGN: Final[dict[str, type[ForeignMark]]] = {
    "gumbel-max": GumbelMark,
    "synthid-text": SynthIdMark,
    "kgw": KgwMark,
}
"""Settings by the name of the scheme, as a profile names it."""
FOREIGN_NAMES: Final = {"gumbel-max": "Gumbel-max", "synthid-text": "SynthID-Text", "kgw": "KGW"}
"""What people call them, in every language."""
SETTINGS_FIELD: Final = "foreign"


def _whole(low: int, high: int) -> Callable[[object], Phrase | None]:
    def check(value: object) -> Phrase | None:
        if type(value) is not int:
            return phrase("what.not-whole")
        return None if low <= value <= high else phrase("what.between", low=low, high=high)

    return check


def _share(value: object) -> Phrase | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return phrase("what.not-number")
    inside = math.isfinite(value) and 0 < value < 1
    return None if inside else phrase("what.above-below", low="0", high="1")


def _share_or_none(value: object) -> Phrase | None:
    return None if value is None else _share(value)


def _seeding(value: object) -> Phrase | None:
    known = (LEFT_HASH, SELF_HASH)
    return None if value in known else phrase("what.one-of", known=", ".join(known))


def _sealed(value: object) -> Phrase | None:
    good = isinstance(value, str) and value.isascii() and 0 < len(value) <= MAX_SEALED
    return None if good else phrase("what.not-text")


_CHECKS: Final[dict[str, Callable[[object], Phrase | None]]] = {
    "sealed": _sealed,
    "context_width": _whole(1, MAX_WIDTH),
    "alpha": _share_or_none,
    "table_size": _whole(2, 1 << 20),
    "table_seed": _whole(0, (1 << 32) - 1),
    "gamma": _share,
    "seeding": _seeding,
    "list_width": _whole(2, 1 << 24),
}
