"""The worker that holds the model, in a thread of its own; :mod:`.file_worker` is the other."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, Signal, Slot

from pura.base.errors import Cancelled, PuraError
from pura_audit.jobs.context import JobContext
from pura_audit.jobs.engine import Engine
from pura_audit.jobs.messages import Chore, Failure, Request

_log = logging.getLogger(__name__)


def unexpected(error: Exception) -> Failure:
    """Put a fault of the program into words; the details go to the log, never the text."""
    # The traceback names places in the code; the exception's own words may quote the text.
    _log.error("a job failed: %s", type(error).__name__, exc_info=error)
    return Failure(
        code="internal",
        message=f"The program made a mistake ({type(error).__name__}); no statement is made "
        "about the text.",
        hint="Try once more. If it happens again, send the log file (Help) to your support.",
    )


class ModelWorker(QObject):
    """Runs everything that needs the model or the keyring.

    Signals:
        catalogued: A :class:`~pura_audit.jobs.messages.Catalogue`.
        placed: :class:`~pura_audit.jobs.messages.DeviceWords`, or a Failure.
        finished: Job number and its Audit; for a chore what was done in words, or None.
        failed: Job number and its Failure.
        cancelled: Job number.
    """

    catalogued = Signal(object)
    placed = Signal(object)
    finished = Signal(int, object)
    failed = Signal(int, object)
    cancelled = Signal(int)

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    @Slot()
    def look_around(self) -> None:
        """Find keys, models and profiles, then import torch and find the device."""
        self.find()
        try:
            self.placed.emit(self._engine.device())
        except PuraError as error:
            self.placed.emit(Failure.of(error))
        except Exception as error:
            self.placed.emit(unexpected(error))

    @Slot()
    def find(self) -> None:
        """Find keys, models and profiles."""
        try:
            self.catalogued.emit(self._engine.catalogue())
        except Exception as error:
            _log.exception("keys, models and profiles cannot be listed: %s", type(error).__name__)

    @Slot(int, object, object)
    def run(self, number: int, request: Request | Chore, context: JobContext) -> None:
        """Audit one text, or set something up."""
        result: object = None
        try:
            context.checkpoint()
            if isinstance(request, Chore):
                result = self._engine.do(request, context.progress, context.checkpoint)
            else:
                result = self._engine.run(request, context.progress, context.checkpoint)
        except Cancelled:
            self.cancelled.emit(number)
        except PuraError as error:
            self.failed.emit(number, Failure.of(error))
        except Exception as error:
            self.failed.emit(number, unexpected(error))
        else:
            self.finished.emit(number, result)
