"""Audit one text or many, and audit again what a record holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import InputError, PuraError, ReportFileError
from pura.base.progress import Checkpoint, Progress, Stage, unstopped, untold
from pura.desk import register
from pura.desk.workplace import OpenKey, Workplace
from pura.documents import Document, from_text
from pura.keys import KeyRef
from pura.record.audit import Audit
from pura.scheme import Profile
from pura.verdict.outcome import Outcome, not_examinable
from pura.verdict.policy import Policy, default_policy, load_policy

if TYPE_CHECKING:
    from pura.audit.run import Notice
    from pura.model.load import LanguageModel
    from pura.register.store import Register


@dataclass(frozen=True, kw_only=True)
class Setup:
    """With what texts are audited.

    Attributes:
        keys: All are tried in one pass of the model; the evidence is the mean over them.
        profile: What generator and verifier share.
        model: Name of the model, or the path of a local one; None takes the one that the profile
            names, else the only one installed.
        decoder: Which payload is reported: ``exact`` or ``paper``.
        policy: A policy file instead of the user's; None takes the user's, or the default one.
        ask_register: True asks the register of issued payloads, and wants one; False does not
            ask; None asks where there is one.
        restore: Also read the text with typographic substitutions undone.
    """

    keys: tuple[KeyRef, ...]
    profile: Profile
    model: str | None = None
    decoder: str = "exact"
    policy: Path | None = None
    ask_register: bool | None = None
    restore: bool = True


@dataclass(frozen=True, kw_only=True)
class AuditText:
    """A text to be audited.

    Attributes:
        document: The text and where it came from.
        prompt: The prompt, when it is known.
        ids: Token ids that the generator saved; read beside the text.
    """

    document: Document
    prompt: str | None = None
    ids: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Audited:
    """A text that was audited.

    Attributes:
        audit: The record.
        notices: What a person should hear of at once; the record's log says it too.
    """

    audit: Audit
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A text that was not audited.

    Attributes:
        error: Why.
        outcome: The outcome "not examinable", where the item itself is the reason; None where it
            was not found, or where something here was not set up.
    """

    error: PuraError
    outcome: Outcome | None = None


class Prepared:
    """Keys opened, model loaded: audits texts one after the other. See :func:`prepared`."""

    def __init__(
        self,
        setup: Setup,
        keys: list[OpenKey],
        model: LanguageModel,
        policy: Policy,
        asked: Register | None,
    ) -> None:
        self.policy = policy
        self._setup, self._keys, self._model, self._register = setup, keys, model, asked

    def audit(
        self,
        text: AuditText,
        *,
        progress: Progress = untold,
        checkpoint: Checkpoint = unstopped,
    ) -> Audited:
        """Audit one text.

        Raises:
            PuraError: It cannot be audited; see :func:`refused`.
            Cancelled: The checkpoint said so.
        """
        import numpy as np

        from pura.audit.run import Options, audit_document

        options = Options(
            prompt=text.prompt,
            decoder=self._setup.decoder,
            policy=self.policy,
            register=self._register,
            restore=self._setup.restore,
            ids=None if text.ids is None else np.asarray(text.ids),
        )
        notices: list[Notice] = []
        audit = audit_document(
            text.document,
            model=self._model,
            keys=self._keys,
            profile=self._setup.profile,
            options=options,
            progress=progress,
            checkpoint=checkpoint,
            notice=notices.append,
        )
        return Audited(audit=audit, notices=tuple(dict.fromkeys(notices)))


@contextmanager
def prepared(
    workplace: Workplace,
    setup: Setup,
    *,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> Iterator[Prepared]:
    """Open keys and register and load the model, for as many texts as there are.

    Raises:
        PuraError: One of them is not here or cannot be used; then no text can be audited.
    """
    own = setup.policy is not None
    policy = load_policy(setup.policy or workplace.paths.policy, must_exist=own)
    with _register(workplace, setup) as asked, workplace.opened_keys(setup.keys) as keys:
        progress(Stage(name="model"))
        model = workplace.model(setup.model, profile=setup.profile)
        checkpoint()
        yield Prepared(setup, keys, model, policy, asked)


def audit(
    workplace: Workplace,
    setup: Setup,
    text: AuditText,
    *,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> Audited:
    """Audit one text; the model stays loaded for the next.

    Raises:
        PuraError: It cannot be audited; see :func:`refused`.
        Cancelled: The checkpoint said so.
    """
    with prepared(workplace, setup, progress=progress, checkpoint=checkpoint) as ready:
        return ready.audit(text, progress=progress, checkpoint=checkpoint)


def refused(error: PuraError, *, item_is_there: bool, policy: Policy | None = None) -> Refused:
    """Say whether an error is an outcome: the item itself cannot be examined.

    Args:
        error: Why a text was not audited.
        item_is_there: The file was found; one that is not there has no outcome.
        policy: The decision rule; the default one when left out.
    """
    reason = _REASONS.get(error.code)
    if reason is None and isinstance(error, InputError) and item_is_there:
        reason = "reason.encoding"
    if reason is None:
        return Refused(error=error)
    return Refused(error=error, outcome=not_examinable(reason, policy or default_policy()))


_REASONS = {
    "tokenizer-mismatch": "reason.tokenizer",
    "key-mismatch": "reason.key",
    "language-not-validated": "reason.language",
}


def audit_again(
    workplace: Workplace,
    record: Audit,
    *,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> Audit:
    """Audit the text of a record again: same keys, profile, policy and decoder, device of here.

    Raises:
        ReportFileError: The record leaves out what is needed (``repeat-text``, ``repeat-prompt``,
            ``repeat-ids``), or key, model or the register that was the prior are not here
            (``repeat-key``, ``repeat-model``, ``repeat-register``).
        PuraError: Key or model cannot be used.
    """
    from pura.audit.run import Options, audit_document
    from pura.audit.variants import CASE, FOUND, IDS, LAYOUT, RESTORED

    readings = {reading.name: reading for reading in record.variants}
    if IDS in readings:
        raise ReportFileError("repeat.ids", code="repeat-ids")
    if record.prompt.known:
        raise ReportFileError("report.prompt", code="repeat-prompt")
    found = readings.get(FOUND)
    # The record's own text is the one found, unless the reading has its characters beside it.
    text = record.text if found is None or found.text is None else found.text
    if text is None:
        raise ReportFileError("repeat.text", code="repeat-text")
    refs = [KeyRef(fingerprint=key.fingerprint, label=key.label) for key in record.keys]
    for ref in refs:
        if not workplace.has_key(ref.fingerprint):
            raise _absent("key", ref.fingerprint)
    with _prior_of(workplace, record) as issued, workplace.opened_keys(refs) as keys:
        progress(Stage(name="model"))
        model = workplace.model_of(record.model.fingerprint)
        if model is None:
            raise _absent("model", record.model.fingerprint)
        return audit_document(
            from_text(text, name=record.input.name),
            model=model,
            keys=keys,
            profile=record.profile,
            options=Options(
                decoder=record.decoder,
                policy=Policy.from_dict(record.policy),
                register=issued,
                restore=not readings or not {RESTORED, LAYOUT, CASE}.isdisjoint(readings),
            ),
            progress=progress,
            checkpoint=checkpoint,
        )


@contextmanager
def _prior_of(workplace: Workplace, record: Audit) -> Iterator[Register | None]:
    """Lend the register where it was part of the prior, in the state that it had."""
    if record.prior is None:
        yield None
        return
    with register.asked(workplace, must_exist=False) as here:
        if here is None or here.version() != record.prior.version:
            raise _absent("register", record.prior.version)
        yield here


def _absent(what: str, name: str) -> ReportFileError:
    return ReportFileError(f"repeat.no-{what}", fingerprint=name, code=f"repeat-{what}")


@contextmanager
def _register(workplace: Workplace, setup: Setup) -> Iterator[Register | None]:
    if setup.ask_register is False:
        yield None
        return
    with register.asked(workplace, must_exist=bool(setup.ask_register)) as asked:
        yield asked
