"""The editor of a profile.

It shows each setting with an explanation, the fields of the payload, and unusual choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from pura.base.errors import ProfileError, PuraError
from pura.detect.verdict.expect import advise, length_needed
from pura.scheme import Profile, default_blocks
from pura.scheme.fields import KINDS, Field
from pura.scheme.profile import clean_name
from pura_audit.platform.i18n import error_words, filled, short, translate
from pura_audit.session.choices import ProfileChoice
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP
from pura_audit.widgets.card import Scrolled, add_parts, column_of, label, restyle, row_of
from pura_audit.widgets.form_dialog import (
    MainButton,
    PlainDialog,
    button_row,
    cancel_button,
    combo,
    dialog_column,
    named_rows,
    plain_button,
    spin_box,
    value_of,
)


def code_names() -> dict[str | None, str]:
    """Return the names of the codes for people, the stronger code first."""
    return {
        "tbcc": translate("ProfileEditor", "convolutional"),
        "spc": translate("ProfileEditor", "parity blocks (the paper's)"),
    }


def history_names() -> dict[str | None, str]:
    """Return the names of the history rules for people."""
    return {
        "used": translate("ProfileEditor", "contexts that have carried bits"),
        "all": translate("ProfileEditor", "all contexts of the text"),
    }


def prefix_names() -> dict[str | None, str]:
    """Return the names of the prefixes of a text for people."""
    return {
        "none": translate("ProfileEditor", "nothing"),
        "bos": translate("ProfileEditor", "the start token of the tokenizer"),
    }


def epoch_names() -> dict[str | None, str]:
    """Return the names of the key epochs for people."""
    return {
        None: translate("ProfileEditor", "one key for all time"),
        "day": translate("ProfileEditor", "a key for each day"),
        "week": translate("ProfileEditor", "a key for each week"),
        "month": translate("ProfileEditor", "a key for each month"),
    }


def use_names() -> dict[str | None, str]:
    """Return the names of the uses of payloads for people."""
    return {
        None: translate("ProfileEditor", "not stated"),
        "answer": translate("ProfileEditor", "one number for each answer"),
        "recipient": translate("ProfileEditor", "the recipient, in the payload"),
    }


def use_words(profile: Profile) -> str:
    """Return what the payloads of a profile stand for, and the drawbacks of that use."""
    if profile.payload_use == "answer":
        return translate(
            "ProfileEditor",
            "Each answer carries a number of its own, drawn at random; the register names the "
            "recipient.",
        )
    if profile.recipient_in_payload:
        return translate(
            "ProfileEditor",
            "The payload names the recipient: texts in that name can be forged from collected "
            "answers, and the text carries personal data.",
        )
    return translate(
        "ProfileEditor",
        "The profile does not state how payloads are used, so they count as used more than once.",
    )


def explain(setting: str) -> str:
    """Return the explanation of a setting; empty if it has none."""
    explanations = {
        "name": translate("ProfileEditor", "How people call the profile. It changes nothing."),
        "note": translate("ProfileEditor", "For people: who uses it, and what for."),
        "payload_bits": translate(
            "ProfileEditor",
            "How much a mark tells: each bit doubles the number of recipients that can be told "
            "apart, and takes a little more text.",
        ),
        "payload_use": translate(
            "ProfileEditor",
            "What a payload stands for. A number that is drawn for each answer and used once means "
            "nothing by itself: the register names the recipient. A recipient in the payload needs "
            "no register, but texts in that name can be forged from collected answers, and the "
            "text carries personal data.",
        ),
        "code": translate(
            "ProfileEditor",
            "How the payload is protected against lost positions. The convolutional code reads "
            "edited texts better; the paper's has blocks with one parity bit each.",
        ),
        "blocks": translate(
            "ProfileEditor",
            "How many blocks of one parity bit the paper's code has; it divides the payload bits.",
        ),
        "context_window": translate(
            "ProfileEditor",
            "How many tokens before a position decide its place in the schedule. Each edited "
            "word disturbs so many positions after it.",
        ),
        "thresholds": translate(
            "ProfileEditor",
            "From how many bits of entropy on a token carries one, two or three bits of the "
            "codeword. Below the first it carries none.",
        ),
        "history": translate(
            "ProfileEditor",
            "When the words before a position count as seen, so that it carries nothing: once they "
            "have carried bits (the paper's rule), or as soon as they have stood in the text.",
        ),
        "temperature": translate(
            "ProfileEditor",
            "The generator's temperature. The verifier must use the same; the lower, the fewer "
            "tokens have a choice and can carry bits.",
        ),
        "top_k": translate(
            "ProfileEditor",
            "The generator's choice of the likeliest tokens; 0 is off.",
        ),
        "top_p": translate(
            "ProfileEditor",
            "The generator's choice of the likeliest share of tokens; 1 is off.",
        ),
        "prefix": translate(
            "ProfileEditor",
            "Whether the verifier puts the tokenizer's start token before the text. Use it for "
            "models that need one.",
        ),
        "chat_template": translate(
            "ProfileEditor",
            "What comes before the text at the generator, if it is always the same: the "
            "model's chat template, with the word prompt in braces in place of the user's "
            "message, and the word system in braces in place of the system prompt. The "
            "verifier then reads the text after it.",
        ),
        "system_prompt": translate(
            "ProfileEditor",
            "The generator's system prompt; it goes where the template says system in braces. "
            "Records and reports hold the profile, and so this text.",
        ),
        "model": translate(
            "ProfileEditor",
            "The tokenizer and the generating model that the profile names; a wrong tokenizer is "
            "then refused before an audit begins.",
        ),
        "key": translate(
            "ProfileEditor",
            "The key that the profile belongs to. With it, a wrong key is noticed before an "
            "audit begins.",
        ),
        "key_epochs": translate(
            "ProfileEditor",
            "Whether each day, week or month has a key of its own, derived from the key. An audit "
            "then tries those of the last ones; the policy says how many. One that leaks, or must "
            "be shown to a court, says nothing about the others.",
        ),
        "fields": translate(
            "ProfileEditor",
            "What the payload bits mean, in order; the widths add up to the payload bits. "
            "More: integer: the number that zero stands for. enumeration: names, with commas. "
            "date: first day and unit, as 2026-01-01 day. version: widths, as 4.4.8. "
            "At most: what can have been issued, as ..4999 or 2026-01-01..today or 1.0, 1.2; "
            "state it before you look at a text. Short texts are then found sooner.",
        ),
    }
    return explanations.get(setting, "")


def odd(profile: Profile) -> str:
    """Return remarks on unusual settings of a profile, one a line; empty if there are none."""
    remarks = {
        "few-bits": translate(
            "ProfileEditor", "So few bits tell only a handful of recipients apart."
        ),
        "many-bits": translate("ProfileEditor", "So many bits take long texts."),
        "paper-code": translate(
            "ProfileEditor", "The convolutional code reads edited texts better."
        ),
        "cold": translate("ProfileEditor", "At so low a temperature few tokens can carry bits."),
        "hot": translate("ProfileEditor", "At so high a temperature texts lose their thread."),
        "narrow-k": translate("ProfileEditor", "Top-k leaves little choice to carry bits."),
        "narrow-p": translate("ProfileEditor", "Top-p leaves little choice to carry bits."),
        "low-gate": translate(
            "ProfileEditor",
            "So low a first threshold lets positions in that carry next to nothing.",
        ),
        "high-gate": translate(
            "ProfileEditor", "So high a first threshold leaves few positions that carry bits."
        ),
        "short-window": translate("ProfileEditor", "A window of one token repeats itself often."),
        "long-window": translate(
            "ProfileEditor", "With so long a window each edited word disturbs many positions."
        ),
        "no-tokenizer": translate(
            "ProfileEditor",
            "Without a tokenizer's fingerprint a wrong model is noticed by its size only.",
        ),
        "no-key": translate(
            "ProfileEditor",
            "The profile names no key: a wrong key is not noticed before the audit.",
        ),
    }
    return "\n".join(remarks[code] for code in advise(profile))


def length(profile: Profile) -> str:
    """Return how much text a finding takes, if that was measured for these settings."""
    lengths = length_needed(profile)
    if lengths is None:
        return translate(
            "ProfileEditor",
            "How much text a finding takes was not measured for these settings; Models, How much "
            "is found measures it.",
        )
    text = translate(
        "ProfileEditor",
        "A finding takes about {tokens:count} tokens of unedited text of the built-in model "
        "({usable:count} usable positions, nine texts in ten, prompt unknown).",
    )
    return filled(text, tokens=lengths[1], usable=lengths[0])


class FieldsTable(QWidget):
    """The table of payload fields: name, width, kind, further details of the kind, and limits.

    Signals:
        changed: A cell was edited.
    """

    changed = Signal()

    def __init__(self, fields: Sequence[Field]) -> None:
        super().__init__()
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
        self.add = plain_button(translate("ProfileEditor", "Add a field"), self._add)
        self.drop = plain_button(translate("ProfileEditor", "Remove the last field"), self._drop)
        column_of((self.table, 1), row_of(self.add, self.drop, None), inside=self)
        for field in fields:
            self.append(field.to_dict())
        self.table.itemChanged.connect(lambda _cell: self.changed.emit())

    def append(self, entry: dict[str, Any]) -> None:
        """Add a row for a field in the form that profiles use."""
        row = self.table.rowCount()
        waiting = self.table.blockSignals(True)  # a row is checked when it is whole
        self.table.insertRow(row)
        limits = ", ".join(entry.get("limits", ()))
        for column, text in enumerate((entry["name"], entry["bits"], "", _more(entry), limits)):
            self.table.setItem(row, column, QTableWidgetItem(str(text)))
        kind = QComboBox()
        kind.addItems(list(KINDS))
        kind.setCurrentText(entry["kind"])
        kind.setAccessibleName(translate("ProfileEditor", "Kind"))
        kind.currentTextChanged.connect(lambda _text: self.changed.emit())
        self.table.setCellWidget(row, 2, kind)
        self.table.blockSignals(waiting)

    def entries(self) -> list[dict[str, Any]]:
        """Return the fields as profiles hold them, unchecked: the profile reports errors."""
        return [self._entry(row) for row in range(self.table.rowCount())]

    def _entry(self, row: int) -> dict[str, Any]:
        kind = self.table.cellWidget(row, 2)
        assert isinstance(kind, QComboBox)
        name, bits, detail, limits = (self._text(row, column) for column in (0, 1, 3, 4))
        entry: dict[str, Any] = {"name": name, "bits": _whole(bits), "kind": kind.currentText()}
        match entry["kind"]:
            case "integer" if detail:
                entry["offset"] = _whole(detail)
            case "enumeration":
                entry["values"] = [word.strip() for word in detail.split(",") if word.strip()]
            case "date":
                day, _, unit = detail.partition(" ")
                entry |= {"epoch": day or "2020-01-01", "unit": unit.strip() or "day"}
            case "version":
                entry["parts"] = [_whole(part) for part in detail.split(".") if part]
        if limits:
            entry["limits"] = [limit.strip() for limit in limits.split(",")]
        return entry

    def _text(self, row: int, column: int) -> str:
        cell = self.table.item(row, column)
        return cell.text().strip() if cell is not None else ""

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
    """Return the integer in a cell, or its text, which the profile then refuses by name."""
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
    """Edits a profile and checks every input at once.

    Signals:
        wanted: The user saves: the name, the profile, and whether it replaces a profile.
    """

    wanted = Signal(str, object, bool)

    def __init__(
        self, session: Session, choice: ProfileChoice | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._choice = session, choice
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
        self.save = MainButton(translate("ProfileEditor", "Save"), self._save)
        self._lay_out()
        self._wire()
        self.about.setText(explain("payload_bits"))
        self.check()

    def _make_inputs(self) -> dict[str, QWidget]:
        p = self._start or Profile.new(vocab_size=2)
        uses = use_names()
        if p.payload_use is not None:
            del uses[None]  # a statement is not taken back
        name = (self._choice.title if self._choice else "") or ""
        thresholds = "  ".join(short(x) for x in p.entropy_thresholds_bits)
        return {
            "name": QLineEdit(name),
            "note": QLineEdit(p.note or ""),
            "payload_bits": spin_box(1, 4096, p.payload_bits),
            "payload_use": combo(uses.items(), p.payload_use),
            "code": combo(code_names().items(), p.code),
            "blocks": spin_box(1, 4096, p.blocks or default_blocks(p.payload_bits)),
            "temperature": QLineEdit(short(p.temperature)),
            "top_k": spin_box(0, 1 << 24, p.top_k),
            "top_p": QLineEdit(short(p.top_p)),
            "context_window": spin_box(1, 8, p.context_window),
            "thresholds": QLineEdit(thresholds),
            "history": combo(history_names().items(), p.history),
            "prefix": combo(prefix_names().items(), p.prefix),
            "chat_template": _long_text(p.chat_template),
            "system_prompt": _long_text(p.system_prompt),
            "model": self._model_combo(p),
            "key": self._key_combo(p),
            "key_epochs": combo(epoch_names().items(), p.key_epochs),
        }

    def _model_combo(self, p: Profile) -> QComboBox:
        rows: list[tuple[tuple[int, str | None, str | None], str]] = [
            ((model.vocab_size, model.tokenizer_fingerprint, model.fingerprint), model.name)
            for model in self._session.chosen.found.models
        ]
        if self._start is not None:
            text = translate("ProfileEditor", "as it is")
            rows.insert(0, ((p.vocab_size, p.tokenizer, p.model), text))
        return combo(rows)

    def _key_combo(self, p: Profile) -> QComboBox:
        rows: list[tuple[str | None, str]] = [(None, translate("ProfileEditor", "none named"))]
        keys = self._session.chosen.found.keys
        if p.key is not None and all(key.fingerprint != p.key for key in keys):
            rows.append((p.key, p.key))
        rows += [(key.fingerprint, f"{key.label} ({key.fingerprint[:8]})") for key in keys]
        return combo(rows, p.key)

    def _lay_out(self) -> None:
        layout, middle = dialog_column(self), QHBoxLayout()
        form = named_rows((title, self.inputs[setting]) for setting, title in _titles().items())
        form.setHorizontalSpacing(GAP)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        middle.setSpacing(GAP)
        middle.addWidget(Scrolled(form), 5)
        card = QFrame()
        card.setProperty("role", "card")
        remarks = (self.about, self.fault, self.length, self.odd, self.fingerprint)
        QVBoxLayout(card).addWidget(Scrolled(column_of(*remarks, None)))
        title = label(translate("ProfileEditor", "Fields of the payload"), "title")
        middle.addLayout(column_of((card, 1), title, (self.fields, 1), spacing=GAP), 6)
        add_parts(layout, (middle, 1), button_row(cancel_button(self), self.save))

    def _wire(self) -> None:
        for widget in (*self.inputs.values(), self.fields.table):
            widget.installEventFilter(self)
            match widget:
                case QLineEdit() | QPlainTextEdit():
                    widget.textChanged.connect(self.check)
                case QSpinBox():
                    widget.valueChanged.connect(self.check)
                case QComboBox():
                    widget.currentIndexChanged.connect(self.check)
        self.fields.changed.connect(self.check)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the explanation of the setting that has the focus."""
        if event.type() == QEvent.Type.FocusIn:
            names = {id(widget): name for name, widget in self.inputs.items()}
            self.about.setText(explain(names.get(id(watched), "fields")))
        return super().eventFilter(watched, event)

    def check(self) -> None:
        """Show whether the profile is valid, remarks on it, and how much text a finding takes."""
        self.inputs["blocks"].setEnabled(self._value("code") == "spc")
        try:
            profile = self.profile()
            clean_name(self._value("name"))
        except PuraError as error:
            # A name that nobody has typed yet is no fault.
            restyle(self.fault, "role", "attention" if self._value("name") else "muted")
            self.fault.setText(error_words(error))
            self.fault.show()
            for widget in (self.length, self.odd, self.fingerprint):
                widget.setText("")
            self.save.setAccessibleDescription(self.fault.text())
            self.save.setEnabled(False)
            return
        self.fault.setText("")
        self.fault.hide()
        self.length.setText(length(profile))
        self.odd.setText("\n".join(filter(None, (use_words(profile), odd(profile)))))
        text = filled(
            translate("ProfileEditor", "Fingerprint {profile:text}"), profile=profile.fingerprint
        )
        if self._start is not None and profile.fingerprint != self._start.fingerprint:
            text += "\n" + translate(
                "ProfileEditor",
                "This is another profile than before: texts that were marked with the old one "
                "cannot be read with it. Give it a new name to keep both.",
            )
        self.fingerprint.setText(text)
        self.save.require({})

    def profile(self) -> Profile:
        """Return the profile that the user entered.

        Raises:
            PuraError: The input is not a valid profile.
        """
        record: dict[str, Any] = self._start.to_dict() if self._start else {"scheme": "pura1"}
        if self._value("model") is None:
            raise ProfileError("command.no-model")
        size, tokenizer, fingerprint = self._value("model")
        record |= {setting: self._value(setting) for setting in self.inputs}
        thresholds = record.pop("thresholds").split()
        record |= {
            "temperature": _decimal(record["temperature"]),
            "top_p": _decimal(record["top_p"]),
            "vocab_size": size,
            "tokenizer": tokenizer,
            "model": fingerprint,
            "fields": self.fields.entries(),
            "entropy_thresholds_bits": [_decimal(x) for x in thresholds],
            "blocks": record["blocks"] if record["code"] == "spc" else None,
        }
        if not record["fields"]:
            del record["fields"]
        return Profile.from_dict({k: v for k, v in record.items() if v not in (None, "")})

    def _save(self) -> None:
        profile = self.profile()
        name = self._value("name")
        same = self._choice is not None and name == self._choice.title
        if self._choice is not None and same:
            name = self._choice.name
        self.wanted.emit(name, profile, same)
        self.accept()

    def _value(self, setting: str) -> Any:
        return value_of(self.inputs[setting])


def _titles() -> dict[str, str]:
    return {
        "name": translate("ProfileEditor", "Name"),
        "note": translate("ProfileEditor", "Note"),
        "payload_bits": translate("ProfileEditor", "Payload bits"),
        "payload_use": translate("ProfileEditor", "Payload stands for"),
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


def _long_text(text: str | None) -> QPlainTextEdit:
    field = QPlainTextEdit(text or "")
    field.setTabChangesFocus(True)
    field.setFixedHeight(52)
    return field


def _decimal(text: str) -> Any:
    """Return a decimal number, typed with a point or a comma, or the text if it is not a number."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text or "–"
