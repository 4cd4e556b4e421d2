"""The child process that typesets: ``python -m pura.report.typesetter``.

typst blocks the interpreter while it works, a second for a long document, and a window would freeze
meanwhile. Standard input: one line of JSON, then bytes. For our own report the line holds the
inputs of typst and the length of the logo that follows; if typst fails, the answer is the kind of
its error, with :data:`REFUSED` as exit status. For a stranger's report, which is made again to
compare it, the line holds the lengths of record and particulars that follow, and the work is done
in the sandbox; the answer is empty if no report can be made. Either line names a private folder for
the child. Standard output: the PDF.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final

from pura.base import linux
from pura.base.catalogue import phrase
from pura.base.errors import PuraError, ReportError, os_error_as
from pura.base.json_text import json_text
from pura.base.paths import resource
from pura.base.process import NOT_SHUT_STATUS, converse, start_child
from pura.report.blocks import Typeset, typeset
from pura.scheme.public_keys import public_keys

REFUSED: Final = 3
MOST_BYTES: Final = 1 << 30
SECONDS: Final = 600.0
_TRIES: Final = 2
_MEMORY_BYTES: Final = 4 << 30  # to make a stranger's report again
_CPU_SECONDS: Final = 60


def apart(heartbeat: Callable[[], None]) -> Typeset:
    """Return a function that typesets in a child process.

    Args:
        heartbeat: Called twenty times a second; if it raises, the child is killed first.
    """

    def work(inputs: dict[str, str], logo: bytes | None) -> bytes:
        size = None if logo is None else len(logo)
        # A child that is killed cannot remove its folder.
        with tempfile.TemporaryDirectory(prefix="pura-typeset-") as folder:
            head = {"inputs": inputs, "logo": size, "folder": folder}
            return _typeset(json_text(head).encode() + b"\n" + (logo or b""), heartbeat)

    return work


def _typeset(request: bytes, heartbeat: Callable[[], None]) -> bytes:
    for _ in range(_TRIES):  # a child that was killed, for memory say, gets another try
        with os_error_as(ReportError, "reader.start"):
            child = start_child(__name__, own=True)
        ending = converse(child, request, seconds=SECONDS, most=MOST_BYTES, heartbeat=heartbeat)
        if ending.status == 0:
            return ending.answer
        if ending.status == REFUSED:
            raise ReportError("report.not-made", kind=ending.answer.decode(errors="replace")[:60])
        if ending.late:
            break
    raise ReportError("report.not-made", kind=phrase("reader.no-answer"))


def main() -> None:
    """Read the request, and write the PDF."""
    linux.die_with_parent()
    source = sys.stdin.buffer
    head = json.loads(source.readline())
    tempfile.tempdir = head["folder"]
    status = 0
    if "record" in head:
        output = _remade(head, source)
    else:
        logo = None if head["logo"] is None else source.read(head["logo"])
        try:
            output = typeset(head["inputs"], logo)
        except ReportError as error:
            output, status = str(error.values.get("kind", "")).encode(), REFUSED
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    os._exit(status)


def _remade(head: dict[str, Any], source: BinaryIO) -> bytes:
    """Enter the sandbox, then read a stranger's record and particulars and make the report."""
    import typst  # noqa: F401  (before the sandbox)

    from pura.report.build import remake

    public_keys()  # cached here, since no file can be read inside the sandbox
    readable = [resource("report"), resource("ui"), resource("languages"), *linux.libraries()]
    try:
        linux.shut(
            readable=readable,
            writable=[Path(head["folder"])],
            memory=_MEMORY_BYTES,
            seconds=_CPU_SECONDS,
        )
    except OSError:
        os._exit(NOT_SHUT_STATUS)
    record, particulars = source.read(head["record"]), source.read(head["particulars"])
    try:
        return remake(record, particulars)
    except (PuraError, ValueError):
        return b""


if __name__ == "__main__":
    main()
