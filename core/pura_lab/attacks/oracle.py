"""The key-aware greedy oracle, an attacker beyond any threat model, to test the bound.

It knows key and codeword, and replaces the tokens that reduce the aligned evidence most (paper,
appendix "Key-aware oracle attack").
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pura.detect.local.evidence import local_evidence
from pura.measure.attacks.base import Attacked, count_of, result
from pura.measure.evaluate import TextReading
from pura.scheme import F64, I64, U8, Profile, Schedule, SecretKey, schedule
from pura.scheme.keys import LABEL_INDEX, LABEL_SEED, unit_interval
from pura.scheme.schedule import context_bytes

ROUNDS = 5
"""Passes of the model for cheap scoring; edits of one round stand more than ``W`` apart."""


def aligned_evidence(reading: TextReading, key: SecretKey, profile: Profile, codeword: U8) -> F64:
    """Return each token's evidence for the codeword, ``Σ_j (2c-1) Λ^(j)``, nats; float64 [L]."""
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    out = np.zeros(reading.ids.size)
    out[steps.token] = _aligned(steps, reading.lo, reading.hi, profile, codeword)
    return out


def _aligned(steps: Schedule, lo: F64, hi: F64, profile: Profile, codeword: U8) -> F64:
    llr = local_evidence(steps, lo, hi, profile).llr_nats
    positions = (steps.index[:, None] + np.arange(3)) % codeword.size
    return np.asarray(np.nansum(llr * (2.0 * codeword[positions] - 1), axis=1))


def oracle(
    ids: I64,
    *,
    rate: float,
    width: int,
    key: SecretKey,
    profile: Profile,
    codeword: U8,
    propose: Callable[[I64], npt.NDArray[np.floating]],
    exact: bool = False,
) -> Attacked:
    """Replace tokens by those that reduce the evidence most.

    Args:
        ids: int64 [L].
        rate: Share of the tokens that may be replaced.
        width: Number of the model's likeliest tokens that are tried at each position.
        key: The key.
        profile: The profile.
        codeword: uint8 [n].
        propose: Returns the verifier's logits [L, V] for token ids; row ``t`` predicts token
            ``t``. One pass of the model gives candidates and reading, without the profile's
            truncation.
        exact: Whether to read the text again for every candidate instead of keeping the later
            intervals: ``width`` times ``L`` passes of the model for each edit.
    """
    budget, out = count_of(ids.size, rate), ids.copy()
    origin = np.arange(ids.size)
    while budget > 0:
        tried = _exact if exact else _cheap
        gain, best = tried(out, origin >= 0, width, key, profile, codeword, propose)
        limit = 1 if exact else max(1, -(-count_of(ids.size, rate) // ROUNDS))
        edited: list[int] = []
        for position in np.argsort(gain, kind="stable").tolist():
            if gain[position] >= 0 or len(edited) == min(limit, budget):
                break
            if all(abs(position - earlier) > profile.context_window for earlier in edited):
                edited.append(position)
        if not edited:
            break
        out[edited], origin[edited] = best[edited], -1
        budget -= len(edited)
    return result(ids, out, origin)


def _offered(logits: npt.NDArray[np.floating], ids: I64, width: int) -> I64:
    """Return the likeliest other tokens at each position; int64 [L, width]."""
    rows = np.array(logits, dtype=np.float64)
    rows[np.arange(ids.size), ids] = -np.inf
    return np.asarray(np.argpartition(-rows, width, axis=1)[:, :width])


def _exact(
    ids: I64,
    free: npt.NDArray[np.bool_],
    width: int,
    key: SecretKey,
    profile: Profile,
    codeword: U8,
    propose: Callable[[I64], npt.NDArray[np.floating]],
) -> tuple[F64, I64]:
    logits = propose(ids)

    def evidence(ids: I64, logits: npt.NDArray[np.floating]) -> float:
        reading, _, _ = _look(logits, ids, ids[:, None], key, profile)
        return float(aligned_evidence(reading, key, profile, codeword).sum())

    now = evidence(ids, logits)
    gain, best = np.full(ids.size, np.inf), ids.copy()
    for t, offered in enumerate(_offered(logits, ids, width)):
        for token in offered.tolist() if free[t] and t else ():
            candidate = ids.copy()
            candidate[t] = token
            changed = evidence(candidate, propose(candidate))
            if changed - now < gain[t]:
                gain[t], best[t] = changed - now, token
    return gain, best


def _cheap(
    ids: I64,
    free: npt.NDArray[np.bool_],
    width: int,
    key: SecretKey,
    profile: Profile,
    codeword: U8,
    propose: Callable[[I64], npt.NDArray[np.floating]],
) -> tuple[F64, I64]:
    """Score all positions at once, with unchanged entropies and later intervals."""
    logits, window = propose(ids), profile.context_window
    offered = _offered(logits, ids, width)
    reading, lo, hi = _look(logits, ids, offered, key, profile)
    now = aligned_evidence(reading, key, profile, codeword)
    arity = np.searchsorted(
        np.array(profile.entropy_thresholds_bits), reading.entropy_bits, side="right"
    )
    # One hypothetical step for every position, candidate and token that a replacement affects.
    rows: list[tuple[int, int, int, float, int, float, float]] = []
    for t in np.flatnonzero(free).tolist():
        for c, token in enumerate(offered[t].tolist() if t else ()):
            edited_ids = ids[max(t - window, 0) : t + window + 1].copy()
            base = max(t - window, 0)
            edited_ids[t - base] = token
            for u in range(max(t, window), min(t + window + 1, ids.size)):
                if not arity[u]:
                    continue
                context = context_bytes(edited_ids[u - window - base : u - base])
                phase = unit_interval(key.prf(LABEL_SEED, context))
                index = key.prf(LABEL_INDEX, context) % codeword.size
                is_edited = u == t
                rows.append(
                    (
                        t * width + c,
                        u,
                        int(arity[u]),
                        phase,
                        index,
                        float(lo[t, c] if is_edited else reading.lo[u]),
                        float(hi[t, c] if is_edited else reading.hi[u]),
                    )
                )
    gain, best = np.full(ids.size, np.inf), ids.copy()
    if not rows:
        return gain, best
    case, _, arities, phases, indices, los, his = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    steps = Schedule(
        token=np.arange(case.size),
        arity=arities,
        phase=phases,
        index=indices,
        gate=np.zeros(case.size, np.uint8),
    )
    changed = np.bincount(
        case, weights=_aligned(steps, los, his, profile, codeword), minlength=ids.size * width
    ).reshape(ids.size, width)
    padded = np.concatenate([now, np.zeros(window)])
    before = sum(padded[k : k + ids.size] for k in range(window + 1))
    change = changed - np.asarray(before)[:, None]
    change[~free] = np.inf
    change[0] = np.inf
    best_candidate = change.argmin(axis=1)
    rows_of = np.arange(ids.size)
    return change[rows_of, best_candidate], offered[rows_of, best_candidate]


def _look(
    logits: npt.NDArray[np.floating], ids: I64, offered: I64, key: SecretKey, profile: Profile
) -> tuple[TextReading, F64, F64]:
    """Return the reading of the text, and the intervals of offered tokens; float64 [L, width]."""
    order = key.vocabulary_order(logits.shape[1])
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    tokens = np.concatenate([ids[:, None], offered], axis=1)
    lo, hi, entropy = np.empty(tokens.shape), np.empty(tokens.shape), np.zeros(ids.size)
    for t, row in enumerate(logits):
        x = (np.asarray(row, dtype=np.float64) - float(row.max())) / profile.temperature
        p = np.exp(x)
        total = p.sum()
        p /= total
        entropy[t] = (np.log(total) - p @ x) / np.log(2)
        mass = np.cumsum(p[order])
        token_ranks = rank[tokens[t]]
        hi[t], lo[t] = (
            np.minimum(mass[token_ranks], 1.0),
            np.maximum(mass[token_ranks] - p[tokens[t]], 0.0),
        )
    entropy[:1] = 0.0  # the first token has no prediction
    hi = np.maximum(lo, hi)
    reading = TextReading(
        ids=ids, entropy_bits=entropy, probability=hi[:, 0] - lo[:, 0], lo=lo[:, 0], hi=hi[:, 0]
    )
    return reading, lo[:, 1:], hi[:, 1:]
