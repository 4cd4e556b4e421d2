"""What a batch reads: every kind of input, in order; what cannot be read stands in its place."""

import csv
import io
import json
import mailbox
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from pathlib import Path

import pytest
from tests.core.documents.test_hostile_corpus import archived

from pura.base.errors import InputError
from pura.batch.inputs import STREAMS, Columns, Inputs, Refusal, Text, chunks, files
from pura.documents import ReadOptions, from_text, read_document
from pura.documents.folders import WalkOptions


def read(*names: str | Path, **settings: object) -> list[tuple[object, ...]]:
    """Return number, identifier, part and text, or the code of the error, of each item."""
    inputs = Inputs(names=tuple(map(str, names)), **settings)  # type: ignore[arg-type]
    found = []
    for chunk in chunks(inputs):
        for item in chunk.read():
            s = item.source
            what = item.document.text if isinstance(item, Text) else item.error.code
            found.append(((s.input, s.item, s.piece), s.id, s.part, what))
    return found


def test_names_come_in_order_from_folders_patterns_and_lists(tmp_path):
    inner = tmp_path / "pile" / "inner"
    inner.mkdir(parents=True)
    for name in ("b.txt", "a.txt", "skipped.bin", "inner/c.txt", "inner/d.parquet"):
        (tmp_path / "pile" / name).write_text("text")
    (tmp_path / "z1.txt").write_text("text")
    (tmp_path / "z2.txt").write_text("text")
    odd = os.fsencode(tmp_path) + b"/line\nbreak\xff.txt"
    listed, nul = tmp_path / "names", tmp_path / "names0"
    listed.write_bytes(b"first.txt\r\n\nlast.txt")
    nul.write_bytes(odd + b"\0")
    passed = Counter[str]()
    names = (str(tmp_path / "pile"), str(tmp_path / "z*.txt"), "s3://far/x.jsonl", "none*.txt")
    found = list(files(Inputs(names=names, lists=(listed,)), passed))
    assert [Path(f).name for f in found] == [
        "a.txt", "b.txt", "c.txt", "d.parquet", "z1.txt", "z2.txt", "x.jsonl", "none*.txt",
        "first.txt", "last.txt",
    ]  # fmt: skip
    assert passed == {"pattern": 1}
    assert [os.fsencode(f) for f in files(Inputs(lists=(nul,), nul=True))] == [odd]
    alone = Inputs(names=(str(tmp_path / "pile"),), walk=WalkOptions(recursive=False))
    assert [Path(f).name for f in files(alone)] == ["a.txt", "b.txt"]
    with pytest.raises(InputError, match="absent"):
        list(files(Inputs(lists=(tmp_path / "absent",))))


def test_a_folder_has_no_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("pura.documents.folders.MAX_FILES", 2)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("text")
    assert len(list(files(Inputs(names=(str(tmp_path),), walk=WalkOptions(limit=2))))) == 5


def test_json_lines_and_tables_give_a_text_a_row(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(
        b'\xef\xbb\xbf{"id": 7, "text": "one"}\n\n{"doc_id": "x", "completion": "two"}\n"three"\n'
        b'{broken\n{"id": "y", "other": 1}\n{"text": 5}\n{"text": "\\ud800"}\n\xff\n'
    )
    assert read(rows) == [
        ((1, 1, 1), "7", "row 1", "one"),
        ((1, 2, 1), "x", "row 3", "two"),
        ((1, 3, 1), None, "row 4", "three"),
        ((1, 4, 1), None, "row 5", "input-damaged"),
        ((1, 5, 1), "y", "row 6", "input-field"),
        ((1, 6, 1), None, "row 7", "input-field"),
        ((1, 7, 1), None, "row 8", read_code("\ud800")),
        ((1, 8, 1), None, "row 9", "input-damaged"),
    ]
    table = tmp_path / "table.csv"
    table.write_bytes('nr;who;say\n1;a;"Grüße;\nzwei"\n2;b\n3;c;\xff\n'.encode("latin-1"))
    columns = Columns(text="say", id="nr", options=ReadOptions(encoding="latin-1"))
    assert read(table, columns=columns) == [
        ((1, 1, 1), "1", "row 2", "Grüße;\nzwei"),
        ((1, 2, 1), "2", "row 3", "input-empty"),
        ((1, 3, 1), "3", "row 4", "ÿ"),
    ]
    utf8 = Columns(text="say", id="nr")
    assert [row[3] for row in read(table, columns=utf8)] == [
        read_code("\udcfc"), "input-empty", read_code("\udcff"),
    ]  # fmt: skip
    assert read(table) == [((1, 1, 1), None, "", "input-field")]


def read_code(text: str) -> str:
    with pytest.raises(InputError) as caught:
        from_text(text)
    return caught.value.code


def test_parquet_is_read_in_groups_and_a_damaged_one_is_one_row(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    path = tmp_path / "t.parquet"
    columns = {"id": [1, 2, None], "text": ["one", None, "three"], "x": [1, 2, 3]}
    parquet.write_table(pa.table(columns), path)
    assert read(path) == [
        ((1, 1, 1), "1", "row 1", "one"),
        ((1, 2, 1), "2", "row 2", "input-field"),
        ((1, 3, 1), None, "row 3", "three"),
    ]
    assert [row[3] for row in read(f"file://{path}")] == ["one", "input-field", "three"]
    path.write_bytes(path.read_bytes()[:-20])
    assert read(path) == [((1, 1, 1), None, "", "input-damaged")]


def test_mailboxes_and_archives_are_read_entry_by_entry(tmp_path):
    box = mailbox.mbox(tmp_path / "post.mbox")
    for number in range(2):
        message = EmailMessage()
        message["Subject"], message["From"] = f"n{number}", "a@b.example"
        message.set_content(f"Body of message number {number}.\n\nFrom here on it goes.\n")
        if number:
            message.add_attachment("Attached words.", filename="note.txt")
        box.add(message)
    box.close()
    found = read(tmp_path / "post.mbox")
    assert [row[0] for row in found] == [(1, 1, 1), (1, 2, 1), (1, 2, 2)]
    assert found[0][2].startswith("message 1, ")
    assert "From here on" in str(found[0][3])
    assert "Attached words." in str(found[2][3])
    data = archived(
        {
            "a/one.txt": "one",
            "rows.jsonl": json.dumps({"id": "q", "text": "two"}),
            "__MACOSX/one.txt": "no",
            "picture.png": "no",
            "bomb.txt": bytes(80 << 20),
            "inner.zip": b"PK\x05\x06" + bytes(18),
        }
    )
    (tmp_path / "all.zip").write_bytes(data)
    (tmp_path / "cut.zip").write_bytes(data[:-30])
    found = read(tmp_path / "all.zip", tmp_path / "cut.zip", tmp_path / "absent.mbox")
    assert [row[:4] for row in found] == [
        ((1, 1, 1), None, "a/one.txt", "one"),
        ((1, 2, 1), "q", "rows.jsonl, row 1", "two"),
        ((1, 3, 1), None, "bomb.txt", "input-limit"),
        ((1, 4, 1), None, "inner.zip", "input-format"),
        ((2, 1, 1), None, "", "input-damaged"),
        ((3, 1, 1), None, "", "input-unreadable"),
    ]


def test_other_files_are_read_as_documents_are(tmp_path):
    (tmp_path / "page.html").write_text("<p>Words of a page that is long enough.</p>")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / "empty.txt").write_text("  ")
    found = read(*(tmp_path / n for n in ("page.html", "broken.pdf", "empty.txt", "none.txt")))
    assert [row[0] for row in found] == [(n, 1, 1) for n in range(1, 5)]
    assert "Words of a page" in str(found[0][3])
    assert [row[3] for row in found[1:]] == ["input-damaged", "input-empty", "input-unreadable"]
    [chunk] = chunks(Inputs(names=(str(tmp_path / "empty.txt"),)))
    [refused] = chunk.read()
    assert isinstance(refused, Refusal)


def test_shards_share_the_inputs_without_gap_or_overlap(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("\n".join(json.dumps({"text": f"t{n}"}) for n in range(300)))
    other = tmp_path / "b.txt"
    other.write_text("b")
    whole = read(rows, other)
    shards = [read(rows, other, shard=(number, 3)) for number in range(3)]
    # By rows: each has a third of one table, none the whole.
    assert [len(shard) for shard in shards] in ([101, 100, 100], [100, 101, 100], [100, 100, 101])
    assert sorted(row for shard in shards for row in shard) == sorted(whole)


def test_a_file_of_texts_without_a_row_is_an_item_with_the_error_of_one_text(tmp_path):
    tables = {"head.csv": "text,id\n", "no.csv": "", "no.jsonl": "\n", "no.mbox": ""}
    for name, content in tables.items():
        path = tmp_path / name
        path.write_text(content)
        assert read(path) == [((1, 1, 1), None, "", "input-empty")]
        with pytest.raises(InputError, check=lambda e: e.code == "input-empty"):
            read_document(path)
    both = [tmp_path / "head.csv", tmp_path / "no.mbox"]
    shards = [read(*both, shard=(number, 2)) for number in range(2)]
    assert [[row[0][0] for row in shard] for shard in shards] == [[1], [2]]


TEXTS = ("Grüße: das sind, mit Komma, die ersten Wörter.", "“Second” words of it.")


def lines(texts: Sequence[str]) -> bytes:
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


def table(sign: str) -> Callable[[Sequence[str]], bytes]:
    def write(texts: Sequence[str]) -> bytes:
        file = io.StringIO()
        csv.writer(file, delimiter=sign).writerows([["text", "n"], *([t, "1"] for t in texts)])
        return file.getvalue().encode()

    return write


def columns(texts: Sequence[str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({"text": texts}), file)
    return file.getvalue()


def post(texts: Sequence[str]) -> bytes:
    data = b""
    for text in texts:
        message = EmailMessage()
        message["From"] = "a@b.example"
        message.set_content(text)
        data += b"From a@b Mon\n" + bytes(message) + b"\n"
    return data


def packed(texts: Sequence[str]) -> bytes:
    return archived({f"{number}.txt": text for number, text in enumerate(texts)})


WRITERS: dict[str, Callable[[Sequence[str]], bytes]] = {
    ".jsonl": lines,
    ".ndjson": lines,
    ".csv": table(","),
    ".tsv": table("\t"),
    ".parquet": columns,
    ".mbox": post,
    ".zip": packed,
}
"""A file of each kind with some texts; a kind without a line here fails."""


@pytest.mark.parametrize("ending", STREAMS)
def test_every_kind_of_file_gives_its_texts_in_order_alone_and_in_an_archive(ending, tmp_path):
    path = tmp_path / f"pile{ending.upper()}"
    path.write_bytes(WRITERS[ending](TEXTS))
    items = [(1, number, 1) for number in range(1, 3)]
    assert [(row[0], row[3]) for row in read(path)] == list(zip(items, TEXTS, strict=True))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(path, path.name)
    found = [row[3] for row in read(tmp_path / "all.zip")]
    assert found == (["input-format"] if STREAMS[ending] is STREAMS[".zip"] else [*TEXTS])
    # A damaged one is an error in its place, and costs no other its row.
    path.write_bytes(path.read_bytes()[:-40])
    (tmp_path / "other.txt").write_text("Other words.")
    rows = read(path, tmp_path / "other.txt")
    assert rows[-1][3] == "Other words."
    assert len(rows) > 1
