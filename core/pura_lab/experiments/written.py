"""Texts that a model really wrote with a mark: for what is asked of their quality.

A mark laid afterwards (:mod:`pura_lab.afterwards`) leaves the text as it is, so it cannot tell
whether marked texts look otherwise. These are written token by token, many side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from pura.base.progress import Checkpoint
from pura.embed.prompts import prompt_ids
from pura.measure.corpora import DOMAINS, prompts_of
from pura.scheme import Payload, Profile, SecretKey
from pura_lab.compare.methods import METHODS
from pura_lab.compare.sources import ModelSource, bench_of

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

I64 = npt.NDArray[np.int64]

PLAIN: Final = ("plain", "plain-again")
"""Two independent samples without a mark."""
OURS: Final = ("pura", "pura-keys")
"""All texts under one key, as an organisation writes them; and each under a key of its own."""
BITS: Final = 36


def prompts() -> tuple[str, ...]:
    """Return what opens the texts, of all three kinds; no two numbers below 500 share one."""
    return tuple(p for domain in DOMAINS for p in prompts_of(domain))


@dataclass(frozen=True, kw_only=True, eq=False)
class Written:
    """What a model wrote.

    Attributes:
        ids: int64 [L].
        prompt_ids: What stood before it.
    """

    ids: I64
    prompt_ids: list[int]


def write_texts(
    model: LanguageModel,
    mark: str,
    numbers: Sequence[int],
    *,
    tokens: int,
    seed: int,
    checkpoint: Checkpoint,
) -> list[Written]:
    """Write texts at temperature 1, each of them ``tokens`` long.

    Args:
        model: Writes.
        mark: One of :data:`PLAIN` or :data:`OURS`, or a scheme of ``pura lab compare``, which
            gets one key for all texts. Every text has a payload of its own.
        numbers: Of the texts; a number has the same prompt under every mark.
        tokens: Length of each.
        seed: Of keys, payloads and dice.
        checkpoint: Called before every step; may raise.
    """

    def digest(what: str, number: int) -> bytes:
        return blake2b(f"{seed}/{mark}/{what}/{number}".encode(), digest_size=32).digest()

    def dice(what: str, number: int) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(digest(what, number), "little"))

    def payload(number: int) -> Payload:
        return Payload.from_bits(dice("payload", number).integers(0, 2, BITS))

    source = ModelSource(model, prompts())
    starts = [prompt_ids(model, source.prompt(n)) for n in numbers]
    if mark in METHODS:
        make = METHODS[mark].make
        assert make is not None
        scheme = make(bench_of(model, source), SecretKey(digest("key", 0)), BITS)
        rows = [scheme.start(payload(n), dice("dice", n)) for n in numbers]
        source.begin(numbers)
        last: I64 | None = None
        for _ in range(tokens):
            checkpoint()
            laws = source.rows(last)
            last = np.array([scheme.embed(row, law) for row, law in zip(rows, laws, strict=True)])
        texts = [np.array(row.tokens, dtype=np.int64) for row in rows]
        return _written(texts, starts)
    from pura.embed.generate import generate_batch

    marked = mark in OURS
    keys = [SecretKey(digest("key", n if mark == "pura-keys" else 0)) for n in numbers]
    made = generate_batch(
        model,
        starts,
        [payload(n) if marked else None for n in numbers],
        list(keys) if marked else None,
        Profile(payload_bits=BITS, code="tbcc", vocab_size=model.vocab_size),
        tokens=tokens,
        seed=[int(dice("dice", n).integers(1 << 62)) for n in numbers],
        ignore_eos=True,
        batch_size=len(numbers),
        checkpoint=checkpoint,
    )
    return _written([m.ids for m in made], starts)


def _written(texts: Sequence[I64], starts: Sequence[list[int]]) -> list[Written]:
    return [Written(ids=i, prompt_ids=s) for i, s in zip(texts, starts, strict=True)]
