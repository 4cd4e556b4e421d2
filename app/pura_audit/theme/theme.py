"""The theme in use: grid, mode and the colours of the application.

It also says how the marks of a text are told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPalette, QPen
from PySide6.QtWidgets import QApplication

from pura_audit.theme import fonts
from pura_audit.theme.colours import DARK, LIGHT, Colours, from_palette
from pura_audit.theme.stylesheet import stylesheet

GRID: Final = 8
GAP: Final = 12
PADDING: Final = 24
RADIUS: Final = 8
FOCUS_RING: Final = 2


class Mode(StrEnum):
    """Which colours the user wants."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "contrast"


_first_palette: list[QPalette] = []


class Theme(QObject):
    """The colours in use; follows the system while the mode says so.

    Signals:
        changed: The tokens are others than before.
    """

    changed = Signal()

    def __init__(self, mode: Mode = Mode.SYSTEM, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._mode = mode
        if not _first_palette:
            _first_palette.append(QGuiApplication.palette())  # before we put ours on
        self._system_palette = _first_palette[0]
        self._dressing: Iterator[None] = iter(())
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._go_on)
        self.tokens = self._choose()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)

    @property
    def mode(self) -> Mode:
        """What the user asked for."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; the windows wear it some turns of the event loop later."""
        self._mode = mode
        self._begin()

    def colour(self, name: str) -> QColor:
        """Return a token as a colour."""
        return QColor(getattr(self.tokens, name))

    def mark(self, number: int) -> QColor:
        """Return the colour of a mark's brackets; 0 is the first."""
        return QColor(self.tokens.mark(number))

    def apply(self) -> None:
        """Put palette and style sheet on the application at once, while no window is open."""
        for _ in self._dress():
            pass

    def _begin(self) -> None:
        self._dressing = self._dress()
        self._turn.start()
        self._go_on()

    def _go_on(self) -> None:
        if next(self._dressing, self) is self:
            self._turn.stop()

    def _dress(self) -> Iterator[None]:
        """Change the colours in turns: to dress every widget takes longer than a window may stand.

        Nothing is painted until the last one, so that nobody sees half of it.
        """
        self.tokens = self._choose()
        app = QApplication.instance()
        if isinstance(app, QApplication):
            _paint(app, on=False)
            app.setPalette(_palette(self.tokens))
            # Off and on again: where one style sheet takes the place of another, Qt dresses each
            # widget once for every widget that it lies in, which takes two or three times as long.
            sheet = stylesheet(self.tokens)
            if app.styleSheet() != sheet:
                yield
                app.setStyleSheet("")
                yield
                app.setStyleSheet(sheet)
                fonts.wear(app)
                yield
            self.changed.emit()
            yield
            _paint(app, on=True)
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


def _paint(app: QApplication, *, on: bool) -> None:
    for window in app.topLevelWidgets():
        window.setUpdatesEnabled(on)


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
