"""Undo for what the queue can lose: pasted texts and removed rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QUndoCommand

from pura_audit.session.items import Item, ItemState
from pura_audit.session.queue_model import QueueModel


class UndoableRows(Protocol):
    """What undoing needs of the list."""

    queue: QueueModel
    current: Item | None

    def show(self, item: Item | None) -> None:
        """Put a row on screen."""

    def load(self, item: Item) -> None:
        """Read the file of a row."""

    @property
    def leaving(self) -> SignalInstance:
        """Told which rows go out."""


class AddRows(QUndoCommand):
    """Rows come in; the first of them goes on screen."""

    def __init__(self, texts: UndoableRows, items: Sequence[Item], words: str) -> None:
        super().__init__(words)
        self._texts, self._items = texts, tuple(items)

    def redo(self) -> None:
        """Put the rows in."""
        self._texts.queue.insert(self._items)
        self._texts.show(self._items[0])

    def undo(self) -> None:
        """Take them out again."""
        _take_out(self._texts, self._items)


class RemoveRows(QUndoCommand):
    """Rows go out."""

    def __init__(self, texts: UndoableRows, items: Sequence[Item], words: str) -> None:
        super().__init__(words)
        queue = texts.queue
        self._texts = texts
        self._items = sorted(items, key=queue.row)
        self._rows = [queue.row(item) for item in self._items]

    def redo(self) -> None:
        """Take the rows out."""
        _take_out(self._texts, self._items)

    def undo(self) -> None:
        """Put them back where they were."""
        for row, item in zip(self._rows, self._items, strict=True):
            if item.active:
                item.state = ItemState.CANCELLED
            self._texts.queue.insert([item], row)
            if item.state is ItemState.LOADING:
                self._texts.load(item)
        self._texts.show(self._items[0])


def _take_out(texts: UndoableRows, items: Sequence[Item]) -> None:
    queue = texts.queue
    row = min(queue.row(item) for item in items)
    texts.leaving.emit(items)
    queue.remove(items)
    if texts.current in items:
        texts.show(queue.item(row) or queue.item(row - 1))
