"""The result of a batch as a file: JSON lines or Parquet, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, Final

from pura.base.errors import InputError
from pura.batch.rows import Row
from pura.batch.tables import arrow, remote

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
        file.write(row.to_json())
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
    from dataclasses import fields

    kinds = {
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "str": pyarrow.string(),
        "bool": pyarrow.bool_(),
        "tuple[str": pyarrow.list_(pyarrow.string()),
        "tuple[str, ...]": pyarrow.list_(pyarrow.string()),
    }
    span = pyarrow.struct([("start", pyarrow.int64()), ("end", pyarrow.int64())])
    special = {
        "fields": pyarrow.map_(pyarrow.string(), pyarrow.string()),
        "passages": pyarrow.list_(span),
        "passages_limits": pyarrow.list_(pyarrow.list_(pyarrow.int64())),
    }
    return pyarrow.schema(
        [
            (field.name, special.get(field.name) or kinds[str(field.type).partition(" | ")[0]])
            for field in fields(Row)
        ]
    )


def _for_arrow(row: Row) -> dict[str, Any]:
    columns = row.to_dict()
    if columns["fields"] is not None:
        columns["fields"] = list(columns["fields"].items())
    columns["passages"] = [{"start": start, "end": end} for start, end in columns["passages"]]
    return columns
