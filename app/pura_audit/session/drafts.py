"""What was filled into forms, so that it comes back if the program ends before it is done with.

It stands beside the list of texts (:mod:`pura_audit.session.record`) and by the same rule: in a
private file, and only where the settings keep texts readable.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from pura.base.files import write_atomic
from pura.caselog import KEEP
from pura.report import ReportRequest
from pura.report import request as request_file
from pura.report.request import OMITTED
from pura_audit.jobs.queue import JobQueue
from pura_audit.platform.settings import SettingsFile, WindowSettings

FILE: Final = "drafts.json"
MAX_BYTES: Final = 1 << 24
MOST: Final = 20
"""So many forms are remembered; the oldest goes first."""
PAUSE_MS: Final = 300
"""What is typed within it is noted together."""
_log = logging.getLogger(__name__)

About = tuple[str, ...]
"""What a form is about: the kind of form, then identifiers."""
Told = Mapping[str, str]


class Drafts:
    """Forms that were filled in and neither finished nor given up.

    Args:
        folder: The folder of the program's state.
        settings: Say whether texts are kept.
        files: Writes the file.
    """

    def __init__(self, folder: Path, settings: SettingsFile, files: JobQueue) -> None:
        self.path = folder / FILE
        self._settings, self._files = settings, files
        self._read: dict[About, Told] | None = None
        self._open: set[About] = set()
        settings.watchers.append(self._settings_changed)

    @property
    def _kept(self) -> dict[About, Told]:
        if self._read is None:
            self._read = {}
            with suppress(OSError, ValueError, KeyError, TypeError):
                with self.path.open("rb") as file:
                    rows = json.loads(file.read(MAX_BYTES))["drafts"]
                self._read = {
                    tuple(str(part) for part in row["about"]): {
                        str(name): str(words) for name, words in row["told"].items()
                    }
                    for row in rows
                }
        return self._read

    @property
    def _wanted(self) -> bool:
        return self._settings.current.case_text == KEEP

    def note(self, about: About, told: Told, *, before: About | None = None) -> None:
        """Keep what a form is told so far.

        Args:
            about: What it is about.
            told: What was filled in, by the names of the fields.
            before: What it was about when it was last noted; that goes.
        """
        if before is not None:
            self._open.discard(before)
            self._kept.pop(before, None)
        self._open.add(about)
        self._kept.pop(about, None)
        self._kept[about] = told
        while len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]
        self._write()

    def forget(self, about: About | None) -> None:
        """Take it away: it was finished, or given up."""
        if about is None:
            return
        self._open.discard(about)
        if self._kept.pop(about, None) is not None:
            self._write()

    def take(self, about: About) -> Told | None:
        """Return what the form was told when the program ended; it belongs to that form now."""
        if not self._wanted or about in self._open or about not in self._kept:
            return None
        self._open.add(about)
        return self._kept[about]

    def like(self, about: About) -> About | None:
        """Return what the newest form of the same kind was about whose first identifier is this.

        Forms that are open keep theirs.
        """
        kept = (one for one in reversed(self._kept) if one not in self._open)
        return next((one for one in kept if one[:2] == about[:2]), None)

    def _settings_changed(self, before: WindowSettings) -> None:
        if before.case_text != self._settings.current.case_text:
            self._write()

    def _write(self) -> None:
        rows = [{"about": about, "told": told} for about, told in self._kept.items()]
        data = json.dumps({"drafts": rows}).encode()

        def work(_: object) -> None:
            try:
                if rows and self._wanted:
                    write_atomic(self.path, data, private=True)
                else:
                    self.path.unlink(missing_ok=True)
            except OSError as error:
                _log.warning("what was filled in cannot be noted: %s", error.strerror)

        self._files.do(work, lambda _: None, self._files, aside=True)


class ReportDraft:
    """What a report is told, noted while its form is filled in.

    Args:
        drafts: Keeps it.
        audits: Identifiers of the audits that are ticked at first.

    Attributes:
        found: What it was told when the program ended. What was blacked out belongs to the texts of
            all audits: where others were ticked then, the report shows no text.
    """

    def __init__(self, drafts: Drafts, audits: Sequence[str]) -> None:
        self._drafts = drafts
        about = ("report", *audits)
        self._about: About | None = None
        self.found: ReportRequest | None = None
        for noted in (about, drafts.like(about)):
            told = None if noted is None else drafts.take(noted)
            if told is None:
                continue
            self._about = noted
            with suppress(ValueError, KeyError, TypeError):
                request = request_file.read(told["request"].encode()).request
                same = noted == about
                self.found = (
                    request if same else replace(request, text=OMITTED, redactions=(), further=())
                )
            break

    def note(self, audits: Sequence[str], request: ReportRequest) -> None:
        """Keep what a report of these audits is told so far; without its logo."""
        told = request_file.write(replace(request, logo=None), "").decode()
        about = ("report", *audits)
        self._drafts.note(about, {"request": told}, before=self._about)
        self._about = about

    def forget(self) -> None:
        """Take it away: the report was saved, or given up."""
        self._drafts.forget(self._about)
        self._about = None
