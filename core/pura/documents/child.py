"""The child process in which documents are parsed: ``python -m pura.documents.child``.

Standard input: one line of JSON (format, options), then the bytes of the file to the end; or one
line with the certificates that are trusted, then JSON with what holds manifests.
Standard output: one JSON object with the extracts, or with the refusal; or with what was found of
the manifests. Nothing is printed else, and no exception's words leave: they may quote the text.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from pura.base import linux
from pura.base.errors import InputError
from pura.documents import sandbox
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
from pura.provenance.reading import Asset, load

_MAX_HEAD: Final = 4 << 20


def main() -> None:
    """Read a request, load what it needs, enter the sandbox, then parse."""
    linux.die_with_parent()
    source = sys.stdin.buffer
    request = json.loads(source.readline(_MAX_HEAD))
    try:
        work = (_document if "format" in request else _manifests)(request)
        preload()
        sandbox.close()
        answer = work(source.read())
    except MemoryError:
        # The reader's own memory is free again here.
        answer = {"error": memory().packed()}
    _send(answer)


def _document(request: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    form = FORMATS[request["format"]]
    reader = form.load()
    for name in form.preload:
        importlib.import_module(name)
    options = ReadOptions(**request["options"])
    return lambda data: _answer(reader, data, options, form)


def _manifests(request: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    verify = load(request["trust"])

    def work(data: bytes) -> dict[str, Any]:
        assets = [
            Asset(form=one["form"], data=base64.b64decode(one["data"]), text=one["text"])
            for one in json.loads(data)
        ]
        return {"manifests": [[asdict(facts) for facts in verify(one)] for one in assets]}

    return work


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
    except sandbox.ForbiddenError:
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
