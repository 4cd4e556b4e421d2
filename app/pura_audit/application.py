"""Start-up: flags, folders, log, fonts, theme, session, window."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from pura.base.paths import Paths, user_paths
from pura.record.audit import Audit
from pura.scheme import SecretKey
from pura.version import __version__
from pura_audit.platform import accessible, diagnostics, i18n, single
from pura_audit.platform.diagnostics import the_collector
from pura_audit.platform.i18n import filled, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.choices import AuditEngine
from pura_audit.session.session import Session
from pura_audit.theme import fonts
from pura_audit.theme.fonts import app_icon
from pura_audit.theme.theme import Mode, Theme
from pura_audit.workbench.main_window import MainWindow


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; None leaves a value to the settings."""
    parser = argparse.ArgumentParser(
        prog="pura-audit", description="The window of PURA Audit.", allow_abbrev=False
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="texts to open")
    parser.add_argument("--version", action="version", version=f"PURA Audit {__version__}")
    parser.add_argument("--log-level", choices=diagnostics.LEVELS)
    parser.add_argument(
        "--config-dir", type=Path, metavar="DIR", help="keep settings, models and logs below DIR"
    )
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"))
    parser.add_argument(
        "--debug-stalls",
        action="store_true",
        default=diagnostics.wanted(),
        help="log what keeps the window from answering",
    )
    return parser.parse_args(list(arguments))


def make_application() -> QApplication:
    """Return the one application object, set up."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        app = existing
    else:
        if sys.platform == "linux":
            # Files are asked for by the desktop's own dialog, through its portal; where there is
            # none Qt asks itself. A desktop that says how Qt shall look has said it already.
            os.environ.setdefault("QT_QPA_PLATFORMTHEME", "xdgdesktopportal")
        QGuiApplication.setHighDpiScaleFactorRoundingPolicy(
            Qt.HighDpiScaleFactorRoundingPolicy.PassThrough
        )
        app = QApplication(sys.argv[:1])
    app.setApplicationName("PURA Audit")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("pura-audit")
    app.setWindowIcon(app_icon())
    app.setStyle("Fusion")
    fonts.install(app)
    accessible.install()
    the_collector()
    return app


def make_window(
    paths: Paths,
    *,
    engine: AuditEngine | None = None,
    device: str | None = None,
    session_keys: Mapping[str, SecretKey] | None = None,
    theme: str | None = None,
    remembers: bool = True,
) -> MainWindow:
    """Build the window; nothing heavy happens before it is shown.

    Args:
        paths: The user's folders.
        engine: Performs the work. Default: the real engine.
        device: Which device the model runs on, instead of the one in the settings.
        session_keys: Keys for this run only, by label.
        theme: Colours instead of the remembered ones.
        remembers: Whether the list of texts is restored at the next start.
    """
    settings = SettingsFile(paths.config)
    if theme is not None:
        settings.current = replace(settings.current, theme=theme)
    i18n.set_language(settings.current.language or None)
    colours = Theme(Mode(settings.current.theme))
    colours.apply()
    now = settings.current
    if engine is None:
        collect = the_collector().collect
        engine = AuditEngine(paths, session_keys, device or now.device, now.dtype, collect)
    session = Session(engine, settings, remembers=remembers)
    window = MainWindow(session, colours)
    session.setParent(window)
    colours.setParent(window)
    for problem in settings.problems:
        window.status.say(problem)
    # Once the window is on screen: find keys, models and profiles, then import torch, all in
    # the model thread.
    window.installEventFilter(_FirstPaint(session))
    return window


class _FirstPaint(QObject):
    """Starts a session after the first paint of the window, which imports would delay."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the first paint event, without handling it."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._session, self._session.begin)
        return False


def show_audit(
    audit: Audit,
    *,
    paths: Paths,
    theme: str | None = None,
    session_keys: Mapping[str, SecretKey] | None = None,
) -> MainWindow:
    """Return a window that shows an audit that was done elsewhere."""
    window = make_window(paths, theme=theme, session_keys=session_keys, remembers=False)
    window.session.texts.add_audit(audit)
    return window


def meet(window: MainWindow, address: str) -> single.FirstWindow:
    """Let later starts find a window; if that fails, show a message and continue."""
    first = single.FirstWindow(address, window)
    first.asked.connect(window.open_for_another_start)
    if not first.listen():
        text = translate(
            "Window",
            "A second start will not find this window and opens one of its own. "
            "Make “{folder:text}” a folder that only you can enter, then start again.",
        )
        window.status.say(filled(text, folder=str(Path(address).parent)))
    return first


def run(arguments: Sequence[str]) -> int:
    """Run the window until it is closed."""
    flags = parse(arguments)
    paths = user_paths(flags.config_dir)
    app = make_application()
    address = single.meeting_place(paths.state)
    if single.hand_over(address, flags.files):
        return 0
    crash = diagnostics.start(paths.state / "log", flags.log_level or "info")
    window = make_window(paths, device=flags.device)
    diagnostics.set_level(flags.log_level or window.session.settings.current.log_level)
    first = meet(window, address)
    window.show()
    if crash:
        window.status.say(
            translate("Window", "The program crashed last time; what it left is in the log folder.")
        )
    if flags.files:
        window.add_files(flags.files)
    meter = diagnostics.StallMeter()
    if flags.debug_stalls:
        meter.start()
    try:
        return app.exec()
    finally:
        first.close()
        meter.stop()
        window.session.close()
        diagnostics.stop()
