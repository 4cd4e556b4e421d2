"""The full wording of the findings, the scale, and the twelve steps of the audit."""

from __future__ import annotations

import math

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from pura.record.audit import Audit, StepReport, VariantFacts
from pura.record.presented import said
from pura.words.sentences import changed, noted, step_name
from pura_audit.platform.i18n import decimal, filled, language, number, translate
from pura_audit.theme.theme import Theme
from pura_audit.widgets.form_dialog import PlainDialog, button_row, close_button, dialog_column
from pura_audit.widgets.scale_strip import ScaleStrip

_PROMPTS = 5  # candidates that are named


def wording(audit: Audit) -> str:
    """Return everything that the record says, as text."""
    tongue, found = language(), audit.presented
    parts = said(found.wording, tongue)
    if scale := found.scale_lines(tongue):
        parts += [translate("Dialog", "Scale"), "\n".join(scale)]
    parts += ["\n".join(lines) for lines in found.mark_lines(tongue)]
    if found.compared:
        parts += [translate("Dialog", "What is compared"), *said(found.compared, tongue)]
    if found.cautions:
        parts.append(translate("Dialog", "What weakens or limits this"))
        parts.append("\n".join(f"–  {words}" for words in said(found.cautions, tongue)))
    parts += said(found.conditions, tongue)
    if len(audit.variants) > 1:
        parts.append(translate("Dialog", "Readings of the text"))
        parts.append("\n".join(_reading(one) for one in audit.variants))
    if audit.prompts:
        parts.append(translate("Dialog", "After candidate prompts"))
        parts.append("\n".join(_prompted(audit)))
    parts.append(translate("Dialog", "Measured with"))
    parts.append("\n".join(f"{name}: {value}" for name, value in _provenance(audit, tongue)))
    parts.append(translate("Dialog", "Steps"))
    parts.append("\n".join(_step(step, tongue) for step in audit.log))
    return "\n\n".join(parts)


def _reading(one: VariantFacts) -> str:
    """Say what one reading of the text says alone."""
    name = {
        "found": translate("Dialog", "as found"),
        "restored": translate("Dialog", "typographic changes undone"),
        "layout": translate("Dialog", "lines and blanks restored too"),
        "case": translate("Dialog", "capitals restored too"),
        "ids": translate("Dialog", "token ids as saved"),
    }.get(one.name, one.name)
    words = filled(
        translate("Dialog", "{name:text}: evidence {value:text} (log₁₀), {n:count} tokens"),
        name=name,
        value=decimal(one.log10_e, 1),
        n=one.tokens,
    )
    if one.changes:
        words += (
            " (" + "; ".join(changed(c.name, c.count, (), language()) for c in one.changes) + ")"
        )
    shown = translate("Dialog", "shown")
    return f"{words}  ← {shown}" if one.shown else words


def _prompted(audit: Audit) -> list[str]:
    """Say what the text says after the candidates that fit it best."""
    read = [(one.log10_e, one) for one in audit.prompts if one.log10_e is not None]
    lines = []
    for log10_e, one in sorted(read, key=lambda pair: -pair[0])[:_PROMPTS]:
        words = filled(
            translate(
                "Dialog", "prompt {i:count}: evidence {value:text} (log₁₀), {n:count} tokens before"
            ),
            i=one.number,
            value=decimal(log10_e, 1),
            n=one.tokens,
        )
        shown = translate("Dialog", "shown")
        lines.append(f"{words}  ← {shown}" if one.shown else words)
    if len(read) > _PROMPTS:
        more = translate("Dialog", "{n:count} more, with less evidence")
        lines.append(filled(more, n=len(read) - _PROMPTS))
    return lines


def _provenance(audit: Audit, tongue: str) -> list[tuple[str, str]]:
    device = audit.device
    return [
        (translate("Dialog", "Key"), f"{audit.key.label or ''} {audit.key.fingerprint}".strip()),
        *_tried(audit),
        (translate("Dialog", "Model"), f"{audit.model.name} {audit.model.fingerprint}"),
        (translate("Dialog", "Tokenizer"), audit.model.tokenizer),
        (
            translate("Dialog", "Profile"),
            f"{audit.profile.name or ''} {audit.profile.fingerprint}".strip(),
        ),
        (
            translate("Dialog", "Device"),
            f"{device.name}, {device.dtype}. {noted(device.reason, tongue)}",
        ),
        (translate("Dialog", "Input"), f"SHA-256 {audit.input.sha256}"),
        ("log10 e", decimal(audit.evidence.log10_e, 1)),
        (translate("Dialog", "Usable positions"), number(audit.evidence.usable)),
    ]


def _tried(audit: Audit) -> list[tuple[str, str]]:
    if len(audit.keys) < 2:
        return []
    names = ", ".join(f"{key.label or ''} {key.fingerprint}".strip() for key in audit.keys)
    words = translate("Dialog", "{names:text}. The number is the mean over all of them.")
    return [(translate("Dialog", "Keys tried"), filled(words, names=names))]


def _step(step: StepReport, tongue: str) -> str:
    state = f"{decimal(step.seconds, 2)} s" if step.done else translate("Dialog", "left out")
    note = step.words(tongue)
    name = step_name(step.name, tongue)
    return f"{step.number:>2}  {name}: {state}" + (f" ({note})" if note else "")


class DetailsDialog(PlainDialog):
    """Shows and copies the wording."""

    def __init__(self, audit: Audit, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Dialog", "Details"))
        self.resize(720, 640)
        layout = dialog_column(self, audit.title(language()), audit.input.name)
        if audit.verdict != "not-examinable":
            strip = ScaleStrip(theme)
            strip.show_place(audit.evidence.scale_word, math.log10(audit.evidence.lr_capped))
            layout.addWidget(strip)
        self.words = QPlainTextEdit(wording(audit))
        self.words.setReadOnly(True)
        self.words.setTabChangesFocus(True)
        self.words.setAccessibleName(translate("Dialog", "Full wording"))
        layout.addWidget(self.words, 1)
        copy = QPushButton(translate("Dialog", "Copy"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.words.toPlainText()))
        layout.addLayout(button_row(close_button(self, enter=True), left=(copy,)))
