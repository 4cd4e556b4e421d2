"""A clean user with the built-in model, and the real command."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pura.cli.__main__ import main
from pura.model import load as loading
from pura.model.device import Device, choose_device
from pura.model.installed import InstalledModel
from pura.model.load import LanguageModel

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path, installed_models: Path) -> Path:
    """A user's folder in which only the built-in model is installed."""
    root = tmp_path / "home"
    (root / "data").mkdir(parents=True)
    (root / "data" / "models").symlink_to(installed_models, target_is_directory=True)
    return root


@pytest.fixture
def pura(home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command of a clean user, in this process: torch and the model are loaded once.

    ``mixed`` puts what it complains of into its output. ``test_wheel.py`` and others start the same
    command as a process of its own.
    """
    load = loading.load_model

    def lend(source: InstalledModel | Path, device: Device) -> LanguageModel:
        if getattr(source, "name", "") == "smollm2-135m" and device == choose_device("cpu"):
            model: LanguageModel = request.getfixturevalue("builtin_model")
            return model
        return load(source, device)

    monkeypatch.setattr(loading, "load_model", lend)
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
