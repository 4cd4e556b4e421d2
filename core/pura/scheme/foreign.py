"""Third-party marks: the public settings of other programs' watermarks, as in a profile.

The secret of the other program (a number, or a list of numbers) is in the profile only sealed under
a key of this program (:mod:`pura.keys.sealed`), so that it is protected like every key.

To add a scheme, add a class here, a row of :data:`FOREIGN`, and the draws of its key in
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
_USUAL_HASHING_KEY: Final = 15_485_863  # default of transformers
ContextWidth: TypeAlias = Annotated[int, whole(1, MAX_WIDTH)]
Share: TypeAlias = Annotated[float, number(0.0, 1.0, "()")]
Settings: TypeAlias = tuple[dict[str, Any], Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class ForeignMark:
    """Base class of the settings of third-party marks.

    Attributes:
        title: Name of the scheme in every language.
        program: The program that writes it.
        key_range: Least number of a secret, and the one after the greatest.
        key_count: Greatest count of numbers in a secret.
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
        """Share of the tokens that each of its keys chooses, if it draws uniform numbers."""
        return (1.0,)

    @property
    def chance(self) -> float:
        """Probability that a draw is a hit by chance, if it draws hits."""
        return 0.5

    @classmethod
    def read(cls, configuration: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read the configuration of the other program.

        Args:
            configuration: Parsed JSON.
            width: Rows of the generating model's output; None if this is not known yet.

        Returns:
            The public settings by their names in a profile, and the secret; None if the
            configuration is of another scheme.
        """
        raise NotImplementedError

    def __post_init__(self) -> None:
        with refused_as(ProfileError, "profile", SETTINGS_FIELD):
            check(self)

    @classmethod
    def from_dict(cls, json_value: object) -> Self:
        """Read the settings from parsed JSON.

        Raises:
            ProfileError: Names the one that is missing, unknown, or of a wrong type or range.
        """
        with refused_as(ProfileError, "profile", SETTINGS_FIELD):
            return decode(cls, json_value)

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
    def read(cls, configuration: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``--watermark-config``; ``alpha`` is required, since its default has changed."""
        del width
        algorithm = configuration.get("algorithm", "gumbel")
        alpha = configuration.get("alpha") if algorithm == "dual_key_gumbel" else None
        if (
            algorithm not in ("gumbel", "dual_key_gumbel")
            or type(configuration.get("key")) is not int
        ):
            return None
        if configuration.get("prf", "philox") != "philox" or (
            algorithm != "gumbel" and alpha is None
        ):
            return None
        return {"context_width": configuration.get("context_width", 4), "alpha": alpha}, [
            configuration["key"]
        ]


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
    def read(cls, configuration: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``--watermark-config``: keys in hexadecimal; with two also how they are mixed."""
        del width
        keys = [
            configuration[name] for name in ("key", "key_b") if configuration.get(name) is not None
        ]
        mixing = configuration.get("mixing_probability", cls.mixing if len(keys) < 2 else None)
        hexadecimal = all(isinstance(key, str) and _HEX.fullmatch(key) for key in keys)
        if configuration.get("key") is None or not hexadecimal or mixing is None:
            return None
        settings = {"context_width": configuration.get("context_window", 4), "mixing": mixing}
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
    def read(cls, configuration: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``SynthIDTextWatermarkingConfig``."""
        del width
        if not isinstance(configuration.get("keys"), list) or "ngram_len" not in configuration:
            return None
        length = configuration["ngram_len"]
        settings = {
            "context_width": length - 1 if type(length) is int else length,
            "table_size": configuration.get("sampling_table_size", 1 << 16),
            "table_seed": configuration.get("sampling_table_seed", 0),
        }
        return settings, configuration["keys"]


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
        """Number of green tokens among ``list_width``."""
        return int(self.list_width * self.gamma)

    @property
    def chance(self) -> float:
        """Share of the output's rows that is green."""
        return self.list_size / self.list_width

    @classmethod
    def read(cls, configuration: Mapping[str, Any], width: int | None) -> Settings | None:
        """Read ``WatermarkingConfig``."""
        if not configuration.keys() & {"greenlist_ratio", "seeding_scheme"}:
            return None
        settings = {
            "context_width": configuration.get("context_width", 1),
            "gamma": configuration.get("greenlist_ratio", 0.25),
            "seeding": configuration.get("seeding_scheme", LEFT_HASH),
            "list_width": width,
        }
        return settings, [configuration.get("hashing_key", _USUAL_HASHING_KEY)]


FOREIGN: Final[dict[str, type[ForeignMark]]] = {
    "gumbel-max": GumbelMark,
    "gumbel-max-murmur3": MurmurMark,
    "synthid-text": SynthIdMark,
    "kgw": KgwMark,
}
"""Settings by the name of the scheme, as a profile names it."""
FOREIGN_NAMES: Final = {name: kind.title for name, kind in FOREIGN.items()}
"""Names of the schemes for people, in every language."""
SETTINGS_FIELD: Final = "foreign"


@dataclass(frozen=True, kw_only=True)
class ForeignSettings:
    """The configuration of another program's mark.

    Attributes:
        scheme: Name of the scheme in a profile.
        settings: Its public settings.
        secret: The numbers of its secret. Hazard: not encrypted.
    """

    scheme: str
    settings: Mapping[str, Any]
    secret: Sequence[Any] = field(repr=False)

    @property
    def usable(self) -> bool:
        """Whether the secret has an allowed count of numbers, each within its range."""
        kind = FOREIGN[self.scheme]
        low, high = kind.key_range
        return 0 < len(self.secret) <= kind.key_count and all(
            type(part) is int and low <= part < high for part in self.secret
        )


def foreign_settings(configuration: object, width: int | None) -> ForeignSettings | None:
    """Read the settings of another program's mark, its secret included.

    Args:
        configuration: Parsed JSON of the other program; see the ``read`` of each scheme.
        width: Rows of the generating model's output; None if this is not known yet.

    Returns:
        The settings; None if the scheme is unknown, or the secret cannot be right.
    """
    if not isinstance(configuration, Mapping):
        return None
    for scheme, kind in FOREIGN.items():
        if (configured := kind.read(configuration, width)) is not None:
            settings, secret = configured
            read = ForeignSettings(scheme=scheme, settings=settings, secret=tuple(secret))
            return read if read.usable else None
    return None
