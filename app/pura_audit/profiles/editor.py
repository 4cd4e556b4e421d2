"""The editor of a profile: each setting, the table of its payload's fields, whether it fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from pura.base.errors import ProfileError, PuraError
from pura.profiles.store import clean_name
from pura.scheme import Profile, default_blocks
from pura.scheme.fields import KINDS, Field
from pura_audit.platform.i18n import error_words, filled, short, translate
from pura_audit.profiles.words import (
    code_names,
    epoch_names,
    explain,
    history_names,
    length,
    odd,
    prefix_names,
)
from pura_audit.session.choices import Inventory, ProfileChoice
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Scrolled, label
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
    name_input,
    spin_box,
)


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


class ProfileEditor(PlainDialog):
    """Edits a profile; whatever is typed is checked at once.

    Signals:
        wanted: To save it: its name, the profile, whether it replaces the one of that name.
    """

    wanted = Signal(str, object, bool)

    def __init__(
        self, session: Session, choice: ProfileChoice | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._choice = session, choice
        found = session.chosen.catalogue or Inventory()
        self._models = list(found.models)
        self._keys = found.keys
        self._start = choice.profile if choice is not None else None
        self.setWindowTitle(
            translate("ProfileEditor", "Edit a profile")
            if choice is not None
            else translate("ProfileEditor", "New profile")
        )
        self.resize(1080, 800)
        self.inputs = self._make_inputs()
        self.fields = FieldsTable(self._start.fields if self._start else ())
        self.about = label("", "", wrap=True)
        self.fault = label("", "attention", wrap=True)
        self.length = label("", "muted", wrap=True)
        self.odd = label("", "muted", wrap=True)
        self.fingerprint = label("", "muted", wrap=True)
        self.save = main_button(translate("ProfileEditor", "Save"), self._save)
        self._lay_out()
        self._wire()
        self._about("payload_bits")
        self.check()

    def _make_inputs(self) -> dict[str, QWidget]:
        p = self._start or Profile(payload_bits=36, code="tbcc", vocab_size=2)
        name = (self._choice.title if self._choice else "") or ""
        thresholds = "  ".join(short(x) for x in p.entropy_thresholds_bits)
        return {
            "name": QLineEdit(name),
            "note": QLineEdit(p.note or ""),
            "payload_bits": spin_box(1, 4096, p.payload_bits),
            "code": _named(code_names(), p.code),
            "blocks": spin_box(1, 4096, p.blocks or default_blocks(p.payload_bits)),
            "temperature": QLineEdit(short(p.temperature)),
            "top_k": spin_box(0, 1 << 24, p.top_k),
            "top_p": QLineEdit(short(p.top_p)),
            "context_window": spin_box(1, 8, p.context_window),
            "thresholds": QLineEdit(thresholds),
            "history": _named(history_names(), p.history),
            "prefix": _named(prefix_names(), p.prefix),
            "chat_template": _long_text(p.chat_template),
            "system_prompt": _long_text(p.system_prompt),
            "model": self._model_combo(p),
            "key": self._key_combo(p),
            "key_epochs": _named(epoch_names(), p.key_epochs),
        }

    def _model_combo(self, p: Profile) -> QComboBox:
        box = QComboBox()
        if self._start is not None:
            facts = (p.vocab_size, p.tokenizer, p.model)
            box.addItem(translate("ProfileEditor", "as it is"), facts)
        for model in self._models:
            facts = (model.vocab_size, model.tokenizer_fingerprint, model.fingerprint)
            box.addItem(model.name, facts)
        return box

    def _key_combo(self, p: Profile) -> QComboBox:
        box = QComboBox()
        box.addItem(translate("ProfileEditor", "none named"), None)
        if p.key is not None and all(key.fingerprint != p.key for key in self._keys):
            box.addItem(p.key, p.key)
        for key in self._keys:
            box.addItem(f"{key.label} ({key.fingerprint[:8]})", key.fingerprint)
        box.setCurrentIndex(max(0, box.findData(p.key)))
        return box

    def _lay_out(self) -> None:
        layout, middle = dialog_column(self), QHBoxLayout()
        form = QFormLayout()
        form.setVerticalSpacing(GRID)
        form.setHorizontalSpacing(GAP)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for setting, words in _titles().items():
            name_input(self.inputs[setting], words)
            form.addRow(words, self.inputs[setting])
        middle.setSpacing(GAP)
        middle.addWidget(Scrolled(form), 5)
        side, card = QVBoxLayout(), QFrame()
        card.setProperty("role", "card")
        inside = QVBoxLayout()
        inside.setSpacing(GRID)
        for widget in (self.about, self.fault, self.length, self.odd, self.fingerprint):
            inside.addWidget(widget)
        inside.addStretch(1)
        QVBoxLayout(card).addWidget(Scrolled(inside))
        side.setSpacing(GAP)
        side.addWidget(card, 1)
        side.addWidget(label(translate("ProfileEditor", "Fields of the payload"), "title"))
        side.addWidget(self.fields, 1)
        middle.addLayout(side, 6)
        layout.addLayout(middle, 1)
        layout.addLayout(button_row(cancel_button(self), self.save))

    def _wire(self) -> None:
        for widget in (*self.inputs.values(), self.fields.table):
            widget.installEventFilter(self)
            if isinstance(widget, QLineEdit | QPlainTextEdit):
                widget.textChanged.connect(self.check)
            elif isinstance(widget, QSpinBox):
                widget.valueChanged.connect(self.check)
            elif isinstance(widget, QComboBox):
                widget.currentIndexChanged.connect(self.check)
        self.fields.changed.connect(self.check)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Explain the setting that has the focus."""
        if event.type() == QEvent.Type.FocusIn:
            names = [name for name, widget in self.inputs.items() if widget is watched]
            self._about(names[0] if names else "fields")
        return super().eventFilter(watched, event)

    def _about(self, setting: str) -> None:
        self.about.setText(explain(setting))

    def check(self) -> None:
        """Say whether this is a profile, what is odd about it, and how much text it takes."""
        spc = self._chosen("code") == "spc"
        self.inputs["blocks"].setEnabled(spc)
        try:
            profile = self.profile()
            clean_name(self._text("name"))
        except PuraError as error:
            self.fault.setText(error_words(error))
            self.fault.show()
            for widget in (self.length, self.odd, self.fingerprint):
                widget.setText("")
            self.save.setEnabled(False)
            return
        self.fault.setText("")
        self.fault.hide()
        self.length.setText(length(profile))
        self.odd.setText(odd(profile))
        words = filled(
            translate("ProfileEditor", "Fingerprint {profile:text}"), profile=profile.fingerprint
        )
        if self._start is not None and profile.fingerprint != self._start.fingerprint:
            words += "\n" + translate(
                "ProfileEditor",
                "This is another profile than before: texts that were marked with the old one "
                "cannot be read with it. Give it a new name to keep both.",
            )
        self.fingerprint.setText(words)
        self.save.setEnabled(True)

    def profile(self) -> Profile:
        """Return the profile that is on screen.

        Raises:
            PuraError: It is none, in words.
        """
        data: dict[str, Any] = self._start.to_dict() if self._start else {"scheme": "pura1"}
        model = self.inputs["model"]
        assert isinstance(model, QComboBox)
        if model.currentData() is None:
            raise ProfileError("command.no-model")
        size, tokenizer, fingerprint = model.currentData()
        data |= {
            "name": self._text("name"),
            "note": self._text("note"),
            "code": self._chosen("code"),
            "payload_bits": self._number("payload_bits"),
            "top_k": self._number("top_k"),
            "context_window": self._number("context_window"),
            "history": self._chosen("history"),
            "prefix": self._chosen("prefix"),
            "temperature": _decimal(self._text("temperature")),
            "top_p": _decimal(self._text("top_p")),
            "chat_template": self._text("chat_template"),
            "system_prompt": self._text("system_prompt"),
            "vocab_size": size,
            "tokenizer": tokenizer,
            "model": fingerprint,
            "fields": self.fields.entries(),
            "entropy_thresholds_bits": [_decimal(x) for x in self._text("thresholds").split()],
            "blocks": self._number("blocks") if self._chosen("code") == "spc" else None,
        }
        for setting in ("key", "key_epochs"):
            data[setting] = self._chosen(setting)
        if not data["fields"]:
            del data["fields"]
        return Profile.from_dict({k: v for k, v in data.items() if v not in (None, "")})

    def _save(self) -> None:
        profile = self.profile()
        same = self._choice is not None and self._text("name") == self._choice.title
        name = self._choice.name if same and self._choice is not None else self._text("name")
        self.wanted.emit(name, profile, same)
        self.accept()

    def _text(self, setting: str) -> str:
        widget = self.inputs[setting]
        if isinstance(widget, QPlainTextEdit):
            return widget.toPlainText()  # line ends belong to a template
        assert isinstance(widget, QLineEdit)
        return widget.text().strip()

    def _chosen(self, setting: str) -> str | None:
        widget = self.inputs[setting]
        assert isinstance(widget, QComboBox)
        return cast("str | None", widget.currentData())

    def _number(self, setting: str) -> int:
        widget = self.inputs[setting]
        assert isinstance(widget, QSpinBox)
        return widget.value()


def _titles() -> dict[str, str]:
    return {
        "name": translate("ProfileEditor", "Name"),
        "note": translate("ProfileEditor", "Note"),
        "payload_bits": translate("ProfileEditor", "Payload bits"),
        "code": translate("ProfileEditor", "Code"),
        "blocks": translate("ProfileEditor", "Parity blocks"),
        "temperature": translate("ProfileEditor", "Temperature"),
        "top_k": translate("ProfileEditor", "Top-k"),
        "top_p": translate("ProfileEditor", "Top-p"),
        "context_window": translate("ProfileEditor", "Context window, tokens"),
        "thresholds": translate("ProfileEditor", "Entropy thresholds, bits"),
        "history": translate("ProfileEditor", "History"),
        "prefix": translate("ProfileEditor", "Before the text"),
        "chat_template": translate("ProfileEditor", "Chat template"),
        "system_prompt": translate("ProfileEditor", "System prompt"),
        "model": translate("ProfileEditor", "Model and tokenizer"),
        "key": translate("ProfileEditor", "Key"),
        "key_epochs": translate("ProfileEditor", "Keys over time"),
    }


def _named(names: Mapping[str | None, str], value: str | None) -> QComboBox:
    box = QComboBox()
    for chosen, words in names.items():
        box.addItem(words, chosen)
    box.setCurrentIndex(max(0, box.findData(value)))
    return box


def _long_text(value: str | None) -> QPlainTextEdit:
    field = QPlainTextEdit(value or "")
    field.setTabChangesFocus(True)
    field.setFixedHeight(52)
    return field


def _decimal(text: str) -> Any:
    """Return a number, written with a point or a comma; the profile refuses anything else."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text or "–"
