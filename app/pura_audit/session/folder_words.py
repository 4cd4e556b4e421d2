"""What became of a folder, in words: one line, and the table behind it."""

from __future__ import annotations

from pura.documents import folders
from pura.documents.folders import Summary
from pura_audit.platform.i18n import filled, number, translate


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
