"""Which files of a folder are audited, and which are not and why.

The walk opens no file: it looks at names and kinds only. It goes on whatever it meets, and gives
back every name once, as found or as skipped with a reason, in the order of the names. Links are
followed only on request, and a folder that was walked already is never entered again, so a loop
of links ends.
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
MAX_DEPTH: Final = 64
MAX_EXAMPLES: Final = 500

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
"""Every reason for which a name is left out; the words stand in the catalogue."""


@dataclass(frozen=True, kw_only=True)
class WalkOptions:
    """What the user chose for a folder.

    Attributes:
        recursive: Enter subfolders.
        include: Patterns like ``*.docx`` of the names to take; empty takes every format that can
            be read.
        exclude: Patterns of the names to leave out, files and folders alike.
        hidden: Take names that begin with a dot.
        links: Follow symbolic links.
        limit: Most files to take.
    """

    recursive: bool = True
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden: bool = False
    links: bool = False
    limit: int = MAX_FILES


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """A name that was left out.

    Attributes:
        path: Which.
        reason: One of :data:`REASONS`.
    """

    path: Path
    reason: str


@dataclass(kw_only=True)
class Summary:
    """What became of a folder; grows while it is walked.

    Attributes:
        found: Files taken.
        skipped: How many were left out, by reason.
        examples: The first names that were left out, at most :data:`MAX_EXAMPLES`.
    """

    found: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: list[Skipped] = field(default_factory=list)

    @property
    def total_skipped(self) -> int:
        """How many names were left out."""
        return self.skipped.total()

    def add(self, item: Path | Skipped) -> None:
        """Count a result of :func:`walk`."""
        if isinstance(item, Path):
            self.found += 1
            return
        self.skipped[item.reason] += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(item)


def walk(
    root: Path,
    options: WalkOptions | None = None,
    *,
    checkpoint: Checkpoint = never_cancelled,
) -> Iterator[Path | Skipped]:
    """Go through a folder.

    Args:
        root: The folder; it may itself be hidden or a link, since the user named it.
        options: Filters.
        checkpoint: Called for every name; may raise :class:`~pura.base.errors.Cancelled`.

    Yields:
        A path for a file to read, or :class:`Skipped`.
    """
    chosen = options or WalkOptions()
    return _Walk(chosen, checkpoint).folder(root, 0)


def gather(
    roots: Iterable[Path],
    options: WalkOptions | None = None,
    *,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[list[Path], Summary]:
    """Replace folders by their files; other paths stay as they are.

    Args:
        roots: Files and folders in any order.
        options: Filters for what is inside the folders.
        checkpoint: As for :func:`walk`.

    Returns:
        The files in order, and what was left out.
    """
    files: list[Path] = []
    summary = Summary()
    for root in roots:
        for item in walk(root, options, checkpoint=checkpoint) if root.is_dir() else (root,):
            summary.add(item)
            if isinstance(item, Path):
                files.append(item)
    return files, summary


class _Walk:
    """One walk: its filters, the folders seen and the files taken."""

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
        reason = self._unwanted(entry)
        if reason is None:
            try:
                if entry.is_dir():
                    yield from self._subfolder(path, depth)
                    return
                reason = self._unfit(entry)
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

    def _unwanted(self, entry: os.DirEntry[str]) -> str | None:
        """Return why a name is not looked at any further."""
        if entry.name.startswith(".") and not self._options.hidden:
            return HIDDEN
        if entry.is_symlink() and not self._options.links:
            return LINK
        if _matches(entry.name, self._options.exclude):
            return PATTERN
        return None

    def _unfit(self, entry: os.DirEntry[str]) -> str | None:
        """Return why a file is not taken."""
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
