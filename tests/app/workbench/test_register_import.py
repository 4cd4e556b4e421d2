"""A table of issued payloads, taken in from the menu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pura.base.paths import Paths
from pura.register.store import Register
from pura.scheme import Profile
from pura_audit.jobs.engine import PuraEngine
from pura_audit.jobs.messages import Chore
from pura_audit.workbench import dialogs

TABLE = "payload,who,when,model\n0x000000001,customer 1,2026-01-02,m\n0x000000002,customer 2,,m\n"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths(data=tmp_path / "d", config=tmp_path / "c", state=tmp_path / "s")
    found.profiles.mkdir(parents=True)
    profile = Profile(
        payload_bits=36, code="tbcc", vocab_size=49152, tokenizer="b" * 16, model="a" * 16
    )
    (found.profiles / "house.json").write_text(profile.to_json(), encoding="utf-8")
    return found


def take_in(paths: Paths, table: Path) -> str | None:
    chore = Chore(kind="import-register", name="house", path=table)
    return PuraEngine(paths).do(chore, lambda _p: None, lambda: None)


def test_rows_of_a_table_are_in_the_register_afterwards(paths: Paths, tmp_path: Path) -> None:
    table = tmp_path / "issued.csv"
    table.write_text(TABLE, encoding="utf-8")
    assert take_in(paths, table) == "2 entries were added to the register; it has 2 now."
    with Register(paths.register, read_only=True) as register:
        assert [entry.issue.who for entry in register.entries()] == ["customer 1", "customer 2"]


def test_a_bad_row_is_named_and_nothing_is_added(paths: Paths, tmp_path: Path) -> None:
    table = tmp_path / "issued.csv"
    table.write_text(TABLE + "0xZZ,customer 3,,m\n", encoding="utf-8")
    with pytest.raises(Exception, match="4") as caught:
        take_in(paths, table)
    assert getattr(caught.value, "hint", "")
    assert not paths.register.exists() or len(Register(paths.register, read_only=True)) == 0


def test_the_menu_asks_for_the_table_and_says_what_was_done(
    window: Any, qtbot: Any, tmp_path: Path
) -> None:
    dialog = dialogs.import_register(window)
    assert dialog is not None
    with qtbot.waitSignal(window.session.chore_changed):
        dialog.fileSelected.emit(str(tmp_path / "issued.csv"))
    qtbot.waitUntil(lambda: not window.session.jobs.busy)
    dialog.close()
