"""A card with a picture of numbers.

Pyqtgraph quietened, table twin, spoken summary, copy, export.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QGraphicsView,
    QMenu,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from pura.base.errors import InputError
from pura.base.files import write_or_refuse
from pura.record.audit import Audit
from pura_audit.platform.i18n import error_words, filled, translate
from pura_audit.session.export import csv_text
from pura_audit.theme import fonts
from pura_audit.theme.fonts import icon
from pura_audit.theme.theme import Theme
from pura_audit.widgets.ask_file import ask_target
from pura_audit.widgets.card import Card, label

pg.setConfigOptions(antialias=True)


class Plot(pg.PlotWidget):
    """One plot with a keyboard cursor.

    Signals:
        stepped: Left (-1) or right (+1) was pressed.
        jumped: Home (-1) or End (+1) was pressed.
        raised: Up (-1) or down (+1) was pressed.
        zoomed: More (1) or less (-1) of it is wanted: + and -, or the wheel.
        pressed: A place of the plot was clicked, in data coordinates.
    """

    stepped = Signal(int)
    jumped = Signal(int)
    raised = Signal(int)
    zoomed = Signal(int)
    pressed = Signal(float, float)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        # Menus that are only switched off are built all the same, a third of the plot's time.
        super().__init__(parent, enableMenu=False)
        self.theme = theme
        plot = self.getPlotItem()
        plot.hideButtons()
        box = plot.getViewBox()
        box.setMouseEnabled(x=False, y=False)
        box.setDefaultPadding(0.0)
        plot.layout.setContentsMargins(0, 0, 0, 0)
        for name in ("left", "bottom"):
            axis = plot.getAxis(name)
            axis.enableAutoSIPrefix(False)
            axis.setStyle(tickFont=fonts.face(fonts.LABEL), tickLength=-3, tickTextOffset=4)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        self.setFrameShape(pg.QtWidgets.QFrame.Shape.NoFrame)
        theme.changed.connect(self.dress)
        self.dress()

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.setBackground(self.theme.colour("card"))
        for name in ("left", "bottom"):
            axis = self.getPlotItem().getAxis(name)
            axis.setPen(pg.mkPen(self.theme.colour("line")))
            axis.setTextPen(pg.mkPen(self.theme.colour("muted")))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the cursor."""
        keys = Qt.Key
        match event.key():
            case keys.Key_Left | keys.Key_Right as key:
                self.stepped.emit(-1 if key == keys.Key_Left else 1)
            case keys.Key_Home | keys.Key_End as key:
                self.jumped.emit(-1 if key == keys.Key_Home else 1)
            case keys.Key_Up | keys.Key_Down as key:
                self.raised.emit(-1 if key == keys.Key_Up else 1)
            case keys.Key_Plus | keys.Key_Minus as key:
                self.zoomed.emit(-1 if key == keys.Key_Minus else 1)
            case _:
                event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Tell that more or less is wanted."""
        if turned := event.angleDelta().y():
            self.zoomed.emit(1 if turned > 0 else -1)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Tell where it was clicked."""
        super().mousePressEvent(event)
        scene = self.mapToScene(event.position().toPoint())
        place = self.getPlotItem().getViewBox().mapSceneToView(scene)
        self.pressed.emit(place.x(), place.y())

    def paintEvent(self, event: object) -> None:
        """Draw the focus ring over the plot."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(pg.mkPen(self.theme.colour("accent"), width=2))
            painter.drawRoundedRect(self.viewport().rect().adjusted(1, 1, -1, -1), 6, 6)
            painter.end()


Table = tuple[Sequence[str], Sequence[Sequence[str]]]
_SCALE = 2  # of exported pictures


def why_empty(audit: Audit | None) -> str:
    """Say why a card has nothing to show: no audit yet, or none of this text."""
    if audit is None:
        return translate("Plot", "Appears here after the audit.")
    return translate("Plot", "The text was not examined: there is nothing to show.")


class PlotCard(Card):
    """Base of the ring, the bits and the course.

    Signals:
        table_wanted: The table twin is asked for.
        noticed: Something to say in the status line.
        filled_changed: There is something to show now, or nothing any more.
    """

    table_wanted = Signal()
    noticed = Signal(str)
    filled_changed = Signal()
    filled = False

    def __init__(self, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(title, parent, inner=20)
        self.theme = theme
        self._more = QToolButton()
        self._more.setProperty("role", "quiet")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        words = filled(translate("Plot", "Table, copy and export of “{title:text}”"), title=title)
        self._more.setAccessibleName(words)
        self._more.setToolTip(words)
        self._more.setMenu(self._build_menu())
        self.head.addWidget(self._more)
        theme.changed.connect(self._dress)
        self._dress()

    def show_plot(self, plot: QWidget) -> None:
        """Put the plot into the card, and words in its place while there is nothing to show."""
        self._pages = QStackedWidget()
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(plot)
        self.body.addWidget(self._pages, 1)

    def set_filled(self, filled: bool, audit: Audit | None) -> None:
        """Show the plot, or the words that say why there is none."""
        self.empty.setText(why_empty(audit))
        self._pages.setCurrentIndex(int(filled))
        self._more.setEnabled(filled)
        if filled != self.filled:
            self.filled = filled
            self.filled_changed.emit()

    def set_exportable(self, exportable: bool) -> None:
        """Offer table, copy and export, or none where the card holds no picture."""
        self._more.setVisible(exportable)

    # What a plot tells about itself

    def canvas(self) -> QWidget:
        """Return the widget that holds the picture."""
        raise NotImplementedError

    def table(self) -> Table:
        """Return headers and rows of the table twin."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return what the picture shows, in words."""
        raise NotImplementedError

    def file_stem(self) -> str:
        """Return the name that an exported file is offered."""
        return "pura-audit"

    def redescribe(self) -> None:
        """Tell screen readers what the picture shows now."""
        self.canvas().setAccessibleName(self.title.text())
        self.canvas().setAccessibleDescription(self.summary())

    # Copy and export

    def picture(self) -> QPixmap:
        """Return the picture at twice its size on screen."""
        canvas = self.canvas()
        pixmap = QPixmap(canvas.size() * _SCALE)
        pixmap.setDevicePixelRatio(_SCALE)
        pixmap.fill(self.theme.colour("card"))
        painter = QPainter(pixmap)
        self._draw(painter, QRectF(canvas.rect()))
        painter.end()
        return pixmap

    def csv_text(self) -> str:
        """Return the table as CSV; a cell that a spreadsheet would run is quoted with a blank."""
        return csv_text(*self.table())

    def export(self, path: Path) -> None:
        """Write the picture or the table; the ending of the name decides.

        Raises:
            InputError: The file cannot be written.
        """
        match path.suffix.lower():
            case ".csv":
                data = self.csv_text().encode("utf-8-sig")
            case ".svg":
                data = self._svg()
            case _:
                data = self._png()
        write_or_refuse(path, data)

    def _png(self) -> bytes:
        buffer = QBuffer()
        buffer.open(QBuffer.OpenModeFlag.WriteOnly)
        self.picture().save(buffer, "PNG")
        return bytes(buffer.data().data())

    def _svg(self) -> bytes:
        canvas = self.canvas()
        buffer = QBuffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(QSize(canvas.width(), canvas.height()))
        generator.setViewBox(canvas.rect())
        generator.setTitle(self.title.text())
        generator.setDescription(self.summary())
        painter = QPainter(generator)
        painter.fillRect(canvas.rect(), self.theme.colour("card"))
        self._draw(painter, QRectF(canvas.rect()))
        painter.end()
        return bytes(buffer.data().data())

    def _draw(self, painter: QPainter, room: QRectF) -> None:
        canvas = self.canvas()
        if isinstance(canvas, QGraphicsView):
            canvas.render(painter, room, canvas.viewport().rect())
        else:
            canvas.render(painter, room.topLeft().toPoint())

    def _build_menu(self) -> QMenu:
        menu = QMenu(self)
        for words, act in (
            (translate("Plot", "Show as table"), self.table_wanted.emit),
            (translate("Plot", "Copy picture"), self._copy_picture),
            (translate("Plot", "Copy table"), self._copy_table),
            (translate("Plot", "Copy summary in words"), self._copy_words),
            (translate("Plot", "Export …"), self._ask_export),
        ):
            action = QAction(words, menu)
            action.triggered.connect(lambda _=False, a=act: a())
            menu.addAction(action)
        return menu

    def _copy_picture(self) -> None:
        QGuiApplication.clipboard().setPixmap(self.picture())

    def _copy_table(self) -> None:
        headers, rows = self.table()
        lines = ("\t".join(row) for row in (headers, *rows))
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _copy_words(self) -> None:
        QGuiApplication.clipboard().setText(self.summary())

    def _ask_export(self) -> None:
        ask_target(
            self.window(),
            translate("Plot", "Export"),
            self._export_and_tell,
            *("PNG (*.png)", "SVG (*.svg)", "CSV (*.csv)"),
            name=f"{self.file_stem()}.png",
            suffix="png",
        )

    def _export_and_tell(self, path: Path) -> None:
        try:
            self.export(path)
        except InputError as error:
            words = filled(
                translate("Plot", "Not exported: {reason:text}"), reason=error_words(error)
            )
        else:
            words = filled(translate("Plot", "Exported: {file:text}"), file=path.name)
        self.noticed.emit(words)

    def _dress(self) -> None:
        self._more.setIcon(icon("more", self.theme.tokens.muted))
