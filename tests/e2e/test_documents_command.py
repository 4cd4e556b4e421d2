"""``pura verify`` on files of other formats: the mark is found, and bad files stop nothing."""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

pytestmark = pytest.mark.model


def test_a_batch_of_formats(
    pura: Callable[..., Any], marked: Path, samples: dict[str, dict[str, Any]]
) -> None:
    # Blank lines between paragraphs, so that the document says which breaks were meant.
    text = textwrap.fill(samples["marked"]["texts"][0]["text"], 200).replace("\n", "\n\n")
    document = docx.Document()
    for line in text.split("\n"):
        document.add_paragraph(line)
    file = io.BytesIO()
    document.save(file)
    (marked / "a.docx").write_bytes(file.getvalue())
    (marked / "b.pdf").write_bytes(b"%PDF-1.7\nnot a PDF at all")
    odd = (r"half \ud800 a pair", r"a \u0000 in it", r"\u001b[2J and a few words")
    rows = [json.dumps({"text": text}), *(f'{{"text": "{one}"}}' for one in odd)]
    (marked / "c.jsonl").write_text("\n".join(rows), encoding="utf-8")
    done = pura(
        "verify",
        marked / "a.docx",
        marked / "b.pdf",
        marked / "c.jsonl",
        "--json",
        "--profile",
        marked / "profile.json",
        "--key-file",
        marked / "key.txt",
    )
    assert done.returncode == 1, done.stderr
    word, broken, rows, *others = (json.loads(line) for line in done.stdout.splitlines())
    assert word["input"]["format"] == "docx"
    assert rows["input"]["part"] == "row 1"
    assert broken["error"]["code"] == "input-damaged"
    assert broken["verdict"] == "not-examinable"
    assert rows["verdict"] == "mark"
    # What cannot be examined has a row as well, here and in a batch, which counts it.
    assert {row["input"]["part"]: row["verdict"] for row in others} == {
        "row 2": "not-examinable",
        "row 3": "not-examinable",
        "row 4": "insufficient",
    }
    settings = ("--profile", marked / "profile.json", "--key-file", marked / "key.txt")
    out = marked / "out.jsonl"
    pile = pura("batch", "run", marked / "c.jsonl", *settings, "-o", out)
    assert pile.returncode == 1, pile.stderr
    assert "4 rows" in pile.stdout
    assert "2  could not be examined" in pile.stdout
    assert [json.loads(line)["verdict"] for line in out.read_text().splitlines()] == [
        *("mark", "not-examinable", "not-examinable", "insufficient")
    ]
    assert word["payload"] == rows["payload"]
    assert word["evidence"]["log10_e"] == pytest.approx(rows["evidence"]["log10_e"])
