"""The plan of a power measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pura.base.errors import PolicyError
from pura.base.json_text import canonical, sha256
from pura.detect.verdict.power import MAX_NAME
from pura.measure import LEARNT, TEXTS, TOKENS
from pura.measure.attacks.table import ATTACKS
from pura.measure.corpora import STUDY, Cell
from pura.scheme import Profile
from pura.version import __version__

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


MAX_DOCUMENT: Final = 100_000
USABLE: Final = (
    *(5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120, 150, 200, 250, 300),
    *(400, 500, 700, 1000, 1500, 2000, 3000),
)
"""Lower ends of the classes of usable positions to which complete texts are cut."""
THRESHOLDS: Final = (3.0, 4.0, 5.0, 6.0, 6.302, 6.603, 7.0, 8.0, 9.0, 12.0)
"""Thresholds of detection, log10: those of policies, also with several keys and readings."""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """An edit of the texts before they are read.

    Attributes:
        attack: Name in :data:`pura.measure.attacks.ATTACKS`.
        rate: Strength, 0 … 1; None takes the default of the attack.
    """

    attack: str
    rate: float | None = None

    @property
    def name(self) -> str:
        """Name and rate, in the form of :func:`parse_edit`."""
        return self.attack if self.rate is None else f"{self.attack}:{self.rate:g}"

    @property
    def params(self) -> dict[str, Any]:
        """Keyword arguments for the attack."""
        if self.rate is None:
            return {}
        return {ATTACKS[self.attack].strength: self.rate}


def parse_edit(text: str) -> Edit:
    """Read an edit: a name, or a name and a rate with a colon between them.

    Raises:
        PolicyError: There is no such edit.
    """
    name, colon, number = text.strip().partition(":")
    attack = ATTACKS.get(name)
    try:
        rate = float(number) if colon else None
    except ValueError:
        rate = math.nan
    usual = _usual()
    if name not in usual or (
        rate is not None and not (attack and attack.strength and 0 < rate < 1)
    ):
        raise PolicyError(
            "choice.unknown", name=text[:40], known=", ".join((*usual, "substitute:0.1"))
        )
    return Edit(attack=name, rate=rate)


def _usual() -> list[str]:
    """Return the attacks that a table can measure.

    Cutting is covered by the classes, surrounding text by the documents, and rewriting depends on
    the model that rewrites.
    """
    excluded = ("truncate", "splice", "paste-spans")
    return sorted(a.name for a in ATTACKS.values() if a.name not in excluded and not a.rewrites)


@dataclass(frozen=True, kw_only=True)
class PowerPlan:
    """The settings of a power measurement.

    Attributes:
        name: Name of the table.
        profile: Profile with which the texts are marked; without a key, each text has its own.
        prompts: Prompts of the texts, in order; repeated if there are too few.
        chat: Whether prompts use the model's own chat template instead of the profile's.
        texts: Number of marked texts.
        learn: Number of further texts from which a likelihood table is learnt first; 0 takes the
            shipped table.
        tokens: Largest length of each text, in tokens.
        passages: Lengths of the passages in longer texts, in tokens.
        documents: Lengths of these texts, in tokens.
        edits: Edits that are measured in addition to unedited texts.
        seed: Seed of all random draws.
    """

    name: str
    profile: Profile
    prompts: tuple[str, ...] = STUDY
    chat: bool = False
    texts: int = TEXTS.usual
    learn: int = LEARNT.usual
    tokens: int = TOKENS.usual
    passages: tuple[int, ...] = ()
    documents: tuple[int, ...] = ()
    edits: tuple[Edit, ...] = ()
    seed: int = 1

    def __post_init__(self) -> None:
        ranges = (
            ("name", len(self.name), 1, MAX_NAME),
            ("texts", self.texts, *TEXTS[:2]),
            ("learn", self.learn, *LEARNT[:2]),
            ("tokens", self.tokens, *TOKENS[:2]),
            *(("passages", p, TOKENS.least, self.tokens) for p in self.passages),
            *(("documents", d, self.tokens + 1, MAX_DOCUMENT) for d in self.documents),
        )
        for name, value, lowest, highest in ranges:
            if not lowest <= value <= highest:
                raise PolicyError("power.plan", name=name, least=lowest, most=highest)

    @property
    def cases(self) -> tuple[tuple[int, int], ...]:
        """All pairs of the length of a longer text and of a passage in it, ascending."""
        return tuple((d, p) for d in sorted(self.documents) for p in sorted(self.passages))

    @property
    def classes(self) -> tuple[int, ...]:
        """Lower ends of the classes that texts of this length can reach."""
        return tuple(u for u in USABLE if u < self.tokens)

    def prompt(self, number: int) -> str:
        """Return the prompt of a text, spread over the list."""
        count = min(self.texts, len(self.prompts))
        return self.prompts[(number * len(self.prompts) // count) % len(self.prompts)]

    def cell(self, digest: str) -> Cell:
        """Return the cell that determines key, payload and random draws of every text.

        Args:
            digest: From :meth:`digest`. The keys are made for the measurement and are not secret.
        """
        return Cell(
            name=f"power/{digest}",
            code=self.profile.code,
            payload_bits=self.profile.payload_bits,
            texts=self.texts,
            tokens=self.tokens,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that determine texts and readings, as JSON."""
        return {
            "profile": self.profile.fingerprint,
            "prompts": prompts_digest(self.prompts),
            "chat": self.chat,
            "texts": self.texts,
            **({"learn": self.learn} if self.learn else {}),
            "tokens": self.tokens,
            "passages": sorted(self.passages),
            "documents": sorted(self.documents),
            "edits": [edit.name for edit in self.edits],
            "seed": self.seed,
        }

    def digest(self, source: LanguageModel) -> str:
        """Return the identifier of the measurement, 64 hex digits, by which it can be resumed.

        Args:
            source: The writing model.
        """
        parts = [self.to_dict(), source.fingerprint, source.device.dtype, __version__]
        return sha256(canonical(parts))


def prompts_digest(prompts: tuple[str, ...]) -> str:
    """Return the SHA-256 over prompts, 64 hex digits, by which tables identify them."""
    return sha256(canonical(list(prompts)))
