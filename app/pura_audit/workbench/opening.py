"""What each command opens, and what a dropped file that is no text opens."""

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
    """Show the keys; the import of a file is asked for at once.

    Whoever came for that alone is back where it was asked for when it is over.
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
    """Ask for what a set-up of one's own takes."""
    return opened(setup.SetupDialog(host.session, host.frame))


def show_several_keys(host: Host) -> QDialog:
    """Ask which keys every audit tries."""
    return opened(setup.SeveralKeysDialog(host.session, host.frame))


def save_setup(host: Host) -> QDialog:
    """Ask for the name under which what is chosen is stored as a set-up."""
    return opened(setup.SaveSetupDialog(host.session, host.frame))


def show_settings(host: Host, field: str = "") -> QDialog:
    """Show the settings, at one of their fields."""
    from pura_audit.settings import SettingsDialog

    dialog = opened(SettingsDialog(host))
    dialog.language_wanted.connect(lambda name: _speak(host, dialog, name))
    if field:
        dialog.fields()[field].setFocus(Qt.FocusReason.ShortcutFocusReason)
    return dialog


def _speak(host: Host, dialog: QDialog, name: str) -> None:
    """Speak another language, and show the settings again in it; so the guide, at its page."""
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
    """Show the user guide, at one of its pages; it stays open beside the work."""
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
    """Return words and keys of every action that has a shortcut."""
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
    """Show every version."""
    from pura_audit.workbench.guide import about_dialog

    return opened(about_dialog(host.session, host.frame))


def show_log(host: Host) -> None:
    """Open the folder of the log file."""
    from pura_audit.platform.diagnostics import log_folder

    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_folder())))


def ask_diagnostic_file(host: Host) -> QFileDialog:
    """Ask where the file goes that somebody may send to the people who maintain the program."""
    return ask_target(
        host.frame,
        translate("Menu", "Save a diagnostic file"),
        partial(save_diagnostic_file, host),
        translate("Menu", "Texts (*.txt)"),
        name="pura-diagnostics.txt",
        suffix="txt",
    )


def save_diagnostic_file(host: Host, path: Path) -> None:
    """Write versions and log into a file; the file dialog has asked about one that is there."""
    from pura_audit.platform.diagnostic_file import diagnostic_text
    from pura_audit.platform.diagnostics import log_folder
    from pura_audit.workbench.guide import facts

    try:
        with os_error_as(InputError, "file.write", name=path.name):
            write_atomic(path, diagnostic_text(log_folder(), facts(host.session)).encode())
    except InputError as error:
        host.say(Failure.of(error))
        return
    words = translate(
        "Menu",
        "Saved as “{file:text}”. It holds versions and the log, and nothing of a text, a payload "
        "or a key.",
    )
    host.say(filled(words, file=path.name))


def report_current(host: Host) -> None:
    """Make a report of the finding on screen, with what the case log knows of it."""
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
        found, saved = case_of(cases.environment, audit.id)
        request = filled_request(cases.environment, found, [saved], base)
        if found.name == UNFILED:
            request = replace(request, case="")  # no name of a case that a reader would know
        return found, request

    def begin(found: tuple[Case, ReportRequest]) -> None:
        report_of_case(host, found[0], (audit,), found[1])

    cases.ask(lambda _: asked(), by_outcome(begin, host.say), host.frame)


def report_items(host: Host, items: Sequence[Item]) -> None:
    """Make one report of several finished rows; records that are not in memory are read first."""
    cases = host.session.cases
    wanted = [(item.name, item.audit, item.finding.id) for item in items if item.finding]

    cases.ask(
        lambda _: [
            (name, open_saved(cases.environment, key) if audit is None else audit)
            for name, audit, key in wanted
        ],
        by_outcome(partial(make_report, host, every=True), host.say),
        host.frame,
    )


def report_of_case(host: Host, case: Case, audits: Sequence[Audit], base: ReportRequest) -> None:
    """Make a report of saved audits; the log notes what became of it."""
    from pura.usecases.reports import note_built

    named = [(audit.input.name, audit) for audit in audits]
    dialog = make_report(host, named, base, every=True)
    assert dialog is not None  # there are audits
    cases, who = host.session.cases, host.session.settings.current.auditor

    def note(built: Built, path: Path) -> None:
        words = translate("Cases", "The case log has noted the report.")
        cases.change(
            lambda _: note_built(cases.environment, case, built, auditor=who),
            by_outcome(lambda _: host.say(words), host.say),
            host.frame,
        )

    dialog.saved.connect(note)


def make_report(
    host: Host,
    audits: Sequence[tuple[str, Audit]] | None = None,
    base: ReportRequest | None = None,
    *,
    every: bool = False,
) -> ReportDialog | None:
    """Make a report of finished audits; the one on screen comes first.

    Args:
        host: The window.
        audits: Names and audits to choose from; None takes those of the list.
        base: What is known beforehand.
        every: All of them are ticked, not the first alone.
    """
    from pura_audit.reports.dialog import ReportDialog

    if audits is None:
        audits = [(i.name, i.audit) for i in current_first(host) if i.audit is not None]
    if not audits:
        host.say(translate("Report", "A report needs a finished audit. Audit a text."))
        return None
    dialog = ReportDialog(host.session, audits, base, host.frame, every=every)
    dialog.sign_wanted.connect(lambda path: sign_report(host, path))

    def written(_: Built, path: Path) -> None:
        named = {audit.id for audit in dialog.form.audits.chosen()}
        for item in host.session.texts.queue.items:
            if item.finding is not None and item.finding.id in named:
                item.report = path

    dialog.saved.connect(written)
    opened(dialog)
    return dialog


def current_first(host: Host) -> list[Item]:
    """Return the rows of the list, the one on screen first."""
    current = host.session.texts.current
    return sorted(host.session.texts.queue.items, key=lambda item: item is not current)


def sign_current(host: Host) -> None:
    """Sign the report that was written of the finding on screen, where it is still there."""
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
        words = translate(
            "Cases", "{n:plural(Saved|{n:count} audits were saved)} to the case “{case:text}”."
        )
        host.say(filled(words, n=count, case=case.name or ""))

    dialog.saved.connect(saved)
    return opened(dialog)


def review_current(host: Host) -> None:
    """Let a second person look at the finding on screen."""
    from pura.usecases.cases import case_of
    from pura_audit.cases.forms import ReviewDialog

    item = host.session.texts.current
    if item is None or item.finding is None or item.status is None:
        host.say(translate("Cases", "Save the finding to a case first (Ctrl+S)."))
        return
    cases, audit = host.session.cases, item.finding.id

    def review(saved: tuple[Case, CaseItem]) -> None:
        opened(ReviewDialog(cases, *saved, host.frame, who=host.session.settings.current.auditor))

    cases.ask(lambda _: case_of(cases.environment, audit), by_outcome(review, host.say), host.frame)


def show_cases(host: Host, case: str = "") -> CasesDialog:
    """Show the cases; the one with an identifier is chosen."""
    from pura_audit.cases.dialog import CasesDialog

    dialog = CasesDialog(host.session, host.frame)
    if case:
        dialog.refresh(case)
    dialog.compare_wanted.connect(lambda audits: compare_audits(host, audits))
    dialog.report_wanted.connect(partial(report_of_case, host))
    opened(dialog)
    return dialog


def compare_audits(host: Host, audits: Sequence[Audit] | None = None) -> QDialog:
    """Compare two finished audits: these, or those of the list, the one on screen first."""
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
    who = host.session.settings.current.auditor or None
    cases.ask(
        lambda _: versions_of(cases.environment, audit, auditor=who),
        by_outcome(partial(compare_audits, host), host.say),
        host.frame,
    )


def show_side_by_side(
    host: Host, audits: Sequence[Audit] = (), first: int = 0, second: int = 1
) -> SideBySideDialog | None:
    """Show two texts of the list beside each other; says so where there are not two.

    Args:
        host: The window.
        audits: Audits whose texts are shown; without any, the text on screen and the one after it.
        first: Which of them is the first text.
        second: Which is the second.
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
    """Write a marked text with the chosen set-up; says what is missing."""
    from pura_audit.workbench.issued_view import IssuedView, no_profile
    from pura_audit.workbench.mark_dialog import MarkDialog

    session, chosen = host.session, host.session.chosen
    choice = chosen.profile
    if choice is None or choice.profile.foreign is not None or chosen.key is None:
        host.say(no_profile())
        return
    profile = choice.profile
    own = chosen.key_of(profile)
    if own is None or all(key.fingerprint != own.fingerprint for key in chosen.found.keys):
        own = chosen.key.ref  # the key that the profile names is not here

    def begin() -> None:
        dialog = MarkDialog(session, profile, own, host.frame)
        name = translate("Mark", "Marked text")  # not for whom: the audit is to find that
        dialog.audit_wanted.connect(lambda text: session.texts.add_text(text, name))
        for view in host.frame.findChildren(IssuedView):
            dialog.noted.connect(view.refresh)
        opened(dialog)

    unlocked(session, host.frame, begin)


def do_step(host: Host, name: str) -> None:
    """Do a step of the finding on screen: save, review, report or sign; or say why not yet."""
    from pura_audit.workbench.answer import waits_words

    item = host.session.texts.current
    if item is not None and (words := waits_words(item, name)):
        host.say(words)
        return
    acts: dict[str, Callable[[Host], object]] = {
        "save": save_to_case,
        "review": review_current,
        "report": report_current,
        "sign": sign_current,
    }
    acts[name](host)


def open_folder(host: Host) -> QFileDialog:
    """Ask which folder, and then what to take of it."""
    return ask_folder(
        host.frame,
        translate("Folder", "Open a folder"),
        lambda path: choose_of_folder(host, path),
    )


def choose_of_folder(host: Host, folder: Path) -> QDialog:
    """Ask what to take of a folder."""
    from pura_audit.workbench.questions import FolderDialog

    return opened(FolderDialog(host.session, folder, host.frame))


def show_left_out(host: Host) -> QDialog | None:
    """Show what the last folder held that was not taken, and why."""
    from pura_audit.session.texts import left_out_table
    from pura_audit.widgets.working_dialog import TableDialog

    summary = host.session.texts.left_out
    if summary is None or not summary.total_skipped:
        host.say(translate("Folder", "Nothing was left out of a folder so far."))
        return None
    headers, rows, words = left_out_table(summary)
    return opened(
        TableDialog(translate("Folder", "What was left out"), headers, rows, words, host.frame)
    )


def show_reading(host: Host) -> QDialog | None:
    """Show how the file on screen is read, and let it be read otherwise."""
    from pura_audit.workbench.questions import ReadingDialog

    item = host.session.texts.current
    if item is None or item.path is None or item.active:
        host.say(translate("Reading", "Choose a text that came from a file first."))
        return None
    return opened(ReadingDialog(host.session, item, host.frame))


def show_details(host: Host) -> QDialog | None:
    """Show the finding in full: its first page, and what it rests on behind headings."""
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
    headers, rows, words = candidate_table(audit, host.selection.mark or 0)
    return opened(TableDialog(translate("Dialog", "Candidates"), headers, rows, words, host.frame))


def show_compared(host: Host) -> QDialog | None:
    """Show the two propositions that the number compares, in full."""
    from pura_audit.workbench.details import compared_dialog

    audit = host.selection.audit
    return None if audit is None else opened(compared_dialog(audit, host.frame))


def show_table(host: Host, card: PlotCard) -> QDialog:
    """Show the table twin of a plot."""
    from pura_audit.widgets.working_dialog import TableDialog

    headers, rows = card.table()
    return opened(TableDialog(card.title.text(), headers, rows, card.summary(), host.frame))


MAX_BYTES: Final = 4 << 20


def texts_of(host: Host, paths: Sequence[Path]) -> list[Path]:
    """Open what the first file is for that is no text; return the files that are texts."""
    texts = []
    opened = False
    for path in paths:
        act = _act_of(path, alone=len(paths) == 1)
        if act is None:
            texts.append(path)
        elif not opened:
            opened = True
            act(host, path)
        else:
            words = translate("Dropped", "“{file:text}” is no text: open it by itself.")
            host.say(filled(words, file=path.name))
    return texts


def _act_of(path: Path, *, alone: bool) -> Callable[[Host, Path], object] | None:
    match path.suffix.lower():
        case end if end == BUNDLE:
            return setup.show_bundle
        case end if end == CASE:
            return lambda host, file: show_cases(host).import_file(file)
        case end if end == KEY:
            return show_keys
        case ".jws":
            return check_statement
        case ".json" if alone:  # of many, none is looked into: they are texts
            return _json_act(path)
    return None


def _json_act(path: Path) -> Callable[[Host, Path], object] | None:
    """Tell by its first fields what a JSON file is; a record and all others are read as texts."""
    try:
        data: Any = json.loads(read_bounded(path, MAX_BYTES))
    except (PuraError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    if data.get("schema") in (POLICY, POWER):
        return _say_whose
    answer = data.get("answer", data)
    if isinstance(answer, dict) and isinstance(answer.get("statement"), str):
        return check_statement
    if {"scheme", "payload_bits"} <= data.keys():
        return lambda host, file: show_profiles(host).take_in(file)
    return None


def _say_whose(host: Host, path: Path) -> None:
    words = translate(
        "Dropped",
        "“{file:text}” is a rule of the organisation, not a text: whoever administers this "
        "computer puts it in place (guide, For administrators).",
    )
    host.say(filled(words, file=path.name))
