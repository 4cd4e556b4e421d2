"""The child process in which documents are parsed: ``python -m pura.documents.child``.

Standard input is one of:

* a line of JSON (format, options), then the bytes of the file;
* a line of JSON with the trusted certificates, then JSON with the assets whose manifests are to be
  verified, or a manifest store without its asset;
* a line of JSON with the length of a PDF, its bytes, then questions about its pages, one per line.

Standard output is one JSON object with the extracts, the refusal or the facts about the manifests;
or an answer to each question (:mod:`.readers.pages`). Nothing else is printed. The messages of
exceptions are never passed on, since they may quote the text.
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
"""The JSON part of an answer, and the bytes that follow it."""


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
        return lambda file_bytes: _answer(reader, file_bytes, options, form)
    container = CONTAINERS[name]
    tells = container.load()
    readers = {name: _loaded(FORMATS[name]) for name in container.holds}
    return lambda file_bytes: _answer_of_container(container, tells, readers, file_bytes, options)


def _loaded(form: Format) -> FormatReader:
    """Import the reader of a format; all readers if its files may embed other formats."""
    if form.embeds:
        load_all()
    return form.load()


def _manifests(request: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    verify = load(request["trust"])

    def work(request_body: bytes) -> dict[str, Any]:
        assets = [
            Asset(form=asset["form"], data=base64.b64decode(asset["data"]), text=asset["text"])
            for asset in json.loads(request_body)
        ]
        return {"manifests": [[asdict(facts) for facts in verify(asset)] for asset in assets]}

    return work


def _store(request: dict[str, Any]) -> Callable[[bytes], dict[str, Any]]:
    verify = load_for_stores(request["trust"])
    return lambda store: {"store": asdict(verify(store))}


def _answer_of_container(
    container: Container,
    tells: Callable[[bytes], str],
    readers: dict[str, FormatReader],
    file_bytes: bytes,
    options: ReadOptions,
) -> dict[str, Any]:
    reply, _ = _contained(lambda: ({"format": tells(file_bytes)}, b""), container.label)
    if "error" in reply:
        return reply
    name = reply["format"]
    return _answer(readers[name], file_bytes, options, FORMATS[name])


def _answer(
    reader: FormatReader, file_bytes: bytes, options: ReadOptions, form: Format
) -> dict[str, Any]:
    def work() -> Answer:
        extracts = reader(file_bytes, options)
        check(extracts)
        answer = {"format": form.name, "extracts": [asdict(extract) for extract in extracts]}
        return answer, b""

    return _contained(work, form.label)[0]


def _contained(work: Callable[[], Answer], label: Phrase) -> Answer:
    """Return the answer of a parser, or the refusal that stands for its error."""
    try:
        return work()
    except MemoryError:
        raise
    except Exception as error:
        return {"error": refusal(error, label).packed()}, b""


def _answer_questions(size: int) -> NoReturn:
    """Answer questions about a PDF until standard input ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    pages = importlib.import_module("pura.documents.readers.pages")
    confine_codecs()
    sandbox.close()
    answer = pages.answerer(source.read(size))
    label = FORMATS["pdf"].label
    while question := source.readline(_MAX_HEAD):
        try:
            reply, payload = _contained(lambda: answer(json.loads(question)), label)
        except MemoryError:
            reply, payload = {"error": memory().packed()}, b""
        head = json.dumps(reply).encode("ascii")
        sink.write(LENGTHS.pack(len(head), len(payload)) + head + payload)
        sink.flush()
    os._exit(0)


def _send(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))
    sys.stdout.buffer.flush()
    # Exit at once: no destructor of a library that a hostile file confused is run.
    os._exit(0)


if __name__ == "__main__":
    main()
