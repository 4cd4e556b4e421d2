"""The one door to audits: command, batch, window and programs all come through :func:`prepared`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from pura.base.catalogue import phrase
from pura.base.errors import PolicyError, PuraError, ReportFileError
from pura.base.numerals import visible
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.detect.options import (
    AuditText,
    KeyUse,
    Notice,
    Options,
    latest_day,
    under_policy,
    with_manifests,
)
from pura.detect.step_log import STEPS, bytes_noted
from pura.detect.unexamined import IntendedSetup, audit_contained, contained, reason_of, unexamined
from pura.detect.verdict.policy import Policy, load_policy
from pura.detect.verdict.power import PowerTable
from pura.documents import Extraction, digest_of, from_text
from pura.keys import KeyRef
from pura.keys.epochs import AS_GIVEN, is_epoch, latest, today
from pura.provenance.binding import stated
from pura.record.audit import Audit
from pura.record.surroundings import InputFacts, KeyFacts, StepReport
from pura.register.store import Register
from pura.scheme import Profile
from pura.usecases import registers
from pura.usecases.audit_choices import Choices
from pura.usecases.choices import together, trusted
from pura.usecases.environment import Environment, OpenKey
from pura.usecases.keys import epoch_keys, refuse_kind
from pura.usecases.measurements import tables_of
from pura.usecases.questions import open_questions, question_key, questions_path
from pura.usecases.setups import keyless, setup_faults, setup_folder

if TYPE_CHECKING:
    from pura.model.load import BareModel

TOGETHER_TEXTS: Final = 16
TOGETHER_CHARACTERS: Final = 16_384
"""How many texts of a stream are read side by side: about as many as one pass takes."""

Name = TypeVar("Name")
Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Setup(Choices):
    """With what texts are audited, and how; kept by who reads, and sent to workers.

    Attributes:
        keys: All are tried in one pass of the model; the evidence is the mean over them.
        profile: What generator and verifier share.
        also: Profiles of marks by others, which are tried as well; the evidence is the mean.
        model: Name of the model, or the path of a local one; None takes the one that the profile
            names, else the only one installed.
        tables: The power tables that the policy names; None takes them from those of this
            installation.
        day: What ``today`` stands for in limits of the profile's fields; None takes the day on
            which each call of :meth:`Prepared.audit_many` or :meth:`Prepared.stream` begins.
        question_key: Fingerprint of the question store's key, once :func:`resolved` knows it.
    """

    keys: tuple[KeyRef, ...]
    profile: Profile
    also: tuple[Profile, ...] = ()
    model: str | None = None
    tables: tuple[PowerTable, ...] | None = None
    day: dt.date | None = None
    question_key: str = ""

    @property
    def foreign(self) -> tuple[Profile, ...]:
        """The profiles of marks by others."""
        return tuple(one for one in (self.profile, *self.also) if one.foreign is not None)

    @property
    def needed_keys(self) -> tuple[KeyRef, ...]:
        """All keys that are opened, each once: the chosen ones, and what seals marks by others."""
        needed: dict[str, KeyRef] = {}
        for ref in self.keys:
            needed.setdefault(ref.fingerprint, ref)
        # Whoever chose keys for the first profile means one of those.
        for one in self.also if self.keys else self.foreign:
            needed.setdefault(one.key or "", KeyRef(fingerprint=one.key or ""))
        return tuple(needed.values())

    @property
    def lent_keys(self) -> tuple[KeyRef, ...]:
        """The keys that a worker elsewhere needs: those, and that of the question store."""
        own = {ref.fingerprint for ref in self.needed_keys}
        further = {self.question_key} - own - {""}
        return (*self.needed_keys, *(KeyRef(fingerprint=name) for name in further))


def stored_setup(
    environment: Environment,
    name: str,
    *,
    profile: Profile | None = None,
    keys: Sequence[KeyRef] = (),
    other_model: bool = False,
) -> Setup:
    """Return what texts are audited with under a stored set-up.

    Args:
        environment: Where it is kept.
        name: Its name.
        profile: Replaces its profile.
        keys: Replace its keys; none keeps them.
        other_model: Its model is not used, and need not be here.

    Raises:
        PuraError: There is no such set-up, a part that is used is missing, or its parts do not
            belong together.
    """
    setup = setup_folder(environment).get(name)
    if profile is None and not keys and not other_model:
        for fault in setup_faults(environment, setup):
            raise fault
    if not (keys or setup.keys):
        raise keyless(setup)
    return Setup(
        keys=tuple(keys) or tuple(environment.key_of(key) for key in setup.keys),
        profile=profile or environment.profiles.get(setup.profile),
        model=None if other_model else setup.model or None,
        leave_out=setup.leave_out,
        questions=setup.questions,
    )


def resolved(environment: Environment, setup: Setup) -> Setup:
    """Return a setup that depends on nothing of this moment and place any more but its model.

    Its policy is read, with the tables that it names, and which keys are tried is settled.

    Raises:
        PuraError: The policy, a table or a key is not here or cannot be read.
    """
    if setup.tables is not None:
        return setup
    policy = policy_of(environment, setup)
    tables = tables_of(environment, policy)
    return replace(
        resolve_epochs(environment, setup, policy),
        policy=policy,
        tables=tables,
        trust=trust_of(environment, setup),
        question_key=question_key(environment, setup.questions) if setup.questions else "",
    )


def trust_of(environment: Environment, setup: Setup) -> str:
    """Return the certificates whose signatures of manifests are trusted, PEM.

    Raises:
        InputError: The user's list holds none.
    """
    return trusted(environment.paths) if setup.trust is None else setup.trust


def resolve_epochs(environment: Environment, setup: Setup, policy: Policy) -> Setup:
    """Return a setup with the keys that are tried: those of a range of epochs, or its own.

    Which they are follows from setup, policy and calendar, before a text is read.

    Args:
        environment: Where the keys are.
        setup: Its profile then belongs to none of its keys: their epochs' keys are others. A key
            that is stored as that of an epoch is taken as it is, unless a range was given.
        policy: How many epochs up to today are tried where no range was given.

    Raises:
        KeyFormatError: The range cannot be read, is too long, or not of the profile's kind.
        KeyStoreError: A key is not here or cannot be read.
    """
    kind, span, profile = setup.profile.key_epochs, setup.epochs, setup.profile
    if not (kind or span) or any(ref.epoch for ref in setup.keys):
        return setup
    if span == AS_GIVEN:
        used = replace(profile, key=None) if kind else profile
        return replace(setup, profile=used, epochs="")
    refuse_kind(profile, span)
    origins = {} if span else {ref: environment.origin_of(ref) for ref in setup.keys}
    ready = [ref for ref, origin in origins.items() if origin is not None]
    roots = [ref for ref in setup.keys if ref not in ready]
    span = span or latest(str(kind), policy.epochs, today())
    derived = epoch_keys(environment, roots, span) if roots else ()
    mine = {ref.fingerprint for ref in roots} | {o.parent for o in origins.values() if o}
    return replace(
        setup,
        keys=(*ready, *derived),
        profile=replace(profile, key=None) if profile.key in mine else profile,
        epochs=span if roots else "",
    )


@dataclass(frozen=True, kw_only=True)
class UnreadFile:
    """A file that is there, and that no text could be made of.

    Attributes:
        name: For people.
        error: Why.
        sha256: Of its bytes; empty where they could not be read.
        size_bytes: Their number; 0 where they could not be read.
        part: Which part of the file; empty when none of it could be read.
    """

    name: str
    error: PuraError
    sha256: str = ""
    size_bytes: int = 0
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Audited:
    """A text that was audited.

    Attributes:
        audit: The record; its verdict is ``not-examinable`` where the text could not be.
        notices: What a person should hear of at once; the record's log says it too.
        error: Why the text could not be examined, in full.
    """

    audit: Audit
    notices: tuple[Notice, ...] = ()
    error: PuraError | None = None


Item = AuditText | UnreadFile | PuraError
"""What is handed in: a text, a file without one, or why there is neither; that comes back."""


class Prepared:
    """Keys opened, model loaded, once for many texts. See :func:`prepared`.

    Args:
        environment: Where keys, models and stores are.
        setup: With what texts are audited.
        held: Closes what is opened.

    Attributes:
        policy: The decision rule.
    """

    def __init__(self, environment: Environment, setup: Setup, held: ExitStack) -> None:
        self._environment, self._setup, self._held = environment, setup, held
        self._model: BareModel | None = None
        self._keys: list[OpenKey] = []
        self._options = Options(
            decoder=setup.decoder,
            policy=policy_of(environment, setup),
            restore=setup.restore,
            follow=setup.follow,
            weigh=setup.weigh,
            trust=trust_of(environment, setup),
            unfinished=environment.paths.unfinished if setup.resume else None,
        )

    @property
    def policy(self) -> Policy:
        """The decision rule."""
        return self._options.policy

    def open(
        self, *, progress: Progress = no_progress, checkpoint: Checkpoint = never_cancelled
    ) -> BareModel:
        """Open keys and register and load the model, where that was not done before.

        Raises:
            PuraError: One of them is not here or cannot be used; then no text can be audited.
            Cancelled: The checkpoint said so.
        """
        if self._model is not None:
            return self._model
        environment, setup = self._environment, resolved(self._environment, self._setup)
        issued = None
        if setup.ask_register is not False:
            issued = self._held.enter_context(
                registers.open_register(environment, must_exist=bool(setup.ask_register))
            )
        stored = None
        if setup.questions:
            file = questions_path(environment, setup.questions)
            stored = self._held.enter_context(open_questions(environment, file, read_only=True))
        self._keys = self._held.enter_context(environment.opened_keys(setup.needed_keys))
        progress(Stage(name="model"))
        reads = setup.profile.foreign is None or setup.weigh
        load = environment.model if reads else environment.bare_model
        model = load(setup.model, profile=setup.profile)
        checkpoint()
        self._setup, self._model = setup, model
        self._options = replace(
            self._options,
            register=issued,
            questions=stored,
            power_tables=setup.tables or (),
            epochs=setup.epochs,
            use=_use_of(environment, setup, issued),
        )
        return model

    def audit(
        self,
        item: AuditText | UnreadFile,
        *,
        progress: Progress = no_progress,
        checkpoint: Checkpoint = never_cancelled,
    ) -> Audited:
        """Audit one text; one that cannot be examined has a record that says why.

        Raises:
            PuraError: It cannot be audited for a reason that is not its own.
            Cancelled: The checkpoint said so.
        """
        (found,) = self.audit_many([item], progress=progress, checkpoint=checkpoint)
        if isinstance(found, PuraError):
            raise found
        return found

    def audit_many(
        self,
        items: Sequence[Item],
        *,
        progress: Progress = no_progress,
        checkpoint: Checkpoint = never_cancelled,
        day: dt.date | None = None,
    ) -> list[Audited | PuraError]:
        """Audit texts that the model reads side by side, a few thousand tokens together.

        Args:
            items: The texts, or why there is none.
            progress: Told of every step.
            checkpoint: Called often; may raise.
            day: As of :class:`Setup`, for a caller whose texts come in several groups.

        Returns:
            In the order of ``items``: the record, also where one cannot be examined; or why one
            cannot be audited for a reason that is not its own. Neither costs the others anything.

        Raises:
            PuraError: Key or model cannot be used.
            Cancelled: The checkpoint said so.
        """
        return audit_contained(
            items,
            lambda some, alone: self._audit_group(some, alone, progress, checkpoint, day),
            folder=self._environment.paths.state,
        )

    def contained(self, work: Callable[[], Found]) -> Found | PuraError:
        """Do something with one text; a fault of the program in it is its error."""
        return contained(work, folder=self._environment.paths.state)

    def _audit_group(
        self,
        items: Sequence[Item],
        alone: bool,
        progress: Progress,
        checkpoint: Checkpoint,
        day: dt.date | None,
    ) -> list[Audited | PuraError]:
        known = [Notice.READ_ALONE] if alone else []
        heard: list[list[Notice]] = [[*known] for _ in items]
        texts = [
            replace(item, alone=alone, notice=said.append, log=[])
            for item, said in zip(items, heard, strict=True)
            if isinstance(item, AuditText)
        ]
        texts = under_policy(with_manifests(texts, self._options, checkpoint), self._options)
        found = self._audits(texts, progress, checkpoint, day) if texts else []
        done = iter(zip(texts, found, strict=True))
        return [
            self._audited(*next(done), tuple(dict.fromkeys(said)))
            if isinstance(item, AuditText)
            else _not_examined(item, self._means())
            if isinstance(item, UnreadFile)
            else item
            for item, said in zip(items, heard, strict=True)
        ]

    def stream(
        self,
        items: Iterable[tuple[Name, Item]],
        *,
        progress: Progress = no_progress,
        checkpoint: Checkpoint = never_cancelled,
    ) -> Iterator[tuple[Name, Audited | PuraError]]:
        """Audit items as they come, some side by side; nothing is held but those.

        Args:
            items: What the caller calls each, and the item.
            progress: Told of every step; a step starts again with each few texts.
            checkpoint: Called often; may raise.

        Yields:
            What the caller calls it, and what became of it, in order.

        Raises:
            PuraError: Key or model cannot be used.
            Cancelled: The checkpoint said so.
        """
        day = self._setup.day or latest_day()  # one rule for all of them, past midnight too
        for group in _together(items):
            found = self.audit_many(
                [item for _, item in group], progress=progress, checkpoint=checkpoint, day=day
            )
            yield from zip((name for name, _ in group), found, strict=True)

    def _audits(
        self,
        texts: Sequence[AuditText],
        progress: Progress,
        checkpoint: Checkpoint,
        day: dt.date | None,
    ) -> list[Audit | PuraError]:
        from pura.detect.together import audit_schemes

        model, setup = self.open(progress=progress, checkpoint=checkpoint), self._setup
        sealing = {one.key for one in setup.foreign} - {ref.fingerprint for ref in setup.keys}
        return audit_schemes(
            texts,
            model=model,
            keys=[pair for pair in self._keys if pair[0].fingerprint not in sealing],
            seals=self._keys,
            profile=setup.profile,
            also=setup.also,
            options=replace(self._options, day=day or setup.day),
            progress=progress,
            checkpoint=checkpoint,
        )

    def _audited(
        self, text: AuditText, found: Audit | PuraError, notices: tuple[Notice, ...]
    ) -> Audited | PuraError:
        from pura.detect import record_facts
        from pura.detect.prompts import prompt_facts

        if isinstance(found, Audit):
            return Audited(audit=found, notices=notices)
        if reason_of(found) is None:
            return found
        audit = unexamined(
            record_facts.input_facts(text.document, 0),
            found,
            self._means(),
            text.log,
            text=text.document.text,
            prompt=prompt_facts(text.prompts),
        )
        audit = stated(audit, text.manifests or ())
        return Audited(audit=audit, error=found, notices=notices)

    def _means(self) -> IntendedSetup:
        """Return with what texts are audited; before anything is opened, what was chosen."""
        from pura.detect import record_facts

        at, setup, model = self._environment, self._setup, self._model
        device = at.compute_device() if model is None else model.device
        return IntendedSetup(
            keys=tuple(
                record_facts.key_named(ref.fingerprint, ref.label, at.origin_of(ref))
                for ref in setup.needed_keys
            ),
            profile=setup.profile,
            model=record_facts.model_facts(
                model or at.installed(setup.model, profile=setup.profile)
            ),
            device=record_facts.device_facts(device),
            policy=self.policy,
            decoder=setup.decoder,
        )


def _together(items: Iterable[tuple[Name, Item]]) -> Iterator[list[tuple[Name, Item]]]:
    """Put items together up to a number of texts and of characters."""
    group: list[tuple[Name, Item]] = []
    characters = 0
    for name, item in items:
        group.append((name, item))
        characters += len(item.document.text) if isinstance(item, AuditText) else 0
        if len(group) >= TOGETHER_TEXTS or characters >= TOGETHER_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _use_of(environment: Environment, setup: Setup, issued: Register | None) -> KeyUse:
    """Look up when the keys were created, and whether any payload was issued."""
    entries = [environment.entry_of(ref) for ref in setup.keys if not ref.root]
    days = [dt.datetime.fromisoformat(e.created).date() for e in entries if e and e.created]
    all_dated = bool(days) and len(days) == len(setup.keys)
    bits = setup.profile.payload_bits
    series = {registers.series_of(environment, ref, setup.profile) for ref in setup.keys}
    return KeyUse(
        created=min(days) if all_dated else None,
        issued=None if issued is None else sum(issued.count(one, bits) for one in series),
        unassigned=0 if issued is None else issued.unassigned(bits),
        today=dt.datetime.now(dt.UTC).date(),
    )


@contextmanager
def prepared(
    environment: Environment,
    setup: Setup,
    *,
    late: bool = False,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Iterator[Prepared]:
    """Open keys and register and load the model, for as many texts as there are.

    Args:
        environment: Where they are.
        setup: With what texts are audited.
        late: Not before the first text comes; a file without text needs none of them, but its
            record names the model, which must be an installed one.
        progress: Told when the model is loaded.
        checkpoint: Called after that; may raise.

    Raises:
        PuraError: One of them is not here or cannot be used; then no text can be audited.
    """
    with ExitStack() as held:
        ready = Prepared(environment, setup, held)
        if not late:
            ready.open(progress=progress, checkpoint=checkpoint)
        yield ready


def policy_of(environment: Environment, setup: Setup) -> Policy:
    """Return the policy that audits go by.

    Raises:
        PolicyError: It is damaged, or not there although it was named.
    """
    policy = setup.policy
    if not isinstance(policy, Policy):
        policy = load_policy(policy or environment.paths.policy, must_exist=policy is not None)
    if setup.stop_early:
        policy = replace(policy, stop_early=True)
    return replace(policy, leave_out=together(policy.leave_out, setup.leave_out))


def audit(
    environment: Environment,
    setup: Setup,
    item: AuditText | UnreadFile,
    *,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Audited:
    """Audit one text; the model stays loaded for the next.

    Raises:
        PuraError: It cannot be audited for a reason that is not its own.
        Cancelled: The checkpoint said so.
    """
    with prepared(environment, setup, late=True) as ready:
        return ready.audit(item, progress=progress, checkpoint=checkpoint)


def unread_file(
    path: Path | None, error: PuraError, *, checkpoint: Checkpoint = never_cancelled
) -> UnreadFile | None:
    """Say whether a file is an item that cannot be examined; None where the error is no outcome.

    Args:
        path: Where it is; None for standard input, of which nothing is left.
        error: Why no text could be made of it.
        checkpoint: Called often while its digest is worked out.

    Raises:
        Cancelled: The checkpoint said so.
    """
    if reason_of(error) is None or (path is not None and not path.is_file()):
        return None
    if path is None:
        return UnreadFile(name="-", error=error)
    sha256, size = digest_of(path, checkpoint)
    return UnreadFile(name=path.name, error=error, sha256=sha256, size_bytes=size)


def unread_parts(extraction: Extraction, parts: Sequence[str] = ()) -> tuple[UnreadFile, ...]:
    """Return the parts of a file that would be audited and of which no text could be made.

    Args:
        extraction: The file.
        parts: Those that were asked for by name; none are the usual ones.
    """
    return tuple(
        UnreadFile(
            name=extraction.name,
            error=one.error,
            sha256=extraction.sha256,
            size_bytes=extraction.size_bytes,
            part=one.part,
        )
        for one in extraction.missed(parts)
    )


def _not_examined(item: UnreadFile, means: IntendedSetup) -> Audited:
    from pura.words.sentences import sentence

    known = bytes_noted(item.size_bytes, item.sha256) if item.sha256 else sentence("log.unreadable")
    log = (
        StepReport(number=1, name=STEPS[0], done=bool(item.sha256), note=(known,)),
        StepReport(number=2, name=STEPS[1], done=False, error=item.error.packed()),
    )
    found = InputFacts(
        name=visible(item.name),
        sha256=item.sha256,
        size_bytes=item.size_bytes,
        characters=0,
        tokens=0,
        encoding="",
        format="",
        part=item.part,
    )
    return Audited(audit=unexamined(found, item.error, means, log), error=item.error)


def audit_again(
    environment: Environment,
    record: Audit,
    *,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Audit:
    """Audit the text of a record again: same keys, profile, policy and decoder, device of here.

    Raises:
        ReportFileError: The record leaves out what is needed (``repeat-text``, ``repeat-prompt``,
            ``repeat-questions``, ``repeat-ids``), or key, model, the register that was the prior
            or a power table are not here (``repeat-key``, ``repeat-model``, ``repeat-register``,
            ``repeat-power``).
        PuraError: Key or model cannot be used.
    """
    from pura.detect.restore.variants import CASE, FOUND, IDS, LAYOUT, RESTORED, SPELLING

    readings = {reading.name: reading for reading in record.variants}
    if IDS in readings:
        raise ReportFileError("repeat.ids", code="repeat-ids")
    if record.questions is not None:
        raise ReportFileError("repeat.questions", code="repeat-questions")
    if record.prompt.known or record.prompts:
        raise ReportFileError("report.prompt", code="repeat-prompt")
    found = readings.get(FOUND)
    # The record's own text is the one found, unless the reading has its characters beside it.
    text = record.text if found is None or found.text is None else found.text
    if text is None:
        raise ReportFileError("repeat.text", code="repeat-text")
    profile, *also = [one.profile for one in record.schemes] or [record.profile]
    own = {name for one in record.schemes if one.profile.foreign is None for name in one.keys}
    known = {key.fingerprint: key for key in record.keys}
    for name in (name for one in record.schemes for name in one.keys):
        known.setdefault(name, KeyFacts(fingerprint=name))
    refs = {name: _here(environment, key) for name, key in known.items()}
    model = next(
        (m for m in environment.models.list() if m.fingerprint == record.model.fingerprint), None
    )
    if model is None:
        raise _absent("model", record.model.fingerprint)
    _refuse_other_register(environment, record)
    policy = Policy.from_dict(record.policy)
    setup = Setup(
        keys=tuple(ref for name, ref in refs.items() if not own or name in own),
        profile=profile,
        also=tuple(also),
        model=model.name,
        decoder=record.decoder,
        policy=policy,
        tables=_tables_of(environment, policy),
        ask_register=record.prior is not None,
        restore=not readings or not {RESTORED, LAYOUT, CASE, SPELLING}.isdisjoint(readings),
        epochs=record.epochs or "",
        weigh=any(one.weighed for one in record.schemes),
    )
    again = audit(
        environment,
        setup,
        AuditText(document=from_text(text, name=record.input.name)),
        progress=progress,
        checkpoint=checkpoint,
    )
    if again.error is not None:
        raise again.error
    return again.audit


def _here(environment: Environment, key: KeyFacts) -> KeyRef:
    """Return a key of a record: one that is here, or that of an epoch of one that is."""
    if environment.has_key(key.fingerprint):
        return KeyRef(fingerprint=key.fingerprint, label=key.label)
    if key.parent and environment.has_key(key.parent):
        (derived,) = epoch_keys(environment, [KeyRef(fingerprint=key.parent)], key.epoch)
        if derived.fingerprint == key.fingerprint:
            return replace(derived, label=key.label)
    name, _, epoch = (key.label or "").rpartition(" ")
    if is_epoch(epoch):
        stored = map(KeyRef.of, environment.keys.list())
        for root in (*environment.session_keys.refs(), *stored):
            if name in (root.label, root.fingerprint):
                (found,) = epoch_keys(environment, [root], epoch)
                if found.fingerprint == key.fingerprint:
                    return found
    raise _absent("key", key.fingerprint)


def _tables_of(environment: Environment, policy: Policy) -> tuple[PowerTable, ...]:
    try:
        return tables_of(environment, policy)
    except PolicyError as error:
        if error.code != "power-absent":
            raise
        raise _absent("power", str(error.values["name"])) from None


def _refuse_other_register(environment: Environment, record: Audit) -> None:
    """Refuse where the register was part of the prior and is not here in the state that it had."""
    if record.prior is None:
        return
    with registers.open_register(environment, must_exist=False) as here:
        if here is None or here.version() != record.prior.version:
            raise _absent("register", record.prior.version)


def _absent(what: str, name: str) -> ReportFileError:
    whole = phrase(f"whole.{what}")
    return ReportFileError("repeat.absent", whole=whole, fingerprint=name, code=f"repeat-{what}")
