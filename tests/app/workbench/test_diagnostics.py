"""The diagnostic file: saved from the menu, and said where it cannot be."""

from pathlib import Path

import pytest

from pura.version import __version__
from pura_audit.platform import diagnostics
from pura_audit.workbench.opening import save_diagnostic_file


@pytest.fixture
def log(tmp_path: Path):
    diagnostics.start(tmp_path / "log", "info")
    yield tmp_path / "log"
    diagnostics.stop()


def test_menu_asks_where_the_file_goes(window, qtbot, log, tmp_path):
    window.actions_by_name["diagnostics"].trigger()
    [dialog] = [one for one in window.findChildren(object) if one.inherits("QFileDialog")]
    dialog.selectFile(str(tmp_path / "saved.txt"))
    dialog.accept()
    qtbot.waitUntil((tmp_path / "saved.txt").is_file)
    text = (tmp_path / "saved.txt").read_text()
    assert text.startswith(f"PURA Audit {__version__}\n")
    assert "pura.base.logs: PURA" in text


def test_missing_folder_is_said(window, log, tmp_path):
    save_diagnostic_file(window, tmp_path / "none" / "saved.txt")
    assert "saved.txt" in window.status.words.text()
