"""The plain sentence of a measurement of fitness."""

from __future__ import annotations

from typing import Final

from pura.lab.fitness.measure import ProxyFitness

_JUDGED: Final = {
    "good": "“{model}” is a good proxy for this profile",
    "usable": "“{model}” is a usable proxy for this profile; short or edited texts may be missed",
    "poor": "“{model}” is a poor proxy for this profile; most marked texts would be missed",
    "undecided": "Too few texts for a word about “{model}”",
}

_OWN: Final = (
    " The texts were made by this model itself: this says how well the profile works, not how "
    "good a proxy it is."
)


def plain_sentence(found: ProxyFitness) -> str:
    """Return what the measurement says, for people."""
    reached = sum(r.log10_e >= 6 for r in found.results)
    whole = sum(r.matched for r in found.results)
    count = len(found.results)
    made = "made here" if found.made_here else "handed over"
    own = _OWN if found.made_here and found.source is None else ""
    return (
        f"{_JUDGED[found.word].format(model=found.model)}: of {count} marked texts ({made}), "
        f"{reached} reached the evidence of a mark and {whole} gave their whole payload.{own}"
    )
