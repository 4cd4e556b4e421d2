"""How good a proxy a model is for a profile: samples, measurement, intervals and a word."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from pura.base.catalogue import catalogue, phrase
from pura.base.errors import GenerationError, InputError, PayloadError
from pura.base.files import read_start
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.detect import key_reading
from pura.detect.fitness import check_fitness
from pura.measure.evaluate import student, wilson
from pura.scheme import Payload, Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


Word = Literal["good", "usable", "poor", "undecided"]
THRESHOLD: Final = 6.0  # log10 e from which the usual policy speaks of a mark
LEAST: Final = 8  # texts below which no word is given
RULE: Final = (
    "good: at least 90 % of the texts reach log10 e = 6, and at least 80 % give their whole "
    "payload; usable: at least 50 % reach log10 e = 6; poor: fewer. Below 8 texts: undecided."
)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A share, or a mean, with its 95 % interval.

    Attributes:
        value: The estimate.
        low: Lower end; None where one text alone tells nothing about the spread.
        high: Upper end, likewise.
    """

    value: float
    low: float | None
    high: float | None


def share(successes: int, trials: int) -> Estimate:
    """Return a share with its interval (Wilson 1927)."""
    low, high = wilson(successes, trials)
    return Estimate(value=successes / trials, low=low, high=high)


def mean(values: Sequence[float], low: float = -math.inf, high: float = math.inf) -> Estimate:
    """Return a mean with its interval (Student's t), cut to what is possible."""
    middle = float(np.mean(values))
    if len(values) < 2:
        return Estimate(value=middle, low=None, high=None)
    ends = student(values)
    return Estimate(value=middle, low=max(low, ends[0]), high=min(high, ends[1]))


def word_for(found: float, matched: float, texts: int) -> Word:
    """Return the word of :data:`RULE`.

    Args:
        found: Share of texts that reach the threshold.
        matched: Share of texts that give their whole payload.
        texts: How many there were.
    """
    if texts < LEAST:
        return "undecided"
    if found >= 0.9 and matched >= 0.8:
        return "good"
    return "usable" if found >= 0.5 else "poor"


Progress = Callable[[int, int], None]


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
    progress: Progress = not_counted,
    checkpoint: Checkpoint = never_cancelled,
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
    results, ids = [], []
    for number, sample in enumerate(samples):
        progress(number, len(samples))
        result, tokens = _one(model, sample, profile, key, checkpoint)
        results.append(result)
        ids.append(tokens)
    divergence = None
    if source is not None:
        divergence = _divergence(source, model, ids, checkpoint)
    progress(len(samples), len(samples))
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
    found = key_reading.decode(key_reading.KeyTrial(log10_weight=0.0), seen.ids, intervals, local)
    right = found.exact.payload.array == sample.payload.array
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
    from pura.model.evidence import divergence_bits

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


MAX_BYTES: Final = 64 << 20
MAX_SAMPLES: Final = 10_000
MAX_MADE: Final = 1000
# Openings of everyday kinds of text; each goes on differently in every run.
OPENINGS: Final = (
    "The meeting began with a short report on",
    "When the ship came back to the harbour,",
    "Before you plant the seeds, make sure that",
    "The council decided on Tuesday to",
    "My grandmother used to say that",
    "A good bridge has to carry more than",
    "In the second half of the season, the team",
    "The experiment was repeated because",
    "Travellers who come to the valley in winter",
    "To bake this bread you will need",
    "The old library at the end of the street",
    "Most people who start a new language",
)


def read_samples(path: Path) -> tuple[FitnessSample, ...]:
    """Read a JSON Lines file: one object a line with ``text`` and ``payload`` (digits 0 and 1).

    Raises:
        InputError: Not readable, too large, or a line that does not fit; its number is named.
    """
    data = read_start(path, MAX_BYTES, InputError)
    lines = [line for line in data.splitlines() if line.strip()]
    if len(data) > MAX_BYTES or len(lines) > MAX_SAMPLES:
        raise InputError("fitness.make", texts=len(lines), most=MAX_SAMPLES)
    return tuple(_sample(line, number) for number, line in enumerate(lines, start=1))


def _sample(line: bytes, number: int) -> FitnessSample:
    try:
        entry = json.loads(line)
        if not isinstance(entry, dict):
            raise TypeError
        text, payload = entry["text"], entry["payload"]
        if not isinstance(text, str) or not isinstance(payload, str) or not text.strip():
            raise TypeError
        return FitnessSample(text=text, payload=Payload(text=payload))
    except (ValueError, TypeError, KeyError, RecursionError, PayloadError):
        raise InputError("fitness.sample", number=number) from None


def make_samples(
    source: LanguageModel,
    profile: Profile,
    key: SecretKey,
    *,
    texts: int,
    tokens: int = 200,
    seed: int = 1,
    progress: Callable[[int, int], None] = not_counted,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[FitnessSample, ...]:
    """Make marked texts with a model, each with a payload of its own.

    Args:
        source: The generating model.
        profile: What they are marked with.
        key: The key. Hazard: a secret.
        texts: How many.
        tokens: Length of each; a shorter one where the model's context is.
        seed: Of openings, payloads and sampling.
        progress: Gets tokens done and tokens in all.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        GenerationError: Too many texts, or a model that is too small for them.
        ProfileError: The profile does not fit the model or the key.
    """
    from pura.embed.generate import generate_batch

    if not 1 <= texts <= MAX_MADE:
        raise GenerationError("fitness.make", texts=texts, most=MAX_MADE)
    rng = np.random.default_rng(seed)
    payloads = [Payload.from_bits(rng.integers(0, 2, profile.payload_bits)) for _ in range(texts)]
    openings = [OPENINGS[n % len(OPENINGS)] for n in range(texts)]
    made = generate_batch(
        source,
        openings,
        payloads,
        key,
        profile,
        tokens=tokens,
        batch_size=4,
        seed=[int(s) for s in rng.integers(1 << 31, size=texts)],
        ignore_eos=True,
        progress=progress,
        checkpoint=checkpoint,
    )
    return tuple(
        FitnessSample(text=one.text, payload=payload)
        for one, payload in zip(made, payloads, strict=True)
    )
