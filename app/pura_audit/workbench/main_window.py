"""The main window, which builds the views and sends intentions to the session."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QDialog,
    QMainWindow,
    QMenu,
    QMessageBox,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from pura_audit.jobs.queue import Failure
from pura_audit.platform import i18n
from pura_audit.platform.accessible import announce
from pura_audit.platform.i18n import error_words, filled, translate
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.selection import Selection
from pura_audit.session.session import Session
from pura_audit.theme.fonts import app_icon
from pura_audit.theme.theme import GAP, Mode, Theme
from pura_audit.widgets.card import (
    IconButton,
    acceptable,
    column_of,
    dropped_paths,
    restyle,
    row_of,
)
from pura_audit.widgets.form_dialog import (
    ask_file,
    ask_files,
    ask_first,
    ask_to_read,
    press_focused,
)
from pura_audit.workbench import opening
from pura_audit.workbench.commands import build_menu, commands
from pura_audit.workbench.course_card import EvidenceColumn
from pura_audit.workbench.header import Header, RunNotice, StatusLine, recent_menu
from pura_audit.workbench.issued_view import IssuedView
from pura_audit.workbench.opening import texts_of
from pura_audit.workbench.placement import Placement, WorkView
from pura_audit.workbench.questions import begin_audits, closing_question, unlocked
from pura_audit.workbench.queue_view import QueueView
from pura_audit.workbench.results_view import ResultsView
from pura_audit.workbench.setup import SetupActs, SetupView, ask_bundle
from pura_audit.workbench.state_views import EmptyView

_WARM = ("numpy.ma", "pura_audit.reports.dialog")
"""Large modules that pyqtgraph imports when it first draws a line."""


class MainWindow(QMainWindow):
    """The main window."""

    placement: Placement

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.session, self.theme = session, theme
        self.selection = Selection(self)
        self.setWindowTitle("PURA Audit")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(760, 460)  # at 200 % a screen of 1600 pixels has 800
        self.setAcceptDrops(True)
        self.notice = RunNotice(session, self)
        self._question: QMessageBox | None = None
        self._closing = False
        self._build()
        self._listen()
        self.placement.restore()
        self._show_current()
        self.empty.take_focus()

    # Composition

    def _build(self) -> None:
        """Build all views in the present language."""
        session, theme = self.session, self.theme
        self.header = Header(session, theme)
        self.queue = QueueView(session, theme)
        self.results = ResultsView(session, theme)
        self.issued = IssuedView(session)
        self.work = WorkView(self.selection, theme, session.pages)
        self.evidence = EvidenceColumn(self.selection, theme)
        self.empty = EmptyView()
        self.status = StatusLine(session)
        self.columns = QSplitter(Qt.Orientation.Horizontal)
        self.inner = QSplitter(Qt.Orientation.Horizontal)
        self.placement = Placement(
            self,
            session,
            queue=self.queue,
            work=self.work,
            evidence=self.evidence,
            columns=self.columns,
            inner=self.inner,
        )
        self.actions_by_name, self.menu = build_menu(self, commands(self))
        self.recent = recent_menu(session.settings, lambda path: self.add_files([path]), self.menu)
        files = self.menu.actions()[0].menu()
        assert isinstance(files, QMenu)  # the stub calls it an object
        files.insertMenu(self.actions_by_name["sample"], self.recent)
        self._lay_out()
        self._wire()

    def _lay_out(self) -> None:
        caption = translate("Menu", "Menu")
        menu = IconButton(self.theme, "menu", caption)
        menu.open_menu(self.menu)
        menu.setShortcut("F10")
        menu.setToolTip(f"{caption} (F10)")
        self.header.row.addWidget(menu)
        self.columns.setHandleWidth(GAP)
        self.columns.setChildrenCollapsible(False)
        right = QWidget()
        self.inner.setHandleWidth(GAP)
        self.inner.setChildrenCollapsible(False)
        self.inner.addWidget(self.work)
        self.inner.addWidget(self.evidence)
        self.inner.setStretchFactor(0, 1)
        self.inner.setStretchFactor(1, 0)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.inner)
        row_of(self._stack, inside=right).setContentsMargins(0, GAP, GAP, GAP)
        self.columns.addWidget(self.queue)
        self.columns.addWidget(right)
        self.columns.setStretchFactor(0, 0)
        self.columns.setStretchFactor(1, 1)
        self._places = QStackedWidget()
        self._places.addWidget(self.columns)
        self._places.addWidget(self.results)
        self._places.addWidget(self.issued)
        middle = QWidget()
        column_of(self.header, (self._places, 1), self.status, spacing=0, inside=middle)
        self.setCentralWidget(middle)

    def _listen(self) -> None:
        """Connect the signals of the session, once."""
        session = self.session
        self.setup = SetupActs(self._setup_views(), session, self)
        session.texts.current_changed.connect(self._show_current)
        session.texts.item_changed.connect(self._show_current)
        session.chosen.changed.connect(self._tell_problems)
        session.chosen.changed.connect(self._show_current)
        session.chosen.changed.connect(self._begin_dropped)
        session.texts.queue.dataChanged.connect(self._begin_dropped)
        session.jobs.model.busy_changed.connect(self._busy_changed)
        session.chosen.device_changed.connect(self._warm_up)
        session.jobs.installs.busy_changed.connect(self._close_when_idle)
        session.jobs.installs.busy_changed.connect(self._show_current)
        session.texts.report_seen.connect(self._offer_check)

    def _wire(self) -> None:
        """Connect the signals of the views, each time they are built."""
        session = self.session
        self.header.audit.clicked.connect(self.audit)
        self.header.cancel.clicked.connect(session.audits.cancel)
        self.header.setups.manage_wanted.connect(lambda: opening.show_setup(self))
        self.header.setups.more_wanted.connect(lambda: opening.save_setup(self))
        self.header.key.more_wanted.connect(lambda: opening.show_several_keys(self))
        self.header.key.manage_wanted.connect(lambda: opening.show_keys(self))
        self.header.model.manage_wanted.connect(lambda: opening.show_models(self))
        self.header.profile.manage_wanted.connect(lambda: opening.show_profiles(self))
        for view in self._setup_views():
            view.bundle.clicked.connect(lambda: ask_bundle(self))
            view.sample.clicked.connect(self.try_sample)
            view.own.clicked.connect(lambda: opening.show_setup(self))
        self.queue.drop.open_wanted.connect(self.open_files)
        self.queue.fold.clicked.connect(self.placement.toggle_queue)
        self.queue.audit_wanted.connect(self.audit_items)
        self.queue.table.clicked.connect(self.toggle_results)
        self.results.audit_wanted.connect(self.audit_items)
        self.results.item_wanted.connect(self.show_document)
        self.results.report_wanted.connect(lambda rows: opening.report_items(self, rows))
        self.results.noticed.connect(self.status.say)
        self.header.issued.clicked.connect(self.toggle_issued)
        self.issued.back_wanted.connect(self.toggle_issued)
        self.issued.mark_wanted.connect(lambda: opening.mark_text(self))
        self.issued.noticed.connect(self.status.say)
        self.empty.open.clicked.connect(self.open_files)
        self.empty.paste.clicked.connect(self.paste)
        self.empty.sample.clicked.connect(self.try_sample)
        self.work.ready.prompt_changed.connect(self._note_prompt)
        self.work.ready.prompts_wanted.connect(self._load_prompts)
        self.work.error.again_wanted.connect(self.audit_current)
        self.work.error.models_wanted.connect(lambda: opening.show_models(self))
        self.work.error.remove.clicked.connect(self.remove_current)
        self.work.busy.cancel.clicked.connect(self.cancel_current)
        self.work.busy.pause.clicked.connect(self.toggle_pause)
        self.work.answer.details.clicked.connect(lambda: opening.show_details(self))
        self.work.answer.candidates.clicked.connect(lambda: opening.show_candidates(self))
        self.work.answer.compared.clicked.connect(lambda: opening.show_compared(self))
        self.work.answer.versions.clicked.connect(lambda: opening.compare_versions(self))
        self.work.answer.step_wanted.connect(lambda name: opening.do_step(self, name))
        self.work.answer.parts_wanted.connect(self._examine_left_out)
        self.work.text.view.zoomed.connect(lambda s: session.settings.update(text_size=s))
        shows = self.actions_by_name["evidence"]
        shows.setEnabled(self.evidence.filled)
        self.evidence.filled_changed.connect(lambda: shows.setEnabled(self.evidence.filled))
        for card in self.evidence.cards:
            card.table_wanted.connect(lambda c=card: opening.show_table(self, c))
            card.noticed.connect(self.status.say)

    def _setup_views(self) -> tuple[SetupView, ...]:
        return self.empty.setup, self.work.ready.setup

    # What features ask of it

    @property
    def frame(self) -> QWidget:
        """The widget over which dialogs open."""
        return self

    @property
    def text_size(self) -> int:
        """Size of the examined text in pixels."""
        return self.work.text.view.text_size

    def set_text_size(self, size: int) -> None:
        """Change the size of the examined text."""
        self.work.text.view.set_text_size(size)

    def set_theme(self, mode: Mode) -> None:
        """Change the colours, and remember it."""
        self.theme.set_mode(mode)
        self.session.settings.update(theme=mode.value)

    def set_language(self, name: str) -> None:
        """Change the language; "" follows the system. Everything else stays as it is.

        The views are built again; the window, the session and all jobs continue.
        """
        self.session.settings.update(language=name)
        i18n.set_language(name or None)
        old_results, queue, page_index = self.results, self.queue, self._places.currentIndex()
        first, _ = self.selection.seen
        self.placement.remember()
        self.menu.deleteLater()
        for action in self.actions():
            self.removeAction(action)
            action.deleteLater()
        self._build()  # what was in the middle goes with the next event …
        gc.unfreeze()  # … and may refer to itself
        self.setup.show_in(self._setup_views())
        self.placement.arrange()
        self.selection.tell_all()
        self._show_current()
        self._busy_changed(self.session.jobs.model.busy)
        if self.selection.token is not None:
            self.selection.shown_from.emit(first)
        self.queue.search.setText(queue.search.text())
        self.results.go_on_from(old_results)
        if self.session.texts.current is None:
            self.empty.take_focus()
        else:
            self.queue.list.setFocus()
        (lambda: None, self.toggle_results, self.toggle_issued)[page_index]()
        self.session.texts.translate_failures()
        self.session.chosen.look_around()

    def say(self, message: Failure | str) -> None:
        """Show a message in the status line."""
        self.status.say(message)

    # What is on screen

    def _examine_left_out(self) -> None:
        if (item := self.session.texts.current) is not None:
            self.session.texts.examine_left_out(item)

    def _show_current(self) -> None:
        item = self.session.texts.current
        self.setWindowTitle("PURA Audit" if item is None else f"{item.name} – PURA Audit")
        first = item is not None and self._focus_inside(self.empty)
        self._stack.setCurrentWidget(self.empty if item is None else self.inner)
        if first:
            self.queue.list.setFocus()  # else Qt takes what comes next, the answer's scroll area
        if item is None:
            self.selection.show(None)
            return
        audit = item.shown
        another = audit is not self.selection.audit
        self.selection.show(audit)
        self._follow(item)
        page = self.work.stack.currentWidget()
        self.work.ready.expect(self.session.audits.expectation_words(item))
        expected = self.session.audits.pace.seconds([item])
        self.work.show_item(
            item,
            paused=self.session.jobs.model.paused,
            expected=expected,
            missing=self.session.chosen.missing,
            installing=self.session.jobs.installs.busy,
        )
        if another:
            self.selection.show_strongest()
        if page is self.work.stack.currentWidget():
            return
        if self._focus_inside(self.work.stack):
            self.queue.list.setFocus()  # not on a button that has just come up by itself
        if page is self.work.busy:
            announce(self, f"{item.name}: {self.work.heading()}")

    def _follow(self, item: Item) -> None:
        """Show the interim evidence of a running audit."""
        catalogue = self.session.chosen.catalogue
        policy = catalogue.policy if catalogue is not None else None
        running = item.state is ItemState.RUNNING
        total = item.progress.total if item.progress is not None else 0
        self.evidence.course.follow(
            item.looks if running else (), total, policy.t_found if policy is not None else None
        )

    def _focus_inside(self, widget: QWidget) -> bool:
        focus = self.focusWidget()
        return focus is not None and (focus is widget or widget.isAncestorOf(focus))

    def _tell_problems(self) -> None:
        catalogue = self.session.chosen.catalogue
        if catalogue is not None and catalogue.problems:
            self.status.say(" ".join(p.words for p in catalogue.problems))
        elif mismatches := self.session.chosen.mismatches():
            self.status.say(" ".join(map(error_words, mismatches)))

    def _offer_check(self, path: Path) -> None:
        """Offer to verify a file that holds the record of a report."""
        template = translate(
            "Window", "“{file:text}” carries the record of a report of PURA Audit."
        )
        ask_first(
            self,
            translate("Window", "A report"),
            filled(template, file=path.name),
            translate("Window", "Check whether it is unaltered? As a text it is in the list, too."),
            (
                translate("Window", "Check the report"),
                lambda: opening.verify_report(self, path),
            ),
            keep=translate("Window", "Keep it as a text"),
            safe=False,
        )

    def _warm_up(self) -> None:
        """Import the modules of charts and reports before they are needed."""
        self.session.chosen.device_changed.disconnect(self._warm_up)
        self.session.jobs.reports.do(
            lambda _: [importlib.import_module(name) for name in _WARM],
            lambda _: gc.freeze(),  # what was imported stays: not to be searched for garbage again
            self,
            urgent=True,
        )

    def _busy_changed(self, busy: bool) -> None:
        for name in ("cancel", "cancel-all"):
            self.actions_by_name[name].setEnabled(busy)
        self._show_current()
        self._close_when_idle()

    def _close_when_idle(self) -> None:
        if self._closing and not (self.session.jobs.model.busy or self.session.jobs.installs.busy):
            self.close()

    # Intentions

    def open_files(self) -> None:
        """Ask for files."""
        ask_files(self, translate("Window", "Open texts"), self.add_files)

    def add_files(self, paths: Sequence[Path], *, dropped: bool = False) -> None:
        """Add texts to the list; open other files with their dialogs."""

        def read() -> None:
            self.session.texts.add_paths(texts, dropped=dropped)
            self._begin_dropped()

        if texts := texts_of(self, paths):
            ask_to_read(self, texts, read)

    def try_sample(self) -> None:
        """Audit the sample text, after installing its model if necessary."""
        if not self.session.chosen.found.models:
            self.session.install_wanted.emit()
        self.session.texts.add_sample()
        self._begin_dropped()

    def _begin_dropped(self) -> None:
        """Audit dropped texts as soon as they are read and the choices are complete."""
        if items := self.session.audits.take_dropped():
            self.audit_items(items)

    def paste(self) -> None:
        """Add files or a text from the clipboard."""
        mime = QGuiApplication.clipboard().mimeData()
        paths = dropped_paths(mime)
        if paths:
            self.add_files(paths)
        elif mime.hasText() and mime.text():
            self.session.texts.add_text(mime.text())
        else:
            self.status.say(translate("Window", "There is no text on the clipboard."))

    def open_for_another_start(self, files: list[Path]) -> None:
        """Come to the front, and open the files of a second start."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.raise_()
        self.activateWindow()
        if files:
            self.add_files(files)

    def audit(self) -> None:
        """Audit all rows that are due."""
        self.audit_items(self.session.audits.due())

    def audit_current(self) -> None:
        """Audit the row on screen again."""
        if self.session.texts.current is not None:
            self.audit_items([self.session.texts.current])

    def audit_items(self, items: Sequence[Item]) -> None:
        """Audit these rows, even if they were audited before."""
        unlocked(self.session, self, lambda: begin_audits(self.session, self, items))

    def cancel_current(self) -> None:
        """Stop the audit on screen; if another text is audited, show that one."""
        current = self.session.texts.current
        if current is not None and current.active:
            self.session.audits.stream.stop([current])
            self.say(filled(translate("Window", "Cancelled: “{name:text}”."), name=current.name))
            return
        active = [item for item in self.session.texts.queue.items if item.active]
        runs = next((i for i in active if i.state is ItemState.RUNNING), next(iter(active), None))
        if runs is not None:
            self.show_document(runs)
            template = translate("Window", "“{name:text}” is being audited. Once more cancels it.")
            self.say(filled(template, name=runs.name))

    def remove_current(self) -> None:
        """Remove the row on screen."""
        if self.session.texts.current is not None:
            self.session.texts.remove([self.session.texts.current])

    def toggle_results(self) -> None:
        """Switch between the table of all texts and the text on screen."""
        self._go_to(self.results)
        if self._places.currentWidget() is self.results:
            self.results.show_item(self.session.texts.current)
            self.results.table.setFocus()

    def toggle_issued(self) -> None:
        """Switch between the register and the texts."""
        self._go_to(self.issued)
        if self._places.currentWidget() is self.issued:
            self.issued.search.setFocus()

    def look_up(self) -> None:
        """Show the register with the cursor in the field for a payload."""
        self._places.setCurrentWidget(self.issued)
        self.issued.form.whole.setFocus()

    def import_issued(self) -> QDialog | None:
        """Show the register and ask for a file to import."""
        self._places.setCurrentWidget(self.issued)
        return self.issued.ask_import()

    def _go_to(self, page: QWidget) -> None:
        """Switch between a page and the texts."""
        if self._places.currentWidget() is page:
            self._places.setCurrentWidget(self.columns)
            self.queue.list.setFocus()
        else:
            self._places.setCurrentWidget(page)

    def show_document(self, item: Item) -> None:
        """Show a text."""
        self.session.texts.show(item)
        if self._places.currentWidget() is not self.columns:
            self._places.setCurrentWidget(self.columns)
            self.queue.list.setFocus()

    def zoom(self, steps: int) -> None:
        """Make the text, or its pages, larger or smaller; 0 is the usual size."""
        pages = self.work.text.pages
        if pages is not None and pages.isVisible():
            pages.view.zoom(steps)
            return
        self.set_text_size(self.text_size + steps if steps else 15)

    def find_in_text(self) -> None:
        """Search in the text."""
        if self.work.text.isVisible():
            self.work.text.find_bar.enter()

    def toggle_pause(self) -> None:
        """Pause or resume the queue."""
        self.session.jobs.model.set_paused(not self.session.jobs.model.paused)
        self.status.refresh()

    def _note_prompt(self, prompt: str, several: bool) -> None:
        if self.session.texts.current is not None:
            self.session.texts.set_prompt(self.session.texts.current, prompt, several=several)

    def _load_prompts(self, path: Path | None) -> None:
        item = self.session.texts.current
        if item is None:
            return
        if path is not None:
            self.session.texts.load_prompts(item, path)
            return
        title = translate("Ready", "Candidate prompts")
        ask_file(self, title, lambda file: self.session.texts.load_prompts(item, file))

    # Keys, size, drops, closing

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return presses the focused button, as it does in a dialog."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold the list of texts if the window is narrow."""
        super().resizeEvent(event)
        self.placement.resized()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept the drag of files and texts."""
        if acceptable(event.mimeData()):
            event.acceptProposedAction()
            self._highlight(over=True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Remove the highlight of the drag."""
        self._highlight(over=False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Add dropped files, folders or a text."""
        self._highlight(over=False)
        paths = dropped_paths(event.mimeData())
        if paths:
            self.add_files(paths, dropped=True)
        elif text := event.mimeData().text():
            self.session.texts.add_text(text, dropped=True)
            self._begin_dropped()
        event.acceptProposedAction()

    def _highlight(self, *, over: bool) -> None:
        restyle(self.queue.drop, "over", over)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask for confirmation while jobs run; then cancel them, wait, and store the sizes."""
        session = self.session
        if (
            session.jobs.model.busy or session.jobs.installs.busy or session.texts.unkept
        ) and not self._closing:
            event.ignore()
            self._ask()
            return
        self.placement.remember()
        self.session.close()
        event.accept()

    def _ask(self) -> None:
        if self._question is not None:
            return
        self._question = closing_question(
            self,
            self.cancel_and_close,
            running=self.session.jobs.model.busy,
            installing=self.session.jobs.installs.busy,
            unkept=self.session.texts.unkept,
        )
        self._question.finished.connect(self._answered)

    def _answered(self, _code: int) -> None:
        self._question = None

    def cancel_and_close(self) -> None:
        """Cancel all audits and installations, and close once their threads are free."""
        self._closing = True
        self.session.record.freeze()
        self.session.audits.cancel()
        self.session.jobs.installs.cancel_all()
        self._close_when_idle()
