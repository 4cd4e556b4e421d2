"""Every dialog of the window, for the tests that walk over all of them."""

from collections.abc import Callable
from functools import partial
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

OPENERS = """
    show_about show_shortcuts show_details show_compared show_candidates show_settings
    show_guide compare_audits make_report save_to_case show_cases sign_report
    verify_report check_statement show_keys show_models show_profiles show_several_keys save_setup
"""


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

    names = OPENERS.split()
    simple = {name: partial(getattr(opening, name), window) for name in names}
    keys = {f"{act} key": lambda act=act: opening.show_keys(window).ask(act) for act in KeyAct}
    return (
        simple
        | keys
        | {
            "palette": asked(window.actions_by_name["palette"].trigger),
            "reading": lambda: reading_dialog(window),
            "table": lambda: opening.show_table(window, window.evidence.bits),
            "side by side": lambda: beside(window),
            "new case": lambda: opening.show_cases(window).ask_new(),
            "import of a case": lambda: opening.show_cases(window).ask_import(),
            "second person": lambda: second_person(window),
            "event of a case": lambda: opened(EventDialog(window)),
            "check of the log": opening.show_cases(window).acts.check_log,
            "open files": asked(window.open_files),
            "mark a text": asked(partial(opening.mark_text, window)),
            "import of issued payloads": window.import_issued,
            "bundle": lambda: show_bundle(window, Path("team.purateam")),
            "folder": lambda: opening.choose_of_folder(window, Path("texts")),
            "set-up": lambda: opening.show_setup(window),
            "new profile": lambda: opened(ProfileEditor(window.session, None, window)),
            "profile of a mark by others": lambda: opening.show_profiles(window).ask_foreign(),
            "fitness": lambda: opened(FitnessDialog(window.session, "tiny", window)),
            "power": lambda: opened(PowerDialog(window.session, "tiny", window)),
            "power tables": lambda: opened(PowerTablesDialog(window.session, "tiny", window)),
            "closing": lambda: closing_question(
                window, window.cancel_and_close, running=True, installing=True, unkept=0
            ),
        }
    )
