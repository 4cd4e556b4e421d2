"""The style sheet, made of the colour tokens; nothing else sets colours on widgets."""

from __future__ import annotations

from string import Template
from typing import Final

from pura.base.paths import resource
from pura_audit.theme import fonts
from pura_audit.theme.colours import Colours, contrast, mix, token_names

_SHEET: Final = Template(
    """
/* Or the desktop's theme has its own font for labels, buttons and others. */
* { font-family: "$face"; font-size: 13px; }
*[face="mono"] { font-family: "$mono"; }
QMainWindow, QDialog { background: $background; }
QWidget { color: $text; }
QToolTip { background: $card; color: $text; border: 1px solid $line; padding: 4px 8px; }

#header, #statusline { background: $card; }
#header { border-bottom: 1px solid $line; }
#statusline { border-top: 1px solid $line; }
#statusline QLabel { color: $muted; font-size: 11px; }
#brand { font-size: 15px; font-weight: 600; }

QFrame[role="card"] { background: $card; border: 1px solid $line; border-radius: 8px; }
QLabel[role="answer"] { font-size: 22px; font-weight: 600; }
QLabel[role="reading"] { font-size: 15px; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="label"] { color: $muted; font-size: 11px; }
QLabel[role="small"] { color: $muted; font-size: 11px; }
QLabel[role="value"] { font-weight: 600; }
QLabel[role="attention"] { color: $against; }
QLabel[role="banner"] {
  background: $against; color: $card; font-size: 15px; font-weight: 600; border-radius: 6px;
}
QLabel[role="done"] { color: $found; font-weight: 600; }
QLabel[role="section"] { color: $muted; font-size: 11px; font-weight: 600; }

QPushButton, QToolButton[role="chip"] {
  background: $background; border: 1px solid $line; border-radius: 6px;
  padding: 6px 14px; min-height: 18px;
}
QPushButton:hover, QToolButton[role="chip"]:hover { border-color: $accent; }
QPushButton:focus, QToolButton[role="chip"]:focus { border: 2px solid $accent; padding: 5px 13px; }
QPushButton:pressed { background: $accent_soft; }
QPushButton:disabled { color: $muted; border-color: $line; }
QPushButton[role="main"] {
  background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600;
}
QPushButton[role="main"]:focus { border: 2px solid $text; padding: 5px 13px; }
QPushButton[role="main"]:disabled {
  background: $background; color: $muted; border: 1px dashed $line;
}
QPushButton[role="link"] {
  background: transparent; border: none; color: $accent; padding: 2px 2px; font-weight: 500;
}
QPushButton[role="link"]:hover { text-decoration: underline; }
QPushButton[role="link"]:focus { border: 2px solid $accent; border-radius: 4px; padding: 0px; }
QPushButton[role="step"] {
  background: transparent; border: 2px solid transparent; border-radius: 4px; color: $muted;
  padding: 2px 3px;
}
QPushButton[role="step"][state="done"] { color: $found; }
QPushButton[role="step"][state="bad"] { color: $against; font-weight: 600; }
QPushButton[role="step"][state="next"] { color: $accent; font-weight: 600; }
QPushButton[role="step"]:hover { text-decoration: underline; }
QPushButton[role="step"]:focus { border-color: $accent; }
QPushButton[role="fold"] {
  background: transparent; border: 2px solid transparent; border-radius: 4px;
  padding: 3px 4px 3px 0; font-weight: 600; text-align: left;
}
QPushButton[role="fold"]:hover { color: $accent; }
QPushButton[role="fold"]:focus { border-color: $accent; }
QPushButton[role="fold"]:disabled { color: $muted; }
QPushButton[role="row"] { background: $card; border-radius: 6px; padding: 0; text-align: left; }
QPushButton[role="row"]:checked { background: $accent_soft; border-color: $accent; }
QPushButton[role="row"]:focus { border: 2px solid $accent; padding: 0; }
QSlider { min-height: 22px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $line; }
QSlider::sub-page:horizontal { border-radius: 2px; background: $accent; }
QSlider::handle:horizontal {
  width: 14px; margin: -6px 0; border-radius: 8px; border: 1px solid $accent; background: $card;
}
QSlider::handle:horizontal:focus { border: 3px solid $accent; width: 10px; }
QSlider::sub-page:horizontal:disabled { background: $muted; }
QSlider::handle:horizontal:disabled { border-color: $line; }
QFrame[role="box"] { background: transparent; border: 1px solid $line; border-radius: 6px; }
QFrame[role="rule"] { background: $line; border: none; max-height: 1px; min-height: 1px; }
QToolButton[role="chip"] { border-radius: 15px; padding: 5px 12px; }
QToolButton[role="chip"]:focus { padding: 4px 11px; }
QToolButton[role="chip"]::menu-indicator { image: none; width: 0; }
QToolButton[role="chip"][missing="true"] { color: $against; border-color: $against; }
QToolButton[role="quiet"] {
  background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 3px;
}
QToolButton[role="quiet"]:hover { background: $background; border-color: $line; }
QToolButton[role="quiet"]:focus { border: 2px solid $accent; padding: 2px; }
QToolButton[role="quiet"]::menu-indicator { image: none; width: 0; }

QLineEdit, QPlainTextEdit {
  background: $card; border: 1px solid $line; border-radius: 6px; padding: 5px 8px;
  selection-background-color: $accent; selection-color: $on_accent;
  placeholder-text-color: $hint;
}
QLineEdit:focus, QPlainTextEdit:focus { border: 2px solid $accent; padding: 4px 7px; }

QComboBox, QSpinBox {
  background: $card; border: 1px solid $line; border-radius: 6px; padding: 5px 10px;
  min-height: 20px;
}
QComboBox:hover, QSpinBox:hover { border-color: $accent; }
QComboBox:focus, QSpinBox:focus { border: 2px solid $accent; padding: 4px 9px; }
QComboBox:disabled, QSpinBox:disabled { color: $muted; }
QComboBox::drop-down { border: none; width: 28px; }
QComboBox::down-arrow { image: url("$arrow_down"); width: 12px; height: 12px; }
QComboBox QAbstractItemView {
  background: $card; border: 1px solid $line; border-radius: 6px; padding: 4px;
  selection-background-color: $accent_soft; selection-color: $text; outline: none;
}
QSpinBox::up-button, QSpinBox::down-button { border: none; width: 24px; }
QSpinBox::up-arrow { image: url("$arrow_up"); width: 10px; height: 10px; }
QSpinBox::down-arrow { image: url("$arrow_down"); width: 10px; height: 10px; }
QCheckBox, QRadioButton {
  spacing: 8px; padding: 3px; border: 2px solid transparent; border-radius: 6px;
}
QCheckBox::indicator, QListView::indicator {
  width: 16px; height: 16px; border: 1px solid $muted; border-radius: 4px; background: $card;
}
QCheckBox::indicator:checked, QListView::indicator:checked {
  background: $accent; border-color: $accent; image: url("$check");
}
QCheckBox::indicator:disabled { border-color: $line; background: $background; }
QSpinBox QLineEdit { border: none; padding: 0; background: transparent; }
QCheckBox:focus, QRadioButton:focus { border: 2px solid $accent; }

QListView { background: transparent; border: none; outline: none; }
QListView:focus { border: none; }
QListWidget { border: 1px solid transparent; border-radius: 6px; padding: 2px; }
QListWidget:focus { border: 2px solid $accent; padding: 1px; }
QListWidget::item { padding: 5px 4px; border-radius: 4px; color: $text; }
QListWidget::item:selected { background: $accent_soft; color: $text; }
#completions {
  background: $card; color: $text; border: 1px solid $line;
  selection-background-color: $accent_soft; selection-color: $text;
}
QTableView {
  background: $card; border: 1px solid $line; border-radius: 6px; gridline-color: $line;
  selection-background-color: $accent_soft; selection-color: $text; outline: none; padding: 1px;
}
QTableView:focus { border: 2px solid $accent; padding: 0; }
QTableView::item { padding: 0 5px; border: none; }
QTableView::item:selected { background: $accent_soft; color: $text; }
QHeaderView::section {
  background: $background; color: $muted; border: none; border-bottom: 1px solid $line;
  padding: 6px 8px; font-size: 11px; font-weight: 600;
}
QTabWidget::pane { border: none; border-top: 1px solid $line; top: -1px; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab {
  background: transparent; color: $muted; border: none; border-bottom: 2px solid transparent;
  padding: 7px 4px; margin-right: 20px; font-weight: 600;
}
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:focus { color: $accent; }
QTableCornerButton::section { background: $background; border: none; }

QMenu { background: $card; border: 1px solid $line; border-radius: 6px; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $accent_soft; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QMenuBar { background: $card; border-bottom: 1px solid $line; }
QMenuBar::item { padding: 4px 10px; background: transparent; }
QMenuBar::item:selected { background: $accent_soft; border-radius: 4px; }

QProgressBar {
  background: $groove; border: none; border-radius: 2px; max-height: 4px; min-height: 4px;
}
QProgressBar::chunk { background: $accent; border-radius: 2px; }

QSplitter::handle { background: transparent; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
.QScrollArea, QTextBrowser, QFileDialog QAbstractItemView, QFileDialog QToolButton {
  border: 2px solid transparent; border-radius: 6px;
}
.QScrollArea:focus, QTextBrowser:focus, QFileDialog QAbstractItemView:focus,
QFileDialog QToolButton:focus { border: 2px solid $accent; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $scroll; border-radius: 3px; margin: 3px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

#dropzone { border: 1px dashed $muted; border-radius: 8px; }
#dropzone[over="true"] { border: 2px solid $accent; background: $accent_soft; }
#findbar { background: $background; border-top: 1px solid $line; }
"""
)


def stylesheet(tokens: Colours) -> str:
    """Return the style sheet of the whole application."""
    colours = {name: getattr(tokens, name) for name in token_names()}

    white = contrast("#FFFFFF", tokens.accent) >= contrast("#12161C", tokens.accent)
    check = resource("ui", "icons", f"box-check-{'white' if white else 'dark'}.svg")
    arrows = {
        f"arrow_{way}": resource("ui", "icons", f"box-{way}.svg").as_posix()
        for way in ("up", "down")
    }
    return _SHEET.substitute(
        colours,
        face=fonts.face(fonts.BODY).family(),
        mono=fonts.mono(fonts.BODY).family(),
        scroll=mix(tokens.card, tokens.muted, 0.45),
        **arrows,
        check=check.as_posix(),
        # Where lines are as strong as text, a groove of their colour would look full.
        groove=tokens.accent_soft if tokens.line == tokens.text else tokens.line,
        # Where labels are as strong as text, a hint of their colour would look typed.
        hint=mix(tokens.card, tokens.text, 0.7) if tokens.muted == tokens.text else tokens.muted,
    )
