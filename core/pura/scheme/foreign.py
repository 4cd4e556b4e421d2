"""Marks that other programs write: their public settings, as a profile holds them.

What is secret at the other program (a number, or a list of them) stands in the profile only sealed
under a key of ours (:mod:`pura.keys.sealed`), so it has the same custody as every key.

A scheme more is a class here and a row of :data:`FOREIGN`, and what its key draws, in
:func:`pura.detect.local.third_party.draws_of`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Final, Self, TypeAlias

from pura.base.catalogue import phrase
from pura.base.decoder import check, decode, matching, number, one_of, refused_as, whole
from pura.base.errors import ProfileError

MAX_WIDTH: Final = 64
MAX_SEALED: Final = 16 << 10
LEFT_HASH: Final = "lefthash"
SELF_HASH: Final = "selfhash"
_SEALED: Final = rf"[\x00-\x7f]{{1,{MAX_SEALED}}}"
_HEX: Final = re.compile(r"(?:0[xX])?[0-9a-fA-F]{1,16}")
_USUAL_HASHING_KEY: Final = 15_485_863  # of transformers, where the settings name none
ContextWidth: TypeAlias = Annotated[int, whole(1, MAX_WIDTH)]
Share: TypeAlias = Annotated[float, number(0.0, 1.0, "()")]
Settings: TypeAlias = tuple[dict[str, Any], Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class ForeignMark:
    """What all have in common.

    Attributes:
        title: What people call the scheme, in every language.
        program: The program that writes it.
        key_range: The least number of a secret, and the one after the greatest.
        key_count: How many numbers a secret has at most.
        sharpened: The probabilities of a model sharpen the bets on it.
        sealed: The other program's secret, sealed; base64.
        context_width: Tokens of a context.
    """

    title: ClassVar[str]
    program: ClassVar[str] = "transformers"
    key_range: ClassVar[tuple[int, int]] = (0, 2**63)
    key_count: ClassVar[int] = 1
    sharpened: ClassVar[bool] = False

    sealed: Annotated[str, matching(_SEALED, phrase("what.not-text"))]
    context_width: ContextWidth

    @property
    def key_weights(self) -> tuple[float, ...]:
        """How often each of its keys chooses a token, where it draws uniform numbers."""
        return (1.0,)

    @property
    def chance(self) -> float:
        """How often a draw is a hit by chance, where it draws hits."""
        return 0.5

    @classmethod
    def read(cls, data: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read the settings as the program has them.

        Args:
            data: Parsed JSON.
            width: Rows of the generating model's output; None where that is not known yet.

        Returns:
            Settings that are no secret, by their names here, and the secret; None: of another
            scheme.
        """
        raise NotImplementedError

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
        alpha: How often the second of two derived keys chooses (``dual_key_gumbel``); None: one
            key.
    """

    title = "Gumbel-max"
    program = "vLLM"
    key_range = (0, 2**64)
    sharpened = True

    context_width: ContextWidth = 4
    alpha: Annotated[float, number(0.0, 1.0)] | None = None

    @property
    def key_weights(self) -> tuple[float, ...]:
        """One key, or two of which the second chooses a share of the tokens."""
        return (1.0,) if self.alpha is None else (1 - self.alpha, self.alpha)

    @classmethod
    def read(cls, data: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``--watermark-config``; ``alpha`` must stand in it, for its default has changed."""
        del width
        algorithm = data.get("algorithm", "gumbel")
        alpha = data.get("alpha") if algorithm == "dual_key_gumbel" else None
        if algorithm not in ("gumbel", "dual_key_gumbel") or type(data.get("key")) is not int:
            return None
        if data.get("prf", "philox") != "philox" or (algorithm != "gumbel" and alpha is None):
            return None
        return {"context_width": data.get("context_width", 4), "alpha": alpha}, [data["key"]]


@dataclass(frozen=True, kw_only=True)
class MurmurMark(ForeignMark):
    """The Gumbel-max mark of SGLang, whose numbers are MurmurHash3; the secret has one key or two.

    Attributes:
        mixing: How often the first of two keys chooses; means nothing where there is one.
    """

    title = "Gumbel-max MurmurHash3"
    program = "SGLang"
    key_range = (0, 2**64)
    key_count = 2
    sharpened = True

    context_width: ContextWidth = 4
    mixing: Share = 0.5

    @classmethod
    def read(cls, data: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``--watermark-config``: keys in hexadecimal; with two also how they are mixed."""
        del width
        keys = [data[name] for name in ("key", "key_b") if data.get(name) is not None]
        mixing = data.get("mixing_probability", cls.mixing if len(keys) < 2 else None)
        hexadecimal = all(isinstance(key, str) and _HEX.fullmatch(key) for key in keys)
        if data.get("key") is None or not hexadecimal or mixing is None:
            return None
        settings = {"context_width": data.get("context_window", 4), "mixing": mixing}
        return settings, [int(key, 16) for key in keys]


@dataclass(frozen=True, kw_only=True)
class SynthIdMark(ForeignMark):
    """SynthID-Text as its public code and transformers write it; the secret has a key a layer.

    Attributes:
        context_width: ``ngram_len - 1``.
        table_size: Entries of the table of coins.
        table_seed: From which the table is drawn.
    """

    title = "SynthID-Text"
    key_range = (-(2**63), 2**63)
    key_count = 256

    context_width: ContextWidth = 4
    table_size: Annotated[int, whole(2, 1 << 20)] = 1 << 16
    table_seed: Annotated[int, whole(0, (1 << 32) - 1)] = 0

    @classmethod
    def read(cls, data: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``SynthIDTextWatermarkingConfig``."""
        del width
        if not isinstance(data.get("keys"), list) or "ngram_len" not in data:
            return None
        length = data["ngram_len"]
        settings = {
            "context_width": length - 1 if type(length) is int else length,
            "table_size": data.get("sampling_table_size", 1 << 16),
            "table_seed": data.get("sampling_table_seed", 0),
        }
        return settings, data["keys"]


@dataclass(frozen=True, kw_only=True)
class KgwMark(ForeignMark):
    """The green lists of transformers (Kirchenbauer et al. 2023).

    Attributes:
        gamma: Share of the vocabulary that is green.
        seeding: ``lefthash`` or ``selfhash``.
        list_width: Rows of the generating model's output, of which green tokens are a share.
    """

    title = "KGW"

    context_width: ContextWidth = 1
    gamma: Share = 0.25
    seeding: Annotated[str, one_of(LEFT_HASH, SELF_HASH)] = LEFT_HASH
    list_width: Annotated[int, whole(2, 1 << 24)]

    @property
    def list_size(self) -> int:
        """How many tokens are green, of ``list_width``."""
        return int(self.list_width * self.gamma)

    @property
    def chance(self) -> float:
        """Share of the output's rows that is green."""
        return self.list_size / self.list_width

    @classmethod
    def read(cls, data: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``WatermarkingConfig``."""
        if not data.keys() & {"greenlist_ratio", "seeding_scheme"}:
            return None
        settings = {
            "context_width": data.get("context_width", 1),
            "gamma": data.get("greenlist_ratio", 0.25),
            "seeding": data.get("seeding_scheme", LEFT_HASH),
            "list_width": width,
        }
        return settings, [data.get("hashing_key", _USUAL_HASHING_KEY)]


FOREIGN: Final[dict[str, type[ForeignMark]]] = {
    "gumbel-max": GumbelMark,
    "gumbel-max-murmur3": MurmurMark,
    "synthid-text": SynthIdMark,
    "kgw": KgwMark,
}
"""Settings by the name of the scheme, as a profile names it."""
FOREIGN_NAMES: Final = {name: kind.title for name, kind in FOREIGN.items()}
"""What people call them, in every language."""
SETTINGS_FIELD: Final = "foreign"


@dataclass(frozen=True, kw_only=True)
class ForeignSettings:
    """What another program was started with.

    Attributes:
        scheme: As a profile names it.
        settings: Those of its :data:`FOREIGN` settings that are no secret.
        secret: Its numbers. Hazard: in the clear.
    """

    scheme: str
    settings: Mapping[str, Any]
    secret: Sequence[Any] = field(repr=False)

    @property
    def usable(self) -> bool:
        """The secret consists of as many numbers as it may, each within its range."""
        kind = FOREIGN[self.scheme]
        low, high = kind.key_range
        return 0 < len(self.secret) <= kind.key_count and all(
            type(one) is int and low <= one < high for one in self.secret
        )


def foreign_settings(data: object, width: int | None) -> ForeignSettings | None:
    """Read the settings of another program's mark, its secret included.

    Args:
        data: Parsed JSON, as the program has it; see the ``read`` of each scheme.
        width: Rows of the generating model's output; None where that is not known yet.

    Returns:
        The settings; None where they are of no scheme that is known here, or cannot be right.
    """
    if not isinstance(data, Mapping):
        return None
    for scheme, kind in FOREIGN.items():
        if (found := kind.read(data, width)) is not None:
            read = ForeignSettings(scheme=scheme, settings=found[0], secret=tuple(found[1]))
            return read if read.usable else None
    return None
