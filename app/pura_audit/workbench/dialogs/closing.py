"""The one question that is asked before something is cut off or lost."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QWidget

from pura_audit.platform.i18n import filled, translate
from pura_audit.widgets.form_dialog import ask_first


def closing_question(
    parent: QWidget,
    close: Callable[[], object],
    *,
    running: bool,
    installing: bool,
    unkept: int,
) -> QMessageBox:
    """Ask, and return the question.

    Args:
        parent: The window.
        close: Closes it whatever runs.
        running: An audit runs or waits.
        installing: A model is fetched or added.
        unkept: Findings that the case log did not take: these alone are lost.
    """
    kept = translate(
        "Window",
        "What is finished is kept in the case “Unfiled”. The list comes back at the next start, "
        "and the audit that is cancelled can be begun again there.",
    )
    if unkept:
        words = translate(
            "Window",
            "{n:plural(One finding is|{n:count} findings are)} not in the case log and "
            "{n:plural(is|are)} lost when the window closes. Save to a case first (Ctrl+S).",
        )
        kept = filled(words, n=unkept)
    if installing:
        words = translate(
            "Window",
            "A model that is not fetched to its end is not installed; nothing of it is used.",
        )
        kept = f"{words} {kept}" if running or unkept else words
    return ask_first(
        parent,
        translate("Window", "Close"),
        _what(running=running, installing=installing),
        kept,
        (
            translate("Window", "Cancel it and close")
            if running or installing
            else translate("Window", "Close and lose it"),
            close,
        ),
        keep=translate("Window", "Stay"),
    )


def _what(*, running: bool, installing: bool) -> str:
    if running and installing:
        return translate("Window", "An audit is running, and a model is being installed.")
    if running:
        return translate("Window", "An audit is running.")
    if installing:
        return translate("Window", "A model is being installed.")
    return translate("Window", "Not everything is saved.")
