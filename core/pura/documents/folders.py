"""Choosing the files of a folder that are audited, with a reason for every file that is not.

The walk opens no file; it examines names and kinds only. It never stops at an error, and yields
every name once, as a file to read or as skipped with a reason, in the order of the names. Links
are followed only on request. No folder is entered twice, so that a loop of links ends.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from pura.base.progress import Checkpoint, never_cancelled
from pura.documents import endings

MAX_FILES: Final = 10_000
"""Files that are taken from a folder unless the user sets another limit."""
MAX_DEPTH: Final = 64
"""Levels of subfolders; this ends loops on file systems that do not number their folders."""
MAX_EXAMPLES: Final = 500
"""Skipped names that are kept as examples."""

HIDDEN: Final = "hidden"
LINK: Final = "link"
PATTERN: Final = "pattern"
FORMAT: Final = "format"
LOCK: Final = "lock-file"
EMPTY: Final = "empty"
SPECIAL: Final = "not-a-file"
UNREADABLE: Final = "unreadable"
LOOP: Final = "seen-already"
DEEP: Final = "too-deep"
SUBFOLDER: Final = "subfolder"
LIMIT: Final = "limit"

REASONS: Final = (
    HIDDEN,
    LINK,
    PATTERN,
    FORMAT,
    LOCK,
    EMPTY,
    SPECIAL,
    UNREADABLE,
    LOOP,
    DEEP,
    SUBFOLDER,
    LIMIT,
)
"""All reasons for skipping a name; their texts are in the message catalogue."""


@dataclass(frozen=True, kw_only=True)
class WalkOptions:
    """Options for reading a folder.

    Attributes:
        recursive: Enter subfolders.
        include: Patterns such as ``*.docx`` of file names to take; empty takes every readable
            format.
        exclude: Patterns of names to skip, for files and folders.
        hidden: Take names that begin with a dot.
        links: Follow symbolic links.
        limit: Maximum number of files.
    """

    recursive: bool = True
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden: bool = False
    links: bool = False
    limit: int = MAX_FILES


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """A file or folder that was skipped.

    Attributes:
        path: Its path.
        reason: One of :data:`REASONS`.
    """

    path: Path
    reason: str


@dataclass(kw_only=True)
class Summary:
    """Counts of a walk; they grow while it runs.

    Attributes:
        found: Number of files taken.
        skipped: Number of names skipped, by reason.
        examples: The first skipped names, at most :data:`MAX_EXAMPLES`.
    """

    found: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: list[Skipped] = field(default_factory=list)

    @property
    def total_skipped(self) -> int:
        """Number of names skipped."""
        return self.skipped.total()

    def add(self, entry: Path | Skipped) -> None:
        """Count a result of :func:`walk`."""
        if isinstance(entry, Path):
            self.found += 1
            return
        self.skipped[entry.reason] += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(entry)


def walk(
    root: Path,
    options: WalkOptions | None = None,
    *,
    checkpoint: Checkpoint = never_cancelled,
) -> Iterator[Path | Skipped]:
    """Walk through a folder.

    Args:
        root: The folder. Since the user named it, it may itself be hidden or a link.
        options: Filters.
        checkpoint: Called for every name; may raise :class:`~pura.base.errors.Cancelled`.

    Yields:
        A path for a file to read, or :class:`Skipped`.
    """
    filters = options or WalkOptions()
    return _FolderWalk(filters, checkpoint).folder(root, 0)


def gather(
    roots: Iterable[Path],
    options: WalkOptions | None = None,
    *,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[list[Path], Summary]:
    """Replace folders by the files in them; other paths are returned as they are.

    Args:
        roots: Files and folders in any order.
        options: Filters for the contents of folders.
        checkpoint: As for :func:`walk`.

    Returns:
        The files in order, and the counts of the walks.
    """
    files: list[Path] = []
    summary = Summary()
    for root in roots:
        for entry in walk(root, options, checkpoint=checkpoint) if root.is_dir() else (root,):
            summary.add(entry)
            if isinstance(entry, Path):
                files.append(entry)
    return files, summary


class _FolderWalk:
    """State of one walk: filters, visited folders, and number of files taken."""

    def __init__(self, options: WalkOptions, checkpoint: Callable[[], None]) -> None:
        self._options, self._checkpoint = options, checkpoint
        self._include = options.include or tuple(f"*{ending}" for ending in endings())
        self._seen: set[tuple[int, int]] = set()
        self._taken = 0

    def folder(self, path: Path, depth: int) -> Iterator[Path | Skipped]:
        """Walk one folder and those inside it."""
        try:
            facts = path.stat()
            with os.scandir(path) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except (OSError, ValueError):
            yield Skipped(path=path, reason=UNREADABLE)
            return
        identity = (facts.st_dev, facts.st_ino)
        # Where a file system numbers nothing, the depth still ends every loop.
        if facts.st_ino and identity in self._seen:
            yield Skipped(path=path, reason=LOOP)
            return
        self._seen.add(identity)
        for entry in inside:
            self._checkpoint()
            yield from self._entry(entry, depth)

    def _entry(self, entry: os.DirEntry[str], depth: int) -> Iterator[Path | Skipped]:
        path = Path(entry.path)
        reason = self._reason_by_name(entry)
        if reason is None:
            try:
                if entry.is_dir():
                    yield from self._subfolder(path, depth)
                    return
                reason = self._reason_by_file(entry)
            except OSError:
                reason = UNREADABLE  # a link that leads nowhere, or a file that has just gone
        if reason is None:
            self._taken += 1
            yield path
        else:
            yield Skipped(path=path, reason=reason)

    def _subfolder(self, path: Path, depth: int) -> Iterator[Path | Skipped]:
        if not self._options.recursive:
            yield Skipped(path=path, reason=SUBFOLDER)
        elif depth + 1 > MAX_DEPTH:
            yield Skipped(path=path, reason=DEEP)
        else:
            yield from self.folder(path, depth + 1)

    def _reason_by_name(self, entry: os.DirEntry[str]) -> str | None:
        """Return the reason to skip a name without examining it further, or None."""
        if entry.name.startswith(".") and not self._options.hidden:
            return HIDDEN
        if entry.is_symlink() and not self._options.links:
            return LINK
        if _matches(entry.name, self._options.exclude):
            return PATTERN
        return None

    def _reason_by_file(self, entry: os.DirEntry[str]) -> str | None:
        """Return the reason to skip a file, or None."""
        facts = entry.stat()
        if not stat.S_ISREG(facts.st_mode):
            return SPECIAL
        if entry.name.startswith(("~$", ".~lock.")):
            return LOCK
        if not _matches(entry.name, self._include):
            return PATTERN if self._options.include else FORMAT
        if not facts.st_size:
            return EMPTY
        return LIMIT if self._taken >= self._options.limit else None


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name.casefold(), pattern.casefold()) for pattern in patterns)
