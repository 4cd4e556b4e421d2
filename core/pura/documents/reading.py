"""Read a file of any format: open, tell the format, parse in the child, check what comes back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath

from pura.base.catalogue import phrase, quoted
from pura.base.errors import InputError
from pura.base.visible import visible
from pura.documents.encodings import Preview, previews
from pura.documents.formats import FORMATS, Format, tell, textual
from pura.documents.isolate import read_caged
from pura.documents.opening import read_bytes_of, read_standard_input
from pura.documents.plain import check_size, check_text, from_bytes
from pura.documents.values import Document, Extract, Extraction, ReadOptions, UnreadPart

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
