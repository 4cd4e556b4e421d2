"""How the table is looked at: how its rows are grouped, its columns, filters that were kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtWidgets import QMenu, QWidget

from pura_audit.platform.i18n import translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.results import (
    BY_OUTCOME,
    BY_TEXT,
    COLUMNS,
    KINDS,
    ResultsModel,
    headers,
    kind_words,
)

MOST_FILTERS: Final = 12
Filter = tuple[str, str]
"""One of :data:`~pura_audit.session.results.KINDS` or "", and words."""


class PileMenu(QMenu):
    """A menu of groupings, kept filters and columns; it is made anew each time it opens.

    Args:
        model: The rows.
        settings: Where filters and columns are remembered.
        current: Returns the filter in use.
        use: Uses a filter.
        renewed: Called when the columns have changed.
        parent: Owns the menu.
    """

    def __init__(
        self,
        model: ResultsModel,
        settings: SettingsFile,
        *,
        current: Callable[[], Filter],
        use: Callable[[Filter], None],
        renewed: Callable[[], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._model, self._settings, self._current = model, settings, current
        self._use, self._renewed = use, renewed
        self.aboutToShow.connect(self.fill)

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The filters that were kept."""
        kept = (one.partition(":") for one in self._settings.current.pile_filters)
        return tuple((kind, words) for kind, _, words in kept if kind in ("", *KINDS))

    def fill(self) -> None:
        """Make the entries."""
        self.clear()
        for by, name in grouping_words().items():
            entry = self.addAction(name)
            entry.setCheckable(True)
            entry.setChecked(by == self._model.grouping)
            entry.toggled.connect(lambda on, by=by: self._model.group(by if on else ""))
        self.addSeparator()
        now = self._current()
        for one in self.filters:
            entry = self.addAction(filter_words(one))
            entry.setCheckable(True)
            entry.setChecked(one == now)
            entry.triggered.connect(partial(self._use, one))
        if now in self.filters:
            self.addAction(translate("Pile", "Forget this filter"), partial(self.keep, now, False))
        else:
            keep = self.addAction(translate("Pile", "Keep this filter"), partial(self.keep, now))
            keep.setEnabled(now != ("", "") and len(self.filters) < MOST_FILTERS)
        self.addSeparator()
        hidden, words = self._settings.current.pile_hidden, headers()
        for column in COLUMNS[1:]:
            entry = self.addAction(words[column])
            entry.setCheckable(True)
            entry.setChecked(column not in hidden)
            entry.toggled.connect(partial(self.show_column, column))

    def keep(self, one: Filter, kept: bool = True) -> None:
        """Keep a filter, or forget it."""
        others = [f for f in self.filters if f != one]
        found = [*others, one] if kept else others
        self._settings.update(pile_filters=tuple(f"{kind}:{words}" for kind, words in found))

    def show_column(self, column: str, shown: bool) -> None:
        """Show a column, or hide it."""
        hidden = set(self._settings.current.pile_hidden) - {column}
        hidden |= set() if shown else {column}
        self._settings.update(pile_hidden=tuple(c for c in COLUMNS if c in hidden))
        self._renewed()


def grouping_words() -> dict[str, str]:
    """Name what the rows may be grouped by."""
    return {
        BY_OUTCOME: translate("Pile", "Group by outcome"),
        BY_TEXT: translate("Pile", "Group equal texts"),
    }


def filter_words(one: Filter) -> str:
    """Return what a filter says."""
    kind, words = one
    parts = (kind_words(kind) if kind else "", words)
    return " · ".join(part.replace("&", "&&") for part in parts if part)
