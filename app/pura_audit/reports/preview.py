"""The preview of a report: made beside the work, kept on screen while it is renewed."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from pura_audit.jobs.messages import Failure
from pura_audit.jobs.report_desk import BuildJob, Built, DrawJob, ReportDesk
from pura_audit.look.icons import icon
from pura_audit.look.theme import GRID
from pura_audit.platform.i18n import translate
from pura_audit.reports.pages_view import ACTUAL, PAGE, WIDTH, PagesView
from pura_audit.widgets.card import label

WAIT_MS: Final = 600  # after the last change
POINTS: Final = {"a4": QSizeF(595.28, 841.89), "us-letter": QSizeF(612, 792)}


class ReportPreview(QWidget):
    """Pages, where one is, how large they are, and whether they are up to date.

    Attributes:
        built: The report on screen, or None.
        failure: Why the last one could not be made, or None.

    Signals:
        made: There is another report, or a failure.
    """

    made = Signal()

    def __init__(self, desk: ReportDesk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._job: BuildJob | None = None
        self._number = self._drawing = 0
        self._drawn_dpi = 0
        self.built: Built | None = None
        self.failure: Failure | None = None
        self.view = PagesView()
        self.view.wanted.connect(self._draw)
        self.view.page_changed.connect(self._tell)
        self.where = label("", "muted")
        self.state = label("", "muted")
        self.previous = self._tool(translate("Report", "Previous page"), -1)
        self.next = self._tool(translate("Report", "Next page"), 1)
        self.zoom = QComboBox()
        self.zoom.setAccessibleName(translate("Report", "Size of the pages"))
        for fit, words in (
            (PAGE, translate("Report", "Whole page")),
            (WIDTH, translate("Report", "Page width")),
            (ACTUAL, translate("Report", "Actual size")),
        ):
            self.zoom.addItem(words, fit)
        self.zoom.setCurrentIndex(1)
        self.zoom.activated.connect(lambda _: self.view.set_fit(self.zoom.currentData()))
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(translate("Report", "Making the preview"))
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # nothing jumps when it comes and goes
        self.bar.setSizePolicy(policy)
        self.problem = label("", "attention", wrap=True)
        self.again = QPushButton(translate("Report", "Try again"))
        self.again.setAutoDefault(False)
        self.again.clicked.connect(self.renew)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self.renew)
        self._lay_out()
        desk.done.connect(self._done)
        desk.drawn.connect(self._page)
        self._say(None)
        self._tell()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(label(translate("Report", "Preview"), "title"))
        head.addWidget(self.state)
        head.addStretch(1)
        for widget in (self.where, self.previous, self.next, self.zoom):
            head.addWidget(widget)
        wrong = QHBoxLayout()
        wrong.setSpacing(GRID)
        wrong.addWidget(self.problem, 1)
        wrong.addWidget(self.again, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addLayout(head)
        layout.addLayout(wrong)
        layout.addWidget(self.bar)
        layout.addWidget(self.view, 1)

    def _tool(self, name: str, by: int) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "quiet")
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.clicked.connect(lambda: self.view.go(self.view.page + by))
        return button

    # Making

    @property
    def renewing(self) -> bool:
        """Whether what is on screen is about to be replaced."""
        return self._timer.isActive() or bool(self._number)

    def want(self, job: BuildJob | None, *, now: bool = False) -> None:
        """Renew the preview a moment from now; None when there is nothing to be made."""
        self._stop()
        self._job = job
        if job is None:
            self._timer.stop()
            self._say(None)
            self.state.setText(translate("Report", "waits for the form") if self.built else "")
            return
        self._timer.start(0 if now else WAIT_MS)
        self._say(None)

    def renew(self) -> None:
        """Make it now."""
        self._timer.stop()
        self._stop()
        if self._job is not None:
            self._number = self._desk.do(self._job)
        self._say(None)

    def _stop(self) -> None:
        if self._number:
            self._desk.drop(self._number)
            self._number = 0

    def close_down(self) -> None:
        """Want nothing any more."""
        self._timer.stop()
        self._stop()
        self._desk.drop(self._drawing)
        self._job = None

    def _done(self, number: int, result: object) -> None:
        if number == self._drawing:
            self._drawing = 0
            self._draw()
        if number != self._number or result is None:
            return
        self._number = 0
        if isinstance(result, Built):
            self.built = result
            self._say(None)
            self._desk.drop(self._drawing)
            self._drawing = 0
            self.view.show_pages(result.pages, POINTS[result.request.paper])
            self._draw()
        elif isinstance(result, Failure):
            self._say(result)
        self.made.emit()

    def _draw(self) -> None:
        missing = self.view.missing()
        if self.built is None or not missing or self.renewing:
            return
        if self._drawing:
            if self._drawn_dpi != self.view.dpi:
                self._desk.drop(self._drawing)  # its end asks again
            return
        self._drawn_dpi = self.view.dpi
        job = DrawJob(pdf=self.built.report.pdf, pages=missing, dpi=self._drawn_dpi)
        self._drawing = self._desk.do(job)

    def _page(self, number: int, page: int, picture: object) -> None:
        if number == self._drawing and isinstance(picture, QImage):
            self.view.put(page, self._drawn_dpi, picture)

    # Words

    def _say(self, failure: Failure | None) -> None:
        self.failure = failure
        words = f"{failure.message} {failure.hint}".strip() if failure is not None else ""
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        self.again.setVisible(bool(words))
        old = self.renewing or failure is not None
        self.view.set_stale(old and self.built is not None)
        if failure is not None:
            state = translate("Report", "from before the last change") if self.built else ""
        elif self.renewing and self.built is None:
            state = translate("Report", "being made …")
        else:
            state = translate("Report", "being renewed …") if self.renewing else ""
        self.state.setText(state)
        self.bar.setVisible(bool(self._number))

    def point_to_form(self) -> None:
        """Leave the words of the failure to the form, which has said them in their place."""
        self.problem.setText(translate("Report", "The form says what is to be mended."))
        self.again.hide()

    def _tell(self) -> None:
        view = self.view
        self.where.setText(view.summary())
        self.previous.setEnabled(view.page > 0)
        self.next.setEnabled(view.page + 1 < view.pages)
        self.zoom.setCurrentIndex(self.zoom.findData(view.fit))
        self._dress()

    def _dress(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.Text).name()
        self.previous.setIcon(icon("up", colour))
        self.next.setIcon(icon("down", colour))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "next"):
            self._dress()
