"""Where the marks of a record stand, and what the text says of one mark's bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.decode.paper import sum_llrs
from pura.record.audit import Audit
from pura.record.evidence import BitEvidence, StepEvidence
from pura.record.naming import Passage
from pura.scheme import Payload, Profile, encode, parity_mask

# An LLR below this stands for odds under 20 : 1, too little for a bit to stand alone.
WEAK_NATS: Final = 3.0
AGAINST_NATS: Final = 18.0
"""Loss from which a stretch speaks against the payload.

Of 22 unedited samples of 200 tokens, read without their prompts, 2 have such a stretch; of as
many with two and four words in a row exchanged in the middle, 6 and 9 have it there."""
MISREAD: Final = 0.05
AGAINST_STEPS: Final = 3
BEGINNING: Final = 24


def standing(audit: Audit) -> tuple[tuple[int, Passage], ...]:
    """Return every passage with the number of its mark, from 0 up, in the order of the text.

    The passages of a mark by others, and of a record that knows one mark only, stand under 0.
    """
    marks = [mark.passages for mark in audit.named_marks] or [audit.passages]
    found = [(number, passage) for number, some in enumerate(marks) for passage in some]
    return tuple(sorted(found, key=lambda one: one[1].first_token))


def token_share(ranges: Iterable[tuple[int, int]], tokens: int) -> float:
    """Return the share of a text's tokens inside passages, each token counted once.

    Args:
        ranges: First and last token of each passage.
        tokens: ``L``.
    """
    inside = {token for first, last in ranges for token in range(first, last + 1)}
    return len(inside) / max(1, tokens)


def mark_at(audit: Audit, token: int) -> int | None:
    """Return the number of the mark whose passage holds a token, or None."""
    for number, passage in standing(audit):
        if passage.first_token <= token <= passage.last_token:
            return number
    return None


def bits_of(audit: Audit, number: int | None) -> tuple[BitEvidence, ...]:
    """Return what the passages of one mark say of each position of its codeword.

    Args:
        audit: The record.
        number: Which mark, in the order of the text; None stands for the text as a whole.

    Returns:
        The record's own bits where there is one mark only, and for a mark of another key than the
        one that the record's steps are of.
    """
    marks = audit.named_marks
    if audit.verdict != "mark":  # nothing to repair: no payload is stated
        return tuple(replace(bit, repaired=False) for bit in audit.bits)
    if number is None or len(marks) < 2 or marks[number].key != audit.key.fingerprint:
        return audit.bits
    mark, steps, profile = marks[number], audit.steps, audit.profile
    inside = _inside(steps, mark.passages)
    sums, readings = sum_llrs(
        steps.index[inside], steps.arity[inside], steps.llr_nats[inside], profile.codeword_length
    )
    return bit_evidence(sums, readings, Payload(text=mark.payload.best), profile)


def edited_here(
    steps: StepEvidence, bits: str, passages: Sequence[Passage], profile: Profile
) -> tuple[tuple[int, int], ...]:
    """Return stretches inside passages whose steps together speak against their payload.

    A step says of its bits of the codeword how much more probable they are than their opposites.
    Where a word was exchanged, it and the words whose contexts it stands in say what chance says:
    several of them near each other weigh against the payload. So do the first words of a passage,
    which were read without what stood before them at the generator; they are left out. Stretches
    were chosen after seeing the data, so they serve orientation.

    Args:
        steps: The steps that carry bits.
        bits: The payload.
        passages: Where its mark stands.
        profile: The profile.

    Returns:
        First and last token of each stretch, in order.
    """
    codeword = encode(Payload(text=bits), profile)
    if not steps.token.size:
        return ()
    place = (steps.index[:, None] + np.arange(3)) % codeword.size
    read = ~np.isnan(steps.llr_nats)
    llrs = np.where(read, steps.llr_nats, 0.0)
    against = np.where(codeword[place] == 1, -llrs, llrs)
    # log of the probability of the codeword's bit, against one half; 0 for a bit that is not read.
    # A step may have been read wrongly altogether, so no bit is surer than that.
    right = (1 - MISREAD) * np.exp(-np.logaddexp(0.0, against)) + MISREAD / 2
    gain = np.where(read, np.log(2 * right), 0.0).sum(axis=1)
    found = []
    for passage in passages:
        later = replace(passage, first_token=passage.first_token + BEGINNING)
        rows = np.flatnonzero(_inside(steps, [later]))
        found += [
            (int(steps.token[rows[first]]), int(steps.token[rows[last]]))
            for first, last in _against(-gain[rows])
        ]
    return tuple(found)


def _against(loss: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the stretches whose losses add up to the most, each above :data:`AGAINST_NATS`."""
    found: list[tuple[int, int]] = []
    total, first, best, last = 0.0, 0, 0.0, -1
    for place, one in enumerate([*loss.tolist(), -np.inf]):
        if total <= 0.0:
            total, first, best, last = 0.0, place, 0.0, -1
        total += one
        if total > best:
            best, last = total, place
        if total <= 0.0 or total < best - AGAINST_NATS:
            if best >= AGAINST_NATS and last - first + 1 >= AGAINST_STEPS:
                found.append((first, last))
            total = 0.0
    return found


def _inside(steps: StepEvidence, passages: Sequence[Passage]) -> npt.NDArray[np.bool_]:
    inside = np.zeros(steps.token.size, dtype=bool)
    for passage in passages:
        inside |= (steps.token >= passage.first_token) & (steps.token <= passage.last_token)
    return inside


def bit_evidence(
    llr_nats: npt.NDArray[np.float64],
    readings: npt.NDArray[np.int64],
    payload: Payload,
    profile: Profile,
) -> tuple[BitEvidence, ...]:
    """Return one entry for every position of a payload's codeword.

    Args:
        llr_nats: float64 [n], sums of the local LLRs.
        readings: int64 [n], how many steps read each position.
        payload: The payload.
        profile: The profile.
    """
    codeword, parity = encode(payload, profile), parity_mask(profile)
    repaired = (codeword != (llr_nats >= 0)) & (readings > 0)
    return tuple(
        BitEvidence(
            position=i,
            llr_nats=float(llr_nats[i]),
            readings=int(readings[i]),
            bit=int(codeword[i]),
            repaired=bool(repaired[i]),
            parity=bool(parity[i]),
            weak=bool(abs(llr_nats[i]) < WEAK_NATS),
        )
        for i in range(codeword.size)
    )
