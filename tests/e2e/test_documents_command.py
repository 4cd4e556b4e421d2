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
    (marked / "c.jsonl").write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
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
    word, broken, rows = (json.loads(line) for line in done.stdout.splitlines())
    assert word["input"]["format"] == "docx"
    assert rows["input"]["part"] == "row 1"
    assert broken["error"]["code"] == "input-damaged"
    assert broken["verdict"] == "not-examinable"
    assert rows["verdict"] == "mark"
    assert word["payload"]["bits"] == rows["payload"]["bits"]
    assert word["evidence"]["log10_e"] == pytest.approx(rows["evidence"]["log10_e"])
