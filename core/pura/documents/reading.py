"""From a file of any format, bytes or pasted text to the texts in it.

A file is opened once, checked and hashed; its format is told; a child in the sandbox parses it, and
only facts are taken back.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path, PurePath

from pura.base import decoder
from pura.base.catalogue import phrase
from pura.base.errors import InputError, RecordError
from pura.base.files import open_regular
from pura.base.numerals import visible
from pura.base.progress import Checkpoint, never_cancelled
from pura.documents import formats, manifests
from pura.documents.encodings import Preview, decode, previews
from pura.documents.extraction import (
    MAIN,
    ROLES,
    Document,
    Extract,
    Extraction,
    UnreadPart,
)
from pura.documents.file_bytes import CHUNK, check_size, read_bytes_of
from pura.documents.formats import (
    FORMATS,
    MAX_CHARACTERS,
    MAX_FILE_BYTES,
    Container,
    Format,
    ReadOptions,
    check,
    damaged,
    over,
    refuse_ending,
    tell,
    textual,
)
from pura.documents.leave_out import by_rule
from pura.provenance import reading
from pura.record.left_out import LeftOutKind
from pura.words.sentences import fill, findings

_log = logging.getLogger(__name__)


def from_text(text: str, *, name: str = "pasted text") -> Document:
    """Make a document of text that never was a file.

    Raises:
        InputError: Empty, too long, or not encodable (see :func:`check_text`).
    """
    check_text(text)
    data = text.encode()
    return Document(
        name=name,
        text=text,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        encoding="text",
    )


def from_bytes(data: bytes, *, name: str, encoding: str | None = None) -> Document:
    """Decode the bytes of a plain-text file (:mod:`.encodings` says how)."""
    check_size(len(data))
    decoded = decode(data, chosen=encoding)
    check_text(decoded.text)
    return Document(
        name=name,
        text=decoded.text,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        encoding=decoded.encoding,
        encoding_source=decoded.source,
    )


def check_text(text: str) -> None:
    """Refuse what cannot be audited, before any work is done.

    Raises:
        InputError: Empty, only white space, too long, NUL characters or lone surrogates.
    """
    if not text.strip():
        raise InputError("input.empty", code="input-empty")
    if len(text) > MAX_CHARACTERS:
        raise over("limit.text", count=len(text), most=MAX_CHARACTERS)
    if "\x00" in text:
        raise InputError("input.nul")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("input.surrogates") from None


def read_standard_input() -> bytes:
    """Read standard input to its end, or to one byte beyond the limit."""
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    check_size(len(data))
    return data


def read_sandboxed(
    data: bytes,
    form: Format | Container,
    options: ReadOptions,
    *,
    heartbeat: Checkpoint = never_cancelled,
) -> tuple[Format, list[Extract]]:
    """Parse bytes in a child process.

    Args:
        data: The whole file.
        form: Its format, or what holds its document.
        options: What the user said about it.
        heartbeat: Called twenty times a second; whatever it raises kills the child first.

    Returns:
        The format of the document, and its texts.

    Raises:
        InputError: The child refused the file, broke a limit, or died.
    """
    asked = asdict(replace(options, trust="", leave_out=()))
    head = json.dumps({"format": form.name, "options": asked}).encode() + b"\n"
    ending = manifests.ask_child(head + data, heartbeat)
    return _judge(ending.status, ending.answer, form, late=ending.late)


def _judge(
    status: int, answer: bytes, form: Format | Container, *, late: bool
) -> tuple[Format, list[Extract]]:
    if len(answer) > formats.MAX_ANSWER_BYTES and not late:
        raise over("limit.file", mebibytes=formats.MAX_ANSWER_BYTES >> 20)
    refuse_ending(status, form.label, late=late)
    try:
        reply = json.loads(answer)
        if "error" in reply:
            raise InputError.unpacked(reply["error"])
        told = FORMATS[_format_name(reply["format"], form)]
        extracts = [_extract(item) for item in reply["extracts"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordError):
        raise damaged(form.label, phrase("reader.no-answer")) from None
    check(extracts)
    return told, extracts


def _format_name(name: object, form: Format | Container) -> str:
    """Take the format that the child told, if it is one that the file may have."""
    possible = form.holds if isinstance(form, Container) else (form.name,)
    if not isinstance(name, str) or name not in possible:
        raise ValueError("format")
    return name


def _extract(item: object) -> Extract:
    """Take a text as the child sent it, if every part of it is as a reader makes it."""
    found = decoder.decode(Extract, item)
    starts = list(found.pages)
    changes = all(f"change.{one.name}" in findings() for one in found.transforms)
    ordered = len(starts) <= formats.MAX_PAGES and starts == sorted(starts)
    inside = not starts or (starts[0] >= 0 and starts[-1] <= len(found.text))
    inside &= all(0 <= start <= end <= len(found.text) for start, end in found.quotations)
    if found.role not in ROLES or not (changes and ordered and inside):
        raise ValueError("extract")
    if found.refusal is not None:
        InputError.unpacked(found.refusal)  # refused here, where the answer is judged
    for note in (found.notes, *(one.note for one in found.transforms)):
        if isinstance(note, str):
            raise ValueError("note")
        for one in note:
            fill(one, "en")  # the key is known and every blank has its value, or it is refused
    return found


_DEFAULT = ReadOptions()


def read_document(
    path: Path,
    *,
    options: ReadOptions = _DEFAULT,
    follow_links: bool = True,
    heartbeat: Checkpoint = never_cancelled,
) -> Extraction:
    """Read a file of any format.

    Args:
        path: The file.
        options: What the user says about it.
        follow_links: False refuses symbolic links.
        heartbeat: Called while a child works; may raise to stop it.

    Raises:
        InputError: Missing, unreadable, unknown, damaged, over a limit, or without a text.
    """
    data = read_bytes_of(path, follow_links=follow_links)
    return read_data(data, name=path.name, options=options, heartbeat=heartbeat)


def read_input(options: ReadOptions = _DEFAULT) -> Extraction:
    """Read standard input to its end; see :func:`read_document`."""
    return read_data(read_standard_input(), name="-", options=options)


def read_data(
    data: bytes,
    *,
    name: str,
    options: ReadOptions = _DEFAULT,
    heartbeat: Checkpoint = never_cancelled,
) -> Extraction:
    """Read the bytes of a file of any format; see :func:`read_document`."""
    start = time.perf_counter()
    try:
        extraction = by_rule(_read_whole(data, name, options, heartbeat), options.leave_out)
    except InputError as error:
        _log.info("a file of %d bytes was refused: %s", len(data), error.code)
        raise
    _log.info(
        "a file was read in %.2f s: %s, %d bytes, %d texts, %d parts left out",
        time.perf_counter() - start,
        extraction.format,
        len(data),
        len(extraction.documents),
        sum(len(document.left_out) for document in extraction.documents),
    )
    return extraction


def _read_whole(data: bytes, name: str, options: ReadOptions, heartbeat: Checkpoint) -> Extraction:
    """Read the bytes of a file with everything that is in it."""
    check_size(len(data))
    form = tell(data, name) if options.format is None else FORMATS[options.format]
    if isinstance(form, Format) and not form.reader:
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
    if isinstance(form, Format) and form.name == "picture":
        from pura.documents import ocr  # numpy is not for the child that reads strangers' files

        return _assemble(data, name, form, ocr.read_picture(data, heartbeat=heartbeat))
    told, extracts = read_sandboxed(data, form, options, heartbeat=heartbeat)
    if told.name == "pdf" and not _has_page_text(extracts):
        extracts = _recognised(data, extracts, heartbeat)
    found = _assemble(data, name, told, extracts)
    return _with_manifest(data, found, options.trust, heartbeat)


def _has_page_text(extracts: list[Extract]) -> bool:
    """Whether the pages of a PDF hold text, be it only what is repeated on each of them.

    Form fields, comments and attachments are beside the pages: a scan may have them.
    """
    return any(
        extract.text.strip()
        for extract in extracts
        if extract.role == MAIN or extract.kind is LeftOutKind.HEADER
    )


def _recognised(data: bytes, extracts: list[Extract], heartbeat: Checkpoint) -> list[Extract]:
    """Return the texts of a PDF without text of its own, with what its pages show.

    Raises:
        InputError: They cannot be read, and the file holds no other text.
    """
    others = [one for one in extracts if one.role != MAIN]
    try:
        from pura.documents import ocr

        return [*ocr.read_pdf(data, heartbeat=heartbeat), *others]
    except InputError as error:
        if not any(one.text.strip() for one in others):
            raise
        return [Extract(text="", refusal=error.packed()), *others]


def read_file(path: Path, options: ReadOptions = _DEFAULT) -> Document:
    """Read a file and return its first main text, e.g. for a prompt.

    Raises:
        InputError: See :func:`read_document`.
    """
    return read_document(path, options=options).chosen[0]


def is_plain(path: Path) -> bool:
    """Tell whether a file is named and begins like plain text, which no child reads."""
    try:
        with open_regular(path) as file:
            form = tell(file.read(CHUNK), path.name)
    except (OSError, ValueError, InputError):
        return False
    return form is FORMATS["text"] and path.suffix.lower() in form.endings


def preview_encodings(path: Path) -> tuple[Preview, ...]:
    """Return the beginning of a textual file in every encoding that fits it.

    Raises:
        InputError: It cannot be read.
    """
    return previews(read_bytes_of(path))


def _assemble(data: bytes, name: str, form: Format, extracts: list[Extract]) -> Extraction:
    digest = hashlib.sha256(data).hexdigest()
    documents: list[Document] = []
    unread: list[UnreadPart] = []
    first: InputError | None = None
    for extract in extracts:
        try:
            if extract.refusal is not None:
                raise InputError.unpacked(extract.refusal)
            check_text(extract.text)
        except InputError as error:
            first = first or error
            unread.append(
                UnreadPart(
                    part=visible(extract.part),
                    role=extract.role,
                    error=error,
                    kind=extract.kind,
                    location=extract.location,
                    group=extract.group,
                    left_out=extract.left_out,
                )
            )
            continue
        values = {**vars(extract), "encoding": extract.encoding or "unicode"}
        documents.append(
            Document(name=name, sha256=digest, size_bytes=len(data), format=form.name, **values)
        )
    if not documents:
        raise first or InputError("input.empty", code="input-empty")
    return Extraction(
        name=name,
        sha256=digest,
        size_bytes=len(data),
        format=form.name,
        documents=tuple(documents),
        unread=tuple(unread),
    )


def _with_manifest(data: bytes, found: Extraction, trust: str, heartbeat: Checkpoint) -> Extraction:
    """Give the texts of a file the manifest of the file."""
    if not manifests.may_hold(found.format, data):
        return found
    main = [one.text for one in found.documents if one.role == MAIN]
    text = reading.without(main[0]) if len(main) == 1 else ""
    asset = reading.Asset(form=found.format, data=data, text=text)
    (told,) = manifests.verified([asset], trust, heartbeat=heartbeat)
    return replace(found, documents=tuple(replace(one, manifests=told) for one in found.documents))
