"""``pura batch``, as a person or a script would use it."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.model


def test_a_pile_becomes_rows_and_shards_become_one(pura, marked, tmp_path):
    pile = tmp_path / "pile"
    (pile / "inner").mkdir(parents=True)
    for number in range(2):
        text = (marked / f"{number:02}.txt").read_text(encoding="utf-8")[:300]
        (pile / "inner" / f"{number}.txt").write_text(text, encoding="utf-8")
    (pile / "note.txt").write_text("A few words.")
    (pile / "broken.pdf").write_bytes(b"%PDF-1.4 no")
    settings = ("--key-file", marked / "key.txt", "--profile", marked / "profile.json")
    names = b"\0".join(bytes(pile / name) for name in ("note.txt", "broken.pdf", "inner"))
    out = tmp_path / "out.jsonl"
    listed = ("batch", "run", "--files-from", "-", "-0", *settings, "-o", out)
    done = pura(*listed, "--fdr", "0.1", stdin=names)
    assert done.returncode == 1, done.stderr
    assert "4 rows" in done.stdout
    assert "2  A mark was found" in done.stdout
    assert "1  could not be examined: input-damaged" in done.stdout
    assert "2 are chosen" in done.stdout
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [Path(row["path"]).name for row in rows] == ["note.txt", "broken.pdf", "0.txt", "1.txt"]
    assert all(Path(row["path"]).is_absolute() for row in rows)
    # Again, by outcome and in German; nothing is read a second time.
    done = pura(*listed, "--exit-by-outcome", "--language", "de", stdin=names)
    assert done.returncode == 3, done.stderr
    assert "4 Zeilen" in done.stdout
    assert "jetzt" not in done.stdout
    # In two parts, put together.
    pattern, whole = str(pile / "**" / "*.txt"), tmp_path / "whole.jsonl"
    parts = [tmp_path / f"{number}.jsonl" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        call = ("batch", "run", pattern, *settings, "-o", part, "--shard", f"{number}/2")
        assert pura(*call).returncode == 0
    merged = pura("batch", "merge", whole, *parts, "--json")
    assert merged.returncode == 0, merged.stderr
    assert json.loads(merged.stdout)["outcomes"] == {"insufficient": 1, "mark": 2}
    assert pura("batch", "summary", whole).returncode == 0
    # A result is not replaced unasked, here one named where the new one should have stood.
    assert "already" in pura("batch", "merge", *parts).stderr
    assert parts[0].read_bytes()
    short = pura("batch", "merge", whole, parts[0], "--force")
    assert short.returncode == 1
    first = "row 1 of input 2: the result of a shard is not among these"
    assert first in short.stderr
    assert pura("batch", "merge", whole, *parts, "--force").returncode == 0


def test_what_a_batch_is_told_wrongly_is_a_usage_error(pura, marked, tmp_path):
    settings = ("--key-file", marked / "key.txt", "--profile", marked / "profile.json")
    out = ("-o", tmp_path / "out.jsonl")
    for words in (
        (*settings, *out),
        (marked, *settings, "-o", tmp_path / "out.txt"),
        (marked, *settings, *out, "--shard", "3/2"),
        (marked, *settings, *out, "--fdr", "2"),
        (marked, *settings, *out, "--engine", "none"),
        (marked, *settings, *out, "--encoding", "klingon"),
    ):
        done = pura("batch", "run", *words)
        assert done.returncode == 2, (words, done.stdout, done.stderr)
    absent = tmp_path / "absent"
    for words in (
        ("-o", absent / "out.jsonl"),
        (*out, "--journal", absent / "j"),
        (*out, "--records", absent / "r"),
    ):
        done = pura("batch", "run", marked, *settings, *words)
        assert "there is no folder" in done.stderr, words
    assert not any(tmp_path.glob("out*"))
    assert not absent.exists()
