"""The result of a batch, opened: its rows as values, and any row's whole record."""

from __future__ import annotations

import gzip
import heapq
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

from pura.base.catalogue import phrase
from pura.base.errors import InputError, RecordError, unusable
from pura.base.files import read_bounded
from pura.batch.rows import MAX_ROW_BYTES, Row
from pura.batch.tables import arrow, opened
from pura.batch.write import PARQUET, format_of
from pura.record.audit import Audit
from pura.record.json_io import from_json, to_json

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
                yield Row.from_dict(json.loads(line))
            except (ValueError, RecursionError):
                raise RecordError("batch.row", code="batch-row") from None


def _parquet_rows(file: IO[bytes]) -> Iterator[Row]:
    pyarrow = arrow()
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    yield Row.from_dict(_from_arrow(row))
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
            raise InputError("batch.twice", input=row.input, item=row.item, code="batch-twice")
        last = _order(row)
        yield row


def _order(row: Row) -> tuple[int, int, int]:
    return row.input, row.item, row.piece


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
    if row.digest is None or not _is_digest(row.digest):
        return None
    path = record_path(folder, row.digest)
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
    if found != (row.key, row.profile, row.model) or audit.verdict != row.verdict:
        raise RecordError("batch.other-record", code="batch-record")
    return audit


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")
