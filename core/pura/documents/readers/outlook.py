"""Messages as Outlook saves them (``.msg``): a compound file with a stream for each property.

The message is converted to a mail and read as one, so that the same rules apply to its body, quoted
originals and attachments. If it has neither a plain nor an HTML body, its RTF is unpacked
([MS-OXRTFCP]) and read.
"""

from __future__ import annotations

import io
import struct
from email.message import EmailMessage
from typing import Final

import olefile

from pura.documents.extraction import MAIN, Extract
from pura.documents.formats import (
    MAX_EMBEDDED_DEPTH,
    MAX_MAIL_PARTS,
    MAX_UNPACKED_BYTES,
    ReadOptions,
    over,
    truncated,
)
from pura.documents.readers.mail import message_extracts
from pura.documents.readers.rtf import read_rtf

# Names of streams end in the tag of the property and its type: 001F UTF-16, 001E bytes in a code
# page, 0102 binary ([MS-OXMSG] 2.2.2).
_PLAIN: Final = "1000"
_HTML: Final = "1013"
_RTF: Final = "1009"
_DATA: Final = "3701"
_NAMES: Final = ("3707", "3704", "3001")
"""Long name, short name and title of an attachment."""
_UNICODE, _BYTES, _BINARY, _STORAGE = "001F", "001E", "0102", "000D"
_ATTACHMENT: Final = "__attach_version1.0_#"
_PROPERTIES: Final = "__properties_version1.0"
_CODE_PAGES: Final = (0x3FFD0003, 0x3FDE0003)
"""Tags of the properties with the code page of the texts, and of the HTML body."""
_UTF_8: Final = 65001

_DICTIONARY: Final = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""Initial dictionary of compressed RTF ([MS-OXRTFCP] 2.1.2.1)."""
_WINDOW: Final = 4096  # bytes of the dictionary


def read_msg(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return body, quoted passages and attached documents of one message."""
    try:
        with olefile.OleFileIO(io.BytesIO(file_bytes)) as compound:
            message = _Message(compound, ()).as_mail()
    except (OSError, IndexError):
        raise truncated() from None
    return message_extracts(bytes(message), options, "")


class _Message:
    """A message, at the top of a compound file or inside another one.

    Args:
        compound: The file.
        path: Path of the storage with the message.
        depth: Number of messages around it.
    """

    def __init__(self, compound: olefile.OleFileIO, path: tuple[str, ...], depth: int = 0) -> None:
        self._compound, self._path, self._depth = compound, path, depth
        self._streams = {
            tuple(name.lower() for name in entry): entry
            for entry in compound.listdir(streams=True, storages=True)
        }

    def as_mail(self) -> EmailMessage:
        """Return the message as a mail."""
        mail = EmailMessage()
        plain = self._text(self._path, _PLAIN)
        html = self._html()
        if not (plain or html or "").strip() and (packed := self._read(self._path, _RTF, _BINARY)):
            extracts = read_rtf(unpacked(packed), ReadOptions())
            plain = "\n\n".join(extract.text for extract in extracts if extract.role == MAIN)
        if plain or not html:
            mail.set_content(plain or "")
        if html:
            (mail.add_alternative if plain else mail.set_content)(html, subtype="html")
        for path in self._attachments():
            self._attach(mail, path)
        return mail

    def _attachments(self) -> list[tuple[str, ...]]:
        size = len(self._path)
        inside = [
            path
            for lower, path in self._streams.items()
            if len(path) == size + 1
            and lower[:size] == tuple(name.lower() for name in self._path)
            and lower[size].startswith(_ATTACHMENT)
        ]
        if len(inside) > MAX_MAIL_PARTS:
            raise over("limit.parts", most=MAX_MAIL_PARTS)
        return sorted(tuple(path) for path in inside)

    def _attach(self, mail: EmailMessage, path: tuple[str, ...]) -> None:
        names = (self._text(path, tag) for tag in _NAMES)
        name = next((name for name in names if name), "attachment")
        file_bytes = self._read(path, _DATA, _BINARY)
        inner = (*path, f"__substg1.0_{_DATA}{_STORAGE}")
        if file_bytes is not None:
            mail.add_attachment(
                file_bytes, maintype="application", subtype="octet-stream", filename=name
            )
        elif self._compound.exists([*inner, _PROPERTIES]):  # a message inside
            if self._depth == MAX_EMBEDDED_DEPTH:
                raise over("limit.deep")
            mail.add_attachment(_Message(self._compound, inner, self._depth + 1).as_mail())

    def _html(self) -> str:
        if text := self._text(self._path, _HTML):
            return text
        encoded = self._read(self._path, _HTML, _BINARY) or b""
        return _decoded(encoded, self._code_page(_CODE_PAGES[::-1]))

    def _text(self, path: tuple[str, ...], tag: str) -> str:
        if (encoded := self._read(path, tag, _UNICODE)) is not None:
            return encoded.decode("utf-16-le", "replace").rstrip("\0")
        encoded = self._read(path, tag, _BYTES) or b""
        return _decoded(encoded, self._code_page(_CODE_PAGES))

    def _read(self, path: tuple[str, ...], tag: str, kind: str) -> bytes | None:
        return self._stream((*path, f"__substg1.0_{tag}{kind}"))

    def _stream(self, path: tuple[str, ...]) -> bytes | None:
        stored_path = self._streams.get(tuple(name.lower() for name in path))
        if stored_path is None or self._compound.get_type(stored_path) != olefile.STGTY_STREAM:
            return None
        if self._compound.get_size(stored_path) > MAX_UNPACKED_BYTES:
            raise over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)
        with self._compound.openstream(stored_path) as stream:
            stream_bytes: bytes = stream.read()
        return stream_bytes

    def _code_page(self, tags: tuple[int, ...]) -> str:
        """Return the codec that the message declares, by the first of these properties it has."""
        properties = self._stream((*self._path, _PROPERTIES)) or b""
        start = 24 if self._path else 32  # the head of a message inside another one is shorter
        body = properties[start : start + (len(properties) - start) // 16 * 16]
        numbers = {tag: value for tag, _, value, _ in struct.iter_unpack("<4I", body)}
        number = next((numbers[tag] for tag in tags if tag in numbers), 1252)
        return "utf-8" if number == _UTF_8 else f"cp{number}"


def _decoded(encoded: bytes, codec: str) -> str:
    encoded = encoded.rstrip(b"\0")
    try:
        return encoded.decode(codec, "replace")
    except LookupError:
        return encoded.decode("cp1252", "replace")


def unpacked(packed: bytes) -> bytes:
    """Decompress the RTF of a message ([MS-OXRTFCP]).

    Raises:
        InputError: The data end too early, or exceed the limit for a part.
    """
    if len(packed) < 16:
        raise truncated()
    _, size, method = struct.unpack_from("<2I4s", packed)
    if size > MAX_UNPACKED_BYTES:
        raise over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)
    if method == b"MELA":  # not packed
        return packed[16 : 16 + size]
    window = bytearray(_DICTIONARY.ljust(_WINDOW, b"\0"))
    write, out, position = len(_DICTIONARY), bytearray(), 16
    while position < len(packed) and len(out) < size:
        control = packed[position]
        position += 1
        for bit in range(8):
            if not control >> bit & 1:
                piece = packed[position : position + 1]
                position += 1
            else:
                token = int.from_bytes(packed[position : position + 2], "big")
                position += 2
                offset, length = token >> 4, (token & 15) + 2
                if offset == write % _WINDOW:
                    return bytes(out)
                piece = b""
                for step in range(length):  # the source may overlap the bytes that are written
                    byte = window[(offset + step) % _WINDOW]
                    window[(write + step) % _WINDOW] = byte
                    piece += bytes((byte,))
            for byte in piece:
                window[write % _WINDOW] = byte
                write += 1
            out += piece
            if position >= len(packed):
                break
    return bytes(out)
