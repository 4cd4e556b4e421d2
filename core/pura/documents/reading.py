"""Read a file of any format: open, tell the format, parse in the cage, take back facts only."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any, Final

from pura.base.catalogue import phrase, quoted
from pura.base.errors import InputError, PuraError, RecordError
from pura.base.numerals import visible
from pura.base.process import NOT_SHUT_STATUS, converse, start_child
from pura.documents import values
from pura.documents.encodings import Preview, previews
from pura.documents.formats import FORMATS, Format, tell, textual
from pura.documents.opening import (
    check_size,
    check_text,
    from_bytes,
    read_bytes_of,
    read_standard_input,
)
from pura.documents.values import (
    ROLES,
    Document,
    Extract,
    Extraction,
    ReadOptions,
    UnreadPart,
    check,
    damaged,
    memory,
)
from pura.record.surroundings import Transform
from pura.words.sentences import Sentence, fill, findings

CHILD: Final = "pura.documents.child"


def read_caged(
    data: bytes,
    form: Format,
    options: ReadOptions,
    *,
    beat: Callable[[], None] | None = None,
) -> list[Extract]:
    """Parse bytes in a child process.

    Args:
        data: The whole file.
        form: Its format.
        options: What the user said about it.
        beat: Called twenty times a second; whatever it raises kills the child first.

    Raises:
        InputError: The child refused the file, broke a limit, or died.
    """
    head = json.dumps({"format": form.name, "options": asdict(options)}).encode() + b"\n"
    try:
        child = start_child(CHILD)
    except OSError as error:
        raise _unstarted(error) from None
    ending = converse(
        child,
        head + data,
        seconds=values.CHILD_WALL_SECONDS,
        most=values.MAX_ANSWER_BYTES,
        beat=beat,
    )
    return _judge(ending.status, ending.answer, form, late=ending.late)


def _unstarted(error: OSError) -> InputError:
    return InputError("reader.start", why=error.errno or 0, code="input-crash")


def _judge(status: int, answer: bytes, form: Format, *, late: bool) -> list[Extract]:
    if late:
        raise values.over("limit.time", seconds=f"{values.CHILD_WALL_SECONDS:g}")
    if len(answer) > values.MAX_ANSWER_BYTES:
        raise values.over("limit.file", mebibytes=values.MAX_ANSWER_BYTES >> 20)
    if status == -getattr(signal, "SIGXCPU", 0) != 0:
        raise values.over("limit.time", seconds=values.CHILD_CPU_SECONDS)
    if status == NOT_SHUT_STATUS:
        raise InputError("reader.cage", code="input-crash")
    if status != 0:
        # Python says MemoryError, C code dies of it: by abort, by a bad access, or by a status.
        if status in (-getattr(signal, "SIGKILL", 9), -getattr(signal, "SIGABRT", 6)):
            raise memory()
        raise InputError("reader.stopped", label=form.label, status=status, code="input-crash")
    try:
        reply = json.loads(answer)
        if "error" in reply:
            raise _refusal(reply["error"])
        extracts = [_extract(item) for item in reply["extracts"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordError):
        raise damaged(form.label, phrase("reader.no-answer")) from None
    check(extracts)
    return extracts


def _refusal(found: dict[str, Any]) -> PuraError:
    return InputError.unpacked(found)


def _extract(item: dict[str, Any]) -> Extract:
    if item["role"] not in ROLES:
        raise ValueError("role")
    return Extract(
        text=str(item["text"]),
        part=str(item["part"]),
        role=str(item["role"]),
        encoding=str(item["encoding"]),
        encoding_source=str(item["encoding_source"]),
        transforms=tuple(
            Transform(name=_change(t), count=int(t["count"]), note=_sentences(t["note"]))
            for t in item["transforms"]
        ),
        notes=_sentences(item["notes"]),
        pages=_pages(item["pages"], len(item["text"])),
    )


def _pages(starts: list[int], length: int) -> tuple[int, ...]:
    found = tuple(map(int, starts))
    if len(found) > values.MAX_PAGES or [*found] != sorted(found):
        raise ValueError("pages")
    if found and not (found[0] >= 0 and found[-1] <= length):
        raise ValueError("pages")
    return found


def _change(item: dict[str, Any]) -> str:
    if f"change.{item['name']}" not in findings():
        raise ValueError("no such change")
    return str(item["name"])


def _sentences(items: list[dict[str, Any]]) -> tuple[Sentence, ...]:
    found = tuple(Sentence(key=str(one["key"]), values=dict(one["values"])) for one in items)
    for one in found:
        fill(one, "en")  # every key is known and every blank has its value, or it is refused
    return found


_DEFAULT = ReadOptions()


def read_document(
    path: Path,
    *,
    options: ReadOptions = _DEFAULT,
    follow_links: bool = True,
    beat: Callable[[], None] | None = None,
) -> Extraction:
    """Read a file of any format.

    Args:
        path: The file.
        options: What the user says about it.
        follow_links: False refuses symbolic links.
        beat: Called while a child works; may raise to stop it.

    Raises:
        InputError: Missing, unreadable, unknown, damaged, over a limit, or without a text.
    """
    data = read_bytes_of(path, follow_links=follow_links)
    return read_data(data, name=path.name, options=options, beat=beat)


def read_input(options: ReadOptions = _DEFAULT) -> Extraction:
    """Read standard input to its end; see :func:`read_document`."""
    return read_data(read_standard_input(), name="-", options=options)


def read_data(
    data: bytes,
    *,
    name: str,
    options: ReadOptions = _DEFAULT,
    beat: Callable[[], None] | None = None,
) -> Extraction:
    """Read the bytes of a file of any format; see :func:`read_document`."""
    check_size(len(data))
    form = _format(data, name, options)
    if not form.module:
        try:
            document = from_bytes(data, name=name, encoding=options.encoding)
        except InputError as error:
            ending = PurePath(name).suffix.lower()
            if error.key == "input.not-text" and not textual(ending):
                raise InputError("input.misnamed", ending=ending, code="input-format") from None
            raise
        return Extraction(
            name=name,
            sha256=document.sha256,
            size_bytes=document.size_bytes,
            format=form.name,
            documents=(document,),
        )
    return _assemble(data, name, form, read_caged(data, form, options, beat=beat))


def read_file(path: Path) -> Document:
    """Read a file and return its first main text, e.g. for a prompt.

    Raises:
        InputError: See :func:`read_document`.
    """
    return read_document(path).chosen[0]


def read_stdin() -> Document:
    """Read standard input and return its first main text."""
    return read_input().chosen[0]


def preview_encodings(path: Path, *, characters: int = 400) -> tuple[Preview, ...]:
    """Return the beginning of a textual file in every encoding that fits it.

    Raises:
        InputError: It cannot be read.
    """
    return previews(read_bytes_of(path), characters=characters)


def choose(extraction: Extraction, parts: Sequence[str]) -> tuple[Document, ...]:
    """Return the parts that were named; ``all`` is every part, nothing is the usual ones.

    Raises:
        InputError: There is no such part.
    """
    if not parts:
        return extraction.chosen
    if "all" in parts:
        return extraction.documents
    known = {d.part for d in extraction.documents} | {u.part for u in extraction.unread}
    if any(part not in known for part in parts):
        names = [d.part or phrase("input.whole") for d in extraction.documents]
        raise InputError("input.part", shown=quoted(names, most=12), code="input-part")
    return tuple(d for d in extraction.documents if d.part in parts)


def _format(data: bytes, name: str, options: ReadOptions) -> Format:
    if options.format is None:
        return tell(data, name)
    return FORMATS[options.format]


def _assemble(data: bytes, name: str, form: Format, extracts: list[Extract]) -> Extraction:
    digest = hashlib.sha256(data).hexdigest()
    documents: list[Document] = []
    unread: list[UnreadPart] = []
    first: InputError | None = None
    for extract in extracts:
        try:
            check_text(extract.text)
        except InputError as error:
            first = first or error
            part = UnreadPart(part=visible(extract.part), role=extract.role, error=error)
            unread.append(part)
            continue
        documents.append(_document(extract, name, form, digest, len(data)))
    if not documents:
        raise first or InputError("input.no-text", label=form.label, code="input-empty")
    return Extraction(
        name=name,
        sha256=digest,
        size_bytes=len(data),
        format=form.name,
        documents=tuple(documents),
        unread=tuple(unread),
    )


def _document(extract: Extract, name: str, form: Format, digest: str, size: int) -> Document:
    return Document(
        name=name,
        text=extract.text,
        sha256=digest,
        size_bytes=size,
        encoding=extract.encoding or "unicode",
        format=form.name,
        part=extract.part,
        role=extract.role,
        encoding_source=extract.encoding_source,
        transforms=extract.transforms,
        notes=extract.notes,
        pages=extract.pages,
    )
