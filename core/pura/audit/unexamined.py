"""The record of a text that cannot be examined: why, what was done until then, what would help."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pura.audit import facts
from pura.base.errors import PuraError
from pura.record.audit import Audit
from pura.record.evidence import PayloadFacts, StepEvidence, TokenEvidence
from pura.record.steps import StepReport
from pura.record.surroundings import DeviceFacts, InputFacts, KeyFacts, ModelFacts, PromptFacts
from pura.scheme import Profile
from pura.verdict.findings import unexamined_findings
from pura.verdict.outcome import not_examinable
from pura.verdict.policy import Policy
from pura.words.sentence import sentence

REASONS: Final = {  # of an error's code
    "input": "reason.encoding",
    "input-changed": "reason.unreadable",
    "input-crash": "reason.damaged",
    "input-damaged": "reason.damaged",
    "input-empty": "reason.empty",
    "input-encoding": "reason.encoding",
    "input-encrypted": "reason.locked",
    "input-field": "reason.format",
    "input-format": "reason.format",
    "input-limit": "reason.limit",
    "input-outside": "reason.format",
    "input-surrogate": "reason.encoding",
    "input-unreadable": "reason.unreadable",
    "key-mismatch": "reason.key",
    "language-not-validated": "reason.language",
    "model-mismatch": "reason.model",
    "tokenizer-mismatch": "reason.tokenizer",
}


def reason_of(error: PuraError) -> str | None:
    """Return why an item cannot be examined, a key of the findings; None where it is no outcome.

    A key or model that is not here, or a choice that makes no sense, says nothing about the item.
    """
    return REASONS.get(error.code)


@dataclass(frozen=True, kw_only=True)
class Means:
    """With what an item was to be examined, as far as it is known.

    Attributes:
        keys: The keys; the first stands for the record's own.
        profile: The profile.
        model: The model.
        device: Where it would have run.
        policy: The decision rule.
        decoder: ``exact`` or ``paper``.
    """

    keys: tuple[KeyFacts, ...]
    profile: Profile
    model: ModelFacts
    device: DeviceFacts
    policy: Policy
    decoder: str


def unexamined(
    item: InputFacts,
    error: PuraError,
    means: Means,
    log: Sequence[StepReport],
    *,
    steps: Sequence[str],
    text: str | None = None,
    prompt: PromptFacts | None = None,
) -> Audit:
    """Return the record of an item that cannot be examined.

    Args:
        item: What was to be examined.
        error: Why it cannot be.
        means: With what.
        log: The steps that were done; the last may be the one that failed.
        steps: Names of all steps.
        text: The text, if it could be read.
        prompt: Whether the prompt was known.

    Raises:
        ValueError: The error is no outcome; see :func:`reason_of`.
    """
    outcome = not_examinable(reason_of(error) or "", means.policy)
    left = [
        StepReport(number=number, name=name, done=False, note=(sentence("log.unexamined"),))
        for number, name in enumerate(steps, start=1)
        if number > len(log)
    ]
    floats, integers = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Audit(
        id=secrets.token_hex(16),
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        input=item,
        text=text,
        prompt=prompt or PromptFacts(),
        key=means.keys[0],
        keys=means.keys,
        profile=means.profile,
        model=means.model,
        device=means.device,
        tokens=TokenEvidence(
            ids=integers,
            spans=np.zeros((0, 2), dtype=np.int64),
            entropy_bits=floats,
            lo=floats,
            hi=floats,
            gate=np.zeros(0, dtype=np.uint8),
            log10_evidence=floats,
            marked=floats,
        ),
        steps=StepEvidence.none(),
        bits=(),
        decoded=PayloadFacts(bits="", posterior=floats, repaired=0),
        decoder=means.decoder,
        candidates=(),
        evidence=outcome.tested(keys_tried=len(means.keys)).evidence,
        verdict=outcome.verdict,
        sentences=unexamined_findings(outcome),
        cautions=(),
        passages=(),
        register=None,
        policy=means.policy.to_dict(),
        log=(*log, *left),
        versions=facts.versions(),
    )
