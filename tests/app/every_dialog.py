"""Every dialog of the window, for the tests that walk over all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QDialog

from pura.base.paths import user_paths
from pura.caselog import CaseLog, find_case, open_case, save_audit
from pura_audit.cases.forms import EventDialog, ReviewDialog
from pura_audit.session.queue_model import Item
from pura_audit.stores.key_forms import KeyAct
from pura_audit.stores.models import FitnessDialog
from pura_audit.stores.power import PowerDialog, PowerTablesDialog
from pura_audit.stores.profile_editor import ProfileEditor
from pura_audit.workbench import opening
from pura_audit.workbench.questions import ReadingDialog, closing_question
from pura_audit.workbench.setup import show_bundle


def opened(dialog: QDialog) -> QDialog:
    dialog.open()
    return dialog


def reading_dialog(window: Any) -> QDialog:
    item = Item(number=0, name="memo.txt", path=Path(__file__))
    return opened(ReadingDialog(window.session, item, window))


def second_person(window: Any) -> QDialog:
    audit = window.session.texts.current.audit
    with CaseLog(user_paths().caselog, create=True) as log:
        anna = log.person("Anna")
        case = find_case(log, "Thesis") or open_case(log, "Thesis", anna)
        item = case.items[0] if case.items else save_audit(log, case.id, audit, anna)
    return opened(ReviewDialog(window.session.cases, case, item, window))


def beside(window: Any) -> QDialog | None:
    audit = window.session.texts.current.audit
    return opening.show_side_by_side(window, [audit, audit])


def opened_dialogs(window: Any) -> dict[str, Callable[[], QDialog | None]]:
    """Every dialog of the window, by name; a new one is one line more."""

    def asked(act: Callable[[], object]) -> Callable[[], QDialog]:
        def find() -> QDialog:
            before = set(window.findChildren(QDialog))
            act()
            return next(d for d in window.findChildren(QDialog) if d not in before)

        return find

    def key_dialogs() -> Any:
        return opening.show_keys(window)

    return {
        "about": lambda: opening.show_about(window),
        "shortcuts": lambda: opening.show_shortcuts(window),
        "palette": asked(window.actions_by_name["palette"].trigger),
        "details": lambda: opening.show_details(window),
        "compared": lambda: opening.show_compared(window),
        "candidates": lambda: opening.show_candidates(window),
        "settings": lambda: opening.show_settings(window),
        "reading": lambda: reading_dialog(window),
        "guide": lambda: opening.show_guide(window),
        "table": lambda: opening.show_table(window, window.evidence.bits),
        "stress": lambda: opening.stress_text(window),
        "compare": lambda: opening.compare_audits(window),
        "side by side": lambda: beside(window),
        "report": lambda: opening.make_report(window),
        "save to a case": lambda: opening.save_to_case(window),
        "cases": lambda: opening.show_cases(window),
        "new case": lambda: opening.show_cases(window).ask_new(),
        "import of a case": lambda: opening.show_cases(window).ask_import(),
        "second person": lambda: second_person(window),
        "event of a case": lambda: opened(EventDialog(window)),
        "check of the log": opening.show_cases(window).acts.check_log,
        "sign a report": lambda: opening.sign_report(window),
        "verify a report": lambda: opening.verify_report(window),
        "statement": lambda: opening.check_statement(window),
        "open files": asked(window.open_files),
        "bundle": lambda: show_bundle(window, Path("team.purateam")),
        "folder": lambda: opening.choose_of_folder(window, Path("texts")),
        "issued payloads": lambda: opening.import_register(window),
        "keys": lambda: opening.show_keys(window),
        "new key": lambda: key_dialogs().ask(KeyAct.NEW),
        "key to import": lambda: key_dialogs().ask(KeyAct.IMPORT),
        "deployment key": lambda: key_dialogs().ask(KeyAct.DERIVE),
        "name of a key": lambda: key_dialogs().ask(KeyAct.RENAME),
        "note on a key": lambda: key_dialogs().ask(KeyAct.NOTE),
        "new passphrase": lambda: key_dialogs().ask(KeyAct.EXPORT),
        "deletion of a key": lambda: key_dialogs().ask(KeyAct.DELETE),
        "name of a profile": window.setup.ask_profile,
        "folder of a model": window.setup.ask_model,
        "file of a profile": window.setup.ask_profile_file,
        "models": lambda: opening.show_models(window),
        "profiles": lambda: opening.show_profiles(window),
        "new profile": lambda: opened(ProfileEditor(window.session, None, window)),
        "profile of a mark by others": lambda: opening.show_profiles(window).ask_foreign(),
        "fitness": lambda: opened(FitnessDialog(window.session, "tiny", window)),
        "power": lambda: opened(PowerDialog(window.session, "tiny", window)),
        "power tables": lambda: opened(PowerTablesDialog(window.session, "tiny", window)),
        "closing": lambda: closing_question(
            window, window.cancel_and_close, running=True, installing=True, unkept=0
        ),
    }
