"""Many texts together: where audits begin.

The steps of one text stand in :mod:`pura.detect.steps`. Here the texts of a call are read side by
side, and the error of one costs the others nothing. The profile decides whether PURA's mark or a
third-party mark is looked for; both can be looked for in one text.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pura.base.errors import KeyStoreError, ProfileError, PuraError
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.detect.basis import AuditBasis
from pura.detect.options import AuditText, Options, under_policy, with_manifests
from pura.detect.readings import ReadingRequest, Readings
from pura.detect.step_log import STEPS, StepLog
from pura.detect.steps import conclude_third_party, detect, gather_third_party
from pura.detect.third_party import OpenMark, ThirdPartyAudit, ThirdPartyEvidence, open_mark
from pura.detect.unfinished import Unfinished, unfinished
from pura.documents import from_text
from pura.model.load import BareModel, LanguageModel
from pura.provenance.binding import stated
from pura.record.audit import Audit
from pura.record.evidence import SchemeFacts
from pura.scheme import Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.evidence import Request
    from pura.model.reading import Reading

_log = logging.getLogger(__name__)


OpenKey = tuple[SecretKey, str | None]
"""A secret key and its label."""


def audit_text(
    text: AuditText | str,
    *,
    model: LanguageModel,
    keys: Sequence[OpenKey],
    profile: Profile,
    name: str = "pasted text",
    options: Options | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Audit:
    """Audit one text.

    Args:
        text: The text, with what is known of it.
        model: The model that reads it.
        keys: Secret keys and their labels. All are tried in one pass of the model; the evidence
            is the mean over them.
        profile: What generator and verifier share.
        name: How the record calls a text that is no document.
        options: Everything else.
        progress: Told of every step and of the tokens read.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        The record.

    Raises:
        ProfileError: Profile, tokenizer and key do not belong together.
        InputError: The text cannot be tokenised, or is in a language that the policy leaves out.
        KeyStoreError: No key was given.
        PolicyError: The policy names a power table that is not among the options.
    """
    if isinstance(text, str):
        text = AuditText(document=from_text(text, name=name))
    (found,) = audit_documents(
        [text],
        model=model,
        keys=keys,
        profile=profile,
        options=options,
        progress=progress,
        checkpoint=checkpoint,
    )
    if isinstance(found, PuraError):
        raise found
    return found


def audit_documents(
    texts: Sequence[AuditText],
    *,
    model: LanguageModel,
    keys: Sequence[OpenKey],
    profile: Profile,
    options: Options | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> list[Audit | PuraError]:
    """Audit documents that the model reads side by side; arguments as of :func:`audit_text`.

    A few thousand tokens together fill a pass. Everything before and after the reading is done for
    one after the other.

    Returns:
        In the order of ``texts``: the record, or why there is none. What is wrong with one costs
        the others nothing.

    Raises:
        KeyStoreError: No key was given.
    """
    if not keys:
        raise KeyStoreError("audit.no-key", code="key-missing")
    _log.info("an audit of %d texts with %d keys begins", len(texts), len(keys))
    options = options or Options()
    texts = under_policy(with_manifests(texts, options, checkpoint), options)
    basis = AuditBasis.of(options, model, keys, profile, progress, checkpoint)
    audits = _WaitingAudits(texts, basis)
    first = [request for asked in audits.waiting.values() for request in asked.requests]
    tried = [key for key, _ in keys]
    with unfinished(options.unfinished, first, model, tried, basis.profile) as kept:
        while audits.waiting:  # all of them read once, then windows of long ones again
            audits.answer(_read(basis, audits.waiting, kept))
    return [audits.ended[number] for number in range(len(texts))]


def audit_schemes(
    texts: Sequence[AuditText],
    *,
    model: BareModel,
    keys: Sequence[OpenKey],
    seals: Sequence[OpenKey],
    profile: Profile,
    also: Sequence[Profile] = (),
    options: Options,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> list[Audit | PuraError]:
    """Audit documents; see :func:`pura.detect.together.audit_documents`.

    Args:
        texts: The documents.
        model: Needs weights only where PURA's mark is looked for.
        keys: Of PURA's mark.
        seals: Under which the secrets of marks by others are sealed.
        profile: PURA's, or that of a mark by others.
        also: Profiles of marks by others that are tried as well.
        options: What else is asked.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: A key is missing, or not the one that a secret is sealed under.
    """
    foreign = [one for one in (profile, *also) if one.foreign is not None]
    if len(foreign) < len(also) + (profile.foreign is not None):
        raise ProfileError("profile.also", code="usage")
    marks = [open_mark(one, seals) for one in foreign]
    texts = under_policy(with_manifests(texts, options, checkpoint), options)
    if profile.foreign is not None:
        told = [_third_party(text, options, model, marks, progress, checkpoint) for text in texts]
        return [
            one if isinstance(one, PuraError) else _concluded(one, texts[number])
            for number, one in enumerate(told)
        ]
    if not isinstance(model, LanguageModel):
        raise TypeError("this audit needs a model with weights")
    beside = list(texts)
    evidence: dict[int, ThirdPartyEvidence] = {}
    for number, text in enumerate(texts if marks else ()):
        quiet = replace(text, log=[])
        one = _third_party(quiet, options, model, marks, no_progress, checkpoint)
        if isinstance(one, PuraError):
            continue  # it is of the text itself: the audit will say so, too
        theirs = _concluded(one, text)
        if isinstance(theirs, PuraError):
            continue  # the same
        evidence[number] = one
        beside[number] = replace(text, other_schemes=theirs.schemes)
    audits = audit_documents(
        beside,
        model=model,
        keys=keys,
        profile=profile,
        options=options,
        progress=progress,
        checkpoint=checkpoint,
    )
    for number, one in evidence.items():
        mine = audits[number]
        if isinstance(mine, Audit) and mine.schemes and not mine.schemes[0].shown:
            audits[number] = _concluded(one, texts[number], mine.schemes[:1])
    return audits


def _third_party(
    text: AuditText,
    options: Options,
    model: BareModel,
    marks: Sequence[OpenMark],
    progress: Progress,
    checkpoint: Checkpoint,
) -> ThirdPartyEvidence | PuraError:
    """Gather what a text says of third-party marks; or return why it cannot be examined."""
    log = StepLog(reports=text.log, progress=progress, checkpoint=checkpoint)
    try:
        return gather_third_party(
            ThirdPartyAudit(text=text, options=options, model=model, marks=marks, log=log)
        )
    except PuraError as error:
        return error


def _concluded(
    evidence: ThirdPartyEvidence, text: AuditText, other_schemes: tuple[SchemeFacts, ...] = ()
) -> Audit | PuraError:
    """Return the record of third-party marks, with what the text's manifests state."""
    try:
        audit = conclude_third_party(evidence, other_schemes or text.other_schemes)
        return stated(audit, text.manifests or ())
    except PuraError as error:
        return error


class _WaitingAudits:
    """The audits of several texts, each as far as it goes until the model has to read.

    Args:
        texts: The texts.
        basis: What they are audited with.

    Attributes:
        waiting: By number of the text, what the model is to read before its audit goes on.
        ended: By number of the text, the record or why there is none.
    """

    def __init__(self, texts: Sequence[AuditText], basis: AuditBasis) -> None:
        self._texts = texts
        self._steps = [detect(basis, text) for text in texts]
        self.waiting: dict[int, ReadingRequest] = {}
        self.ended: dict[int, Audit | PuraError] = {}
        for number, steps in enumerate(self._steps):
            self._go_on(number, partial(next, steps))

    def answer(self, readings: Mapping[int, Readings]) -> None:
        """Go on with the audits that wait.

        Args:
            readings: What was read for each of them, by number of the text.
        """
        self.waiting = {}
        for number, read in readings.items():
            self._go_on(number, partial(self._steps[number].send, read))

    def _go_on(self, number: int, steps: Callable[[], ReadingRequest]) -> None:
        """Walk the steps of a text until the next reading, or to their end."""
        try:
            self.waiting[number] = steps()
        except StopIteration as end:
            self._end(number, end.value)
        except PuraError as error:
            _log.info("an audit ended without a finding: %s", error.code)
            self.ended[number] = error

    def _end(self, number: int, audit: Audit) -> None:
        _log.info("an audit ended: %s, %d marks", audit.verdict, len(audit.marks))
        try:
            self.ended[number] = stated(audit, self._texts[number].manifests or ())
        except PuraError as error:
            self.ended[number] = error


def _read(
    basis: AuditBasis, asked: Mapping[int, ReadingRequest], kept: Unfinished | None
) -> dict[int, Readings]:
    """Have the model read in one pass what several texts ask for.

    Args:
        basis: What they are audited with.
        asked: What is to be read, by number of the text; all of one step.
        kept: Holds what an interrupted audit had read.

    Returns:
        What was read for each.
    """
    some = next(iter(asked.values()))
    keys = sorted({key for one in asked.values() for key in one.keys})
    requests = [(number, request) for number, one in asked.items() for request in one.requests]
    results = _pass(
        basis,
        some.step,
        [request for _, request in requests],
        [basis.keys[key][0] for key in keys],
        kept,
        chunk=some.chunk,
    )
    rows = {key: row for row, key in enumerate(keys)}
    read = list(zip((number for number, _ in requests), results, strict=True))
    return {
        number: Readings(
            results=tuple(result for owner, (result, _) in read if owner == number),
            rows=rows,
            seconds=sum(seconds for owner, (_, seconds) in read if owner == number),
        )
        for number in asked
    }


def _pass(
    basis: AuditBasis,
    step: int,
    requests: Sequence[Request],
    keys: Sequence[SecretKey],
    kept: Unfinished | None,
    *,
    chunk: int | None = None,
) -> list[tuple[list[Reading] | PuraError, float]]:
    """Have the model read all in one go, as part of a step; with each its share of the seconds."""
    from pura.model.evidence import read_documents

    sizes = [sum(int(ids.size) for ids in request.texts) for request in requests]
    tokens = sum(sizes)

    def report(done: int, total: int) -> None:
        # The pass counts layers and tiles of the vocabulary; people count tokens.
        read = tokens * done // total if total else 0
        basis.progress(Stage(number=step, name=STEPS[step - 1], done=read, total=tokens))

    basis.checkpoint()
    basis.progress(Stage(number=step, name=STEPS[step - 1]))
    start = time.perf_counter()
    try:
        found = read_documents(
            basis.model,
            requests,
            keys=keys,
            profile=basis.profile,
            progress=report,
            checkpoint=basis.checkpoint,
            chunk=chunk,
            kept=kept and kept.read_with(keys),
        )
    except PuraError as error:
        found = [error] * len(requests)
    seconds = time.perf_counter() - start
    _log.info(
        "the model read %d tokens of %d texts for %d keys in %.2f s",
        tokens,
        len(requests),
        len(keys),
        seconds,
    )
    shares = [size / tokens if tokens else 1 / len(sizes) for size in sizes]
    return [(one, seconds * share) for one, share in zip(found, shares, strict=True)]
