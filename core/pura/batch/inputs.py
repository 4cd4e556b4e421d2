"""Which inputs a batch has: files, folders, patterns, lists of names and addresses, as a stream.

Nothing is held but what is being read. The order is that in which the inputs are named, within a
folder that of the names; it is the same in every run, and gives every text its number.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import IO, Any, Final

from pura.base.errors import InputError, PuraError
from pura.base.files import open_regular
from pura.base.numerals import visible
from pura.batch.tables import STREAMS, Columns, TableEntry, as_refusal, opened
from pura.batch.values import Chunk, Item, Refusal, Text, TextSource
from pura.documents import Document, choose, endings, read_data, read_document
from pura.documents.folders import Skipped, WalkOptions, walk
from pura.documents.formats import MAX_FILE_BYTES

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


@dataclass(kw_only=True)
class Passed:
    """What was left out of the folders, by reason; grows while they are walked."""

    skipped: Counter[str] = field(default_factory=Counter)


def files(inputs: Inputs, passed: Passed | None = None) -> Iterator[str]:
    """Yield every file by path or address, in order.

    Args:
        inputs: What was asked for.
        passed: Counts what is left out of folders.

    Raises:
        InputError: A list of names cannot be read.
    """
    told = passed or Passed()
    for name in _names(inputs):
        if "://" in name:
            yield name
        elif os.path.isdir(name):  # noqa: PTH112 - a name that no path can be made of is no folder
            for found in walk(Path(name), _walking(inputs)):
                if isinstance(found, Skipped):
                    told.skipped[found.reason] += 1
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


def chunks(inputs: Inputs, passed: Passed | None = None) -> Iterator[Chunk]:
    """Yield what is read in one go, in order; every file is a chunk, or some for a table.

    Raises:
        InputError: A list of names cannot be read.
    """
    for number, path in enumerate(files(inputs, passed), 1):
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
        try:
            with open_regular(listed) as file:
                for name in _split(file, b"\0" if inputs.nul else b"\n"):
                    whole = name if inputs.nul else name.removesuffix(b"\r")
                    if whole:
                        yield os.fsdecode(whole)
        except OSError as error:
            raise InputError(
                "file.read", name=listed.name, why=error.errno or 0, code="file-unreadable"
            ) from None


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
