"""The child that makes a stranger's report again: ``python -m pura.report.check.remaker``.

Standard input: one line of JSON with a folder for it alone and the lengths of record and
particulars, then both. Standard output: the PDF, or nothing. typst wants threads, fonts and a
folder, so it stands in the wider cage.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from pura.base import linux
from pura.base.errors import PuraError
from pura.base.paths import resource
from pura.base.process import NOT_SHUT_STATUS

MEMORY_BYTES: Final = 4 << 30
CPU_SECONDS: Final = 60


def main() -> None:
    """Read the request, shut the cage, make the report."""
    import typst  # noqa: F401  (before the cage)

    from pura.report.build import remake

    linux.die_with_parent()
    source = sys.stdin.buffer
    request = json.loads(source.readline(4096))
    tempfile.tempdir = request["folder"]
    try:
        linux.shut(
            readable=[
                resource("report"),
                resource("ui"),
                resource("languages"),
                *linux.libraries(),
            ],
            writable=[Path(request["folder"])],
            memory=MEMORY_BYTES,
            seconds=CPU_SECONDS,
        )
    except OSError:
        os._exit(NOT_SHUT_STATUS)
    record, told = source.read(request["record"]), source.read(request["particulars"])
    try:
        made = remake(record, told)
    except (PuraError, ValueError):
        made = b""
    sys.stdout.buffer.write(made)
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
