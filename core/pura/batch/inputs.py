"""Which inputs a batch has: files, folders, patterns, names, addresses and tables, as a stream.

Nothing is held but what is being read: of a table one row, message or entry. The order is that in
which the inputs are named, within a folder that of the names; it is the same in every run, and
gives every text its number. What is wrong with a row is an error in its place; what is wrong with
a file ends it with an error.
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
    """Where a text stands; ``(input, item, piece)`` orders all texts, and names each once.

    Attributes:
        input: Number of the file in the order of the inputs, from 1.
        item: Number of the row, message or entry within a table, mailbox or archive, from 1.
        piece: Number of the text within that, from 1: a message may have attachments.
        path: Full path of the file.
        id: The caller's own identifier, from a table that has one.
        part: Which part of the file; empty when the file is one text.
    """

    input: int
    item: int
    piece: int
    path: str
    id: str | None = None
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Text:
    """An item that a text could be made of.

    Attributes:
        source: Where it stands.
        document: The text.
        digest: SHA-256 of its characters in UTF-8, 64 hex digits.
    """

    source: TextSource
    document: Document
    digest: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An item that no text could be made of.

    Attributes:
        source: Where it stands.
        error: Why.
    """

    source: TextSource
    error: PuraError


Item = Text | Refusal


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Items that are read in one go: those of a file, or some rows of a table.

    Attributes:
        input: Number of the file, from 1.
        slice: Which part of the file, from 0.
        mark: Says whether it is what it was when the batch was interrupted.
        weight: Its bytes, for the time that is left.
        read: Reads it; everything that can go wrong is in the items.
    """

    input: int
    slice: int
    mark: str
    weight: int
    read: Callable[[], list[Item]]


Frame = tuple[Text, ...]
"""Texts that are handed to a worker together; the same ones in every run."""


@dataclass(frozen=True, kw_only=True)
class TextResult:
    """What was found in a text, without where it stands: the same for every row that has it.

    Attributes:
        row: The columns of a row that speak of the text (:mod:`pura.batch.results`).
        seconds: How long it took.
        record: The whole record, packed; None where nobody wants it.
        alone: It was read by itself, since reading it beside others failed.
    """

    row: Mapping[str, Any]
    seconds: float
    record: bytes | None = None
    alone: bool = False


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
    buffered = io.BufferedReader(file, _SNIFFED)  # type: ignore[type-var]  # it is read only
    encoding = columns.options.encoding or "utf-8-sig"
    delimiter = delimiter_of(buffered.peek(_SNIFFED).decode(encoding, errors="replace"))
    # Bytes that are no text become surrogates, which a text is refused for; the rest is read.
    with io.TextIOWrapper(buffered, encoding, errors="surrogateescape", newline="") as text:
        rows = csv.reader(text, delimiter=delimiter)
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
        return unreadable(error)
    return InputError("batch.damaged", code="input-damaged")


def _known(names: Sequence[str], known: Sequence[str]) -> str | None:
    return next((name for name in known if name in names), None)


def _identifier(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a local file, or one at an address, for reading.

    Raises:
        InputError: It cannot be opened or read.
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
        InputError: What reaches such addresses is not installed.
    """
    try:
        import fsspec

        return fsspec.open(address, mode)
    except (ImportError, ValueError):
        scheme = address.partition("://")[0]
        raise InputError("batch.no-store", name=scheme, code="batch-store") from None


ROWS_OF_A_CHUNK: Final = 64
BYTES_OF_A_CHUNK: Final = 1 << 20
NO_LIMIT: Final = 1 << 62
_LONGEST_NAME: Final = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a batch reads.

    Attributes:
        names: Files, folders, patterns like ``mail/**/*.eml``, addresses like ``s3://…``.
        lists: Files of such names, after them.
        nul: Names in these lists end with a zero byte instead of a line feed.
        walk: What is taken from folders; there is no limit but the disk.
        columns: Which columns of tables are read, and how files are.
        parts: Which parts of a document; empty takes the usual ones, ``all`` every one.
        shard: Which part of the rows and files is read, from 0, and of how many.
    """

    names: tuple[str, ...] = ()
    lists: tuple[Path, ...] = ()
    nul: bool = False
    walk: WalkOptions = field(default_factory=WalkOptions)
    columns: Columns = field(default_factory=Columns)
    parts: tuple[str, ...] = ()
    shard: tuple[int, int] = (0, 1)

    def under(self, rule: tuple[str, ...]) -> Inputs:
        """Return the same inputs, of whose texts a rule leaves something out."""
        options = replace(self.columns.options, leave_out=rule)
        return replace(self, columns=replace(self.columns, options=options))


def files(inputs: Inputs, skipped: Counter[str] | None = None) -> Iterator[str]:
    """Yield every file by path or address, in order.

    Args:
        inputs: What was asked for.
        skipped: Counts what is left out of folders, by reason.

    Raises:
        InputError: A list of names cannot be read.
    """
    told = Counter[str]() if skipped is None else skipped
    for name in _names(inputs):
        if "://" in name:
            yield name
        elif os.path.isdir(name):  # noqa: PTH112 - a name that no path can be made of is no folder
            for found in walk(Path(name), _walking(inputs)):
                if isinstance(found, Skipped):
                    told[found.reason] += 1
                else:
                    yield str(found)
        elif glob.has_magic(name) and not os.path.lexists(name):
            hidden = inputs.walk.hidden
            inside = sorted(glob.iglob(name, recursive=True, include_hidden=hidden))  # noqa: PTH207
            yield from (path for path in inside if not os.path.isdir(path)) if inside else (name,)  # noqa: PTH112
        else:
            yield name


def weight_of(path: str) -> int:
    """Return the bytes of a file; 0 where they are not known."""
    try:
        return 0 if "://" in path else os.stat(path).st_size  # noqa: PTH116 - any name may come
    except (OSError, ValueError):
        return 0


def chunks(inputs: Inputs, skipped: Counter[str] | None = None) -> Iterator[Chunk]:
    """Yield what is read in one go, in order; every file is a chunk, or some for a table.

    Raises:
        InputError: A list of names cannot be read.
    """
    for number, path in enumerate(files(inputs, skipped), 1):
        stream = STREAMS.get(PurePath(path).suffix.lower())
        if stream is not None and inputs.columns.options.format is None:
            found = _table(path, number, inputs)
        else:
            found = iter((_file(path, number, inputs),) if _mine(number, 1, inputs) else ())
        yield from found


def _mine(number: int, item: int, inputs: Inputs) -> bool:
    """Whether an item is of the shard that is read; neighbours are of different ones."""
    mine, of = inputs.shard
    return (number + item) % of == mine


def _names(inputs: Inputs) -> Iterator[str]:
    yield from inputs.names
    for listed in inputs.lists:
        refusal = os_error_as(InputError, "file.read", name=listed.name, code="file-unreadable")
        with refusal, open_regular(listed) as file:
            for name in _split(file, b"\0" if inputs.nul else b"\n"):
                whole = name if inputs.nul else name.removesuffix(b"\r")
                if whole:
                    yield os.fsdecode(whole)


def _split(file: IO[bytes], end: bytes) -> Iterator[bytes]:
    rest = b""
    while piece := file.read(1 << 16):
        *whole, rest = (rest + piece).split(end)
        yield from whole
        rest = rest[:_LONGEST_NAME]
    if rest:
        yield rest


def _walking(inputs: Inputs) -> WalkOptions:
    known = tuple(f"*{ending}" for ending in dict.fromkeys((*endings(), *STREAMS)))
    return replace(inputs.walk, include=inputs.walk.include or known, limit=NO_LIMIT)


def _file(path: str, number: int, inputs: Inputs) -> Chunk:
    """Return a file that one reader reads whole."""

    def read() -> list[Item]:
        source = TextSource(input=number, item=1, piece=1, path=_full(path))
        missed: list[Item] = []

        def documents() -> tuple[Document, ...]:
            options = inputs.columns.options
            if "://" in path:
                with opened(path) as file:
                    data = file.read(MAX_FILE_BYTES + 1)
                extraction = read_data(data, name=PurePath(path).name, options=options)
            else:
                extraction = read_document(Path(path), options=options)
            found = choose(extraction, inputs.parts)
            for at, one in enumerate(extraction.missed(inputs.parts), len(found) + 1):
                where = replace(source, piece=at, part=one.part)
                missed.append(Refusal(source=where, error=one.error))
            return found

        return [*_items(documents, source), *missed]

    return Chunk(input=number, slice=0, mark=_state(path), weight=weight_of(path), read=read)


def _table(path: str, number: int, inputs: Inputs) -> Iterator[Chunk]:
    """Yield the rows of a table in slices; an error of the file stands where it was met.

    A table without a row is an error as well, so that every input has an item.
    """
    items, slices = 0, 0
    ending = PurePath(path).suffix.lower()
    stream = STREAMS[ending]
    try:
        with opened(path) as file:
            entries = stream(file, PurePath(path).name, inputs.columns)
            for group in _groups(entries):
                first = items + 1
                items, slices = items + len(group), slices + 1
                own = [pair for pair in enumerate(group, first) if _mine(number, pair[0], inputs)]
                if own:
                    yield _slice(path, number, slices - 1, own)
        if not items:
            raise InputError("input.empty", code="input-empty")
    except Exception as error:  # a stranger's file may do anything; the others are read
        caught = as_refusal(error)
        source = TextSource(input=number, item=items + 1, piece=1, path=_full(path))

        def read() -> list[Item]:
            return [Refusal(source=source, error=caught)]

        mark = f"{_state(path)}|{caught.code}"
        if _mine(number, items + 1, inputs):
            yield Chunk(input=number, slice=slices, mark=mark, weight=0, read=read)


def _groups(entries: Iterator[TableEntry]) -> Iterator[list[TableEntry]]:
    """Put entries together up to a number of rows, and of bytes; the same in every run."""
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
    """Return some rows of a table, each with its number, as what is read in one go."""
    content = hashlib.sha256()
    for _, entry in entries:
        for part in (
            entry.part.encode(errors="surrogatepass"),
            (entry.id or "").encode(errors="surrogatepass"),
            entry.content,
        ):
            content.update(len(part).to_bytes(8, "little") + part)

    def read() -> list[Item]:
        found: list[Item] = []
        for item, entry in entries:
            source = TextSource(
                input=number,
                item=item,
                piece=1,
                path=_full(path),
                id=None if entry.id is None else visible(entry.id),
                part=visible(entry.part),
            )
            found += _items(entry.read, source)
        return found

    weight = sum(entry.weight for _, entry in entries)
    return Chunk(input=number, slice=slices, mark=content.hexdigest(), weight=weight, read=read)


def _items(read: Callable[[], Any], source: TextSource) -> list[Item]:
    """Read documents; what goes wrong is an item as well."""
    try:
        documents = read()
    except PuraError as error:
        return [Refusal(source=source, error=error)]
    found: list[Item] = []
    for at, document in enumerate(documents):
        part = ", ".join(filter(None, (source.part, document.part)))
        where = replace(source, piece=at + 1, part=part)
        document = replace(document, part=part)
        found.append(Text(source=where, document=document, digest=document.digest))
    return found


def _full(path: str) -> str:
    return visible(path if "://" in path else os.path.abspath(path))  # noqa: PTH100 - any name


def _state(path: str) -> str:
    """Say in which state a file is; another state is read again."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - any name may come
    except (OSError, ValueError):
        return visible(path)
    return f"{visible(path)}|{facts.st_size}|{facts.st_mtime_ns}"
