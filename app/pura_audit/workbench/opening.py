"""The dialogs that commands and dropped files other than texts open."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QDialog, QFileDialog

from pura.base.errors import InputError, PuraError, os_error_as
from pura.base.files import read_bounded, write_atomic
from pura.caselog.cases import UNFILED
from pura.caselog.package import SUFFIX as CASE
from pura.detect.verdict.policy import SCHEMA as POLICY
from pura.detect.verdict.power import TABLE_SCHEMA as POWER
from pura.keys.sealed import SUFFIX as KEY
from pura.usecases.cases import open_saved
from pura.usecases.keys import SUFFIX as BUNDLE
from pura_audit.jobs.queue import Failure, by_outcome
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.widgets.form_dialog import Host, ask_folder, ask_target, opened
from pura_audit.workbench import setup
from pura_audit.workbench.questions import unlocked

if TYPE_CHECKING:
    from pura.caselog import Case, CaseItem
    from pura.record.audit import Audit
    from pura.report.request import ReportRequest
    from pura.usecases.reports import Built
    from pura_audit.cases.dialog import CasesDialog
    from pura_audit.cases.forms import SaveDialog
    from pura_audit.reports.check import ReportCheckDialog, StatementDialog
    from pura_audit.reports.dialog import ReportDialog
    from pura_audit.session.queue_model import Item
    from pura_audit.stores.profiles import ProfilesDialog
    from pura_audit.widgets.form_dialog import Host
    from pura_audit.widgets.plot_card import PlotCard
    from pura_audit.workbench.side_by_side import SideBySideDialog


def show_keys(host: Host, source: Path | None = None) -> QDialog:
    """Show the keys, with the import form for a key file.

    If the dialog was opened for the import alone, it closes after it.
    """
    from pura_audit.stores.keys import KeysDialog

    dialog = KeysDialog(host.session, host.frame)
    opened(dialog)
    if source is not None:
        dialog.ask_import(source).finished.connect(lambda _: dialog.close())
    return dialog


def show_models(host: Host) -> QDialog:
    """Show the models."""
    from pura_audit.stores.models import ModelsDialog

    return opened(ModelsDialog(host.session, host.frame))


def show_profiles(host: Host) -> ProfilesDialog:
    """Show the profiles."""
    from pura_audit.stores.profiles import ProfilesDialog

    return opened(ProfilesDialog(host.session, host.frame))


def show_setup(host: Host) -> setup.SetupDialog:
    """Open the dialog that makes a new set-up."""
    return opened(setup.SetupDialog(host.session, host.frame))


def show_several_keys(host: Host) -> QDialog:
    """Open the choice of several keys."""
    return opened(setup.SeveralKeysDialog(host.session, host.frame))


def save_setup(host: Host) -> QDialog:
    """Open the dialog that saves the choices as a set-up."""
    return opened(setup.SaveSetupDialog(host.session, host.frame))


def show_settings(host: Host, field: str = "") -> QDialog:
    """Show the settings, with the focus on one of the fields."""
    from pura_audit.settings import SettingsDialog

    dialog = opened(SettingsDialog(host))
    dialog.language_wanted.connect(lambda name: _speak(host, dialog, name))
    if field:
        dialog.fields()[field].setFocus(Qt.FocusReason.ShortcutFocusReason)
    return dialog


def _speak(host: Host, dialog: QDialog, name: str) -> None:
    """Change the language, and open the settings and the guide again in it."""
    from pura_audit.workbench.guide import GuideDialog, in_language

    if name == host.session.settings.current.language:
        return
    host.set_language(name)
    guides = host.frame.findChildren(GuideDialog)
    dialog.close()
    for guide in guides:
        guide.close()
        show_guide(host, in_language(guide.pages.page)).setGeometry(guide.geometry())
    show_settings(host, translate("Settings", "Language"))


def show_guide(host: Host, page: Path | None = None) -> QDialog:
    """Show the user guide at one of its pages, without blocking the window."""
    from pura_audit.workbench.guide import GuideDialog

    dialog = GuideDialog(host.frame, page)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog


def show_shortcuts(host: Host) -> QDialog:
    """Show all shortcuts."""
    from pura_audit.widgets.working_dialog import SORT_KEY, TableDialog

    headers = (translate("Dialog", "What"), translate("Dialog", "Shortcut"))
    sort = (translate("Dialog", "Sort (in a table of texts or payloads)"), SORT_KEY)
    rows = [*shortcut_rows(host.actions_by_name), *_more_keys(), sort]
    title = translate("Dialog", "Keyboard shortcuts")
    return opened(TableDialog(title, headers, rows, "", host.frame))


def shortcut_rows(actions: dict[str, QAction]) -> list[tuple[str, str]]:
    """Return the text and the keys of every action with a shortcut."""
    native = QKeySequence.SequenceFormat.NativeText
    return [
        (
            action.text().replace("…", "").replace("&", "").strip(),
            ", ".join(k.toString(native) for k in action.shortcuts()),
        )
        for action in actions.values()
        if action.shortcuts()
    ]


def _more_keys() -> list[tuple[str, str]]:
    return [
        (translate("Dialog", "Menu"), "F10"),
        (translate("Dialog", "Token to token, line to line (in the text)"), "← → ↑ ↓"),
        (translate("Dialog", "Bit to bit, lane to lane (in the bits)"), "← → ↑ ↓"),
        (translate("Dialog", "From card to card"), "Tab, Shift+Tab"),
        (translate("Dialog", "Remove a text (in the list)"), "Del"),
    ]


def show_about(host: Host) -> QDialog:
    """Show versions, device and licences."""
    from pura_audit.workbench.guide import about_dialog

    return opened(about_dialog(host.session, host.frame))


def show_log(host: Host) -> None:
    """Open the folder of the log file."""
    from pura_audit.platform.diagnostics import log_folder

    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_folder())))


def ask_diagnostic_file(host: Host) -> QFileDialog:
    """Ask for the file to save the diagnostic file to."""
    return ask_target(
        host.frame,
        translate("Menu", "Save a diagnostic file"),
        partial(save_diagnostic_file, host),
        translate("Menu", "Texts (*.txt)"),
        name="pura-diagnostics.txt",
        suffix="txt",
    )


def save_diagnostic_file(host: Host, path: Path) -> None:
    """Write the diagnostic file; the file dialog has already asked before replacing one."""
    from pura_audit.platform.diagnostic_file import diagnostic_text
    from pura_audit.platform.diagnostics import log_folder
    from pura_audit.workbench.guide import facts

    try:
        with os_error_as(InputError, "file.write", name=path.name):
            write_atomic(path, diagnostic_text(log_folder(), facts(host.session)).encode())
    except InputError as error:
        host.say(Failure.of(error))
        return
    template = translate(
        "Menu",
        "Saved as “{file:text}”. It holds versions and the log, and nothing of a text, a payload "
        "or a key.",
    )
    host.say(filled(template, file=path.name))


def report_current(host: Host) -> None:
    """Make a report of the finding on screen, with its data from the case log."""
    from pura.report.request import ReportRequest
    from pura.usecases.cases import case_of
    from pura.usecases.reports import filled_request

    item = host.session.texts.current
    if item is None or item.audit is None or item.status is None:
        make_report(host)
        return
    cases, audit = host.session.cases, item.audit
    base = ReportRequest(language=language())

    def asked() -> tuple[Case, ReportRequest]:
        case, saved = case_of(cases.environment, audit.id)
        request = filled_request(cases.environment, case, [saved], base)
        if case.name == UNFILED:
            request = replace(request, case="")  # no name of a case that a reader would know
        return case, request

    def begin(case_and_request: tuple[Case, ReportRequest]) -> None:
        case, request = case_and_request
        report_of_case(host, case, (audit,), request)

    cases.ask(lambda _: asked(), by_outcome(begin, host.say), host.frame)


def report_items(host: Host, items: Sequence[Item]) -> None:
    """Make one report of several finished rows, after loading their records."""
    cases = host.session.cases
    wanted = [(item.name, item.audit, item.finding.id) for item in items if item.finding]

    cases.ask(
        lambda _: [
            (name, open_saved(cases.environment, key) if audit is None else audit)
            for name, audit, key in wanted
        ],
        by_outcome(partial(make_report, host, tick_all=True), host.say),
        host.frame,
    )


def report_of_case(host: Host, case: Case, audits: Sequence[Audit], base: ReportRequest) -> None:
    """Make a report of saved audits, and record it in the case log."""
    from pura.usecases.reports import note_built

    named_audits = [(audit.input.name, audit) for audit in audits]
    dialog = make_report(host, named_audits, base, tick_all=True)
    assert dialog is not None  # there are audits
    cases, auditor = host.session.cases, host.session.settings.current.auditor

    def note(built: Built, path: Path) -> None:
        message = translate("Cases", "The case log has noted the report.")
        cases.change(
            lambda _: note_built(cases.environment, case, built, auditor=auditor),
            by_outcome(lambda _: host.say(message), host.say),
            host.frame,
        )

    dialog.saved.connect(note)


def make_report(
    host: Host,
    audits: Sequence[tuple[str, Audit]] | None = None,
    base: ReportRequest | None = None,
    *,
    tick_all: bool = False,
) -> ReportDialog | None:
    """Make a report of finished audits; the one on screen comes first.

    Args:
        host: The window.
        audits: Names and audits to choose from; None takes those of the list.
        base: Initial content of the report.
        tick_all: Whether all audits are ticked, not only the first.
    """
    from pura_audit.reports.dialog import ReportDialog

    if audits is None:
        audits = [(i.name, i.audit) for i in current_first(host) if i.audit is not None]
    if not audits:
        host.say(translate("Report", "A report needs a finished audit. Audit a text."))
        return None
    dialog = ReportDialog(host.session, audits, base, host.frame, tick_all=tick_all)
    dialog.sign_wanted.connect(lambda path: sign_report(host, path))

    def written(_: Built, path: Path) -> None:
        reported = {audit.id for audit in dialog.form.audits.chosen()}
        for item in host.session.texts.queue.items:
            if item.finding is not None and item.finding.id in reported:
                item.report = path

    dialog.saved.connect(written)
    opened(dialog)
    return dialog


def current_first(host: Host) -> list[Item]:
    """Return the rows of the list, the one on screen first."""
    current = host.session.texts.current
    return sorted(host.session.texts.queue.items, key=lambda row: row is not current)


def sign_current(host: Host) -> None:
    """Sign the report of the finding on screen, if its file still exists."""
    item = host.session.texts.current
    path = item.report if item is not None else None
    sign_report(host, path if path is not None and path.is_file() else None)


def sign_report(host: Host, path: Path | None = None) -> QDialog:
    """Sign the PDF of a report."""
    from pura_audit.reports.sign import ReportSignDialog

    dialog = ReportSignDialog(host.session, host.frame)
    if path is not None:
        dialog.take(report=path)
    return opened(dialog)


def verify_report(host: Host, path: Path | None = None) -> ReportCheckDialog:
    """Check a report."""
    from pura_audit.reports.check import ReportCheckDialog

    return opened(ReportCheckDialog(host.session, path, host.frame))


def check_statement(host: Host, path: Path | None = None) -> StatementDialog:
    """Check a statement that a detector signed."""
    from pura_audit.reports.check import StatementDialog

    return opened(StatementDialog(host.session, path, host.frame))


def save_to_case(host: Host) -> SaveDialog | None:
    """Save the audit on screen, and the others that are finished, to a case."""
    from pura_audit.cases.forms import SaveDialog

    current = host.session.texts.current
    if current is None or current.audit is None:
        host.say(translate("Cases", "There is no finished audit to save. Audit a text first."))
        return None
    # Those of an earlier run are read from the log when they are filed.
    others = [
        item.finding.id if item.audit is None else item.audit
        for item in host.session.texts.queue.items
        if item is not current
        and item.finding is not None
        and (item.audit is not None or (item.status is not None and item.status.name == UNFILED))
    ]
    session = host.session
    dialog = SaveDialog(session.cases, session.settings, current.audit, others, host.frame)

    def saved(case: Case, count: int) -> None:
        template = translate(
            "Cases", "{n:plural(Saved|{n:count} audits were saved)} to the case “{case:text}”."
        )
        host.say(filled(template, n=count, case=case.name or ""))

    dialog.saved.connect(saved)
    return opened(dialog)


def review_current(host: Host) -> None:
    """Open the review of the finding on screen by a second person."""
    from pura.usecases.cases import case_of
    from pura_audit.cases.forms import ReviewDialog

    item = host.session.texts.current
    if item is None or item.finding is None or item.status is None:
        host.say(translate("Cases", "Save the finding to a case first (Ctrl+S)."))
        return
    cases, audit = host.session.cases, item.finding.id

    def review(saved: tuple[Case, CaseItem]) -> None:
        opened(
            ReviewDialog(cases, *saved, host.frame, reviewer=host.session.settings.current.auditor)
        )

    cases.ask(lambda _: case_of(cases.environment, audit), by_outcome(review, host.say), host.frame)


def show_cases(host: Host, case: str = "") -> CasesDialog:
    """Show the cases, with the case of an identifier selected."""
    from pura_audit.cases.dialog import CasesDialog

    dialog = CasesDialog(host.session, host.frame)
    if case:
        dialog.refresh(case)
    dialog.compare_wanted.connect(lambda audits: compare_audits(host, audits))
    dialog.report_wanted.connect(partial(report_of_case, host))
    opened(dialog)
    return dialog


def compare_audits(host: Host, audits: Sequence[Audit] | None = None) -> QDialog:
    """Compare two finished audits: these, or those of the list with the one on screen first."""
    from pura_audit.workbench.details import CompareDialog

    if audits is None:
        audits = [item.audit for item in current_first(host) if item.audit is not None]
    dialog = CompareDialog(audits, host.frame)
    dialog.texts_wanted.connect(
        lambda first, second: show_side_by_side(host, audits, first, second)
    )
    return opened(dialog)


def compare_versions(host: Host) -> None:
    """Compare the finding on screen with earlier examinations of the same bytes in its case."""
    from pura.usecases.cases import versions_of

    item = host.session.texts.current
    if item is None or item.finding is None or item.status is None or item.status.version < 2:
        host.say(translate("Cases", "There is no earlier examination of these bytes in its case."))
        return
    cases, audit = host.session.cases, item.finding.id
    auditor = host.session.settings.current.auditor or None
    cases.ask(
        lambda _: versions_of(cases.environment, audit, auditor=auditor),
        by_outcome(partial(compare_audits, host), host.say),
        host.frame,
    )


def show_side_by_side(
    host: Host, audits: Sequence[Audit] = (), first: int = 0, second: int = 1
) -> SideBySideDialog | None:
    """Show two texts side by side, or a message if there are not two.

    Args:
        host: The window.
        audits: Audits whose texts are shown. Default: the text on screen and the next one.
        first: Index of the first text.
        second: Index of the second text.
    """
    from pura_audit.workbench.side_by_side import SideBySideDialog, text_choices

    choices = text_choices(current_first(host), audits)
    if len(choices) < 2:
        host.say(translate("SideBySide", "Two texts are needed. Open the other one as well."))
        return None
    if first == second:  # an audit that is alone
        second = 0 if first else 1
    dialog = SideBySideDialog(host.session, host.theme, choices, first, second, host.frame)
    for pane in (dialog.first, dialog.second):
        pane.view.set_text_size(host.text_size)
    return opened(dialog)


def mark_text(host: Host) -> None:
    """Open the dialog that marks a text, or show what is missing."""
    from pura_audit.workbench.issued_view import IssuedView, no_profile
    from pura_audit.workbench.mark_dialog import MarkDialog

    session, choices = host.session, host.session.chosen
    choice = choices.profile
    if choice is None or choice.profile.foreign is not None or choices.key is None:
        host.say(no_profile())
        return
    profile = choice.profile
    marking_key = choices.key_of(profile)
    if marking_key is None or all(
        key.fingerprint != marking_key.fingerprint for key in choices.found.keys
    ):
        marking_key = choices.key.ref  # the key that the profile names is not here

    def begin() -> None:
        dialog = MarkDialog(session, profile, marking_key, host.frame)
        name = translate("Mark", "Marked text")  # not for whom: the audit is to find that
        dialog.audit_wanted.connect(lambda text: session.texts.add_text(text, name))
        for view in host.frame.findChildren(IssuedView):
            dialog.noted.connect(view.refresh)
        opened(dialog)

    unlocked(session, host.frame, begin)


def do_step(host: Host, name: str) -> None:
    """Run a step of the finding on screen (save, review, report, sign), or show why not yet."""
    from pura_audit.workbench.answer import waits_words

    item = host.session.texts.current
    if item is not None and (reason := waits_words(item, name)):
        host.say(reason)
        return
    steps: dict[str, Callable[[Host], object]] = {
        "save": save_to_case,
        "review": review_current,
        "report": report_current,
        "sign": sign_current,
    }
    steps[name](host)


def open_folder(host: Host) -> QFileDialog:
    """Ask for a folder, and then for the files to take."""
    return ask_folder(
        host.frame,
        translate("Folder", "Open a folder"),
        lambda path: choose_of_folder(host, path),
    )


def choose_of_folder(host: Host, folder: Path) -> QDialog:
    """Ask for the files to take from a folder."""
    from pura_audit.workbench.questions import FolderDialog

    return opened(FolderDialog(host.session, folder, host.frame))


def show_left_out(host: Host) -> QDialog | None:
    """Show the names that were left out of the last folder, and why."""
    from pura_audit.session.texts import left_out_table
    from pura_audit.widgets.working_dialog import TableDialog

    summary = host.session.texts.left_out
    if summary is None or not summary.total_skipped:
        host.say(translate("Folder", "Nothing was left out of a folder so far."))
        return None
    headers, rows, explanation = left_out_table(summary)
    return opened(
        TableDialog(
            translate("Folder", "What was left out"), headers, rows, explanation, host.frame
        )
    )


def show_reading(host: Host) -> QDialog | None:
    """Show how the file on screen is read, and offer to change it."""
    from pura_audit.workbench.questions import ReadingDialog

    item = host.session.texts.current
    if item is None or item.path is None or item.active:
        host.say(translate("Reading", "Choose a text that came from a file first."))
        return None
    return opened(ReadingDialog(host.session, item, host.frame))


def show_details(host: Host) -> QDialog | None:
    """Show the finding in full."""
    from pura_audit.workbench.answer import next_words
    from pura_audit.workbench.details import details_dialog

    audit, item = host.selection.audit, host.session.texts.current
    if audit is None or item is None:
        return None
    return opened(details_dialog(audit, host.theme, next_words(item), host.frame))


def show_candidates(host: Host) -> QDialog | None:
    """Show the ranked payloads."""
    from pura_audit.widgets.working_dialog import TableDialog
    from pura_audit.workbench.details import candidate_table

    audit = host.selection.audit
    if audit is None or not audit.finding.marks:
        return None
    headers, rows, explanation = candidate_table(audit, host.selection.mark or 0)
    return opened(
        TableDialog(translate("Dialog", "Candidates"), headers, rows, explanation, host.frame)
    )


def show_compared(host: Host) -> QDialog | None:
    """Show the two propositions that the number compares."""
    from pura_audit.workbench.details import compared_dialog

    audit = host.selection.audit
    return None if audit is None else opened(compared_dialog(audit, host.frame))


def show_table(host: Host, card: PlotCard) -> QDialog:
    """Show the table behind a plot."""
    from pura_audit.widgets.working_dialog import TableDialog

    headers, rows = card.table()
    return opened(TableDialog(card.title.text(), headers, rows, card.summary(), host.frame))


MAX_BYTES: Final = 4 << 20  # of a JSON file that is read to find out what it is


def texts_of(host: Host, paths: Sequence[Path]) -> list[Path]:
    """Open the dialog for the first file that is not a text; return the texts."""
    texts = []
    opened = False
    for path in paths:
        open_file = _act_of(path, is_only=len(paths) == 1)
        if open_file is None:
            texts.append(path)
        elif not opened:
            opened = True
            open_file(host, path)
        else:
            template = translate("Dropped", "“{file:text}” is no text: open it by itself.")
            host.say(filled(template, file=path.name))
    return texts


def _act_of(path: Path, *, is_only: bool) -> Callable[[Host, Path], object] | None:
    match path.suffix.lower():
        case end if end == BUNDLE:
            return setup.show_bundle
        case end if end == CASE:
            return lambda host, file: show_cases(host).import_file(file)
        case end if end == KEY:
            return show_keys
        case ".jws":
            return check_statement
        case ".json" if is_only:  # of many, none is looked into: they are texts
            return _json_act(path)
    return None


def _json_act(path: Path) -> Callable[[Host, Path], object] | None:
    """Return the action for a JSON file by its fields; None for records and other texts."""
    try:
        document: Any = json.loads(read_bounded(path, MAX_BYTES))
    except (PuraError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    if document.get("schema") in (POLICY, POWER):
        return _say_whose
    answer = document.get("answer", document)
    if isinstance(answer, dict) and isinstance(answer.get("statement"), str):
        return check_statement
    if {"scheme", "payload_bits"} <= document.keys():
        return lambda host, file: show_profiles(host).take_in(file)
    return None


def _say_whose(host: Host, path: Path) -> None:
    template = translate(
        "Dropped",
        "“{file:text}” is a rule of the organisation, not a text: whoever administers this "
        "computer puts it in place (guide, For administrators).",
    )
    host.say(filled(template, file=path.name))
