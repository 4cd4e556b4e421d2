"""The settings dialog: changes apply at once; what the policy fixes is shown read-only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from pura.base.numerals import SPOKEN
from pura.base.paths import Paths
from pura.caselog import KEEP, LEAVE_OUT, SEAL
from pura.detect.verdict.policy import Policy
from pura.record.left_out import QUOTATIONS, REFERENCES
from pura.usecases.choices import count_trust, keep_trust
from pura_audit.jobs.queue import Done, Failure, Outcome
from pura_audit.platform import diagnostics
from pura_audit.platform.i18n import decimal, filled, number, short, translate
from pura_audit.theme import fonts
from pura_audit.theme.theme import GRID, PADDING, Mode
from pura_audit.widgets.card import add_parts, label, row_of
from pura_audit.widgets.form_dialog import (
    Host,
    PlainDialog,
    ask_file,
    button_row,
    close_button,
    combo,
    dialog_column,
    name_input,
    plain_button,
    spin_box,
)

# Smallest widths of fields and of their names, in pixels.
WIDE: Final = 260
NAMES: Final = 176
FRAME: Final = 80  # what title bar and taskbar take of a screen


class SettingsDialog(PlainDialog):
    """One page in four parts.

    Args:
        host: The main window.

    Signals:
        language_wanted: The user chose a language; carries its name, or "" for the system's.
    """

    language_wanted = Signal(str)

    def __init__(self, host: Host) -> None:
        super().__init__(host.frame)
        self._host = host
        self._file = host.session.settings
        self.setWindowTitle(translate("Settings", "Settings"))
        # As high as its words where the screen is; on a small one they scroll.
        self.resize(680, min(860, self.screen().availableGeometry().height() - FRAME))
        layout = dialog_column(self, translate("Settings", "Settings"))
        for problem in self._file.problems:
            layout.addWidget(label(problem, "attention", wrap=True))
        layout.addWidget(self._page(), 1)
        self.later = label(
            translate("Settings", "Takes effect when the program starts the next time."), "muted"
        )
        self.later.setVisible(False)
        add_parts(layout, self.later, button_row(close_button(self, enter=True)))
        self.theme.setFocus()  # not the area around it, which scrolls

    # The parts

    def fields(self) -> dict[str, QWidget]:
        """Return the inputs by name."""
        kinds = (QComboBox, QSpinBox, QLineEdit, QCheckBox)
        fields_by_name: dict[str, QWidget] = {}
        for field in self.findChildren(QWidget):
            inside = isinstance(field, QLineEdit) and isinstance(field.parent(), QSpinBox)
            if isinstance(field, kinds) and not inside:
                name = field.text() if isinstance(field, QCheckBox) else field.accessibleName()
                fields_by_name[name.replace("&", "")] = field
        return fields_by_name

    def _page(self) -> QScrollArea:
        page = QWidget()
        parts = QVBoxLayout(page)
        parts.setContentsMargins(GRID // 2, 0, GRID, 0)
        add_parts(parts, self._look(), self._privacy(), self._work(), self._rule(), None)
        area = QScrollArea()
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        area.setAccessibleName(translate("Settings", "Settings"))
        return area

    def _look(self) -> QWidget:
        now = self._file.current
        part, form = _part(translate("Settings", "Look"))
        self.theme = _combo(
            translate("Settings", "Colours"),
            [
                (Mode.SYSTEM.value, translate("Menu", "Colours of the system")),
                (Mode.LIGHT.value, translate("Menu", "Light")),
                (Mode.DARK.value, translate("Menu", "Dark")),
                (Mode.CONTRAST.value, translate("Menu", "High contrast")),
            ],
            now.theme,
            lambda mode: self._host.set_theme(Mode(mode)),
        )
        self.language = _combo(
            translate("Settings", "Language"),
            [
                ("", translate("Settings", "Language of the system")),
                *((code, spoken.name) for code, spoken in SPOKEN.items()),
            ],
            now.language,
            self.language_wanted.emit,
        )
        self.text_size = spin_box(fonts.SMALLEST, fonts.LARGEST, self._host.text_size)
        self.text_size.setSuffix(translate("Settings", " px"))
        name_input(self.text_size, translate("Settings", "Size of the examined text"))
        self.text_size.valueChanged.connect(self._host.set_text_size)
        _add_rows(form, self.theme, self.language, self.text_size)
        return part

    def _privacy(self) -> QWidget:
        part, form = _part(translate("Settings", "Privacy"))
        self.recent = QCheckBox(
            translate("Settings", "Remember recent files: where they lie, not what is in them")
        )
        self.recent.setChecked(self._file.current.keep_recent)
        self.recent.toggled.connect(self._keep_recent)
        self.clear = plain_button(translate("Settings", "Clear the list"), self._clear_recent)
        self.clear.setEnabled(bool(self._file.current.recent))
        row = QHBoxLayout()
        add_parts(row, (self.recent, 1), self.clear)
        form.addRow(row)
        self.auditor = QLineEdit(self._file.current.auditor)
        self.auditor.setMaxLength(200)
        self.auditor.setMinimumWidth(WIDE)
        self.auditor.setAccessibleName(translate("Settings", "Your name in the case log"))
        self.auditor.editingFinished.connect(
            lambda: self._file.update(auditor=" ".join(self.auditor.text().split()))
        )
        self.texts = _combo(
            translate("Settings", "Examined texts"),
            [
                (KEEP, translate("Settings", "Kept readable in the case log")),
                (SEAL, translate("Settings", "Kept encrypted, under a passphrase")),
                (LEAVE_OUT, translate("Settings", "Not kept, only their digest")),
            ],
            self._file.current.case_text,
            lambda kept_as: self._file.update(case_text=kept_as),
        )
        _add_rows(form, self.auditor, self.texts)
        unfiled = translate(
            "Settings", "Every finished audit goes at once into the case “Unfiled”."
        )
        form.addRow(_name("", field=False), label(unfiled, "muted", wrap=True))
        self.log_level = _combo(
            translate("Settings", "What the log file notes"),
            [
                ("error", translate("Settings", "Faults only")),
                ("warning", translate("Settings", "Faults and warnings")),
                ("info", translate("Settings", "What the program does")),
                ("debug", translate("Settings", "Everything, for support")),
            ],
            self._file.current.log_level,
            self._log,
        )
        _add_rows(form, self.log_level)
        privacy = translate("Settings", "Texts and keys never appear in the log.")
        form.addRow(_name("", field=False), label(privacy, "muted", wrap=True))
        return part

    def _work(self) -> QWidget:
        now = self._file.current
        part, form = _part(translate("Settings", "Audits"))
        self.begin = QCheckBox(
            translate("Settings", "Begin by itself when a text is dropped and all is there")
        )
        self.begin.setChecked(self._host.session.audits.starts_by_itself)
        self.begin.toggled.connect(lambda starts: self._change(later=False, begin_audits=starts))
        form.addRow(self.begin)
        self.device = _combo(
            translate("Settings", "The model runs on"),
            [
                ("auto", translate("Settings", "The fastest that is here")),
                ("cpu", translate("Settings", "The processor")),
                ("cuda", translate("Settings", "The NVIDIA or AMD card (CUDA, ROCm)")),
                ("mps", translate("Settings", "The Apple GPU")),
            ],
            now.device,
            lambda device: self._change(later=True, device=device),
        )
        self.dtype = _combo(
            translate("Settings", "Numbers of the model"),
            [
                ("float32", translate("Settings", "32 bit (usual)")),
                (
                    "bfloat16",
                    translate("Settings", "16 bit, bfloat16 (GPU or newer processor)"),
                ),
                ("float16", translate("Settings", "16 bit, float16 (GPU only)")),
            ],
            now.dtype,
            lambda dtype: self._change(later=True, dtype=dtype),
        )
        _add_rows(form, self.device, self.dtype)
        self.signers = label(wrap=True)
        self.choose_signers = plain_button(
            translate("Settings", "Choose certificates …"), self.ask_signers
        )
        self.no_signers = plain_button(
            translate("Settings", "Trust nobody"), lambda: self.keep_signers(None)
        )
        row = row_of(self.choose_signers, self.no_signers, None)
        form.addRow(_name(translate("Settings", "Signers of manifests"), field=False), self.signers)
        form.addRow(_name("", field=False), row)
        explanation = translate(
            "Settings",
            "Signed manifests (C2PA) in or beside a text are stated as trusted where this list "
            "stands behind their signer. They are never part of the evidence.",
        )
        form.addRow(_name("", field=False), label(explanation, "muted", wrap=True))
        self._ask_signers(count_trust)
        return part

    def ask_signers(self) -> QFileDialog:
        """Ask for the file with the certificates whose signed manifests are trusted."""
        return ask_file(
            self,
            translate("Settings", "Signers of manifests"),
            self.keep_signers,
            translate("Settings", "Certificates (*.pem *.crt)"),
        )

    def keep_signers(self, path: Path | None) -> None:
        """Set the file with the trusted signers; None trusts nobody."""
        self._ask_signers(lambda paths: keep_trust(paths, path))

    def _ask_signers(self, work: Callable[[Paths], int]) -> None:
        session = self._host.session
        session.do(lambda _: work(session.environment.paths), self._count_signers, self)

    def _count_signers(self, outcome: Outcome[int]) -> None:
        if isinstance(outcome, Failure):
            self.signers.setText(outcome.words)
        elif isinstance(outcome, Done):
            template = translate(
                "Settings", "{n:plural(one certificate|{n:count} certificates)} trusted"
            )
            nobody = translate("Settings", "nobody is trusted")
            self.signers.setText(filled(template, n=outcome.result) if outcome.result else nobody)
            self.no_signers.setEnabled(bool(outcome.result))

    def _rule(self) -> QWidget:
        part, form = _part(translate("Settings", "Decision rule"))
        inventory = self._host.session.chosen.catalogue
        policy = inventory.policy if inventory is not None else None
        if policy is None:
            explanation = translate(
                "Settings", "The policy cannot be read; see the line at the bottom."
            )
            form.addRow(label(explanation, "attention", wrap=True))
            return part
        for name, written in policy_rows(policy):
            form.addRow(_name(name, field=False), label(written, wrap=True))
        explanation = translate(
            "Settings",
            "The rule is part of the organisation's policy file. It is fixed before anything is "
            "examined, and every record holds it.",
        )
        form.addRow(label(explanation, "muted", wrap=True))
        return part

    # What they do

    def _change(self, *, later: bool, **settings: object) -> None:
        self._file.update(**settings)
        self.later.setVisible(later)

    def _keep_recent(self, remember: bool) -> None:
        self._file.update(
            keep_recent=remember, recent=self._file.current.recent if remember else ()
        )
        self.clear.setEnabled(bool(self._file.current.recent))

    def _clear_recent(self) -> None:
        self._file.update(recent=())
        self.clear.setEnabled(False)

    def _log(self, level: str) -> None:
        self._file.update(log_level=level)
        diagnostics.set_level(level)


def policy_rows(policy: Policy) -> list[tuple[str, str]]:
    """Return the rules of the policy as pairs of name and description."""
    one_in = filled(
        translate("Settings", "at most 1 in {n:count} texts without the mark"), n=policy.one_in
    )
    rows = [
        (translate("Settings", "Rule"), policy.rule),
        (
            translate("Settings", "A mark is found"),
            filled(
                translate("Settings", "from log₁₀ {bound:text} on: {rate:text}"),
                bound=decimal(policy.t_found, 1),
                rate=one_in,
            ),
        ),
        (
            translate("Settings", "Indication only"),
            filled(
                translate("Settings", "from log₁₀ {bound:text} on"),
                bound=decimal(policy.t_review, 1),
            ),
        ),
        (translate("Settings", "Reported at most"), number(round(policy.lr_cap))),
        (
            translate("Settings", "Own measurements"),
            filled(
                translate("Settings", "{n:plural(one table|{n:count} tables)} of power"),
                n=len(policy.power_tables),
            )
            if policy.power_tables
            else translate("Settings", "none: the shipped table counts"),
        ),
    ]
    if policy.leave_out:
        names = {
            QUOTATIONS: translate("Settings", "quotations of 15 words or more"),
            REFERENCES: translate("Settings", "lists of references"),
        }
        left_out = ", ".join(names[name] for name in policy.leave_out)
        rows.append((translate("Settings", "Left out of examined texts"), left_out))
    if policy.register_prior:
        template = translate("Settings", "share {weight:text} of the prior weight")
        weight = decimal(policy.register_prior, 2)
        rows.append((translate("Settings", "Issued payloads"), filled(template, weight=weight)))
    outside = filled(
        translate("Settings", "share {weight:text} of the prior weight"),
        weight=short(policy.outside_limits),
    )
    alarms = policy.false_alarms
    expected = (
        translate("Settings", "unknown: the policy states no number of texts a year")
        if alarms is None
        else filled(
            translate("Settings", "at most {alarms:text} a year, of {n:count} texts"),
            alarms=decimal(alarms, 6).rstrip("0"),
            n=policy.yearly_volume,
        )
    )
    return [
        *rows,
        (translate("Settings", "Payloads outside the limits of a profile"), outside),
        (translate("Settings", "False alarms expected"), expected),
    ]


def _part(title: str) -> tuple[QWidget, QFormLayout]:
    part = QWidget()
    form = QFormLayout(part)
    form.setContentsMargins(0, GRID, 0, 0)
    form.setHorizontalSpacing(2 * PADDING)
    form.setVerticalSpacing(GRID)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.addRow(label(title, "title"))
    return part, form


def _name(text: str, *, field: bool = True) -> QLabel:
    """Return the label of a row, as wide as all others."""
    name_label = label(text)
    name_label.setMinimumWidth(NAMES)
    if field:
        name_label.setMinimumHeight(32)  # as high as the field next to it
    return name_label


def _add_rows(form: QFormLayout, *fields: QWidget) -> None:
    """Add fields, each with the name that screen readers say before it."""
    for field in fields:
        form.addRow(_name(field.accessibleName()), field)


def _combo(
    name: str, choices: Sequence[tuple[str, str]], current: str, on_choice: Callable[[str], object]
) -> QComboBox:
    box = combo(choices, current)
    box.setMinimumWidth(WIDE)
    box.setAccessibleName(name)
    box.activated.connect(lambda index: on_choice(box.itemData(index)))
    return box
