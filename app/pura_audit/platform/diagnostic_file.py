"""The diagnostic file: what somebody may send to the people who maintain the program.

It holds versions and the program's own log, whose lines hold nothing of a text, a payload, a key or
the name of a document (:mod:`pura.base.logs`). What libraries log may quote what they were given,
so of their lines only the time, the level and the library's name are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pura.base.logs import PACKAGES
from pura_audit.platform.diagnostics import CRASH, LOG

MAX_BYTES: Final = 4 << 20
"""All of the rotated logs of a folder: four of a mebibyte."""
_RECORD: Final = re.compile(r"(\d{4}-\d\d-\d\d \S+ [A-Z]+) ([\w.]+): ")


def diagnostic_text(folder: Path, facts: str) -> str:
    """Return the content of a diagnostic file.

    Args:
        folder: Of the log.
        facts: Versions and device, a line each.
    """
    logs = sorted(folder.glob(f"{LOG}*"), reverse=True)  # the oldest has the highest number
    lines = [line for path in logs for line in _our_lines(_read(path))]
    crash = _read(folder / CRASH) or _read((folder / CRASH).with_suffix(".last.log"))
    return "\n".join([facts, "", *lines, *(["", crash] if crash else [])]) + "\n"


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _our_lines(text: str) -> Iterator[str]:
    """Yield the lines of the program, and of the libraries' lines their head."""
    of_program = False
    for line in text.splitlines():
        record = _RECORD.match(line)
        if record is None:  # another line of the same record, for example of a stack
            if of_program:
                yield line
            continue
        of_program = record[2].partition(".")[0] in PACKAGES
        yield line if of_program else f"{record[1]} {record[2]}: …"
