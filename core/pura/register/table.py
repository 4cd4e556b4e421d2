"""The register as a table in CSV: out, and in again."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from pura.base.catalogue import phrase
from pura.base.errors import PayloadError, RegisterError, os_error_as
from pura.base.files import open_regular
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.register.contradictions import refuse_contradictions
from pura.register.repeats import without_repeats
from pura.register.rows import Drawn, Issue, Problems
from pura.register.store import Register
from pura.register.under import IssuedUnder
from pura.scheme import Payload, PayloadSeries, Profile, pack, parse_payload
from pura.scheme.profile import MAX_PAYLOAD_BITS

_DELIMITERS: Final = ",;\t"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_ABOUT: Final = ("who", "when", "model", "manifest", "note")
_IDENTITY: Final = ("drawn", "key", "epoch", "profile", "bits")
"""Columns that say under what a payload was issued; read where the table has a payload column."""
_MAX_LINE: Final = 1 << 16  # a row is a few words; a longer line is not a table


def import_csv(
    register: Register,
    path: Path,
    under: IssuedUnder | None,
    *,
    problems: Problems | None = None,
    profiles: Mapping[str, Profile] | None = None,
    checkpoint: Checkpoint = never_cancelled,
    progress: Callable[[int, int], None] = not_counted,
) -> int:
    """Add all rows of a table to the register, or none.

    A row that is in the register already, or twice in the table, is passed over and counted.

    Args:
        register: An open register.
        path: The CSV file.
        under: The key and profile of rows that do not say them; None where all rows do, as in a
            table that :func:`export_csv` wrote.
        profiles: Profiles by their fingerprints: the fields of the payloads that rows are of.
        problems: Collects what is wrong; says whether the other rows are added all the same.
        checkpoint: Called every thousand rows; may raise :class:`~pura.base.errors.Cancelled`.
        progress: Told then how many bytes are read, of how many.

    Returns:
        How many entries were added.

    Raises:
        RegisterError: The file is not such a table, or rows name another recipient of a payload,
            are out of range, damaged or contradict themselves; they are named as a spreadsheet
            counts them.
    """
    problems = problems or Problems()
    known = dict(profiles or {})
    if under is not None:
        known[under.profile.fingerprint] = under.profile
    with os_error_as(RegisterError, "file.read", name=path.name):
        with open_regular(path) as file:
            start = file.read(2)
        encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        total = path.stat().st_size
        data = open_regular(path)
        with io.TextIOWrapper(data, encoding=encoding, newline="") as table:

            def told() -> None:
                checkpoint()
                progress(data.tell(), total)

            try:
                rows = _Rows(under=under, profiles=known, problems=problems).read(table, told)
                # Whoever names the key means other rows than those whose key nobody knows.
                keyless = under is None or not under.key
                fresh = without_repeats(rows, register, problems, unknown=keyless)
                return register.add_many(fresh, problems)
            except (UnicodeError, csv.Error):
                raise RegisterError("register.no-table") from None


def export_csv(
    register: Register, path: Path, *, only: Callable[[Issue], bool] = lambda _: True
) -> int:
    """Write the entries that stand as a table, readable by its owner only.

    Args:
        register: An open register.
        path: Where to; an old file is replaced in one step.
        only: Which entries are written.

    Returns:
        How many rows were written.

    Raises:
        RegisterError: The file cannot be written.
    """
    with os_error_as(RegisterError, "file.write", name=path.name):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".register.")
        try:
            # With the mark, so that spreadsheets read it as UTF-8.
            with os.fdopen(handle, "w", encoding="utf-8-sig", newline="") as file:
                written = _write(file, register, only)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    return written


def _write(file: TextIO, register: Register, only: Callable[[Issue], bool]) -> int:
    writer = csv.writer(file)
    writer.writerow(("payload", *_ABOUT, *_IDENTITY))
    written = 0
    for entry in register.entries():
        issue, series = entry.issue, entry.issue.series
        if not only(issue):
            continue
        key = ("", "", "") if series is None else (series.key, series.epoch, series.profile)
        # Hexadecimal: a spreadsheet would turn 000101 into the number 101.
        cells = (
            issue.payload.hex,
            *(getattr(issue, name) for name in _ABOUT),
            *(str(issue.drawn), *key, str(len(issue.payload))),
        )
        writer.writerow([_disarm(cell) for cell in cells])
        written += 1
    return written


def _disarm(cell: str) -> str:
    # A cell that begins with quotes and a formula would be armed by reading it back once.
    return f"'{cell}" if cell.lstrip("'").startswith(_FORMULA) else cell


def _rearm(cell: str) -> str:
    harmless = cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA)
    return cell[1:] if harmless else cell


class _Rows:
    """Reads the rows of a table.

    Args:
        under: The key and profile of rows that do not say them.
        profiles: Profiles by their fingerprints.
        problems: Collects what is wrong.
    """

    def __init__(
        self, *, under: IssuedUnder | None, profiles: Mapping[str, Profile], problems: Problems
    ) -> None:
        self._under, self._profiles, self._problems = under, profiles, problems

    def read(self, file: TextIO, checkpoint: Callable[[], None]) -> Iterator[tuple[int, Issue]]:
        """Yield the good rows; note the bad ones."""
        lines = _lines(file)
        first = next(lines, "")
        skipped = 0
        if first.lower().startswith("sep="):  # a spreadsheet's own note about the delimiter
            first, skipped = next(lines, ""), 1
        delimiter = max(_DELIMITERS, key=first.count)
        header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])]
        columns = self._columns(header)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        for number, cells in enumerate(reader, start=2 + skipped):
            if number % 1000 == 0:
                checkpoint()
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                what = phrase("register.cells", count=len(cells), wanted=len(header))
                self._problems.add(number, what)
                continue
            row = {name: _rearm(cells[index].strip()) for name, index in columns.items()}
            try:
                yield number, self._issue(row)
            except (PayloadError, RegisterError) as error:
                self._problems.add(number, error.phrase)
            except ValueError:
                self._problems.add(number, phrase("register.identity"))

    def _columns(self, header: list[str]) -> dict[str, int]:
        """Return where each column stands, under the names that the code uses."""
        fields = [] if self._under is None else [f.name for f in self._under.profile.fields]
        known = {name.casefold(): name for name in ("payload", *_ABOUT, *_IDENTITY)}
        known |= {name.casefold(): name for name in fields}
        columns: dict[str, int] = {}
        for index, cell in enumerate(header):
            name = cell if cell in fields else known.get(cell.casefold())
            if name is None or name in columns:
                raise RegisterError("register.column", name=cell[:40])
            columns[name] = index
        if "who" not in columns:
            raise RegisterError("register.no-column", field="who")
        if "payload" in columns:
            named = (*_ABOUT, *_IDENTITY)
            if surplus := [name for name in fields if name in columns and name not in named]:
                raise RegisterError("register.surplus", field=surplus[0])
            needed = () if self._under is not None else ("key", "profile", "bits")
            if missing := [name for name in needed if name not in columns]:
                raise RegisterError("register.no-column", field=missing[0])
        elif missing := [name for name in fields if name not in columns]:
            raise RegisterError("register.no-column", field=missing[0])
        elif not fields:
            raise RegisterError("register.no-column", field="payload")
        return columns

    def _issue(self, row: dict[str, str]) -> Issue:
        """Return what a row says.

        Raises:
            PayloadError: Its payload is none.
            RegisterError: It contradicts itself, or its texts do not fit.
            ValueError: What it says of key, epoch, profile, bits or drawing has no meaning.
        """
        about = {name: row.get(name, "") for name in _ABOUT}
        if "payload" in row:
            series = self._series(row)
            drawn = Drawn(row.get("drawn") or Drawn.GIVEN)
            payload = parse_payload(row["payload"], self._bits(row, series))
        else:
            series, drawn = self._given(about["when"]), Drawn.GIVEN
            payload = self._packed(row)
        issue = Issue(payload=payload, series=series, drawn=drawn, **about)
        refuse_contradictions(issue, None if series is None else self._profile(series.profile))
        return issue

    def _packed(self, row: dict[str, str]) -> Payload:
        fields = () if self._under is None else self._under.profile.fields
        return pack(fields, {field.name: row[field.name] for field in fields})

    def _given(self, when: str) -> PayloadSeries | None:
        return None if self._under is None else self._under.series(when)

    def _series(self, row: dict[str, str]) -> PayloadSeries | None:
        if not row.get("key"):
            return self._given(row.get("when", ""))
        profile = row.get("profile", "")
        if not profile and self._under is not None:
            profile = self._under.profile.fingerprint
        return PayloadSeries(key=row["key"], epoch=row.get("epoch", ""), profile=profile)

    def _bits(self, row: dict[str, str], series: PayloadSeries | None) -> int:
        profile = None if series is None else self._profile(series.profile)
        if profile is None and self._under is not None:
            profile = self._under.profile
        if (series is None or profile is None) and row.get("bits"):
            bits = int(row["bits"])
            if 0 < bits <= MAX_PAYLOAD_BITS:
                return bits
        if profile is None:
            raise ValueError("the width of the payload is not known")
        return profile.payload_bits

    def _profile(self, fingerprint: str) -> Profile | None:
        return self._profiles.get(fingerprint)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(_MAX_LINE):
        if len(line) == _MAX_LINE or "\0" in line:
            raise RegisterError("register.no-table")
        yield line
