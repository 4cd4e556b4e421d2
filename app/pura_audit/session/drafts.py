"""What was filled into a report, so that it comes back if the program ends before it is saved.

It stands beside the list of texts (:mod:`pura_audit.session.journal`) and by the same rule: in a
private file, and only where the settings keep texts readable.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from pura.base.files import write_atomic
from pura.caselog import KEEP
from pura.report import ReportRequest, particulars
from pura.report.request import OMITTED
from pura_audit.jobs.queue import JobQueue
from pura_audit.platform.settings import SettingsFile

FILE: Final = "report-draft.json"
MAX_BYTES: Final = 1 << 24
_log = logging.getLogger(__name__)


class Drafts:
    """The last report that was filled in and neither saved nor closed.

    Args:
        folder: The folder of the program's state.
        settings: Say whether texts are kept.
        files: Writes it.
    """

    def __init__(self, folder: Path, settings: SettingsFile, files: JobQueue) -> None:
        self.path = folder / FILE
        self._settings, self._files = settings, files

    def note(self, audits: Sequence[str], request: ReportRequest) -> None:
        """Keep what a report of these audits is told so far; without its logo."""
        if self._settings.current.case_text != KEEP:
            self.forget()
            return
        told = particulars.write(replace(request, logo=None), "").decode()
        data = json.dumps({"audits": list(audits), "told": told}).encode()
        self._do(lambda: write_atomic(self.path, data, private=True))

    def forget(self) -> None:
        """Take it away: the report was saved, or given up."""
        self._do(lambda: self.path.unlink(missing_ok=True))

    def found(self, audits: Sequence[str]) -> ReportRequest | None:
        """Return what a report with the same first audit was told when the program ended.

        What was blacked out belongs to the texts of all: of others, the report shows no text.
        """
        if self._settings.current.case_text != KEEP:
            return None
        with suppress(OSError, ValueError, KeyError, TypeError):
            with self.path.open("rb") as file:
                kept = json.loads(file.read(MAX_BYTES))
            request = particulars.read(kept["told"].encode()).request
            if kept["audits"] == list(audits):
                return request
            if kept["audits"][:1] == list(audits[:1]):
                return replace(request, text=OMITTED, redactions=(), further=())
        return None

    def _do(self, act: Callable[[], None]) -> None:
        def work(_: object) -> None:
            try:
                act()
            except OSError as error:
                _log.warning("the draft of a report cannot be noted: %s", error.strerror)

        self._files.do(work, lambda _: None, self._files, aside=True)
