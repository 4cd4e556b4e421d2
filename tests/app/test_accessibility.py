"""Names on every control, and no trap for the keyboard, in the window and in every dialog."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from pura.audit.record import Audit
from pura_audit import dialogs
from pura_audit.models.items import ItemState

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
    """Walk with Tab until a widget comes back."""
    seen: list[QWidget] = []
    start = root.focusWidget()
    for _ in range(200):
        widget = root.focusWidget()
        if widget is None or widget in seen:
            break
        seen.append(widget)
        root.focusNextPrevChild(True)
    assert start is not None
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


@pytest.mark.parametrize("name", ["about", "shortcuts", "details", "candidates", "table", "guide"])
def test_dialogs_have_names_and_let_the_keyboard_through(
    window: Any, audit: Audit, qtbot: Any, name: str
) -> None:
    window.session.add_audit(audit)
    dialog = {
        "about": lambda: dialogs.show_about(window),
        "shortcuts": lambda: dialogs.show_shortcuts(window),
        "details": lambda: dialogs.show_details(window),
        "candidates": lambda: dialogs.show_candidates(window),
        "guide": lambda: dialogs.show_guide(window),
        "table": lambda: dialogs.show_table(window, window.evidence.bits),
    }[name]()
    assert dialog is not None
    QApplication.processEvents()
    assert dialog.windowTitle()
    assert nameless(dialog) == []
    buttons = dialog.findChildren(QPushButton)
    ring = tab_ring(dialog)
    assert all(b in ring for b in buttons if b.isVisible() and b.isEnabled())
    with qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)


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
