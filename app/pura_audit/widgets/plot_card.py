"""Cards with a picture of numbers (table twin, summary, copy, export), and the verbal scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView, QMenu, QSizePolicy, QStackedWidget, QWidget

from pura.base.errors import InputError
from pura.base.files import write_or_refuse
from pura.record.audit import Audit
from pura.words.sentences import scale
from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import error_words, filled, language, number, translate
from pura_audit.session.export import csv_text
from pura_audit.session.selection import FRAME_MS
from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme
from pura_audit.widgets.card import Card, IconButton, focus_ring, label, ringed
from pura_audit.widgets.form_dialog import ask_target

pg.setConfigOptions(antialias=True)


class Plot(pg.PlotWidget):
    """A plot with a keyboard cursor.

    Signals:
        stepped: Left (-1) or right (+1) was pressed.
        jumped: Home (-1) or End (+1) was pressed.
        raised: Up (-1) or down (+1) was pressed.
        zoomed: More (1) or less (-1) of it is wanted: + and -, or the wheel.
        pressed: The user clicked; carries the data coordinates.
        hovered: The pointer moved; carries the data coordinates.
    """

    stepped = Signal(int)
    jumped = Signal(int)
    raised = Signal(int)
    zoomed = Signal(int)
    pressed = Signal(float, float)
    hovered = Signal(float, float)

    def __init__(self, theme: Theme) -> None:
        # Menus that are only switched off are built all the same, a third of the plot's time.
        super().__init__(enableMenu=False)
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
        self._picture: QPixmap | None = None
        self._drawing = False
        self._draw_later = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._draw_later.timeout.connect(self._draw)
        self.scene().changed.connect(self._draw_soon)
        theme.changed.connect(self.dress)
        self.dress()

    def dress(self) -> None:
        """Apply the colours of the theme."""
        self.setBackground(self.theme.colour("card"))
        for name in ("left", "bottom"):
            axis = self.getPlotItem().getAxis(name)
            axis.setPen(pg.mkPen(self.theme.colour("line")))
            axis.setTextPen(pg.mkPen(self.theme.colour("muted")))
        self._draw_soon()

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
        """Report a zoom with the wheel."""
        if turned := event.angleDelta().y():
            self.zoomed.emit(1 if turned > 0 else -1)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Report a click."""
        super().mousePressEvent(event)
        self.pressed.emit(*self._place(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the position of the pointer."""
        self.hovered.emit(*self._place(event))

    def _place(self, event: QMouseEvent) -> tuple[float, float]:
        scene = self.mapToScene(event.position().toPoint())
        point = self.getPlotItem().getViewBox().mapSceneToView(scene)
        return point.x(), point.y()

    def _draw_soon(self) -> None:
        if not self._draw_later.isActive():  # begun anew by every change it would never end
            self._draw_later.start()

    def _draw(self) -> None:
        self._drawing = True
        self._picture = self.viewport().grab()
        self._drawing = False
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Show what was drawn last, under the focus ring.

        To draw takes long: it is done in a turn of the event loop of its own, when something has
        changed. Until then the last picture stands, stretched where the size has changed.
        """
        if self._drawing:
            super().paintEvent(event)
            return
        drawn, room = self._picture, self.viewport().rect()
        if drawn is None or drawn.deviceIndependentSize().toSize() != room.size():
            self._draw_soon()
        if drawn is not None:
            painter = QPainter(self.viewport())
            painter.drawPixmap(room, drawn)
            painter.end()
        if ringed(self):
            painter = QPainter(self.viewport())
            focus_ring(painter, self.theme.colour("accent"), self.viewport().rect())
            painter.end()


Table = tuple[Sequence[str], Sequence[Sequence[str]]]
_SCALE = 2  # of exported pictures


def why_empty(audit: Audit | None) -> str:
    """Return why a card is empty: no audit yet, or the record lacks the text."""
    if audit is None:
        return translate("Plot", "Appears here after the audit.")
    return translate("Plot", "The text was not examined: there is nothing to show.")


class PlotCard(Card):
    """Base class of the three evidence cards.

    Signals:
        table_wanted: The user asked for the table behind the picture.
        noticed: A message for the status line.
        filled_changed: The card got content or became empty.
    """

    table_wanted = Signal()
    noticed = Signal(str)
    filled_changed = Signal()
    filled = False

    def __init__(self, title: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(title, parent, inner=20)
        self.theme = theme
        text = filled(translate("Plot", "Table, copy and export of “{title:text}”"), title=title)
        self._more = IconButton(theme, "more", text)
        self._more.open_menu(self._build_menu())
        self.head.addWidget(self._more)

    def show_plot(self, plot: QWidget) -> None:
        """Put the plot into the card, and a text in its place while it is empty."""
        self._pages = QStackedWidget()
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(plot)
        set_role(plot, QAccessible.Role.Chart)
        self.body.addWidget(self._pages, 1)

    def set_filled(self, filled: bool, audit: Audit | None) -> None:
        """Show the plot, or the reason why it is empty."""
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
        """Return a description of the picture."""
        raise NotImplementedError

    def file_stem(self) -> str:
        """Return the suggested name of an exported file, without its suffix."""
        return "pura-audit"

    def redescribe(self) -> None:
        """Update the description for screen readers."""
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
                file_bytes = self.csv_text().encode("utf-8-sig")
            case ".svg":
                file_bytes = self._svg()
            case _:
                file_bytes = self._png()
        write_or_refuse(path, file_bytes)

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
        for text, action in (
            (translate("Plot", "Show as table"), self.table_wanted.emit),
            (translate("Plot", "Copy picture"), self._copy_picture),
            (translate("Plot", "Copy table"), self._copy_table),
            (translate("Plot", "Copy summary in words"), self._copy_words),
            (translate("Plot", "Export …"), self._ask_export),
        ):
            menu.addAction(text, action)
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
            text = filled(
                translate("Plot", "Not exported: {reason:text}"), reason=error_words(error)
            )
        else:
            text = filled(translate("Plot", "Exported: {file:text}"), file=path.name)
        self.noticed.emit(text)


# Pixels: the heading above the steps, and the steps; the ratios below need 18 more.
TOP, BAND = 20, 34
HEIGHT = TOP + BAND + 18


class ScaleStrip(QWidget):
    """Seven steps from no support to extremely strong; the reached one is framed and bold."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        set_role(self, QAccessible.Role.Graphic)
        self._theme = theme
        self._place: int | None = None
        self._against = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the room that two lines of words need."""
        return QSize(560, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the least room."""
        return QSize(320, HEIGHT)

    def show_place(self, word: str, log10_lr: float) -> None:
        """Mark the reached step.

        Args:
            word: Word of the scale in the record, English.
            log10_lr: Reported likelihood ratio; below 0 it supports H2.
        """
        rows = scale(language())
        steps = [row.word for row in scale("en")]
        self._place = steps.index(word) if word in steps else None
        if self._place is None:
            self.update()
            return
        self._against = log10_lr < 0 and self._place > 0
        row = rows[self._place]
        self.setAccessibleName(translate("Answer", "Scale of support"))
        self.setAccessibleDescription(f"{row.word} ({row.range}). {self._heading()}")
        self.setToolTip("\n".join(f"{r.word}: {r.range}" for r in rows))
        self.update()

    def _heading(self) -> str:
        if self._against:
            return translate("Answer", "support for H2 over H1")
        return translate("Answer", "support for H1 over H2")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the steps, and the likelihood ratios at which they begin."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows = scale(language())
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(fonts.face(fonts.LABEL))
        painter.drawText(
            QRectF(0, 0, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self._heading()
        )
        boxes = self._boxes([row.word for row in rows])
        order = [i for i in range(len(rows)) if i != self._place]
        # The reached step comes last: its frame lies over its neighbours'.
        for step in order + ([self._place] if self._place is not None else []):
            self._step(painter, boxes[step], rows[step].word, reached=step == self._place)
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(fonts.face(fonts.LABEL))
        for box, row in zip(boxes[1:], rows[1:], strict=True):
            mark = QRectF(box.left() - 40, TOP + BAND + 3, 80, 14)
            painter.drawText(mark, Qt.AlignmentFlag.AlignCenter, number(round(10**row.low)))

    def _boxes(self, labels: list[str]) -> list[QRectF]:
        """Return the boxes of the steps: two lines for each word, and equal shares of the rest."""
        metrics = QFontMetricsF(fonts.face(fonts.LABEL, strong=True))
        widths = []
        for word in labels:
            parts = [metrics.horizontalAdvance(part) for part in word.split()]
            widths.append(max(*parts, 0.6 * metrics.horizontalAdvance(word)) + 12)
        share = max(0.0, self.width() - 1 - sum(widths)) / len(labels)
        shrink = min(1.0, (self.width() - 1) / sum(widths))
        boxes, x = [], 0.5
        for width in widths:
            boxes.append(QRectF(x, TOP + 0.5, width * shrink + share, BAND))
            x += width * shrink + share
        return boxes

    def _step(self, painter: QPainter, box: QRectF, word: str, *, reached: bool) -> None:
        painter.setPen(QPen(self._theme.colour("accent" if reached else "line"), 1 + reached))
        painter.setBrush(self._theme.colour("accent_soft" if reached else "background"))
        painter.drawRoundedRect(box, 3 * reached, 3 * reached)
        painter.setPen(self._theme.colour("text" if reached else "muted"))
        painter.setFont(fonts.face(fonts.LABEL, strong=reached))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(box.adjusted(3, 1, -3, -1), flags, word)
