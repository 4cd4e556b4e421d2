"""Documents inside documents: attached, inserted or embedded files of any format.

An inner file is read by the same readers as a separate file, and its texts become parts of the
outer file. A damaged inner file is listed as unreadable and does not stop the reading. Depth and
number of inner files are limited, so that a file that contains itself cannot be read forever.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from pura.base.catalogue import phrase
from pura.base.errors import InputError
from pura.documents.encodings import decode
from pura.documents.extraction import ALTERNATIVE, ATTACHMENT, MAIN, Extract
from pura.documents.formats import (
    CONTAINERS,
    FORMATS,
    MAX_EMBEDDED,
    MAX_EMBEDDED_DEPTH,
    Container,
    Format,
    ReadOptions,
    damaged,
    over,
    refusal,
    tell,
)
from pura.documents.readers.compound import is_compound, wrapped_document
from pura.record.left_out import LeftOutKind

_MAX_NAME: Final = 120  # characters of a file's name in the name of a part


class _Nesting:
    """Depth of the document that is being read, and number of inner documents opened so far."""

    depth = 0
    count = 0

    @classmethod
    @contextmanager
    def inside(cls) -> Iterator[None]:
        """Enter an inner document.

        Raises:
            InputError: The nesting is too deep, or there are too many inner documents.
        """
        if cls.depth == 0:
            cls.count = 0
        if cls.depth >= MAX_EMBEDDED_DEPTH:
            raise over("limit.deep")
        if cls.count >= MAX_EMBEDDED:
            raise over("limit.parts", most=MAX_EMBEDDED)
        cls.count += 1
        cls.depth += 1
        try:
            yield
        finally:
            cls.depth -= 1


def read_inner(file_bytes: bytes, name: str, format_name: str | None = None) -> list[Extract]:
    """Read a document inside another one.

    Args:
        file_bytes: The bytes of the inner file.
        name: Its name, whose ending may tell the format of text files.
        format_name: A name of :data:`~pura.documents.formats.FORMATS` if the outer file declares
            it; None recognises the format by content and name.

    Returns:
        Its texts, with the same names of parts as if the file were read separately.

    Raises:
        InputError: It cannot be read.
    """
    label = phrase("format.of-embedded")
    try:
        with _Nesting.inside():
            form = _format_of(file_bytes, name, format_name)
            label = form.label
            if not form.reader:
                decoded = decode(file_bytes)
                return [Extract.of(decoded, decoded.text)]
            return form.load()(file_bytes, ReadOptions())
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(error, label) from None


def embedded_extracts(
    file_bytes: bytes,
    name: str,
    *,
    kind: LeftOutKind = LeftOutKind.EMBEDDED_DOCUMENT,
    label: str = "embedded",
) -> list[Extract]:
    """Return the texts of an inner document as parts of the outer one.

    Args:
        file_bytes: The bytes of the inner file.
        name: Its name.
        kind: Kind of the parts, such as an attachment.
        label: First word of the names of its parts, before the file's name.

    Returns:
        Its texts, which are examined only if they are requested; one extract with a refusal if
        the document cannot be read.
    """
    name = PurePath(name.replace("\\", "/")).name[:_MAX_NAME]
    prefix = f"{label} {name}"
    try:
        inner = read_inner(file_bytes, name)
    except InputError as error:
        return [unreadable(error, name, kind=kind, label=label)]
    return inner_parts(inner, prefix, name, kind)


def unreadable(
    error: InputError,
    name: str,
    *,
    kind: LeftOutKind = LeftOutKind.EMBEDDED_DOCUMENT,
    label: str = "embedded",
) -> Extract:
    """Return the part of an inner document that cannot be read."""
    return Extract(
        text="",
        part=f"{label} {name}",
        role=ALTERNATIVE,
        kind=kind,
        location=name,
        refusal=error.packed(),
    )


def inner_parts(
    extracts: list[Extract], prefix: str, location: str, kind: LeftOutKind
) -> list[Extract]:
    """Return the texts of an inner document as parts of the outer one.

    Args:
        extracts: The texts of the inner document.
        prefix: Name of the inner document as a part, before the names of its parts.
        location: Name of the inner document, for people.
        kind: Kind of its main text in the outer document; notes, comments and the like keep
            their kinds.
    """
    return [
        replace(
            extract,
            part=_part(prefix, extract.part),
            role=ALTERNATIVE,
            kind=kind if extract.role in (MAIN, ATTACHMENT) else extract.kind,
            location=_location(location, extract.location),
            group="",
            left_out=tuple(
                replace(
                    entry,
                    location=_location(location, entry.location),
                    part=entry.part and _part(prefix, entry.part),
                )
                for entry in extract.left_out
            ),
            pages=(),
        )
        for extract in extracts
    ]


def _part(prefix: str, part: str) -> str:
    return f"{prefix}, {part}" if part else prefix


def _location(outer: str, inner: str) -> str:
    return f"{outer}, {inner}" if inner else outer


def _format_of(file_bytes: bytes, name: str, format_name: str | None) -> Format:
    form: Format | Container = FORMATS[format_name] if format_name else tell(file_bytes, name)
    if isinstance(form, Container):
        return FORMATS[CONTAINERS[form.name].load()(file_bytes)]
    return form


def ole_extracts(file_bytes: bytes, name: str) -> list[Extract]:
    """Return the texts of an embedded file; of an OLE object, those of the file that it wraps.

    Args:
        file_bytes: A file, or a compound file, as Office programs keep objects of other programs.
        name: Its name in the outer file.
    """
    if not is_compound(file_bytes):
        return embedded_extracts(file_bytes, name)
    try:
        wrapped = wrapped_document(file_bytes)
    except (OSError, ValueError, IndexError, struct.error):
        return [unreadable(damaged(CONTAINERS["compound"].label), name)]
    if wrapped is None:
        return embedded_extracts(file_bytes, name)
    if not wrapped.file_bytes:
        return []
    return embedded_extracts(wrapped.file_bytes, wrapped.name or name)
