"""How good a proxy a model is for a profile: measured on marked texts whose payload is known.

A verifier need not have the generating model; whether another one with the same tokenizer will do
is measured here, on texts that were handed over with their payloads or on texts made on the spot.
The rule behind the word at the end is printed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pura.audit import key_reading
from pura.audit.fitness import check_fitness
from pura.base.errors import InputError
from pura.measure.fitness.statistics import RULE, THRESHOLD, Estimate, Word, mean, share, word_for
from pura.scheme import Payload, Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

Progress = Callable[[int, int], None]
Checkpoint = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class FitnessSample:
    """A marked text whose payload is known.

    Attributes:
        text: The text.
        payload: What was put in.
    """

    text: str
    payload: Payload


@dataclass(frozen=True, kw_only=True)
class TextResult:
    """How one text came out.

    Attributes:
        tokens: Of the text.
        usable: Steps that carry bits.
        log10_e: The evidence.
        matched: The whole payload was found.
        bits_right: Share of payload bits that were found.
    """

    tokens: int
    usable: int
    log10_e: float
    matched: bool
    bits_right: float


@dataclass(frozen=True, kw_only=True)
class ProxyFitness:
    """How good a proxy a model is.

    Attributes:
        model: Its name.
        model_fingerprint: Of its weights.
        profile: Fingerprint of the profile.
        dtype: Number format that it computed in.
        made_here: The texts were made on the spot.
        results: One for each text.
        found: Share of texts whose evidence reaches what the usual policy calls a mark.
        matched: Share of texts whose whole payload was found.
        evidence: Mean ``log10 e`` a text.
        evidence_per_100: The same for every hundred tokens.
        bits_right: Mean share of payload bits that were found.
        kl_bits: Mean divergence from the source in bits a token, or None without the source.
        source: Name of the source, or None.
        word: ``good``, ``usable``, ``poor``, or ``undecided`` for want of texts.
        rule: How the word follows from the numbers.
    """

    model: str
    model_fingerprint: str
    profile: str
    dtype: str
    made_here: bool
    results: tuple[TextResult, ...]
    found: Estimate
    matched: Estimate
    evidence: Estimate
    evidence_per_100: Estimate
    bits_right: Estimate
    kl_bits: Estimate | None
    source: str | None
    word: Word
    rule: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def measure(
    model: LanguageModel,
    samples: Sequence[FitnessSample],
    profile: Profile,
    key: SecretKey,
    *,
    source: LanguageModel | None = None,
    made_here: bool = False,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> ProxyFitness:
    """Measure a model on marked texts.

    Args:
        model: The model that would verify.
        samples: Marked texts with their payloads.
        profile: What they were marked with.
        key: The key that they were marked with. Hazard: a secret.
        source: The generating model, where it is here; for the divergence.
        made_here: The samples were made for this measurement.
        progress: Gets texts done and texts in all.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        ProfileError: Profile, tokenizer and key do not belong together.
        InputError: No samples, or a payload of another length.
    """
    _check_samples(samples, profile)
    for one in (model, source):
        if one is not None:
            check_fitness(one, profile, [key])
    check, say = checkpoint or (lambda: None), progress or (lambda _d, _t: None)
    results, ids = [], []
    for number, sample in enumerate(samples):
        say(number, len(samples))
        result, tokens = _one(model, sample, profile, key, check)
        results.append(result)
        ids.append(tokens)
    divergence = None
    if source is not None:
        divergence = _divergence(source, model, ids, check)
    say(len(samples), len(samples))
    return _summary(
        results,
        model=model,
        profile=profile,
        divergence=divergence,
        made_here=made_here,
        source=source.name if source else None,
    )


def _check_samples(samples: Sequence[FitnessSample], profile: Profile) -> None:
    if not samples:
        raise InputError("fitness.no-texts")
    for number, sample in enumerate(samples, start=1):
        if len(sample.payload) != profile.payload_bits:
            raise InputError(
                "fitness.payload",
                number=number,
                count=len(sample.payload),
                payload_bits=profile.payload_bits,
            )


def _one(
    model: LanguageModel, sample: FitnessSample, profile: Profile, key: SecretKey, check: Checkpoint
) -> tuple[TextResult, np.ndarray[Any, Any]]:
    from pura.model.evidence import read
    from pura.model.tokenise import tokenise

    ids = tokenise(model.tokenizer, sample.text).ids
    seen = read(model, ids, keys=[key], profile=profile, checkpoint=check)
    intervals = key_reading.intervals_of(seen, 0, key, profile, check)
    local = key_reading.weigh(intervals)
    found = key_reading.decode(key_reading.Tried(log10_weight=0.0), seen.ids, intervals, local)
    right = found.exact.payload.bits == sample.payload.bits
    return TextResult(
        tokens=len(ids),
        usable=found.exact.usable,
        log10_e=found.exact.log10_e,
        matched=bool(right.all()),
        bits_right=float(right.mean()),
    ), ids


def _divergence(
    source: LanguageModel, model: LanguageModel, ids: Sequence[Any], check: Checkpoint
) -> list[float]:
    """Return the mean divergence of every text; tokens of one text are not independent."""
    from pura.model.divergence import divergence_bits

    limit = min(source.context_length, model.context_length)
    parts = [divergence_bits(source, model, [one[:limit]], check) for one in ids if len(one) > 1]
    return [float(part.mean()) for part in parts]


def _summary(
    results: Sequence[TextResult],
    *,
    model: LanguageModel,
    profile: Profile,
    divergence: Sequence[float] | None,
    made_here: bool,
    source: str | None,
) -> ProxyFitness:
    found = share(sum(r.log10_e >= THRESHOLD for r in results), len(results))
    matched = share(sum(r.matched for r in results), len(results))
    return ProxyFitness(
        model=model.name,
        model_fingerprint=model.fingerprint,
        profile=profile.fingerprint,
        dtype=model.device.dtype,
        made_here=made_here,
        results=tuple(results),
        found=found,
        matched=matched,
        evidence=mean([r.log10_e for r in results]),
        evidence_per_100=mean([100 * r.log10_e / max(1, r.tokens) for r in results]),
        bits_right=mean([r.bits_right for r in results], 0.0, 1.0),
        kl_bits=mean(divergence, 0.0) if divergence else None,
        source=source,
        word=word_for(found.value, matched.value, len(results)),
        rule=RULE,
    )
