"""The session: the queue of texts, what is chosen, and the jobs; no widgets.

Views emit intentions, the session acts on them, and the models tell the views.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from pura.audit.fitness import mismatches
from pura.base.errors import PuraError
from pura.documents import MAX_CHARACTERS, Document, from_text
from pura.documents.folders import Summary, WalkOptions
from pura.lab.fitness.measure import ProxyFitness
from pura.model.reading import SHORT_OF_MEMORY
from pura.record.audit import Audit
from pura_audit.jobs.engine import Engine
from pura_audit.jobs.file_worker import BATCH, MAX_PARTS
from pura_audit.jobs.messages import (
    Catalogue,
    Chore,
    DeviceWords,
    Failure,
    KeyChoice,
    ModelChoice,
    ProfileChoice,
    Progress,
    Request,
)
from pura_audit.jobs.queue import JobQueue
from pura_audit.platform.i18n import translate
from pura_audit.platform.samples import LABEL, sample
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.folder_words import folder_words
from pura_audit.session.items import Item, ItemState
from pura_audit.session.picking import pick, pick_keys
from pura_audit.session.queue_model import QueueModel
from pura_audit.session.undo import AddRows, RemoveRows


class Session(QObject):
    """What the window works with.

    Signals:
        current_changed: Another row is on screen, or none.
        item_changed: The row on screen has changed.
        choices_changed: Key, model or profile, or what there is to choose from.
        device_changed: The device is known.
        busy_changed: Whether audits run or wait.
        noticed: Something to say in the status line.
        chore_changed: How a chore goes: Progress, then a Failure or None.
        measured: How good a proxy a model is.
    """

    current_changed = Signal()
    item_changed = Signal()
    choices_changed = Signal()
    device_changed = Signal()
    busy_changed = Signal(bool)
    noticed = Signal(str)
    chore_changed = Signal(object)
    measured = Signal(object)

    def __init__(
        self, engine: Engine, settings: SettingsFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.settings = settings
        self.queue = QueueModel(self)
        self.jobs = JobQueue(engine, self)
        self.undo = QUndoStack(self)
        self.catalogue: Catalogue | None = None
        self.device: DeviceWords | Failure | None = None
        self.keys: tuple[KeyChoice, ...] = ()
        self.model: ModelChoice | None = None
        self.profile: ProfileChoice | None = None
        self.current: Item | None = None
        self._numbers = itertools.count(1)
        self._chore = 0
        self.folder_options = WalkOptions()
        self.left_out: Summary | None = None
        self._pastes = itertools.count(1)
        jobs = self.jobs
        jobs.catalogued.connect(self._catalogued)
        jobs.placed.connect(self._placed)
        jobs.loaded.connect(self._loaded)
        jobs.parts.connect(self._parted)
        jobs.refused.connect(self._refused)
        jobs.found.connect(self._add_files)
        jobs.walked.connect(self._walked)
        jobs.started.connect(self._started)
        jobs.progressed.connect(self._progressed)
        jobs.finished.connect(self._finished)
        jobs.failed.connect(self._failed)
        jobs.cancelled.connect(self._cancelled)
        jobs.busy_changed.connect(self.busy_changed)

    # Texts come in

    def add_paths(self, paths: Iterable[Path]) -> None:
        """Add files, and the files inside folders; each becomes a row."""
        files = []
        remembered = self.settings.current
        for path in paths:
            if path.is_dir():
                self.jobs.walk(path, self.folder_options)
                continue
            files.append(path)
            remembered = remembered.with_recent(path)
        if files:
            self.settings.replace(remembered)  # once: every write waits for the disk
        self._add_files(files)

    def _add_files(self, paths: Sequence[Path]) -> None:
        if not paths:
            return
        shown = self.current
        items = [Item(number=next(self._numbers), name=p.name or str(p), path=p) for p in paths]
        self._add(items, translate("Session", "opening"))
        for item, path in zip(items, paths, strict=True):
            self.jobs.load(item.number, path)
        if shown is not None and len(self.queue.items) > BATCH:
            self.show(shown)  # later batches of a folder leave the screen alone

    def _walked(self, summary: Summary) -> None:
        self.left_out = summary
        self.noticed.emit(folder_words(summary))

    def _parted(self, number: int, documents: tuple[Document, ...]) -> None:
        first = self.queue.find(number)
        if first is None:
            return
        rows = [
            Item(number=next(self._numbers), name=d.title, document=d, state=ItemState.READY)
            for d in documents[: MAX_PARTS - 1]
        ]
        self.queue.insert(rows, self.queue.row(first) + 1)
        if len(documents) > len(rows):
            words = translate("Session", "Only the first %1 parts of that file were taken.")
            self.noticed.emit(words.replace("%1", str(MAX_PARTS)))

    def take_documents(self, item: Item, documents: tuple[Document, ...]) -> None:
        """Let a row hold another reading of its file; further parts become rows behind it."""
        if not documents or item.active:
            return
        first, *others = documents
        item.document, item.state, item.name = first, ItemState.READY, first.title
        item.audit, item.failure, item.progress = None, None, None
        self._touch(item)
        if others:
            self._parted(item.number, tuple(others))

    def add_text(self, text: str, name: str | None = None) -> None:
        """Add a text that was pasted or dropped."""
        label = name or translate("Session", "Pasted text %1").replace(
            "%1", str(next(self._pastes))
        )
        item = Item(number=next(self._numbers), name=label)
        try:
            item.document = from_text(text[: MAX_CHARACTERS + 1], name=label)
            item.state = ItemState.READY
        except PuraError as error:
            item.state, item.failure = ItemState.FAILED, Failure.of(error)
        self._add([item], translate("Session", "pasting"))

    def add_sample(self) -> None:
        """Add the sample text, which brings its own key and profile."""
        found = sample()
        label = translate("Session", "Sample text")
        item = Item(number=next(self._numbers), name=label, state=ItemState.READY)
        item.document = from_text(found.text, name=label)
        item.key = KeyChoice(label=LABEL, fingerprint=found.key.fingerprint, session=True)
        item.profile = found.profile
        self._add([item], translate("Session", "opening"))
        self.audit([item])

    def add_audit(self, audit: Audit) -> None:
        """Add an audit that was done elsewhere, and show it."""
        item = Item(number=next(self._numbers), name=audit.input.name, audit=audit)
        item.state = ItemState.DONE
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

    def remove(self, items: Sequence[Item]) -> None:
        """Take rows out; can be undone. A running one is cancelled first."""
        for item in items:
            if item.active:
                self.jobs.cancel(item.number)
        if items:
            self.undo.push(RemoveRows(self, items, translate("Session", "removing")))

    def set_prompt(self, item: Item, prompt: str) -> None:
        """Note the known prompt of a text."""
        item.prompt = prompt

    # Audits

    @property
    def ready(self) -> bool:
        """Whether key, model and profile are chosen."""
        return bool(self.keys) and self.model is not None and self.profile is not None

    def mismatches(self) -> tuple[PuraError, ...]:
        """Return why key, model and profile that are chosen cannot go together."""
        facts = self.model.facts if self.model is not None else None
        if facts is None or self.profile is None:
            return ()
        return mismatches(
            self.profile.profile,
            model=facts.name,
            vocab_size=facts.vocab_size,
            tokenizer=facts.tokenizer_fingerprint,
            keys=[key.fingerprint for key in self.keys],
        )

    def due(self) -> tuple[Item, ...]:
        """Return the rows that the Audit button would do: all new ones, else the one on screen."""
        fresh = tuple(i for i in self.queue.items if i.runnable and i.state is ItemState.READY)
        if fresh:
            return fresh
        current = self.current
        return (current,) if current is not None and current.runnable else ()

    def audit(self, items: Sequence[Item] | None = None) -> None:
        """Queue audits of the rows; a file that could not be read is read again."""
        for item in items if items is not None else self.due():
            if item.document is None and item.path is not None and not item.active:
                item.state, item.failure = ItemState.LOADING, None
                self._touch(item)
                self.jobs.load(item.number, item.path)
            elif item.runnable and (request := self._request(item)) is not None:
                item.state, item.progress, item.failure = ItemState.WAITING, None, None
                self._touch(item)
                self.jobs.add(item.number, request)

    def _request(self, item: Item) -> Request | None:
        chosen = (item.key,) if item.key is not None else self.keys
        # One key under two names would count twice in the mean over the keys.
        unique: dict[str, KeyChoice] = {}
        for key in chosen:
            unique.setdefault(key.fingerprint, key)
        keys = tuple(unique.values())
        profile = item.profile or (self.profile.profile if self.profile else None)
        if item.document is None or not keys or profile is None or self.model is None:
            missing = translate("Session", "Choose a key, a model and a profile first.")
            self.noticed.emit(missing)
            return None
        return Request(
            document=item.document,
            keys=keys,
            model=self.model.name,
            profile=profile,
            prompt=item.prompt.strip() or None,
        )

    def cancel(self) -> None:
        """Stop every audit that runs or waits."""
        self.jobs.cancel_all()

    # Chores of the first-run page

    def do_chore(self, chore: Chore) -> None:
        """Set a key, a model or a profile up."""
        self._chore = -next(self._numbers)
        self.chore_changed.emit(Progress(step=0, name=chore.kind))
        self.jobs.add(self._chore, chore)

    def cancel_chore(self) -> None:
        """Stop it."""
        self.jobs.cancel(self._chore)

    def _chore_ended(self, failure: Failure | None) -> None:
        self.chore_changed.emit(failure)
        self.jobs.refresh()

    def close(self) -> bool:
        """End all threads."""
        return self.jobs.close()

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

    def choose_model(self, model: ModelChoice) -> None:
        """Use a model from now on."""
        self.model = model
        self.settings.update(model=model.name)
        self.choices_changed.emit()

    def choose_profile(self, profile: ProfileChoice) -> None:
        """Use a profile from now on."""
        self.profile = profile
        self.settings.update(profile=profile.name)
        self.choices_changed.emit()

    def _catalogued(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        now = self.settings.current
        self.keys = pick_keys(catalogue.keys, self.keys, now.key)
        self.model = pick(catalogue.models, "name", self.model, now.model)
        self.profile = pick(catalogue.profiles, "name", self.profile, now.profile)
        self.choices_changed.emit()

    def _placed(self, device: DeviceWords | Failure) -> None:
        self.device = device
        self.device_changed.emit()

    # What the threads tell

    def _loaded(self, number: int, document: Document) -> None:
        if document.part:
            self._set(number, name=document.title)
        self._set(number, state=ItemState.READY, document=document)

    def _refused(self, number: int, failure: Failure) -> None:
        self._set(number, state=ItemState.FAILED, failure=failure)

    def _started(self, number: int) -> None:
        self._set(number, state=ItemState.RUNNING)

    def _progressed(self, number: int, progress: Progress) -> None:
        item = self.queue.find(number)
        if number < 0:
            self.chore_changed.emit(progress)
        elif item is not None and item.state is ItemState.RUNNING:
            self._set(number, progress=progress)

    def _finished(self, number: int, audit: Audit | ProxyFitness | str | None) -> None:
        if number < 0:
            self._chore_ended(None)
            if isinstance(audit, str):
                self.noticed.emit(audit)
            elif isinstance(audit, ProxyFitness):
                self.measured.emit(audit)
        elif isinstance(audit, Audit) and SHORT_OF_MEMORY in _notes(audit):
            self.noticed.emit(
                translate(
                    "Session",
                    "The memory of the device ran short, so the text was read in smaller pieces. "
                    "The findings are the same.",
                )
            )
        self._set(number, state=ItemState.DONE, audit=audit, progress=None)

    def _failed(self, number: int, failure: Failure) -> None:
        if number < 0:
            self._chore_ended(failure)
        self._set(number, state=ItemState.FAILED, failure=failure, progress=None)

    def _cancelled(self, number: int) -> None:
        if number < 0:
            self._chore_ended(None)
        self._set(number, state=ItemState.CANCELLED, progress=None)

    def _set(self, number: int, **changes: object) -> None:
        item = self.queue.find(number)
        if item is None:
            return
        for name, value in changes.items():
            setattr(item, name, value)
        self._touch(item)

    def _touch(self, item: Item) -> None:
        self.queue.touch(item)
        if item is self.current:
            self.item_changed.emit()


def _notes(audit: Audit) -> str:
    return " ".join(step.note for step in audit.log)
