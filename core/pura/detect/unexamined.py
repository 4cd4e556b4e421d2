"""One failing text never costs another its finding.

The edge of a group, and the record of a text that cannot be examined.
"""

from __future__ import annotations

import datetime as dt
import logging
import secrets
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from pura.base.errors import ModelError, PuraError
from pura.base.files import make_private
from pura.detect import record_facts
from pura.detect.step_log import STEPS
from pura.detect.verdict.findings import unexamined_findings
from pura.detect.verdict.outcome import not_examinable
from pura.detect.verdict.policy import Policy
from pura.record.audit import Audit
from pura.record.evidence import PayloadFacts, StepEvidence, TokenEvidence
from pura.record.surroundings import (
    DeviceFacts,
    InputFacts,
    KeyFacts,
    ModelFacts,
    PromptFacts,
    StepReport,
)
from pura.scheme import Profile
from pura.words.sentences import sentence

Item = TypeVar("Item")
Found = TypeVar("Found")

FAULTS: Final = "faults.log"
_MOST_BYTES: Final = 1 << 20
_MEMORY: Final = "model-memory"  # what does not suffice for a group may do for one text

_log = logging.getLogger("pura.faults")
_log.addHandler(logging.NullHandler())  # a program without a log of its own has the file


def audit_contained(
    items: Sequence[Item],
    audit: Callable[[Sequence[Item], bool], list[Found | PuraError]],
    *,
    folder: Path,
) -> list[Found | PuraError]:
    """Audit a group of texts; if that fails, each of them alone.

    Args:
        items: The texts.
        audit: Audits some of them side by side; told whether one is read alone after a failure.
        folder: Where :data:`FAULTS` is kept.

    Returns:
        In the order of ``items``: what was found, or why nothing was.

    Raises:
        PuraError: None of them can be audited: a key, the profile.
        Cancelled: Somebody said so.
    """
    try:
        found = audit(items, False)
        again = [n for n, one in enumerate(found) if getattr(one, "code", "") == _MEMORY]
    except PuraError:
        raise
    except Exception as fault:
        refusal = _noted(fault, len(items), folder)
        found, again = [refusal] * len(items), list(range(len(items)))
    if len(items) > 1:
        for number in again:
            found[number] = contained(partial(_alone, items[number], audit), folder=folder)
    return found


def _alone(
    item: Item, audit: Callable[[Sequence[Item], bool], list[Found | PuraError]]
) -> Found | PuraError:
    (found,) = audit([item], True)
    return found


def contained(work: Callable[[], Found], *, folder: Path) -> Found | PuraError:
    """Do something with one text.

    Args:
        work: Does it.
        folder: Where :data:`FAULTS` is kept.

    Returns:
        What came of it, or why nothing did.

    Raises:
        Cancelled: Somebody said so.
    """
    try:
        return work()
    except PuraError as error:
        return error
    except Exception as fault:
        return _noted(fault, 1, folder)


def _noted(fault: Exception, texts: int, folder: Path) -> PuraError:
    """Write a fault to the log, by kind and place: its own words may quote a text.

    Returns:
        The error that refers to it.
    """
    reference, kind = secrets.token_hex(4), type(fault).__name__
    places = [
        f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}:{line}"
        for frame, line in traceback.walk_tb(fault.__traceback__)
    ]
    place = " < ".join(reversed(places))
    words = f"fault {reference}: {kind} in a group of {texts}, at {place}"
    _log.error("%s", words, extra={"reference": reference})
    with suppress(OSError):  # a full disk must not cost the others their findings
        make_private(folder)
        path = folder / FAULTS
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            path.replace(path.with_suffix(".old.log"))
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{dt.datetime.now(dt.UTC).isoformat(timespec='seconds')} {words}\n")
    if isinstance(fault, MemoryError):
        return ModelError("model.memory", code="model-memory")
    return PuraError("audit.internal", code="internal", reference=reference, kind=kind, file=FAULTS)


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
class IntendedSetup:
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
    means: IntendedSetup,
    log: Sequence[StepReport],
    *,
    text: str | None = None,
    prompt: PromptFacts | None = None,
) -> Audit:
    """Return the record of an item that cannot be examined.

    Args:
        item: What was to be examined.
        error: Why it cannot be.
        means: With what.
        log: The steps that were done; the last may be the one that failed.
        text: The text, if it could be read.
        prompt: Whether the prompt was known.

    Raises:
        ValueError: The error is no outcome; see :func:`reason_of`.
    """
    outcome = not_examinable(reason_of(error) or "", means.policy)
    left = [
        StepReport(number=number, name=name, done=False, note=(sentence("log.unexamined"),))
        for number, name in enumerate(STEPS, start=1)
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
        versions=record_facts.versions(),
    )
