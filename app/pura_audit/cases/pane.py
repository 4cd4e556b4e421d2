"""The details of one case: its state, audits, notes and history."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QTabWidget,
    QWidget,
)

from pura.caselog import (
    KEEP,
    SEAL,
    Attribution,
    Case,
    CaseItem,
    CaseLog,
    LogEntry,
    PersonNames,
    Review,
    action_words,
    read_case,
)
from pura_audit.platform.i18n import decimal, filled, language, moment, number, translate
from pura_audit.session.queue_model import case_words
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, ElidedLabel, add_parts, column_of, label, row_of
from pura_audit.widgets.form_dialog import plain_button
from pura_audit.widgets.working_dialog import fill_table, make_table

ERASED = "—"


def case_name(case: Case) -> str:
    """Return the name of a case, or a placeholder if it was erased or is unknown."""
    if case.name is not None:
        return case_words(case.name)
    if case.missing:
        return translate("Cases", "Case without a name")
    return translate("Cases", "Erased case")


def case_row(case: Case) -> tuple[str, str, str]:
    """Return the row of a case: name, number of audits, time of the last change."""
    name = case_name(case)
    if case.missing:
        name = filled(translate("Cases", "{name:text} (incomplete)"), name=name)
    return name, number(len(case.items)), moment(case.changed[:10])


def case_line(case: Case) -> str:
    """Return who opened a case and when, and its state."""
    parts = [
        filled(
            translate("Cases", "Opened {when:text} by {who:text}"),
            when=moment(case.opened),
            who=case.auditor or ERASED,
        )
    ]
    if case.closed:
        parts.append(translate("Cases", "closed"))
    if case.held:
        parts.append(translate("Cases", "on hold: nothing may be erased"))
    if case.imported:
        parts.append(translate("Cases", "taken over from another log"))
    if case.failures:
        parts.append(
            filled(
                translate("Cases", "{n:count} {n:plural(examination|examinations)} failed"),
                n=case.failures,
            )
        )
    if case.missing:
        parts.append(case.incomplete(language()))
    return " · ".join(parts)


def item_headers() -> tuple[str, ...]:
    """Return the headers of the table of audits."""
    return (
        translate("Cases", "File"),
        translate("Cases", "Outcome"),
        translate("Results", "Evidence, log₁₀"),
        translate("Cases", "Text"),
        translate("Cases", "Examined by"),
        translate("Cases", "Second person"),
    )


def item_row(item: CaseItem) -> tuple[str, ...]:
    """Return a row of the table of audits."""
    name = item.name or ERASED
    if item.run > 1:
        template = translate("Cases", "{name:text} (examination {run:count})")
        name = filled(template, name=name, run=item.run)
    return (
        name,
        item.headline(language()),
        ERASED if item.finding is None else decimal(item.finding.log10_e, 1),
        text_words(item),
        item.examiner or ERASED,
        review_words(item.review),
    )


def text_words(item: CaseItem) -> str:
    """Return how the text of an audit is stored."""
    if item.record is None and item.missing:
        return translate("Cases", "record missing")
    if item.record is None:
        return translate("Cases", "record erased")
    if item.mode == KEEP:
        return translate("Cases", "kept")
    if item.mode == SEAL:
        return translate("Cases", "encrypted")
    return translate("Cases", "left out")


def review_words(review: Review | None) -> str:
    """Return the result of a review."""
    if review is None:
        return translate("Cases", "not yet")
    if review.state == "confirmed":
        template = translate("Cases", "confirmed by {who:text}")
    else:
        template = translate("Cases", "disputed by {who:text}")
    return filled(template, who=review.who or ERASED)


def history_headers() -> tuple[str, ...]:
    """Return the headers of the table of entries."""
    return (
        translate("Cases", "No."),
        translate("Cases", "When"),
        translate("Cases", "Who"),
        translate("Cases", "What"),
    )


def history_row(entry: LogEntry, attribution: Attribution) -> tuple[str, ...]:
    """Return a row of the table of entries."""
    program = translate("Cases", "the program")
    name = attribution.name or (ERASED if entry.actor else program)
    if attribution.operator:
        template = translate("Cases", "{who:text} (entered by {operator:text})")
        name = filled(template, who=name, operator=attribution.operator)
    return number(entry.seq), moment(entry.time), name, action_words(entry.action, language())


History = Sequence[tuple[LogEntry, Attribution]]
"""Entries of a case, each with the person who acted."""


def read_history(log: CaseLog, case: str) -> tuple[Case, History]:
    """Read a case and its history; runs in the thread of the case log."""
    people = PersonNames(log)
    return read_case(log, case), [(e, people.attribution(e)) for e in log.entries(case=case)]


class CasePane(Card):
    """The right side of the case browser.

    Signals:
        wanted: The user pressed a button; carries its name.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(inner=GAP)
        self.case: Case | None = None
        self.name = ElidedLabel()
        self.name.setProperty("role", "answer")
        self.line = label("", "muted", wrap=True)
        self.tags = label("", "muted", wrap=True)
        self.items = make_table(translate("Cases", "Audits"))
        self.items.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.items.doubleClicked.connect(lambda _: self.buttons["open"].click())
        self.history = make_table(translate("Cases", "History"))
        self.notes = QPlainTextEdit()
        self.notes.setReadOnly(True)
        self.notes.setTabChangesFocus(True)
        self.notes.setAccessibleName(translate("Cases", "Notes"))
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.buttons: dict[str, QPushButton] = {}
        self._lay_out()
        self.show_case(None)

    def _lay_out(self) -> None:
        self.menu = QMenu(self)
        self.menu.setAccessibleName(translate("Cases", "More"))
        self.more = {
            name: self.menu.addAction(text, partial(self.wanted.emit, name))
            for name, text in (
                ("rename", translate("Cases", "Rename …")),
                ("tags", translate("Cases", "Tags …")),
                ("event", translate("Cases", "Record an event …")),
                ("close", translate("Cases", "Close the case")),
                ("hold", translate("Cases", "Set a hold …")),
                ("export", translate("Cases", "Export as one file …")),
                ("erase-text", translate("Cases", "Erase the texts …")),
                ("erase", translate("Cases", "Erase everything that is kept …")),
            )
        }
        note = self._button("note", translate("Cases", "Add a note …"))
        menu = QPushButton(translate("Cases", "More"))
        menu.setAutoDefault(False)
        menu.setMenu(self.menu)
        self.buttons["more"] = menu
        add_parts(self.body, row_of((self.name, 1), note, menu), self.line, self.tags, GRID)
        audits = QWidget()
        column = column_of((self.items, 1), spacing=GAP, inside=audits)
        column.setContentsMargins(0, GAP, 0, 0)
        buttons = (
            self._button("open", translate("Cases", "Open")),
            self._button("review", translate("Cases", "Second person …")),
            self._button("compare", translate("Cases", "Compare …")),
            self._button("report", translate("Cases", "Report …")),
        )
        column.addLayout(row_of(*buttons, None, spacing=GRID // 2))
        self.tabs.addTab(audits, "")
        self.tabs.addTab(_page(self.notes), "")
        self.tabs.addTab(_page(self.history), translate("Cases", "History"))
        self.body.addWidget(self.tabs, 1)

    def _button(self, name: str, text: str) -> QPushButton:
        button = plain_button(text, lambda: self.wanted.emit(name))
        self.buttons[name] = button
        return button

    def show_case(self, case: Case | None, history: History = ()) -> None:
        """Show a case, or none."""
        same = case is not None and self.case is not None and case.id == self.case.id
        selected = {item.id for item in self.chosen} if same else set()
        self.case = case
        self.setEnabled(case is not None)
        self.name.setText("" if case is None else case_name(case))
        self.line.setText("" if case is None else case_line(case))
        self.tags.setText("" if case is None else ", ".join(case.tags))
        self.tags.setVisible(bool(self.tags.text()))
        items = case.items if case is not None else ()
        fill_table(self.items, item_headers(), [item_row(item) for item in items], widest=260)
        self.items.selectionModel().selectionChanged.connect(lambda *_: self._refresh())
        for row, item in enumerate(items):
            if item.id in selected or (not selected and row == len(items) - 1):
                self._select(row)
        fill_table(self.history, history_headers(), [history_row(*o) for o in reversed(history)])
        notes = case.notes if case is not None else ()
        self.notes.setPlainText(
            "\n\n".join(f"{moment(n.time)} · {n.who or ERASED}\n{n.text or ERASED}" for n in notes)
            or translate("Cases", "No notes yet.")
        )
        for index, template, count in (
            (0, translate("Cases", "Audits ({n:count})"), len(items)),
            (1, translate("Cases", "Notes ({n:count})"), len(notes)),
        ):
            self.tabs.setTabText(index, filled(template, n=count))
        self._refresh()

    def _select(self, row: int) -> None:
        model = self.items.selectionModel()
        flags = model.SelectionFlag
        index = self.items.model().index(row, 0)
        model.select(index, flags.Select | flags.Rows)

    @property
    def chosen(self) -> tuple[CaseItem, ...]:
        """The audits of the selected rows."""
        model = self.items.selectionModel()
        if self.case is None or model is None:
            return ()
        rows = sorted({index.row() for index in model.selectedRows()})
        return tuple(self.case.items[row] for row in rows)

    def _refresh(self) -> None:
        """Enable the buttons that apply to the case and the selected audits."""
        if self.case is None:
            return
        case, selected = self.case, self.chosen
        readable = bool(selected) and all(item.record is not None for item in selected)
        able = {
            "open": readable,
            "review": len(selected) == 1 and not case.closed,
            "compare": readable and len(selected) == 2,
            "report": readable,
            "note": not case.closed,
        }
        for name, yes in able.items():
            self.buttons[name].setEnabled(yes)
        self.more["close"].setText(
            translate("Cases", "Open the case again")
            if case.closed
            else translate("Cases", "Close the case")
        )
        self.more["hold"].setText(
            translate("Cases", "Lift the hold …")
            if case.held
            else translate("Cases", "Set a hold …")
        )
        for name in ("tags", "event"):
            self.more[name].setEnabled(not case.closed)
        for name in ("erase", "erase-text"):
            self.more[name].setEnabled(not case.held)


def _page(widget: QTableView | QPlainTextEdit) -> QWidget:
    page = QWidget()
    column_of(widget, inside=page).setContentsMargins(0, GAP, 0, 0)
    return page
