"""The result of a batch: one flat row for each text, as JSON lines or Parquet, written atomically.

The columns are those of ``resources/batch-row.schema.json``. Rows are reproducible: the same texts,
keys, profile and model give the same bytes.
"""

from __future__ import annotations

import gzip
import heapq
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, make_dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import IO, Any, Final, get_args, get_origin

from pura.base.catalogue import phrase
from pura.base.decoder import DecodeError, decode, later, schema_of
from pura.base.errors import InputError, PuraError, RecordError, os_error_as, unusable
from pura.base.files import read_bounded
from pura.base.json_text import is_hex
from pura.batch.inputs import arrow, opened, remote
from pura.record.audit import Audit
from pura.record.finding import BATCH, VALUES, Finding, named_marks, named_payload
from pura.record.json_io import from_json, to_json
from pura.words.sentences import headline

NOT_EXAMINABLE: Final = "not-examinable"
MAX_ROW_BYTES: Final = 64 << 20
"""Longest line of a file of rows; long rows have many passages or fields."""

Row = dict[str, Any]
"""Plain JSON values by the names of :func:`columns`, in their order."""

# Type of each column, and its description in the schema.
_SOURCE: Final[dict[str, tuple[Any, str]]] = {
    "input": (int, "number of the file in the order of the inputs, from 1"),
    "item": (int, "number of the row, message or entry within its file, from 1"),
    "piece": (int, "number of the text within that, from 1"),
    "id": (str | None, "your own identifier"),
    "path": (str, "full path of the file"),
    "part": (str, "part of the file"),
    "digest": (str | None, "SHA-256 of the text in UTF-8; null where there is no text"),
    "verdict": (str, "outcome; not-examinable where no text could be made of the input"),
}
_ORDER: Final = (
    *("log10_e", "payload", "payload_best", "payload_posterior", "payloads_in_question"),
    *("fields_outside", "fields", "marks", "marks_payloads", "passages", "passages_limits"),
    *("share", "tokens", "usable", "hidden", "cautions", "undone"),
    *("register_entry", "register_who", "register_posterior", "key", "profile", "model"),
)
"""The order of columns in all versions; new columns are appended."""
_STATE: Final[dict[str, tuple[Any, str]]] = {
    "chosen": (bool | None, "with --fdr: chosen at that false discovery rate, else null"),
    "error": (str | None, "code of what went wrong"),
    "message": (str | None, "the same in words, English"),
}


@cache
def columns() -> dict[str, Any]:
    """Return the columns of a row with their types, in their order."""
    kinds = {name: column.kind for name, column in VALUES.items() if BATCH in column.files}
    ordered = {name: kinds[name] for name in (*_ORDER, *kinds) if name not in _SOURCE}
    # Without a finding, lists are empty and all other columns null.
    nullable = {name: kind if _many(kind) else kind | None for name, kind in ordered.items()}
    return {**_kinds(_SOURCE), **nullable, **_kinds(_STATE)}


def _kinds(described: Mapping[str, tuple[Any, str]]) -> dict[str, Any]:
    return {name: kind for name, (kind, _) in described.items()}


def _many(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is tuple


@cache
def _shape() -> Any:
    """Return a dataclass of the columns, to validate rows."""
    described = {**_SOURCE, **_STATE}
    definitions = [
        (
            name,
            kind,
            field() if name in described else later(() if _many(kind) else None, omitted=False),
        )
        for name, kind in columns().items()
    ]
    namespace = {"__doc__": "What became of one text."}
    return make_dataclass("Row", definitions, namespace=namespace, kw_only=True)


def row_of(source_columns: Mapping[str, Any], finding_columns: Mapping[str, Any]) -> Row:
    """Return a row.

    Args:
        source_columns: Origin of the text, and whether it was chosen.
        finding_columns: Columns of the finding; see :func:`finding_of` and :func:`failed`.
    """
    filled = {**source_columns, **finding_columns}
    return {name: filled.get(name, [] if _many(kind) else None) for name, kind in columns().items()}


def read_row(document: object) -> Row:
    """Read a row of this or an earlier version.

    Earlier rows state payload and fields without probabilities, so they are only taken as the most
    probable ones.

    Raises:
        RecordError: The document is not a row of this program.
    """
    try:
        decode(_shape(), document)
    except DecodeError:
        raise RecordError("batch.row", code="batch-row") from None
    row = row_of({}, dict(document))  # type: ignore[call-overload]  # an object of JSON
    stated = row["payload"]
    if stated is not None and row["payload_best"] is None:
        unknown = ("payload", "register_entry", "register_who", "register_posterior")
        row |= {**dict.fromkeys(unknown), "payload_best": stated}
        row["fields"] = dict.fromkeys(row["fields"]) if row["fields"] else None
    return row


def row_line(row: Row) -> bytes:
    """Return one line of a file of rows, with its line feed."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def finding_in(row: Row) -> Finding | None:
    """Return the finding in a row; None if there is none."""
    if row["log10_e"] is None and row["verdict"] != NOT_EXAMINABLE:
        return None
    if row["payload_best"] is None:  # several marks or none; their fields are in the records
        # Rows of earlier versions have no reasons.
        reasons = row["marks_withheld"] or [None] * len(row["marks_payloads"])
        payloads = [
            named_payload(bits or "", {}, withheld=reason or "")
            for bits, reason in zip(row["marks_payloads"], reasons, strict=True)
        ]
    else:
        fields = row["fields"] or {}
        payloads = [named_payload(row["payload"] or "", fields, best=row["payload_best"])]
    marks = row["marks"] or 0
    return Finding(
        name=row["id"] or row["path"],
        sha256=row["digest"] or "",
        tokens=row["tokens"] or 0,
        usable=row["usable"] or 0,
        verdict=row["verdict"],
        log10_e=row["log10_e"] or 0.0,
        marks=named_marks(payloads),
        counted=marks,
        share=row["share"] if row["verdict"] == "mark" else None,
        at_least=bool(row["more_marks"]),
        headline=headline(outcome_in(row), marks, at_least=bool(row["more_marks"])),
        undone=tuple(row["undone"]),
    )


def outcome_in(row: Row) -> str:
    """Return the outcome in a row; earlier versions stored only the verdict."""
    return str(row["outcome"] or row["verdict"])


def finding_of(finding: Finding, error: PuraError | None = None) -> dict[str, Any]:
    """Return the columns that a finding fills.

    Args:
        finding: The finding.
        error: The error that prevented the examination, if any.
    """
    row = {name: column.of(finding) for name, column in VALUES.items() if BATCH in column.files}
    if error is not None:
        row |= dict.fromkeys(("log10_e", "marks", "more_marks", "share", "hidden"))
    return row | failed(error)


def failed(error: PuraError | None) -> dict[str, Any]:
    """Return the columns that describe an error."""
    if error is None:
        return {"error": None, "message": None}
    outcome = {"verdict": NOT_EXAMINABLE, "outcome": NOT_EXAMINABLE}
    return outcome | {"error": error.code, "message": str(error)}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a row, derived from its columns."""
    body = schema_of(_shape())
    descriptions = {name: column.about for name, column in VALUES.items()}
    descriptions |= {name: text for name, (_, text) in (_SOURCE | _STATE).items()}
    for name, rule in body["properties"].items():
        rule["description"] = descriptions[name]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of a batch of audits",
        **body,
        # Files have all columns; files of earlier versions may lack some.
        "required": [*columns()],
    }


JSON_LINES: Final = "jsonl"
PARQUET: Final = "parquet"
FORMATS: Final = (JSON_LINES, PARQUET)
GROUP_ROWS: Final = 8192  # rows of a Parquet row group


def format_of(name: str, requested: str | None = None) -> str:
    """Return the requested format of a result or, by default, that of its file name.

    Raises:
        InputError: The format is not one of :data:`FORMATS`, or Parquet is not installed.
    """
    form = requested or PurePath(name).suffix.lower().lstrip(".")
    form = JSON_LINES if form == "ndjson" else form
    if form not in FORMATS:
        raise InputError(
            "choice.unknown", known=", ".join(FORMATS), name=form or name, code="usage"
        )
    if form == PARQUET:
        arrow()
    return form


def write_rows(name: str, rows: Iterable[Row], form: str) -> int:
    """Write rows to a file or an address; an existing file is replaced atomically.

    Args:
        name: Path or address.
        rows: The rows, in order.
        form: One of :data:`FORMATS`.

    Returns:
        Number of rows.

    Raises:
        InputError: The file cannot be written; the previous file is unchanged.
    """
    with written(name) as file:
        return _WRITERS[form](file, rows)


@contextmanager
def written(name: str) -> Iterator[IO[bytes]]:
    """Yield a new file that gets its name once it is complete.

    Raises:
        InputError: The file cannot be written.
    """
    with os_error_as(InputError, "file.write", name=PurePath(name).name, code="file-write"):
        opened = remote(name, "wb") if "://" in name else _replaced(Path(name))
        with opened as file:
            yield file


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    # A fixed name, so that a batch killed while writing leaves at most one file.
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
    fields = row["fields"]
    return row | {
        "fields": None if fields is None else list(fields.items()),
        "passages": [{"start": start, "end": end} for start, end in row["passages"]],
    }


MAX_RECORD_BYTES: Final = 256 << 20


def read_rows(name: str, form: str | None = None) -> Iterator[Row]:
    """Yield the rows of a result, in order, one at a time.

    Args:
        name: Path or address.
        form: ``jsonl`` or ``parquet``; None follows the name.

    Raises:
        InputError: The file cannot be read.
        RecordError: The file is not a result of a batch.
    """
    row_format = format_of(name, form)
    with opened(name) as file:
        if row_format == PARQUET:
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
    fields, spans = row["fields"], row["passages"]
    return row | {
        "fields": None if fields is None else dict(fields),
        "passages": [[span["start"], span["end"]] for span in spans],
    }


def merged(names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of several results in the order of the inputs.

    Raises:
        InputError: A file cannot be read, or two files contain the same row.
        RecordError: A file is not a result of a batch.
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
    """Return the path of the stored record of a text."""
    return folder / digest[:2] / f"{digest}.json.gz"


def packed(audit: Audit) -> bytes:
    """Return a complete record in the stored, compressed form."""
    return gzip.compress(to_json(audit).encode(), compresslevel=6, mtime=0)


def record_of(row: Row, folder: Path) -> Audit | None:
    """Return the complete record of a row; None if none was stored.

    Raises:
        InputError: The record cannot be read.
        RecordError: The record is damaged, or belongs to another finding.
    """
    digest = row["digest"]
    if digest is None or not is_hex(digest, 64):
        return None
    path = record_path(folder, digest)
    if not path.exists():
        return None
    compressed = read_bounded(path, MAX_RECORD_BYTES)
    try:
        with gzip.open(io.BytesIO(compressed)) as file:
            text = file.read(MAX_RECORD_BYTES + 1)
    except (OSError, EOFError, ValueError):
        raise unusable(RecordError, "record", phrase("what.no-json")) from None
    if len(text) > MAX_RECORD_BYTES:
        raise InputError(
            "file.large", name=path.name, mebibytes=MAX_RECORD_BYTES >> 20, code="file-large"
        )
    audit = from_json(text)
    recorded = (audit.key.fingerprint, audit.profile.fingerprint, audit.model.fingerprint)
    expected = (row["key"], row["profile"], row["model"])
    if recorded != expected or audit.verdict != row["verdict"]:
        raise RecordError("batch.other-record", code="batch-record")
    return audit
