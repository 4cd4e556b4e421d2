"""Marks that other programs write: their public settings, as a profile holds them.

What is secret at the other program (a number, or a list of them) stands in the profile only sealed
under a key of ours (:mod:`pura.keys.sealed`), so it has the same custody as every key.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, Self, TypeAlias

from pura.base.catalogue import phrase
from pura.base.decoder import check, decode, matching, number, one_of, refused_as, whole
from pura.base.errors import ProfileError

MAX_WIDTH: Final = 64
MAX_SEALED: Final = 16 << 10
LEFT_HASH: Final = "lefthash"
SELF_HASH: Final = "selfhash"
_SEALED: Final = rf"[\x00-\x7f]{{1,{MAX_SEALED}}}"
ContextWidth: TypeAlias = Annotated[int, whole(1, MAX_WIDTH)]
Share: TypeAlias = Annotated[float, number(0.0, 1.0, "()")]


@dataclass(frozen=True, kw_only=True)
class ForeignMark:
    """What all have in common.

    Attributes:
        sealed: The other program's secret, sealed; base64.
        context_width: Tokens of a context.
    """

    sealed: Annotated[str, matching(_SEALED, phrase("what.not-text"))]
    context_width: ContextWidth

    def __post_init__(self) -> None:
        with refused_as(ProfileError, "profile", SETTINGS_FIELD):
            check(self)

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the settings from parsed JSON.

        Raises:
            ProfileError: Names the one that is missing, unknown, or of a wrong type or range.
        """
        with refused_as(ProfileError, "profile", SETTINGS_FIELD):
            return decode(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain JSON values, every one of them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, kw_only=True)
class GumbelMark(ForeignMark):
    """The Gumbel-max mark of vLLM, with the PRF ``philox4x32-10-v1``.

    Attributes:
        alpha: Share of the second of two derived keys (``dual_key_gumbel``); None: one key.
    """

    context_width: ContextWidth = 4
    alpha: Share | None = None


@dataclass(frozen=True, kw_only=True)
class SynthIdMark(ForeignMark):
    """SynthID-Text as its public code and transformers write it; the secret has a key a layer.

    Attributes:
        context_width: ``ngram_len - 1``.
        table_size: Entries of the table of coins.
        table_seed: From which the table is drawn.
    """

    context_width: ContextWidth = 4
    table_size: Annotated[int, whole(2, 1 << 20)] = 1 << 16
    table_seed: Annotated[int, whole(0, (1 << 32) - 1)] = 0


@dataclass(frozen=True, kw_only=True)
class KgwMark(ForeignMark):
    """The green lists of transformers (Kirchenbauer et al. 2023).

    Attributes:
        gamma: Share of the vocabulary that is green.
        seeding: ``lefthash`` or ``selfhash``.
        list_width: Rows of the generating model's output, of which green tokens are a share.
    """

    context_width: ContextWidth = 1
    gamma: Share = 0.25
    seeding: Annotated[str, one_of(LEFT_HASH, SELF_HASH)] = LEFT_HASH
    list_width: Annotated[int, whole(2, 1 << 24)]


FOREIGN: Final[dict[str, type[ForeignMark]]] = {
    "gumbel-max": GumbelMark,
    "synthid-text": SynthIdMark,
    "kgw": KgwMark,
}
"""Settings by the name of the scheme, as a profile names it."""
FOREIGN_NAMES: Final = {"gumbel-max": "Gumbel-max", "synthid-text": "SynthID-Text", "kgw": "KGW"}
"""What people call them, in every language."""
SETTINGS_FIELD: Final = "foreign"
