"""From a file to the text under audit (audit steps 1 and 2).

This room grows one reader a format; plain text is the first. Bytes are hashed before anything
is done to them. Nothing is guessed silently: the encoding that was used stands in the record.
"""

from __future__ import annotations

import hashlib
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pura.errors import InputError

MAX_FILE_BYTES: Final = 64 << 20  # a text of MAX_CHARACTERS in the widest encoding is far below
MAX_CHARACTERS: Final = 2_000_000  # about 500 000 tokens: an hour on a slow CPU
_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


@dataclass(frozen=True, kw_only=True)
class Document:
    """A text and where it came from.

    Attributes:
        name: For people: the file's name, ``-`` or ``pasted text``.
        text: The text under audit.
        sha256: Of the original bytes.
        size_bytes: Of the original bytes.
        encoding: How bytes became text.
    """

    name: str
    text: str
    sha256: str
    size_bytes: int
    encoding: str


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


def read_file(path: Path) -> Document:
    """Read a plain-text file.

    Raises:
        InputError: Missing, unreadable, not a regular file, too large, or not text.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError("This is a folder, not a file.", "Give the files inside it.")
        if not stat.S_ISREG(mode):
            raise InputError(
                "This is not an ordinary file (a pipe, a device or a socket).",
                "Save the text to a file, or pass it on standard input as “-”.",
            )
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name is not usable"
        raise InputError(
            f"The file cannot be read: {reason}.", "Check the path and the permissions."
        ) from None
    return from_bytes(data, name=path.name)


def read_stdin() -> Document:
    """Read standard input to its end; see :func:`from_bytes` for what is refused."""
    return from_bytes(sys.stdin.buffer.read(MAX_FILE_BYTES + 1), name="-")


def from_bytes(data: bytes, *, name: str) -> Document:
    """Decode the bytes of a plain-text file.

    A byte order mark decides; else strict UTF-8; else, when the bytes are those of a text and not
    of a binary file, Windows-1252, which the record then says.

    Raises:
        InputError: Too large, or not text.
    """
    if len(data) > MAX_FILE_BYTES:
        raise InputError(
            f"The file is larger than {MAX_FILE_BYTES >> 20} MiB.",
            "Split it, and audit the part that matters.",
        )
    text, encoding = _decode(data)
    check_text(text)
    return Document(
        name=name,
        text=text,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        encoding=encoding,
    )


def check_text(text: str) -> None:
    """Refuse what cannot be audited, before any work is done.

    Raises:
        InputError: Empty, only white space, too long, NUL characters or lone surrogates.
    """
    if not text.strip():
        raise InputError(
            "There is no text here.", "Give the text that you want to audit; a few words are few."
        )
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are audited in "
            "one piece.",
            "Split it, and audit the part that matters.",
        )
    if "\x00" in text:
        raise InputError(
            "The text holds NUL characters, so it is probably not a text.",
            "Open the file in the program that made it, and save it as plain text.",
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            "The text holds half characters (lone surrogates) that no encoding knows.",
            "Copy the text again from its source, or save it as UTF-8 first.",
        ) from None


def _decode(data: bytes) -> tuple[str, str]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            try:
                return data.decode(encoding), encoding
            except UnicodeDecodeError:
                raise _not_text() from None
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    if b"\x00" in data or _control_share(data) > 0.01:
        raise _not_text()
    try:
        return data.decode("cp1252"), "windows-1252"
    except UnicodeDecodeError:
        raise _not_text() from None


def _control_share(data: bytes) -> float:
    sample = data[:65536]
    controls = sum(b < 32 and b not in b"\t\n\r\f\x1b" for b in sample)
    return controls / max(1, len(sample))


def _not_text() -> InputError:
    return InputError(
        "This file is not plain text.",
        "Open it in the program that made it, and save it as plain text (UTF-8).",
    )
