"""A form for a payload: as bits, in hex or field by field, kept in step."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from pura.base.errors import PuraError
from pura.scheme import Payload, Profile, pack, parse_payload, unpack
from pura.scheme.fields import Field
from pura_audit.platform.i18n import error_words, translate
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import clear_layout, column_of
from pura_audit.widgets.form_dialog import LabelledField, Remark, combo, value_of


class PayloadForm(QWidget):
    """A form with one line for the payload and one for each field of the profile.

    Signals:
        changed: The payload has changed.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._profile: Profile | None = None
        self.payload: Payload | None = None
        self.lines: dict[str, QLineEdit | QComboBox] = {}
        self.whole = QLineEdit()
        self.whole.setPlaceholderText("0x1A2B3C4D5")
        self.whole.textEdited.connect(lambda _: self._read_whole())
        self._rows = column_of(spacing=GRID)
        self._words = Remark()
        self.caption = translate("Payload", "Payload, in hex or as bits")
        whole_field = LabelledField(self.caption, self.whole)
        column_of(self._rows, whole_field, self._words, spacing=GAP, inside=self)

    def show_profile(self, profile: Profile | None) -> None:
        """Ask for the payload of another profile; keep the input that fits."""
        if profile == self._profile:
            return
        self._profile = profile
        clear_layout(self._rows)
        self.lines = {}
        for field in profile.fields if profile is not None else ():
            line = self.lines[field.name] = _line(field)
            if isinstance(line, QComboBox):
                line.currentIndexChanged.connect(lambda _: self._read_fields())
            else:
                line.textEdited.connect(lambda _: self._read_fields())
            self._rows.addWidget(LabelledField(field.name, line))
        self._read_whole()

    def set_payload(self, payload: Payload) -> None:
        """Set the payload."""
        self.whole.setText(payload.hex)
        self._read_whole()

    def _read_whole(self) -> None:
        profile, typed = self._profile, self.whole.text().strip()

        def read() -> Payload | None:
            payload, field_texts = None, {}
            if profile is not None and typed:
                payload = parse_payload(typed, profile.payload_bits)
                field_texts = {one.name: one.text for one in unpack(profile.fields, payload)}
            for name, line in self.lines.items():
                _put(line, field_texts.get(name, ""))
            return payload

        self._take(read)

    def _read_fields(self) -> None:
        profile = self._profile
        field_texts = {name: value_of(line) for name, line in self.lines.items()}

        def read() -> Payload | None:
            self.whole.clear()
            if profile is None or not all(field_texts.values()):
                return None
            payload = pack(profile.fields, field_texts)
            self.whole.setText(payload.hex)
            return payload

        self._take(read)

    def _take(self, read: Callable[[], Payload | None]) -> None:
        try:
            self.payload = read()
            self._words.say("")
        except PuraError as error:
            self.payload = None
            self._words.say(error_words(error), role="attention")
        self.changed.emit()


def _line(field: Field) -> QLineEdit | QComboBox:
    if field.kind == "enumeration":
        return combo([("", "–"), *((name, name) for name in field.values)])
    line = QLineEdit()
    example = {"date": field.epoch, "version": ".".join("1" for _ in field.parts)}
    line.setPlaceholderText(example.get(field.kind, str(field.offset + 417)))
    return line


def _put(line: QLineEdit | QComboBox, text: str) -> None:
    line.blockSignals(True)
    if isinstance(line, QComboBox):
        line.setCurrentIndex(max(0, line.findData(text)))
    else:
        line.setText(text)
    line.blockSignals(False)
