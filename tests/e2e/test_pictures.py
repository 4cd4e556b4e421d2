"""The pictures of README and guide show the program as it is."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QScrollBar, QVBoxLayout, QWidget

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    """The script that takes the pictures, as a module."""
    path = ROOT / "packaging" / "site" / "pictures.py"
    spec = importlib.util.spec_from_file_location("pictures_script", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_picture_tells_when_it_is_older_than_what_it_shows(pictures, qtbot, tmp_path):
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    button, finding = QPushButton("Save report"), QLabel("12 of 36 bits, 0.4 s")
    for widget in (button, finding):
        layout.addWidget(widget)
    page.show()
    path = pictures.paint(page, tmp_path / "page.png")
    assert pictures.shown_in(path) == pictures.shown(page) != ""
    finding.setText("14 of 36 bits, 0.9 s")  # another machine
    page.setStyleSheet("* { font-size: 30px; }")
    page.resize(900, 700)
    bar = QScrollBar(page)
    bar.show()
    assert pictures.shown_in(path) == pictures.shown(page)
    button.setText("Save the report")
    assert pictures.shown_in(path) != pictures.shown(page)
    button.setText("Save report")
    more = QPushButton("Sign")
    layout.addWidget(more)
    more.show()
    assert pictures.shown_in(path) != pictures.shown(page)


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.model
def test_the_pages_show_the_program_of_now(pictures, qapp, builtin_files, monkeypatch):
    monkeypatch.chdir(ROOT)
    shown = pictures.in_pages()
    assert "audit-light" in shown
    assert pictures.Pictures(models=builtin_files.parent).old(shown) == []
