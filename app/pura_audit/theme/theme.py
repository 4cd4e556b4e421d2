"""The theme: colour tokens, the style sheet made of them, and which of them are in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from string import Template
from typing import Final

from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPalette, QPen
from PySide6.QtWidgets import QApplication

from pura.base.paths import resource
from pura_audit.theme import fonts

# Shares of the evidence colour that are mixed into the card, weakest to strongest.
SHADES: Final = (0.0, 0.10, 0.20, 0.31, 0.43)


@dataclass(frozen=True, kw_only=True)
class Colours:
    """The colours, as ``#RRGGBB``.

    Attributes:
        background: Behind the cards.
        card: Of a card.
        line: One-pixel lines.
        text: Of texts.
        muted: Of labels and remarks.
        accent: Selection, focus, the one main button.
        accent_soft: Ground of what is selected.
        on_accent: Text on the accent.
        support: For the payload.
        against: Against the payload, or attention.
        found: A finished finding.
        repaired: Repaired bits.
    """

    background: str
    card: str
    line: str
    text: str
    muted: str
    accent: str
    accent_soft: str
    on_accent: str
    support: str
    against: str
    found: str
    repaired: str

    @property
    def dark(self) -> bool:
        """Whether light text stands on dark ground."""
        return luminance(self.background) < luminance(self.text)

    def mark(self, number: int) -> str:
        """Return the colour of a mark's brackets; 0 is the first."""
        return (self.found, self.support, self.repaired)[number % 3]

    def shade(self, level: int) -> str:
        """Return the ground of a token: level -4 … -1 against, 0 none, 1 … 4 for the payload."""
        if level == 0:
            return self.card
        return mix(self.card, self.support if level > 0 else self.against, SHADES[abs(level)])


LIGHT: Final = Colours(
    background="#F5F6F8",
    card="#FFFFFF",
    line="#DFE3E9",
    text="#18202C",
    muted="#5A6576",
    accent="#2B5FA8",
    accent_soft="#E6EEF9",
    on_accent="#FFFFFF",
    support="#2B6CB0",
    against="#A64A0C",
    found="#1F7A55",
    repaired="#7A3FA8",
)
DARK: Final = Colours(
    background="#12161C",
    card="#1A2029",
    line="#2B3440",
    text="#E8EDF4",
    muted="#94A1B3",
    accent="#7FB2F0",
    accent_soft="#22344D",
    on_accent="#10151C",
    support="#6FA8E6",
    against="#F0A062",
    found="#63C79B",
    repaired="#C79AF0",
)

HIGH: Final = 7.0  # contrast that high contrast keeps (WCAG AAA)

# Every pair of text and ground that occurs, with the contrast that WCAG AA asks of it.
PAIRS: Final[tuple[tuple[str, str, float], ...]] = (
    *(
        (front, ground, 4.5)
        for front in ("text", "muted", "accent", "support", "against", "found", "repaired")
        for ground in ("background", "card")
    ),
    *(
        (front, "accent_soft", 4.5)
        for front in ("text", "muted", "accent", "against", "found", "support")
    ),
    ("on_accent", "accent", 4.5),
    ("card", "against", 4.5),
)


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#RRGGBB`` (WCAG 2.2)."""

    def linear(channel: int) -> float:
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)

    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def contrast(front: str, ground: str) -> float:
    """Return the contrast ratio of two colours, 1 … 21 (WCAG 2.2)."""
    bright, dim = sorted((luminance(front), luminance(ground)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@lru_cache(maxsize=256)  # each token on screen asks for its shade, each time it is drawn
def mix(ground: str, colour: str, share: float) -> str:
    """Return ``ground`` with a share of ``colour`` in it."""
    a, b = QColor(ground), QColor(colour)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    parts = (round(x + (y - x) * share) for x, y in pairs)
    return "#{:02X}{:02X}{:02X}".format(*parts)


def from_palette(palette: QPalette) -> Colours:
    """Return tokens made of the system's own palette: what high contrast uses."""

    def name(role: QPalette.ColorRole) -> str:
        return palette.color(QPalette.ColorGroup.Active, role).name().upper()

    roles = QPalette.ColorRole
    ground, text = name(roles.Base), name(roles.Text)
    dark = luminance(ground) < luminance(text)
    base = DARK if dark else LIGHT
    soft = mix(ground, text, 0.12)
    strong = {
        key: _readable(getattr(base, key), text, (ground, soft))
        for key in ("support", "against", "found", "repaired")
    }
    accent = _readable(name(roles.Highlight), text, (ground, soft))
    return Colours(
        background=ground,
        card=ground,
        line=text,
        text=text,
        muted=text,
        accent=accent,
        accent_soft=soft,
        on_accent=ground,
        **strong,
    )


def _readable(colour: str, text: str, grounds: Sequence[str]) -> str:
    """Return a colour with as much of the text's in it as it needs to be read on all grounds."""
    shares = (share / 20 for share in range(20))
    mixed = (mix(colour, text, share) for share in shares)
    strong = (c for c in mixed if all(contrast(c, ground) >= HIGH for ground in grounds))
    return next(strong, text)


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
QLabel[role="payload"] { font-size: 17px; font-weight: 600; }
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
QToolButton[role="chip"] { border-radius: 15px; padding: 5px 28px 5px 12px; }
QToolButton[role="chip"]:focus { padding: 4px 27px 4px 11px; }
QToolButton[role="chip"]::menu-indicator {
  image: url("$arrow_down"); width: 10px; height: 10px;
  subcontrol-origin: padding; subcontrol-position: right center; right: 10px;
}
QToolButton[role="chip"][missing="true"] { color: $against; border-color: $against; }
QToolButton[role="quiet"] {
  background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 3px;
}
QToolButton[role="quiet"]:hover { background: $background; border-color: $line; }
QToolButton[role="quiet"]:focus { border: 2px solid $accent; padding: 2px; }
QToolButton[role="quiet"]::menu-indicator { image: none; width: 0; }

QLineEdit, QPlainTextEdit {
  background: $card; border: 1px solid $edge; border-radius: 6px; padding: 5px 8px;
  selection-background-color: $accent; selection-color: $on_accent;
  placeholder-text-color: $hint;
}
QLineEdit:focus, QPlainTextEdit:focus { border: 2px solid $accent; padding: 4px 7px; }

QComboBox, QSpinBox {
  background: $card; border: 1px solid $edge; border-radius: 6px; padding: 5px 10px;
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
  width: 16px; height: 16px; border: 1px solid $edge; border-radius: 4px; background: $card;
}
QCheckBox::indicator:checked, QListView::indicator:checked {
  background: $accent; border-color: $accent; image: url("$check");
}
QRadioButton::indicator {
  width: 16px; height: 16px; border: 1px solid $edge; border-radius: 9px; background: $card;
}
QRadioButton::indicator:checked { width: 8px; height: 8px; border: 5px solid $accent; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {
  border-color: $line; background: $background;
}
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


def edge(tokens: Colours) -> str:
    """Return the outline of a field: the palest that is told from both grounds (WCAG 1.4.11)."""
    if tokens.line == tokens.text:  # high contrast
        return tokens.line
    grounds = (tokens.card, tokens.background)
    mixed = (mix(tokens.card, tokens.muted, share / 20) for share in range(21))
    strong = (c for c in mixed if all(contrast(c, ground) >= 3 for ground in grounds))
    return next(strong, tokens.muted)


def stylesheet(tokens: Colours) -> str:
    """Return the style sheet of the whole application."""
    colours = asdict(tokens)

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
        edge=edge(tokens),
        hint=mix(tokens.card, tokens.text, 0.7) if tokens.muted == tokens.text else tokens.muted,
    )


GRID: Final = 8
GAP: Final = 12
PADDING: Final = 24
RADIUS: Final = 8
FOCUS_RING: Final = 2


class Mode(StrEnum):
    """The user's choice of colours."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "contrast"


_first_palette: list[QPalette] = []


class Theme(QObject):
    """The colours in use; they follow the system in the mode SYSTEM.

    Signals:
        changed: The colours have changed.
    """

    changed = Signal()

    def __init__(self, mode: Mode = Mode.SYSTEM) -> None:
        super().__init__()
        self._mode = mode
        if not _first_palette:
            _first_palette.append(QGuiApplication.palette())  # before we put ours on
        self._system_palette = _first_palette[0]
        self._dressing: Iterator[None] = iter(())
        # Once each time: what waits for its turn goes first, a repeated timer would go before it.
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._go_on)
        self.tokens = self._choose()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)

    @property
    def mode(self) -> Mode:
        """The user's choice."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; windows apply it some turns of the event loop later."""
        self._mode = mode
        self._begin()

    def colour(self, name: str) -> QColor:
        """Return a token as a colour."""
        return QColor(getattr(self.tokens, name))

    def mark(self, number: int) -> QColor:
        """Return the colour of a mark's brackets; 0 is the first."""
        return QColor(self.tokens.mark(number))

    def apply(self) -> None:
        """Apply palette and style sheet at once, while no window is open."""
        for _ in self._apply_style():
            pass

    def _begin(self) -> None:
        self._dressing = self._apply_style()
        self._go_on()

    def _go_on(self) -> None:
        if next(self._dressing, self) is not self:
            self._turn.start()

    def _apply_style(self) -> Iterator[None]:
        """Change the colours step by step, because styling every widget takes too long at once.

        Nothing is painted until the last step, so that no mixture is visible.
        """
        self.tokens = self._choose()
        app = QApplication.instance()
        if isinstance(app, QApplication):
            _paint(app, enabled=False)
            app.setPalette(_palette(self.tokens))
            # Off and on again: where one style sheet takes the place of another, Qt dresses each
            # widget once for every widget that it lies in, which takes two or three times as long.
            sheet = stylesheet(self.tokens)
            if app.styleSheet() != sheet:
                yield
                app.setStyleSheet("")
                yield
                app.setStyleSheet(sheet)
                yield
                fonts.use_bundled_fonts(app)
                yield
            self.changed.emit()
            yield
            _paint(app, enabled=True)
        else:
            self.changed.emit()

    def _choose(self) -> Colours:
        match self._mode:
            case Mode.LIGHT:
                return LIGHT
            case Mode.DARK:
                return DARK
            case Mode.CONTRAST:
                return from_palette(self._system_palette)
        if _wants_contrast():
            return from_palette(self._system_palette)
        scheme = QGuiApplication.styleHints().colorScheme()
        return DARK if scheme == Qt.ColorScheme.Dark else LIGHT

    def _system_changed(self) -> None:
        if self._mode is Mode.SYSTEM:
            self._begin()


def _paint(app: QApplication, *, enabled: bool) -> None:
    for window in app.topLevelWidgets():
        window.setUpdatesEnabled(enabled)


def _wants_contrast() -> bool:
    # Since Qt 6.10; older versions do not tell.
    accessibility = getattr(QGuiApplication.styleHints(), "accessibility", None)
    if accessibility is None:
        return False
    preference = accessibility().contrastPreference()
    return bool(preference == Qt.ContrastPreference.HighContrast)


def _palette(tokens: Colours) -> QPalette:
    palette = QPalette()
    roles = QPalette.ColorRole
    pairs = {
        roles.Window: tokens.background,
        roles.WindowText: tokens.text,
        roles.Base: tokens.card,
        roles.AlternateBase: tokens.background,
        roles.Text: tokens.text,
        roles.Button: tokens.card,
        roles.ButtonText: tokens.text,
        roles.Highlight: tokens.accent,
        roles.HighlightedText: tokens.on_accent,
        roles.PlaceholderText: tokens.muted,
        roles.ToolTipBase: tokens.card,
        roles.ToolTipText: tokens.text,
        roles.Link: tokens.accent,
        roles.Mid: tokens.line,
    }
    for role, colour in pairs.items():
        palette.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(tokens.muted))
    return palette


BADGE: Final = 16  # pixels across
_PATTERNS: Final = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)


def mark_pen(theme: Theme, number: int, width: int = 2) -> QPen:
    """Return the line of a mark's brackets; 0 is the first mark."""
    pen = QPen(theme.mark(number), width, _PATTERNS[number % len(_PATTERNS)])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def paint_badge(painter: QPainter, theme: Theme, number: int, box: QRectF) -> None:
    """Draw the number of a mark on a disc of its colour; 0 is the first mark, written as 1."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.mark(number))
    painter.drawEllipse(box)
    painter.setPen(theme.colour("card"))
    painter.setFont(fonts.face(fonts.LABEL, strong=True))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(number + 1))
    painter.restore()
