"""``pura-audit`` and ``python -m pura_audit``."""

from __future__ import annotations

import sys


def main() -> int:
    """Start the window; says in words what is missing where Qt is not installed."""
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
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
