"""From the evidence to one of five outcomes, by the policy and nothing else.

The evidence is the mean likelihood ratio over all payloads, grid points and keys, before any look
at the register; the best payload or the best key alone never decides. Lower bounds are included,
upper ones excluded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from pura.detect.verdict.policy import Policy
from pura.record.evidence import EvidenceFacts
from pura.words.sentences import findings, scale_word

VERDICTS: Final = ("mark", "indication", "no-mark", "insufficient", "not-examinable")
# H1 allows editing, so little evidence in an unedited text does not refute it: for H2 the scale
# ends within "moderate", at a likelihood ratio of 1/100.
H2_FLOOR: Final = -2.0
_H2_WORD_SIZE: Final = 1.0
# 10**-L underflows from 308 on. The smallest normal float is a larger number, so still a bound.
_SMALLEST_BOUND: Final = 2.2250738585072014e-308


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the decision rule makes of the evidence.

    Attributes:
        verdict: ``mark``, ``indication``, ``no-mark``, ``insufficient`` or ``not-examinable``.
        evidence: How strong the findings are, as the record holds it.
        reason: Why the text is not examinable, a key ``reason.…`` of the catalogue.
        in_part: No mark was found in the text, and too much of its file was not examined to say
            the same of the file; the verdict is ``insufficient``.
    """

    verdict: str
    evidence: EvidenceFacts
    reason: str | None = None
    in_part: bool = False

    def tested(
        self, *, keys_tried: int, p_redraw: float | None = None, draws: int = 0, seed: int = 0
    ) -> Outcome:
        """Return the outcome with what else is known of the evidence.

        Args:
            keys_tried: Keys and profiles that the mean runs over.
            p_redraw: Redraw p-value, or None.
            draws: Number of redraws.
            seed: Seed of the redraws.
        """
        evidence = replace(
            self.evidence, keys_tried=keys_tried, p_redraw=p_redraw, draws=draws, seed=seed
        )
        return replace(self, evidence=evidence)


def decide_outcome(
    log10_e: float,
    usable: int,
    policy: Policy,
    *,
    power: float | None,
    needed: int | None = None,
    left_out: float = 0.0,
) -> Outcome:
    """Apply the decision rule.

    Args:
        log10_e: log10 of the e-value: the mean over payloads, grid and keys. ``-inf`` is allowed.
        usable: Steps that carry bits, ``S``.
        policy: The decision rule.
        power: Share of texts with ``needed`` usable positions marked in a row (all of them, where
            that is None or more than there are) that reach ``t_found``, as a lower limit; None
            when it was not measured.
        needed: Usable positions in a row from which ``policy.power_needed`` is reached, or None.
        left_out: Share of the file's words that was not examined, as
            :func:`~pura.record.left_out.left_out_share` returns it.

    Raises:
        ValueError: The evidence is not a number or plus infinity, or the power not a share. Such
            a value is a fault of the program, and no outcome may rest on it.
    """
    if math.isnan(log10_e) or log10_e == math.inf:
        raise ValueError("the evidence is not a number")
    if power is not None and not 0 <= power <= 1:
        raise ValueError("the power is not a share")
    if usable < policy.min_usable:
        verdict = "insufficient"
        needed = max(policy.min_usable, needed or 0)
    elif log10_e >= policy.t_found:
        verdict = "mark"
    elif log10_e >= policy.t_review:
        verdict = "indication"
    elif power is not None and power >= policy.power_needed:
        verdict = "no-mark"
    else:
        verdict = "insufficient"
    # The power is a statement about the text that was read, and about no word beside it.
    in_part = verdict == "no-mark" and left_out > policy.left_out_share
    if in_part:
        verdict = "insufficient"
    outcome = _outcome(verdict, log10_e, usable, policy, power=power, needed=needed)
    return replace(outcome, in_part=in_part)


def not_examinable(reason: str, policy: Policy) -> Outcome:
    """Return the outcome of a text that cannot be examined.

    Args:
        reason: A key ``reason.…`` of the sentence catalogue.
        policy: The decision rule.

    Raises:
        ValueError: The catalogue has no such reason.
    """
    if not reason.startswith("reason.") or reason not in findings():
        raise ValueError(f"no such reason: {reason!r}")
    return _outcome("not-examinable", 0.0, 0, policy, reason=reason)


def _outcome(
    verdict: str,
    log10_e: float,
    usable: int,
    policy: Policy,
    *,
    power: float | None = None,
    needed: int | None = None,
    reason: str | None = None,
) -> Outcome:
    cap = math.log10(policy.lr_cap)
    reported = min(max(log10_e, H2_FLOOR), cap)
    size = reported if reported >= 0 else min(-reported, _H2_WORD_SIZE)
    evidence = EvidenceFacts(
        log10_e=log10_e,
        p_bound=bound(log10_e),
        p_redraw=None,
        draws=0,
        seed=0,
        scale_word=scale_word(size),
        power=power,
        keys_tried=1,
        usable=usable,
        needed=needed,
        # The cap itself, not 10 to its logarithm, so that 10**6 prints as one million.
        lr_capped=policy.lr_cap if log10_e >= cap else 10.0**reported,
        capped=log10_e > cap or log10_e < H2_FLOOR,
    )
    return Outcome(verdict=verdict, evidence=evidence, reason=reason)


def bound(log10_e: float) -> float:
    """Return ``min(1, 1/e)``, never 0 (Markov's inequality, evidence.md §3)."""
    if log10_e <= 0:
        return 1.0
    return max(10.0**-log10_e, _SMALLEST_BOUND) if log10_e < 400 else _SMALLEST_BOUND
