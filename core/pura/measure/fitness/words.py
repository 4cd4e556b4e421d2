"""The plain sentence of a measurement of fitness."""

from __future__ import annotations

from pura.base.catalogue import catalogue, phrase
from pura.measure.fitness.measure import ProxyFitness


def plain_sentence(found: ProxyFitness, language: str = "en") -> str:
    """Return what the measurement says, for people."""
    own = found.made_here and found.source is None
    return catalogue("command").fill(
        "fitness.sentence",
        language,
        {
            "judged": phrase(f"fitness.{found.word}", model=found.model),
            "count": len(found.results),
            "made": phrase("fitness.made" if found.made_here else "fitness.given"),
            "reached": sum(r.log10_e >= 6 for r in found.results),
            "whole": sum(r.matched for r in found.results),
            "own": phrase("fitness.own") if own else "",
        },
    )
