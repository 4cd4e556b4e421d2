"""Undo for what the queue can lose: pasted texts and removed rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from PySide6.QtGui import QUndoCommand

from pura_audit.session.items import Item, ItemState
from pura_audit.session.queue_model import QueueModel


class UndoableRows(Protocol):
    """What undoing needs of the session."""

    queue: QueueModel
    current: Item | None

    def show(self, item: Item | None) -> None:
        """Put a row on screen."""

    def load(self, item: Item) -> None:
        """Read the file of a row."""

    def stop(self, items: Iterable[Item]) -> None:
        """Stop the audits of rows."""


class AddRows(QUndoCommand):
    """Rows come in; the first of them goes on screen."""

    def __init__(self, session: UndoableRows, items: Sequence[Item], words: str) -> None:
        super().__init__(words)
        self._session, self._items = session, tuple(items)

    def redo(self) -> None:
        """Put the rows in."""
        self._session.queue.insert(self._items)
        self._session.show(self._items[0])

    def undo(self) -> None:
        """Take them out again."""
        _take_out(self._session, self._items)


class RemoveRows(QUndoCommand):
    """Rows go out."""

    def __init__(self, session: UndoableRows, items: Sequence[Item], words: str) -> None:
        super().__init__(words)
        queue = session.queue
        self._session = session
        self._items = sorted(items, key=queue.row)
        self._rows = [queue.row(item) for item in self._items]

    def redo(self) -> None:
        """Take the rows out."""
        _take_out(self._session, self._items)

    def undo(self) -> None:
        """Put them back where they were."""
        for row, item in zip(self._rows, self._items, strict=True):
            if item.active:
                item.state = ItemState.CANCELLED
            self._session.queue.insert([item], row)
            if item.state is ItemState.LOADING:
                self._session.load(item)
        self._session.show(self._items[0])


def _take_out(session: UndoableRows, items: Sequence[Item]) -> None:
    queue = session.queue
    row = min(queue.row(item) for item in items)
    session.stop(items)
    queue.remove(items)
    if session.current in items:
        session.show(queue.item(row) or queue.item(row - 1))
