"""Dialogs: opened, never run in a loop of their own, so that nothing stands still behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QFileDialog

from pura_audit.jobs.messages import Chore, Failure
from pura_audit.platform.i18n import plural, translate
from pura_audit.workbench.actions import shortcut_rows

if TYPE_CHECKING:
    from pura.caselog import Case
    from pura.record.audit import Audit
    from pura.report import Report, ReportRequest
    from pura_audit.cases.dialog import CasesDialog
    from pura_audit.reports.dialog import ReportDialog
    from pura_audit.widgets.plot_card import PlotCard
    from pura_audit.workbench.main_window import MainWindow


def _open(dialog: QDialog) -> QDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def show_table(window: MainWindow, card: PlotCard) -> QDialog:
    """Show the table twin of a plot."""
    from pura_audit.widgets.table_dialog import TableDialog

    headers, rows = card.table()
    return _open(TableDialog(card.title.text(), headers, rows, card.summary(), window))


def show_candidates(window: MainWindow) -> QDialog | None:
    """Show the ranked payloads."""
    from pura_audit.widgets.table_dialog import TableDialog
    from pura_audit.workbench.candidates import candidate_table

    audit = window.selection.audit
    if audit is None:
        return None
    headers, rows, words = candidate_table(audit)
    return _open(TableDialog(translate("Dialog", "Candidates"), headers, rows, words, window))


def show_details(window: MainWindow) -> QDialog | None:
    """Show the full wording, the scale and the twelve steps."""
    from pura_audit.workbench.details import DetailsDialog

    audit = window.selection.audit
    return None if audit is None else _open(DetailsDialog(audit, window))


def show_shortcuts(window: MainWindow) -> QDialog:
    """Show all shortcuts."""
    from pura_audit.widgets.table_dialog import TableDialog

    headers = (translate("Dialog", "What"), translate("Dialog", "Shortcut"))
    rows = [*shortcut_rows(window.actions_by_name), *_more_keys()]
    title = translate("Dialog", "Keyboard shortcuts")
    return _open(TableDialog(title, headers, rows, "", window))


def _more_keys() -> list[tuple[str, str]]:
    return [
        (translate("Dialog", "Menu"), "F10"),
        (translate("Dialog", "Token to token, line to line (in the text)"), "← → ↑ ↓"),
        (translate("Dialog", "Bit to bit, lane to lane (in the bits)"), "← → ↑ ↓"),
        (translate("Dialog", "From card to card"), "Tab, Shift+Tab"),
        (translate("Dialog", "Remove a text (in the list)"), "Del"),
    ]


def show_about(window: MainWindow) -> QDialog:
    """Show every version."""
    from pura_audit.workbench.about import AboutDialog

    return _open(AboutDialog(window.session, window))


def import_register(window: MainWindow) -> QDialog | None:
    """Ask for a table of issued payloads, and take it in with the profile that is chosen."""
    session = window.session
    if session.profile is None:
        window.status.say(
            translate("Register", "Choose a profile first: it says what a payload is.")
        )
        return None
    profile = session.profile.name
    dialog = QFileDialog(window, translate("Register", "Import issued payloads"))
    dialog.setNameFilters(
        [translate("Register", "Tables (*.csv)"), translate("Register", "All files (*)")]
    )
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(
        lambda name: session.do_chore(Chore(kind="import-register", name=profile, path=Path(name)))
    )
    return _open(dialog)


def save_to_case(window: MainWindow) -> QDialog | None:
    """Save the audit on screen, and the others that are finished, to a case."""
    from pura_audit.cases.save import SaveDialog

    current = window.session.current
    if current is None or current.audit is None:
        window.status.say(
            translate("Cases", "There is no finished audit to save. Audit a text first.")
        )
        return None
    others = [i.audit for i in window.session.queue.items if i.audit and i is not current]
    session = window.session
    dialog = SaveDialog(session.jobs.cases, session.settings, current.audit, others, window)

    def saved(case: Case, count: int) -> None:
        words = plural(
            count,
            translate("Cases", "Saved to the case “%2”."),
            translate("Cases", "%1 audits were saved to the case “%2”."),
        )
        window.status.say(words.replace("%2", case.name or ""))

    dialog.saved.connect(saved)
    return _open(dialog)


def show_cases(window: MainWindow) -> CasesDialog:
    """Show the cases."""
    from pura_audit.cases.dialog import CasesDialog

    dialog = CasesDialog(window.session, window)
    dialog.compare_wanted.connect(lambda audits: compare_audits(window, audits))
    dialog.report_wanted.connect(lambda found: _report_of_case(window, *found))
    _open(dialog)
    return dialog


def _report_of_case(
    window: MainWindow, case: Case, audits: Sequence[Audit], base: ReportRequest | Failure
) -> None:
    """Make a report of saved audits; the log notes what became of it."""
    from pura.caselog.reports import note_report

    if isinstance(base, Failure):
        window.status.say(f"{base.message} {base.hint}")
        return
    dialog = make_report(window, [(a.input.name, a) for a in audits], base, every=True)
    assert dialog is not None  # there are audits
    who = window.session.settings.current.auditor

    def note(report: Report, request: ReportRequest, path: Path) -> None:
        ids = [audit.id for audit in dialog.form.audits.chosen()]
        window.session.jobs.cases.do(
            lambda log, _: note_report(
                log, case.id, ids, request, report.number, report.pdf, log.person(who)
            ),
            lambda result: window.status.say(
                f"{result.message} {result.hint}"
                if isinstance(result, Failure)
                else translate("Cases", "The case log has noted the report.")
            ),
            window,
            writes=True,
        )

    dialog.saved.connect(note)


def show_settings(window: MainWindow) -> QDialog:
    """Show the settings."""
    from pura_audit.settings.dialog import SettingsDialog

    return _open(SettingsDialog(window))


def show_guide(window: MainWindow) -> QDialog:
    """Show the user guide; it stays open beside the work."""
    from pura_audit.workbench.guide import GuideDialog

    dialog = GuideDialog(window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog


def show_keys(window: MainWindow, kind: str = "") -> QDialog:
    """Show the keys; with the kind of a chore, ask for that at once."""
    from pura_audit.keys.dialog import KeysDialog

    dialog = KeysDialog(window.session, window)
    _open(dialog)
    if kind:
        dialog.ask(kind)
    return dialog


def show_models(window: MainWindow) -> QDialog:
    """Show the models."""
    from pura_audit.models.dialog import ModelsDialog

    return _open(ModelsDialog(window.session, window))


def show_profiles(window: MainWindow) -> QDialog:
    """Show the profiles."""
    from pura_audit.profiles.dialog import ProfilesDialog

    return _open(ProfilesDialog(window.session, window))


def verify_report(window: MainWindow, path: Path | None = None) -> QDialog:
    """Check a report."""
    from pura_audit.reports.check import ReportCheckDialog

    return _open(ReportCheckDialog(window.session, path, window))


def compare_audits(window: MainWindow, audits: Sequence[Audit] | None = None) -> QDialog:
    """Compare two finished audits: these, or those of the list, the one on screen first."""
    from pura_audit.workbench.compare import CompareDialog

    if audits is not None:
        return _open(CompareDialog(audits, window))
    current = window.session.current
    items = sorted(window.session.queue.items, key=lambda item: item is not current)
    audits = [item.audit for item in items if item.audit is not None]
    return _open(CompareDialog(audits, window))


def sign_report(window: MainWindow, path: Path | None = None) -> QDialog:
    """Sign the PDF of a report."""
    from pura_audit.reports.sign import ReportSignDialog

    dialog = ReportSignDialog(window.session, window)
    if path is not None:
        dialog.take(report=path)
    return _open(dialog)


def make_report(
    window: MainWindow,
    audits: Sequence[tuple[str, Audit]] | None = None,
    base: ReportRequest | None = None,
    *,
    every: bool = False,
) -> ReportDialog | None:
    """Make a report of finished audits; the one on screen comes first.

    Args:
        window: The main window.
        audits: Names and audits to choose from; None takes those of the list.
        base: What is known beforehand.
        every: All of them are ticked, not the first alone.
    """
    from pura_audit.reports.dialog import ReportDialog

    if audits is None:
        current = window.session.current
        items = sorted(window.session.queue.items, key=lambda item: item is not current)
        audits = [(item.name, item.audit) for item in items if item.audit is not None]
    if not audits:
        window.status.say(translate("Report", "A report needs a finished audit. Audit a text."))
        return None
    dialog = ReportDialog(window.session, audits, base, window, every=every)
    dialog.sign_wanted.connect(lambda path: sign_report(window, path))
    _open(dialog)
    return dialog


def show_reading(window: MainWindow) -> QDialog | None:
    """Show how the file on screen is read, and let it be read otherwise."""
    from pura_audit.workbench.reading import ReadingDialog

    item = window.session.current
    if item is None or item.path is None or item.active:
        window.status.say(translate("Reading", "Choose a text that came from a file first."))
        return None
    return _open(ReadingDialog(window.session, item, window))


def open_folder(window: MainWindow) -> QDialog:
    """Ask what to take of a folder, and which one."""
    from pura_audit.workbench.folder import FolderDialog

    return _open(FolderDialog(window.session, window))


def show_left_out(window: MainWindow) -> QDialog | None:
    """Show what the last folder held that was not taken, and why."""
    from pura_audit.session.folder_words import left_out_table
    from pura_audit.widgets.table_dialog import TableDialog

    summary = window.session.left_out
    if summary is None or not summary.total_skipped:
        window.status.say(translate("Folder", "Nothing was left out of a folder so far."))
        return None
    headers, rows, words = left_out_table(summary)
    return _open(
        TableDialog(translate("Folder", "What was left out"), headers, rows, words, window)
    )


def show_log(window: MainWindow) -> None:
    """Open the folder of the log file."""
    from pura_audit.platform.logs import log_folder

    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_folder())))


__all__ = [
    "compare_audits",
    "import_register",
    "make_report",
    "open_folder",
    "save_to_case",
    "show_about",
    "show_candidates",
    "show_cases",
    "show_details",
    "show_guide",
    "show_keys",
    "show_left_out",
    "show_log",
    "show_models",
    "show_profiles",
    "show_reading",
    "show_settings",
    "show_shortcuts",
    "show_table",
    "sign_report",
    "verify_report",
]
