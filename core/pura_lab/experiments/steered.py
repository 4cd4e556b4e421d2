"""A schedule that depends on earlier tokens, so that weak codeword positions come first.

The present schedule takes a step's position from a hash of its context alone. Here the hash names
several positions, and the one that has carried least so far is used. This is unbiased for any rule:
given the earlier tokens, the phase ``U`` of a new context is uniform, so the anchor ``U + (S +
½)/K`` is uniform for every sector ``S``, and the token follows the model's distribution. The rule
determines ``S`` only from earlier tokens.

The reader follows the same rule on its text. If the rule adds up evidence or visits, the reader
needs the generator's reading, with the prompt. Counting tokens needs neither, but after an edit one
wrong choice causes others. Counting the first positions of recent tokens, used or not, recovers
some tokens after an edit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.measure.evaluate import TextReading, decide
from pura.scheme import Payload, Profile, Schedule, SecretKey, anchor, encode, schedule
from pura.scheme.gray import sector_of
from pura.scheme.keys import LABEL_INDEX
from pura.scheme.schedule import Gate, Step, anchors, context_bytes
from pura_lab.afterwards import FixedPhaseKey
from pura_lab.experiments.bench import Cell, ExperimentBench, Number, Row
from pura_lab.experiments.rows import attack_of, profile_of

F64 = npt.NDArray[np.float64]

RULES: Final[Mapping[str, tuple[str, int]]] = {
    "as it is": ("tokens", 1),
    "tokens, best of 2": ("tokens", 2),
    "tokens, best of 4": ("tokens", 4),
    "recent tokens, best of 2": ("recent", 2),
    "visits, best of 4": ("visits", 4),
    "evidence, best of 4": ("evidence", 4),
}
"""Quantity that is added up for a position, and number of positions from which a step chooses."""
FOUND_LOG10_E: Final = 6.0  # evidence from which a mark counts as found
_WIDTH: Final = 2  # positions for which a token counts, with any arity
_RECENT: Final = 24  # tokens that count as recent
_TOLERANCE: Final = 2  # tokens within which a length is determined
_DRAWS: Final = 1000  # draws of the bootstrap


def steer(
    reading: TextReading,
    key: SecretKey,
    profile: Profile,
    rule: str,
    *,
    lay: tuple[npt.NDArray[np.uint8], F64] | None = None,
) -> Schedule:
    """Return the schedule of a text under a rule.

    Args:
        reading: Reading of the text by generator or reader.
        key: The secret key.
        profile: Gate, window, length of the codeword.
        rule: One of :data:`RULES`.
        lay: The codeword, uint8 [n], and the points at which tokens were drawn, float64 [L]. The
            key gets the phases of this mark, as in :mod:`pura_lab.afterwards`.
    """
    steps, tokens = schedule(reading.ids, reading.entropy_bits, key, profile), reading.ids.tolist()
    counted, among = RULES[rule]
    carried = np.zeros(profile.codeword_length)
    index, phase = steps.index.copy(), steps.phase.copy()
    laid: dict[bytes, float] = {}
    carrying = dict(zip(steps.token.tolist(), range(len(steps)), strict=True))
    of_tokens, recent = counted in ("tokens", "recent"), deque[npt.NDArray[np.int64]]()
    for t in range(profile.context_window, len(tokens)) if of_tokens else carrying:
        context = context_bytes(tokens[t - profile.context_window : t])
        i = carrying.get(t)
        arity = 0 if i is None else int(steps.arity[i])
        candidates = np.array([_candidate(key, context, k, carried.size) for k in range(among)])
        width = _WIDTH if of_tokens else arity
        covered = (candidates[:, None] + np.arange(width)) % carried.size
        best = int(carried[covered].sum(axis=1).argmin())
        gain = 1.0
        if i is not None:
            index[i] = candidates[best]
            if lay is not None:
                codeword, points = lay
                sector = sector_of(codeword[(index[i] + np.arange(arity)) % carried.size].tolist())
                offset = anchor(Step(arity, 0.0, 0, Gate.CARRIES), sector)
                phase[i] = (points[t] - offset) % 1.0
                laid[context] = float(phase[i])
            if counted == "evidence":
                anchor_points = anchors(phase[i : i + 1], arity)[0]
                left = ((anchor_points >= reading.lo[t]) & (anchor_points < reading.hi[t])).sum()
                gain -= np.log2(max(left, 1)) / arity
        if counted == "recent":  # depends on the tokens alone, so that no choice affects another
            best = 0
            recent.append(covered[0])
            if len(recent) > _RECENT:
                carried[recent.popleft()] -= 1
        carried[covered[best]] += gain
    if lay is not None and isinstance(key, FixedPhaseKey):
        key.lay(laid)
    return replace(steps, index=index, phase=phase)


def _candidate(key: SecretKey, context: bytes, number: int, length: int) -> int:
    """Return a candidate position of a context; the first is that of the present schedule."""
    return key.prf(LABEL_INDEX, context + bytes([number] if number else [])) % length


def first_tokens(steps: Schedule, tokens: int) -> Schedule:
    """Return the schedule of the beginning of a text."""
    part = steps.part(slice(0, int((steps.token < tokens).sum())))
    return replace(part, gate=steps.gate[:tokens])


def least(holds: Callable[[int], bool], largest: int) -> int:
    """Return from which number on something holds, within two; ``largest + 1`` if it never does.

    Args:
        holds: Called for a few numbers; assumed to hold from some number on.
        largest: Largest number.
    """
    if not holds(largest):
        return largest + 1
    low, high = 0, largest
    while high - low > _TOLERANCE:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def lengths(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Return after how many tokens a text's mark is found, and its payload read."""
    text, profile, rule = bench.text(number), profile_of(bench, cell), str(cell["schedule"])
    bits = bench.rng("bits", profile.payload_bits, number).integers(0, 2, profile.payload_bits)
    payload = Payload.from_bits(bits)
    key = bench.key(profile.codeword_length, text.number)
    steer(text.generator, key, profile, rule, lay=(encode(payload, profile), text.points))
    verifier = str(cell["verifier"])
    reading = bench.reading(text, attack_of(bench, cell, text).ids, verifier)
    steps, prompt_known = steer(reading, key, profile, rule), verifier.endswith("+prompt")
    size = reading.ids.size

    def decision_at(tokens: int) -> tuple[float, bool]:
        part = first_tokens(steps, tokens)
        decision = decide(reading.first(tokens), part, profile, prompt_known=prompt_known)
        return decision.log10_e, decision.payload == payload

    log10_e, right = decision_at(size)
    return {
        "found_at": least(lambda tokens: decision_at(tokens)[0] >= FOUND_LOG10_E, size),
        "read_at": least(lambda tokens: decision_at(tokens)[1], size),
        "log10_e": log10_e,
        "exact_match": right,
    }


def halves(rows: Sequence[Row]) -> dict[str, Number]:
    """Return the median lengths, with 95 % intervals of a bootstrap over texts."""
    rng = np.random.default_rng(1)
    out = {}
    for name in ("found", "read"):
        token_counts = np.array([float(row[f"{name}_at"]) for row in rows])
        drawn = np.median(
            token_counts[rng.integers(0, token_counts.size, (_DRAWS, token_counts.size))], axis=1
        )
        low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
        out[f"half_{name}"] = Number(value=float(np.median(token_counts)), low=low, high=high)
    return out
