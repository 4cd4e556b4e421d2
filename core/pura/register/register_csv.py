"""The register from a table and back: CSV as spreadsheets write it.

In: UTF-8 (with or without its mark) or UTF-16, comma, semicolon or tab; a column ``payload`` or
one column for each field of the profile's layout; ``who``; ``when`` and ``model`` if wanted.
Nothing is imported when any row is bad, and the rows are named. Out: cells that a spreadsheet
would run as a formula are disarmed, and disarmed ones are read back as they were.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from pura.base.catalogue import phrase
from pura.base.errors import PayloadError, RegisterError
from pura.base.files import open_regular
from pura.register.store import Issue, Problems, Register
from pura.scheme import Profile, pack, parse_payload

_DELIMITERS: Final = ",;\t"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_ABOUT: Final = ("who", "when", "model")
_MAX_LINE: Final = 1 << 16  # a row is a few words; a longer line is not a table


def import_csv(
    register: Register,
    path: Path,
    profile: Profile,
    *,
    checkpoint: Callable[[], None] | None = None,
) -> int:
    """Add all rows of a table to the register, or none.

    Args:
        register: An open register.
        path: The CSV file.
        profile: Says how many bits a payload has, and which fields.
        checkpoint: Called every thousand rows; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        How many entries were added.

    Raises:
        RegisterError: The file is not such a table, or rows are duplicates, out of range or
            damaged; they are named as a spreadsheet counts them.
    """
    problems = Problems()
    try:
        with open_regular(path) as file:
            start = file.read(2)
        encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        with io.TextIOWrapper(open_regular(path), encoding=encoding, newline="") as file:
            rows = _read(file, profile, problems, checkpoint or (lambda: None))
            return register.add_many(rows, problems)
    except OSError as error:
        raise RegisterError("file.read", name=path.name, why=error.errno or 0) from None
    except UnicodeError:
        raise RegisterError("register.no-table") from None
    except csv.Error:
        raise RegisterError("register.no-table") from None


def export_csv(register: Register, path: Path, payload_bits: int | None = None) -> int:
    """Write the register as a table, readable by its owner only.

    Args:
        register: An open register.
        path: Where to; an old file is replaced in one step.
        payload_bits: Only payloads of this length, or all.

    Returns:
        How many rows were written.

    Raises:
        RegisterError: The file cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".register.")
        try:
            # With the mark, so that spreadsheets read it as UTF-8.
            with os.fdopen(handle, "w", encoding="utf-8-sig", newline="") as file:
                written = _write(file, register, payload_bits)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise RegisterError("file.write", name=path.name, why=error.errno or 0) from None
    return written


def _write(file: TextIO, register: Register, payload_bits: int | None) -> int:
    writer = csv.writer(file)
    writer.writerow(("payload", *_ABOUT))
    written = 0
    for entry in register.entries():
        issue = entry.issue
        if payload_bits in (None, len(issue.payload)):
            # Hexadecimal: a spreadsheet would turn 000101 into the number 101.
            cells = (issue.payload.hex, issue.who, issue.when, issue.model)
            writer.writerow([_disarm(cell) for cell in cells])
            written += 1
    return written


def _disarm(cell: str) -> str:
    # A cell that begins with quotes and a formula would be armed by reading it back once.
    return f"'{cell}" if cell.lstrip("'").startswith(_FORMULA) else cell


def _rearm(cell: str) -> str:
    harmless = cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA)
    return cell[1:] if harmless else cell


def _read(
    file: TextIO, profile: Profile, problems: Problems, checkpoint: Callable[[], None]
) -> Iterator[tuple[int, Issue]]:
    """Yield the good rows; note the bad ones."""
    lines = _lines(file)
    first = next(lines, "")
    skipped = 0
    if first.lower().startswith("sep="):  # a spreadsheet's own note about the delimiter
        first, skipped = next(lines, ""), 1
    delimiter = max(_DELIMITERS, key=first.count)
    header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])]
    columns = _columns(header, profile)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for number, cells in enumerate(reader, start=2 + skipped):
        if number % 1000 == 0:
            checkpoint()
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            problems.add(number, phrase("register.cells", count=len(cells), wanted=len(header)))
            continue
        row = {name: _rearm(cells[at].strip()) for name, at in columns.items()}
        try:
            yield number, _issue(row, profile)
        except (PayloadError, RegisterError) as error:
            problems.add(number, error.phrase)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(_MAX_LINE):
        if len(line) == _MAX_LINE or "\0" in line:
            raise RegisterError("register.no-table")
        yield line


def _columns(header: list[str], profile: Profile) -> dict[str, int]:
    """Return where each column stands, under the names that the code uses."""
    fields = [field.name for field in profile.fields]
    known = {name.casefold(): name for name in ("payload", *_ABOUT)}
    known |= {name.casefold(): name for name in fields}
    out: dict[str, int] = {}
    for at, cell in enumerate(header):
        name = cell if cell in fields else known.get(cell.casefold())
        if name is None or name in out:
            raise RegisterError("register.column", name=cell[:40])
        out[name] = at
    if "who" not in out:
        raise RegisterError("register.no-column", field="who")
    if "payload" in out:
        if surplus := [name for name in fields if name in out and name not in _ABOUT]:
            raise RegisterError("register.surplus", field=surplus[0])
    elif missing := [name for name in fields if name not in out]:
        raise RegisterError("register.no-column", field=missing[0])
    elif not fields:
        raise RegisterError("register.no-column", field="payload")
    return out


def _issue(row: dict[str, str], profile: Profile) -> Issue:
    if "payload" in row:
        payload = parse_payload(row["payload"], profile.payload_bits)
    else:
        payload = pack(profile.fields, {field.name: row[field.name] for field in profile.fields})
    about = {name: row.get(name, "") for name in _ABOUT}
    return Issue(payload=payload, **about)
