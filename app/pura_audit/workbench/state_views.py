"""The views in the place of the answer: empty, ready, busy and error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QPlainTextEdit,
    QSizePolicy,
    QSpacerItem,
    QWidget,
)

from pura_audit.jobs.queue import Failure, Progress
from pura_audit.platform.i18n import duration, filled, translate
from pura_audit.session.queue_model import Item, ItemState, measure_words, state_words
from pura_audit.theme.fonts import app_icon
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import (
    ElidedLabel,
    ScrollCard,
    add_parts,
    column_of,
    dropped_paths,
    label,
    progress_bar,
    push_button,
    row_of,
    run_endless,
)
from pura_audit.widgets.form_dialog import plain_button
from pura_audit.workbench.setup import SetupView

READING = "reading"


def step_words(progress: Progress) -> str:
    """Return the description of a step of the audit."""
    names = {
        0: translate("Busy", "Loading the model"),
        1: translate("Busy", "Taking the text in"),
        2: translate("Busy", "Taking the text in"),
        3: translate("Busy", "Splitting the text into tokens"),
        4: translate("Busy", "Checking key, model and profile"),
        5: translate("Busy", "Reading the text"),
        6: translate("Busy", "Finding the steps that carry bits"),
        7: translate("Busy", "Weighing each token"),
        8: translate("Busy", "Decoding"),
        9: translate("Busy", "Measuring the evidence"),
        10: translate("Busy", "Finding passages"),
        11: translate("Busy", "Ranking candidates"),
        12: translate("Busy", "Putting it into words"),
    }
    return names.get(progress.step, progress.name)


def progress_words(progress: Progress) -> str:
    """Return the progress of a step, and the time left."""
    parts = [step_words(progress)]
    if progress.name == READING and progress.total:
        text = (
            translate("Busy", "{n:count} of {all:count} tokens of {texts:count} texts")
            if progress.texts > 1
            else translate("Busy", "{n:count} of {all:count} tokens")
        )
        text = filled(text, n=progress.done, all=progress.total, texts=progress.texts)
        parts[0] += f", {text}"
    if progress.seconds_left is not None:
        parts.append(left_words(progress.seconds_left))
    return " · ".join(parts)


def left_words(seconds: float) -> str:
    """Return the time left in words."""
    return filled(translate("Busy", "{time:text} left"), time=duration(seconds))


class EmptyView(ScrollCard):
    """The view of an empty list: open, paste, try the sample, and set up."""

    def __init__(self) -> None:
        super().__init__()
        sign = label()
        sign.setPixmap(app_icon().pixmap(56, 56))
        sign.setAccessibleName("PURA Audit")
        heading = label(translate("Empty", "Drop a text here"), "answer")
        explanation = label(
            translate(
                "Empty",
                "One file, many, or a folder; or paste a text. It is read on this computer, and "
                "nothing leaves it.",
            ),
            "muted",
            wrap=True,
        )
        self.open = push_button(translate("Empty", "Open files …"), role="main")
        self.paste = push_button(translate("Empty", "Paste a text"))
        self.sample = push_button(translate("Empty", "Try the sample"))
        self.setup = SetupView()
        self.outlook = _outlook()
        self.setup.hide()
        self.outlook.hide()  # until it is known which of both is due
        self.setup.complete.connect(self.take_focus)
        self.setup.needed.connect(self._show)
        # All begins at one edge and one height: nothing moves when it is known what is here.
        self._above = QSpacerItem(0, ABOVE, *_SPACER)
        buttons = row_of(self.open, self.paste, self.sample, None)
        inside = QWidget()
        inside.setMaximumWidth(WIDE)
        parts = (
            sign,
            GRID,
            heading,
            explanation,
            GRID * 2,
            buttons,
            GRID * 2,
            self.setup,
            self.outlook,
        )
        add_parts(column_of(inside=inside), *parts)
        self.column.addItem(self._above)
        add_parts(self.column, row_of(None, (inside, 1000), None), None)

    def take_focus(self, keys: bool = False) -> None:
        """Set the focus, with its ring only if the keyboard is in use."""
        (self.open if keys else self).setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Reduce the top margin in a low window."""
        super().resizeEvent(event)
        high = ABOVE if self.height() >= HIGH else GRID
        if self._above.sizeHint().height() != high:
            self._above.changeSize(0, high, *_SPACER)
            self.column.invalidate()

    def _show(self, needed: bool) -> None:
        self.sample.setHidden(needed)  # it is one of the ways then
        self.outlook.setHidden(needed)


ABOVE: Final = 112  # pixels above the heading in a high window
HIGH: Final = 620  # of the page; in a lower one its ways stand higher
_SPACER: Final = (QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Maximum)
WIDE: Final = 720  # pixels of the widest content


def _outlook() -> QWidget:
    """Return a preview in words of the window after an audit."""
    parts = (
        (
            translate("Empty", "The answer"),
            translate("Empty", "Whether a mark was found, how strong it is, and for whom."),
        ),
        (
            translate("Empty", "The text"),
            translate("Empty", "Shaded where the mark is; a strip shows the whole document."),
        ),
        (
            translate("Empty", "The reasons"),
            translate("Empty", "Token by token, bit by bit, and how the evidence grows."),
        ),
    )
    outlook = QWidget()
    row = row_of(spacing=GAP, inside=outlook)
    for title, text in parts:
        box = QFrame()
        box.setProperty("role", "box")
        lines = column_of(label(title, "title"), label(text, "muted", wrap=True), None, inside=box)
        lines.setContentsMargins(GAP, GRID, GAP, GRID)
        row.addWidget(box, 1)
    return outlook


class _PromptField(QPlainTextEdit):
    """The field of the prompt, which accepts a dropped file of candidates.

    Signals:
        dropped: A file was dropped; carries its path.
    """

    dropped = Signal(object)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept texts and files."""
        return bool(dropped_paths(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Report a dropped file, or insert a text."""
        files = dropped_paths(source)
        if files:
            self.dropped.emit(files[0])
        else:
            super().insertFromMimeData(source)


class ReadyView(ScrollCard):
    """The view of a text before its audit, with the field of its prompt.

    Signals:
        prompt_changed: The prompt changed; carries it, and whether it is a list of candidates.
        prompts_wanted: Candidates are to be read; carries the path, or None to ask for it.
    """

    prompt_changed = Signal(str, bool)
    prompts_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.heading = label("", "answer", wrap=True)
        self.document = ElidedLabel(role="muted", middle=True)
        self.setup = SetupView()
        self.setup.hide()
        self.words = label("", "muted", wrap=True)
        self.expectation = label("", "muted", wrap=True)
        # It comes later than the rest, which does not move for it: it stands last.
        self.expectation.setMinimumHeight(self.expectation.fontMetrics().height())
        self.prompt = _PromptField()
        self.prompt.setTabChangesFocus(True)
        self.prompt.setFixedHeight(64)
        self.prompt.setPlaceholderText(
            translate("Ready", "The text that the model was given, if you know it")
        )
        caption = label(
            translate("Ready", "&Prompt, if it is known: it sharpens the evidence a lot"), "label"
        )
        caption.setBuddy(self.prompt)
        self.prompt.setAccessibleName(translate("Ready", "Known prompt"))
        self.several = QCheckBox(translate("Ready", "&Several candidates, one a line"))
        self.several.setToolTip(
            translate(
                "Ready",
                "Prompts that may have been given, at most 200; the evidence is the mean over all.",
            )
        )
        self.from_file = plain_button(
            translate("Ready", "Candidates from a &file …"), lambda: self.prompts_wanted.emit(None)
        )
        self.prompt.textChanged.connect(self._changed)
        self.several.toggled.connect(self._changed)
        self.prompt.dropped.connect(self.prompts_wanted)
        self.prompting = QWidget()
        several = row_of(self.several, None, self.from_file, spacing=-1)
        column_of(caption, self.prompt, several, inside=self.prompting)
        description = column_of(self.document, self.words, spacing=2)
        above = (self.heading, description, self.setup)
        add_parts(self.column, *above, self.prompting, self.expectation, None)

    def _changed(self) -> None:
        self.prompt_changed.emit(self.prompt.toPlainText(), self.several.isChecked())

    def expect(self, expectation: str) -> None:
        """Show what to expect of the text."""
        self.expectation.setText(expectation)

    def show_item(
        self, item: Item, missing: Sequence[str] = (), *, installing: bool = False
    ) -> None:
        """Show a text that was not audited yet, and the missing choices.

        Args:
            item: Row of the text.
            missing: Those of key, model and profile that are not chosen.
            installing: Whether a model is being installed.
        """
        fresh = item.state in (ItemState.READY, ItemState.CANCELLED, ItemState.INTERRUPTED)
        if item.sample:  # brings its own key and profile
            missing = [name for name in missing if name == "model"]
        missing = missing if fresh else ()
        waits = installing and set(missing) == {"model"}
        self.setup.show_when(bool(missing))
        self.setup.ways.setVisible(not waits)
        self.prompting.setVisible(not missing)  # one question at a time
        opening = translate("Ready", "Opening the finding")
        heading = opening if item.state is ItemState.DONE else state_words(item.state)
        if missing and item.state is ItemState.READY:
            heading = (
                translate("Ready", "Setting up") if waits else translate("Ready", "Not set up yet")
            )
        self.heading.setText(heading)
        advice = {
            ItemState.WAITING: translate("Ready", "The audit begins when the others are done."),
            ItemState.INTERRUPTED: translate(
                "Ready", "The program ended before it was done. Press Audit (Ctrl+Return)."
            ),
            ItemState.CANCELLED: translate(
                "Ready",
                "You stopped the audit: nothing is said of this text, and all other findings are "
                "safe. Press Audit (Ctrl+Return) to begin again.",
            ),
            ItemState.LOADING: "",
            ItemState.DONE: "",
        }.get(item.state, translate("Ready", "Press Audit (Ctrl+Return)."))
        if waits:
            advice = translate("Ready", "It can be audited when the model is installed.")
        elif missing:
            advice = translate("Ready", "It waits here. Choose how you want to begin:")
        parts = [item.name, measure_words(item)]
        self.document.setText(" · ".join(filter(None, parts)))
        self.words.setText(advice)
        self.words.setVisible(bool(advice))
        for field in (self.prompt, self.several):
            field.blockSignals(True)
        if self.prompt.toPlainText() != item.prompt:
            self.prompt.setPlainText(item.prompt)
        self.several.setChecked(item.several)
        for field in (self.prompt, self.several):
            field.blockSignals(False)
            field.setEnabled(not item.active)
        self.from_file.setEnabled(not item.active)


class BusyView(ScrollCard):
    """The view of a running audit, with buttons to pause and stop it."""

    def __init__(self) -> None:
        super().__init__()
        self.heading = label("", "answer")
        self.words = label("", "muted", wrap=True)
        self.bar = progress_bar(translate("Busy", "Progress of the audit"))
        leave = label(
            translate(
                "Busy",
                "You can go on working meanwhile: add texts, or look at other results.",
            ),
            "muted",
            wrap=True,
        )
        self.cancel = push_button(translate("Busy", "Cancel"))
        self.pause = push_button(translate("Busy", "Pause"))
        buttons = row_of(self.cancel, self.pause, None)
        add_parts(self.column, self.heading, self.words, self.bar, leave, GRID, buttons, None)

    def show_item(self, item: Item, *, paused: bool = False, expected: float | None = None) -> None:
        """Show the progress of an audit.

        Args:
            item: Row of the text.
            paused: Whether the audits are paused.
            expected: Expected duration in seconds, used until its speed is measured.
        """
        progress = item.progress or Progress(step=0, name="model")
        share = progress.share
        if progress.seconds_left is None and expected is not None:
            progress = replace(progress, seconds_left=max(1.0, expected * (1 - (share or 0.0))))
        auditing = state_words(ItemState.RUNNING)
        self.heading.setText(translate("Busy", "Paused") if paused else auditing)
        self.pause.setText(translate("Busy", "Go on") if paused else translate("Busy", "Pause"))
        self.words.setText(progress_words(progress))
        if share is None and not paused:
            run_endless(self.bar)
        else:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * (share or 0.0)))


class ErrorView(ScrollCard):
    """The view of a failure, with a button for the next attempt.

    Signals:
        again_wanted: The text is to be audited again.
        models_wanted: The dialog of the models is wanted.
    """

    again_wanted = Signal()
    models_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.document = ElidedLabel(role="muted", middle=True)
        self.heading = label(state_words(ItemState.FAILED), "answer")
        self.what = label("", "attention", wrap=True)
        self.safe = label(
            translate(
                "Error",
                "No statement is made about the text. It stays in the list, all other findings "
                "are safe, and the other texts go on.",
            ),
            wrap=True,
        )
        self.way = label("", "value", wrap=True)
        self.again = push_button("", self._act, role="main")
        self.remove = push_button(translate("Error", "Remove"), role="link")
        self._failure: Failure | None = None
        lines = (self.heading, self.what, self.safe, self.way)
        for line in lines:
            line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = row_of(self.again, self.remove, None, spacing=GAP)
        add_parts(self.column, self.document, *lines, GRID, buttons, None)

    def show_failure(self, failure: Failure, name: str, *, can_retry: bool) -> None:
        """Show a failure.

        Args:
            failure: The failure.
            name: Name of the text.
            can_retry: Whether there is a text or file for another attempt.
        """
        self._failure = failure
        self.document.setText(name)
        self.what.setText(failure.message)
        hint, caption = failure.hint, translate("Error", "Try again")
        if failure.code in OF_MODELS:
            hint = translate("Error", "Install it or put it back, or choose another model.")
            caption = translate("Error", "Models …")
        self.way.setText(hint)
        self.way.setVisible(bool(hint))
        self.again.setText(caption)
        self.again.setVisible(can_retry)

    def _act(self) -> None:
        of_model = self._failure is not None and self._failure.code in OF_MODELS
        (self.models_wanted if of_model else self.again_wanted).emit()


OF_MODELS: Final = ("model-missing", "model-gone")
"""Codes of failures that concern the model, so that a new attempt does not help."""
