"""The table in which the fields of a payload are laid out, with their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from pura.scheme.fields import KINDS, Field
from pura_audit.platform.i18n import filled, translate
from pura_audit.theme.theme import GRID


class FieldsTable(QWidget):
    """Rows of name, width, kind, what else the kind needs, and limits.

    Signals:
        changed: Something was edited.
    """

    changed = Signal()

    def __init__(self, fields: Sequence[Field], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = QTableWidget(0, 5)
        self.table.setAccessibleName(translate("ProfileEditor", "Fields of the payload"))
        self.table.setHorizontalHeaderLabels(
            [
                translate("ProfileEditor", "Field"),
                translate("ProfileEditor", "Bits"),
                translate("ProfileEditor", "Kind"),
                translate("ProfileEditor", "More"),
                translate("ProfileEditor", "At most"),
            ]
        )
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(36)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        for column, width in enumerate((86, 48, 120)):
            header.resizeSection(column, width)
        header.setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(4, QHeaderView.ResizeMode.Stretch)
        self.add = QPushButton(translate("ProfileEditor", "Add a field"))
        self.drop = QPushButton(translate("ProfileEditor", "Remove the last field"))
        row = QHBoxLayout()
        row.setSpacing(GRID)
        for button in (self.add, self.drop):
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.table, 1)
        layout.addLayout(row)
        for field in fields:
            self.append(field.to_dict())
        self.add.clicked.connect(self._add)
        self.drop.clicked.connect(self._drop)
        self.table.itemChanged.connect(lambda _item: self.changed.emit())

    def append(self, entry: dict[str, Any]) -> None:
        """Add a row for a field as it stands in a profile."""
        place = self.table.rowCount()
        waiting = self.table.blockSignals(True)  # a row is checked when it is whole
        self.table.insertRow(place)
        limits = ", ".join(entry.get("limits", ()))
        for column, text in enumerate((entry["name"], entry["bits"], "", _more(entry), limits)):
            self.table.setItem(place, column, QTableWidgetItem(str(text)))
        kind = QComboBox()
        kind.addItems(list(KINDS))
        kind.setCurrentText(entry["kind"])
        kind.setAccessibleName(translate("ProfileEditor", "Kind"))
        kind.currentTextChanged.connect(lambda _text: self.changed.emit())
        self.table.setCellWidget(place, 2, kind)
        self.table.blockSignals(waiting)

    def entries(self) -> list[dict[str, Any]]:
        """Return the fields as a profile holds them; what is wrong is for the profile to say."""
        return [self._entry(place) for place in range(self.table.rowCount())]

    def _entry(self, place: int) -> dict[str, Any]:
        kind = self.table.cellWidget(place, 2)
        assert isinstance(kind, QComboBox)
        name, bits, more, limits = (self._text(place, column) for column in (0, 1, 3, 4))
        entry: dict[str, Any] = {"name": name, "bits": _whole(bits), "kind": kind.currentText()}
        match entry["kind"]:
            case "integer" if more:
                entry["offset"] = _whole(more)
            case "enumeration":
                entry["values"] = [word.strip() for word in more.split(",") if word.strip()]
            case "date":
                day, _, unit = more.partition(" ")
                entry |= {"epoch": day or "2020-01-01", "unit": unit.strip() or "day"}
            case "version":
                entry["parts"] = [_whole(part) for part in more.split(".") if part]
        if limits:
            entry["limits"] = [limit.strip() for limit in limits.split(",")]
        return entry

    def _text(self, place: int, column: int) -> str:
        item = self.table.item(place, column)
        return item.text().strip() if item is not None else ""

    def _add(self) -> None:
        number = self.table.rowCount() + 1
        name = filled(translate("ProfileEditor", "Field {n:text}"), n=number)
        self.append({"name": name, "bits": 8, "kind": "integer"})
        self.changed.emit()

    def _drop(self) -> None:
        if self.table.rowCount():
            self.table.removeRow(self.table.rowCount() - 1)
            self.changed.emit()


def _whole(text: str) -> int | str:
    """Return a number where there is one; the profile refuses anything else by name."""
    sign = text[1:] if text[:1] in "+-" else text
    return int(text) if sign.isascii() and sign.isdigit() and len(sign) < 20 else text


def _more(entry: dict[str, Any]) -> str:
    match entry["kind"]:
        case "integer":
            return str(entry.get("offset", "")) if entry.get("offset") else ""
        case "enumeration":
            return ", ".join(entry.get("values", ()))
        case "date":
            return f"{entry.get('epoch', '')} {entry.get('unit', '')}".strip()
    return ".".join(map(str, entry.get("parts", ())))
