"""The journal of the list for the next start, and the state of its findings in the case log."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QModelIndex, QObject, QTimer, Signal

from pura.base.errors import PuraError
from pura.base.files import make_private, write_atomic
from pura.caselog import KEEP, CaseStatus
from pura.documents import from_text
from pura.record.audit import Audit
from pura.record.finding import Finding
from pura.usecases.cases import open_saved, statuses_of
from pura_audit.jobs.queue import Done, Failure, JobQueue, Outcome
from pura_audit.platform.i18n import filled, translate
from pura_audit.platform.notices import sample
from pura_audit.platform.settings import SettingsFile, WindowSettings
from pura_audit.session.audits import length
from pura_audit.session.choices import sample_key
from pura_audit.session.keeper import Cases
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.texts import TextList

FILE: Final = "texts.jsonl"
MAX_BYTES: Final = 1 << 28  # of the journal, which may hold pasted texts
_log = logging.getLogger(__name__)


class Journal:
    """The journal file; write errors are logged and never stop the work.

    Args:
        folder: The folder of the program's state.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._last: dict[int, dict[str, Any]] = {}

    def write(self, rows: Iterable[Item], removed: Iterable[Item], *, readable: bool) -> None:
        """Write the present state of rows, and the removal of others.

        Args:
            rows: Rows to write.
            removed: Rows that were removed.
            readable: Whether pasted texts and prompts may be written to the file.
        """
        lines = []
        for item in rows:
            line = _line(item, readable=readable)
            if self._last.get(item.number) != line:  # progress alone is not noted
                self._last[item.number] = line
                lines.append(line)
        lines += [{"row": row.number, "gone": True} for row in removed]
        if not lines:
            return
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        try:
            make_private(self.path.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(self.path, flags, 0o600), "ab") as file:
                file.write(content.encode("utf-8", "surrogatepass"))
        except OSError as error:
            _log.warning("the list of texts cannot be noted: %s", error.strerror)

    def read(self) -> list[Item]:
        """Return the rows of the journal, numbered from 1."""
        try:
            with self.path.open("rb") as file:
                content = file.read(MAX_BYTES)
        except OSError:
            return []
        rows: dict[int, dict[str, Any]] = {}
        for line in content.splitlines():
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                row = json.loads(line)
                number = row["row"]
                if row.get("gone"):
                    rows.pop(number, None)
                else:
                    rows[number] = row
        ordered = sorted(rows.values(), key=lambda row: row.get("place", 0))
        texts = []
        for number, row in enumerate(ordered, start=1):
            with suppress(ValueError, TypeError, KeyError):
                texts.append(_item(number, row))
        return texts

    def begin(self, rows: Iterable[Item], *, readable: bool) -> None:
        """Start a new journal with these rows."""
        self._last.clear()
        with suppress(OSError):
            write_atomic(self.path, b"", private=True)
        self.write(rows, (), readable=readable)


def _line(row: Item, *, readable: bool) -> dict[str, Any]:
    line: dict[str, Any] = {
        "row": row.number,
        "place": row.number,
        "name": row.name,
        "state": row.state.value,
    }
    if row.path is not None:
        line["path"] = str(row.path.absolute())
    part = row.document.part if row.document is not None else row.part
    if part:
        line["part"] = part
    if length(row):
        line["characters"] = length(row)
    if row.digest:
        line["digest"] = row.digest
    if row.sample:
        line["sample"] = True
    elif readable:
        if row.path is None and row.document is not None and row.finding is None:
            line["text"] = row.document.text
        if row.prompt:
            line["prompt"], line["several"] = row.prompt, row.several
    if row.finding is not None and row.status is not None:
        line["finding"] = row.finding.to_json()
    if row.failure is not None:
        failure = row.failure
        line["failure"] = [failure.code, failure.message, failure.hint]
    return line


def _item(number: int, row: dict[str, Any]) -> Item:
    item = Item(number=number, name=str(row["name"]), state=_state(row["state"]))
    if "path" in row:
        item.path, item.part = Path(row["path"]), str(row.get("part", ""))
    item.known_length = int(row.get("characters", 0))
    item.known_digest = str(row.get("digest", ""))
    item.prompt, item.several = str(row.get("prompt", "")), bool(row.get("several"))
    if "failure" in row:
        code, message, hint = map(str, row["failure"])
        item.failure = Failure(code=code, message=message, hint=hint)
    text = row.get("text")
    if row.get("sample"):
        sample_text = sample()
        text = sample_text.text
        item.sample, item.profile, item.key = True, sample_text.profile, sample_key()
    if finding := row.get("finding", row.get("outline")):  # "outline" up to 0.3.0
        item.finding = Finding.from_json(finding)
        item.state = ItemState.DONE
    elif item.state is ItemState.DONE:
        item.state = ItemState.READY  # the case log did not take it: it is examined again
    if text is not None:
        with suppress(PuraError):
            item.document = from_text(str(text), name=item.name)
    if item.finding is None and item.document is None and item.path is None:
        item.state = ItemState.FAILED
        item.failure = item.failure or Failure(
            code="text-not-kept",
            message=translate("Session", "This text was pasted and not yet examined."),
            hint=translate("Session", "The settings keep no readable texts: paste it again."),
        )
    return item


def _state(name: str) -> ItemState:
    """Return the state of a row after a restart."""
    state = ItemState(name)
    if state is ItemState.RUNNING:
        return ItemState.INTERRUPTED
    return ItemState.READY if state in (ItemState.LOADING, ItemState.WAITING) else state


PAUSE_MS: Final = 150  # changes within it are noted together
LOOK_MS: Final = 400  # changes of the case log within this time are looked up together
_UNREAD: Final = (ItemState.READY, ItemState.CANCELLED, ItemState.INTERRUPTED)
IN_MEMORY: Final = 40  # records that stay besides the one on screen


def restored_words(rows: Sequence[Item]) -> str:
    """Return how many rows were restored, by state; each row is counted once."""
    states = [row.state for row in rows]
    finished = states.count(ItemState.DONE)
    cut = states.count(ItemState.INTERRUPTED)
    failed = states.count(ItemState.FAILED) + states.count(ItemState.CANCELLED)
    counted = (
        (finished, translate("Session", "{n:count} finished")),
        (cut, translate("Session", "{n:count} interrupted")),
        (failed, translate("Session", "{n:count} failed or cancelled")),
        (len(rows) - finished - cut - failed, translate("Session", "{n:count} ready")),
    )
    parts = [filled(template, n=count) for count, template in counted if count]
    return filled(translate("Session", "The list is back: {parts:text}."), parts=", ".join(parts))


class Record(QObject):
    """Writes every change of the list to the journal, and follows the case log.

    Args:
        texts: The list of texts.
        cases: The case log.
        settings: The settings: whether texts are stored, and the user's name.
        jobs: The queue that reads the file.
        parent: Its owner.

    Signals:
        noticed: A message for the status line.
    """

    noticed = Signal(str)

    def __init__(
        self, texts: TextList, cases: Cases, settings: SettingsFile, jobs: JobQueue, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._texts, self._cases, self._settings, self._jobs = texts, cases, settings, jobs
        self._ready = False
        self._journal = Journal(cases.environment.paths.state)
        self._changed: dict[int, Item] = {}
        self._known: dict[int, Item] = {}
        self._loaded: list[Item] = []
        self._noting = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._noting.timeout.connect(self.write)
        self._looking = QTimer(self, singleShot=True, interval=LOOK_MS)
        self._looking.timeout.connect(self._look)
        texts.queue.dataChanged.connect(self._note)
        texts.queue.rowsInserted.connect(self._note_inserted)
        texts.queue.rowsRemoved.connect(lambda *_: self._noting.start())
        texts.queue.modelReset.connect(self._noting.start)
        cases.changed.connect(self._looking.start)
        texts.prompted.connect(self.note)
        texts.current_changed.connect(self._fetch_current)
        settings.watchers.append(self._settings_changed)

    # On disk

    def restore(self) -> None:
        """Restore the list of an earlier run; nothing is written before that."""
        self._jobs.do(lambda _: self._journal.read(), self._restored, self)

    def _restored(self, outcome: Outcome[list[Item]]) -> None:
        if not isinstance(outcome, Done):
            return
        rows = outcome.result
        if rows:
            self._texts.add_restored(rows)
            self.noticed.emit(restored_words(rows))
        self._ready = True
        self._changed.clear()
        self._known = {row.number: row for row in self._texts.queue.items}
        self._journal.begin(self._known.values(), readable=self._readable)
        self._look()

    def write(self) -> None:
        """Write the changes since the last call."""
        if not self._ready:
            return
        listed = {row.number: row for row in self._texts.queue.items}
        removed = [row for number, row in self._known.items() if number not in listed]
        changed = [row for number, row in self._changed.items() if number in listed]
        self._known, self._changed = listed, {}
        if removed or changed:
            self._journal.write(changed, removed, readable=self._readable)

    def freeze(self) -> None:
        """Write the list for the last time, so that audits cut off by closing come back as such."""
        self.write()
        self._ready = False

    @property
    def _readable(self) -> bool:
        return self._settings.current.case_text == KEEP

    def _settings_changed(self, before: WindowSettings) -> None:
        if self._ready and before.case_text != self._settings.current.case_text:
            self.write()
            self._journal.begin(self._known.values(), readable=self._readable)

    def _note(self, first: QModelIndex, last: QModelIndex) -> None:
        self._note_inserted(QModelIndex(), first.row(), last.row())

    def _note_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        for row in self._texts.queue.items[first : last + 1]:
            self.note(row)

    def note(self, row: Item) -> None:
        """Write a row soon."""
        if not (row.imported and row.status is None):
            self._changed[row.number] = row
        if not self._noting.isActive():
            self._noting.start()

    # In the case log

    def _fetch_current(self) -> None:
        if self._texts.current is not None:
            self.fetch(self._texts.current)

    def fetch(self, row: Item) -> None:
        """Load the record or the text of a row that is to be shown."""
        finding = row.finding
        if row.state is ItemState.DONE and row.audit is None and finding is not None:
            auditor = self._settings.current.auditor or None
            environment = self._cases.environment
            self._cases.change(
                lambda _: open_saved(environment, finding.id, auditor=auditor),
                lambda outcome: self._fetched(row, outcome),
                self,
            )
        elif row.state in _UNREAD and row.document is None and row.path is not None:
            self._texts.load(row)

    def _fetched(self, row: Item, outcome: Outcome[Audit]) -> None:
        match outcome:
            case Done(audit):
                row.audit = audit
                self.count_loaded(row)
            case Failure():
                row.state, row.failure = ItemState.FAILED, outcome
        self._texts.touch(row)

    def count_loaded(self, row: Item) -> None:
        """Count a loaded record, and release the oldest one that can be loaded again."""
        self._loaded.append(row)
        for old in self._loaded[:-IN_MEMORY]:
            safe = old.status is not None and old.status.mode == KEEP
            if safe and old is not self._texts.current:
                old.audit = None
                self._loaded.remove(old)

    def _look(self) -> None:
        """Look up the state of the findings in the case log."""
        audits = {i.finding.id for i in self._texts.queue.items if i.finding is not None}
        if not audits:
            return
        environment = self._cases.environment
        self._cases.ask(lambda _: statuses_of(environment, audits), self._looked, self)

    def _looked(self, outcome: Outcome[dict[str, CaseStatus]]) -> None:
        if not isinstance(outcome, Done):
            return  # the log has it; what was known before stays
        for row in self._texts.queue.items:
            if row.finding is None:
                continue
            status = outcome.result.get(row.finding.id)
            if status != row.status:
                if row.unkept and status is not None:
                    row.failure = None  # what kept it from being saved is over
                row.status = status
                self._texts.touch(row)
