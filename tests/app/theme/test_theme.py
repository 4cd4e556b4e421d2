"""Colours that can be read, settings that survive, flags that work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
)

from pura.base.paths import Paths
from pura_audit.application import make_window
from pura_audit.platform.settings import FILE, MAX_RECENT, SettingsFile, WindowSettings
from pura_audit.theme import fonts
from pura_audit.theme.theme import (
    DARK,
    LIGHT,
    PAIRS,
    Mode,
    contrast,
    edge,
    from_palette,
    stylesheet,
)


def test_contrast_is_the_one_of_wcag():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_can_be_read_on_its_ground(tokens):
    for front, ground, least in PAIRS:
        found = contrast(getattr(tokens, front), getattr(tokens, ground))
        assert found >= least, (front, ground, round(found, 2))
    for ground in (tokens.card, tokens.background):  # where a field is, is seen without its words
        assert contrast(edge(tokens), ground) >= 3
        assert contrast(tokens.accent, ground) >= 3  # the ring of what has the focus
    for level in range(-4, 5):
        found = contrast(tokens.text, tokens.shade(level))
        assert found >= 4.5, (level, round(found, 2))


@pytest.mark.parametrize("highlight", ["#1AEBFF", "#000080", "#3399FF", "#308CC6"])
@pytest.mark.parametrize("dark", [False, True])
def test_high_contrast_comes_from_the_system_s_palette(app, dark, highlight):
    palette = QPalette()
    ground, text = ("#000000", "#FFFF00") if dark else ("#FFFFFF", "#000000")
    for role, colour in (
        (QPalette.ColorRole.Base, ground),
        (QPalette.ColorRole.Text, text),
        (QPalette.ColorRole.Highlight, highlight),
        (QPalette.ColorRole.HighlightedText, "#000000" if dark else "#FFFFFF"),
    ):
        palette.setColor(role, QColor(colour))
    tokens = from_palette(palette)
    assert (tokens.card, tokens.text) == (ground, text)
    for front, below, _ in PAIRS:
        found = contrast(getattr(tokens, front), getattr(tokens, below))
        assert found >= 7, (front, below, round(found, 2))
    assert contrast(edge(tokens), tokens.card) >= 3
    sheet = stylesheet(tokens)
    bar = sheet[sheet.index("QProgressBar {") :].partition("}")[0]
    assert tokens.line not in bar  # what is not done yet must not look done


def test_the_theme_changes_live(window, qtbot):
    window.set_theme(Mode.LIGHT)
    window.set_theme(Mode.DARK)  # before the first one is through
    qtbot.waitUntil(window.updatesEnabled)
    assert window.theme.tokens == DARK
    assert DARK.background in QApplication.instance().styleSheet()
    with qtbot.waitSignal(window.theme.changed):
        window.set_theme(Mode.LIGHT)
    assert window.theme.tokens == LIGHT
    qtbot.waitUntil(window.updatesEnabled)
    assert window.session.settings.current.theme == "light"


def test_what_stands_in_an_empty_field_can_be_read(window, qtbot):
    fields = (QLineEdit(window), QPlainTextEdit(window))
    for mode in (Mode.LIGHT, Mode.DARK, Mode.CONTRAST):
        window.set_theme(mode)
        qtbot.waitUntil(window.updatesEnabled)
        tokens = window.theme.tokens
        for field in fields:
            field.ensurePolished()
            colour = field.palette().placeholderText().color()
            assert colour.alpha() == 255
            assert contrast(colour.name(), tokens.card) >= (7 if mode is Mode.CONTRAST else 4.5)
            assert colour != QColor(tokens.text)  # or it would look typed


def test_a_desktop_that_names_fonts_of_its_own_mixes_none_in(window, app):
    """GNOME and KDE name one for labels, buttons and others."""
    QApplication.setFont(QFont("Serif"), "QLabel")
    made = QLabel("words", window)
    made.ensurePolished()
    assert made.font().family() == fonts.FAMILY
    made.setProperty("face", "mono")
    made.style().polish(made)
    assert made.font().family() == fonts.mono(fonts.BODY).family()
    fonts.use_bundled_fonts(app)
    assert QApplication.font("QLabel").family() == fonts.FAMILY


def test_settings_come_back(tmp_path):
    first = SettingsFile(tmp_path)
    first.update(theme="dark", text_size=18, columns=(700, 400), queue_folded=True)
    assert SettingsFile(tmp_path).current == first.current


@pytest.mark.parametrize("content", ["{", "[]", "\x00", "[" * 100_000, '"text"'])
def test_a_file_that_is_no_settings_file_is_set_aside_and_said(tmp_path, content):
    (tmp_path / FILE).write_text(content, encoding="utf-8")
    found = SettingsFile(tmp_path)
    assert found.current == WindowSettings()
    assert (tmp_path / f"{FILE}.bak").read_text(encoding="utf-8") == content
    assert not (tmp_path / FILE).exists()
    assert f"{FILE}.bak" in found.problems[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "pink"),
        ("text_size", "15"),
        ("text_size", True),
        ("rows", [1, "2"]),
        ("recent", [1]),
        ("keep_recent", "yes"),
        ("queue_folded", 3),
    ],
)
def test_only_a_bad_setting_goes_back_to_what_is_usual(tmp_path, name, value):
    content = json.dumps({"language": "de", name: value})
    (tmp_path / FILE).write_text(content, encoding="utf-8")
    found = SettingsFile(tmp_path)
    assert found.current == WindowSettings(language="de")
    assert (tmp_path / f"{FILE}.bak").read_text(encoding="utf-8") == content
    assert name in found.problems[0]
    assert str(value) not in found.problems[0] or len(str(value)) < 3
    found.update(text_size=20)
    again = SettingsFile(tmp_path)
    assert again.problems == ()
    assert again.current == WindowSettings(language="de", text_size=20)


def test_a_sound_file_gives_no_cause_for_words(tmp_path):
    assert SettingsFile(tmp_path).problems == ()
    SettingsFile(tmp_path).update(theme="dark")
    assert SettingsFile(tmp_path).problems == ()
    assert not list(tmp_path.glob("*.bak"))


def test_the_window_says_what_was_wrong_with_its_settings(qapp, tmp_path):
    config = tmp_path / "c"
    config.mkdir()
    (config / FILE).write_text('{"theme": "pink"}', encoding="utf-8")
    paths = Paths(data=tmp_path / "d", config=config, state=tmp_path / "s")
    window = make_window(paths)
    try:
        assert "theme" in window.status.words.text()
    finally:
        window.session.close()
        window.close()


def test_unknown_settings_of_a_newer_version_do_no_harm(tmp_path):
    (tmp_path / FILE).write_text(json.dumps({"theme": "dark", "new": 1}), encoding="utf-8")
    assert SettingsFile(tmp_path).current.theme == "dark"


def test_recent_files_are_few_and_can_be_off():
    settings = WindowSettings()
    for i in range(20):
        settings = settings.with_recent(Path(f"/x/{i}.txt"))
    assert len(settings.recent) == MAX_RECENT
    assert settings.recent[0] == "/x/19.txt"
    assert WindowSettings(keep_recent=False).with_recent(Path("/x")).recent == ()


def test_version_flag():
    done = subprocess.run(
        [sys.executable, "-m", "pura_audit", "--version"],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    from pura.version import __version__

    assert done.stdout.strip() == f"PURA Audit {__version__}"


def test_a_button_that_cannot_be_pressed_still_shows_its_words(window, qtbot):
    button = window.header.audit
    for mode in (Mode.LIGHT, Mode.DARK, Mode.CONTRAST):
        with qtbot.waitSignal(window.theme.changed):
            window.set_theme(mode)
        assert not button.isEnabled()
        picture = button.grab().toImage()
        middle = picture.height() // 2
        tones = {
            picture.pixelColor(x, y).name()
            for x in range(8, picture.width() - 8)
            for y in range(middle - 5, middle + 5)
        }
        assert max(contrast(a, b) for a in tones for b in tones) >= 4, mode


def test_what_can_be_chosen_is_told_from_its_ground_before_it_is(window, qtbot):
    for kind in (QCheckBox, QRadioButton):
        box = kind("", window)
        box.move(200, 300)
        box.show()
        for mode in (Mode.LIGHT, Mode.DARK, Mode.CONTRAST):
            window.set_theme(mode)
            image = box.grab().toImage()
            tones = {
                image.pixelColor(x, y).name()
                for x in range(image.width())
                for y in range(image.height())
            }
            assert max(contrast(a, b) for a in tones for b in tones) >= 3, (kind, mode)
