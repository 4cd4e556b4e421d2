"""Other programs that a test starts, and folders of others that it is lent."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any


def ended(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, whatever that is; what it says is read as UTF-8."""
    options = {"capture_output": True, "encoding": "utf-8", "errors": "replace"} | options
    return subprocess.run(command, check=False, **({"timeout": 300} | options))


def run(*command: str | Path, quiet: bool = False, **options: Any) -> str:
    """Run a program that has to end well, ``quiet`` without a word on standard error."""
    done = ended(*command, **options)
    assert done.returncode == 0, done.stderr
    assert not quiet or not done.stderr, done.stderr
    return done.stdout


def python(code: str, *arguments: str | Path, **options: Any) -> str:
    """Run code in a Python of its own, and return what it prints."""
    return run(sys.executable, "-c", code, *arguments, **options)


def lend(folder: Path, place: Path) -> None:
    """Have a folder stand in another place too: as a link, or a copy where Windows allows none."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        place.symlink_to(folder, target_is_directory=True)
    except OSError:
        shutil.copytree(folder, place)


def for_owner_alone(path: Path) -> bool:
    """Tell whether a file's mode keeps others out; on Windows, that has none, its folder does."""
    return os.name == "nt" or path.stat().st_mode & 0o077 == 0
