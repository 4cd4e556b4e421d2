"""Keyed draws of the rival schemes: integers only, the same on every machine and device.

A context becomes a 64-bit seed by the keyed BLAKE2b of :meth:`pura.scheme.SecretKey.prf`, ids as
four bytes each, in their order; a seed becomes a word for every token by the mixing steps of
SplitMix64 (Steele, Lea and Flood 2014), with a counter per token. No generator of NumPy or torch
takes part, and no sum or product of ids, which other orders of the same tokens would share.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from pura.scheme import SecretKey
from pura.scheme.schedule import context_bytes

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

_LABEL: Final = b"pura-rivals"
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_WORD: Final = (1 << 64) - 1


def context_seed(key: SecretKey, context: npt.ArrayLike, purpose: bytes = b"") -> int:
    """Return the 64-bit seed of one context.

    Args:
        key: The secret key.
        context: Token ids, in their order.
        purpose: Keeps draws for different uses apart.
    """
    return key.prf(_LABEL, purpose + b"|" + context_bytes(np.asarray(context).tolist())) & _WORD


def context_seeds(key: SecretKey, contexts: I64, purpose: bytes = b"") -> U64:
    """Return the seeds of contexts [N, W]; uint64 [N]."""
    return np.array([context_seed(key, row, purpose) for row in contexts], dtype=np.uint64)


def mix(words: U64) -> U64:
    """Return the finished words of SplitMix64 for these states."""
    out = words ^ (words >> np.uint64(30))
    with np.errstate(over="ignore"):  # asked of single numbers only; modulo 2^64 is meant
        out *= _FIRST
        out ^= out >> np.uint64(27)
        out *= _SECOND
        out ^= out >> np.uint64(31)
    return out


def layer_seeds(seeds: npt.ArrayLike, layers: int) -> U64:
    """Return one seed a layer for each seed; uint64 [..., layers]."""
    start = np.asarray(seeds, dtype=np.uint64)[..., None]
    return mix(start ^ (np.arange(1, layers + 1, dtype=np.uint64) * _SECOND))


def words(seeds: npt.ArrayLike, ids: npt.ArrayLike) -> U64:
    """Return the word of each token under each seed, broadcast; uint64."""
    with np.errstate(over="ignore"):  # single numbers only are asked about; 2^64 is meant
        counter = (np.asarray(ids).astype(np.uint64) + np.uint64(1)) * _GOLDEN
        return mix(np.asarray(seeds, dtype=np.uint64) + counter)


def spare(seeds: npt.ArrayLike, number: int = 0) -> U64:
    """Return words that belong to no token, one for each seed; uint64 like the seeds."""
    return words(seeds, (1 << 40) + number)


def uniforms(drawn: U64) -> F64:
    """Map words to (0, 1): 53 bits and half a step, so that neither end is ever met."""
    return ((drawn >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def below(drawn: U64, count: int) -> I64:
    """Map words to 0 … count-1, uniform up to 2^-32 times ``count``."""
    return (((drawn >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)).astype(np.int64)
