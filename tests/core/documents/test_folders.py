from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.core.stops import stop

from pura.base.errors import Cancelled
from pura.documents import folders
from pura.documents.folders import Skipped, WalkOptions, gather, walk


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / ".hidden").mkdir()
    for name in (
        "b.txt",
        "a.DOCX",
        "photo.jpg",
        ".secret.txt",
        "sub/c.md",
        "sub/deep/d.eml",
        ".hidden/e.txt",
        "~$a.docx",
    ):
        (root / name).write_text("x", encoding="utf-8")
    (root / "empty.txt").touch()
    return root


def names(root: Path, options: WalkOptions | None = None) -> list[str]:
    return [p.relative_to(root).as_posix() for p in gather([root], options)[0]]


def reasons(root: Path, options: WalkOptions | None = None) -> dict[str, str]:
    return {s.path.name: s.reason for s in walk(root, options) if isinstance(s, Skipped)}


def test_takes_what_can_be_read_and_says_what_it_left(tree: Path) -> None:
    assert names(tree) == ["a.DOCX", "b.txt", "sub/c.md", "sub/deep/d.eml"]
    assert reasons(tree) == {
        ".hidden": folders.HIDDEN,
        ".secret.txt": folders.HIDDEN,
        "photo.jpg": folders.FORMAT,
        "~$a.docx": folders.LOCK,
        "empty.txt": folders.EMPTY,
    }
    _, summary = gather([tree])
    assert summary.found == 4
    assert summary.total_skipped == 5
    assert summary.skipped.most_common()[0] == ("hidden", 2)
    assert set(summary.skipped) <= set(folders.REASONS)


def test_filters(tree: Path) -> None:
    assert names(tree, WalkOptions(include=("*.docx", "*.JPG"))) == ["a.DOCX", "photo.jpg"]
    assert reasons(tree, WalkOptions(include=("*.docx",)))["b.txt"] == folders.PATTERN
    assert "sub/c.md" not in names(tree, WalkOptions(exclude=("sub",)))
    flat = WalkOptions(recursive=False)
    assert names(tree, flat) == ["a.DOCX", "b.txt"]
    assert reasons(tree, flat)["sub"] == folders.SUBFOLDER
    assert names(tree, WalkOptions(hidden=True))[:2] == [".hidden/e.txt", ".secret.txt"]
    assert names(tree, WalkOptions(limit=1)) == ["a.DOCX"]
    assert reasons(tree, WalkOptions(limit=1))["b.txt"] == folders.LIMIT


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_are_followed_on_request_and_loops_end(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "far.txt").write_text("x", encoding="utf-8")
    (tree / "loop").symlink_to(tree, target_is_directory=True)
    (tree / "way").symlink_to(outside, target_is_directory=True)
    (tree / "dead.txt").symlink_to(tmp_path / "nowhere")
    assert {reasons(tree)[n] for n in ("loop", "way", "dead.txt")} == {folders.LINK}
    followed = WalkOptions(links=True)
    assert "way/far.txt" in names(tree, followed)
    assert reasons(tree, followed)["loop"] == folders.LOOP
    assert reasons(tree, followed)["dead.txt"] == folders.UNREADABLE


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_and_strange_names(tree: Path) -> None:
    os.mkfifo(tree / "pipe.txt")
    (tree / "-n\n\u202e🙂.txt").write_text("x", encoding="utf-8")
    assert reasons(tree)["pipe.txt"] == folders.SPECIAL
    assert "-n\n\u202e🙂.txt" in names(tree)


def test_what_cannot_be_entered_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert [s.reason for s in walk(gone) if isinstance(s, Skipped)] == [folders.UNREADABLE]
    deep = tmp_path.joinpath(*["d"] * (folders.MAX_DEPTH + 2))
    deep.mkdir(parents=True)
    assert [s.reason for s in walk(tmp_path) if isinstance(s, Skipped)] == [folders.DEEP]


def test_many_files_and_a_stop(tmp_path: Path) -> None:
    for i in range(1500):
        (tmp_path / f"{i:04}.png").touch()
    files, summary = gather([tmp_path])
    assert files == []
    assert summary.total_skipped == 1500
    assert len(summary.examples) == folders.MAX_EXAMPLES

    with pytest.raises(Cancelled):
        gather([tmp_path], checkpoint=stop)
