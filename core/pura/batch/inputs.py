"""Inputs of a batch as a stream: files, folders, patterns, names, addresses and tables.

Only the item being read is held in memory: one row, message or entry of a table. Inputs keep the
order in which they are named, and folders that of their names; the order is the same in every run
and numbers the texts. An error in a row takes the place of its text; an error in a file ends the
file.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import io
import json
import os
import re
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, Final

from pura.base.catalogue import NOT_REGULAR, phrase, quoted
from pura.base.errors import InputError, PuraError, os_error_as
from pura.base.files import open_regular
from pura.base.numerals import visible
from pura.documents import (
    Document,
    ReadOptions,
    choose,
    endings,
    from_text,
    read_data,
    read_document,
)
from pura.documents.file_bytes import unreadable
from pura.documents.folders import Skipped, WalkOptions, walk
from pura.documents.formats import MAX_CHARACTERS, MAX_FILE_BYTES, over
from pura.documents.readers.rows import FIELDS, delimiter_of


@dataclass(frozen=True, kw_only=True)
class TextSource:
    """Origin of a text; ``(input, item, piece)`` orders all texts and identifies each.

    Attributes:
        input: Number of the file in the order of the inputs, from 1.
        item: Number of the row, message or entry within a table, mailbox or archive, from 1.
        piece: Number of the text within the item, from 1: a message may have attachments.
        path: Full path of the file.
        id: The caller's identifier, from a table that has one.
        part: Part of the file; empty if the file is one text.
    """

    input: int
    item: int
    piece: int
    path: str
    id: str | None = None
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Text:
    """An item with a text.

    Attributes:
        source: Origin of the text.
        document: The text.
        digest: SHA-256 of its characters in UTF-8, 64 hex digits.
    """

    source: TextSource
    document: Document
    digest: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An item without a readable text.

    Attributes:
        source: Origin of the item.
        error: The reason.
    """

    source: TextSource
    error: PuraError


Item = Text | Refusal


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Items that are read together: those of a file, or some rows of a table.

    Attributes:
        input: Number of the file, from 1.
        slice: Number of the part of the file, from 0.
        mark: State of the chunk; it changes if the chunk changes after an interruption.
        weight: Size in bytes, to estimate the remaining time.
        read: Reads the items; errors are among them.
    """

    input: int
    slice: int
    mark: str
    weight: int
    read: Callable[[], list[Item]]


Frame = tuple[Text, ...]
"""Texts that a worker reads together; the same ones in every run."""


@dataclass(frozen=True, kw_only=True)
class TextResult:
    """The finding of a text without its origin, shared by all rows with the same text.

    Attributes:
        row: Columns of a row that describe the finding (:mod:`pura.batch.results`).
        seconds: Time that it took.
        record: The complete record, compressed; None if it is not needed.
        alone: Whether the text was read by itself, because reading it with others failed.
    """

    row: Mapping[str, Any]
    seconds: float
    record: bytes | None = None
    alone: bool = False


IDS: Final = ("id", "uid", "doc_id", "document_id")
"""Known names of the column with the caller's identifier, preferred first."""
BATCH_ROWS: Final = 256  # rows of a Parquet file that are read at once
_SNIFFED: Final = 1 << 16  # bytes of a CSV file that are inspected for its delimiter
_EXPANSION: Final = 200  # largest compression ratio of an archive member; text reaches about 10
_FROM: Final = re.compile(rb"^>(>*From )")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table that are read.

    Attributes:
        text: Column with the text; None takes the first known name.
        id: Column with the caller's identifier; None takes a known name, if there is one.
        options: Further options for reading the files.
    """

    text: str | None = None
    id: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)

    def named(self, names: Sequence[str]) -> tuple[str, str | None]:
        """Return the columns of text and identifier.

        Raises:
            InputError: There is no column with a text, or the named column is missing.
        """
        text = self.text if self.text is not None else _first_of(names, FIELDS)
        if text is None or text not in names:
            looked = quoted([self.text]) if self.text else ", ".join(FIELDS)
            raise InputError("json.no-field", looked=looked, code="input-field")
        if self.id is not None and self.id not in names:
            raise InputError("json.no-field", looked=quoted([self.id]), code="input-field")
        return text, self.id if self.id is not None else _first_of(names, IDS)


@dataclass(frozen=True, kw_only=True)
class TableEntry:
    """One row, message or entry, not yet read.

    Attributes:
        part: Part of the file.
        read: Returns its texts; their parts are parts of this one.
        id: The caller's identifier.
        identity: Bytes that show whether the entry has changed since.
        weight: Size in bytes.
    """

    part: str
    read: Callable[[], Sequence[Document]]
    id: str | None = None
    identity: bytes = b""
    weight: int = 0


Stream = Callable[[IO[bytes], str, Columns], Iterator[TableEntry]]


def json_lines(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield an entry for each line that is not blank."""
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
        return _refused(part, damaged, identity=line)
    identifier = None
    if isinstance(value, dict):
        try:
            field, id_field = columns.named(list(value))
        except InputError as error:
            return _refused(part, error, identifier=_identifier_of(value, columns), identity=line)
        identifier = _identifier(value[id_field]) if id_field else None
        value = value[field]
    return _text_entry(value, name, part, identifier, line)


def _identifier_of(value: dict[str, Any], columns: Columns) -> str | None:
    field = columns.id or _first_of(list(value), IDS)
    return _identifier(value[field]) if field in value else None


def csv_rows(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield an entry for each row of a table with column names in its first row."""
    csv.field_size_limit(4 * MAX_CHARACTERS)
    buffered = io.BufferedReader(file, _SNIFFED)  # type: ignore[type-var]  # it is read only
    encoding = columns.options.encoding or "utf-8-sig"
    delimiter = delimiter_of(buffered.peek(_SNIFFED).decode(encoding, errors="replace"))
    # Undecodable bytes become surrogates, for which only their text is refused.
    with io.TextIOWrapper(buffered, encoding, errors="surrogateescape", newline="") as text:
        rows = csv.reader(text, delimiter=delimiter)
        try:
            names = next(rows, None)
            if names is None:
                return
            field, id_field = columns.named(names)
            text_index, id_at = names.index(field), names.index(id_field) if id_field else None
            for number, row in enumerate(rows, 2):
                if not row:
                    continue
                identifier = row[id_at] if id_at is not None and id_at < len(row) else None
                cell = row[text_index] if text_index < len(row) else ""
                row_bytes = "\x1f".join(row).encode(errors="surrogatepass")
                yield _text_entry(cell, name, f"row {number}", identifier, row_bytes)
        except csv.Error:
            raise InputError("batch.damaged", code="input-damaged") from None


def parquet_rows(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield an entry for each row."""
    with arrow().parquet.ParquetFile(file) as table:
        field, id_field = columns.named(table.schema_arrow.names)
        column_names = [field, id_field] if id_field and id_field != field else [field]
        number = 0
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=column_names):
            for row in batch.to_pylist():
                number += 1
                cell, part = row[field], f"row {number}"
                identifier = _identifier(row[id_field]) if id_field else None
                cell_bytes = repr(cell).encode(errors="surrogatepass")
                yield _text_entry(cell, name, part, identifier, cell_bytes)


def arrow() -> Any:
    """Return the library that reads and writes Parquet.

    Raises:
        InputError: The library is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "extra.missing", name="pyarrow", extra="pura-audit[batch]", code="batch-extra"
        ) from None
    return pyarrow


def mailbox(file: IO[bytes], name: str, columns: Columns) -> Iterator[TableEntry]:
    """Yield an entry for each message."""
    options = replace(columns.options, format="eml")
    for number, message in enumerate(_messages(file), 1):
        part = f"message {number}"
        if message is None:
            yield _refused(part, over("limit.file", mebibytes=MAX_FILE_BYTES >> 20))
        else:
            yield _bytes_entry(message, name, part, options)


def _messages(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield messages; None for a message that is too long."""
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
    """Yield the members of a zip file, in order; tables and mailboxes row by row."""
    with zipfile.ZipFile(file) as packed:
        for member in packed.infolist():
            if not member.is_dir() and _wanted(member.filename):
                yield from _unpacked(packed, member, name, columns)


def _unpacked(
    packed: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, columns: Columns
) -> Iterator[TableEntry]:
    part = member.filename
    stream = STREAMS.get(PurePosixPath(part).suffix.lower())
    try:
        if member.flag_bits & 1:
            raise InputError("packed.locked", code="input-encrypted")
        if member.file_size > _EXPANSION * member.compress_size + MAX_FILE_BYTES:
            raise over("limit.file", mebibytes=MAX_FILE_BYTES >> 20)
        if stream is archive:
            zipped = phrase("kind.packed", name="zip")
            raise InputError("input.no-reader", what=zipped, code="input-format")
        with packed.open(member) as inside:
            if stream is None or stream is parquet_rows:
                member_bytes = inside.read(MAX_FILE_BYTES + 1)
                if len(member_bytes) > MAX_FILE_BYTES:
                    raise over("limit.file", mebibytes=MAX_FILE_BYTES >> 20)
                if stream is None:
                    yield _bytes_entry(member_bytes, name, part, columns.options)
                    return
                inside = io.BytesIO(member_bytes)
            for entry in stream(inside, name, columns):
                yield replace(entry, part=f"{part}, {entry.part}")
    except Exception as error:  # one damaged member; the others are read
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
"""Readers of tables and mailboxes, by the ending of the file name."""


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield number and bytes of each line; None for a line that is too long."""
    number = 0
    while line := file.readline(MAX_FILE_BYTES + 1):
        number += 1
        if len(line) <= MAX_FILE_BYTES:
            yield number, line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_FILE_BYTES)
        yield number, None


def _text_entry(
    value: object, name: str, part: str, identifier: str | None, identity: bytes
) -> TableEntry:
    def read() -> tuple[Document, ...]:
        if not isinstance(value, str):
            raise InputError("batch.not-text", code="input-field")
        return (from_text(value, name=name),)

    return TableEntry(part=part, read=read, id=identifier, identity=identity, weight=len(identity))


def _bytes_entry(file_bytes: bytes, name: str, part: str, options: ReadOptions) -> TableEntry:
    def read() -> tuple[Document, ...]:
        title = name if options.format is not None else PurePosixPath(part).name
        documents = choose(read_data(file_bytes, name=title, options=options), ())
        return tuple(replace(document, name=name) for document in documents)

    return TableEntry(part=part, read=read, identity=file_bytes, weight=len(file_bytes))


def _refused(
    part: str, error: PuraError, *, identifier: str | None = None, identity: bytes = b""
) -> TableEntry:
    def read() -> tuple[Document, ...]:
        raise error

    return TableEntry(part=part, read=read, id=identifier, identity=identity or error.code.encode())


def as_refusal(error: Exception) -> PuraError:
    """Convert an error to one of ours; an error of a library means that the file is damaged."""
    if isinstance(error, PuraError):
        return error
    if isinstance(error, OSError) and error.errno:
        return unreadable(error)
    return InputError("batch.damaged", code="input-damaged")


def _first_of(names: Sequence[str], candidates: Sequence[str]) -> str | None:
    return next((name for name in candidates if name in names), None)


def _identifier(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a local file, or one at an address, for reading.

    Raises:
        InputError: The file cannot be opened or read.
    """
    try:
        if "://" not in path and not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - any name
            raise OSError(NOT_REGULAR, "not an ordinary file")
        file: IO[bytes] = remote(path, "rb").open() if "://" in path else open(path, "rb")  # noqa: PTH123, SIM115
    except (OSError, ValueError) as error:
        raise unreadable(error) from None
    with file:
        yield file


def remote(address: str, mode: str) -> Any:
    """Return a file at an address, to be opened by ``with``.

    Raises:
        InputError: The library for such addresses is not installed.
    """
    try:
        import fsspec

        return fsspec.open(address, mode)
    except (ImportError, ValueError):
        scheme = address.partition("://")[0]
        raise InputError("batch.no-store", name=scheme, code="batch-store") from None


# A chunk of a table ends at the first of these limits.
ROWS_OF_A_CHUNK: Final = 64
BYTES_OF_A_CHUNK: Final = 1 << 20
NO_LIMIT: Final = 1 << 62
_LONGEST_NAME: Final = 1 << 16  # bytes of a name in a list; longer ones are cut


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of a batch.

    Attributes:
        names: Files, folders, patterns like ``mail/**/*.eml``, addresses like ``s3://…``.
        lists: Files with such names, read after ``names``.
        nul: Whether names in these lists end with a zero byte instead of a line feed.
        walk: Selection of files in folders; their number is not limited.
        columns: Columns of tables, and options for reading files.
        parts: Parts of a document; empty takes the usual ones, ``all`` every one.
        shard: Number of the shard that is read, from 0, and number of shards.
    """

    names: tuple[str, ...] = ()
    lists: tuple[Path, ...] = ()
    nul: bool = False
    walk: WalkOptions = field(default_factory=WalkOptions)
    columns: Columns = field(default_factory=Columns)
    parts: tuple[str, ...] = ()
    shard: tuple[int, int] = (0, 1)

    def under(self, rule: tuple[str, ...]) -> Inputs:
        """Return the same inputs with a rule that excludes parts of their texts."""
        options = replace(self.columns.options, leave_out=rule)
        return replace(self, columns=replace(self.columns, options=options))


def files(inputs: Inputs, skipped: Counter[str] | None = None) -> Iterator[str]:
    """Yield every file by path or address, in order.

    Args:
        inputs: The inputs.
        skipped: Counts files skipped in folders, by reason.

    Raises:
        InputError: A list of names cannot be read.
    """
    counts = Counter[str]() if skipped is None else skipped
    for name in _names(inputs):
        if "://" in name:
            yield name
        elif os.path.isdir(name):  # noqa: PTH112 - a name that no path can be made of is no folder
            for entry in walk(Path(name), _walking(inputs)):
                if isinstance(entry, Skipped):
                    counts[entry.reason] += 1
                else:
                    yield str(entry)
        elif glob.has_magic(name) and not os.path.lexists(name):
            hidden = inputs.walk.hidden
            inside = sorted(glob.iglob(name, recursive=True, include_hidden=hidden))  # noqa: PTH207
            yield from (path for path in inside if not os.path.isdir(path)) if inside else (name,)  # noqa: PTH112
        else:
            yield name


def weight_of(path: str) -> int:
    """Return the size of a file in bytes; 0 if unknown."""
    try:
        return 0 if "://" in path else os.stat(path).st_size  # noqa: PTH116 - any name may come
    except (OSError, ValueError):
        return 0


def chunks(inputs: Inputs, skipped: Counter[str] | None = None) -> Iterator[Chunk]:
    """Yield the chunks of the inputs, in order: one for each file, or several for a table.

    Raises:
        InputError: A list of names cannot be read.
    """
    for number, path in enumerate(files(inputs, skipped), 1):
        stream = STREAMS.get(PurePath(path).suffix.lower())
        if stream is not None and inputs.columns.options.format is None:
            file_chunks = _table(path, number, inputs)
        else:
            file_chunks = iter(
                (_file(path, number, inputs),) if _in_shard(number, 1, inputs) else ()
            )
        yield from file_chunks


def _in_shard(number: int, item: int, inputs: Inputs) -> bool:
    """Return whether an item belongs to the shard; neighbours belong to different shards."""
    shard, shards = inputs.shard
    return (number + item) % shards == shard


def _names(inputs: Inputs) -> Iterator[str]:
    yield from inputs.names
    for listed in inputs.lists:
        refusal = os_error_as(InputError, "file.read", name=listed.name, code="file-unreadable")
        with refusal, open_regular(listed) as file:
            for name in _split(file, b"\0" if inputs.nul else b"\n"):
                path_bytes = name if inputs.nul else name.removesuffix(b"\r")
                if path_bytes:
                    yield os.fsdecode(path_bytes)


def _split(file: IO[bytes], end: bytes) -> Iterator[bytes]:
    rest = b""
    while piece := file.read(1 << 16):
        *complete, rest = (rest + piece).split(end)
        yield from complete
        rest = rest[:_LONGEST_NAME]
    if rest:
        yield rest


def _walking(inputs: Inputs) -> WalkOptions:
    patterns = tuple(f"*{ending}" for ending in dict.fromkeys((*endings(), *STREAMS)))
    return replace(inputs.walk, include=inputs.walk.include or patterns, limit=NO_LIMIT)


def _file(path: str, number: int, inputs: Inputs) -> Chunk:
    """Return the chunk of a file that is read as a whole."""

    def read() -> list[Item]:
        source = TextSource(input=number, item=1, piece=1, path=_full(path))
        missed: list[Item] = []

        def documents() -> tuple[Document, ...]:
            options = inputs.columns.options
            if "://" in path:
                with opened(path) as file:
                    file_bytes = file.read(MAX_FILE_BYTES + 1)
                extraction = read_data(file_bytes, name=PurePath(path).name, options=options)
            else:
                extraction = read_document(Path(path), options=options)
            selected = choose(extraction, inputs.parts)
            for piece_number, missed_part in enumerate(
                extraction.missed(inputs.parts), len(selected) + 1
            ):
                piece_source = replace(source, piece=piece_number, part=missed_part.part)
                missed.append(Refusal(source=piece_source, error=missed_part.error))
            return selected

        return [*_items(documents, source), *missed]

    return Chunk(input=number, slice=0, mark=_state(path), weight=weight_of(path), read=read)


def _table(path: str, number: int, inputs: Inputs) -> Iterator[Chunk]:
    """Yield the rows of a table in slices; an error in the file is an item at its position.

    A table without rows is an error too, so that every input has an item.
    """
    row_count, slices = 0, 0
    ending = PurePath(path).suffix.lower()
    stream = STREAMS[ending]
    try:
        with opened(path) as file:
            entries = stream(file, PurePath(path).name, inputs.columns)
            for group in _groups(entries):
                first = row_count + 1
                row_count, slices = row_count + len(group), slices + 1
                shard_rows = [
                    pair for pair in enumerate(group, first) if _in_shard(number, pair[0], inputs)
                ]
                if shard_rows:
                    yield _slice(path, number, slices - 1, shard_rows)
        if not row_count:
            raise InputError("input.empty", code="input-empty")
    except Exception as error:  # an unknown file may raise anything; the others are read
        refusal = as_refusal(error)
        source = TextSource(input=number, item=row_count + 1, piece=1, path=_full(path))

        def read() -> list[Item]:
            return [Refusal(source=source, error=refusal)]

        mark = f"{_state(path)}|{refusal.code}"
        if _in_shard(number, row_count + 1, inputs):
            yield Chunk(input=number, slice=slices, mark=mark, weight=0, read=read)


def _groups(entries: Iterator[TableEntry]) -> Iterator[list[TableEntry]]:
    """Group entries up to a number of rows and bytes; the groups are the same in every run."""
    group: list[TableEntry] = []
    size = 0
    for entry in entries:
        group.append(entry)
        size += entry.weight
        if len(group) >= ROWS_OF_A_CHUNK or size >= BYTES_OF_A_CHUNK:
            yield group
            group, size = [], 0
    if group:
        yield group


def _slice(path: str, number: int, slices: int, entries: list[tuple[int, TableEntry]]) -> Chunk:
    """Return the chunk of some numbered rows of a table."""
    digest = hashlib.sha256()
    for _, entry in entries:
        for part in (
            entry.part.encode(errors="surrogatepass"),
            (entry.id or "").encode(errors="surrogatepass"),
            entry.identity,
        ):
            digest.update(len(part).to_bytes(8, "little") + part)

    def read() -> list[Item]:
        entry_items: list[Item] = []
        for row_number, entry in entries:
            source = TextSource(
                input=number,
                item=row_number,
                piece=1,
                path=_full(path),
                id=None if entry.id is None else visible(entry.id),
                part=visible(entry.part),
            )
            entry_items += _items(entry.read, source)
        return entry_items

    weight = sum(entry.weight for _, entry in entries)
    return Chunk(input=number, slice=slices, mark=digest.hexdigest(), weight=weight, read=read)


def _items(read: Callable[[], Any], source: TextSource) -> list[Item]:
    """Read documents; an error is an item as well."""
    try:
        documents = read()
    except PuraError as error:
        return [Refusal(source=source, error=error)]
    texts: list[Item] = []
    for index, document in enumerate(documents):
        part = ", ".join(filter(None, (source.part, document.part)))
        piece_source = replace(source, piece=index + 1, part=part)
        document = replace(document, part=part)
        texts.append(Text(source=piece_source, document=document, digest=document.digest))
    return texts


def _full(path: str) -> str:
    return visible(path if "://" in path else os.path.abspath(path))  # noqa: PTH100 - any name


def _state(path: str) -> str:
    """Return the state of a file; a changed file is read again."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - any name may come
    except (OSError, ValueError):
        return visible(path)
    return f"{visible(path)}|{facts.st_size}|{facts.st_mtime_ns}"
