"""Packages: zip archives and flat XML files with the parts of one document.

The format of a package is determined by its directory (``mimetype``, ``_rels/.rels``,
``[Content_Types].xml``), never by bytes somewhere in it: a workbook that contains a Word file is a
workbook. Packages and XML are opened within limits, and packages inside packages only by readers
that count the levels.
"""

from __future__ import annotations

import base64
import io
import posixpath
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote

from lxml import etree

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import InputError
from pura.documents.extraction import ALTERNATIVE, Extract
from pura.documents.formats import (
    MAX_PACKED_ENTRIES,
    MAX_UNPACKED_BYTES,
    no_reader,
    over,
    truncated,
)
from pura.documents.readers.blocks import MIN_WORDS
from pura.record.left_out import LeftOutKind

_CONTENT_TYPES: Final = "[Content_Types].xml"
_MANIFEST: Final = "META-INF/manifest.xml"
_BOOK: Final = "META-INF/container.xml"
_MIMETYPE: Final = "mimetype"
_MAX_MIMETYPE: Final = 256
_DESCRIBING: Final = frozenset({"title", "subject", "description", "keywords", "category"})
"""Properties of a document with text for readers, unlike names, dates and numbers."""
_ZIP: Final = b"PK"
_LOCAL_HEADER: Final = b"PK\x03\x04"
_END_OF_DIRECTORY: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
"""Bytes of the last record of a zip archive, without its optional comment."""
_MAX_END: Final = _END_BYTES + 0xFFFF
_ENDS_EARLY: Final = frozenset(
    {
        etree.ErrorTypes.ERR_TAG_NOT_FINISHED,
        etree.ErrorTypes.ERR_GT_REQUIRED,
        etree.ErrorTypes.ERR_LTSLASH_REQUIRED,
    }
)
"""Error codes of the XML parser for a file that ends too early."""


class Package(ABC):
    """The parts of a document, by name."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Names of all parts, with slashes but without a leading one."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Return one part, no larger than the limit.

        Raises:
            InputError: Too large, or locked.
        """

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """The names of parts by their lower-case form, since Office packages ignore case."""
        return {name.lower(): name for name in self.names}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._spelled

    def xml(self, name: str) -> Any:
        """Return the root of a part's XML; see :func:`parse`."""
        return parse(self.read(name))

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the parts that a part of an Office package refers to, by identifier.

        Args:
            name: Name of the part; empty for the package itself.

        Returns:
            The last word of the type of each relation, and the name of its part. Targets outside
            the package and missing parts are omitted.
        """
        folder, file = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        if relations not in self:
            return {}
        related_parts = {}
        for relation in self.xml(relations):
            target = unquote(relation.get("Target", "")).replace("\\", "/")
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            if relation.get("TargetMode") != "External" and target in self:
                kind = relation.get("Type", "").rpartition("/")[2]
                related_parts[relation.get("Id", "")] = (kind, self._spelled[target.lower()])
        return related_parts

    def related_as(self, name: str, *kinds: str) -> list[str]:
        """Return the parts that a part refers to by relations of the given kinds, in order."""
        return [target for kind, target in self.related(name).values() if kind in kinds]

    def beside(self, name: str, *kinds: str) -> list[str]:
        """Return the parts of the given kinds that belong to a part.

        If relations are missing, as in files of simple generators, a part with the usual name in
        the same folder is taken (``word/comments.xml`` for ``comments``).
        """
        parts = self.related_as(name, *kinds)
        folder = posixpath.dirname(name)
        usual = [posixpath.join(folder, f"{kind}.xml") for kind in kinds]
        return parts or [self._spelled[part.lower()] for part in usual if part in self]

    def main_part(self, usual: str) -> str:
        """Return the name of the document's main part, or the usual name."""
        return next(iter(self.related_as("", "officeDocument")), usual)

    def properties(self) -> list[Extract]:
        """Return title, description and similar properties as a part, if they are long enough.

        Shorter ones cannot carry a mark, and would be listed for every document.
        """
        descriptions = []
        for name in self.related_as("", "core-properties"):
            descriptions += [e.text or "" for e in self.xml(name) if local_name(e) in _DESCRIBING]
        return metadata(descriptions)

    @cached_property
    def _content_types(self) -> dict[str, str]:
        """Content types by the name of a part, with a leading slash, or by its extension."""
        if _CONTENT_TYPES not in self:
            return {}
        types = {}
        for entry in self.xml(_CONTENT_TYPES):
            part_or_ending = entry.get("PartName") or entry.get("Extension") or ""
            types[part_or_ending.replace("\\", "/").lower()] = entry.get("ContentType", "")
        return types

    def content_type(self, name: str) -> str:
        """Return the declared content type of a part; empty if there is none."""
        types, lower = self._content_types, name.lower()
        return types.get(f"/{lower}") or types.get(lower.rpartition(".")[2], "")


def metadata(descriptions: Iterable[str]) -> list[Extract]:
    """Return texts that describe a document as a part; none if they are short."""
    text = "\n\n".join(filter(None, (phrase.strip() for phrase in descriptions)))
    if len(text.split()) < MIN_WORDS:
        return []
    kind = LeftOutKind.METADATA
    return [Extract(text=text, part="properties", role=ALTERNATIVE, kind=kind)]


class ZipPackage(Package):
    """A zip archive with a checked directory."""

    def __init__(self, archive: bytes) -> None:
        """Read the directory.

        Raises:
            InputError: The end of the archive, and with it its directory, is missing; entries
                share bytes, or are too many.
        """
        end = archive.rfind(_END_OF_DIRECTORY, max(0, len(archive) - _MAX_END))
        if end < 0 or len(archive) - end < _END_BYTES:
            raise truncated()
        self._zip = zipfile.ZipFile(io.BytesIO(archive))
        entries = self._zip.infolist()
        first = min((entry.header_offset for entry in entries), default=0)
        if first and archive.startswith(_LOCAL_HEADER):
            # The directory belongs to an inner archive; that of the file itself is missing.
            raise truncated()
        if len(entries) > MAX_PACKED_ENTRIES:
            raise over("limit.parts", most=MAX_PACKED_ENTRIES)
        _check_overlap(entries)
        # Some programs write names with backslashes, which unpackers treat as slashes.
        self._entries = {
            posixpath.normpath(entry.filename.replace("\\", "/")).lstrip("/"): entry
            for entry in entries
            if not entry.is_dir()
        }

    @property
    def names(self) -> Sequence[str]:
        """Names of all parts."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """Unpack one part up to the limit, whatever size its header claims.

        Raises:
            InputError: Too large, or locked.
        """
        entry = self._entries[self._spelled[name.lower()]]
        if entry.flag_bits & 1:
            raise locked()
        if entry.file_size > MAX_UNPACKED_BYTES:
            raise _bomb()
        with self._zip.open(entry) as file:
            unpacked = file.read(MAX_UNPACKED_BYTES + 1)
        if len(unpacked) > MAX_UNPACKED_BYTES:
            raise _bomb()
        return unpacked


class FlatPackage(Package):
    """An Office package as one XML file ("flat OPC"), as Word saves it under the name ``.xml``."""

    def __init__(self, root: Any) -> None:
        """Collect the parts below the root of the file."""
        self._parts = {
            attribute(part, "name").lstrip("/"): part for part in root if local_name(part) == "part"
        }

    @property
    def names(self) -> Sequence[str]:
        """Names of all parts."""
        return list(self._parts)

    def read(self, name: str) -> bytes:
        """Return one part.

        Raises:
            ValueError: It is not what base64 gives; the file is damaged.
        """
        element = self._content(name)
        if element is None:
            return b""
        if local_name(element) == "binaryData":
            return base64.b64decode(element.text or "")
        xml_bytes: bytes = b"".join(etree.tostring(child) for child in element)
        return xml_bytes

    def xml(self, name: str) -> Any:
        """Return the root of a part's XML."""
        element = self._content(name)
        if element is not None and local_name(element) == "xmlData" and len(element):
            return element[0]
        return super().xml(name)

    def content_type(self, name: str) -> str:
        """Return the declared content type of a part."""
        return attribute(self._parts[self._spelled[name.lower()]], "contentType")

    def _content(self, name: str) -> Any:
        return next(iter(self._parts[self._spelled[name.lower()]]), None)


def open_package(file_bytes: bytes) -> Package:
    """Open a zip archive, or a flat XML file of Office.

    Raises:
        InputError: As of both.
    """
    if file_bytes.lstrip().startswith(_ZIP):
        return ZipPackage(file_bytes)
    return FlatPackage(parse(file_bytes))


# Formats of Office packages by a part of the content type of the document that is the same for
# documents, templates, and files with macros.
_OFFICE: Final = (
    ("wordprocessingml.", "docx"),
    ("ms-word.", "docx"),
    ("spreadsheetml.", "xlsx"),
    ("ms-excel.", "xlsx"),
    ("presentationml.", "pptx"),
    ("ms-powerpoint.", "pptx"),
)
_ROOTS: Final = {"document": "docx", "workbook": "xlsx", "presentation": "pptx"}
_USUAL: Final = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "ppt/presentation.xml": "pptx",
}
_OPENDOCUMENT: Final = "application/vnd.oasis.opendocument."
_BINARY_WORKBOOK: Final = "sheet.binary"


def format_of(package: Package) -> str:
    """Return the name of the format of a package's document.

    Raises:
        InputError: It has a kind without a reader, which is named.
    """
    if (name := _by_mimetype(package)) is not None:
        return name
    main = next(iter(package.related_as("", "officeDocument")), None)
    if main is None:
        main = next((part for part in _USUAL if part in package), None)
    if main is None:
        raise no_reader(_other_kind(package))
    content_type = package.content_type(main).lower()
    if _BINARY_WORKBOOK in content_type:
        raise no_reader(phrase("kind.xlsb"))
    for word, name in _OFFICE:
        if word in content_type:
            return name
    return _by_root(package, main)


def format_of_file(file_bytes: bytes) -> str:
    """Return the name of the format of the document in a zip archive or a flat XML file.

    Raises:
        InputError: It has a kind without a reader, which is named.
    """
    if file_bytes.lstrip().startswith(_ZIP):
        return format_of(ZipPackage(file_bytes))
    root = parse(file_bytes)
    match local_name(root):
        case "package":
            return format_of(FlatPackage(root))
        case "document":
            return _opendocument(attribute(root, "mimetype"))
        case _:  # Word and Excel of 2003
            raise no_reader(phrase("kind.office-2003"))


def _by_mimetype(package: Package) -> str | None:
    kind = ""
    if _MIMETYPE in package:
        kind = package.read(_MIMETYPE)[:_MAX_MIMETYPE].decode("ascii", "replace").strip()
    elif _MANIFEST in package:
        entries = named(package.xml(_MANIFEST), "file-entry")
        root_entries = (e for e in entries if attribute(e, "full-path") == "/")
        kind = next((attribute(entry, "media-type") for entry in root_entries), "")
    if kind == "application/epub+zip" or (not kind and _BOOK in package):
        return "epub"
    if kind.startswith(_OPENDOCUMENT):
        return _opendocument(kind)
    if not kind and "content.xml" in package:
        is_text = any(True for _ in named(package.xml("content.xml"), "text"))
        return _opendocument(f"{_OPENDOCUMENT}text" if is_text else _OPENDOCUMENT)
    return None


def _opendocument(kind: str) -> str:
    # Also "text-template", "text-master" and "text-web".
    if kind.removeprefix(_OPENDOCUMENT).startswith("text"):
        return "odt"
    raise no_reader(phrase("kind.opendocument"))


def _by_root(package: Package, main: str) -> str:
    """Recognise an Office document by its root element or its name, if its type is no help."""
    try:
        name = _ROOTS.get(local_name(package.xml(main)))
    except etree.XMLSyntaxError:
        name = None
    name = name or _USUAL.get(main.lower())
    if name is None:
        raise no_reader(phrase("kind.office-other"))
    return name


def _other_kind(package: Package) -> Phrase:
    """Return the name of the kind of a zip archive without a readable document."""
    if any(name.lower().endswith(".iwa") or name == "index.apxl" for name in package.names):
        return phrase("kind.iwork")
    if _CONTENT_TYPES in package:
        return phrase("kind.office-other")
    return phrase("kind.packed", name="zip")


_HEAD: Final = 2048
"""Bytes in which a document type declaration can occur."""
_NAMED_TYPE: Final = re.compile(rb"<!DOCTYPE\s[^\[<>&%]{1,500}>")


_UNDEFINED_PREFIX: Final = etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE


def _parser(*, recover: bool = False) -> Any:
    """Return a parser that fetches no files and expands no entities."""
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def parse(xml_bytes: bytes) -> Any:
    """Parse XML without declarations, entities, other files or network.

    Raises:
        InputError: It declares entities, is nested too deeply, or ends too early.
    """
    # Older office programs name a document type, which is never fetched. Attacks by entities need
    # a document type with declarations of its own. UTF-16 is recognised too.
    xml_bytes = _NAMED_TYPE.sub(b"", xml_bytes[:_HEAD], count=1) + xml_bytes[_HEAD:]
    if (
        b"<!DOCTYPE" in xml_bytes
        or b"<!ENTITY" in xml_bytes
        or b"<!DOCTYPE" in xml_bytes.replace(b"\x00", b"")
    ):
        raise InputError("input.outside", code="input-outside")
    try:
        return etree.fromstring(xml_bytes, _parser())
    except etree.XMLSyntaxError as error:
        if error.code == _UNDEFINED_PREFIX:
            # The prefix may be declared in the document type, which is not fetched.
            lenient = _parser(recover=True)
            root = etree.fromstring(xml_bytes, lenient)
            if root is not None and all(e.type == _UNDEFINED_PREFIX for e in lenient.error_log):
                return root
        if "depth" in str(error).lower():
            raise over("limit.deep") from None
        if error.code in _ENDS_EARLY and error.position[0] > xml_bytes.count(b"\n"):
            raise truncated() from None
        raise


def locked() -> InputError:
    """Return the error for a file that needs a password."""
    return InputError("packed.locked", code="input-encrypted")


def _check_overlap(entries: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse entries that share packed bytes, by which small files unpack to petabytes."""
    end = 0
    for entry in sorted(entries, key=lambda e: e.header_offset):
        if entry.header_offset < end:
            raise InputError("packed.overlap", code="input-damaged")
        end = entry.header_offset + 30 + entry.compress_size


def _bomb() -> InputError:
    return over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace, which differs between versions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def named(root: Any, name: str) -> Iterator[Any]:
    """Yield an element and the elements below it that have a name, in any namespace."""
    return (element for element in root.iter() if local_name(element) == name)


def attribute(element: Any, name: str) -> str:
    """Return an attribute by its name, in any namespace; empty if it is missing."""
    return next((str(v) for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")
