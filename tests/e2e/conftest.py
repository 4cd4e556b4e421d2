"""A clean user with the built-in model, and the real command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path, installed_models: Path) -> Path:
    """A user's folder in which only the built-in model is installed."""
    root = tmp_path / "home"
    (root / "data").mkdir(parents=True)
    (root / "data" / "models").symlink_to(installed_models, target_is_directory=True)
    return root


@pytest.fixture
def pura(home: Path) -> Run:
    """The real ``pura`` process of a clean user; no keyring, no network variables."""

    def run(
        *arguments: str | Path, stdin: str | bytes | None = None, timeout: float = 240
    ) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if k != "DBUS_SESSION_BUS_ADDRESS"}
        environment |= {"PURA_HOME": str(home), "COLUMNS": "200"}
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "pura.cli", *map(str, arguments)],
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            env=environment,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return run


@pytest.fixture
def marked(tmp_path: Path, samples: dict[str, dict[str, object]]) -> Path:
    """A folder with the marked samples as plain files, their key and their profile."""
    folder = tmp_path / "marked"
    folder.mkdir()
    data = samples["marked"]
    (folder / "key.txt").write_text(str(data["key_hex"]) + "\n")
    (folder / "profile.json").write_text(json.dumps(data["profile"]))
    texts = data["texts"]
    assert isinstance(texts, list)
    for number, entry in enumerate(texts):
        (folder / f"{number:02}.txt").write_text(entry["text"], encoding="utf-8", newline="")
    return folder
