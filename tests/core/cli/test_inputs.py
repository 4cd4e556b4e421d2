import os

import pytest
from typer.testing import CliRunner

from pura.base.errors import InputError
from pura.cli.__main__ import app
from pura.cli.options import named_files, read_ids
from pura.documents.folders import WalkOptions


def test_folders_become_their_files_and_the_rest_is_said(tmp_path, capsys):
    picture = "pic.png" if os.name == "nt" else "pic\x1b[31m.png"  # no such names there
    for name in ("b.txt", "a.md", picture, ".h.txt"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    names = ["-", str(tmp_path), "missing.txt"]
    files = named_files(names, WalkOptions(recursive=False))
    assert files == ["-", str(tmp_path / "a.md"), str(tmp_path / "b.txt"), "missing.txt"]
    said = capsys.readouterr().err
    assert "2 files taken, 3 names left out" in said
    assert "1 × hidden files and folders: .h.txt" in said
    assert "\x1b" not in said
    assert picture.replace("\x1b", "\\x1b") in said


def test_saved_ids(tmp_path):
    path = tmp_path / "ids.json"
    path.write_text('{"ids": [3, 1, 2], "payload": "01"}', encoding="utf-8")
    assert read_ids(path, ["a.txt"]) == (3, 1, 2)
    path.write_text("[5]", encoding="utf-8")
    assert read_ids(path, ["a.txt"]) == (5,)


@pytest.mark.parametrize("text", ["", "[1.5]", "[true]", "{}", '{"ids": "1"}', "[" * 9999, "7"])
def test_ids_that_are_none(tmp_path, text):
    path = tmp_path / "ids.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_ids(path, ["a.txt"])


def test_ids_belong_to_one_text(tmp_path):
    with pytest.raises(InputError, match="one text"):
        read_ids(tmp_path / "ids.json", ["a.txt", "b.txt"])
    with pytest.raises(InputError, match="cannot be read"):
        read_ids(tmp_path / "ids.json", ["a.txt"])


def test_a_known_prompt_and_candidates_exclude_each_other():
    words = ["verify", "x.txt", "--profile", "p", "--prompt-file", "a", "--prompts", "b"]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 2
    assert "not both" in " ".join(found.output.split())
