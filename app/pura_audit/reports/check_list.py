"""Single checks, each with its own result: what failed first, what is well folded below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from pura.report.check import BAD, GOOD, NOTICE, OPEN, CheckedPoint
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, label
from pura_audit.widgets.fold import Fold

_MARK: Final = {
    GOOD: ("✓", "done"),
    NOTICE: ("i", "value"),
    BAD: ("✕", "attention"),
    OPEN: ("–", "muted"),
}
_RANK: Final = {BAD: 0, NOTICE: 1, OPEN: 2}


class CheckList:
    """Shows checks.

    Attributes:
        area: What stands in the dialog.
        rows: What is shown, one below the other.
    """

    def __init__(self) -> None:
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(translate("ReportCheck", "Single checks"))
        self.rows = QVBoxLayout()
        self.rows.setSpacing(GRID)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, GRID, 0)
        column.addLayout(self.rows)
        column.addStretch(1)
        self.area.setWidget(inside)

    def show_checks(self, checks: Sequence[CheckedPoint]) -> None:
        """Show these in place of others."""
        self.clear()
        others = [one for one in checks if one.state != GOOD]
        for single in sorted(others, key=lambda one: _RANK[one.state]):
            self.rows.addWidget(_row(single))
        passed = [one for one in checks if one.state == GOOD]
        if passed:
            words = translate(
                "ReportCheck", "Nothing amiss in {n:plural(one check|{n:count} checks)}"
            )
            fold = Fold(filled(words, n=len(passed)), opened=not others)
            for single in passed:
                fold.body.addWidget(_row(single))
            self.rows.addWidget(fold)

    def clear(self) -> None:
        """Show nothing."""
        while (item := self.rows.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()


def lines_of(checks: Sequence[CheckedPoint]) -> list[str]:
    """Return checks as lines of text."""
    return [
        f"{one.title(language())}: {one.result(language())}. {one.text(language())}"
        for one in checks
    ]


def _row(check: CheckedPoint) -> Card:
    """Show one check: sign, name, result, and what was found."""
    card = Card(inner=GAP)
    sign, role = _MARK[check.state]
    head = QHBoxLayout()
    head.setSpacing(GRID)
    mark = label(sign, role)
    mark.setFixedWidth(2 * GRID)
    mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
    title = label(check.title(language()), "value")
    head.addWidget(mark)
    head.addWidget(title)
    head.addStretch(1)
    head.addWidget(label(check.result(language()), role))
    card.body.addLayout(head)
    text = label(check.text(language()), "", wrap=True)
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    text.setContentsMargins(3 * GRID, 0, 0, 0)
    card.body.addWidget(text)
    card.setAccessibleName(f"{check.title(language())}: {check.result(language())}")
    return card
