"""The session: the queue of texts, what is chosen, and the jobs; no widgets.

Views emit intentions, the session acts on them, and the models tell the views.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack
from shiboken6 import isValid

from pura.audit.fitness import mismatches
from pura.audit.options import AuditText, Notice
from pura.base.errors import PuraError
from pura.documents import MAX_CHARACTERS, Document, ReadOptions, from_text
from pura.documents.folders import Summary, WalkOptions
from pura.model.device import Device
from pura.model.installed import InstalledModel
from pura.record.audit import Audit
from pura.usecases.audits import Setup, UnreadFile
from pura.usecases.environment import Environment
from pura.usecases.prompts import candidates_of, candidates_text, read_candidates
from pura_audit.jobs.outcome import Done, Failure, Outcome, Progress, Stopped
from pura_audit.jobs.queue import Job, Jobs, Work
from pura_audit.platform.i18n import error_words, filled, translate
from pura_audit.platform.samples import LABEL, sample
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.audits import Audits
from pura_audit.session.case_log import Cases
from pura_audit.session.choices import (
    Catalogue,
    KeyChoice,
    ProfileChoice,
)
from pura_audit.session.drafts import Drafts
from pura_audit.session.engine import Engine
from pura_audit.session.files import BATCH, MAX_PARTS, FileTexts, read_file, walk_folder
from pura_audit.session.finding_summary import outline
from pura_audit.session.folder_words import folder_words
from pura_audit.session.items import Item, ItemState
from pura_audit.session.keeper import Keeper, Kept
from pura_audit.session.pace import Pace, excerpt_of, length
from pura_audit.session.picking import SEPARATOR, in_order, pick, pick_keys, pick_profiles
from pura_audit.session.queue_model import QueueModel
from pura_audit.session.record import Record
from pura_audit.session.undo import AddRows, RemoveRows

T = TypeVar("T")
_FRESH = (ItemState.READY, ItemState.INTERRUPTED)
_CUT = (ItemState.CANCELLED, ItemState.INTERRUPTED)


class Session(QObject):
    """What the window works with.

    Args:
        engine: Who does the work.
        settings: The settings.
        remembers: The list comes back at the next start.

    Attributes:
        jobs: The queues that work off the window's thread.
        cases: The case log.
        keeper: Keeps finished audits.
        audits: Those that wait and run.

    Signals:
        current_changed: Another row is on screen, or none.
        item_changed: The row on screen has changed.
        choices_changed: Key, model or profile, or what there is to choose from.
        device_changed: The device is known.
        busy_changed: Whether audits run or wait.
        noticed: Something to say in the status line.
        installing_changed: A model is fetched or added, or no longer.
        report_seen: A file that was read carries the record of a report: its path.
        install_wanted: Somebody agreed that the built-in model is installed.
    """

    current_changed = Signal()
    item_changed = Signal()
    choices_changed = Signal()
    device_changed = Signal()
    busy_changed = Signal(bool)
    noticed = Signal(str)
    installing_changed = Signal()
    report_seen = Signal(object)
    install_wanted = Signal()

    def __init__(
        self,
        engine: Engine,
        settings: SettingsFile,
        parent: QObject | None = None,
        *,
        remembers: bool = True,
    ) -> None:
        super().__init__(parent)
        self.settings = settings
        self.queue = QueueModel(self)
        self._engine = engine
        self.jobs = Jobs(self)
        self.cases = Cases(self.jobs.cases, engine.environment, self)
        self.keeper = Keeper(engine.environment, settings)
        self.audits = Audits(self.jobs.model, engine, self.keeper, self)
        self.audits.begun.connect(self._started)
        self.audits.told.connect(self._progressed)
        self.audits.ended.connect(self._audited)
        self.record = Record(self, self.jobs.files, self)
        self.drafts = Drafts(engine.environment.paths.state, settings, self.jobs.files)
        self.pace = Pace(settings)
        self._remembers = remembers
        self.undo = QUndoStack(self)
        self.catalogue: Catalogue | None = None
        self.device: Device | Failure | None = None
        self.keys: tuple[KeyChoice, ...] = ()
        self.model: InstalledModel | None = None
        self.profiles: tuple[ProfileChoice, ...] = ()
        self.current: Item | None = None
        self._dropped: list[Item] = []
        self._numbers = itertools.count(1)
        self.folder_options = WalkOptions()
        self.left_out: Summary | None = None
        self._pastes = itertools.count(1)
        self.jobs.model.busy_changed.connect(self.busy_changed)
        self.jobs.installs.busy_changed.connect(lambda _: self.installing_changed.emit())
        for signal in (self.choices_changed, self.device_changed):
            signal.connect(lambda: self.pace.use(self.model, self.device))

    # Texts come in

    def add_paths(self, paths: Iterable[Path], *, dropped: bool = False) -> None:
        """Add files, and the files inside folders; each becomes a row.

        Args:
            paths: Where they are.
            dropped: Those that are no folders are examined by themselves, where that is wanted.
        """
        files = []
        remembered = self.settings.current
        for path in paths:
            if path.is_dir():
                self._walk(path, self.folder_options)
                continue
            files.append(path)
            remembered = remembered.with_recent(path)
        if files:
            self.settings.replace(remembered)  # once: every write waits for the disk
        self._add_files(files, dropped=dropped)

    def _add_batch(self, paths: Sequence[Path]) -> None:
        """Add what a walk through a folder found; later batches leave the screen alone."""
        shown = self.current
        self._add_files(paths)
        if shown is not None and len(self.queue.items) > BATCH:
            self.show(shown)

    def _add_files(self, paths: Sequence[Path], *, dropped: bool = False) -> None:
        if not paths:
            return
        items = [Item(number=next(self._numbers), name=p.name or str(p), path=p) for p in paths]
        self._dropped += items if dropped else ()
        self._add(items, translate("Session", "opening"))
        for item in items:
            self.load(item)

    def _walk(self, folder: Path, options: WalkOptions) -> None:
        self.jobs.files.do(
            lambda context: walk_folder(folder, options, self._add_batch, context),
            self._walked,
            self,
        )

    def _walked(self, outcome: Outcome[Summary]) -> None:
        match outcome:
            case Done(summary):
                self.left_out = summary
                self.noticed.emit(folder_words(summary))
            case Failure():
                self.noticed.emit(outcome.words)

    def load(self, item: Item) -> None:
        """Read the file of a row; one that was cut off or cancelled stays so."""
        path = item.path
        if path is not None:
            if item.state not in _CUT:
                item.state = ItemState.LOADING
            self.jobs.files.do(
                lambda context: read_file(path, ReadOptions(), context),
                lambda outcome: self._loaded(item, outcome),
                self,
            )

    def _loaded(self, item: Item, outcome: Outcome[FileTexts | UnreadFile]) -> None:
        if item.document is not None or item.state not in (ItemState.LOADING, *_CUT):
            return  # it was taken out and put back meanwhile, and read twice
        wanted, item.wanted = item.wanted, False
        match outcome:
            case Done(UnreadFile() as unread):
                item.state, item.failure = ItemState.FAILED, Failure.of(unread.error)
                self._touch(item)
                if self.ready:  # that it cannot be examined is a finding as well
                    self._ask(item, unread)
            case Done(FileTexts() as texts):
                first, *others = _wanted_parts(texts.documents, item.part)
                item.name = first.title if first.part else item.name
                item.document = first
                item.state = item.state if item.state in _CUT else ItemState.READY
                self._touch(item)
                if texts.report:  # what is meant by it is asked
                    self._dropped = [one for one in self._dropped if one is not item]
                    self.report_seen.emit(item.path)
                self._add_parts(item, others)
                if item.part is None:
                    self._add_unread(item, texts.unread)
                if wanted:
                    self._ask(item, first)
            case Failure():
                item.state, item.failure = ItemState.FAILED, outcome
                self._touch(item)

    def _add_parts(self, item: Item, documents: Sequence[Document]) -> None:
        """Put the further texts of a file behind its row."""
        if not documents or self.queue.row(item) < 0:
            return
        rows = [
            Item(
                number=next(self._numbers),
                name=d.title,
                path=item.path,
                part=d.part,
                document=d,
                state=ItemState.READY,
            )
            for d in documents[: MAX_PARTS - 1]
        ]
        self._dropped += rows if item in self._dropped else ()
        self.queue.insert(rows, self.queue.row(item) + 1)
        if len(documents) > len(rows):
            words = translate(
                "Session", "Only the first {most:text} parts of that file were taken."
            )
            self.noticed.emit(filled(words, most=MAX_PARTS))

    def _add_unread(self, item: Item, parts: Sequence[UnreadFile]) -> None:
        """Put what could not be read of a file behind its row: that it was not is a finding."""
        if not parts or self.queue.row(item) < 0:
            return
        rows = [
            Item(
                number=next(self._numbers),
                name=f"{one.name} · {one.part}" if one.part else one.name,
                path=item.path,
                part=one.part,
                state=ItemState.FAILED,
                failure=Failure.of(one.error),
            )
            for one in parts[: MAX_PARTS - 1]
        ]
        self.queue.insert(rows, self.queue.row(item) + 1)
        if self.ready:
            for row, one in zip(rows, parts, strict=False):
                self._ask(row, one)

    def take_documents(self, item: Item, documents: tuple[Document, ...]) -> None:
        """Let a row hold another reading of its file; further parts become rows behind it."""
        if not documents or item.active:
            return
        first, *others = documents
        item.document, item.state, item.name = first, ItemState.READY, first.title
        item.audit, item.failure, item.progress = None, None, None
        item.outline, item.standing = None, None
        self._touch(item)
        self._add_parts(item, others)

    def add_text(self, text: str, name: str | None = None, *, dropped: bool = False) -> None:
        """Add a text that was pasted or dropped; see :meth:`add_paths`."""
        label = name or filled(translate("Session", "Pasted text {n:text}"), n=next(self._pastes))
        item = Item(number=next(self._numbers), name=label)
        try:
            item.document = from_text(text[: MAX_CHARACTERS + 1], name=label)
            item.state = ItemState.READY
        except PuraError as error:
            item.state, item.failure = ItemState.FAILED, Failure.of(error)
        self._dropped += [item] if dropped else ()
        self._add([item], translate("Session", "pasting"))

    def add_sample(self) -> None:
        """Add the sample text, which brings its own key and profile."""
        marked = sample()
        label = translate("Session", "Sample text")
        item = Item(number=next(self._numbers), name=label, state=ItemState.READY, sample=True)
        item.document = from_text(marked.text, name=label)
        item.key = KeyChoice(label=LABEL, fingerprint=marked.key.fingerprint, session=True)
        item.profile = marked.profile
        self._add([item], translate("Session", "opening"))
        self.audit([item])

    def add_audit(self, audit: Audit) -> None:
        """Add an audit that was done elsewhere, and show it."""
        item = Item(number=next(self._numbers), name=audit.input.name, audit=audit, elsewhere=True)
        item.state, item.outline = ItemState.DONE, outline(audit)
        if audit.text is not None:
            try:
                item.document = from_text(audit.text, name=audit.input.name)
            except PuraError:
                item.document = None
        self._add([item], translate("Session", "opening"))

    def _add(self, items: Sequence[Item], words: str) -> None:
        self.undo.push(AddRows(self, items, words))

    # Rows

    def show(self, item: Item | None) -> None:
        """Bring a row on screen."""
        if item is not self.current:
            self.current = item
            self.current_changed.emit()
            if item is not None:
                self.record.fetch(item)

    def remove(self, items: Sequence[Item]) -> None:
        """Take rows out; can be undone. A running one is cancelled first."""
        self.stop(items)
        if items:
            self.undo.push(RemoveRows(self, items, translate("Session", "removing")))

    def set_prompt(self, item: Item, prompt: str, *, several: bool) -> None:
        """Note the known prompt of a text, or a list of candidates."""
        item.prompt, item.several = prompt, several
        self.record.note(item)

    def load_prompts(self, item: Item, path: Path) -> None:
        """Read a file of candidate prompts for a text."""
        self.jobs.files.do(
            lambda _context: read_candidates(path),
            lambda outcome: self._prompts_loaded(item, outcome),
            self,
        )

    def _prompts_loaded(self, item: Item, outcome: Outcome[tuple[str, ...]]) -> None:
        match outcome:
            case Done(prompts):
                self.set_prompt(item, candidates_text(prompts), several=True)
                self._touch(item)
            case Failure():
                self.noticed.emit(outcome.words)

    # Audits

    @property
    def missing(self) -> tuple[str, ...]:
        """Which of ``key``, ``model`` and ``profile`` are not chosen; empty while it is looked."""
        if self.catalogue is None:
            return ()
        chosen = {"key": self.keys, "model": self.model, "profile": self.profile}
        return tuple(name for name, choice in chosen.items() if not choice)

    @property
    def ready(self) -> bool:
        """Whether key, model and profile are chosen."""
        return bool(self.keys) and self.model is not None and self.profile is not None

    def mismatches(self) -> tuple[PuraError, ...]:
        """Return why key, model and profile that are chosen cannot go together."""
        facts = self.model
        if facts is None:
            return ()
        known = self.catalogue.keys if self.catalogue is not None else ()
        return tuple(
            problem
            for place, choice in enumerate(self.profiles)
            for problem in mismatches(
                choice.profile,
                model=facts.name,
                vocab_size=facts.vocab_size,
                tokenizer=facts.tokenizer_fingerprint,
                # Those that seal further profiles need not be chosen: they are found.
                keys=[key.fingerprint for key in (*self.keys, *(known if place else ()))],
            )
        )

    def due(self) -> tuple[Item, ...]:
        """Return the rows that the Audit button would do: all new ones, else the one on screen."""
        fresh = tuple(i for i in self.queue.items if i.runnable and i.state in _FRESH)
        if fresh:
            return fresh
        current = self.current
        return (current,) if current is not None and current.runnable else ()

    @property
    def begins_alone(self) -> bool:
        """Whether an audit begins by itself when a text is dropped."""
        wanted = self.settings.current.begin_audits
        return not self.environment.paths.policy.exists() if wanted is None else wanted

    def take_dropped(self) -> tuple[Item, ...]:
        """Return the texts that were dropped, once: when all are read and nothing is missing."""
        if not self._dropped or not self.ready or self.mismatches() or not self.begins_alone:
            return ()
        if any(item.state is ItemState.LOADING for item in self._dropped):
            return ()
        here = set(self.queue.items)
        taken, self._dropped = self._dropped, []
        return tuple(i for i in taken if i in here and i.state is ItemState.READY)

    def audit(self, items: Sequence[Item] | None = None) -> None:
        """Queue audits of the rows, short ones first; a file that was not read is read again."""
        for item in sorted(items if items is not None else self.due(), key=length):
            if item.document is None and item.path is not None and not item.active:
                item.failure, item.wanted = None, True
                self.load(item)
                self._touch(item)
            elif item.runnable and item.document is not None:
                self._ask(item, item.document)

    def audit_excerpts(self, items: Sequence[Item]) -> None:
        """Audit how the long ones of these texts begin, each as a row and a text of its own."""
        most = self.pace.excerpt
        chosen = []
        for item in items:
            if item.document is None or length(item) <= most:
                chosen.append(item)
                continue
            begin = excerpt_of(item.document.text, most)
            words = translate("Session", "{name:text}, first {n:count} characters")
            name = filled(words, name=item.name, n=len(begin))
            row = Item(number=next(self._numbers), name=name, state=ItemState.READY)
            row.document = from_text(begin, name=name)
            row.key, row.profile = item.key, item.profile
            row.prompt, row.several = item.prompt, item.several
            chosen.append(row)
            self.queue.insert([row], self.queue.row(item) + 1)
        self.audit(chosen)
        if chosen:
            self.show(chosen[0])

    @property
    def seconds_left(self) -> float | None:
        """How long everything takes that runs or waits; None where that is not known."""
        active = [item for item in self.queue.items if item.active]
        waiting = self.pace.seconds(item for item in active if item.state is ItemState.WAITING)
        running = [item for item in active if item.state is ItemState.RUNNING]
        if not running:
            return waiting
        progress = running[0].progress  # of all that are read side by side
        left = progress.seconds_left if progress is not None else None
        if left is None:
            left = self.pace.seconds(running)
        only = len(running) == len(active)
        return left if only or left is None or waiting is None else left + waiting

    def _ask(self, item: Item, document: Document | UnreadFile) -> None:
        setup = self._setup(item)
        prompts = self._prompts(item) if setup is not None else None
        if setup is None or prompts is None:
            return
        text: AuditText | UnreadFile = (
            document
            if isinstance(document, UnreadFile)
            else AuditText(document=document, prompts=prompts)
        )
        item.state, item.progress, item.failure = ItemState.WAITING, None, None
        self._touch(item)
        self.audits.ask(item, setup, text)

    def _started(self, item: Item) -> None:
        item.state, item.looks = ItemState.RUNNING, []
        self._touch(item)

    def _progressed(self, item: Item, progress: Progress) -> None:
        item.progress = progress
        if progress.log10_e is not None:
            item.looks.append((progress.done, progress.log10_e))
        self._touch(item)

    def _audited(self, item: Item, outcome: Outcome[Kept]) -> None:
        item.progress = None
        match outcome:
            case Done(kept):
                audited = kept.audited
                item.state, item.audit = ItemState.DONE, audited.audit
                item.outline, item.standing = kept.outline, kept.standing
                item.failure = Failure.of(audited.error) if audited.error is not None else None
                self.pace.note(audited.audit)
                if kept.failure is not None:
                    self.noticed.emit(kept.failure.words)
                self.cases.changed.emit()
                self.record.let_go(item)
                if Notice.SHORT_OF_MEMORY in audited.notices:
                    self.noticed.emit(_short_of_memory())
            case Failure():
                item.state, item.failure = ItemState.FAILED, outcome
            case Stopped():
                item.state = ItemState.CANCELLED
        self._touch(item)

    def _setup(self, item: Item) -> Setup | None:
        keys = (item.key,) if item.key is not None else self.keys
        profile = item.profile or (self.profile.profile if self.profile else None)
        if not keys or profile is None or self.model is None:
            missing = translate("Session", "Choose a key, a model and a profile first.")
            self.noticed.emit(missing)
            return None
        return Setup(
            keys=tuple(key.ref for key in keys),
            model=self.model.name,
            profile=profile,
            also=() if item.profile else tuple(p.profile for p in self.profiles[1:]),
            follow=True,
        )

    def _prompts(self, item: Item) -> tuple[str, ...] | None:
        """Return the prompts of a row; None where a line of its candidates is none."""
        if not item.prompt.strip():
            return ()
        try:
            return candidates_of(item.prompt) if item.several else (item.prompt.strip(),)
        except PuraError as error:
            self.noticed.emit(error_words(error))
            return None

    def cancel(self) -> None:
        """Stop every audit that runs or waits, and whatever else reads with the model."""
        self.audits.stop_all()
        self.jobs.model.cancel_all()

    def stop(self, items: Iterable[Item]) -> None:
        """Stop the audits of these rows, waiting or running."""
        self.audits.stop(items)

    def move(self, item: Item, by: int) -> None:
        """Let the audit of a row be done earlier (negative) or later."""
        self.audits.move(item, by)

    @property
    def busy(self) -> bool:
        """Whether anything that the model is needed for runs or waits."""
        return self.jobs.model.busy

    @property
    def unkept(self) -> int:
        """How many findings are in memory alone, because the case log did not take them."""
        return sum(item.unkept for item in self.queue.items)

    @property
    def paused(self) -> bool:
        """Whether the audits are paused."""
        return self.jobs.model.paused

    def set_paused(self, paused: bool) -> None:
        """Pause the audits or let them go on."""
        self.jobs.model.set_paused(paused)
        self.busy_changed.emit(self.busy)
        self.item_changed.emit()

    # Use cases

    @property
    def environment(self) -> Environment:
        """Where the use cases work; its model belongs to the thread of the model."""
        return self._engine.environment

    def do(
        self,
        work: Work[T],
        then: Callable[[Outcome[T]], None],
        owner: QObject,
        *,
        words: Callable[[T], str] | None = None,
        progressed: Callable[[Progress], None] | None = None,
        started: Callable[[], None] | None = None,
        at: Literal["stores", "model", "installs"] = "stores",
    ) -> Job:
        """Do something to keys, models, profiles, register or reports; see :meth:`JobQueue.do`.

        What there is to choose from is looked through again afterwards.

        Args:
            work: The use case.
            then: Gets what came of it.
            owner: Whoever asks; once it is gone, the status line says what went wrong.
            words: What the status line says of it when it is done.
            progressed: Told how far it is.
            started: Called when its turn comes.
            at: Whom it waits for: ``model`` for whatever reads with the model or takes its files
                away, ``installs`` for what fetches or adds one, ``stores`` for all the rest.
        """

        def ended(outcome: Outcome[T]) -> None:
            self.look_around()
            if isValid(owner):
                then(outcome)
            elif isinstance(outcome, Failure):
                self.noticed.emit(outcome.words)
            if words is not None and isinstance(outcome, Done):
                self.noticed.emit(words(outcome.result))

        def told(progress: Progress) -> None:
            if progressed is not None and isValid(owner):
                progressed(progress)

        def begun() -> None:
            if started is not None and isValid(owner):
                started()

        queues = {
            "stores": self.jobs.stores,
            "model": self.jobs.model,
            "installs": self.jobs.installs,
        }
        return queues[at].do(work, ended, self, started=begun, progressed=told)

    @property
    def installing(self) -> bool:
        """Whether a model is fetched or added."""
        return self.jobs.installs.busy

    def close(self) -> bool:
        """Note the list, and end all threads."""
        self.record.freeze()
        ended = self.jobs.close()
        self.keeper.wipe()
        return ended

    # Choices

    @property
    def key(self) -> KeyChoice | None:
        """The key that is chosen; the first, when several are."""
        return self.keys[0] if self.keys else None

    def choose_keys(self, keys: Sequence[KeyChoice]) -> None:
        """Use these keys from now on: every audit tries them all in one pass of the model."""
        self.keys = tuple(keys)
        self.settings.update(key=",".join(key.fingerprint for key in self.keys))
        self.choices_changed.emit()

    def choose_model(self, model: InstalledModel) -> None:
        """Use a model from now on."""
        self.model = model
        self.settings.update(model=model.name)
        self.choices_changed.emit()

    @property
    def profile(self) -> ProfileChoice | None:
        """The profile that is chosen; the first, when several are."""
        return self.profiles[0] if self.profiles else None

    def choose_profiles(self, profiles: Sequence[ProfileChoice]) -> None:
        """Use these profiles from now on: every audit tries them all.

        Only one can be PURA's, the one that was chosen last, and it comes first.
        """
        self.profiles = in_order(profiles, self.profiles)
        self.settings.update(profile=SEPARATOR.join(choice.name for choice in self.profiles))
        self.choices_changed.emit()

    def begin(self) -> None:
        """Bring the list back, find keys and models, then import torch and find the device."""
        if self._remembers:
            self.record.restore()
        self.look_around()
        self.jobs.model.do(lambda _: self._engine.device(), self._placed, self, aside=True)

    def look_around(self) -> None:
        """Find keys, models and profiles."""
        self.jobs.stores.do(lambda _: self._engine.catalogue(), self._catalogued, self, aside=True)

    def _catalogued(self, outcome: Outcome[Catalogue]) -> None:
        if not isinstance(outcome, Done):
            return  # the log has it; what was there before stays
        self.catalogue = catalogue = outcome.result
        now = self.settings.current
        self.keys = pick_keys(catalogue.keys, self.keys, now.key)
        self.model = pick(catalogue.models, "name", self.model, now.model)
        self.profiles = pick_profiles(catalogue.profiles, self.profiles, now.profile)
        self.choices_changed.emit()

    def _placed(self, outcome: Outcome[Device]) -> None:
        if isinstance(outcome, Stopped):
            return
        self.device = outcome.result if isinstance(outcome, Done) else outcome
        self.device_changed.emit()

    def add_restored(self, items: Sequence[Item]) -> None:
        """Put the rows of an earlier run back, before those that are there."""
        for item in items:
            item.number = next(self._numbers)
        self.queue.insert(items, 0)
        if self.current is None:
            self.show(items[-1])

    def say(self, words: str) -> None:
        """Say something in the status line."""
        self.noticed.emit(words)

    def touch(self, item: Item) -> None:
        """Tell everybody that a row has changed."""
        self._touch(item)

    def _touch(self, item: Item) -> None:
        self.queue.touch(item)
        if item is self.current:
            self.item_changed.emit()


def _wanted_parts(documents: Sequence[Document], part: str | None) -> Sequence[Document]:
    """Return all texts of a file, or the one of a part."""
    if part is None:
        return documents
    return [d for d in documents if d.part == part][:1] or documents[:1]


def _short_of_memory() -> str:
    return translate(
        "Session",
        "The memory of the device ran short, so the text was read in smaller pieces. "
        "The findings are the same.",
    )
