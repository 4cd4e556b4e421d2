"""Which inputs a command gets: files as named, folders by what is inside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pura.base.errors import InputError
from pura.base.files import read_start
from pura.base.strict import read_json
from pura.base.visible import visible
from pura.cli.terminal import notes, say

if TYPE_CHECKING:
    from pura.documents.folders import Summary, WalkOptions

MAX_IDS_BYTES: Final = 16 << 20
MAX_LISTED: Final = 5  # names that are said of each reason; the rest is counted


def named_files(names: Sequence[str], options: WalkOptions) -> list[str]:
    """Replace folders by the files inside them, and say on standard error what was left out.

    Args:
        names: Files and folders as given; ``-`` is standard input.
        options: Filters for what is inside the folders.

    Returns:
        Names of files, and ``-`` where it stood.
    """
    from pura.documents.folders import gather

    found: list[str] = []
    for name in names:
        if name == "-" or not Path(name).is_dir():
            found.append(name)
            continue
        files, summary = gather([Path(name)], options)
        found += [str(path) for path in files]
        _tell(name, summary)
    return found


def _tell(name: str, summary: Summary) -> None:
    """Say what became of one folder."""
    from pura.documents.folders import MAX_DEPTH, MAX_FILES

    notes.print(
        say(
            "folder.taken",
            name=visible(name),
            found=summary.found,
            skipped=summary.total_skipped,
        ),
    )
    for reason, count in summary.skipped.most_common():
        shown = [s.path for s in summary.examples if s.reason == reason][:MAX_LISTED]
        more = ", …" if count > len(shown) else ""
        listed = ", ".join(visible(path.name) for path in shown)
        why = say(f"skipped.{reason}", depth=MAX_DEPTH, most=MAX_FILES)
        notes.print(say("folder.row", count=count, why=why, listed=f"{listed}{more}"))


def read_ids(path: Path, names: Sequence[str]) -> tuple[int, ...]:
    """Read token ids as ``pura generate --ids`` saves them, or a bare JSON list.

    Args:
        path: The file.
        names: The inputs of the command; saved ids belong to one text.

    Raises:
        InputError: More than one input, or the file cannot be read or holds something else.
    """
    if len(names) != 1:
        raise InputError("command.ids-many", count=len(names), code="usage")
    data = read_start(path, MAX_IDS_BYTES, InputError)
    try:
        found = read_json(data) if len(data) <= MAX_IDS_BYTES else None
    except (ValueError, RecursionError):
        raise InputError("audit.ids-list") from None
    listed = found.get("ids") if isinstance(found, dict) else found
    if not isinstance(listed, list) or not all(type(i) is int for i in listed):
        raise InputError("audit.ids-list", code="input-ids")
    return tuple(listed)
