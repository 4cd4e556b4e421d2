"""Other programs that a test starts."""

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
