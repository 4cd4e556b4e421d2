"""Commands on the texts and on the finding on screen: what each opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QFileDialog

from pura_audit.platform.i18n import translate
from pura_audit.widgets.ask_file import ask_folder
from pura_audit.widgets.form_dialog import opened
from pura_audit.workbench.frame.case_commands import review_current, save_to_case
from pura_audit.workbench.frame.report_commands import report_current, sign_current

if TYPE_CHECKING:
    from pura_audit.widgets.form_dialog import Host
    from pura_audit.widgets.plot_card import PlotCard


def do_step(host: Host, name: str) -> None:
    """Do a step of the finding on screen: save, review, report or sign."""
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
    from pura_audit.workbench.dialogs.questions import FolderDialog

    return opened(FolderDialog(host.session, folder, host.frame))


def show_left_out(host: Host) -> QDialog | None:
    """Show what the last folder held that was not taken, and why."""
    from pura_audit.session.texts import left_out_table
    from pura_audit.widgets.table_dialog import TableDialog

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
    from pura_audit.workbench.dialogs.reading import ReadingDialog

    item = host.session.texts.current
    if item is None or item.path is None or item.active:
        host.say(translate("Reading", "Choose a text that came from a file first."))
        return None
    return opened(ReadingDialog(host.session, item, host.frame))


def show_details(host: Host) -> QDialog | None:
    """Show the finding in full: its first page, and what it rests on behind headings."""
    from pura_audit.workbench.answer.answer_view import next_words
    from pura_audit.workbench.dialogs.details import DetailsDialog

    audit, item = host.selection.audit, host.session.texts.current
    if audit is None or item is None:
        return None
    return opened(DetailsDialog(audit, host.theme, next_words(item), host.frame))


def show_candidates(host: Host) -> QDialog | None:
    """Show the ranked payloads."""
    from pura_audit.widgets.table_dialog import TableDialog
    from pura_audit.workbench.dialogs.compare import candidate_table

    audit = host.selection.audit
    if audit is None or not audit.finding.marks:
        return None
    headers, rows, words = candidate_table(audit, host.selection.mark or 0)
    return opened(TableDialog(translate("Dialog", "Candidates"), headers, rows, words, host.frame))


def show_compared(host: Host) -> QDialog | None:
    """Show the two propositions that the number compares, in full."""
    from pura_audit.workbench.dialogs.compare import ComparedDialog

    audit = host.selection.audit
    return None if audit is None else opened(ComparedDialog(audit, host.frame))


def show_table(host: Host, card: PlotCard) -> QDialog:
    """Show the table twin of a plot."""
    from pura_audit.widgets.table_dialog import TableDialog

    headers, rows = card.table()
    return opened(TableDialog(card.title.text(), headers, rows, card.summary(), host.frame))


def stress_text(host: Host) -> QDialog | None:
    """Stress the text on screen; says why where its payload is not known."""
    from pura_audit.stress import StressDialog, StressedText

    item, audit = host.session.texts.current, host.selection.audit
    text = item.document.text if item is not None and item.document is not None else None
    stressed = StressedText.of(audit, text) if audit is not None else None
    if stressed is None:
        host.say(translate("Stress", "Stressing takes a text in which a mark was found."))
        return None
    return opened(StressDialog(host.session, stressed, host.theme, host.frame))
