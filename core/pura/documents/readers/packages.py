"""Packages: zip archives, and flat XML files, that hold the parts of one document.

What a package is follows from its own directory (``mimetype``, ``_rels/.rels``,
``[Content_Types].xml``), never from bytes found somewhere in it: a workbook that carries a Word
file is a workbook. Packages and XML are opened within bounds, and packages inside packages only by
readers that count the levels.
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
"""Properties of a document that people write for readers; names, dates and numbers are others."""
_ZIP: Final = b"PK"
_LOCAL_HEADER: Final = b"PK\x03\x04"
_END_OF_DIRECTORY: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
"""Of the last record of a zip archive, without the remark that it may carry."""
_MAX_END: Final = _END_BYTES + 0xFFFF
_ENDS_EARLY: Final = frozenset(
    {
        etree.ErrorTypes.ERR_TAG_NOT_FINISHED,
        etree.ErrorTypes.ERR_GT_REQUIRED,
        etree.ErrorTypes.ERR_LTSLASH_REQUIRED,
    }
)
"""Codes of the XML parser's errors at the end of a file that goes on."""


class Package(ABC):
    """The parts of a document, by name."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Names of all parts, with slashes and without one in front."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Return one part, no larger than the limit.

        Raises:
            InputError: Too large, or locked.
        """

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """The names of parts by their lower-case form: case does not count in Office packages."""
        return {name.lower(): name for name in self.names}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._spelled

    def xml(self, name: str) -> Any:
        """Return the root of a part's XML; see :func:`parse`."""
        return parse(self.read(name))

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return what a part of an Office package refers to inside it, by identifier.

        Args:
            name: The part; empty for the package itself.

        Returns:
            The last word of the relation's type, and the part's name. What lies outside the
            package, or is not in it, is left out.
        """
        folder, file = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        if relations not in self:
            return {}
        found = {}
        for relation in self.xml(relations):
            target = unquote(relation.get("Target", "")).replace("\\", "/")
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            if relation.get("TargetMode") != "External" and target in self:
                kind = relation.get("Type", "").rpartition("/")[2]
                found[relation.get("Id", "")] = (kind, self._spelled[target.lower()])
        return found

    def related_as(self, name: str, *kinds: str) -> list[str]:
        """Return the parts that a part refers to by relations of some kinds, in their order."""
        return [target for kind, target in self.related(name).values() if kind in kinds]

    def beside(self, name: str, *kinds: str) -> list[str]:
        """Return the parts of some kinds that belong to a part.

        Where relations are missing, as in files that a program wrote by hand, a part of the usual
        name in the same folder is taken (``word/comments.xml`` for ``comments``).
        """
        parts = self.related_as(name, *kinds)
        folder = posixpath.dirname(name)
        usual = [posixpath.join(folder, f"{kind}.xml") for kind in kinds]
        return parts or [self._spelled[part.lower()] for part in usual if part in self]

    def main_part(self, usual: str) -> str:
        """Return the part that the package names as its document, or the usual one."""
        return next(iter(self.related_as("", "officeDocument")), usual)

    def properties(self) -> list[Extract]:
        """Return title, description and the like as a part, where they have sentences.

        Shorter ones hold no mark, and would be listed with every document.
        """
        words = []
        for name in self.related_as("", "core-properties"):
            words += [e.text or "" for e in self.xml(name) if local_name(e) in _DESCRIBING]
        return metadata(words)

    @cached_property
    def _content_types(self) -> dict[str, str]:
        """Content types by the name of a part, with a slash in front, or by its ending."""
        if _CONTENT_TYPES not in self:
            return {}
        types = {}
        for entry in self.xml(_CONTENT_TYPES):
            of = entry.get("PartName") or entry.get("Extension") or ""
            types[of.replace("\\", "/").lower()] = entry.get("ContentType", "")
        return types

    def content_type(self, name: str) -> str:
        """Return what an Office package says that a part is; empty where it says nothing."""
        types, lower = self._content_types, name.lower()
        return types.get(f"/{lower}") or types.get(lower.rpartition(".")[2], "")


def metadata(words: Iterable[str]) -> list[Extract]:
    """Return words that describe a document as a part; none where they are few."""
    text = "\n\n".join(filter(None, (phrase.strip() for phrase in words)))
    if len(text.split()) < MIN_WORDS:
        return []
    kind = LeftOutKind.METADATA
    return [Extract(text=text, part="properties", role=ALTERNATIVE, kind=kind)]


class ZipPackage(Package):
    """A zip archive whose directory has been checked."""

    def __init__(self, data: bytes) -> None:
        """Read the directory.

        Raises:
            InputError: The end of the archive, and with it its directory, is missing; entries
                share bytes, or are too many.
        """
        end = data.rfind(_END_OF_DIRECTORY, max(0, len(data) - _MAX_END))
        if end < 0 or len(data) - end < _END_BYTES:
            raise truncated()
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        entries = self._zip.infolist()
        first = min((entry.header_offset for entry in entries), default=0)
        if first and data.startswith(_LOCAL_HEADER):
            # The directory is one of an archive inside, and that of the file itself is missing.
            raise truncated()
        if len(entries) > MAX_PACKED_ENTRIES:
            raise over("limit.parts", most=MAX_PACKED_ENTRIES)
        _check_overlap(entries)
        # Some programs write names with backslashes, and unpackers take them for slashes.
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
        """Unpack one part, no further than the limit, whatever its header claims.

        Raises:
            InputError: Too large, or locked.
        """
        entry = self._entries[self._spelled[name.lower()]]
        if entry.flag_bits & 1:
            raise locked()
        if entry.file_size > MAX_UNPACKED_BYTES:
            raise _bomb()
        with self._zip.open(entry) as file:
            data = file.read(MAX_UNPACKED_BYTES + 1)
        if len(data) > MAX_UNPACKED_BYTES:
            raise _bomb()
        return data


class FlatPackage(Package):
    """An Office package as one XML file ("flat OPC"), as Word saves it under the name ``.xml``."""

    def __init__(self, root: Any) -> None:
        """Take the parts out of the root of the file."""
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
        content = self._content(name)
        if content is None:
            return b""
        if local_name(content) == "binaryData":
            return base64.b64decode(content.text or "")
        data: bytes = b"".join(etree.tostring(child) for child in content)
        return data

    def xml(self, name: str) -> Any:
        """Return the root of a part's XML."""
        content = self._content(name)
        if content is not None and local_name(content) == "xmlData" and len(content):
            return content[0]
        return super().xml(name)

    def content_type(self, name: str) -> str:
        """Return what the file says that a part is."""
        return attribute(self._parts[self._spelled[name.lower()]], "contentType")

    def _content(self, name: str) -> Any:
        return next(iter(self._parts[self._spelled[name.lower()]]), None)


def open_package(data: bytes) -> Package:
    """Open a zip archive, or a flat XML file of Office.

    Raises:
        InputError: As of both.
    """
    if data.lstrip().startswith(_ZIP):
        return ZipPackage(data)
    return FlatPackage(parse(data))


# What the document of an Office package is, by its content type without what differs between
# documents, templates, and those with macros.
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


def format_of_file(data: bytes) -> str:
    """Return the name of the format of the document in a zip archive or a flat XML file.

    Raises:
        InputError: It has a kind without a reader, which is named.
    """
    if data.lstrip().startswith(_ZIP):
        return format_of(ZipPackage(data))
    root = parse(data)
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
        whole = (e for e in entries if attribute(e, "full-path") == "/")
        kind = next((attribute(entry, "media-type") for entry in whole), "")
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
    """Tell an Office document by its first element, or its name, where its type is of no use."""
    try:
        name = _ROOTS.get(local_name(package.xml(main)))
    except etree.XMLSyntaxError:
        name = None
    name = name or _USUAL.get(main.lower())
    if name is None:
        raise no_reader(phrase("kind.office-other"))
    return name


def _other_kind(package: Package) -> Phrase:
    """Say what a zip archive is that holds no document that can be read."""
    if any(name.lower().endswith(".iwa") or name == "index.apxl" for name in package.names):
        return phrase("kind.iwork")
    if _CONTENT_TYPES in package:
        return phrase("kind.office-other")
    return phrase("kind.packed", name="zip")


_HEAD: Final = 2048
"""Bytes in which a document type is named, if it is."""
_NAMED_TYPE: Final = re.compile(rb"<!DOCTYPE\s[^\[<>&%]{1,500}>")


_UNDEFINED_PREFIX: Final = etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE


def _parser(*, recover: bool = False) -> Any:
    """Return a parser that fetches and expands nothing."""
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


def parse(data: bytes) -> Any:
    """Parse XML without declarations, entities, other files or network.

    Raises:
        InputError: It declares entities, is nested too deeply, or ends too early.
    """
    # Older office programs name a document type, which is never fetched. Every entity attack needs
    # one that declares something itself. UTF-16 is seen through.
    data = _NAMED_TYPE.sub(b"", data[:_HEAD], count=1) + data[_HEAD:]
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"<!DOCTYPE" in data.replace(b"\x00", b""):
        raise InputError("input.outside", code="input-outside")
    try:
        return etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as error:
        if error.code == _UNDEFINED_PREFIX:
            # The document type that is not fetched may have declared it.
            lenient = _parser(recover=True)
            root = etree.fromstring(data, lenient)
            if root is not None and all(e.type == _UNDEFINED_PREFIX for e in lenient.error_log):
                return root
        if "depth" in str(error).lower():
            raise over("limit.deep") from None
        if error.code in _ENDS_EARLY and error.position[0] > data.count(b"\n"):
            raise truncated() from None
        raise


def locked() -> InputError:
    """Return the refusal of a file that needs a password."""
    return InputError("packed.locked", code="input-encrypted")


def _check_overlap(entries: Iterable[zipfile.ZipInfo]) -> None:
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


def named(root: Any, name: str) -> Iterator[Any]:
    """Yield the elements below one, and itself, that have a name without its namespace."""
    return (element for element in root.iter() if local_name(element) == name)


def attribute(element: Any, name: str) -> str:
    """Return an attribute by its name without namespace; empty where it is not there."""
    return next((str(v) for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")
