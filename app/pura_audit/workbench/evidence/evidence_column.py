"""The right column: token, bits, course, under each other."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from pura_audit.session.selection import Selection
from pura_audit.theme.theme import GAP, Theme
from pura_audit.workbench.evidence.bits_card import BitsCard
from pura_audit.workbench.evidence.course_card import CourseCard
from pura_audit.workbench.evidence.token_card import TokenCard

NARROW = 360
_TOKEN = 204  # least height of the card with its ring
_TOKEN_BARE = 136  # and without


class EvidenceColumn(QSplitter):
    """Why: three linked cards."""

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.token = TokenCard(selection, theme)
        self.bits = BitsCard(selection, theme)
        self.course = CourseCard(selection, theme)
        self.setHandleWidth(GAP)
        self.setChildrenCollapsible(False)
        self.setMinimumWidth(NARROW)
        for card, least, share in (
            (self.token, _TOKEN, 28),
            (self.bits, 188, 42),
            (self.course, 140, 24),
        ):
            card.setMinimumHeight(least)
            self.addWidget(card)
            self.setStretchFactor(self.count() - 1, share)
        self.setSizes([260, 330, 190])
        for place in (1, 2):
            self.handle(place).setAccessibleName("")
        self._selection = selection
        selection.audit_changed.connect(self._fit)

    def _fit(self) -> None:
        """Hide the bits of a mark by others, which carries none, and give the course the room."""
        audit = self._selection.audit
        foreign = audit is not None and audit.profile.foreign is not None
        if foreign == self.bits.isHidden():
            return
        self.bits.setVisible(not foreign)
        self.token.setMinimumHeight(_TOKEN_BARE if foreign else _TOKEN)
        self.setSizes([_TOKEN_BARE, 0, 640] if foreign else [260, 330, 190])

    @property
    def cards(self) -> tuple[TokenCard, BitsCard, CourseCard]:
        """The three cards."""
        return self.token, self.bits, self.course
