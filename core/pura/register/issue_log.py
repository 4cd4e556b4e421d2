"""The log of a server that issues payloads: rows that the register takes in later.

A process that must not wait for a database appends lines to a file of its own. Each line holds what
a row of the register holds, with the key, epoch and profile that the payload was issued under.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Final

from pura.base.catalogue import phrase
from pura.base.database import Handle
from pura.base.errors import PayloadError, RegisterError, os_error_as
from pura.base.files import make_private, open_regular
from pura.base.json_text import former
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.register.contradictions import refuse_contradictions
from pura.register.repeats import without_repeats
from pura.register.rows import Drawn, Issue, Problems
from pura.register.store import Register
from pura.register.under import IssuedUnder
from pura.scheme import Payload, PayloadSeries, Profile

SUFFIX: Final = ".issued.jsonl"
_HEAD: Final = b'{"schema": "pura-issued/2"}\n'
_FORMER_HEAD: Final = b'{"schema": "pura-issued/1"}\n'
"""Of versions before 0.5, whose rows do not say under which key and profile they were issued."""
_MAX_LINE: Final = 1 << 14
_FORMER_COLUMNS: Final = frozenset({"payload", "who", "when", "model"})
_COLUMNS: Final = _FORMER_COLUMNS | {"drawn", "key", "epoch", "profile"}
_OPTIONAL: Final = frozenset({"manifest", "note"})


class IssueLog(Handle):
    """Writes down what was issued; for all threads of a process, and after a fork for both.

    Args:
        folder: Where to; each process makes a file of its own there, readable by its user only.
        batch: Bring to disk after so many rows,
        seconds: or when a row comes so long after the last time.

    Raises:
        RegisterError: The folder cannot be written.
    """

    def __init__(self, folder: Path, *, batch: int = 64, seconds: float = 1.0) -> None:
        self._folder, self._batch, self._seconds = folder, batch, seconds
        self._lock = threading.Lock()
        self._file, self._size, self._process = -1, 0, -1
        self._waiting, self._synced = 0, 0.0
        with self._lock:
            self._ready()

    def add(self, issue: Issue) -> None:
        """Write down one payload; see :meth:`add_many`."""
        self.add_many([issue])

    def add_many(self, issues: Iterable[Issue]) -> None:
        """Write down payloads.

        They are safe from the end of this process when this returns, and from that of the machine
        after the batch that they belong to, or :meth:`sync`.

        Raises:
            RegisterError: The disk is full or gone; none of them was written.
        """
        lines = [_line(issue) for issue in issues]
        with self._lock:
            self._ready()
            self._append(b"".join(lines))
            self._waiting += len(lines)
            late = time.monotonic() - self._synced > self._seconds
            if self._waiting >= self._batch or late:
                self._sync()

    def sync(self) -> None:
        """Bring to disk what was written, e.g. before an answer is sent.

        Raises:
            RegisterError: The disk does not take it.
        """
        with self._lock:
            self._ready()
            self._sync()

    def close(self) -> None:
        """Bring everything to disk and close the file."""
        with self._lock:
            if self._file >= 0:
                self._sync()
                os.close(self._file)
                self._file = -1

    def _ready(self) -> None:
        """Open a file of this process; a fork leaves its parent's alone."""
        if self._file >= 0 and self._process == os.getpid():
            return
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(8)}{SUFFIX}"
        with self._refusals():
            make_private(self._folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._file = os.open(self._folder / name, flags, 0o600)
        self._process, self._size, self._waiting = os.getpid(), 0, 0
        self._append(_HEAD)
        self._sync()
        if os.name == "posix":  # the name of the file, too
            folder = os.open(self._folder, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def _refusals(self) -> AbstractContextManager[None]:
        return os_error_as(RegisterError, "file.write", name=self._folder.name)

    def _append(self, data: bytes) -> None:
        with self._refusals():
            written = os.write(self._file, data)
            if written < len(data):  # the disk is full: leave no half of a line in the middle
                os.ftruncate(self._file, self._size)
                raise OSError(errno.ENOSPC, "half of a line was written")
        self._size += written

    def _sync(self) -> None:
        with self._refusals():
            os.fsync(self._file)
        self._waiting, self._synced = 0, time.monotonic()


def is_log(path: Path) -> bool:
    """Whether this is such a log, or a folder of them, and not a table."""
    if path.is_dir():
        return True
    try:
        with open_regular(path) as file:
            return file.read(len(_HEAD)) in (_HEAD, _FORMER_HEAD)
    except OSError:
        return False


def import_log(
    register: Register,
    path: Path,
    under: IssuedUnder | None = None,
    *,
    profiles: Mapping[str, Profile] | None = None,
    problems: Problems | None = None,
    checkpoint: Checkpoint = never_cancelled,
    progress: Callable[[int, int], None] = not_counted,
) -> int:
    """Add to the register what logs hold and it does not, or nothing.

    A row that is in the register already (or was, and was revoked), or twice in the logs, is passed
    over; a mark that was issued to two is refused. Where a process ended in the middle of a line,
    the line is cut.

    Args:
        register: An open register.
        path: A log, or a folder of them.
        under: The key and profile of rows that do not say them, as in logs of versions before 0.5.
        profiles: Profiles by their fingerprints: the fields of the payloads that rows are of.
        problems: Collects what is wrong; says whether the other rows are added all the same.
        checkpoint: Called every thousand rows; may raise :class:`~pura.base.errors.Cancelled`.
        progress: Told then how many bytes are read, of how many.

    Returns:
        How many entries were added.

    Raises:
        RegisterError: A file cannot be read or is damaged; rows do not fit, or contradict the
            register, each other or themselves. Rows are counted through all files, in the order of
            names.
    """
    problems = problems or Problems()
    files = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    known = dict(profiles or {})
    if under is not None:
        known[under.profile.fingerprint] = under.profile
    with os_error_as(RegisterError, "file.read", name=path.name):
        total = sum(file.stat().st_size for file in files)

        def told(done: int) -> None:
            checkpoint()
            progress(done, total)

        logs = _Logs(under=under, profiles=known, problems=problems)
        rows = without_repeats(logs.read(files, told), register, problems)
        return register.add_many(rows, problems)


class _Logs:
    """Reads the rows of logs.

    Args:
        under: The key and profile of rows that do not say them.
        profiles: Profiles by their fingerprints.
        problems: Collects what is wrong.
    """

    def __init__(
        self, *, under: IssuedUnder | None, profiles: Mapping[str, Profile], problems: Problems
    ) -> None:
        self._under, self._profiles, self._problems = under, profiles, problems

    def read(self, files: list[Path], told: Callable[[int], None]) -> Iterator[tuple[int, Issue]]:
        """Yield the good rows of all files; note the bad ones."""
        number, before = 0, 0
        for path in files:
            with open_regular(path) as file:
                head = file.readline(len(_HEAD))
                if head not in (_HEAD, _FORMER_HEAD):
                    if file.read(1):
                        raise RegisterError("register.no-log", name=path.name)
                    continue  # its process ended before the first line was whole
                if head == _FORMER_HEAD and self._under is None:
                    raise RegisterError("register.key-needed", code="register-key")
                for line in _whole_lines(file, path.name):
                    number += 1
                    if number % 1000 == 0:
                        told(before + file.tell())
                    try:
                        yield number, self._issue(line, former_log=head == _FORMER_HEAD)
                    except (PayloadError, RegisterError) as error:
                        self._problems.add(number, error.phrase)
                    except (TypeError, ValueError, KeyError):
                        self._problems.add(number, phrase("register.log-line"))
                before += file.tell()

    def _issue(self, line: bytes, *, former_log: bool) -> Issue:
        row: Any = json.loads(line)
        columns = _FORMER_COLUMNS if former_log else _COLUMNS
        if not columns <= set(row) <= columns | _OPTIONAL:
            raise ValueError("not a row of this program")
        if not all(isinstance(value, str) for value in row.values()):
            raise ValueError("not a row of this program")
        issue = Issue(
            payload=Payload(text=row["payload"]),
            series=self._series(row, former_log=former_log),
            who=row["who"],
            when=row["when"],
            model=row["model"],
            manifest=row.get("manifest", ""),
            note=row.get("note", ""),
            drawn=Drawn(row.get("drawn", Drawn.GIVEN)),
        )
        profile = self._profile(issue)
        if profile is not None and len(issue.payload) != profile.payload_bits:
            count, bits = len(issue.payload), profile.payload_bits
            raise PayloadError("payload.bits", count=count, payload_bits=bits)
        refuse_contradictions(issue, profile)
        return issue

    def _series(self, row: dict[str, str], *, former_log: bool) -> PayloadSeries | None:
        if former_log:
            return None if self._under is None else self._under.series(row["when"])
        if not row["key"]:  # a server that does not know its key leaves it to the import
            return None if self._under is None else self._under.series(row["when"])
        return PayloadSeries(key=row["key"], epoch=row["epoch"], profile=row["profile"])

    def _profile(self, issue: Issue) -> Profile | None:
        if issue.series is not None:
            return self._profiles.get(issue.series.profile)
        return None if self._under is None else self._under.profile


def _whole_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the lines up to where a crash cut the file; a gap before more lines is damage."""
    torn = False
    while line := file.readline(_MAX_LINE):
        if torn:
            raise RegisterError("register.no-log", name=name)
        torn = not line.endswith(b"\n") or b"\0" in line
        if not torn:
            yield line


def _line(issue: Issue) -> bytes:
    series = issue.series
    row = {
        "payload": issue.payload.text,
        "who": issue.who,
        "when": issue.when,
        "model": issue.model,
        "drawn": str(issue.drawn),
        "key": "" if series is None else series.key,
        "epoch": "" if series is None else series.epoch,
        "profile": "" if series is None else series.profile,
    }
    row |= {name: text for name in sorted(_OPTIONAL) if (text := getattr(issue, name))}
    return former(row, escaped=False) + b"\n"
