from __future__ import annotations

from pathlib import Path

import pytest

from pura.audit.folders import WalkOptions
from pura.cli.inputs import named_files


def test_folders_become_their_files_and_the_rest_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("b.txt", "a.md", "pic\x1b[31m.png", ".h.txt"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    names = ["-", str(tmp_path), "missing.txt"]
    files = named_files(names, WalkOptions(recursive=False))
    assert files == ["-", str(tmp_path / "a.md"), str(tmp_path / "b.txt"), "missing.txt"]
    said = capsys.readouterr().err
    assert "2 files taken, 3 names left out" in said
    assert "1 × hidden files and folders: .h.txt" in said
    assert "\x1b" not in said
    assert "pic\\u001b[31m.png" in said
