"""Where a finding stands: saved, reviewed, reported, signed; a press does the step."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from pura_audit.platform.i18n import filled, translate
from pura_audit.session.items import Item
from pura_audit.widgets.card import label, restyle

REPORT: Final = "report"
STEPS: Final = ("save", "review", REPORT, "sign")
_SIGNS: Final = {"done": "✓", "bad": "!"}


class Steps(QWidget):
    """Four steps in a row.

    Signals:
        wanted: One of them was pressed: its name.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for place, name in enumerate(STEPS):
            if place:
                row.addWidget(label("–", "muted"))
            button = QPushButton()
            button.setProperty("role", "step")
            button.clicked.connect(lambda _=False, n=name: self.wanted.emit(n))
            self.buttons[name] = button
            row.addWidget(button)

    def show_item(self, item: Item) -> None:
        """Show where the finding of a row stands."""
        words, tips = _words(item), _tips(item)
        states = step_states(item)
        for place, name in enumerate(STEPS, start=1):
            button, state = self.buttons[name], states[name]
            sign = _SIGNS.get(state, str(place))
            button.setText(f"{sign} {words[name]}")
            button.setToolTip(tips[name])
            button.setAccessibleName(f"{words[name]}: {tips[name]}")
            restyle(button, "state", state)


def step_states(item: Item) -> dict[str, str]:
    """Return the state of each step: ``done``, ``bad``, ``next`` or ``later``."""
    at = item.standing
    done = {
        "save": at is not None,
        "review": at is not None and at.review == "confirmed",
        "report": at is not None and at.report == "issued",
        "sign": at is not None and at.signed,
    }
    states: dict[str, str] = {}
    for name in STEPS:
        waits = "next" not in states.values() and "bad" not in states.values()
        states[name] = "done" if done[name] else "next" if waits else "later"
    if at is not None and at.review == "disputed":
        states["review"] = "bad"
    return states


def next_words(item: Item) -> str:
    """Say what is to be done with a finding next; empty where all is done."""
    states, tips = step_states(item), _tips(item)
    return next((tips[name] for name in STEPS if states[name] == "next"), "")


def _words(item: Item) -> dict[str, str]:
    at = item.standing
    review = at.review if at is not None else ""
    report = at.report if at is not None else ""
    return {
        "save": translate("Steps", "Saved") if at is not None else translate("Steps", "Save"),
        "review": {
            "confirmed": translate("Steps", "Reviewed"),
            "disputed": translate("Steps", "Disputed"),
        }.get(review, translate("Steps", "Review")),
        "report": translate("Steps", "Draft written")
        if report == "drafted"
        else translate("Steps", "Reported")
        if report == "issued"
        else translate("Steps", "Report"),
        "sign": translate("Steps", "Signed")
        if at is not None and at.signed
        else translate("Steps", "Sign"),
    }


def _tips(item: Item) -> dict[str, str]:
    at = item.standing
    if at is None:
        save = translate("Steps", "Save the finding to a case")
    else:
        words = translate("Steps", "In the case “{case:text}”; press to file it elsewhere")
        save = filled(words, case=at.name or "–")
    if at is not None and at.review:
        by = (
            translate("Steps", "Confirmed by {who:text}")
            if at.review == "confirmed"
            else translate("Steps", "Disputed by {who:text}")
        )
        review = filled(by, who=at.reviewer or "–")
    else:
        review = translate("Steps", "Let a second person look at the finding")
    return {
        "save": save,
        "review": review,
        "report": translate("Steps", "Make a report of the finding"),
        "sign": translate("Steps", "Sign a report"),
    }
