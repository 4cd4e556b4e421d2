"""``pura-audit`` and ``python -m pura_audit``."""

from __future__ import annotations

import os
import sys

from pura.base.process import close_to_others


def main() -> int:
    """Start the window; says in words what is missing where Qt is not installed."""
    close_to_others()
    try:
        from pura_audit.application import run
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("PySide6", "pyqtgraph", "shiboken6"):
            raise
        sys.stderr.write(
            "The window needs PySide6 and pyqtgraph, which are not installed.\n"
            "Install them with: pip install 'pura-audit[gui]'\n"
        )
        return 1
    if not screen_at_hand():
        sys.stderr.write(
            "There is no screen to show the window on (neither DISPLAY nor WAYLAND_DISPLAY is "
            "set).\nStart it on a desktop, use the command “pura verify”, or set "
            "QT_QPA_PLATFORM=offscreen for a window that is not shown.\n"
        )
        return 1
    return run(sys.argv[1:])


def screen_at_hand() -> bool:
    """Whether Qt can find a screen; it would abort without a word in plain language."""
    if not sys.platform.startswith("linux") or {"--version", "-h", "--help"} & set(sys.argv):
        return True
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(os.environ.get(name) for name in names)


if __name__ == "__main__":
    sys.exit(main())
