"""Marked texts with known payloads: read from a file, or made on the spot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.base.errors import GenerationError, InputError, PayloadError
from pura.base.files import read_start
from pura.measure.fitness.measure import FitnessSample
from pura.scheme import Payload, Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

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
    progress: Callable[[int, int], None] | None = None,
    checkpoint: Callable[[], None] | None = None,
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
