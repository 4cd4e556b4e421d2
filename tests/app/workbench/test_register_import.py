"""A table of issued payloads, taken in from the menu."""

from pathlib import Path
from typing import Any

from pura.register.store import Register
from pura_audit.workbench import opening


def take_in(window: Any, table: Path) -> None:
    dialog = opening.import_register(window)
    dialog.fileSelected.emit(str(table))
    dialog.close()


def test_rows_of_a_table_are_in_the_register_afterwards(window, qtbot, tmp_path, paths):
    table = tmp_path / "issued.csv"
    bits = window.session.chosen.profile.profile.payload_bits
    rows = [f"{'0' * (bits - 1)}1,customer 1,2026-01-02,m", f"{'1' * bits},customer 2,,m"]
    table.write_text("\n".join(["payload,who,when,model", *rows, ""]), encoding="utf-8")
    take_in(window, table)
    words = window.status.words
    qtbot.waitUntil(lambda: words.text() == "2 entries were added to the register; it has 2 now.")
    with Register(paths.register, read_only=True) as register:
        assert [entry.issue.who for entry in register.entries()] == ["customer 1", "customer 2"]
    table.write_text("payload,who,when,model\n0xZZ,customer 3,,m\n", encoding="utf-8")
    take_in(window, table)
    qtbot.waitUntil(lambda: "2" in words.text() and "entries" not in words.text())
    with Register(paths.register, read_only=True) as register:
        assert len(register) == 2
