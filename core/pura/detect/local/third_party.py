"""What the keys of marks by others draw for the tokens of a text; tokens and key, no model.

Each context is counted once, so that the draws of a text written without the key are independent
(evidence.md, "Marks by others"). The draws are those of the programs that write the marks,
bit by bit: vLLM's Philox, SGLang's MurmurHash3 and, where torch runs on a processor, its Mersenne
Twister.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pura.scheme import I64, U8
from pura.scheme.foreign import (
    SELF_HASH,
    ForeignMark,
    GumbelMark,
    KgwMark,
    MurmurMark,
    SynthIdMark,
)

U64 = npt.NDArray[np.uint64]
I8 = npt.NDArray[np.int8]

REPEATED: Final = -1
"""A coin that another token of the text has drawn already."""

_WORD: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
# Philox4x32-10 (Salmon et al. 2011), and how vLLM keeps contexts and tokens apart.
_MULTIPLY: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_BUMP: Final = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
_ROUNDS: Final = 10
_OF_CONTEXTS: Final = 0x574D4358
_OF_TOKENS: Final = 0x574D544B
# MurmurHash3_x86_32 (Appleby, public domain).
_SCRAMBLE: Final = (np.uint64(0xCC9E2D51), np.uint64(0x1B873593))
_STEP: Final = (np.uint64(5), np.uint64(0xE6546B64))
_FINISH: Final = ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1))
_SELF_HASH_TABLE: Final = 1_000_003


Draws: TypeAlias = tuple[I64, npt.NDArray[Any]]
"""What a key draws for the tokens that count: int64 [N], their places, ascending; and [N, M],
uniform numbers of M keys (float64), coins of M layers (int8, or :data:`REPEATED`), or whether the
token is green (bool, M = 1)."""


def draws_of(mark: ForeignMark, secret: Sequence[int], ids: I64) -> Draws:
    """Return what a mark's key draws for a text.

    Args:
        mark: Its settings.
        secret: The other program's key: one number, or two, or for SynthID-Text one a layer.
        ids: int64 [L].
    """
    match mark:
        case GumbelMark():
            return gumbel_draws(mark, secret[0], ids)
        case MurmurMark():
            return murmur_draws(mark, secret, ids)
        case SynthIdMark():
            return synthid_draws(mark, secret, ids)
        case KgwMark():
            return kgw_draws(mark, secret[0], ids)
    raise TypeError(type(mark).__name__)


def first_contexts(ids: I64, window: int) -> tuple[I64, I64]:
    """Return where a context stands for the first time: each is counted once.

    Args:
        ids: int64 [L].
        window: ``W``, tokens of a context; the first ``W`` tokens have none.

    Returns:
        ``(token, contexts)``: int64 [N], ascending indices of the tokens that follow a new
        context, and int64 [N, W], what stands before each.
    """
    if ids.size <= window:
        return np.zeros(0, dtype=np.int64), np.zeros((0, window), dtype=np.int64)
    if window == 0:
        return np.arange(ids.size), np.zeros((ids.size, 0), dtype=np.int64)
    contexts = np.lib.stride_tricks.sliding_window_view(ids[:-1], window)
    _, first = np.unique(contexts, axis=0, return_index=True)
    first = np.sort(first).astype(np.int64)
    return first + window, contexts[first]


def gumbel_draws(mark: GumbelMark, key: int, ids: I64) -> Draws:
    """Return the number of each token that follows a new context; with two keys both of it."""
    token, contexts = first_contexts(ids, mark.context_width)
    keys = [key] if mark.alpha is None else [_derived(key, b"key_a"), _derived(key, b"key_b")]
    columns = [philox(one, contexts, ids[token]) for one in keys]
    # The top 24 bits, as vLLM takes them; the middle of their interval.
    numbers = ((np.stack(columns, axis=1) >> np.uint64(8)).astype(np.float64) + 0.5) * 2.0**-24
    return token, numbers


def _derived(key: int, which: bytes) -> int:
    return int.from_bytes(hashlib.sha256(which + key.to_bytes(8, "big")).digest()[:8], "big")


def philox(key: int, contexts: I64, ids: I64) -> U64:
    """Return the 32-bit word of each token after its context, as vLLM's ``philox`` draws it.

    Args:
        key: Below 2^64.
        contexts: int64 [N, W].
        ids: int64 [N].
    """
    count, width = contexts.shape
    low, high = np.uint64(key) & _WORD, np.uint64(key) >> _HALF
    state = [np.full(count, word, dtype=np.uint64) for word in (_OF_CONTEXTS, width, 0, 0)]
    padded = np.empty((count, -(-width // 4) * 4), dtype=np.uint64)
    padded[:, :width] = contexts.astype(np.uint64) & _WORD
    for column in range(width, padded.shape[1]):
        padded[:, column] = _WORD - np.uint64(column % 4)
    for block in range(0, padded.shape[1], 4):
        counter = [state[i] ^ padded[:, block + i] for i in range(4)]
        state = _philox_block(counter, low ^ np.uint64(block), high)
    tokens = ids.astype(np.uint64) & _WORD
    words = _philox_block(
        [tokens >> np.uint64(2), *state[:3]], low ^ state[3], high ^ np.uint64(_OF_TOKENS)
    )
    return np.choose((tokens & np.uint64(3)).astype(np.int64), words)


def _philox_block(counter: list[U64], low: Any, high: Any) -> list[U64]:
    a, b, c, d = counter
    for turn in range(_ROUNDS):
        first, second = a * _MULTIPLY[0], c * _MULTIPLY[1]  # 32 by 32 bits: no overflow
        a, b, c, d = (
            (second >> _HALF) ^ b ^ low,
            second & _WORD,
            (first >> _HALF) ^ d ^ high,
            first & _WORD,
        )
        if turn < _ROUNDS - 1:
            low, high = (low + _BUMP[0]) & _WORD, (high + _BUMP[1]) & _WORD
    return [a, b, c, d]


def murmur_draws(mark: MurmurMark, secret: Sequence[int], ids: I64) -> Draws:
    """Return the number that SGLang gives each token after a new context, by the key chosen there.

    Args:
        mark: Its settings.
        secret: One key, or two of which the context chooses one.
        ids: int64 [L].
    """
    token, contexts = first_contexts(ids, mark.context_width)
    hashed = murmur3(list(contexts.T))
    # Contexts of one hash share their numbers, so of those each is counted once.
    _, first = np.unique(hashed, return_index=True)
    first = np.sort(first)
    token, hashed = token[first], hashed[first]
    halves = [(np.uint64(key) & _WORD, np.uint64(key) >> _HALF) for key in secret[:2]]
    chosen: Sequence[Any] = halves[0]
    if len(halves) > 1:
        coin = murmur3([*halves[0], *halves[1], hashed])
        is_first = coin < np.uint64(int(mark.mixing * 2**32))
        chosen = [np.where(is_first, *half) for half in zip(*halves, strict=True)]
    words = murmur3([*chosen, hashed, ids[token]])
    return token, ((words.astype(np.float64) + 0.5) * 2.0**-32)[:, None]


def murmur3(words: Sequence[Any]) -> U64:
    """Return MurmurHash3_x86_32, seed 0, of sequences of 32-bit words.

    Args:
        words: Each a whole number below 2^32, or an array of them; together they broadcast.
    """
    state: Any = np.uint64(0)
    for word in words:
        scrambled = _rotated(np.asarray(word, dtype=np.uint64) * _SCRAMBLE[0] & _WORD, 15)
        state = _rotated(state ^ (scrambled * _SCRAMBLE[1] & _WORD), 13)
        state = (state * _STEP[0] + _STEP[1]) & _WORD
    state = state ^ np.uint64(4 * len(words))
    for shift, factor in _FINISH:
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor) & _WORD
    return np.asarray(state, dtype=np.uint64)


def _rotated(word: Any, left: int) -> Any:
    return (word << np.uint64(left) | word >> np.uint64(32 - left)) & _WORD


def synthid_draws(mark: SynthIdMark, keys: Sequence[int], ids: I64) -> Draws:
    """Return the coins of each token that follows a new context.

    Coins are entries of one table. An entry that was met before says nothing new: all places
    where it comes again are :data:`REPEATED`, those of early layers are met first.
    """
    token, contexts = first_contexts(ids, mark.context_width)
    entries = synthid_entries(keys, mark.table_size, ids[token], contexts)
    coins = synthid_table(mark.table_seed, mark.table_size)[entries].astype(np.int8)
    _, first = np.unique(entries.ravel(), return_index=True)
    again = np.ones(entries.size, dtype=bool)
    again[first] = False
    coins[again.reshape(entries.shape)] = REPEATED
    return token, coins.T


def synthid_entries(keys: Sequence[int], table_size: int, ids: I64, contexts: I64) -> I64:
    """Return which entry of the table is the coin of each layer; int64 [layers, N].

    Args:
        keys: One number a layer.
        table_size: Entries of the table.
        ids: int64 [N].
        contexts: int64 [N, W] or [1, W].
    """
    hashed = np.ones(1, dtype=np.int64)
    for column in contexts.T:
        hashed = _congruential(hashed, column)
    hashed = _congruential(hashed, ids)
    layers = np.array(keys, dtype=np.int64)[:, None]
    # The remainder of a negative number is positive, here as in torch.
    return np.asarray(_congruential(hashed[None], layers) % table_size)


def _congruential(hashed: I64, data: I64) -> I64:
    """Take data into a linear congruential hash, modulo 2^64 in two's complement."""
    with np.errstate(over="ignore"):
        return (hashed + data) * np.int64(6364136223846793005) + np.int64(1)


def synthid_table(seed: int, size: int) -> U8:
    """Return the table of coins as torch draws it on a processor; uint8 [size]."""
    return (_twister(seed, size) & 1).astype(np.uint8)


def kgw_draws(mark: KgwMark, key: int, ids: I64) -> Draws:
    """Return whether each token is green; tokens whose list was met before are left out."""
    token, seeds = _kgw_seeds(mark, key, ids)
    # A seed is a list, whatever context it came from: of those each is counted once.
    _, first = np.unique(seeds, return_index=True)
    first = np.sort(first)
    count = mark.list_size
    green = [
        in_shuffled_front(int(seeds[i]), mark.list_width, count, int(ids[token[i]])) for i in first
    ]
    return token[first], np.array(green, dtype=bool)[:, None]


def _kgw_seeds(mark: KgwMark, key: int, ids: I64) -> tuple[I64, U64]:
    """Return the tokens that have a list, and the 32 bits that torch draws it from."""
    width = mark.context_width
    if mark.seeding == SELF_HASH:
        token = np.arange(min(width - 1, ids.size), ids.size)
        if not token.size:
            return token, np.zeros(0, dtype=np.uint64)
        table = np.array(shuffled_front(key, _SELF_HASH_TABLE, _SELF_HASH_TABLE)) + 1
        windows = np.lib.stride_tricks.sliding_window_view(ids, width) % _SELF_HASH_TABLE
        with np.errstate(over="ignore"):  # as in torch: 64 bits, two's complement
            products = np.int64(key) * table[windows] * table[windows[:, -1:]]
        whole = [int(seed) for seed in products.min(axis=1)]
    else:
        token = np.arange(min(width, ids.size), ids.size)
        whole = [key * int(ids[place - 1]) for place in token]
    return token, np.array([seed % (2**64 - 1) & 0xFFFFFFFF for seed in whole], dtype=np.uint64)


def shuffled_front(seed: int, size: int, count: int) -> list[int]:
    """Return the first numbers of ``torch.randperm(size)`` on a processor, seeded.

    Args:
        seed: Its lower 32 bits count.
        size: Numbers that are shuffled.
        count: How many are wanted.
    """
    order = list(range(size))
    steps = min(count, size - 1)
    jumps = _twister(seed, steps) % (size - np.arange(steps)) + np.arange(steps)
    for place, other in enumerate(jumps.tolist()):
        order[place], order[other] = order[other], order[place]
    return order[:count]


def in_shuffled_front(seed: int, size: int, count: int, number: int) -> bool:
    """Say whether a number is among the first ``count`` of :func:`shuffled_front`.

    Follows that number alone, from swap to swap.
    """
    steps = min(count, size - 1)
    jumps = _twister(seed, steps) % (size - np.arange(steps)) + np.arange(steps)
    place, done = number, 0
    while True:
        to_front = np.flatnonzero(jumps[done : min(place, steps)] == place)
        if to_front.size:
            return True
        if place >= steps:
            return place < count
        if jumps[place] == place:
            return True
        place, done = int(jumps[place]), place + 1


def _twister(seed: int, count: int) -> I64:
    """Return 32-bit words of the Mersenne Twister, seeded as torch and NumPy seed it."""
    generator = np.random.RandomState(seed & 0xFFFFFFFF)
    return generator.randint(0, 1 << 32, count, dtype=np.uint32).astype(np.int64)
