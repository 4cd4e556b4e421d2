"""The preview of a report, made in a worker thread; old pages stay until new ones are ready."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import QToolButton, QWidget

from pura.report.blocks import render_pages
from pura.usecases.reports import Built
from pura_audit.jobs.queue import Done, Failure, Job, JobContext, JobQueue, Outcome, Stopped, Work
from pura_audit.platform.i18n import translate
from pura_audit.theme.fonts import icon
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import ElidedLabel, column_of, label, progress_bar, row_of
from pura_audit.widgets.form_dialog import plain_button
from pura_audit.widgets.pages_view import PagesView, zoom_box

WAIT_MS: Final = 600  # after the last change
POINTS: Final = {"a4": QSizeF(595.28, 841.89), "us-letter": QSizeF(612, 792)}


class ReportPreview(QWidget):
    """The pages of a report, with their position, size and whether they are up to date.

    Args:
        queue: The queue that makes the pages.

    Attributes:
        built: The report on screen, or None.
        failure: Reason why the last report could not be built, or None.

    Signals:
        made: A new report was built, or building failed.
    """

    made = Signal()

    def __init__(self, queue: JobQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._wanted: Work[Built] | None = None
        self._making: Job | None = None
        self._drawing: Job | None = None
        self._drawn_dpi = 0
        self.built: Built | None = None
        self.failure: Failure | None = None
        self.view = PagesView(translate("Report", "Preview of the report"))
        self.view.wanted.connect(self._draw)
        self.view.page_changed.connect(self._tell)
        self.where = label("", "muted")
        self.state = ElidedLabel()
        self.state.setProperty("role", "muted")
        self.previous = self._tool(translate("Report", "Previous page"), -1)
        self.next = self._tool(translate("Report", "Next page"), 1)
        self.zoom = zoom_box()
        self.zoom.activated.connect(lambda _: self.view.set_fit(self.zoom.currentData()))
        self.bar = progress_bar(translate("Report", "Making the preview"), endless=True)
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # nothing jumps when it comes and goes
        self.bar.setSizePolicy(policy)
        self.problem = label("", "attention", wrap=True)
        self.again = plain_button(translate("Report", "Try again"), self.renew)
        self._timer = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._timer.timeout.connect(self.renew)
        self._lay_out()
        self._say(None)
        self._tell()

    def _lay_out(self) -> None:
        title = label(translate("Report", "Preview"), "title")
        right = (self.where, self.previous, self.next, self.zoom)
        head = row_of(title, self.state, None, *right)
        wrong = row_of((self.problem, 1))
        wrong.addWidget(self.again, 0, Qt.AlignmentFlag.AlignTop)
        column_of(head, wrong, self.bar, (self.view, 1), spacing=GRID // 2, inside=self)

    def _tool(self, name: str, step: int) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "quiet")
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.clicked.connect(lambda: self.view.go(self.view.page + step))
        return button

    # Making

    @property
    def renewing(self) -> bool:
        """Whether the preview is being renewed."""
        return self._timer.isActive() or self._making is not None

    def want(self, job: Work[Built] | None, *, now: bool = False) -> None:
        """Renew the preview soon; None if there is nothing to show."""
        self._stop()
        self._wanted = job
        if job is None:
            self._timer.stop()
            self._say(None)
            self.state.setText(translate("Report", "waits for the form") if self.built else "")
            return
        self._timer.start(0 if now else WAIT_MS)
        self._say(None)

    def renew(self) -> None:
        """Renew the preview now."""
        self._timer.stop()
        self._stop()
        build = self._wanted
        if build is not None:
            self._making = self._queue.do(build, self._made_one, self)
        self._say(None)

    def _stop(self) -> None:
        if self._making is not None:
            self._making.drop()
            self._making = None

    def _stop_drawing(self) -> None:
        if self._drawing is not None:
            self._drawing.drop()
            self._drawing = None

    def close_down(self) -> None:
        """Stop all work."""
        self._timer.stop()
        self._stop()
        self._stop_drawing()
        self._wanted = None

    def _made_one(self, outcome: Outcome[Built]) -> None:
        self._making = None
        match outcome:
            case Done(built):
                self.built = built
                self._say(None)
                self._stop_drawing()
                self.view.show_pages([POINTS[built.request.paper]] * built.pages)
                self._draw()
            case Failure():
                self._say(outcome)
            case Stopped():
                return
        self.made.emit()

    def _draw(self) -> None:
        missing = self.view.missing()
        if self.built is None or not missing or self.renewing:
            return
        if self._drawing is not None:
            if self._drawn_dpi == self.view.dpi(missing[0]):
                return
            self._stop_drawing()
        pdf, dpi = self.built.report.pdf, self.view.dpi(missing[0])
        self._drawn_dpi = dpi
        self._drawing = self._queue.do(
            lambda context: draw_pages(pdf, missing, dpi, self._put, context), self._drawn, self
        )

    def _put(self, page: int, picture: QImage) -> None:
        self.view.put(page, self._drawn_dpi, picture)

    def _drawn(self, outcome: Outcome[None]) -> None:
        self._drawing = None
        if isinstance(outcome, Failure):
            self._say(outcome)
        else:
            self._draw()

    # Words

    def _say(self, failure: Failure | None) -> None:
        self.failure = failure
        message = failure.words if failure is not None else ""
        self.problem.setText(message)
        self.problem.setVisible(bool(message))
        self.again.setVisible(bool(message))
        old = self.renewing or failure is not None
        self.view.set_stale(old and self.built is not None)
        if failure is not None:
            state = translate("Report", "from before the last change") if self.built else ""
        elif self.renewing and self.built is None:
            state = translate("Report", "being made …")
        else:
            state = translate("Report", "being renewed …") if self.renewing else ""
        self.state.setText(state)
        self.bar.setVisible(self._making is not None)

    def point_to_form(self) -> None:
        """Refer to the form, which shows the failure at its field."""
        self.problem.setText(translate("Report", "The form says what is to be mended."))
        self.again.hide()

    def _tell(self) -> None:
        view = self.view
        self.where.setText(view.summary())
        self.previous.setEnabled(view.page > 0)
        self.next.setEnabled(view.page + 1 < view.pages)
        self.zoom.setCurrentIndex(self.zoom.findData(view.fit))
        self._apply_style()

    def _apply_style(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.Text).name()
        self.previous.setIcon(icon("up", colour))
        self.next.setIcon(icon("down", colour))

    def changeEvent(self, event: QEvent) -> None:
        """Apply changed colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "next"):
            self._apply_style()


def draw_pages(
    pdf: bytes,
    pages: tuple[int, ...],
    dpi: int,
    show: Callable[[int, QImage], None],
    context: JobContext,
) -> None:
    """Draw pages, numbered from 0, and show each one as soon as it is ready."""
    for page in pages:
        context.checkpoint()
        png = render_pages(pdf, dpi=dpi, pages=range(page, page + 1))[0]
        context.post(partial(show, page, QImage.fromData(png)))
