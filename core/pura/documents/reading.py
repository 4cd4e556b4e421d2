"""Reading the texts of a file of any format, of bytes, or of pasted text.

A file is opened once, checked and hashed, and its format is recognised. A sandboxed child parses
it, and its answer is validated.
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
    """Return the document of a text that was never a file.

    Raises:
        InputError: The text is empty, too long, or not encodable (see :func:`check_text`).
    """
    check_text(text)
    encoded = text.encode()
    return Document(
        name=name,
        text=text,
        sha256=hashlib.sha256(encoded).hexdigest(),
        size_bytes=len(encoded),
        encoding="text",
    )


def from_bytes(file_bytes: bytes, *, name: str, encoding: str | None = None) -> Document:
    """Return the document of a plain-text file, decoded as :mod:`.encodings` describes."""
    check_size(len(file_bytes))
    decoded = decode(file_bytes, choice=encoding)
    check_text(decoded.text)
    return Document(
        name=name,
        text=decoded.text,
        sha256=hashlib.sha256(file_bytes).hexdigest(),
        size_bytes=len(file_bytes),
        encoding=decoded.encoding,
        encoding_source=decoded.source,
    )


def check_text(text: str) -> None:
    """Require that a text can be audited, before any work is done.

    Raises:
        InputError: The text is empty or blank, too long, or has NUL characters or lone surrogates.
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
    file_bytes = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    check_size(len(file_bytes))
    return file_bytes


def read_sandboxed(
    file_bytes: bytes,
    form: Format | Container,
    options: ReadOptions,
    *,
    heartbeat: Checkpoint = never_cancelled,
) -> tuple[Format, list[Extract]]:
    """Parse bytes in a child process.

    Args:
        file_bytes: The whole file.
        form: The format of the file, or its container format.
        options: Options of the user.
        heartbeat: Called twenty times a second; an exception that it raises kills the child first.

    Returns:
        The format of the document, and its texts.

    Raises:
        InputError: The child refused the file, broke a limit, or died.
    """
    option_values = asdict(replace(options, trust="", leave_out=()))
    head = json.dumps({"format": form.name, "options": option_values}).encode() + b"\n"
    ending = manifests.ask_child(head + file_bytes, heartbeat)
    return _checked_answer(ending.status, ending.answer, form, late=ending.late)


def _checked_answer(
    status: int, answer: bytes, form: Format | Container, *, late: bool
) -> tuple[Format, list[Extract]]:
    if len(answer) > formats.MAX_ANSWER_BYTES and not late:
        raise over("limit.file", mebibytes=formats.MAX_ANSWER_BYTES >> 20)
    refuse_ending(status, form.label, late=late)
    try:
        reply = json.loads(answer)
        if "error" in reply:
            raise InputError.unpacked(reply["error"])
        form_of_document = FORMATS[_format_name(reply["format"], form)]
        extracts = [_extract(extract) for extract in reply["extracts"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordError):
        raise damaged(form.label, phrase("reader.no-answer")) from None
    check(extracts)
    return form_of_document, extracts


def _format_name(name: object, form: Format | Container) -> str:
    """Validate the format that the child reported."""
    possible = form.holds if isinstance(form, Container) else (form.name,)
    if not isinstance(name, str) or name not in possible:
        raise ValueError("format")
    return name


def _extract(received: object) -> Extract:
    """Validate a text that the child sent."""
    extract = decoder.decode(Extract, received)
    starts = list(extract.pages)
    changes = all(f"change.{change.name}" in findings() for change in extract.transforms)
    ordered = len(starts) <= formats.MAX_PAGES and starts == sorted(starts)
    inside = not starts or (starts[0] >= 0 and starts[-1] <= len(extract.text))
    inside &= all(0 <= start <= end <= len(extract.text) for start, end in extract.quotations)
    if extract.role not in ROLES or not (changes and ordered and inside):
        raise ValueError("extract")
    if extract.refusal is not None:
        InputError.unpacked(extract.refusal)  # raises here if the child sent something else
    for note in (extract.notes, *(change.note for change in extract.transforms)):
        if isinstance(note, str):
            raise ValueError("note")
        for part in note:
            fill(part, "en")  # raises if the key is unknown or a value is missing
    return extract


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
        options: Options of the user.
        follow_links: False refuses symbolic links.
        heartbeat: Called while a child works; may raise to stop it.

    Raises:
        InputError: Missing, unreadable, unknown, damaged, over a limit, or without a text.
    """
    file_bytes = read_bytes_of(path, follow_links=follow_links)
    return read_data(file_bytes, name=path.name, options=options, heartbeat=heartbeat)


def read_input(options: ReadOptions = _DEFAULT) -> Extraction:
    """Read standard input to its end; see :func:`read_document`."""
    return read_data(read_standard_input(), name="-", options=options)


def read_data(
    file_bytes: bytes,
    *,
    name: str,
    options: ReadOptions = _DEFAULT,
    heartbeat: Checkpoint = never_cancelled,
) -> Extraction:
    """Read the bytes of a file of any format; see :func:`read_document`."""
    start = time.perf_counter()
    try:
        extraction = by_rule(_read_whole(file_bytes, name, options, heartbeat), options.leave_out)
    except InputError as error:
        _log.info("a file of %d bytes was refused: %s", len(file_bytes), error.code)
        raise
    _log.info(
        "a file was read in %.2f s: %s, %d bytes, %d texts, %d parts left out",
        time.perf_counter() - start,
        extraction.format,
        len(file_bytes),
        len(extraction.documents),
        sum(len(document.left_out) for document in extraction.documents),
    )
    return extraction


def _read_whole(
    file_bytes: bytes, name: str, options: ReadOptions, heartbeat: Checkpoint
) -> Extraction:
    """Read the bytes of a file, including its manifest."""
    check_size(len(file_bytes))
    form = tell(file_bytes, name) if options.format is None else FORMATS[options.format]
    if isinstance(form, Format) and not form.reader:
        try:
            document = from_bytes(file_bytes, name=name, encoding=options.encoding)
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

        return _assemble(file_bytes, name, form, ocr.read_picture(file_bytes, heartbeat=heartbeat))
    document_form, extracts = read_sandboxed(file_bytes, form, options, heartbeat=heartbeat)
    if document_form.name == "pdf" and not _has_page_text(extracts):
        extracts = _with_page_text(file_bytes, extracts, heartbeat)
    extraction = _assemble(file_bytes, name, document_form, extracts)
    return _with_manifest(file_bytes, extraction, options.trust, heartbeat)


def _has_page_text(extracts: list[Extract]) -> bool:
    """Return whether the pages of a PDF have text, even if only repeated headers.

    Form fields, comments and attachments do not count, since a scan may have them too.
    """
    return any(
        extract.text.strip()
        for extract in extracts
        if extract.role == MAIN or extract.kind is LeftOutKind.HEADER
    )


def _with_page_text(
    file_bytes: bytes, extracts: list[Extract], heartbeat: Checkpoint
) -> list[Extract]:
    """Return the texts of a scanned PDF, with the text that is recognised on its pages.

    Raises:
        InputError: The pages cannot be read, and the file has no other text.
    """
    other_extracts = [extract for extract in extracts if extract.role != MAIN]
    try:
        from pura.documents import ocr

        return [*ocr.read_pdf(file_bytes, heartbeat=heartbeat), *other_extracts]
    except InputError as error:
        if not any(extract.text.strip() for extract in other_extracts):
            raise
        return [Extract(text="", refusal=error.packed()), *other_extracts]


def read_file(path: Path, options: ReadOptions = _DEFAULT) -> Document:
    """Read a file and return its first main text, e.g. for a prompt.

    Raises:
        InputError: See :func:`read_document`.
    """
    return read_document(path, options=options).chosen[0]


def is_plain(path: Path) -> bool:
    """Return whether a file has the name and the first bytes of plain text."""
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


def _assemble(file_bytes: bytes, name: str, form: Format, extracts: list[Extract]) -> Extraction:
    digest = hashlib.sha256(file_bytes).hexdigest()
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
        attributes = {**vars(extract), "encoding": extract.encoding or "unicode"}
        documents.append(
            Document(
                name=name, sha256=digest, size_bytes=len(file_bytes), format=form.name, **attributes
            )
        )
    if not documents:
        raise first or InputError("input.empty", code="input-empty")
    return Extraction(
        name=name,
        sha256=digest,
        size_bytes=len(file_bytes),
        format=form.name,
        documents=tuple(documents),
        unread=tuple(unread),
    )


def _with_manifest(
    file_bytes: bytes, extraction: Extraction, trust: str, heartbeat: Checkpoint
) -> Extraction:
    """Verify the manifest of a file, and add it to the texts of the file."""
    if not manifests.may_hold(extraction.format, file_bytes):
        return extraction
    main = [document.text for document in extraction.documents if document.role == MAIN]
    text = reading.without(main[0]) if len(main) == 1 else ""
    asset = reading.Asset(form=extraction.format, data=file_bytes, text=text)
    (manifest_facts,) = manifests.verified([asset], trust, heartbeat=heartbeat)
    return replace(
        extraction,
        documents=tuple(
            replace(document, manifests=manifest_facts) for document in extraction.documents
        ),
    )
