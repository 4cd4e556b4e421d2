"""The log of a server that issues payloads, and what of it says how keys were used."""

from __future__ import annotations

import errno
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from pura.base.catalogue import Value, catalogue, phrase, quoted
from pura.base.database import Handle
from pura.base.errors import PayloadError, PuraError, RegisterError, os_error_as
from pura.base.files import make_private, open_regular
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.keys.entries import KeyEntry
from pura.register.rows import Issue, Problems, digest_of, row_of
from pura.register.store import Register
from pura.scheme import Payload, Profile


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What is known to need a key.

    Attributes:
        entry: The key.
        profiles: Names of stored profiles that belong to it.
        derived: Keys that were derived from it; they stay, but cannot be derived again.
        entries: Issued payloads in the register that are as long as those profiles' payloads; the
            register does not say under which profile each was issued.
    """

    entry: KeyEntry
    profiles: tuple[str, ...] = ()
    derived: tuple[KeyEntry, ...] = ()
    entries: int = 0


def find_usage(
    entry: KeyEntry, entries: tuple[KeyEntry, ...], profiles: Path, register: Path
) -> Usage:
    """Look up what refers to a key.

    Args:
        entry: The key.
        entries: All known keys.
        profiles: Folder of the stored profiles.
        register: The register's file; need not exist.
    """
    bound = {}
    for path in sorted(profiles.glob("*.json")) if profiles.is_dir() else ():
        try:
            profile = Profile.load(path)
        except PuraError:
            continue  # a damaged profile is told about where profiles are listed
        if profile.key == entry.fingerprint:
            bound[profile.name or path.stem] = profile.payload_bits
    derived = tuple(e for e in entries if e.master == entry.fingerprint and e is not entry)
    return Usage(
        entry=entry,
        profiles=tuple(bound),
        derived=derived,
        entries=_issued(register, frozenset(bound.values())),
    )


def sentences(usage: Usage, language: str = "en") -> tuple[str, ...]:
    """Say what can no longer be done without the key, a sentence each."""
    entry = usage.entry
    derived = tuple(e.name for e in usage.derived)
    rows: tuple[tuple[bool, str, dict[str, Value]], ...] = (
        (True, "texts", {"name": entry.name, "fingerprint": entry.fingerprint}),
        (
            bool(entry.deployment),
            "deployment",
            {"deployment": entry.deployment or "", "master": entry.master or ""},
        ),
        (bool(usage.profiles), "profiles", _names(usage.profiles)),
        (bool(usage.entries), "payloads", {"count": usage.entries}),
        (bool(derived), "derived", _names(derived)),
        (True, "audits", {}),
        (not entry.deployment, "for-good", {}),
    )
    texts = catalogue("command")
    return tuple(
        texts.fill(f"usage.{key}", language, values) for holds, key, values in rows if holds
    )


def _issued(register: Path, lengths: frozenset[int]) -> int:
    if not lengths or not register.exists():
        return 0
    try:
        with Register(register, read_only=True) as opened:
            return sum(opened.count(bits) for bits in lengths)
    except PuraError:
        return 0  # damaged; that is told about where the register is used


def _names(names: tuple[str, ...], most: int = 6) -> dict[str, Value]:
    left = len(names) - most
    more = phrase("usage.more", count=left) if left > 0 else ""
    return {"names": quoted(names[:most]), "more": more}


SUFFIX: Final = ".issued.jsonl"
_HEAD: Final = b'{"schema": "pura-issued/1"}\n'
_MAX_LINE: Final = 1 << 14
_COLUMNS: Final = ("payload", "who", "when", "model", "manifest")


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
            return file.read(len(_HEAD)) == _HEAD
    except OSError:
        return False


def import_log(
    register: Register,
    path: Path,
    profile: Profile,
    *,
    problems: Problems | None = None,
    checkpoint: Checkpoint = never_cancelled,
    progress: Callable[[int, int], None] = not_counted,
) -> int:
    """Add to the register what logs hold and it does not, or nothing.

    A row that is in the register already, or twice in the logs, is passed over; a payload that was
    issued to two is refused. Where a process ended in the middle of a line, the line is cut.

    Args:
        register: An open register.
        path: A log, or a folder of them.
        profile: Says how many bits a payload has.
        problems: Collects what is wrong; says whether the other rows are added all the same.
        checkpoint: Called every thousand rows; may raise :class:`~pura.base.errors.Cancelled`.
        progress: Told then how many bytes are read, of how many.

    Returns:
        How many entries were added.

    Raises:
        RegisterError: A file cannot be read or is damaged; rows do not fit, or contradict the
            register or each other. Rows are counted through all files, in the order of names.
    """
    problems = problems or Problems()
    files = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    with os_error_as(RegisterError, "file.read", name=path.name):
        total = sum(file.stat().st_size for file in files)

        def told(done: int) -> None:
            checkpoint()
            progress(done, total)

        rows = _fresh(_read(files, profile, problems, told), register)
        return register.add_many(rows, problems)


def _fresh(rows: Iterator[tuple[int, Issue]], register: Register) -> Iterator[tuple[int, Issue]]:
    seen: set[int] = set()
    for number, issue in rows:
        name = digest_of(row_of(issue))
        known = register.find(issue.payload)
        if name not in seen and (known is None or _other(known.issue, issue)):
            yield number, issue
        seen.add(name)


def _other(known: Issue, issue: Issue) -> bool:
    """Whether a payload went to another; its manifest may have been named later."""
    return replace(known, manifest=issue.manifest) != issue


def _read(
    files: list[Path], profile: Profile, problems: Problems, told: Callable[[int], None]
) -> Iterator[tuple[int, Issue]]:
    number, before = 0, 0
    for path in files:
        with open_regular(path) as file:
            if file.readline(len(_HEAD)) != _HEAD:
                if file.read(1):
                    raise RegisterError("register.no-log", name=path.name)
                continue  # its process ended before the first line was whole
            for line in _whole_lines(file, path.name):
                number += 1
                if number % 1000 == 0:
                    told(before + file.tell())
                try:
                    yield number, _issue(line, profile)
                except (PayloadError, RegisterError) as error:
                    problems.add(number, error.phrase)
                except (TypeError, ValueError, KeyError):
                    problems.add(number, phrase("register.log-line"))
            before += file.tell()


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
    values = (issue.payload.text, issue.who, issue.when, issue.model, issue.manifest)
    row = dict(zip(_COLUMNS, values, strict=True))
    if not issue.manifest:
        del row["manifest"]
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _issue(line: bytes, profile: Profile) -> Issue:
    row: Any = {"manifest": "", **json.loads(line)}
    values = [row[name] for name in _COLUMNS]
    if len(row) != len(values) or not all(isinstance(value, str) for value in values):
        raise ValueError("not a row of this program")
    payload = Payload(text=values[0])
    if len(payload) != profile.payload_bits:
        raise PayloadError("payload.bits", count=len(payload), payload_bits=profile.payload_bits)
    who, when, model, manifest = values[1:]
    return Issue(payload=payload, who=who, when=when, model=model, manifest=manifest)
