"""Names on every control, and no trap for the keyboard, in the window and in every dialog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from pura.audit.caselog import CaseLog, find_case, open_case, save_audit
from pura.audit.record import Audit
from pura.paths import user_paths
from pura_audit import dialogs
from pura_audit.dialogs.case_event import EventDialog
from pura_audit.dialogs.case_review import ReviewDialog
from pura_audit.dialogs.closing import closing_question
from pura_audit.dialogs.fitness import FitnessDialog
from pura_audit.dialogs.profile_editor import ProfileEditor
from pura_audit.dialogs.reading import ReadingDialog
from pura_audit.models.items import Item, ItemState

CONTROLS = (
    QPushButton, QToolButton, QLineEdit, QPlainTextEdit, QAbstractItemView, QAbstractScrollArea,
)  # fmt: skip


def nameless(root: QWidget) -> list[str]:
    found = []
    for widget in root.findChildren(QWidget):
        if not widget.isVisibleTo(root) or widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
            continue
        if not isinstance(widget, CONTROLS) and type(widget).__module__.startswith("PySide6"):
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        name = interface.text(QAccessible.Text.Name) if interface is not None else ""
        if not (name or widget.accessibleName()):
            found.append(f"{type(widget).__name__} {widget.objectName()}")
    return found


def tab_ring(root: QWidget) -> list[QWidget]:
    """Press Tab until a widget comes back, or one does not let go."""
    seen: list[QWidget] = []
    stays = 0
    assert root.focusWidget() is not None
    while (widget := root.focusWidget()) is not None:
        if seen and widget is seen[-1]:
            stays += 1  # the guide's pages go from link to link first
            if stays > 200:
                break
        elif widget in seen:
            break
        else:
            seen.append(widget)
            stays = 0
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    return seen


@pytest.mark.parametrize("state", ["empty", "ready", "running", "done", "failed"])
def test_every_control_of_the_window_has_a_name(window: Any, audit: Audit, state: str) -> None:
    session = window.session
    if state != "empty":
        session.add_text("a text to be looked at")
        item = session.current
        item.state = ItemState(state)
        if state == "done":
            item.audit = audit
        session.item_changed.emit()
    window.work.text.find.enter()
    QApplication.processEvents()
    assert nameless(window) == []


def test_tab_reaches_every_part_of_the_window(window: Any, audit: Audit) -> None:
    window.session.add_audit(audit)
    window.activateWindow()
    window.queue.list.setFocus()
    QApplication.processEvents()
    ring = tab_ring(window)
    cards = window.evidence
    for widget in (
        window.header.key, window.header.audit, window.queue.list, window.work.text.view,
        cards.token.ring, cards.bits.plot, cards.course.plot,
    ):  # fmt: skip
        if widget.isEnabled():
            assert widget in ring, widget


def opened(dialog: QDialog) -> QDialog:
    dialog.open()
    return dialog


def reading_dialog(window: Any) -> QDialog:
    item = Item(number=0, name="memo.txt", path=Path(__file__))
    return dialogs._open(ReadingDialog(window.session, item, window))


def second_person(window: Any) -> QDialog:
    audit = window.session.current.audit
    with CaseLog(user_paths().caselog, create=True) as log:
        anna = log.person("Anna")
        case = find_case(log, "Thesis") or open_case(log, "Thesis", anna)
        item = case.items[0] if case.items else save_audit(log, case.id, audit, anna)
    return opened(ReviewDialog(window.session.jobs.cases, case, item, window))


def opened_dialogs(window: Any) -> dict[str, Callable[[], QDialog | None]]:
    """Every dialog of the window, by name; a new one is one line more."""

    def asked(act: Callable[[], object]) -> Callable[[], QDialog]:
        def find() -> QDialog:
            before = set(window.findChildren(QDialog))
            act()
            return next(d for d in window.findChildren(QDialog) if d not in before)

        return find

    def key_dialogs() -> Any:
        return dialogs.show_keys(window)

    return {
        "about": lambda: dialogs.show_about(window),
        "shortcuts": lambda: dialogs.show_shortcuts(window),
        "details": lambda: dialogs.show_details(window),
        "candidates": lambda: dialogs.show_candidates(window),
        "settings": lambda: dialogs.show_settings(window),
        "reading": lambda: reading_dialog(window),
        "guide": lambda: dialogs.show_guide(window),
        "table": lambda: dialogs.show_table(window, window.evidence.bits),
        "compare": lambda: dialogs.compare_audits(window),
        "report": lambda: dialogs.make_report(window),
        "save to a case": lambda: dialogs.save_to_case(window),
        "cases": lambda: dialogs.show_cases(window),
        "new case": lambda: dialogs.show_cases(window).ask_new(),
        "import of a case": lambda: dialogs.show_cases(window).ask_import(),
        "second person": lambda: second_person(window),
        "event of a case": lambda: opened(EventDialog(window)),
        "check of the log": dialogs.show_cases(window).acts.check_log,
        "sign a report": lambda: dialogs.sign_report(window),
        "verify a report": lambda: dialogs.verify_report(window),
        "open files": asked(window.open_files),
        "folder": lambda: dialogs.open_folder(window),
        "issued payloads": lambda: dialogs.import_register(window),
        "keys": lambda: dialogs.show_keys(window),
        "new key": lambda: key_dialogs().ask("new-key"),
        "key to import": lambda: key_dialogs().ask("import-key"),
        "deployment key": lambda: key_dialogs().ask("derive-key"),
        "name of a key": lambda: key_dialogs().ask("rename-key"),
        "note on a key": lambda: key_dialogs().ask("note-key"),
        "new passphrase": lambda: key_dialogs().ask("export-key"),
        "deletion of a key": lambda: key_dialogs().ask("delete-key"),
        "name of a profile": asked(lambda: window.setup.ask("new-profile")),
        "folder of a model": asked(lambda: window.setup.ask("add-model")),
        "file of a profile": asked(lambda: window.setup.ask("import-profile")),
        "models": lambda: dialogs.show_models(window),
        "profiles": lambda: dialogs.show_profiles(window),
        "new profile": lambda: opened(ProfileEditor(window.session, None, window)),
        "fitness": lambda: opened(FitnessDialog(window.session, "tiny", window)),
        "closing": lambda: closing_question(window)[0],
    }


@pytest.fixture
def plain_dialogs() -> Iterator[None]:
    """File dialogs that Qt draws itself, as on a desktop without its own."""
    names = Qt.ApplicationAttribute.AA_DontUseNativeDialogs
    before = QApplication.testAttribute(names)
    QApplication.setAttribute(names, on=True)
    yield
    QApplication.setAttribute(names, on=before)


@pytest.mark.usefixtures("plain_dialogs")
def test_dialogs_have_names_and_let_the_keyboard_through(
    window: Any, audit: Audit, qtbot: Any
) -> None:
    window.session.add_audit(audit)
    for name, act in opened_dialogs(window).items():
        dialog = act()
        assert dialog is not None, name
        QApplication.processEvents()
        assert dialog.windowTitle(), name
        assert nameless(dialog) == [], name
        ring = tab_ring(dialog)
        missed = [
            button.text()
            for button in dialog.findChildren(QPushButton)
            if button.isVisible() and button.isEnabled() and button not in ring
        ]
        assert missed == [], name
        with qtbot.waitSignal(dialog.finished):
            qtbot.keyClick(dialog, Qt.Key.Key_Escape)


class Trap(QLineEdit):
    """Swallows Tab."""

    def focusNextPrevChild(self, _forward: bool) -> bool:
        return True


def test_the_walk_itself_finds_a_missing_name_and_a_focus_trap(qtbot: Any) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    row = QHBoxLayout(dialog)
    trap, reached, mute = Trap(), QPushButton("Reached"), QLineEdit()
    for widget in (reached, trap, mute):
        row.addWidget(widget)
    trap.setAccessibleName("A trap")
    dialog.show()
    reached.setFocus()
    QApplication.processEvents()
    assert nameless(dialog) == ["QLineEdit "]
    ring = tab_ring(dialog)
    assert trap in ring
    assert mute not in ring


def test_about_can_be_copied_and_holds_the_versions(window: Any) -> None:
    from pura_audit.dialogs.about import facts

    words = facts(window.session)
    for part in ("PURA Audit", "Python", "Qt", "torch", "Test chip", "Keyring"):
        assert part in words


def test_rows_of_the_queue_speak(window: Any, audit: Audit) -> None:
    window.session.add_audit(audit)
    index = window.session.queue.index(0)
    words = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "A mark was found" in words
    assert "memo.txt" in words
