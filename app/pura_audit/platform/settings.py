"""The settings of the window: validated and written atomically, with a backup of bad files."""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from pura.base.files import write_atomic
from pura.base.numerals import LANGUAGES
from pura.report.request import MAX_FIELD, PAPERS
from pura_audit.platform.i18n import filled, translate

FILE: Final = "settings.json"
MAX_BYTES: Final = 1 << 20  # of the settings file; a larger file is not read in full
MAX_RECENT: Final = 10
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class WindowSettings:
    """The settings.

    Attributes:
        theme: ``system``, ``light``, ``dark`` or ``contrast``.
        language: ``""`` follows the system; else ``en`` or ``de``.
        setup: Name of the set-up that was chosen last, or ``""``.
        key: Fingerprints of the keys that were chosen last, a comma between; or ``""``.
        model: Name of the model that was chosen last, or ``""``.
        profile: Names of the profiles that were chosen last, with ``/`` between them, or ``""``.
        text_size: Of the text under audit, in pixels.
        queue_folded: None decides by the window's width.
        pile_hidden: Columns of the table that are not shown.
        pile_filters: Filters of the table that were kept: the outcome, a colon, words.
        evidence_hidden: The right column is hidden.
        geometry: Of the window, as Qt saves it, hex.
        columns: Widths of the three columns.
        rows: Heights of the three cards of evidence.
        device: Where the model runs: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: Its number format: ``float32``, ``bfloat16`` or ``float16``.
        log_level: How much is logged.
        keep_recent: Whether recent files are remembered.
        recent: Paths of recent files, newest first.
        auditor: Who acts, as the case log says it.
        begin_audits: Whether an audit begins by itself when a text is dropped; None: unless the
            organisation has put a policy in place.
        pace: Characters that were audited in a second; 0 while nothing was measured.
        pace_of: With which model, on which device.
        case_text: What becomes of texts in the case log: ``keep``, ``seal`` or ``leave-out``.
        report_organisation: Of reports: who examines; so are the next three.
        report_address: Its address.
        report_place: Where the work is done.
        report_examiner: Who examines.
        report_standing: What the organisation says in each of them.
        report_language: ``""`` follows the window; else ``en`` or ``de``.
        report_paper: ``""`` follows the system; else ``a4`` or ``us-letter``.
        report_logo: Path of the logo, or ``""``.
    """

    theme: str = "system"
    language: str = ""
    setup: str = ""
    key: str = ""
    model: str = ""
    profile: str = ""
    text_size: int = 15
    queue_folded: bool | None = None
    pile_hidden: tuple[str, ...] = ()
    pile_filters: tuple[str, ...] = ()
    evidence_hidden: bool = False
    geometry: str = ""
    columns: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    device: str = "auto"
    dtype: str = "float32"
    log_level: str = "info"
    keep_recent: bool = True
    recent: tuple[str, ...] = ()
    auditor: str = ""
    begin_audits: bool | None = None
    pace: float = 0.0
    pace_of: str = ""
    case_text: str = "keep"
    report_organisation: str = ""
    report_address: str = ""
    report_place: str = ""
    report_examiner: str = ""
    report_standing: str = ""
    report_language: str = ""
    report_paper: str = ""
    report_logo: str = ""

    def with_recent(self, path: Path) -> WindowSettings:
        """Return a copy with a file on top of the recent ones."""
        if not self.keep_recent:
            return self
        earlier = tuple(p for p in self.recent if p != str(path))
        return replace(self, recent=(str(path), *earlier)[:MAX_RECENT])


_CHOICES: Final = {
    "theme": ("system", "light", "dark", "contrast"),
    "language": ("", *LANGUAGES),
    "device": ("auto", "cpu", "cuda", "mps"),
    "dtype": ("float32", "bfloat16", "float16"),
    "log_level": ("debug", "info", "warning", "error"),
    "case_text": ("keep", "seal", "leave-out"),
    "report_language": ("", *LANGUAGES),
    "report_paper": ("", *PAPERS),
}


class SettingsFile:
    """The settings on disk.

    A file that is not a settings file is moved to a backup. Otherwise only invalid values get
    their defaults again.

    Args:
        folder: The configuration folder.

    Attributes:
        current: The settings in use.
        watchers: Called after every change, with the earlier settings.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.watchers: list[Callable[[WindowSettings], None]] = []
        self._bad: tuple[str, ...] = ()
        self._unreadable = False
        self.current = self._read()

    @property
    def problems(self) -> tuple[str, ...]:
        """Messages on problems of the file, in the language in use; empty if there were none."""
        if self._unreadable:
            template = translate(
                "Settings",
                "The settings could not be read, so the defaults are in use. The old file is "
                "kept next to the new one as “{file:text}”.",
            )
            return (filled(template, file=self._backup.name),)
        if self._bad:
            template = translate(
                "Settings",
                "These settings were not valid and have their defaults again: {names:text}. The"
                " old file is kept next to the new one as “{file:text}”.",
            )
            return (filled(template, names=", ".join(self._bad), file=self._backup.name),)
        return ()

    def update(self, **changes: Any) -> None:
        """Change settings and write them; write errors are logged and not raised."""
        self.replace(replace(self.current, **changes))

    def replace(self, settings: WindowSettings) -> None:
        """Replace the settings and write them."""
        if settings == self.current:
            return
        before, self.current = self.current, settings
        text = json.dumps(asdict(settings), ensure_ascii=False, indent=2) + "\n"
        try:
            write_atomic(self.path, text.encode(), private=True)
        except OSError as error:
            _log.warning("the settings cannot be written: %s", error.strerror)
        for watcher in self.watchers:
            watcher(before)

    def _read(self) -> WindowSettings:
        try:
            with self.path.open("rb") as file:
                file_bytes = file.read(MAX_BYTES)
        except OSError:
            return WindowSettings()
        try:
            document = json.loads(file_bytes)
            if not isinstance(document, dict):
                raise TypeError
        except (ValueError, TypeError, RecursionError):
            self._back_up(keep=False)
            self._unreadable = True
            return WindowSettings()
        settings, self._bad = _parse(document)
        if self._bad:
            self._back_up(keep=True)
        return settings

    @property
    def _backup(self) -> Path:
        return self.path.with_suffix(".json.bak")

    def _back_up(self, *, keep: bool) -> None:
        """Keep a backup of the bad file."""
        _log.warning("the settings file is damaged; it is kept as %s.bak", FILE)
        with contextlib.suppress(OSError):
            if keep:
                shutil.copyfile(self.path, self._backup)
                self._backup.chmod(0o600)
            else:
                self.path.replace(self._backup)


def _parse(document: dict[str, Any]) -> tuple[WindowSettings, tuple[str, ...]]:
    """Return the settings, and the names of those that did not fit."""
    defaults = asdict(WindowSettings())
    valid: dict[str, Any] = {}
    bad: list[str] = []
    for field in fields(WindowSettings):
        if field.name not in document:
            continue
        setting = document[field.name]
        if isinstance(setting, list):
            setting = tuple(setting)
        if _fits(field.name, setting, defaults[field.name]):
            valid[field.name] = setting
        else:
            bad.append(field.name)
    return WindowSettings(**valid), tuple(bad)


def _fits(name: str, setting: object, default: object) -> bool:
    if name in _CHOICES:
        return setting in _CHOICES[name]
    if name in ("queue_folded", "begin_audits"):
        return setting is None or isinstance(setting, bool)
    if name == "text_size":
        return type(setting) is int and 8 <= setting <= 48
    if name in ("columns", "rows"):
        return isinstance(setting, tuple) and all(type(x) is int and x >= 0 for x in setting)
    if name in ("recent", "pile_hidden", "pile_filters"):
        return isinstance(setting, tuple) and all(isinstance(x, str) for x in setting)
    if name.startswith("report_"):
        return isinstance(setting, str) and len(setting) <= MAX_FIELD
    return type(setting) is type(default)
