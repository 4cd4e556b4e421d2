"""The reading that a record is about, and the arrays that the record keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.detect.decode.marks import Extent, Mark
from pura.detect.decode.pooling import PooledPosterior
from pura.detect.key_reading import KeyReading
from pura.record.evidence import (
    PayloadFacts,
    StepEvidence,
    TokenEvidence,
)
from pura.record.naming import (
    CandidateFacts,
)
from pura.scheme import I64, Payload, Profile, encode, unpack

_FEW_CANDIDATES: Final = 8
_NEARLY_ALL: Final = 0.9999  # of the weight; what is left changes no marginal of a field
NO_PAYLOAD: Final = PayloadFacts(bits="", posterior=np.zeros(0), repaired=0)


@dataclass(frozen=True, kw_only=True)
class Selected:
    """What the record's arrays are made of.

    Attributes:
        profile: The profile.
        spans: int64 [L, 2], characters of each token.
        trial: The key that the findings are about.
        key: Its fingerprint.
        decoder: Whose payload is reported: ``exact`` or ``paper``.
        posterior: How the evidence is spread over marks, for the strongest mark.
    """

    profile: Profile
    spans: I64
    trial: KeyReading
    key: str
    decoder: str
    posterior: PooledPosterior

    @property
    def payload(self) -> Payload:
        """The reported payload."""
        if self.decoder == "paper":
            return self.trial.paper.payload
        best = self.posterior.best_of(self.key)
        return self.trial.exact.payload if best is None else best.payload

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Every mark, in the order of the text; none without steps."""
        return self.trial.exact.marks

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The strongest mark's passages."""
        strongest = self.trial.exact.strongest
        return () if strongest is None else strongest.extents

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """First and last token of each of them."""
        return tuple((one.first, one.last) for one in self.extents)

    @property
    def repaired(self) -> npt.NDArray[np.bool_]:
        """Bool [n]: positions that were read and whose sum points away from the codeword."""
        paper = self.trial.paper
        codeword = encode(self.payload, self.profile)
        return np.asarray((codeword != paper.hard_bits) & (paper.readings > 0))


def token_evidence(selected: Selected, others: Sequence[Mark] = ()) -> TokenEvidence:
    """Return everything that is known of each token.

    Args:
        selected: What the record is about.
        others: Marks of other keys in the same reading.
    """
    seen = selected.trial.seen
    none = np.zeros((1, seen.tokens))
    marks = (*selected.marks, *others)
    ratios = np.stack([m.log_ratio for m in marks]) if marks else none
    marked = np.stack([m.marked for m in marks]) if marks else none
    return TokenEvidence(
        ids=selected.trial.ids,
        spans=selected.spans,
        entropy_bits=seen.entropy_bits,
        lo=seen.lo,
        hi=seen.hi,
        gate=seen.schedule.gate,
        log10_evidence=ratios.sum(axis=0) / np.log(10.0),
        marked=marked.max(axis=0),
    )


def step_evidence(selected: Selected) -> StepEvidence:
    """Return the steps that carry bits and what each says."""
    plan = selected.trial.seen.schedule
    return StepEvidence(
        token=plan.token,
        arity=plan.arity,
        phase=plan.phase,
        index=plan.index,
        llr_nats=selected.trial.local.llr_nats,
    )


def payload_facts(selected: Selected) -> PayloadFacts:
    """Return the reported payload, how sure each bit is, and what its layout makes of it."""
    payload = selected.payload
    shares = selected.posterior.bit_shares[selected.key]
    return PayloadFacts(
        bits=payload.text,
        posterior=shares[np.arange(payload.array.size), payload.array],
        repaired=int(selected.repaired.sum()),
        fields=unpack(selected.profile.fields, payload),
    )


def candidates(
    posterior: PooledPosterior, key: str, profile: Profile, most: int
) -> tuple[CandidateFacts, ...]:
    """Return the most probable payloads, strongest first, until hardly any weight is left.

    Args:
        posterior: How the evidence is spread over marks.
        key: Fingerprint of the key of the mark that they are candidates for.
        profile: The profile.
        most: How many to list at most.
    """
    kept: list[CandidateFacts] = []
    total = 0.0
    for candidate in posterior.candidates[: max(1, most)]:
        if len(kept) >= _FEW_CANDIDATES and total >= _NEARLY_ALL:
            break
        total += candidate.posterior
        kept.append(
            CandidateFacts(
                bits=candidate.payload.text,
                posterior=candidate.posterior,
                fields=unpack(profile.fields, candidate.payload),
                key="" if candidate.key == key else candidate.key,
            )
        )
    return tuple(kept)
