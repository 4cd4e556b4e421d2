"""The settings dialog: what is chosen holds at once, is kept, and is there again."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea

from pura.base.paths import Paths
from pura.detect.verdict.policy import Policy
from pura_audit import application
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.choices import AuditEngine
from pura_audit.settings import policy_rows
from pura_audit.theme.theme import DARK
from pura_audit.workbench import opening

DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture
def dialog(window, qtbot):
    made = opening.show_settings(window)
    qtbot.addWidget(made)
    return made


@pytest.fixture(autouse=True)
def usual_log_level() -> Iterator[None]:
    before = logging.getLogger().level
    yield
    logging.getLogger().setLevel(before)


def choose(box: Any, value: str) -> None:
    """Choose as a person does: the signal only comes from a person."""
    place = box.findData(value)
    assert place >= 0
    box.setCurrentIndex(place)
    box.activated.emit(place)


def test_colours_and_text_size_hold_at_once(window, dialog):
    choose(dialog.theme, "dark")
    assert window.theme.tokens == DARK
    dialog.text_size.setValue(20)
    assert window.work.text.view.text_size == 20
    kept = SettingsFile(window.session.settings.path.parent).current
    assert (kept.theme, kept.text_size) == ("dark", 20)
    assert not dialog.later.isVisibleTo(dialog)


def test_what_holds_from_the_next_start_says_so(window):
    for box, value in (("device", "cpu"), ("dtype", "bfloat16")):
        dialog = opening.show_settings(window)  # it is gone when it closes
        assert not dialog.later.isVisibleTo(dialog)
        choose(getattr(dialog, box), value)
        assert dialog.later.isVisibleTo(dialog)
        assert getattr(window.session.settings.current, box) == value
        dialog.close()


def test_recent_files_can_be_forgotten_and_switched_off(window, qtbot, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Some words.", encoding="utf-8")
    window.session.texts.add_paths([path])
    qtbot.waitUntil(lambda: window.session.texts.current.document is not None)
    made = opening.show_settings(window)
    qtbot.addWidget(made)
    assert made.clear.isEnabled()
    qtbot.mouseClick(made.clear, Qt.MouseButton.LeftButton)
    assert window.session.settings.current.recent == ()
    assert not made.clear.isEnabled()
    made.recent.setChecked(False)
    assert not window.session.settings.current.keep_recent


def test_the_log_level_holds_at_once(window, dialog):
    choose(dialog.log_level, "error")
    assert logging.getLogger().level == logging.ERROR


def test_the_rule_is_shown_with_the_false_alarms_to_expect():
    rows = dict(policy_rows(Policy(yearly_volume=50_000)))
    assert "1 in 1,000,000" in rows["A mark is found"]
    assert rows["False alarms expected"] == "at most 0.05 a year, of 50,000 texts"
    assert "unknown" in dict(policy_rows(Policy()))["False alarms expected"]
    assert "Issued payloads" not in rows
    own = dict(policy_rows(Policy(power_tables=("a" * 64, "b" * 64))))["Own measurements"]
    assert own == "2 tables of power"
    issued = dict(policy_rows(Policy(register_prior=0.5)))["Issued payloads"]
    assert issued == "share 0.50 of the prior weight"


def test_device_and_numbers_of_the_settings_reach_the_engine(tmp_path, monkeypatch, qapp):
    paths = Paths(data=tmp_path / "d", config=tmp_path / "c", state=tmp_path / "s")
    SettingsFile(paths.config).update(device="cpu", dtype="float16")
    seen: list[tuple[str, str]] = []
    real = AuditEngine.__init__

    def noted(self: Any, *args: Any, **more: Any) -> None:
        real(self, *args, **more)
        seen.append((self.environment.device, self.environment.dtype))

    monkeypatch.setattr(AuditEngine, "__init__", noted)
    for device in (None, "auto"):
        window = application.make_window(paths, device=device)
        window.session.close()
        window.close()
    assert seen == [("cpu", "float16"), ("auto", "float16")]


def test_the_page_scrolls_on_a_small_screen(dialog):
    assert dialog.minimumSizeHint().height() <= 560
    dialog.resize(680, 560)
    dialog.show()
    area = dialog.findChild(QScrollArea)
    assert area.verticalScrollBar().maximum() > 0
    assert area.widget().width() <= area.viewport().width()


def test_a_list_of_trusted_signers_is_kept_and_taken_away(window, dialog, qtbot, tmp_path):
    paths = window.session.environment.paths
    qtbot.waitUntil(lambda: dialog.signers.text() == "nobody is trusted")
    assert not dialog.no_signers.isEnabled()
    wrong = tmp_path / "letter.txt"
    wrong.write_text("no certificate", encoding="utf-8")
    dialog.keep_signers(wrong)
    qtbot.waitUntil(lambda: "holds no certificates" in dialog.signers.text())
    assert not paths.trust.exists()
    trust = DATA / "manifests" / "trust.pem"
    dialog.keep_signers(trust)
    qtbot.waitUntil(lambda: dialog.signers.text() == "one certificate trusted")
    assert paths.trust.read_bytes() == trust.read_bytes()
    # A text that is opened now is stated as of a trusted signer, beside its finding.
    window.session.texts.add_paths([DATA / "manifests" / "agrees.html"])
    qtbot.waitUntil(lambda: window.session.texts.current.document is not None)
    (found,) = window.session.texts.current.document.manifests
    assert (found.form, found.state) == ("a7", "valid")
    qtbot.mouseClick(dialog.no_signers, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.signers.text() == "nobody is trusted")
    assert not paths.trust.exists()
