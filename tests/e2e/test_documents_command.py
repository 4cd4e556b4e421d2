"""``pura verify`` on files of other formats: the mark is found, and bad files stop nothing."""

import io
import json
import re
import textwrap
from bisect import bisect_right

import docx
import pypdfium2
import pytest
import typst

pytestmark = pytest.mark.model


def test_a_batch_of_formats(pura, marked, samples):
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
    settings = ("--profile", marked / "profile.json", "--key-file", marked / "key.txt")
    files = [marked / name for name in ("a.docx", "b.pdf", "c.jsonl")]
    done = pura("verify", *files, "--json", *settings)
    assert done.returncode == 1, done.stderr
    word, broken, rows, *others = (json.loads(line) for line in done.stdout.splitlines())
    assert word["input"]["format"] == "docx"
    assert rows["input"]["part"] == "row 1"
    assert broken["error"]["code"] == "input-damaged"
    assert broken["verdict"] == "not-examinable"
    assert rows["verdict"] == "mark"
    # What cannot be examined has a row as well, here and in a batch, which counts it.
    verdicts = ["not-examinable", "not-examinable", "insufficient"]
    parts = ("row 2", "row 3", "row 4")
    assert {row["input"]["part"]: row["verdict"] for row in others} == dict(
        zip(parts, verdicts, strict=True)
    )
    out = marked / "out.jsonl"
    pile = pura("batch", "run", marked / "c.jsonl", *settings, "-o", out)
    assert pile.returncode == 1, pile.stderr
    assert "4 rows" in pile.stdout
    assert "2  could not be examined" in pile.stdout
    rows_of_the_batch = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["verdict"] for row in rows_of_the_batch] == ["mark", *verdicts]
    assert word["payload"] == rows["payload"]
    assert word["evidence"]["log10_e"] == pytest.approx(rows["evidence"]["log10_e"])


def test_the_pages_of_a_pdf_with_a_passage_are_in_its_report(pura, marked, samples):
    text = samples["marked"]["texts"][0]["text"]
    source = b"#page[An empty beginning]\n#page(sys.inputs.text)"
    (marked / "letter.pdf").write_bytes(typst.compile(source, sys_inputs={"text": text}))
    settings = ("--profile", marked / "profile.json", "--key-file", marked / "key.txt")
    report, record = marked / "report.pdf", marked / "record.json"
    files = ("--pdf", report, "--json-file", record)
    done = pura("verify", marked / "letter.pdf", *settings, *files)
    assert done.returncode == 0, done.stderr
    found = json.loads(record.read_text(encoding="utf-8"))
    starts, (passage,) = found["input"]["pages"], found["passages"]
    first, last = (bisect_right(starts, passage[name]) for name in ("start", "end"))
    with pypdfium2.PdfDocument(report) as document:
        words = " ".join(page.get_textpage().get_text_bounded() for page in document)
    shown = re.findall(r"Page (\d+) of the original", words)
    assert shown == [str(page) for page in range(first, last + 1)]
    assert "2" in shown
