"""What went into an audit, as its record says it (a part of :mod:`pura.record.audit`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TransformFacts:
    """One thing that extraction did to the characters of the text, or found hidden among them.

    Attributes:
        name: Stable name, e.g. ``hyphens-joined``.
        count: How often.
        note: In plain words.
    """

    name: str
    count: int
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class InputFacts:
    """What was examined.

    Attributes:
        name: File name, or ``-`` for standard input, or ``pasted text``.
        sha256: Of the original bytes (of the UTF-8 text when it was pasted).
        size_bytes: Length of the original bytes.
        characters: Code points of the text that was tokenised.
        tokens: ``L``.
        encoding: How bytes became text.
        format: Format that the file was read as; ``text`` for plain and pasted text.
        part: Which part of the file this is; empty when the file is one text.
        transforms: What extraction did to the characters, in order; then what is hidden among
            them (:mod:`pura.documents.c2pa`).
    """

    name: str
    sha256: str
    size_bytes: int
    characters: int
    tokens: int
    encoding: str = "utf-8"
    format: str = "text"
    part: str = ""
    transforms: tuple[TransformFacts, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PromptFacts:
    """Whether the verifier knew the prompt.

    Attributes:
        known: True when a prompt was given.
        sha256: Of the prompt's UTF-8 bytes, or None.
        tokens: Its length.
    """

    known: bool = False
    sha256: str | None = None
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class KeyFacts:
    """A key, by its fingerprint.

    Attributes:
        fingerprint: 16 hex digits.
        label: The key's name in the key store, or None.
    """

    fingerprint: str
    label: str | None = None
