"""The child process in which documents are parsed: ``python -m pura.documents.child``.

Standard input: one line of JSON (format, options), then the bytes of the file to the end; or one
line with the certificates that are trusted, then JSON with what holds manifests, or a manifest
store that came alone; or one line with the length of a PDF, its bytes, then questions about its
pages, a line each.
Standard output: one JSON object with the extracts, or with the refusal; or with what was found of
the manifests; or an answer to each question (:mod:`.readers.pages`). Nothing is printed else, and
no exception's words leave: they may quote the text.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final, NoReturn, TypeAlias

from pura.base import linux
from pura.base.catalogue import Phrase
from pura.documents import sandbox
from pura.documents.charsets import confine_codecs
from pura.documents.formats import (
    CONTAINERS,
    FORMATS,
    LENGTHS,
    Container,
    Format,
    FormatReader,
    ReadOptions,
    check,
    load_all,
    memory,
    refusal,
)
from pura.provenance.reading import Asset, load, load_for_stores

_MAX_HEAD: Final = 4 << 20
Answer: TypeAlias = "tuple[dict[str, Any], bytes]"
"""What is said as JSON, and bytes that follow it."""


def main() -> None:
    """Read a request, load what it needs, enter the sandbox, then parse."""
    linux.die_with_parent()
    source = sys.stdin.buffer
    request = json.loads(source.readline(_MAX_HEAD))
    if "pages" in request:
        _answer_questions(request["pages"])
    try:
        kinds = {"format": _document, "store": _store}
        prepare = next((make for kind, make in kinds.items() if kind in request), _manifests)
        work = prepare(request)
        confine_codecs()
        sandbox.close()
        answer = work(source.read())
    except MemoryError:
        # The reader's own memory is free again here.
        answer = {"error": memory().packed()}
    _send(answer)


def _document(request: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    options = ReadOptions(**request["options"])
    name = request["format"]
    if name not in CONTAINERS:
        form = FORMATS[name]
        reader = _loaded(form)
        return lambda data: _answer(reader, data, options, form)
    container = CONTAINERS[name]
    tells = container.load()
    readers = {name: _loaded(FORMATS[name]) for name in container.holds}
    return lambda data: _answer_of_container(container, tells, readers, data, options)


def _loaded(form: Format) -> FormatReader:
    """Import a reader; all of them where its files may hold documents of other formats."""
    if form.embeds:
        load_all()
    return form.load()


def _manifests(request: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    verify = load(request["trust"])

    def work(data: bytes) -> dict[str, Any]:
        assets = [
            Asset(form=one["form"], data=base64.b64decode(one["data"]), text=one["text"])
            for one in json.loads(data)
        ]
        return {"manifests": [[asdict(facts) for facts in verify(one)] for one in assets]}

    return work


def _store(request: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    verify = load_for_stores(request["trust"])
    return lambda data: {"store": asdict(verify(data))}


def _answer_of_container(
    container: Container,
    tells: Callable[[bytes], str],
    readers: dict[str, FormatReader],
    data: bytes,
    options: ReadOptions,
) -> dict[str, Any]:
    told, _ = _contained(lambda: ({"format": tells(data)}, b""), container.label)
    if "error" in told:
        return told
    name = told["format"]
    return _answer(readers[name], data, options, FORMATS[name])


def _answer(
    reader: FormatReader, data: bytes, options: ReadOptions, form: Format
) -> dict[str, Any]:
    def work() -> Answer:
        extracts = reader(data, options)
        check(extracts)
        answer = {"format": form.name, "extracts": [asdict(extract) for extract in extracts]}
        return answer, b""

    return _contained(work, form.label)[0]


def _contained(work: Callable[[], Answer], label: Phrase) -> Answer:
    """Return what a parser answers, or the refusal that its fault means."""
    try:
        return work()
    except MemoryError:
        raise
    except Exception as error:
        return {"error": refusal(error, label).packed()}, b""


def _answer_questions(size: int) -> NoReturn:
    """Answer whatever is asked about a PDF, until nothing is asked any more."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    pages = importlib.import_module("pura.documents.readers.pages")
    confine_codecs()
    sandbox.close()
    answer = pages.asked(source.read(size))
    label = FORMATS["pdf"].label
    while question := source.readline(_MAX_HEAD):
        try:
            told, found = _contained(lambda: answer(json.loads(question)), label)
        except MemoryError:
            told, found = {"error": memory().packed()}, b""
        head = json.dumps(told).encode("ascii")
        sink.write(LENGTHS.pack(len(head), len(found)) + head + found)
        sink.flush()
    os._exit(0)


def _send(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))
    sys.stdout.buffer.flush()
    # No tidying up: destructors of a confused library have no more say.
    os._exit(0)


if __name__ == "__main__":
    main()
