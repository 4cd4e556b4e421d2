"""The right column: token, bits, course, under each other."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from pura_audit.session.selection import Selection
from pura_audit.theme.theme import GAP, Theme
from pura_audit.workbench.evidence.bits_card import BitsCard
from pura_audit.workbench.evidence.course_card import CourseCard
from pura_audit.workbench.evidence.token_card import TokenCard

NARROW = 360
_TOKEN_BARE = 136  # height of the card without its ring


class EvidenceColumn(QSplitter):
    """Why: three linked cards, each on screen while it has something to show.

    Signals:
        filled_changed: The first card has something to show, or the last has no more.
    """

    filled_changed = Signal()

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.token = TokenCard(selection, theme)
        self.bits = BitsCard(selection, theme)
        self.course = CourseCard(selection, theme)
        self.setHandleWidth(GAP)
        self.setChildrenCollapsible(False)
        self.setMinimumWidth(NARROW)
        self.bits.setMinimumHeight(188)
        self.course.setMinimumHeight(140)
        for card, share in ((self.token, 28), (self.bits, 42), (self.course, 24)):
            self.addWidget(card)
            self.setStretchFactor(self.count() - 1, share)
        self.setSizes([260, 330, 190])
        for place in (1, 2):
            self.handle(place).setAccessibleName("")
        self._selection = selection
        self.filled = False
        selection.audit_changed.connect(self._fit)
        self.course.filled_changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        """Show what has something to show: a mark by others has no bits, a running audit no token.

        The course gets the room of the others.
        """
        audit = self._selection.audit
        foreign = audit is not None and audit.profile.foreign is not None
        shown = (
            audit is not None and audit.tokens.ids.size > 0,
            bool(self._selection.bits()) and not foreign,
            self.course.filled,
        )
        if shown != tuple(not card.isHidden() for card in self.cards):
            for card, here in zip(self.cards, shown, strict=True):
                card.setVisible(here)
            self.setSizes([260, 330, 190] if all(shown) else [_TOKEN_BARE, 330, 640])
        if self.filled != any(shown):
            self.filled = any(shown)
            self.filled_changed.emit()

    @property
    def cards(self) -> tuple[TokenCard, BitsCard, CourseCard]:
        """The three cards."""
        return self.token, self.bits, self.course
