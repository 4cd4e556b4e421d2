"""Checks of a built package, called by the scripts below ``packaging/``.

A package has no interpreter to run scripts, so the checks are part of it:

    python -m pura_audit.tools.packaged_check keyrings
    python -m pura_audit.tools.packaged_check round-trip
    python -m pura_audit.tools.packaged_check sample FOLDER
    python -m pura_audit.tools.packaged_check window PICTURE
    python -m pura_audit.tools.packaged_check prove FOLDER

The last asks all of it, in children of its own with an empty place for settings and cases below
FOLDER, and ends with 1 at the first answer that is not the expected one.
"""

from __future__ import annotations

import importlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pura_audit.platform.notices import sample

WAIT_S: Final = 600.0


def keyrings() -> str:
    """Import every keyring backend of the allow-list for this system."""
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


def round_trip() -> str:
    """Write a dummy secret to the system's keyring, read it, and delete it.

    Raises:
        RuntimeError: There is no keyring, or it gives back something else.
    """
    from pura.keys.backends import find_backend

    backend, title = find_backend() or (None, "")
    if backend is None:
        raise RuntimeError("no keyring of the allow-list is there")
    service, secret = "pura-audit-proof", secrets.token_hex(16)
    backend.set_password(service, "proof", secret)
    try:
        if backend.get_password(service, "proof") != secret:
            raise RuntimeError(f"{title} gave back something else")
    finally:
        backend.delete_password(service, "proof")
    return f"written, read and removed: {title}"


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
    from pura_audit.tools.paint import SIZE, paint, settle

    make_application()
    main_window = make_window(user_paths(None), device="cpu", theme="light")
    try:
        main_window.resize(SIZE)
        main_window.show()
        end = time.monotonic() + WAIT_S
        while main_window.session.chosen.model is None or main_window.session.chosen.device is None:
            _in_time(end)
            settle(100)
        main_window.empty.sample.click()
        sample = main_window.session.texts.queue.items[0]
        while sample.active:
            _in_time(end)
            settle(100)
        if sample.audit is None or sample.audit.verdict != "mark":
            raise RuntimeError(f"the sample was not read: {sample.failure or sample.state}")
        settle()
        paint(main_window, picture)
        return f"read: {sample.audit.decoded.bits}; picture: {picture}"
    finally:
        main_window.session.close()
        main_window.close()


def _in_time(end: float) -> None:
    if time.monotonic() > end:
        raise RuntimeError(f"no answer within {WAIT_S:.0f} s")


def _questions(folder: Path) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield each command as program, expected exit code and arguments."""
    files, report = folder / "sample", str(folder / "report.pdf")
    audit = (
        "verify",
        *(str(files / "text.txt"), "--key-file", str(files / "key.txt")),
        *("--profile", str(files / "profile.json")),
    )
    check = ("-m", "pura_audit.tools.packaged_check")
    yield "pura", 0, ("--version",)
    yield "pura-audit", 0, ("--version",)
    yield "pura", 0, (*check, "keyrings")
    if sys.platform != "linux":  # a desktop without a session has no Secret Service to ask
        yield "pura", 0, (*check, "round-trip")
    yield "pura", 0, ("model", "install")
    yield "pura", 0, ("selftest",)
    yield "pura", 0, (*check, "sample", str(files))
    yield "pura", 0, (*audit, "--save", "Proof", "--auditor", "Prover", "--pdf", report)
    yield "pura", 3, ("report", "verify", report)  # everything holds, and nobody signed it
    yield "pura", 0, ("caselog", "show", "Proof")
    yield "pura", 0, ("caselog", "verify")
    yield "pura-audit", 0, (*check, "window", str(folder / "window.png"))


def prove(folder: Path) -> str:
    """Run all checks as a user would, without this machine's settings.

    Raises:
        RuntimeError: An answer is not the expected one; what the program printed stands above.
    """
    folder.mkdir(parents=True, exist_ok=True)
    programs = Path(sys.executable).parent
    ending = ".exe" if sys.platform == "win32" else ""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PURA", "PYTHON"))
    }
    settings = {
        "PURA_HOME": str(folder / "home"),
        "QT_QPA_PLATFORM": "offscreen",
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    for program, right, arguments in _questions(folder):
        sys.stdout.write(f"\n== {program} {' '.join(arguments)}\n")
        sys.stdout.flush()
        process = subprocess.run(  # noqa: S603 - the package's own programs
            [str(programs / f"{program}{ending}"), *arguments],
            env={**environment, **settings},
            check=False,
        )
        if process.returncode != right:
            raise RuntimeError(f"{program} ended with {process.returncode}, not with {right}")
    return "All held."


def main(arguments: list[str]) -> int:
    """Run one check."""
    match arguments:
        case ["keyrings"]:
            answer = keyrings()
        case ["round-trip"]:
            answer = round_trip()
        case ["prove", folder]:
            answer = prove(Path(folder).resolve())
        case ["sample", folder]:
            answer = write_sample(Path(folder))
        case ["window", picture]:
            answer = window(Path(picture))
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return 2
    sys.stdout.write(f"{answer}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
