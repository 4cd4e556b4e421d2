"""The values that travel through a batch: where a text stands, the text, what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pura.base.errors import PuraError
from pura.documents import Document


@dataclass(frozen=True, kw_only=True)
class TextSource:
    """Where a text stands; ``(input, item, piece)`` orders all texts, and names each once.

    Attributes:
        input: Number of the file in the order of the inputs, from 1.
        item: Number of the row, message or entry within a table, mailbox or archive, from 1.
        piece: Number of the text within that, from 1: a message may have attachments.
        path: Full path of the file.
        id: The caller's own identifier, from a table that has one.
        part: Which part of the file; empty when the file is one text.
    """

    input: int
    item: int
    piece: int
    path: str
    id: str | None = None
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class Text:
    """An item that a text could be made of.

    Attributes:
        source: Where it stands.
        document: The text.
        digest: SHA-256 of its characters in UTF-8, 64 hex digits.
    """

    source: TextSource
    document: Document
    digest: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An item that no text could be made of.

    Attributes:
        source: Where it stands.
        error: Why.
    """

    source: TextSource
    error: PuraError


Item = Text | Refusal


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Items that are read in one go: those of a file, or some rows of a table.

    Attributes:
        input: Number of the file, from 1.
        slice: Which part of the file, from 0.
        mark: Says whether it is what it was when the batch was interrupted.
        weight: Its bytes, for the time that is left.
        read: Reads it; everything that can go wrong is in the items.
    """

    input: int
    slice: int
    mark: str
    weight: int
    read: Callable[[], list[Item]]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Texts that are handed to a worker together; the same ones in every run.

    Attributes:
        number: Counts up.
        texts: The texts.
    """

    number: int
    texts: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found in a text, without where it stands: the same for every row that has it.

    Attributes:
        row: The columns of a row that speak of the text (:mod:`pura.batch.rows`).
        seconds: How long it took.
        record: The whole record, packed; None where nobody wants it.
        alone: It was read by itself, since reading it beside others failed.
    """

    row: Mapping[str, Any]
    seconds: float
    record: bytes | None = None
    alone: bool = False
