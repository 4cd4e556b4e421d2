"""The design of the study: combinations of cells, attacks and verifiers, in their order.

The most important combinations come first, so that an interrupted study has the most useful rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from pura.measure.corpora import CLEAN, LEARN, MAIN, PASSAGE, POWER

DROPPED: Final = (5, 10, 14, 18, 22, 26)
"""Layers that the mismatched proxy lacks, of 30."""
NOISE: Final = 0.1
"""Noise on the weights of the second proxy, relative to each matrix's spread."""

VERIFIERS: Final = {
    "blind": "same model, prompt unknown",
    "prompt": "same model, prompt known",
    "proxy": "proxy, prompt unknown",
    "proxy-prompt": "proxy, prompt known",
    "noise": "another proxy (noise on its weights), prompt unknown",
}
"""Verifiers by name; no parameter was learnt with the verifier ``noise``."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """An attack on the texts before they are read.

    Attributes:
        label: Description for people.
        attack: Name in the table of attacks.
        params: Parameters of the attack.
        via_text: Whether the verifier tokenises the text instead of getting the token ids.
    """

    label: str
    attack: str
    params: dict[str, Any] = field(default_factory=dict)
    via_text: bool = False


def _rate(label: str, attack: str, percent: int) -> Condition:
    return Condition(label=f"{label} {percent} %", attack=attack, params={"rate": percent / 100})


ATTACKED: Final[dict[str, Condition]] = {
    "clean": Condition(label="clean", attack="truncate", params={"tokens": 1 << 30}),
    "sub10": _rate("substitution", "substitute", 10),
    "plaus10": _rate("plausible substitution", "substitute-plausible", 10),
    "del10": _rate("deletion", "delete", 10),
    "ins10": _rate("insertion", "insert", 10),
    "sub20": _rate("substitution", "substitute", 20),
    "plaus20": _rate("plausible substitution", "substitute-plausible", 20),
    "shuffle": Condition(label="sentence shuffle", attack="sentence-shuffle"),
    "paste": Condition(
        label="copy-paste, 30 % foreign sentences", attack="copy-paste", params={"share": 0.3}
    ),
    "del20": _rate("deletion", "delete", 20),
    "ins20": _rate("insertion", "insert", 20),
    "clean-text": Condition(
        label="clean, tokenised anew", attack="truncate", params={"tokens": 1 << 30}, via_text=True
    ),
    "sub10-text": Condition(
        label="substitution 10 %, tokenised anew",
        attack="substitute",
        params={"rate": 0.1},
        via_text=True,
    ),
}

TRUNCATED: Final = {"first100": 100, "first60": 60}
"""Truncations in tokens; the reading of a prefix is the prefix of the reading."""


@dataclass(frozen=True, kw_only=True)
class ReadingJob:
    """One file of readings.

    Attributes:
        cell: Name of the cell.
        attack: Name of the condition.
        verifier: Name of the verifier.
        texts: Number of the cell's texts that are read; None for all.
    """

    cell: str
    attack: str
    verifier: str
    texts: int | None = None

    @property
    def attacked(self) -> str:
        """Name of the attacked texts in the cache."""
        return f"attacked.{self.cell}.{self.attack}"

    @property
    def reading(self) -> str:
        """Name of the readings in the cache."""
        return f"reading.{self.cell}.{self.attack}.{self.verifier}"


def jobs() -> list[ReadingJob]:
    """Return all readings of the study, the most important first."""
    learn = [
        ReadingJob(cell=LEARN.name, attack="clean", verifier=v, texts=n)
        for v, n in (("blind", None), ("proxy", None), ("prompt", 32), ("proxy-prompt", 32))
    ]
    names = list(ATTACKED)
    passage = [ReadingJob(cell=PASSAGE.name, attack="splice", verifier="blind")]
    clean = [ReadingJob(cell=cell.name, attack="clean", verifier="blind") for cell in CLEAN]
    return [
        *learn,
        *_main(names[:5], "blind"),
        *_main(names[:2], "proxy"),
        *_main(names[5:9], "blind"),
        *passage,
        *_main(names[2:9], "proxy"),
        *clean,
        *_main(names[:9], "prompt"),
        *_main(names[9:], "blind"),
        ReadingJob(cell=POWER.name, attack="clean", verifier="blind"),
        *_main(names[:2], "noise"),
        *(job for verifier in ("proxy", "prompt") for job in _main(names[9:11], verifier)),
    ]


def _main(attacks: list[str], verifier: str) -> list[ReadingJob]:
    return [
        ReadingJob(cell=cell.name, attack=attack, verifier=verifier)
        for attack in attacks
        for cell in MAIN
    ]
