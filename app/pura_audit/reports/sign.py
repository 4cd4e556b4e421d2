"""Sign a report with the organisation's certificate."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QLineEdit,
    QWidget,
)

from pura.base import numerals
from pura.keys import Secret, passphrase_bytes
from pura.report.signing import SignOptions
from pura.usecases.reports import SignedReport, is_draft, sign_report
from pura_audit.jobs.queue import Done, Failure, Outcome, with_progress
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import ElidedLabel, Scrolled, add_parts, column_of, label, row_of
from pura_audit.widgets.form_dialog import (
    MainButton,
    ask_file,
    ask_target,
    button_row,
    close_button,
    dialog_column,
    plain_button,
)
from pura_audit.widgets.working_dialog import WorkingDialog


class ReportSignDialog(WorkingDialog):
    """Asks for a report, a certificate and its passphrase, and signs the report."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.report: Path | None = None
        self.certificate: Path | None = None
        self.setWindowTitle(translate("SignReport", "Sign a report"))
        self.setMinimumWidth(600)
        self._make()
        self._lay_out()
        self.refresh_buttons()
        self.choose.setFocus()

    def _make(self) -> None:
        self.choose = plain_button(translate("SignReport", "Choose a report …"), self._ask_report)
        self.choose_certificate = plain_button(
            translate("SignReport", "Choose a certificate …"), self._ask_certificate
        )
        caption = translate("SignReport", "Sign and save …")
        self.sign_button = MainButton(caption, self._ask_to, enter=False)
        not_chosen = translate("SignReport", "none chosen")
        self.report_name, self.certificate_name = (
            ElidedLabel(not_chosen, role="muted", middle=True) for _ in range(2)
        )
        self.passphrase = self._line(translate("SignReport", "Passphrase of the certificate"))
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self.passphrase.textChanged.connect(lambda _: self.refresh_buttons())
        self.reason = self._line(translate("SignReport", "Reason"))
        self.place = self._line(translate("SignReport", "Place"))
        self.seal = QCheckBox(translate("SignReport", "Visible seal on a free place at the end"))
        self.log = QCheckBox(
            translate("SignReport", "Note it in the case log, and sign the head of the log too")
        )
        has_log = self.session.cases.there
        self.log.setChecked(has_log)
        self.log.setVisible(has_log)
        self.authority = self._line(translate("SignReport", "Time-stamp authority"))
        self.authority.setPlaceholderText(
            translate("SignReport", "empty: no network, time of this computer")
        )

    def _line(self, name: str) -> QLineEdit:
        line = QLineEdit()
        line.setAccessibleName(name)
        line.setMaxLength(500)
        return line

    def _lay_out(self) -> None:
        layout = dialog_column(
            self,
            translate("SignReport", "Sign a report"),
            translate(
                "SignReport",
                "One signature over the entire file; every later change is named when the "
                "report is checked. The certificate is a PKCS#12 file (.p12, .pfx) with its "
                "private key.",
            ),
        )
        for button, name in (
            (self.choose, self.report_name),
            (self.choose_certificate, self.certificate_name),
        ):
            layout.addLayout(row_of(button, (name, 1), spacing=GAP))
        self.draft = label(
            translate(
                "SignReport",
                "This report is a draft. A signature makes it look finished: choose “Final” in "
                "the report window, save it again, and sign that.",
            ),
            "attention",
            wrap=True,
        )
        self.draft.hide()
        layout.addWidget(self.draft)
        form = QFormLayout()
        form.setSpacing(GRID)
        for line in (self.passphrase, self.reason, self.place, self.authority):
            form.addRow(line.accessibleName(), line)
        inside = Scrolled(column_of(form, self.seal, self.log, spacing=GRID))
        foot = button_row(close_button(self), self.sign_button)
        add_parts(layout, inside, self.progress_row(stays=True), None, foot)

    def refresh_buttons(self) -> None:
        """Enable the button if every input is there."""
        needed = {
            translate("SignReport", "Report"): self.report,
            translate("SignReport", "Certificate"): self.certificate,
            self.passphrase.accessibleName(): self.passphrase.text(),
        }
        self.sign_button.require(needed, free=not self.busy)

    def take(self, report: Path | None = None, certificate: Path | None = None) -> None:
        """Choose the report, the certificate, or both."""
        self.report = report or self.report
        self.certificate = certificate or self.certificate
        for path, name in (
            (self.report, self.report_name),
            (self.certificate, self.certificate_name),
        ):
            if path is not None:
                name.setText(path.name)
        if report is not None:
            self.session.jobs.reports.do(lambda _: is_draft(report), self._looked, self)
        self.refresh_buttons()

    def _looked(self, outcome: Outcome[bool]) -> None:
        self.draft.setVisible(isinstance(outcome, Done) and outcome.result)

    def _ended(self, failure: Failure | None) -> None:
        super()._ended(failure)
        if failure is None:
            self.passphrase.clear()  # Qt's own copy cannot be overwritten
            self.session.cases.changed.emit()  # where the finding stands
        else:
            self.passphrase.setFocus()
            self.passphrase.selectAll()

    def sign_to(self, target: Path) -> None:
        """Sign the report, and save it under this name."""
        if self.report is None or self.certificate is None or self.busy:
            return
        if target == self.report:
            self.say(
                translate("SignReport", "Choose another name: the unsigned report stays."), bad=True
            )
            return
        secret = Secret(passphrase_bytes(self.passphrase.text()))
        work = partial(
            sign_report,
            self.session.environment,
            path=self.report,
            to=target,
            certificate=self.certificate,
            passphrase=secret,
            options=SignOptions(
                reason=self.reason.text().strip(),
                location=self.place.text().strip(),
                seal=self.seal.isChecked(),
                tsa_url=self.authority.text().strip() or None,
                language=language(),
            ),
            note=self.log.isChecked(),
            auditor=self.session.settings.current.auditor or None,
            replace=True,  # the file dialog has asked about a file that is there
        )
        self.begin(with_progress(work), words=lambda signed: _signed(target, signed))

    def _ask_report(self) -> None:
        kinds = translate("SignReport", "Reports (*.pdf)"), translate("SignReport", "All files (*)")
        title = translate("SignReport", "Choose a report")
        ask_file(self, title, lambda path: self.take(report=path), *kinds)

    def _ask_certificate(self) -> None:
        kinds = translate("SignReport", "Certificates (*.p12 *.pfx)")
        all_files = translate("SignReport", "All files (*)")
        title = translate("SignReport", "Choose a certificate")
        ask_file(self, title, lambda path: self.take(certificate=path), kinds, all_files)

    def _ask_to(self) -> None:
        assert self.report is not None  # the button was not enabled before
        ending = translate("SignReport", "signed")
        stem = self.report.stem.removesuffix(f"-{translate('Report', 'final')}")
        ask_target(
            self,
            translate("SignReport", "Save the signed report"),
            self.sign_to,
            translate("SignReport", "Reports (*.pdf)"),
            name=f"{stem}-{ending}.pdf",
            suffix="pdf",
            folder=self.report.parent,
        )


def _signed(path: Path, signed: SignedReport) -> str:
    certificate = signed.certificate
    sentence = filled(
        translate(
            "SignReport",
            "“{file:text}” is signed as {who:text}; the certificate is valid until {end:text}.",
        ),
        file=path.name,
        who=certificate.subject,
        end=numerals.date(certificate.not_after.date().isoformat(), language()),
    )
    if not signed.examiner:
        return sentence
    examiner_template = translate("SignReport", "It names {who:text} as examiner.")
    return f"{sentence} {filled(examiner_template, who=signed.examiner)}"
