"""Which inputs a command gets: files as named, folders by what is inside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pura.audit.folders import REASONS, Summary, WalkOptions, gather
from pura.cli.common import err

MAX_LISTED = 5  # names that are said of each reason; the rest is counted


def named_files(names: Sequence[str], options: WalkOptions) -> list[str]:
    """Replace folders by the files inside them, and say on standard error what was left out.

    Args:
        names: Files and folders as given; ``-`` is standard input.
        options: Filters for what is inside the folders.

    Returns:
        Names of files, and ``-`` where it stood.
    """
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
    """Say what became of one folder; names are written so that they cannot steer a terminal."""
    err.print(
        f"{_plain(name)}: {summary.found:,} files taken, {summary.total_skipped:,} names left out.",
        markup=False,
    )
    for reason, count in summary.skipped.most_common():
        shown = [s.path for s in summary.examples if s.reason == reason][:MAX_LISTED]
        more = ", …" if count > len(shown) else ""
        listed = ", ".join(_plain(path.name) for path in shown)
        err.print(f"  {count:,} × {REASONS[reason]}: {listed}{more}", markup=False)


def _plain(name: str) -> str:
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in name)
