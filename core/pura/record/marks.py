"""Where the marks of a record stand, and what the text says of one mark's bits."""

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
    """Return what the passages of one mark say of each position of its codeword.

    Args:
        audit: The record.
        number: Which mark, in the order of the text; None stands for the text as a whole.

    Returns:
        The record's own bits where there is one mark only, and for a mark of another key than the
        one that the record's steps are of. None of a mark whose payload is withheld.
    """
    marks = audit.named_marks
    if number is not None and number < len(marks) and marks[number].payload.withheld:
        return ()
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
