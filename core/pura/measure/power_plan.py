"""What a measurement of power is to do."""

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
"""Lower ends of the classes of usable positions that whole texts are cut to."""
THRESHOLDS: Final = (3.0, 4.0, 5.0, 6.0, 6.302, 6.603, 7.0, 8.0, 9.0, 12.0)
"""What counts as found, log10: thresholds of policies, and what several keys and readings take."""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What is done to the texts before they are read.

    Attributes:
        attack: Name in :data:`pura.measure.attacks.ATTACKS`.
        rate: How hard it hits, 0 … 1; None takes the attack's own default.
    """

    attack: str
    rate: float | None = None

    @property
    def name(self) -> str:
        """As a person asks for it."""
        return self.attack if self.rate is None else f"{self.attack}:{self.rate:g}"

    @property
    def params(self) -> dict[str, Any]:
        """What the attack is told."""
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
    """Return the attacks that a table can be measured with.

    Cutting is what its classes are, a text around a passage is what its documents are, and what a
    model writes anew hangs on that model.
    """
    others = ("truncate", "splice", "paste-spans")
    return sorted(a.name for a in ATTACKS.values() if a.name not in others and not a.rewrites)


@dataclass(frozen=True, kw_only=True)
class PowerPlan:
    """What is measured.

    Attributes:
        name: What the table is called.
        profile: What the texts are marked with; without a key, each text has its own.
        prompts: Each opens a text; taken in order, again from the first when there are too few.
        chat: The prompts go into the model's own chat template, and not into the profile's.
        texts: How many marked texts.
        learn: How many more, of which a likelihood table is learnt first; 0 takes the shipped one.
        tokens: Length of each, at most.
        passages: Lengths of the passages that are looked for in longer texts, in tokens.
        documents: Lengths of those texts, in tokens.
        edits: What is measured besides unedited texts.
        seed: Of everything that is drawn.
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
        for name, value, least, most in ranges:
            if not least <= value <= most:
                raise PolicyError("power.plan", name=name, least=least, most=most)

    @property
    def cases(self) -> tuple[tuple[int, int], ...]:
        """Each length of a longer text with each length of a passage in it, ascending."""
        return tuple((d, p) for d in sorted(self.documents) for p in sorted(self.passages))

    @property
    def classes(self) -> tuple[int, ...]:
        """Lower ends of the classes that texts of this length can reach."""
        return tuple(u for u in USABLE if u < self.tokens)

    def prompt(self, number: int) -> str:
        """Return what opens a text, spread over the list."""
        count = min(self.texts, len(self.prompts))
        return self.prompts[(number * len(self.prompts) // count) % len(self.prompts)]

    def cell(self, digest: str) -> Cell:
        """Return what every text's key, payload and random draws follow from.

        Args:
            digest: Of :meth:`digest`. Keys are made for the measurement and guard nothing.
        """
        return Cell(
            name=f"power/{digest}",
            code=self.profile.code,
            payload_bits=self.profile.payload_bits,
            texts=self.texts,
            tokens=self.tokens,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything that the texts and their readings follow from, as plain JSON."""
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
        """Return which measurement this is, 64 hex digits; half-done work is found again by it.

        Args:
            source: The model that writes.
        """
        what = [self.to_dict(), source.fingerprint, source.device.dtype, __version__]
        return sha256(canonical(what))


def prompts_digest(prompts: tuple[str, ...]) -> str:
    """Return the SHA-256 over prompts, 64 hex digits: tables name them without quoting them."""
    return sha256(canonical(list(prompts)))
