"""The child that typesets: ``python -m pura.report.typesetter``.

typst holds the interpreter as long as it works, a second for a long document; a window would stand
still meanwhile. Standard input: one line of JSON with what typst gets and the length of the logo,
then the logo. Standard output: the PDF; where typst refuses, the kind of its error, with
:data:`REFUSED` as exit status.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Final

from pura.base import linux
from pura.base.catalogue import phrase
from pura.base.errors import ReportError
from pura.base.json_text import json_text
from pura.base.process import converse, start_child
from pura.report.pages import Typeset, typeset

REFUSED: Final = 3
MOST_BYTES: Final = 1 << 30
SECONDS: Final = 600.0
_TRIES: Final = 2


def apart(beat: Callable[[], None]) -> Typeset:
    """Return what typesets in a child.

    Args:
        beat: Called twenty times a second; whatever it raises ends the child first.
    """

    def work(inputs: dict[str, str], logo: bytes | None) -> bytes:
        # A child that is killed cannot take its folder away.
        with tempfile.TemporaryDirectory(prefix="pura-typeset-") as folder:
            size = None if logo is None else len(logo)
            head = {"inputs": inputs, "logo": size, "folder": folder}
            data = json_text(head).encode() + b"\n" + (logo or b"")
            return _typeset(data, beat)

    return work


def _typeset(data: bytes, beat: Callable[[], None]) -> bytes:
    for _ in range(_TRIES):  # one that was killed, for memory say, has another try
        try:
            child = start_child(__name__)
        except OSError as error:
            raise ReportError("reader.start", why=error.errno or 0) from None
        ending = converse(child, data, seconds=SECONDS, most=MOST_BYTES, beat=beat)
        if ending.status == 0:
            return ending.answer
        if ending.status == REFUSED:
            raise ReportError("report.not-made", kind=ending.answer.decode(errors="replace")[:60])
        if ending.late:
            break
    raise ReportError("report.not-made", kind=phrase("reader.no-answer"))


def main() -> None:
    """Read what is to be typeset, and write the PDF."""
    linux.die_with_parent()
    source = sys.stdin.buffer
    told = json.loads(source.readline())
    tempfile.tempdir = told["folder"]
    logo = None if told["logo"] is None else source.read(told["logo"])
    status = 0
    try:
        made = typeset(told["inputs"], logo)
    except ReportError as error:
        made, status = str(error.values.get("kind", "")).encode(), REFUSED
    sys.stdout.buffer.write(made)
    sys.stdout.buffer.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
