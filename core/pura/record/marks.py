"""The mark at a token of a record, and the evidence for the bits of one mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.record.audit import Audit
from pura.record.evidence import BitEvidence, StepEvidence
from pura.record.naming import Passage
from pura.scheme import F64, I64, Payload, Profile, encode, parity_mask, sum_llrs

# An LLR below this stands for odds under 20 : 1, too little for a bit to stand alone.
WEAK_NATS: Final = 3.0


def mark_at(audit: Audit, token: int) -> int | None:
    """Return the number of the mark whose passage holds a token, or None."""
    for number, passage in audit.finding.passages:
        if passage.first_token <= token <= passage.last_token:
            return number
    return None


def bits_of(audit: Audit, number: int | None) -> tuple[BitEvidence, ...]:
    """Return the evidence in the passages of one mark for each position of its codeword.

    Args:
        audit: The record.
        number: Number of the mark, in the order of the text; None for the complete text.

    Returns:
        The bits of the record if there is only one mark, and for a mark of another key than that
        of the record's steps. No bits for a mark with a withheld payload.
    """
    marks = audit.named_marks
    if number is not None and number < len(marks) and marks[number].payload.withheld:
        return ()
    if audit.verdict != "mark":  # no payload is stated, so no bit was repaired
        return tuple(replace(bit, repaired=False) for bit in audit.bits)
    if number is None or len(marks) < 2 or marks[number].key != audit.key.fingerprint:
        return audit.bits
    mark, steps, profile = marks[number], audit.steps, audit.profile
    inside = _inside(steps, mark.passages)
    sums, readings = sum_llrs(
        steps.index[inside], steps.arity[inside], steps.llr_nats[inside], profile.codeword_length
    )
    return bit_evidence(sums, readings, Payload(text=mark.payload.best), profile)


def _inside(steps: StepEvidence, passages: Sequence[Passage]) -> npt.NDArray[np.bool_]:
    inside = np.zeros(steps.token.size, dtype=bool)
    for passage in passages:
        inside |= (steps.token >= passage.first_token) & (steps.token <= passage.last_token)
    return inside


def bit_evidence(
    llr_nats: F64,
    readings: I64,
    payload: Payload,
    profile: Profile,
) -> tuple[BitEvidence, ...]:
    """Return one entry for every position of a payload's codeword.

    Args:
        llr_nats: float64 [n], sums of the local LLRs.
        readings: int64 [n], number of steps that read each position.
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
