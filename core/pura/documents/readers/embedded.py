"""Documents inside documents: attached, inserted or embedded files of any format.

A file inside another is read as if it stood alone, by the same readers, and its texts become parts
of the outer file. A fault in it costs itself only: it is listed as unreadable. The levels and the
number of such files are limited, so that a file that holds itself again and again ends.
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
    """How deep the document that is being read lies, and how many were opened so far."""

    depth = 0
    count = 0

    @classmethod
    @contextmanager
    def inside(cls) -> Iterator[None]:
        """Go one level down.

        Raises:
            InputError: That is too deep, or there were too many documents.
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


def read_inner(data: bytes, name: str, format_name: str | None = None) -> list[Extract]:
    """Read a document that stands inside another.

    Args:
        data: The bytes of the inner file.
        name: Its name, whose ending may tell the format of text files.
        format_name: A name of :data:`~pura.documents.formats.FORMATS` where the outer file says
            what it holds; None looks at the content and the name.

    Returns:
        Its texts, with the names of parts that it has when it stands alone.

    Raises:
        InputError: It cannot be read.
    """
    label = phrase("format.of-embedded")
    try:
        with _Nesting.inside():
            form = _format_of(data, name, format_name)
            label = form.label
            if not form.reader:
                decoded = decode(data)
                return [Extract.of(decoded, decoded.text)]
            return form.load()(data, ReadOptions())
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(error, label) from None


def embedded_extracts(
    data: bytes,
    name: str,
    *,
    kind: LeftOutKind = LeftOutKind.EMBEDDED_DOCUMENT,
    label: str = "embedded",
) -> list[Extract]:
    """Return the texts of an inner document as parts of the outer one.

    Args:
        data: The bytes of the inner file.
        name: Its name.
        kind: What the inner document is to the outer one.
        label: The first word of the names of its parts, before the file's name.

    Returns:
        Its texts, to be examined when they are asked for; a text with a refusal where it cannot be
        read.
    """
    name = PurePath(name.replace("\\", "/")).name[:_MAX_NAME]
    prefix = f"{label} {name}"
    try:
        inner = read_inner(data, name)
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
    """Return the texts of an inner document under names of the outer one.

    Args:
        extracts: What its reader made of it.
        prefix: The name of the inner document as a part; further parts are named behind it.
        location: The name of the inner document, for people.
        kind: What its own main text is to the outer document; notes, comments and the like keep
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


def _format_of(data: bytes, name: str, format_name: str | None) -> Format:
    form: Format | Container = FORMATS[format_name] if format_name else tell(data, name)
    if isinstance(form, Container):
        return FORMATS[CONTAINERS[form.name].load()(data)]
    return form


def ole_extracts(data: bytes, name: str) -> list[Extract]:
    """Return the texts of an embedded file; of an OLE object, those of the file that it wraps.

    Args:
        data: A file, or a compound file, as Office programs keep objects of other programs.
        name: Its name in the outer file.
    """
    if not is_compound(data):
        return embedded_extracts(data, name)
    try:
        wrapped = wrapped_document(data)
    except (OSError, ValueError, IndexError, struct.error):
        return [unreadable(damaged(CONTAINERS["compound"].label), name)]
    if wrapped is None:
        return embedded_extracts(data, name)
    if not wrapped.data:
        return []
    return embedded_extracts(wrapped.data, wrapped.name or name)
