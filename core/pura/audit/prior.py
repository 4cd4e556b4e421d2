"""What payloads weigh before the text: limits of the profile's fields, and issued payloads.

The register of issued payloads is part of the prior where the policy asks for it.

Read once, before any key is tried, so that all trials weigh with the same state of it
(docs/evidence.md §3). No name is read here: a payload that was issued weighs more, to whom does not
matter.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pura.audit.key_reading import KeyReading, evidence
from pura.decode.issuable import Issuable
from pura.decode.issued import Issued
from pura.record.readings import LimitsFacts, PriorFacts
from pura.register.store import Register
from pura.scheme import Profile
from pura.verdict.policy import Policy


@dataclass(frozen=True, kw_only=True)
class RegisterPrior:
    """Issued payloads, and which state of the register they are.

    Attributes:
        issued: The payloads and their weight.
        version: Version of the register.
        digest: Digest over its rows, hex.
        date: When it was last changed, ISO 8601; empty when it never was.
    """

    issued: Issued
    version: str
    digest: str
    date: str

    def facts(self, trials: Sequence[KeyReading]) -> PriorFacts:
        """Return what the record says of it: the evidence with and without the issued payloads.

        Args:
            trials: All of a text.
        """
        ten = math.log(10)
        alike = evidence(trials, lambda exact: exact.log_e_alike / ten)
        issued = evidence(trials, lambda exact: (exact.log_e_issued or 0.0) / ten)
        return PriorFacts(
            version=self.version,
            digest=self.digest,
            date=self.date,
            entries=len(self.issued),
            weight=self.issued.weight,
            log10_alike=alike,
            log10_issued=issued,
        )


def issuable(profile: Profile, policy: Policy) -> Issuable | None:
    """Return the payloads within the limits of a profile; None where it has none.

    Args:
        profile: With the day of the audit written out.
        policy: Says what payloads outside weigh.
    """
    if not profile.limited:
        return None
    return Issuable.of([(f.bits, f.ranges) for f in profile.fields], policy.outside_limits)


def limits_facts(
    within: Issuable, day: dt.date | None, trials: Sequence[KeyReading]
) -> LimitsFacts:
    """Return what the record says of limits: their weight, and the evidence without them.

    Args:
        within: The payloads within.
        day: What ``today`` in them stood for; None where none says it.
        trials: All of a text.
    """
    ten = math.log(10)
    return LimitsFacts(
        weight=within.outside,
        day="" if day is None else day.isoformat(),
        log10_share=within.log_share / ten,
        log10_alike=evidence(trials, lambda exact: exact.log_e_alike / ten),
    )


def register_prior(
    register: Register | None, profile: Profile, policy: Policy, checkpoint: Callable[[], None]
) -> RegisterPrior | None:
    """Read the register as a prior; None where the policy or the register offers none."""
    if register is None or not policy.register_prior:
        return None

    def blocks(of: Register) -> Iterator[npt.NDArray[np.uint8]]:
        for _, bits in of.chunks(profile.payload_bits):
            checkpoint()
            yield bits

    with register.held():
        if not register.count(profile.payload_bits):
            return None
        return RegisterPrior(
            issued=Issued.of(blocks(register), profile.payload_bits, policy.register_prior),
            version=register.version(),
            digest=register.digest(),
            date=register.changed(),
        )
