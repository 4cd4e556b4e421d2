"""What a record says of each reading of its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pura.detect.key_reading import KeyReading, strongest
from pura.detect.restore.variants import Variant
from pura.detect.windows import Weights, readings_of_form
from pura.model.tokenise import Tokens
from pura.record.evidence import VariantFacts


def variant_facts(
    variants: Sequence[Variant],
    tokens: Sequence[Tokens],
    trials: Sequence[KeyReading],
    shown: KeyReading,
    weights: Weights,
    verdict: Callable[[float, KeyReading], str],
) -> tuple[VariantFacts, ...]:
    """Return what each reading says alone.

    The record's own text is left out where it is named a second time. A reading that was not begun,
    since reading stopped early or another one is likelier, has no usable position.

    Args:
        variants: The readings.
        tokens: Of each of them.
        trials: Every key on every reading, and the windows that were read again.
        shown: The trial that the record is about.
        weights: Of the trials.
        verdict: What the decision rule makes of a log10 e-value and a trial.
    """
    facts = []
    own = variants[shown.variant].in_record(variants[0].text)
    for number, (variant, found) in enumerate(zip(variants, tokens, strict=True)):
        mine = readings_of_form(number, trials)
        best = strongest(mine) if mine else None
        log10_e = weights.alone(number, trials) if mine else 0.0
        facts.append(
            variant.facts(
                found,
                shown=number == shown.variant,
                own=own,
                usable=0 if best is None else len(best.seen.schedule),
                log10_e=log10_e,
                verdict="insufficient" if best is None else verdict(log10_e, best),
            )
        )
    return tuple(facts)
