"""The child process in which documents are parsed: ``python -m pura.documents.child``.

Standard input: one line of JSON (format, options), then the bytes of the file to the end.
Standard output: one JSON object with the extracts, or with the refusal. Nothing is printed else,
and no exception's words leave: they may quote the text.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import asdict
from typing import Any

from pura.base import linux
from pura.base.errors import InputError
from pura.documents import cage, formats
from pura.documents.encodings import preload
from pura.documents.formats import (
    FORMATS,
    Format,
    FormatReader,
    ReadOptions,
    check,
    damaged,
    memory,
    over,
)


def main() -> None:
    """Read a request, load its reader, shut the cage, then parse."""
    linux.die_with_parent()
    source = sys.stdin.buffer
    request = json.loads(source.readline(65536))
    form = FORMATS[request["format"]]
    try:
        reader = form.load()
        for name in form.preload:
            importlib.import_module(name)
        preload()
        cage.close()
        data = source.read(formats.MAX_FILE_BYTES + 1)
        answer = _answer(reader, data, ReadOptions(**request["options"]), form)
    except MemoryError:
        # The reader's own memory is free again here.
        answer = {"error": memory().packed()}
    _send(answer)


def _answer(
    reader: FormatReader, data: bytes, options: ReadOptions, form: Format
) -> dict[str, Any]:
    try:
        extracts = reader(data, options)
        check(extracts)
    except InputError as error:
        return {"error": error.packed()}
    except RecursionError:
        return {"error": over("limit.deep").packed()}
    except cage.ForbiddenError:
        return {"error": InputError("input.outside", code="input-outside").packed()}
    except MemoryError:
        raise
    except Exception:  # whatever a parser raises; what kind helps nobody who has the file
        return {"error": damaged(form.label).packed()}
    return {"extracts": [asdict(extract) for extract in extracts]}


def _send(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))
    sys.stdout.buffer.flush()
    # No tidying up: destructors of a confused library have no more say.
    os._exit(0)


if __name__ == "__main__":
    main()
