"""What a built package is asked to show of itself; ``packaging/linux/prove.sh`` calls it.

A package has no interpreter to write such questions for, so they stand here:

    python -m pura_audit.tools.packaged_check keyrings
    python -m pura_audit.tools.packaged_check sample FOLDER
    python -m pura_audit.tools.packaged_check window PICTURE
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Final

from pura_audit.platform.samples import sample

WAIT_S: Final = 600.0


def keyrings() -> str:
    """Import every keyring backend of the allow-list for this system.

    Raises:
        ImportError: One is not in the package.
    """
    names = {
        "linux": ("SecretService", "kwallet"),
        "darwin": ("macOS",),
        "win32": ("Windows",),
    }[sys.platform]
    for name in names:
        importlib.import_module(f"keyring.backends.{name}")
    if sys.platform == "linux":
        # The backend module imports without them and then calls itself unusable.
        importlib.import_module("secretstorage")
        importlib.import_module("jeepney")
    return f"present: {', '.join(names)}"


def write_sample(folder: Path) -> str:
    """Write the sample's text, key and profile as files for the command."""
    shipped = sample()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text(shipped.text, encoding="utf-8", newline="")
    (folder / "key.txt").write_text(shipped.key.to_hex(), encoding="ascii")
    (folder / "profile.json").write_text(shipped.profile.to_json(), encoding="utf-8")
    return f"written: {folder}"


def window(picture: Path) -> str:
    """Open the real window, press “try the sample”, wait for the answer, paint it.

    Raises:
        RuntimeError: The audit failed, took too long, or read no mark.
    """
    from pura.base.paths import user_paths
    from pura_audit.application import make_application, make_window
    from pura_audit.tools.painting import SIZE, paint, settle

    make_application()
    shown = make_window(user_paths(None), device="cpu", theme="light")
    try:
        shown.resize(SIZE)
        shown.show()
        end = time.monotonic() + WAIT_S
        while shown.session.model is None or shown.session.device is None:
            _in_time(end)
            settle(100)
        shown.empty.sample.click()
        item = shown.session.queue.items[0]
        while item.active:
            _in_time(end)
            settle(100)
        if item.audit is None or item.audit.verdict != "mark":
            raise RuntimeError(f"the sample was not read: {item.failure or item.state}")
        settle()
        paint(shown, picture)
        return f"read: {item.audit.payload.bits}; picture: {picture}"
    finally:
        shown.session.close()
        shown.close()


def _in_time(end: float) -> None:
    if time.monotonic() > end:
        raise RuntimeError(f"no answer within {WAIT_S:.0f} s")


def main(arguments: list[str]) -> int:
    """Answer one question."""
    match arguments:
        case ["keyrings"]:
            said = keyrings()
        case ["sample", folder]:
            said = write_sample(Path(folder))
        case ["window", picture]:
            said = window(Path(picture))
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return 2
    sys.stdout.write(f"{said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
