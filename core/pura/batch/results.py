"""The result of a batch as a file.

JSON lines or Parquet, written whole or not at all, and read back.
"""

from __future__ import annotations

import gzip
import heapq
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, Final, get_args, get_origin

from pura.base.catalogue import phrase
from pura.base.errors import InputError, RecordError, unusable
from pura.base.files import read_bounded
from pura.batch.rows import MAX_ROW_BYTES, Row, columns, read_row, row_line
from pura.batch.tables import arrow, opened, remote
from pura.record.audit import Audit
from pura.record.json_io import from_json, to_json

JSON_LINES: Final = "jsonl"
PARQUET: Final = "parquet"
FORMATS: Final = (JSON_LINES, PARQUET)
GROUP_ROWS: Final = 8192


def format_of(name: str, chosen: str | None = None) -> str:
    """Return the format of a result by what was asked for, or the ending of its name.

    Raises:
        InputError: It is none of :data:`FORMATS`, or Parquet cannot be written here.
    """
    found = chosen or PurePath(name).suffix.lower().lstrip(".")
    found = JSON_LINES if found == "ndjson" else found
    if found not in FORMATS:
        raise InputError(
            "choice.unknown", known=", ".join(FORMATS), name=found or name, code="usage"
        )
    if found == PARQUET:
        arrow()
    return found


def write_rows(name: str, rows: Iterable[Row], form: str) -> int:
    """Write rows to a file or an address; a file that is there is replaced in one step.

    Args:
        name: Path or address.
        rows: The rows, in order.
        form: One of :data:`FORMATS`.

    Returns:
        How many there were.

    Raises:
        InputError: It cannot be written; what was there before is untouched.
    """
    with written(name) as file:
        return _WRITERS[form](file, rows)


@contextmanager
def written(name: str) -> Iterator[IO[bytes]]:
    """Lend a new file that takes its name when it is whole.

    Raises:
        InputError: It cannot be written.
    """
    try:
        if "://" in name:
            with remote(name, "wb") as file:
                yield file
        else:
            with _replaced(Path(name)) as file:
                yield file
    except OSError as error:
        raise InputError(
            "file.write", name=PurePath(name).name, why=error.errno or 0, code="file-write"
        ) from None


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    # Always the same name, so that a batch that is killed while it writes leaves one file at most.
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _write_json_lines(file: IO[bytes], rows: Iterable[Row]) -> int:
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - the last one is returned
        file.write(row_line(row))
    return count


def _write_parquet(file: IO[bytes], rows: Iterable[Row]) -> int:
    pyarrow = arrow()
    schema, count = arrow_schema(), 0
    group: list[dict[str, Any]] = []
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as table:

        def flush() -> None:
            table.write_table(pyarrow.Table.from_pylist(group, schema=schema))
            group.clear()

        for row in rows:
            count += 1
            group.append(_for_arrow(row))
            if len(group) >= GROUP_ROWS:
                flush()
        flush()
    return count


_WRITERS: Final[dict[str, Callable[[IO[bytes], Iterable[Row]], int]]] = {
    JSON_LINES: _write_json_lines,
    PARQUET: _write_parquet,
}


def arrow_schema() -> Any:
    """Return the columns of a row as Arrow types."""
    pyarrow = arrow()
    scalars = {
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        str: pyarrow.string(),
        bool: pyarrow.bool_(),
    }
    span = pyarrow.struct([("start", pyarrow.int64()), ("end", pyarrow.int64())])
    special = {
        "fields": pyarrow.map_(pyarrow.string(), pyarrow.string()),
        "passages": pyarrow.list_(span),
        "passages_limits": pyarrow.list_(pyarrow.list_(pyarrow.int64())),
    }

    def form(kind: Any) -> Any:
        if kind in scalars:
            return scalars[kind]
        first = form(get_args(kind)[0])  # ``kind | None``, or the kind of many
        return pyarrow.list_(first) if get_origin(kind) is tuple else first

    return pyarrow.schema(
        [(name, special.get(name) or form(kind)) for name, kind in columns().items()]
    )


def _for_arrow(row: Row) -> dict[str, Any]:
    named = row["fields"]
    return row | {
        "fields": None if named is None else list(named.items()),
        "passages": [{"start": start, "end": end} for start, end in row["passages"]],
    }


MAX_RECORD_BYTES: Final = 256 << 20


def read_rows(name: str, form: str | None = None) -> Iterator[Row]:
    """Yield the rows of a result, in order; nothing is held but the one that is read.

    Args:
        name: Path or address.
        form: ``jsonl`` or ``parquet``; None goes by the name.

    Raises:
        InputError: The file cannot be read.
        RecordError: It is no result of a batch.
    """
    chosen = format_of(name, form)
    with opened(name) as file:
        if chosen == PARQUET:
            yield from _parquet_rows(file)
            return
        while line := file.readline(MAX_ROW_BYTES + 1):
            try:
                yield read_row(json.loads(line))
            except (ValueError, RecursionError):
                raise RecordError("batch.row", code="batch-row") from None


def _parquet_rows(file: IO[bytes]) -> Iterator[Row]:
    pyarrow = arrow()
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    yield read_row(_from_arrow(row))
    except (pyarrow.ArrowException, KeyError, TypeError, ValueError):
        raise RecordError("batch.row", code="batch-row") from None


def _from_arrow(row: dict[str, Any]) -> dict[str, Any]:
    named, spans = row["fields"], row["passages"]
    return row | {
        "fields": None if named is None else dict(named),
        "passages": [[span["start"], span["end"]] for span in spans],
    }


def merged(names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of several results, put into the order of the inputs.

    Raises:
        InputError: A file cannot be read, or a row is in two of them.
        RecordError: One is no result of a batch.
    """
    last = (0, 0, 0)
    for row in heapq.merge(*map(read_rows, names), key=_order):
        if _order(row) == last:
            raise InputError(
                "batch.twice", input=row["input"], item=row["item"], code="batch-twice"
            )
        last = _order(row)
        yield row


def _order(row: Row) -> tuple[int, int, int]:
    return row["input"], row["item"], row["piece"]


def record_path(folder: Path, digest: str) -> Path:
    """Return where the record of a text is kept."""
    return folder / digest[:2] / f"{digest}.json.gz"


def packed(audit: Audit) -> bytes:
    """Return a whole record as it is kept."""
    return gzip.compress(to_json(audit).encode(), compresslevel=6, mtime=0)


def record_of(row: Row, folder: Path) -> Audit | None:
    """Return the whole record of a row; None where none was kept.

    Raises:
        InputError: It cannot be read.
        RecordError: It is damaged, or speaks of another finding.
    """
    digest = row["digest"]
    if digest is None or not _is_digest(digest):
        return None
    path = record_path(folder, digest)
    if not path.exists():
        return None
    data = read_bounded(path, MAX_RECORD_BYTES)
    try:
        with gzip.open(io.BytesIO(data)) as file:
            text = file.read(MAX_RECORD_BYTES + 1)
    except (OSError, EOFError, ValueError):
        raise unusable(RecordError, "record", phrase("what.no-json")) from None
    if len(text) > MAX_RECORD_BYTES:
        raise InputError(
            "file.large", name=path.name, mebibytes=MAX_RECORD_BYTES >> 20, code="file-large"
        )
    audit = from_json(text)
    found = (audit.key.fingerprint, audit.profile.fingerprint, audit.model.fingerprint)
    said = (row["key"], row["profile"], row["model"])
    if found != said or audit.verdict != row["verdict"]:
        raise RecordError("batch.other-record", code="batch-record")
    return audit


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")
