"""The prompts that may have stood before a text: one that is known, or several candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pura.base.errors import InputError
from pura.detect.decode.significance import combine
from pura.detect.key_reading import KeyReading
from pura.detect.restore.variants import Variant
from pura.record.evidence import PromptReading
from pura.record.surroundings import PromptFacts
from pura.scheme import Profile

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


MAX_CANDIDATES: Final = 200
MAX_PROMPT_CHARACTERS: Final = 200_000


@dataclass(frozen=True, kw_only=True)
class PromptCandidate:
    """What a reading begins with.

    Attributes:
        variant: Which reading of the text.
        ids: Tokens before the text.
        candidate: Which of the given prompts; None where none of them stands there.
    """

    variant: int
    ids: tuple[int, ...]
    candidate: int | None


def openings_of(
    model: LanguageModel, profile: Profile, prompts: Sequence[str], variants: Sequence[Variant]
) -> tuple[PromptCandidate, ...]:
    """Fix which readings are tried: each variant, and each candidate prompt.

    Args:
        model: Whose tokenizer.
        profile: May hold a template and a system prompt.
        prompts: All different; none, one that is known, or several candidates.
        variants: The readings of the text, as found first.

    Raises:
        InputError: Too many candidates, or one that is too long.
    """
    from pura.model.tokenise import beginning_ids

    if len(prompts) > MAX_CANDIDATES:
        raise InputError(
            "audit.prompts-many",
            count=len(prompts),
            most=MAX_CANDIDATES,
            code="prompts-many",
        )
    for prompt in prompts:
        if len(prompt) > MAX_PROMPT_CHARACTERS:
            raise InputError(
                "audit.prompt-long",
                count=len(prompt),
                most=MAX_PROMPT_CHARACTERS,
                code="prompt-long",
            )
    given = [beginning_ids(model.tokenizer, profile, prompt) for prompt in prompts]
    read = [number for number, variant in enumerate(variants) if variant.read]
    if len(given) == 1:
        return tuple(PromptCandidate(variant=i, ids=given[0], candidate=0) for i in read)
    usual = beginning_ids(model.tokenizer, profile, "")
    alone = [PromptCandidate(variant=i, ids=usual, candidate=None) for i in read]
    return (
        *alone,
        *(PromptCandidate(variant=read[0], ids=ids, candidate=i) for i, ids in enumerate(given)),
    )


def prompt_facts(prompts: Sequence[str], shown: PromptCandidate | None = None) -> PromptFacts:
    """Return whether the prompt was known; it is named by its hash, never quoted.

    Args:
        prompts: All that were given.
        shown: What the shown reading begins with; None where nothing was read.
    """
    if shown is None and len(prompts) == 1:
        shown = PromptCandidate(variant=0, ids=(), candidate=0)
    if shown is None or shown.candidate is None:
        return PromptFacts()
    digest = _digest(prompts[shown.candidate])
    return PromptFacts(known=True, sha256=digest, tokens=len(shown.ids))


def prompt_readings(
    prompts: Sequence[str],
    openings: Sequence[PromptCandidate],
    trials: Sequence[KeyReading],
    shown: KeyReading,
) -> tuple[PromptReading, ...]:
    """Return what the text says after each of several candidates; nothing for one prompt or none.

    Args:
        prompts: The candidates.
        openings: Of all readings.
        trials: Every key on every reading.
        shown: The trial that the record is about.
    """
    if len(prompts) < 2:
        return ()
    found: dict[int, list[float]] = {}
    for trial in trials:
        found.setdefault(trial.reading, []).append(trial.exact.log10_e)
    return tuple(
        PromptReading(
            number=opening.candidate + 1,
            sha256=_digest(prompts[opening.candidate]),
            tokens=len(opening.ids),
            log10_e=combine(found[number]) if number in found else None,
            shown=number == shown.reading,
        )
        for number, opening in enumerate(openings)
        if opening.candidate is not None
    )


def _digest(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()
