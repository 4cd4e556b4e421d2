"""What was issued: a table of the register, its import, and who got a payload."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSignalBlocker,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QMenu, QWidget

from pura.base.catalogue import Phrase, catalogue
from pura.base.numerals import date
from pura.keys import KeyRef
from pura.register.rows import Issue, Problems, RegisterEntry
from pura.register.store import MANIFEST_COLUMN, NOTE_COLUMN, entry_of
from pura.scheme import MarkIdentity, Profile, unpack
from pura.usecases.registers import (
    IssuedRows,
    MarkLookup,
    export_register,
    import_register,
    issued_under,
    look_up,
    mark_of,
    select_issued,
)
from pura_audit.jobs.queue import Done, Failure, Job, JobContext, Outcome, Progress, by_outcome
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID, PADDING
from pura_audit.widgets.card import (
    Card,
    ElidedLabel,
    FlowLayout,
    Scrolled,
    add_parts,
    column_of,
    label,
    progress_bar,
    push_button,
    row_of,
    search_field,
)
from pura_audit.widgets.form_dialog import (
    Remark,
    Words,
    ask_file,
    ask_folder,
    ask_target,
    combo,
    opened,
    plain_button,
)
from pura_audit.widgets.payload_form import PayloadForm
from pura_audit.widgets.working_dialog import RowsModel, TableDialog, let_sort, make_table
from pura_audit.workbench.assign_dialog import AssignDialog

Index = QModelIndex | QPersistentModelIndex
PAUSE_MS: Final = 200
MOST: Final = 200_000
"""Rows that are shown; whoever has more narrows the search."""
WIDTHS: Final = {
    "number": 76,
    "who": 180,
    "when": 104,
    "note": 150,
    "payload": 130,
    "key": 150,
    "model": 150,
    "question": 150,
}
_BEHIND_FIELDS: Final = ("note", "payload", "key", "model", "manifest", "question")
"""Columns of the table behind those of the payload's fields."""
FIELD: Final = 104
SIDE: Final = 280
NARROW: Final = 560  # of what stands where there are no rows


class IssuedModel(RowsModel):
    """Rows of the register as they were read; a row is made out when it is on screen.

    Signals:
        order_wanted: By which column, and whether the largest comes first.
    """

    order_wanted = Signal(str, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), (), parent)
        self.show_rows((), None)

    def show_rows(
        self,
        rows: Sequence[tuple[Any, ...]],
        profile: Profile | None,
        key_names: Mapping[str, str] = MappingProxyType({}),
        kept: Mapping[MarkIdentity, dt.date] = MappingProxyType({}),
    ) -> None:
        """Show rows.

        Args:
            rows: As the register gives them.
            profile: Whose fields are shown.
            key_names: Names of the keys that are known here, by fingerprint.
            kept: For marks whose question is kept, the last day of that.
        """
        self.beginResetModel()
        self._rows, self._profile, self._key_names, self._kept = rows, profile, key_names, kept
        self._cells: dict[int, tuple[str, ...]] = {}
        names = tuple(field.name for field in profile.fields) if profile is not None else ()
        self.columns = ("number", "who", "when", *names, *_BEHIND_FIELDS)
        words = column_words()
        self._headers = tuple(words.get(name, name) for name in self.columns)
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell or where it is set."""
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column():
            return None  # a number of a customer is a name
        return super().data(index, role)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return a header: on the left, where the arrow of the order leaves it room."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return super().headerData(section, orientation, role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Ask for another order: the register sorts, off the window's thread."""
        name = self.columns[column] if 0 <= column < len(self.columns) else "number"
        self.order_wanted.emit(name, order == Qt.SortOrder.DescendingOrder)

    def place(self, number: int) -> int:
        """Return where an entry is shown; -1 where it is not."""
        return next((at for at, row in enumerate(self._rows) if row[0] == number), -1)

    def cell(self, row: int, column: int) -> str:
        """Return what a cell shows."""
        if row not in self._cells:
            entry, profile = entry_of(tuple(self._rows[row])), self._profile
            issue, payload, series = entry.issue, entry.issue.payload, entry.issue.series
            values: list[str] = []
            if profile and series is not None and series.profile == profile.fingerprint:
                values = [field.text for field in unpack(profile.fields, payload)]
            some = values or [""] * (len(self.columns) - 3 - len(_BEHIND_FIELDS))
            self._cells[row] = (
                *(str(entry.number), issue.who, issue.when),
                *some,
                *(issue.note, payload.hex, key_words(entry, self._key_names)),
                *(issue.model, issue.manifest, self._kept_words(issue)),
            )
        return self._cells[row][column]

    def _kept_words(self, issue: Issue) -> str:
        """Name the day until which the question of an entry is kept; nothing where none is."""
        series = issue.series
        until = None if series is None else self._kept.get(series.mark(issue.payload))
        return "" if until is None else date(until.isoformat(), language())


def column_words() -> dict[str, str]:
    """Name the columns that are no fields of a payload."""
    return {
        "number": translate("Issued", "Entry"),
        "who": translate("Issued", "To whom"),
        "when": translate("Issued", "When"),
        "note": translate("Issued", "For what"),
        "payload": translate("Issued", "Payload"),
        "key": translate("Issued", "Key"),
        "model": translate("Issued", "Model"),
        "manifest": translate("Issued", "Manifest"),
        "question": translate("Issued", "Question kept until"),
    }


class IssuedView(QWidget):
    """The register: search, import, and who got a payload.

    Signals:
        mark_wanted: A text is to be marked.
        back_wanted: The texts are to be shown again.
        noticed: Something to say in the status line: words, or a failure.
    """

    mark_wanted = Signal()
    back_wanted = Signal()
    noticed = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._job: Job | None = None
        self._order, self._falling = "number", False
        self.total = 0
        self.model = IssuedModel(self)
        self.heading = ElidedLabel(role="reading")
        self.search = search_field(
            translate("Issued", "Search"), translate("Issued", "Search what was issued")
        )
        self.column = combo(())
        self.column.setAccessibleName(translate("Issued", "Where to search"))
        self.words = Remark()
        self.table = make_table(translate("Issued", "Issued payloads"))
        self.table.setModel(self.model)
        let_sort(self.table)
        self.table.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.none = label("", "muted", wrap=True)
        self.none.setMaximumWidth(NARROW)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.bar = progress_bar(translate("Issued", "Progress of the import"))
        self.stop = plain_button(translate("Issued", "Stop"), self._stop)
        self.add = push_button(translate("Issued", "Import …"))
        self.add.setMenu(self._import_menu())
        self.export = plain_button(translate("Issued", "Export …"), self.ask_export)
        self.mark = push_button(
            translate("Issued", "Mark a text …"), self.mark_wanted.emit, role="main"
        )
        self.back = push_button(
            translate("Issued", "Back to the texts"), self.back_wanted.emit, role="link"
        )
        self.unassigned = Remark()
        self.assign = plain_button(translate("Issued", "Assign to a key …"), self.ask_assign)
        self.form = PayloadForm()
        self.key_name = label("", "muted", wrap=True)
        self.epoch = Words(translate("Issued", "Epoch of the key"), hint="2026-11")
        self.ask = plain_button(translate("Issued", "Look it up"), self.look_up)
        self.answer = Remark()
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lay_out()
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._wire()
        self._follow_profile()
        self._show_progress(None)

    def _lay_out(self) -> None:
        head = row_of((self.heading, 1), self.back)
        acts = FlowLayout()
        for button in (self.mark, self.add, self.export):
            acts.addWidget(button)
        self._asked = QWidget()
        row_of(self.column, (self.search, 1), spacing=GRID, inside=self._asked)
        nothing = row_of(None, (self.none, 1000), None)
        self._moving = QWidget()
        row_of((self.bar, 1), self.stop, spacing=GAP, inside=self._moving)
        self._unknown = QWidget()
        row_of((self.unassigned, 1), self.assign, spacing=GAP, inside=self._unknown)
        card, side = Card(inner=PADDING - GRID), Card(inner=PADDING - GRID)
        parts = (
            head,
            acts,
            self._unknown,
            self._asked,
            self.words,
            (nothing, 1),
            (self.table, 1000),
            self._moving,
        )
        add_parts(card.body, *parts)
        about = translate("Issued", "The payload of a text, as a finding or a log names it.")
        inside = column_of(
            GRID // 2,
            label(translate("Issued", "Who got this?"), "title"),
            label(about, "muted", wrap=True),
            self.form,
            self.epoch,
            self.key_name,
            row_of(self.ask, None),
            self.answer,
            None,
            spacing=GAP,
        )
        side.body.addWidget(Scrolled(inside))
        side.setFixedWidth(SIDE)
        whole = row_of(side, (card, 1), spacing=GAP, inside=self)
        whole.setContentsMargins(GAP, GAP, GAP, GAP)

    def _wire(self) -> None:
        self._timer.timeout.connect(self.refresh)
        self.search.textChanged.connect(lambda _: self._timer.start())
        self.column.currentIndexChanged.connect(lambda _: self._timer.start())
        self.model.order_wanted.connect(self._sort)
        self._session.chosen.changed.connect(self._follow_profile)
        self.form.changed.connect(self._typed)
        self.form.whole.returnPressed.connect(self.look_up)

    def _import_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addAction(translate("Issued", "A table or a log …"), self.ask_import)
        menu.addAction(translate("Issued", "A folder of logs …"), self.ask_import_folder)
        return menu

    @property
    def profile(self) -> Profile | None:
        """Whose payloads are read: the chosen set-up's."""
        chosen = self._session.chosen.profile
        own = chosen is not None and chosen.profile.foreign is None
        return chosen.profile if chosen is not None and own else None

    @property
    def key(self) -> KeyRef | None:
        """The key that payloads of the chosen set-up are issued under; None without a set-up."""
        profile, chosen = self.profile, self._session.chosen
        return None if profile is None else chosen.key_of(profile)

    def _follow_profile(self) -> None:
        """Know the fields and the key of the chosen set-up."""
        profile, before, key = self.profile, self.column.currentData(), self.key
        self.form.show_profile(profile)
        self.epoch.setVisible(profile is not None and profile.key_epochs is not None)
        under = translate("Issued", "Under the key {key:text} of the chosen set-up.")
        self.key_name.setText(
            "" if key is None else filled(under, key=key.label or key.fingerprint)
        )
        names = [field.name for field in profile.fields] if profile is not None else []
        words = column_words()
        rows = [("", translate("Issued", "Everywhere")), ("who", words["who"])]
        rows += [("when", words["when"]), *((name, name) for name in names)]
        rows += [(name, words[name]) for name in ("note", "payload", "model")]
        with QSignalBlocker(self.column):
            self.column.clear()
            for value, name in rows:
                self.column.addItem(name, value)
            self.column.setCurrentIndex(max(0, self.column.findData(before)))
        self._typed()
        if self.isVisible():
            self.refresh()

    # What is in the register

    def showEvent(self, event: QShowEvent) -> None:
        """Read the register anew: audits and other programs add to it."""
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read what is asked for, off the window's thread."""
        profile, words = self.profile, self.search.text().strip()
        work = partial(
            select_issued,
            self._session.environment,
            profile=profile,
            words=words,
            column=self.column.currentData() or "",
            order=self._order,
            falling=self._falling,
            most=MOST,
        )
        then = partial(self._show, profile, words)
        self._session.jobs.stores.do(lambda _: work(), then, self, urgent=True)

    def _sort(self, name: str, falling: bool) -> None:
        if (name, falling) != (self._order, self._falling):
            self._order, self._falling = name, falling
            self.refresh()

    def _show(
        self,
        profile: Profile | None,
        words: str,
        outcome: Outcome[IssuedRows],
    ) -> None:
        if isinstance(outcome, Failure):
            self.words.say(outcome)
        if not isinstance(outcome, Done):
            return
        issued = outcome.result
        self.total, rows = issued.total, issued.rows
        before = self.model.columns
        names = {key.fingerprint: key.label for key in self._session.chosen.found.keys}
        self.model.show_rows(rows, profile, names, issued.kept)
        if self.model.columns != before or not before:
            self._fit_columns()
        for name, column in (("note", NOTE_COLUMN), ("manifest", MANIFEST_COLUMN)):
            place = self.model.columns.index(name)
            self.table.setColumnHidden(place, not any(row[column] for row in rows))
        self.table.setColumnHidden(self.model.columns.index("question"), not issued.kept)
        self._show_unassigned(issued.unassigned)
        self.words.say("")
        count = translate("Issued", "{n:count} {n:plural(payload|payloads)} issued")
        parts = [filled(count, n=self.total)]
        if words:
            parts.append(filled(translate("Issued", "{n:count} found"), n=len(rows)))
        if len(rows) == MOST:
            shown = translate("Issued", "the first {n:count} are shown: search for others")
            parts.append(filled(shown, n=MOST))
        self.heading.setText(" · ".join(parts))
        self.none.setText(self._empty_words(words))
        self.none.setVisible(not rows)
        self.table.setVisible(bool(rows))
        searched = self.search.hasFocus()
        self._asked.setVisible(bool(self.total))
        if searched and not self.total:
            self.mark.setFocus()
        self.export.setEnabled(bool(self.total))

    def _empty_words(self, words: str) -> str:
        if words:
            return translate("Issued", "Nothing that was issued has this in it.")
        return translate(
            "Issued",
            "Nothing was issued yet. The register says to whom each payload went: import the log "
            "of the engine that marks your texts or a table of your own, or mark a text here.",
        )

    def _fit_columns(self) -> None:
        for place, name in enumerate(self.model.columns):
            self.table.setColumnWidth(place, WIDTHS.get(name, FIELD))

    def _show_unassigned(self, count: int) -> None:
        """Say how many entries name nobody, because nobody has said under which key they are."""
        self._unknown.setVisible(bool(count))
        words = translate(
            "Issued",
            "{n:plural(One entry is|{n:count} entries are)} of unknown key and "
            "{n:plural(names|name)} nobody.",
        )
        self.unassigned.say(filled(words, n=count) if count else "", role="attention")

    def ask_assign(self) -> AssignDialog:
        """Ask under which key and profile entries of unknown key were issued."""
        dialog = AssignDialog(self._session, self.window())
        dialog.assigned.connect(self.refresh)
        return opened(dialog)

    # Import and export

    def ask_import(self) -> QDialog | None:
        """Ask for a table or a log."""
        if self.profile is None:
            self.noticed.emit(no_profile())
            return None
        return ask_file(
            self,
            translate("Register", "Import issued payloads"),
            self.import_from,
            translate("Register", "Tables and logs (*.csv *.jsonl)"),
            translate("Register", "All files (*)"),
        )

    def ask_import_folder(self) -> QDialog | None:
        """Ask for a folder of logs."""
        if self.profile is None:
            self.noticed.emit(no_profile())
            return None
        title = translate("Register", "Import the logs of a folder")
        return ask_folder(self, title, self.import_from)

    def import_from(self, path: Path, *, others: bool = False) -> None:
        """Take in a table, a log, or a folder of logs.

        Args:
            path: Where it is.
            others: Where a row is bad, the others are taken; else nothing is.
        """
        environment, profile, key = self._session.environment, self.profile, self.key
        if profile is None or key is None or self._job is not None:
            return

        problems = Problems(others=others)

        def work(context: JobContext) -> tuple[int, int, str]:
            return import_register(
                environment,
                path=path,
                under=issued_under(environment, key, profile),
                problems=problems,
                progress=context.progress,
                checkpoint=context.checkpoint,
            )

        self._show_progress(0.0)
        self.words.say(filled(translate("Register", "Importing “{file:text}”"), file=path.name))
        ended = partial(self._imported, path, problems)
        self._job = self._session.do(work, ended, self, progressed=self._progressed)
        self.add.setEnabled(False)

    def _progressed(self, progress: Progress) -> None:
        self._show_progress(progress.done / progress.total if progress.total else 0.0)

    def _show_progress(self, share: float | None) -> None:
        self._moving.setVisible(share is not None)
        if share is not None:
            self.bar.setRange(0, 1000 if share else 0)
            self.bar.setValue(round(1000 * share))

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _imported(
        self, path: Path, problems: Problems, outcome: Outcome[tuple[int, int, str]]
    ) -> None:
        self._job = None
        self._show_progress(None)
        self.add.setEnabled(True)
        self.words.say("")
        if isinstance(outcome, Failure):
            self.words.say(outcome)
            self.show_conflicts(path, outcome)
        elif isinstance(outcome, Done):
            words = translate(
                "Register",
                "{n:plural(One entry was|{n:count} entries were)} added to the register; "
                "it has {all:count} now.",
            )
            added, total, _ = outcome.result
            words = filled(words, n=added, all=total)
            if problems.repeats:
                repeated = translate(
                    "Register", "{n:plural(One row was|{n:count} rows were)} there already."
                )
                words = f"{words} {filled(repeated, n=problems.repeats)}"
            if problems.left_out:
                left = translate(
                    "Register", "{n:plural(One row was|{n:count} rows were)} left out."
                )
                words = f"{words} {filled(left, n=problems.left_out)}"
            self.noticed.emit(words)
            self.refresh()
        else:
            self.noticed.emit(translate("Register", "Import stopped; nothing was added."))

    def show_conflicts(self, path: Path, failure: Failure) -> TableDialog | None:
        """Show every row that was refused, and why; None where the failure is another.

        Args:
            path: What was imported: its other rows are offered.
            failure: Why nothing was added.
        """
        values = failure.error.values if failure.error is not None else {}
        every, good = values.get("every"), values.get("good")
        if not isinstance(every, tuple):
            return None
        act = None
        if isinstance(good, int) and good:
            words = translate("Register", "Import the other {n:plural(row|{n:count} rows)}")
            act = (filled(words, n=good), partial(self.import_from, path, others=True))
        self.words.say(translate("Register", "Nothing was added: rows contradict each other."))
        return opened(
            TableDialog(
                translate("Register", "Rows that cannot be added"),
                (translate("Register", "Row"), translate("Register", "What is wrong")),
                [(str(one.values["row"]), reason(one.values["what"])) for one in every],
                translate(
                    "Register",
                    "Nothing was added. A payload points to one recipient: where two rows name "
                    "different ones, ask whoever issued them, mend the file and import it again. "
                    "The others can be imported now: all rows of a payload in question stay out.",
                ),
                self.window(),
                act,
            )
        )

    def ask_export(self) -> QDialog:
        """Ask where the register goes as a table."""
        return ask_target(
            self,
            translate("Register", "Export the register"),
            self.export_to,
            "CSV (*.csv)",
            name="issued.csv",
            suffix="csv",
        )

    def export_to(self, path: Path) -> None:
        """Write the whole register as a table."""
        environment = self._session.environment
        words = translate("Register", "{n:plural(One entry was|{n:count} entries were)} written.")
        self._session.jobs.stores.do(
            lambda _: export_register(environment, path=path),
            by_outcome(lambda n: self.noticed.emit(filled(words, n=n)), self.noticed.emit),
            self,
        )

    # Who got this?

    def _typed(self) -> None:
        self.ask.setEnabled(self.form.payload is not None)
        self.answer.say("")
        if self.profile is None:
            self.answer.say(no_profile(), role="attention")

    def look_up(self) -> None:
        """Ask the register to whom the mark went that the typed payload makes with the key."""
        payload, profile, key = self.form.payload, self.profile, self.key
        if payload is None or profile is None or key is None:
            return
        environment, epoch = self._session.environment, self.epoch.text

        def work(_: JobContext) -> MarkLookup:
            mark = mark_of(environment, key, profile, payload, epoch)
            return look_up(environment, mark=mark)

        answered = by_outcome(self._answered, self.answer.say)
        self._session.jobs.stores.do(work, answered, self, urgent=True)

    def _answered(self, answer: MarkLookup) -> None:
        entry = answer.entry
        if entry is None:
            self.answer.say(_no_entry(answer), role="attention")
            return
        self.answer.say("\n".join(entry_lines(entry)), role="value")
        place = self.model.place(entry.number)
        if place >= 0:
            flags = QItemSelectionModel.SelectionFlag
            self.table.selectionModel().setCurrentIndex(
                self.model.index(place, 0), flags.ClearAndSelect | flags.Rows
            )


def _no_entry(answer: MarkLookup) -> str:
    """Say why no entry names a recipient."""
    if answer.revoked:
        words = translate("Issued", "Entry {number:count} was issued for this mark and revoked.")
        return filled(words, number=answer.revoked[-1].number)
    parts = [
        translate(
            "Issued",
            "No entry has this payload under this key and profile. It may have been misread, "
            "issued elsewhere, or issued after the last import.",
        )
    ]
    if answer.unassigned:
        words = translate(
            "Issued",
            "{n:plural(One entry of unknown key was|{n:count} entries of unknown key were)} not "
            "compared.",
        )
        parts.append(filled(words, n=answer.unassigned))
    return " ".join(parts)


def key_words(entry: RegisterEntry, names: Mapping[str, str]) -> str:
    """Name the key that an entry was issued under, and its epoch; or say that nobody knows it."""
    series = entry.issue.series
    if series is None:
        return translate("Issued", "unknown")
    return f"{names.get(series.key, series.key)} {series.epoch}".rstrip()


def entry_lines(entry: RegisterEntry) -> list[str]:
    """Say to whom a payload went, when and for which model."""
    issue, words = entry.issue, column_words()
    about = {name: getattr(issue, name) for name in ("who", "when", "note", "model", "manifest")}
    about["number"] = str(entry.number)
    return [f"{words[name]}: {value}" for name, value in about.items() if value]


def no_profile() -> str:
    """Say what is missing before a payload can be read."""
    return translate("Register", "Choose a set-up first: it says what a payload is.")


def reason(what: object) -> str:
    """Say what is wrong with a row, as the errors do."""
    if not isinstance(what, Phrase):
        return str(what)
    return catalogue("errors").fill(what.key, language(), what.values)
