"""What a screen reader says of every part, and no trap for the keyboard, window and dialogs."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTabBar,
    QTabWidget,
    QWidget,
)
from tests.app.every_dialog import opened_dialogs
from tests.app.room import faults

from pura.base.paths import resource
from pura_audit.platform.accessible import set_role
from pura_audit.session.queue_model import ItemState
from pura_audit.widgets.form_dialog import MainButton, PlainDialog
from pura_audit.workbench.guide import about_dialog

ROLES = QAccessible.Role
NO_ROLES = (ROLES.NoRole, ROLES.Client)
"""What Qt calls a widget that it knows nothing of; a screen reader says “filler”, or nothing."""

CELLS = (ROLES.Cell, ROLES.ColumnHeader, ROLES.RowHeader, ROLES.TreeItem)
"""May be empty, as the table is."""

PRESSED = (ROLES.Button, ROLES.CheckBox, ROLES.RadioButton, ROLES.ButtonMenu, ROLES.ComboBox)
TOLD = QAccessible.Text
MARKUP = re.compile(r"</?\w+[^>]*>|&\w")
SIGNS = re.compile("[▾▸⏎✓✗☐●]")

LOW = QSize(790, 465)
"""What a frame leaves of a screen of 1600 by 1000 pixels at 200 %."""


def told(thing: Any) -> Iterator[Any]:
    """Go over what a screen reader finds on the screen in something."""
    for number in range(thing.childCount()):
        child = thing.child(number)
        if child is not None and not child.state().invisible:
            yield child
            yield from told(child)


def unsaid(root: QWidget, foreign: frozenset[str] = frozenset()) -> list[str]:
    """What a screen reader would say wrongly, or not at all, of a part that is on the screen."""
    found = []
    top = QAccessible.queryAccessibleInterface(root)
    for one in (top, *told(top)):
        role, state = one.role(), one.state()
        name, *more = (one.text(kind) for kind in (TOLD.Name, TOLD.Description, TOLD.Help))
        thing = one.object()
        what = f"{type(thing).__name__} {role.name} “{name:.60}”"
        # The inside of a scroll area hands the focus on to the area.
        inside = isinstance(thing, QWidget) and thing.focusProxy() is not None
        reached = bool(state.focusable) and not inside
        if role in NO_ROLES and (name or reached):
            found.append(f"no role: {what}")
        if (reached or role in PRESSED) and not name and role not in CELLS:
            found.append(f"no name: {what}")
        if role in (ROLES.CheckBox, ROLES.RadioButton) and not state.checkable:
            found.append(f"no state: {what}")
        if any(MARKUP.search(words) for words in (name, *more)):
            found.append(f"markup: {what}")
        if SIGNS.search(name) and role is not ROLES.StaticText:
            found.append(f"a sign is read out: {what}")
        if foreign.intersection((name, *more)):
            found.append(f"another language: {what}")
    return found


@pytest.fixture(scope="session")
def only_english() -> frozenset[str]:
    """Texts of the window that read otherwise in German."""
    root = ET.parse(resource("languages", "de", "window.ts")).getroot()
    pairs = [(one.findtext("source"), one.findtext("translation")) for one in root.iter("message")]
    german = {translation for _, translation in pairs}
    return frozenset(source for source, _ in pairs if source and source not in german)


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


def unreached(root: QWidget, ring: list[QWidget]) -> list[str]:
    """What can be worked with the mouse and not reached with Tab."""
    kinds = (QAbstractButton, QLineEdit, QPlainTextEdit, QAbstractItemView, QComboBox, QSpinBox)
    found = []
    for widget in root.findChildren(QWidget):
        inside = isinstance(widget.parentWidget(), QLineEdit | QComboBox | QSpinBox | QTabBar)
        if not isinstance(widget, kinds) or isinstance(widget, QHeaderView) or inside:
            continue
        if widget in ring:
            continue
        if not (widget.isVisibleTo(root) and widget.isEnabled() and widget.window() is root):
            continue
        button = isinstance(widget, QAbstractButton)
        if button and widget.autoExclusive() and widget.isCheckable():
            continue  # the arrow keys go from one to the next
        found.append(f"{type(widget).__name__} {widget.accessibleName()}")
    return found


def ringless(ring: list[QWidget]) -> list[str]:
    """Widgets that look the same with the focus and without it.

    In what one writes into, the caret is no ring: there the edge must differ.
    """
    found = []
    for widget in ring:
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        widget.window().setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)  # as Tab does
        if not widget.hasFocus() or not widget.isVisible():
            continue  # it hands the focus on, or stood on a page that is hidden by now
        focused = widget.grab().toImage()
        widget.clearFocus()
        plain = widget.grab().toImage()
        if isinstance(widget, QLineEdit | QPlainTextEdit | QAbstractSpinBox):
            strip = QRect(0, 0, plain.width(), 3)
            focused, plain = focused.copy(strip), plain.copy(strip)
        if focused == plain:
            found.append(f"{type(widget).__name__} {widget.accessibleName()}")
    return found


def wordless(dialog: QWidget, qtbot: Any) -> list[str]:
    """Main buttons that cannot be pressed while no line on the screen says what is needed."""

    def found() -> list[str]:
        lines = {one.text() for one in dialog.findChildren(QLabel) if one.isVisible()} - {""}
        return [
            f"grey, and nobody says why: {button.text()}"
            for button in dialog.findChildren(MainButton)
            if button.isVisible() and not button.isEnabled()
            if button.accessibleDescription() not in lines
        ]

    with suppress(qtbot.TimeoutError):  # while something runs there is nothing to be given
        qtbot.waitUntil(lambda: not found())
    return found()


def covered(root: QWidget) -> list[str]:
    """Attributes of widgets that hide a method of Qt's, so that Qt's callers get a thing."""
    return [
        f"{type(widget).__name__}.{name}"
        for widget in (root, *root.findChildren(QWidget))
        for name in vars(widget)
        if isinstance(getattr(QWidget, name, None), type(QWidget.size) | type(QWidget.find))
    ]


@pytest.fixture
def plain_dialogs() -> Iterator[None]:
    """File dialogs that Qt draws itself, as on a desktop without its own."""
    names = Qt.ApplicationAttribute.AA_DontUseNativeDialogs
    before = QApplication.testAttribute(names)
    QApplication.setAttribute(names, on=True)
    yield
    QApplication.setAttribute(names, on=before)


@pytest.mark.usefixtures("plain_dialogs")
def test_dialogs_are_told_in_english_too(window, audit, qtbot, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    window.session.texts.add_audit(audit)
    wrong: list[str] = []
    for name, act in opened_dialogs(window).items():
        dialog = act()
        QApplication.processEvents()
        faulty = (*unsaid(dialog), *wordless(dialog, qtbot))
        wrong += [f"{name}: {fault}" for fault in faulty]
        with qtbot.waitSignal(dialog.finished):
            qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_part_of_the_window_is_told(start, audit, only_english, language):
    window = start(language=language, begin_audits=False)
    session, foreign = window.session, only_english if language == "de" else frozenset()
    for state in ("empty", "ready", "running", "failed", "done"):
        if state == "ready":
            session.texts.add_text("a text to be looked at")
        if state != "empty":
            session.texts.current.state = ItemState(state)
            session.texts.current.audit = audit if state == "done" else None
            session.texts.item_changed.emit()
        window.work.text.find_bar.enter()
        QApplication.processEvents()
        ring = tab_ring(window)
        assert ringless(ring) == [], state
        assert unreached(window, ring) == [], state
        assert unsaid(window, foreign) == [], state
        assert covered(window) == [], state
    for show in (window.toggle_results, window.toggle_issued):
        show()
        QApplication.processEvents()
        ring = tab_ring(window)
        assert ringless(ring) == [], show
        assert unreached(window, ring) == [], show
        assert unsaid(window, foreign) == [], show
        assert covered(window) == [], show


def test_tab_reaches_every_part_of_the_window(window, audit):
    window.session.texts.add_audit(audit)
    window.activateWindow()
    window.queue.list.setFocus()
    QApplication.processEvents()
    ring = tab_ring(window)
    assert len(ring) > 15
    assert ringless(ring) == []
    cards = window.evidence
    for widget in (
        window.header.setup,
        window.header.audit,
        window.queue.list,
        window.work.text.view,
        cards.token.ring,
        cards.bits.plot,
        cards.course.plot,
    ):
        if widget.isEnabled():
            assert widget in ring, widget


@pytest.mark.usefixtures("plain_dialogs")
def test_dialogs_have_names_let_the_keyboard_through_and_fit_a_low_screen(
    german, audit, qtbot, monkeypatch, tmp_path, only_english
):
    monkeypatch.chdir(tmp_path)  # a file dialog lists nothing: its ring is not a chosen row
    long = replace(audit.input, name=f"{'Stellungnahme_der_Verwaltung_' * 8}v3.docx")
    german.session.texts.add_audit(replace(audit, input=long))
    tight: list[str] = []
    wrong: list[str] = []
    for name, act in opened_dialogs(german).items():
        dialog = act()
        assert dialog is not None, name
        QApplication.processEvents()
        assert dialog.windowTitle(), name
        # Beside the guide none is open while the language is changed in another, the settings.
        assert dialog.isModal() or name == "show_guide"
        own = not isinstance(dialog, QFileDialog)  # Qt speaks its own German
        said = unsaid(dialog, only_english if own else frozenset())
        wrong += [f"{name}: {fault}" for fault in said]
        assert covered(dialog) == [], name
        ring = tab_ring(dialog)
        if not isinstance(dialog, QFileDialog):
            missed = unreached(dialog, ring)
            if name == "palette":  # the arrow keys of its line choose the row
                missed = [thing for thing in missed if not thing.startswith("QTableView")]
            wrong += [f"{name}: not reached: {thing}" for thing in missed]
        assert ringless(ring) == [], name
        for low in (LOW, LOW.expandedTo(dialog.size())):
            with monkeypatch.context() as screen:
                screen.setattr(PlainDialog, "_largest", lambda _, low=low: low)

                def fits(dialog: QDialog = dialog, low: QSize = low) -> bool:
                    # Until a layout has settled a dialog can be held larger than it has to be.
                    dialog.resize(low)
                    return not faults(dialog) and dialog.size() == dialog.size().boundedTo(low)

                with suppress(qtbot.TimeoutError):  # what comes from another thread finds its room
                    qtbot.waitUntil(fits)
                tight += [f"{name}: {fault}" for fault in faults(dialog)]
                if dialog.size() != dialog.size().boundedTo(low):
                    tight.append(f"{name} is larger than {low.toTuple()}")
        wrong += [f"{name}: {fault}" for fault in wordless(dialog, qtbot)]
        with qtbot.waitSignal(dialog.finished):
            qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not tight, "\n".join(tight)
    assert not wrong, "\n".join(wrong)


class Trap(QLineEdit):
    """Swallows Tab."""

    def focusNextPrevChild(self, _forward: bool) -> bool:
        return True


def test_the_walk_itself_finds_a_missing_name_and_a_focus_trap(qtbot):
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
    assert unsaid(dialog) == ["no name: QLineEdit EditableText “”"]
    mute.setAccessibleName("Two words")
    assert unsaid(dialog, frozenset({"Two words"})) == [
        "another language: QLineEdit EditableText “Two words”"
    ]
    reached.setToolTip("<p>Two words</p>")
    assert unsaid(dialog) == ["markup: QPushButton Button “Reached”"]
    reached.setToolTip("")
    painted = QWidget(dialog)
    painted.setAccessibleName("A picture")
    painted.show()
    assert unsaid(dialog) == ["no role: QWidget Client “A picture”"]
    set_role(painted, QAccessible.Role.Graphic)
    QAccessible.deleteAccessibleInterface(
        QAccessible.uniqueId(QAccessible.queryAccessibleInterface(painted))
    )
    assert unsaid(dialog) == []
    ring = tab_ring(dialog)
    assert trap in ring
    assert mute not in ring


def test_about_can_be_copied_and_holds_the_versions(window):
    dialog = about_dialog(window.session, window)
    tabs = dialog.findChild(QTabWidget)
    versions, licences = tabs.widget(0), tabs.widget(1)
    copy = dialog.findChild(QPushButton, "copy")
    words = versions.toPlainText()
    for part in ("PURA Audit", "Python", "Qt", "torch", "Test chip", "Keyring"):
        assert part in words
    copy.click()
    assert QGuiApplication.clipboard().text() == words
    assert licences.toPlainText() == "", "a megabyte is read when it is wanted"
    tabs.setCurrentWidget(licences)
    assert "MIT License" in licences.toPlainText()
    assert "PySide6" in licences.toPlainText()
    copy.click()
    assert QGuiApplication.clipboard().text() == licences.toPlainText()


def test_rows_of_the_queue_speak(window, audit):
    window.session.texts.add_audit(audit)
    index = window.session.texts.queue.index(0)
    words = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "A mark was found" in words
    assert "memo.txt" in words


def test_a_ring_follows_the_keyboard_and_not_the_mouse(window, audit, qtbot):
    window.session.texts.add_audit(audit)
    view = window.work.text.view
    QApplication.processEvents()
    unused = view.grab().toImage()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton)
    window.selection.select_token(0)
    QApplication.processEvents()
    edge = QRect(0, 0, 2, view.height())
    assert view.hasFocus()
    assert view.grab().toImage().copy(edge) == unused.copy(edge)
    qtbot.keyClick(view, Qt.Key.Key_Tab)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Backtab)
    assert view.hasFocus()
    assert view.grab().toImage().copy(edge) != unused.copy(edge)
