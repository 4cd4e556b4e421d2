"""pyqtgraph, quietened: our fonts and colours, no menus, no buttons, no automatic units."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QWidget

from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme

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
