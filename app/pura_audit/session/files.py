"""Walk folders and read files, for the queue of the files.

The outcome of a folder in words stands here as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pura.base.errors import PuraError
from pura.documents import (
    FORMATS,
    Document,
    Extraction,
    Preview,
    ReadOptions,
    folders,
    preview_encodings,
    read_document,
)
from pura.documents.folders import Summary, WalkOptions, walk
from pura.usecases.audits import UnreadFile, unread_file, unread_parts
from pura_audit.jobs.queue import Failure, JobContext
from pura_audit.platform.i18n import filled, number, translate

BATCH: Final = 200  # rows that the window takes in at once
MAX_PARTS: Final = 200  # rows that one file may become


@dataclass(frozen=True, kw_only=True)
class FileTexts:
    """The texts of a file.

    Attributes:
        documents: At least one; each of its parts is a text of its own.
        report: The file carries the record of a report.
        unread: Parts that no text could be made of; each is a row as well.
    """

    documents: tuple[Document, ...]
    report: bool
    unread: tuple[UnreadFile, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FileLook:
    """What a file is, for somebody who wants to choose how it is read.

    Attributes:
        extraction: What comes out of it, or why nothing does.
        previews: What it looks like in each encoding; empty where its format leaves no choice.
    """

    extraction: Extraction | Failure
    previews: tuple[Preview, ...]


def walk_folder(
    folder: Path,
    options: WalkOptions,
    take: Callable[[list[Path]], None],
    context: JobContext,
) -> Summary:
    """Go through a folder; its files are handed over in batches, in the window's thread."""

    def hand_over(paths: list[Path]) -> None:
        context.post(lambda: take(paths))

    summary = Summary()
    batch: list[Path] = []
    for item in walk(folder, options, checkpoint=context.checkpoint):
        summary.add(item)
        if isinstance(item, Path):
            batch.append(item)
        if len(batch) >= BATCH:
            hand_over(batch)
            batch = []
    if batch:
        hand_over(batch)
    return summary


def read_file(path: Path, options: ReadOptions, context: JobContext) -> FileTexts | UnreadFile:
    """Read one file, or say that no text can be made of it.

    Raises:
        PuraError: It cannot be read for a reason that is not its own: it is not there.
    """
    try:
        extraction = read_document(path, options=options, beat=context.checkpoint)
    except PuraError as error:
        unread = unread_file(path, error, checkpoint=context.checkpoint)
        if unread is None:
            raise
        return unread
    for document in extraction.chosen:
        _ = document.digest  # of a long text: worked out here, not in the window's thread
    return FileTexts(
        documents=tuple(extraction.chosen),
        report=extraction.format == "pdf" and _is_report(path),
        unread=unread_parts(extraction),
    )


def _is_report(path: Path) -> bool:
    from pura.usecases.reports import (
        carries_record,  # signing comes with it; the window starts without
    )

    return carries_record(path)


def look_into(path: Path, options: ReadOptions, context: JobContext) -> FileLook:
    """Read a file, and show what it looks like in other encodings."""
    extraction: Extraction | Failure
    try:
        extraction = read_document(path, options=options, beat=context.checkpoint)
    except PuraError as error:
        extraction = Failure.of(error)
    previews: tuple[Preview, ...] = ()
    if isinstance(extraction, Failure) or FORMATS[extraction.format].textual:
        try:
            previews = preview_encodings(path)
        except PuraError:
            previews = ()
    return FileLook(extraction=extraction, previews=previews)


def folder_words(summary: Summary) -> str:
    """Say in one line how many files were taken and left out."""
    if not summary.found:
        found = translate("Folder", "There is no file in that folder that can be read.")
    else:
        found = filled(
            translate("Folder", "{n:count} {n:plural(file|files)} taken from the folder."),
            n=summary.found,
        )
    if not summary.total_skipped:
        return found
    left = filled(
        translate(
            "Folder",
            "{n:count} {n:plural(name was|names were)} left out (File, What was left out).",
        ),
        n=summary.total_skipped,
    )
    return f"{found} {left}"


def reason_words(reason: str) -> str:
    """Say why a name was left out."""
    words = {
        folders.HIDDEN: translate("Folder", "hidden"),
        folders.LINK: translate("Folder", "symbolic link"),
        folders.PATTERN: translate("Folder", "the filter leaves it out"),
        folders.FORMAT: translate("Folder", "not a format that is read"),
        folders.LOCK: translate("Folder", "lock file of an office program"),
        folders.EMPTY: translate("Folder", "empty"),
        folders.SPECIAL: translate("Folder", "pipe, device or socket"),
        folders.UNREADABLE: translate("Folder", "cannot be read"),
        folders.LOOP: translate("Folder", "reached a second time through a link"),
        folders.DEEP: translate("Folder", "too many levels down"),
        folders.SUBFOLDER: translate("Folder", "subfolder, not asked for"),
        folders.LIMIT: translate("Folder", "beyond the most files that are taken"),
    }
    return words[reason]


def left_out_table(summary: Summary) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """Return headers, rows and the sentence above them."""
    headers = (
        translate("Folder", "Name"),
        translate("Folder", "Why"),
        translate("Folder", "Where"),
    )
    rows: list[tuple[str, ...]] = [
        (s.path.name, reason_words(s.reason), str(s.path.parent)) for s in summary.examples
    ]
    counts = ", ".join(f"{number(n)} × {reason_words(r)}" for r, n in summary.skipped.most_common())
    return headers, rows, counts
