"""From the decoders' arrays to the parts of the record: tokens, steps, bits, payload, passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.audit.trial import Trial
from pura.decode.exact import Mark
from pura.record.audit import (
    BitEvidence,
    CandidateFacts,
    MarkFacts,
    Passage,
    PayloadFacts,
    StepEvidence,
    TokenEvidence,
)
from pura.scheme import Payload, Profile, encode, parity_mask, unpack

# An LLR below this stands for odds under 20 : 1, too little for a bit to stand alone.
WEAK_NATS: Final = 3.0


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the record's arrays are made of.

    Attributes:
        profile: The profile.
        spans: int64 [L, 2], characters of each token.
        trial: The key that the findings are about.
        decoder: Whose payload is reported: ``exact`` or ``paper``.
    """

    profile: Profile
    spans: npt.NDArray[np.int64]
    trial: Trial
    decoder: str

    @property
    def payload(self) -> Payload:
        """The reported payload."""
        paper = self.decoder == "paper"
        return self.trial.paper.payload if paper else self.trial.exact.payload

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The decoded payload and where it stands, then further marks; none without steps."""
        return self.trial.exact.marks

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Tokens of the strongest mark's passages."""
        return self.marks[0].ranges if self.marks else ()

    @property
    def repaired(self) -> npt.NDArray[np.bool_]:
        """Bool [n]: positions that were read and whose sum points away from the codeword."""
        paper = self.trial.paper
        codeword = encode(self.payload, self.profile)
        return np.asarray((codeword != paper.hard_bits) & (paper.readings > 0))


def token_evidence(found: Findings) -> TokenEvidence:
    """Return everything that is known of each token."""
    seen = found.trial.intervals
    none = np.zeros((1, seen.ids.size))
    ratios = np.stack([m.log_ratio for m in found.marks]) if found.marks else none
    marked = np.stack([m.marked for m in found.marks]) if found.marks else none
    return TokenEvidence(
        ids=seen.ids,
        spans=found.spans,
        entropy_bits=seen.entropy_bits,
        lo=seen.lo,
        hi=seen.hi,
        gate=found.trial.schedule.gate,
        log10_evidence=ratios.sum(axis=0) / np.log(10.0),
        marked=marked.max(axis=0),
    )


def step_evidence(found: Findings) -> StepEvidence:
    """Return the steps that carry bits and what each says."""
    plan = found.trial.schedule
    return StepEvidence(
        token=plan.token,
        arity=plan.arity,
        phase=plan.phase,
        index=plan.index,
        llr_nats=found.trial.local.llr_nats,
    )


def bit_evidence(found: Findings) -> tuple[BitEvidence, ...]:
    """Return one entry for every position of the codeword."""
    paper = found.trial.paper
    codeword = encode(found.payload, found.profile)
    parity = parity_mask(found.profile)
    repaired = found.repaired
    return tuple(
        BitEvidence(
            position=i,
            llr_nats=float(paper.llr_nats[i]),
            readings=int(paper.readings[i]),
            bit=int(codeword[i]),
            repaired=bool(repaired[i]),
            parity=bool(parity[i]),
            weak=bool(abs(paper.llr_nats[i]) < WEAK_NATS),
        )
        for i in range(codeword.size)
    )


def payload_facts(found: Findings) -> PayloadFacts:
    """Return the reported payload, how sure each bit is, and what its layout makes of it."""
    payload = found.payload
    one = found.trial.exact.bit_posteriors
    return PayloadFacts(
        bits=payload.text,
        posterior=np.where(payload.bits == 1, one, 1.0 - one),
        repaired=int(found.repaired.sum()),
        fields=unpack(found.profile.fields, payload),
    )


def candidates(found: Findings) -> tuple[CandidateFacts, ...]:
    """Return the most probable payloads, strongest first; none when nothing was read."""
    if not found.trial.exact.usable:
        return ()
    return tuple(
        CandidateFacts(
            bits=candidate.payload.text,
            posterior=candidate.posterior,
            fields=unpack(found.profile.fields, candidate.payload),
        )
        for candidate in found.trial.exact.candidates
    )


def passages(found: Findings) -> tuple[Passage, ...]:
    """Return the strongest mark's passages as ranges of tokens and characters."""
    return _passages(found.ranges, found.spans)


def passage_share(found: Findings) -> float:
    """Return which share of the usable positions lies inside the strongest mark's passages."""
    return _share(found.ranges, found.trial)


def marks(
    trials: Sequence[Trial],
    found: Findings,
    keys: Sequence[str],
    log10_e: float,
    threshold: float,
) -> tuple[MarkFacts, ...]:
    """Return the marks of a text in which one was found, the strongest first.

    Args:
        trials: Every key on every reading; those of the shown reading count.
        found: The strongest of them.
        keys: Fingerprints of the keys.
        log10_e: Of the text as a whole; the first mark is there because of it.
        threshold: log10 that the share of a further mark must reach by itself.
    """
    shown = [found.trial, *(t for t in trials if t is not found.trial)]
    out: list[MarkFacts] = []
    for trial in shown:
        for mark in trial.exact.marks if trial.variant == found.trial.variant else ():
            own = mark.log10_e - float(np.log10(len(trials)))
            if out and own < threshold:
                continue
            out.append(
                MarkFacts(
                    key=keys[trial.number],
                    bits=mark.payload.text,
                    fields=unpack(found.profile.fields, mark.payload),
                    passages=_passages(mark.ranges, found.spans),
                    share=_share(mark.ranges, trial),
                    log10_e=min(own, log10_e),
                )
            )
    return tuple(out)


def _passages(
    ranges: Sequence[tuple[int, int]], spans: npt.NDArray[np.int64]
) -> tuple[Passage, ...]:
    return tuple(
        Passage(
            first_token=first, last_token=last, start=int(spans[first, 0]), end=int(spans[last, 1])
        )
        for first, last in ranges
    )


def _share(ranges: Sequence[tuple[int, int]], trial: Trial) -> float:
    token = trial.schedule.token
    if not token.size:
        return 1.0
    inside = np.zeros(token.size, dtype=bool)
    for first, last in ranges:
        inside |= (token >= first) & (token <= last)
    return float(inside.mean())
