"""Files that hold many texts, read as a stream: JSON lines, tables, mailboxes, archives.

Nothing here holds more than one row, message or entry at a time. What is wrong with one of them is
an error in its place; what is wrong with the file ends the stream with an error.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import IO, Any, Final

from pura.base.catalogue import phrase, quoted
from pura.base.errors import InputError, PuraError
from pura.documents import Document, ReadOptions, choose, endings, from_text, read_data
from pura.documents.formats import MAX_CHARACTERS, MAX_FILE_BYTES, over
from pura.documents.readers.rows import FIELDS, dialect_of

IDS: Final = ("id", "uid", "doc_id", "document_id")
"""Known names of the column that holds the caller's own identifier, strongest first."""
BATCH_ROWS: Final = 256
_SNIFFED: Final = 1 << 16
_EXPANSION: Final = 200  # of an archive's entry; text seldom shrinks to less than a tenth
_FROM: Final = re.compile(rb"^>(>*From )")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns of a table are read.

    Attributes:
        text: The one that holds the text; None takes the first known name.
        id: The one that holds the caller's own identifier; None takes a known name, if there is
            one.
        options: What else the user says about the files.
    """

    text: str | None = None
    id: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)

    def named(self, names: Sequence[str]) -> tuple[str, str | None]:
        """Return the columns of text and identifier.

        Raises:
            InputError: There is no column that holds a text, or not the one that was named.
        """
        text = self.text if self.text is not None else _known(names, FIELDS)
        if text is None or text not in names:
            looked = quoted([self.text]) if self.text else ", ".join(FIELDS)
            raise InputError("json.no-field", looked=looked, code="input-field")
        if self.id is not None and self.id not in names:
            raise InputError("json.no-field", looked=quoted([self.id]), code="input-field")
        return text, self.id if self.id is not None else _known(names, IDS)


@dataclass(frozen=True, kw_only=True)
class TableEntry:
    """One row, message or entry, not yet read.

    Attributes:
        part: Which part of the file.
        read: Returns its texts; their parts are parts of this one.
        id: The caller's own identifier.
        content: What says whether it changed since.
        weight: Bytes.
    """

    part: str
    read: Callable[[], Sequence[Document]]
    id: str | None = None
    content: bytes = b""
    weight: int = 0


Stream = Callable[[IO[bytes], str, Columns], Iterator[TableEntry]]


def json_lines(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield one entry a line that is not blank."""
    for number, line in _lines(file):
        part = f"row {number}"
        if line is None:
            yield _refused(part, over("limit.file", mebibytes=MAX_FILE_BYTES >> 20))
        elif line.strip():
            yield _json_entry(line, name, part, number, columns)


def _json_entry(line: bytes, name: str, part: str, number: int, columns: Columns) -> TableEntry:
    try:
        value = json.loads(line.decode(columns.options.encoding or "utf-8-sig"))
    except (ValueError, LookupError, RecursionError):
        damaged = InputError("json.line", number=number, code="input-damaged")
        return _refused(part, damaged, content=line)
    own = None
    if isinstance(value, dict):
        try:
            field, id_field = columns.named(list(value))
        except InputError as error:
            return _refused(part, error, own=_own(value, columns), content=line)
        own = _identifier(value[id_field]) if id_field else None
        value = value[field]
    return _text_entry(value, name, part, own, line)


def _own(value: dict[str, Any], columns: Columns) -> str | None:
    field = columns.id or _known(list(value), IDS)
    return _identifier(value[field]) if field in value else None


def csv_rows(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield one entry a row of a table whose first row names its columns."""
    csv.field_size_limit(4 * MAX_CHARACTERS)
    head = file.read(_SNIFFED)
    encoding = columns.options.encoding or "utf-8-sig"
    dialect = dialect_of(head.decode(encoding, errors="replace"))
    # Bytes that are no text become surrogates, which a text is refused for; the rest is read.
    joined = io.BufferedReader(_Joined(head, file))
    with io.TextIOWrapper(joined, encoding, errors="surrogateescape", newline="") as text:
        rows = csv.reader(text, dialect=dialect)
        try:
            names = next(rows, None)
            if names is None:
                return
            field, id_field = columns.named(names)
            at, id_at = names.index(field), names.index(id_field) if id_field else None
            for number, row in enumerate(rows, 2):
                if not row:
                    continue
                own = row[id_at] if id_at is not None and id_at < len(row) else None
                value = row[at] if at < len(row) else ""
                content = "\x1f".join(row).encode(errors="surrogatepass")
                yield _text_entry(value, name, f"row {number}", own, content)
        except csv.Error:
            raise InputError("batch.damaged", code="input-damaged") from None


def parquet_rows(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield one entry a row."""
    with arrow().parquet.ParquetFile(file) as table:
        field, id_field = columns.named(table.schema_arrow.names)
        wanted = [field, id_field] if id_field and id_field != field else [field]
        number = 0
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
            for row in batch.to_pylist():
                number += 1
                value, part = row[field], f"row {number}"
                own = _identifier(row[id_field]) if id_field else None
                content = repr(value).encode(errors="surrogatepass")
                yield _text_entry(value, name, part, own, content)


def arrow() -> Any:
    """Return the library that reads and writes Parquet.

    Raises:
        InputError: It is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "extra.missing", name="pyarrow", extra="pura-audit[batch]", code="batch-extra"
        ) from None
    return pyarrow


def mailbox(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield one entry a message."""
    options = replace(columns.options, format="eml")
    for number, message in enumerate(_messages(file), 1):
        part = f"message {number}"
        if message is None:
            yield _refused(part, over("limit.file", mebibytes=MAX_FILE_BYTES >> 20))
        else:
            yield _bytes_entry(message, name, part, options)


def _messages(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield messages; None for one that is too long."""
    lines: list[bytes] | None = None
    size, blank = 0, True
    for _, line in _lines(file):
        starts = blank and line is not None and line.startswith(b"From ")
        if starts and lines is not None:
            yield b"".join(lines) if size <= MAX_FILE_BYTES else None
        if starts or lines is None:
            lines, size = [], 0
        if not starts:
            size += MAX_FILE_BYTES + 1 if line is None else len(line)
            if line is not None and size <= MAX_FILE_BYTES:
                lines.append(_FROM.sub(rb"\1", line))
        blank = line is not None and not line.strip()
    if lines is not None and size:
        yield b"".join(lines) if size <= MAX_FILE_BYTES else None


def archive(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield the entries of a zip file, in its order; tables and mailboxes in it row by row."""
    with zipfile.ZipFile(file) as packed:
        for found in packed.infolist():
            if not found.is_dir() and _wanted(found.filename):
                yield from _unpacked(packed, found, name, columns)


def _unpacked(
    packed: zipfile.ZipFile, found: zipfile.ZipInfo, name: str, columns: Columns
) -> Iterator[TableEntry]:
    part = found.filename
    stream = STREAMS.get(PurePosixPath(part).suffix.lower())
    try:
        if found.flag_bits & 1:
            raise InputError("packed.locked", code="input-encrypted")
        if found.file_size > _EXPANSION * found.compress_size + MAX_FILE_BYTES:
            raise over("limit.file", mebibytes=MAX_FILE_BYTES >> 20)
        if stream is archive:
            zipped = phrase("kind.packed", name="zip")
            raise InputError("input.no-reader", what=zipped, code="input-format")
        with packed.open(found) as inside:
            if stream is None or stream is parquet_rows:
                data = inside.read(MAX_FILE_BYTES + 1)
                if len(data) > MAX_FILE_BYTES:
                    raise over("limit.file", mebibytes=MAX_FILE_BYTES >> 20)
                if stream is None:
                    yield _bytes_entry(data, name, part, columns.options)
                    return
                inside = io.BytesIO(data)
            for entry in stream(inside, name, columns):
                yield replace(entry, part=f"{part}, {entry.part}")
    except Exception as error:  # one damaged entry; the others are read
        yield _refused(part, as_refusal(error))


def _wanted(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith(".") for part in parts) or "__MACOSX" in parts
    return not hidden and name.lower().endswith((*endings(), *STREAMS))


STREAMS: Final[dict[str, Stream]] = {
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".csv": csv_rows,
    ".tsv": csv_rows,
    ".parquet": parquet_rows,
    ".mbox": mailbox,
    ".zip": archive,
}
"""By the ending of a file's name."""


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield number and bytes of each line; None for one that is too long."""
    number = 0
    while line := file.readline(MAX_FILE_BYTES + 1):
        number += 1
        if len(line) <= MAX_FILE_BYTES:
            yield number, line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_FILE_BYTES)
        yield number, None


def _text_entry(value: object, name: str, part: str, own: str | None, content: bytes) -> TableEntry:
    def read() -> tuple[Document, ...]:
        if not isinstance(value, str):
            raise InputError("batch.not-text", code="input-field")
        return (from_text(value, name=name),)

    return TableEntry(part=part, read=read, id=own, content=content, weight=len(content))


def _bytes_entry(data: bytes, name: str, part: str, options: ReadOptions) -> TableEntry:
    def read() -> tuple[Document, ...]:
        title = name if options.format is not None else PurePosixPath(part).name
        found = choose(read_data(data, name=title, options=options), ())
        return tuple(replace(document, name=name) for document in found)

    return TableEntry(part=part, read=read, content=data, weight=len(data))


def _refused(
    part: str, error: PuraError, *, own: str | None = None, content: bytes = b""
) -> TableEntry:
    def read() -> tuple[Document, ...]:
        raise error

    return TableEntry(part=part, read=read, id=own, content=content or error.code.encode())


def as_refusal(error: Exception) -> PuraError:
    """Return an error as one of ours; what a library says of a file means that it is damaged."""
    if isinstance(error, PuraError):
        return error
    if isinstance(error, OSError) and error.errno:
        return _unreadable(error)
    return InputError("batch.damaged", code="input-damaged")


def _known(names: Sequence[str], known: Sequence[str]) -> str | None:
    return next((name for name in known if name in names), None)


def _identifier(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


class _Joined(io.RawIOBase):
    """Bytes that were read already, then the rest of their file."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._head[: len(buffer)]
        self._head = self._head[len(piece) :]
        data = piece or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a local file, or one at an address, for reading.

    Raises:
        InputError: It cannot be opened or read.
    """
    try:
        if "://" not in path and not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - any name
            raise InputError("input.read", why=phrase("reason.special"), code="input-unreadable")
        file: IO[bytes] = remote(path, "rb").open() if "://" in path else open(path, "rb")  # noqa: PTH123, SIM115
    except (OSError, ValueError) as error:
        raise _unreadable(error) from None
    with file:
        yield file


def _unreadable(error: Exception) -> InputError:
    number = getattr(error, "errno", None)
    why = phrase("reason.system", why=number) if number else phrase("reason.name")
    return InputError("input.read", why=why, code="input-unreadable")


def remote(address: str, mode: str) -> Any:
    """Return a file at an address, to be opened by ``with``.

    Raises:
        InputError: What reaches such addresses is not installed.
    """
    try:
        import fsspec

        return fsspec.open(address, mode)
    except (ImportError, ValueError):
        scheme = address.partition("://")[0]
        raise InputError("batch.no-store", name=scheme, code="batch-extra") from None
