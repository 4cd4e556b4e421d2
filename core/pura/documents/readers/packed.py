"""Zip containers and XML from strangers, opened with bounds; paragraphs and rows as one text."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree

from pura.base.errors import InputError
from pura.documents.values import MAX_PACKED_ENTRIES, MAX_UNPACKED_BYTES, over
from pura.record.surroundings import Transform


class ZipContainer:
    """A zip container whose directory has been checked. Archives inside it are never opened."""

    def __init__(self, data: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        entries = self._zip.infolist()
        if len(entries) > MAX_PACKED_ENTRIES:
            raise over("limit.parts", most=MAX_PACKED_ENTRIES)
        _check_overlap(entries)
        self._entries = {entry.filename: entry for entry in entries}

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Unpack one entry, no further than the limit, whatever its header claims.

        Raises:
            InputError: Too large, or locked.
        """
        entry = self._entries[name]
        if entry.flag_bits & 1:
            raise locked()
        if entry.file_size > MAX_UNPACKED_BYTES:
            raise _bomb()
        with self._zip.open(entry) as file:
            data = file.read(MAX_UNPACKED_BYTES + 1)
        if len(data) > MAX_UNPACKED_BYTES:
            raise _bomb()
        return data

    def xml(self, name: str) -> Any:
        """Return the root of an entry's XML; see :func:`parse`."""
        return parse(self.read(name))

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return what an entry of an Office package refers to inside it, by identifier.

        Returns:
            The last word of the relation's type, and the entry's name. What lies outside the
            package, or is not in it, is left out.
        """
        folder, file = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        if relations not in self:
            return {}
        found = {}
        for relation in self.xml(relations):
            target = posixpath.normpath(posixpath.join(folder, relation.get("Target", "")))
            target = target.lstrip("/")
            if relation.get("TargetMode") != "External" and target in self:
                kind = relation.get("Type", "").rpartition("/")[2]
                found[relation.get("Id", "")] = (kind, target)
        return found


def parse(data: bytes) -> Any:
    """Parse XML without declarations, entities, other files or network.

    Raises:
        InputError: It declares a document type, or is nested too deeply.
    """
    # Office programs never write one; every entity attack needs one. UTF-16 is seen through.
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"<!DOCTYPE" in data.replace(b"\x00", b""):
        raise InputError("input.outside", code="input-outside")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        if "depth" in str(error).lower():
            raise over("limit.deep") from None
        raise


def locked() -> InputError:
    """Return the refusal of a file that needs a password."""
    return InputError("packed.locked", code="input-encrypted")


def _check_overlap(entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that share packed bytes: so a small file unpacks to petabytes."""
    end = 0
    for entry in sorted(entries, key=lambda e: e.header_offset):
        if entry.header_offset < end:
            raise InputError("packed.overlap", code="input-damaged")
        end = entry.header_offset + 30 + entry.compress_size


def _bomb() -> InputError:
    return over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace; versions of a format differ in it."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """Return an attribute by its name without namespace; empty where it is not there."""
    return next((str(v) for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """One paragraph, list item or table row.

    Attributes:
        text: Its characters; may be empty.
        tight: It belongs on the line after a tight block before it, without a blank line (list
            items, table rows).
    """

    text: str
    tight: bool = False


def join(blocks: Sequence[TextBlock]) -> tuple[str, tuple[Transform, ...]]:
    """Join blocks as a plain-text writer would; see :func:`join_placed`."""
    return join_placed(blocks)[:2]


def join_placed(
    blocks: Sequence[TextBlock],
) -> tuple[str, tuple[Transform, ...], tuple[int, ...]]:
    """Join blocks as a plain-text writer would.

    Office formats do not say whether a paragraph break was one line end or two. Where the writer
    made empty paragraphs for blank lines, every break is one line end; where there are none,
    paragraphs are set apart by a blank line, as generated text usually has them.

    Returns:
        The text, what was done, and where each block begins, in characters.
    """
    full = [bool(block.text.strip()) for block in blocks]
    first = full.index(True) if any(full) else len(full)
    last = len(full) - 1 - full[::-1].index(True) if any(full) else -1
    spaced = not all(full[first : last + 1])
    pieces: list[str] = []
    starts: list[int] = []
    blank = length = 0
    for n, block in enumerate(blocks):
        if first < n <= last:
            single = spaced or (blocks[n - 1].tight and block.tight)
            blank += not single
            pieces.append("\n" if single else "\n\n")
            length += len(pieces[-1])
        starts.append(length)
        if full[n]:
            pieces.append(block.text)
            length += len(block.text)
    done = (Transform(name="paragraph-breaks", count=blank),) if blank else ()
    return "".join(pieces), done, tuple(starts)
