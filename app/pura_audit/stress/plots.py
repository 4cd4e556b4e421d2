"""The two pictures of a stressed text: its codeword positions, what a sweep did to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from pura.usecases.measurements import Try
from pura_audit.platform.i18n import decimal, filled, translate
from pura_audit.theme.theme import Theme
from pura_audit.widgets.card import label
from pura_audit.widgets.plot_card import Plot, PlotCard, Table


def percent(share: float) -> str:
    """Write a share in percent."""
    return f"{decimal(100 * share, 0)} %"


class PositionsCard(PlotCard):
    """Sum of the readings of each codeword position: above zero it says what was put in."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._sums = np.zeros(0)
        self._shown: Try | None = None
        super().__init__(
            translate("Stress", "Each position of the mark: above zero is right"), theme, parent
        )
        self.plot = Plot(theme)
        self._bars: list[pg.BarGraphItem] = []
        self.show_plot(self.plot)
        theme.changed.connect(self._draw_bars)
        self.show_try(None)

    def canvas(self) -> QWidget:
        """Return the plot."""
        return self.plot

    def show_try(self, shown: Try | None) -> None:
        """Show the readings of one try."""
        self._shown = shown
        if shown is not None:
            readings = shown.found.readings
            sums = np.bincount(readings.position, weights=readings.z, minlength=readings.length)
            self._sums = sums.astype(np.float64)
        self._draw_bars()
        self.set_filled(shown is not None, None)
        self.empty.setText(_nothing_yet())
        self.redescribe()

    def _draw_bars(self) -> None:
        for bar in self._bars:
            self.plot.removeItem(bar)
        self._bars = []
        places = np.arange(self._sums.size)
        for name, chosen in (("support", self._sums > 0), ("against", self._sums <= 0)):
            colour = self.theme.colour(name)
            bar = pg.BarGraphItem(
                x=places[chosen],
                height=self._sums[chosen],
                width=0.8,
                pen=pg.mkPen(colour),
                brush=pg.mkBrush(colour) if name == "support" else pg.mkBrush(None),
            )
            self._bars.append(bar)
            self.plot.addItem(bar)
        if self._sums.size:
            reach = max(1.0, float(np.abs(self._sums).max())) * 1.05
            box = self.plot.getPlotItem().getViewBox()
            box.setRange(xRange=(-1, self._sums.size), yRange=(-reach, reach), padding=0)

    def table(self) -> Table:
        """Return the sum of every position."""
        headers = (
            translate("Stress", "Position"),
            translate("Stress", "Sum of Z"),
            translate("Stress", "Speaks for what was put in"),
        )
        yes, no = translate("Stress", "yes"), translate("Stress", "no")
        rows = [
            (str(place), decimal(value, 3), yes if value > 0 else no)
            for place, value in enumerate(self._sums.tolist())
        ]
        return headers, rows

    def summary(self) -> str:
        """Say how many positions come out right."""
        words = translate("Stress", "{right:count} of {all:count} positions say what was put in.")
        right = int((self._sums > 0).sum())
        return filled(words, right=right, all=self._sums.size)


class SweepCard(PlotCard):
    """How much of the payload comes out right, over how much of the text was changed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._tries: Sequence[Try] = ()
        title = translate("Stress", "Payload bits right, over tokens changed")
        super().__init__(title, theme, parent)
        self.plot = Plot(theme)
        self._lines = (pg.PlotDataItem(), pg.PlotDataItem())
        for line in self._lines:
            self.plot.addItem(line)
        self.show_plot(self.plot)
        words = translate(
            "Stress", "In percent. Circles: exact decoder; triangles, dashed: the paper’s decoder."
        )
        self.body.addWidget(label(words, "small", wrap=True))
        theme.changed.connect(self._draw_lines)
        self.show_tries(())

    def canvas(self) -> QWidget:
        """Return the plot."""
        return self.plot

    def show_tries(self, tries: Sequence[Try]) -> None:
        """Show other tries."""
        self._tries = sorted(tries, key=_changed)
        self._draw_lines()
        self.set_filled(len(tries) > 1, None)
        self.empty.setText(_nothing_yet())
        self.redescribe()

    def _draw_lines(self) -> None:
        x = [100 * _changed(one) for one in self._tries]
        exact = [100 * one.found.outcome.exact_bits for one in self._tries]
        paper = [100 * one.found.outcome.paper_bits for one in self._tries]
        styles = (
            (exact, "support", Qt.PenStyle.SolidLine, "o"),
            (paper, "muted", Qt.PenStyle.DashLine, "t"),
        )
        for line, (y, name, style, symbol) in zip(self._lines, styles, strict=True):
            colour = self.theme.colour(name)
            line.setData(x, y, symbol=symbol, symbolSize=8)
            line.setPen(pg.mkPen(colour, width=2, style=style))
            line.setSymbolPen(pg.mkPen(colour))
            line.setSymbolBrush(pg.mkBrush(colour))
        if x:
            least = min([40.0, *exact, *paper])
            box = self.plot.getPlotItem().getViewBox()
            box.setRange(xRange=(-2, max(10.0, *x) * 1.05), yRange=(least - 2, 103), padding=0)

    def table(self) -> Table:
        """Return the points."""
        headers = (
            translate("Stress", "Tokens changed"),
            translate("Stress", "Bits right, exact decoder"),
            translate("Stress", "Bits right, the paper’s decoder"),
        )
        rows = [
            (
                percent(_changed(one)),
                percent(one.found.outcome.exact_bits),
                percent(one.found.outcome.paper_bits),
            )
            for one in self._tries
        ]
        return headers, rows

    def summary(self) -> str:
        """Say the two ends."""
        if len(self._tries) < 2:
            return ""
        last = self._tries[-1]
        words = translate(
            "Stress",
            "With {changed:text} of the tokens changed, the exact decoder has {exact:text} of the "
            "bits right, the paper’s {paper:text}.",
        )
        return filled(
            words,
            changed=percent(_changed(last)),
            exact=percent(last.found.outcome.exact_bits),
            paper=percent(last.found.outcome.paper_bits),
        )


def _changed(one: Try) -> float:
    return 0.0 if one.damage is None else one.damage.tokens


def _nothing_yet() -> str:
    return translate("Stress", "Appears here after an attack.")
