"""A clean user with a model, and the real command."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pura.cli.__main__ import main

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def models(small_models: Path) -> Path:
    """The folder of the models that are installed: the small one; some tests put the real there."""
    return small_models


@pytest.fixture(scope="session")
def samples(small_samples: dict[str, Any]) -> dict[str, Any]:
    """Samples of the model that is installed."""
    return small_samples


@pytest.fixture
def home(tmp_path: Path, models: Path) -> Path:
    """A user's folder in which one model is installed."""
    root = tmp_path / "home"
    (root / "data").mkdir(parents=True)
    (root / "data" / "models").symlink_to(models, target_is_directory=True)
    return root


@pytest.fixture
def pura(home: Path, lent: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command of a clean user, in this process: torch and the model are loaded once.

    ``mixed`` puts what it complains of into its output. ``test_wheel.py`` and others start the same
    command as a process of its own.
    """
    monkeypatch.setenv("PURA_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "200")

    def run(
        *arguments: str | Path, stdin: str | bytes | None = None, mixed: bool = False
    ) -> subprocess.CompletedProcess[str]:
        words = ["pura", *map(str, arguments)]
        data = stdin.encode() if isinstance(stdin, str) else stdin
        said, complained = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        if mixed:
            complained = said
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", words)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data or b"")))
            patch.setattr(sys, "stdout", said)
            patch.setattr(sys, "stderr", complained)
            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        written = []
        for stream in (said, complained):
            stream.flush()
            written.append(stream.buffer.getvalue().decode())
        return subprocess.CompletedProcess(words, code, *written)

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
