"""Every door of the window by which a mark becomes a name names the recipient of that mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from PySide6.QtWidgets import QLabel
from tests.app.conftest import TestEngine
from tests.core.register import test_doors as core_doors
from tests.core.register.cells import (
    CELLS,
    KEYS,
    PAYLOAD,
    PROFILES,
    Cell,
    Door,
    Home,
    homes,
    named_in,
    place_of,
    record_of,
    record_of_several,
    strays,
    unlisted,
    without_doors,
)

from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey
from pura.usecases.registers import select_issued
from pura_audit.session.selection import Selection
from pura_audit.theme.theme import Theme
from pura_audit.workbench.answer import AnswerView, MarkList
from pura_audit.workbench.details import candidate_table, wording
from pura_audit.workbench.issued_view import IssuedModel

ROOT = Path(__file__).parents[3]


def labels_of(card: AnswerView | MarkList, audit: Audit) -> str:
    """Return what a card says of a record."""
    card.show_audit(audit)
    words = [one.text() for one in card.findChildren(QLabel)]
    card.deleteLater()
    return " ".join(words)


def answer(asked: Cell, home: Home, _: Path) -> set[str]:
    return named_in(labels_of(AnswerView(Selection(), Theme()), record_of(asked, home)))


def answer_of_several(asked: Cell, home: Home, _: Path) -> set[str]:
    """Nobody is named on the card where there are several marks: each has its own lines."""
    audit = record_of_several(asked, home)
    cards = AnswerView(Selection(), Theme()), MarkList(Selection(), Theme())
    return {who for card in cards for who in named_in(labels_of(card, audit))}


def details(asked: Cell, home: Home, _: Path) -> set[str]:
    return named_in(wording(record_of(asked, home)))


def candidates(asked: Cell, home: Home, _: Path) -> set[str]:
    """The candidates beside the mark's own are the same bits under other keys: other marks."""
    _, rows, _ = candidate_table(record_of(asked, home))
    assert named_in(rows[1:]) == set()
    return named_in(rows)


def candidates_of_one_among_several(asked: Cell, home: Home, _: Path) -> set[str]:
    _, rows, _ = candidate_table(record_of_several(asked, home), place_of(asked))
    return named_in(rows)


def issued(asked: Cell, home: Home, _: Path) -> set[str]:
    """A row of the table shows its key with the epoch, and fields of the set-up's profile only."""
    model, names = IssuedModel(), {key.fingerprint: f"key {n}" for n, key in enumerate(KEYS)}
    model.show_rows(
        select_issued(home.environment, profile=asked.profile).rows, asked.profile, names
    )
    shown = []
    for row in range(model.rowCount()):
        cells = {name: model.cell(row, at) for at, name in enumerate(model.columns)}
        of_profile = any(cells[field.name] for field in asked.profile.fields)
        if of_profile and cells["key"] == f"{names[asked.root.fingerprint]} {asked.epoch}":
            shown.append(cells["who"])
    model.deleteLater()
    return named_in(shown)


DOORS: Final[Mapping[str, Door]] = {
    "answer": Door(shows=answer),
    "answer of several marks": Door(shows=answer_of_several, names=False),
    "details": Door(shows=details),
    "candidates": Door(shows=candidates),
    "candidates of several marks": Door(shows=candidates_of_one_among_several),
    "table of issued payloads": Door(shows=issued),
}
"""Every way by which the window makes a name of a mark, but *Who got this?*, which needs it."""
WHO_GOT_THIS: Final = "who got this"


@pytest.fixture(scope="module")
def each_home(tmp_path_factory: pytest.TempPathFactory) -> list[Home]:
    return homes(tmp_path_factory.mktemp("homes"))


@pytest.mark.parametrize("name", DOORS)
def test_a_door_names_the_recipient_of_the_mark_and_nobody_else(
    name: str, each_home: list[Home], tmp_path: Path, qtbot: Any
) -> None:
    assert strays(DOORS[name], each_home, tmp_path) == []


@pytest.mark.parametrize("root", KEYS, ids=("newsroom", "archive"))
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_who_got_this_names_the_recipient_of_the_mark_and_nobody_else(
    root: SecretKey,
    profile: Profile,
    each_home: list[Home],
    tmp_path: Path,
    start: Callable[..., Any],
    engine: TestEngine,
    qtbot: Any,
) -> None:
    """The set-up says key and profile, whoever looks says epoch and payload."""
    engine.profile, engine.key = profile, root
    window = start()
    qtbot.waitUntil(lambda: window.session.chosen.ready)
    window.toggle_issued()
    view = window.issued
    qtbot.waitUntil(lambda: view.form.isVisible() and view.key is not None)

    def shows(asked: Cell, home: Home, _: Path) -> set[str]:
        window.session.environment = home.environment
        view.form.whole.setText(PAYLOAD.text)
        view.form.whole.textEdited.emit(PAYLOAD.text)
        view.epoch.set_text(asked.epoch)
        view.answer.say("")
        view.ask.click()
        qtbot.waitUntil(lambda: bool(view.answer.text()))
        return named_in(view.answer.text())

    of_setup = [cell for cell in CELLS if (cell.root, cell.profile) == (root, profile)]
    assert strays(Door(shows=shows), each_home, tmp_path, of_setup) == []


# No door is forgotten

_WRITES: Final = "writes down the recipient that somebody typed"

BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "pura_audit.workbench.answer:payload_lines": ("answer",),
    "pura_audit.workbench.details:candidate_table": ("candidates", "candidates of several marks"),
    "pura_audit.workbench.issued_view:": ("table of issued payloads",),
    "pura_audit.workbench.issued_view:IssuedModel.cell": ("table of issued payloads",),
    "pura_audit.workbench.issued_view:IssuedModel.show_rows": ("table of issued payloads",),
    "pura_audit.workbench.issued_view:IssuedView.__init__": (WHO_GOT_THIS,),
    "pura_audit.workbench.issued_view:IssuedView._answered": (WHO_GOT_THIS,),
    "pura_audit.workbench.issued_view:IssuedView._follow_profile": ("fields in the table",),
    "pura_audit.workbench.issued_view:IssuedView._show": ("table of issued payloads",),
    "pura_audit.workbench.issued_view:IssuedView.look_up.work": (WHO_GOT_THIS,),
    "pura_audit.workbench.issued_view:IssuedView.refresh": ("table of issued payloads",),
    "pura_audit.workbench.issued_view:IssuedView._wire": (WHO_GOT_THIS,),
    "pura_audit.workbench.issued_view:_no_entry": (WHO_GOT_THIS,),
    "pura_audit.workbench.issued_view:column_words": ("table of issued payloads",),
    "pura_audit.workbench.issued_view:entry_lines": (WHO_GOT_THIS,),
    "pura_audit.workbench.issued_view:key_words": ("table of issued payloads",),
    "pura_audit.workbench.mark_dialog:MarkDialog._written": ("mark a text",),
}
"""Functions that read names, and the doors through which that is walked, here or in the core."""

NAME_NOBODY: Final[Mapping[str, str]] = {
    "pura_audit.cases": "the people are those who work on a case",
    "pura_audit.tools.demo": "prints what finding and report say of a text that it marked itself",
    "pura_audit.workbench.commands:commands": "the name of a command",
    "pura_audit.workbench.mark_dialog:MarkDialog.__init__": _WRITES,
    "pura_audit.workbench.mark_dialog:MarkDialog._lay_out": _WRITES,
    "pura_audit.workbench.mark_dialog:MarkDialog._write": _WRITES,
    "pura_audit.workbench.mark_dialog:MarkDialog.refresh_buttons": _WRITES,
}
"""Functions, modules and packages that touch a register or a person, and name no recipient."""


def test_whoever_reads_names_in_the_window_is_listed_beside_a_door() -> None:
    new, gone = unlisted(ROOT / "app" / "pura_audit", BESIDE, NAME_NOBODY)
    assert new == set(), "list each in BESIDE with the door that walks it, or say why it names none"
    assert gone == set(), "is listed, and reads no name any more"
    assert without_doors(BESIDE, {*DOORS, *core_doors.DOORS, WHO_GOT_THIS}) == {}
