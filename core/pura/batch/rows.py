"""One flat row a text: its columns, how a record becomes one, and JSON in and out.

The columns are those of ``resources/batch-row.schema.json``. Rows hold nothing that differs from
one run to the next: the same texts, keys, profile and model give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from pura.base.decoder import DecodeError, decode, later, schema_of
from pura.base.errors import PuraError, RecordError
from pura.record.audit import Audit
from pura.record.finding import COLUMNS, Finding, named_marks, named_payload
from pura.words.sentences import headline

NOT_EXAMINABLE: Final = "not-examinable"
MAX_ROW_BYTES: Final = 64 << 20
"""Longest line of a file of rows; passages and fields are what makes one long."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What became of one text.

    Attributes:
        input: Number of the file in the order of the inputs, from 1.
        item: Number of the row, message or entry within its file, from 1.
        piece: Number of the text within that, from 1.
        id: The caller's own identifier.
        path: Full path of the file.
        part: Which part of the file.
        digest: SHA-256 of the text in UTF-8; None where there is no text.
        verdict: As in the record; ``not-examinable`` for all that no text could be made of.
        log10_e: log10 of the e-value.
        payload: Bits, where the text has one mark and its payload is identified.
        payload_best: The most probable payload of a text with one mark, identified or not.
        payload_posterior: Its weight.
        payloads_in_question: The fewest payloads that together have the weight that identifies;
            where those that are listed do not have it, their number: at least so many.
        fields_outside: Fields that are identified and outside the profile's limits.
        fields: What the profile's layout says, by name; null where a field is not identified.
        marks: How many marks were found.
        marks_payloads: Payload of each, in the order of the text; null where it is in question.
        passages: First character and the one after the last, of all marks.
        passages_limits: Of each, least and greatest first character, least and greatest character
            after the last: 95 % credible intervals; null where the finding has none.
        share: Part of the tokens that lies in passages.
        tokens: Length of the text.
        usable: Steps that carry bits.
        hidden: Characters that show nothing and have no use where they stand.
        cautions: Keys of the sentences that weaken the finding, the weightiest first.
        undone: What of the text's handling was undone in a reading that counts.
        register_entry: Number of the entry of the register that has the identified payload.
        register_who: To whom that was issued.
        register_posterior: Its weight among all entries.
        key: Fingerprint of the key that the finding is about.
        profile: Fingerprint of the profile.
        model: Fingerprint of the model.
        chosen: Chosen from the batch at the false discovery rate that was asked for; None where
            none was.
        error: Code of what went wrong.
        message: The same in words, English.
    """

    input: int
    item: int
    piece: int
    id: str | None
    path: str
    part: str
    digest: str | None
    verdict: str
    log10_e: float | None = None
    payload: str | None = None
    payload_best: str | None = later(None, omitted=False)
    payload_posterior: float | None = later(None, omitted=False)
    payloads_in_question: int | None = later(None, omitted=False)
    fields_outside: tuple[str, ...] = later((), omitted=False)
    fields: Mapping[str, str | None] | None = None
    marks: int | None = later(None, omitted=False)
    marks_payloads: tuple[str | None, ...] = later((), omitted=False)
    passages: tuple[tuple[int, int], ...] = ()
    passages_limits: tuple[tuple[int, int, int, int] | None, ...] = later((), omitted=False)
    share: float | None = None
    tokens: int | None = None
    usable: int | None = None
    hidden: int | None = later(None, omitted=False)
    cautions: tuple[str, ...] = later((), omitted=False)
    undone: tuple[str, ...] = later((), omitted=False)
    register_entry: int | None = None
    register_who: str | None = None
    register_posterior: float | None = None
    key: str | None = None
    profile: str | None = None
    model: str | None = None
    chosen: bool | None = None
    error: str | None = None
    message: str | None = None

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a row.

        Raises:
            RecordError: It is none of ours.
        """
        try:
            row = decode(Row, data)
        except DecodeError:
            raise RecordError("batch.row", code="batch-row") from None
        return cls.of({field.name: getattr(row, field.name) for field in fields(row)})

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """Make a row of its columns, also of one that an earlier version wrote.

        Such a row states a payload and its fields without saying how probable they are, so they are
        taken for the most probable ones, and for nothing more.
        """
        stated = columns.get("payload")
        if stated is not None and columns.get("payload_best") is None:
            open_columns = ("payload", "register_entry", "register_who", "register_posterior")
            columns = {**columns, **dict.fromkeys(open_columns), "payload_best": stated}
            columns["fields"] = dict.fromkeys(columns["fields"]) if columns["fields"] else None
        return cls(**columns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, in the order of the columns."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["passages"] = [list(span) for span in self.passages]
        found["passages_limits"] = [one and list(one) for one in self.passages_limits]
        found["marks_payloads"] = list(self.marks_payloads)
        for name in ("fields_outside", "cautions", "undone"):
            found[name] = list(found[name])
        return found

    @property
    def finding(self) -> Finding | None:
        """What the row says of a text; None where there is no finding."""
        if self.log10_e is None and self.verdict != NOT_EXAMINABLE:
            return None
        if self.payload_best is None:  # several marks, or none; their fields are in the records
            payloads = [named_payload(bits or "", {}) for bits in self.marks_payloads]
        else:
            bits = self.payload or ""
            payloads = [named_payload(bits, self.fields or {}, best=self.payload_best)]
        return Finding(
            name=self.id or self.path,
            sha256=self.digest or "",
            tokens=self.tokens or 0,
            usable=self.usable or 0,
            verdict=self.verdict,
            log10_e=self.log10_e or 0.0,
            marks=named_marks(payloads),
            counted=self.marks or 0,
            share=self.share if self.verdict == "mark" else None,
            headline=headline(self.verdict, self.marks or 0),
            undone=self.undone,
        )

    def to_json(self) -> bytes:
        """Return one line of a file of rows, with its line feed."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def finding_of(audit: Audit, error: PuraError | None = None) -> dict[str, Any]:
    """Return the columns of a row that a finding fills.

    Args:
        audit: The record.
        error: Why the text could not be examined.
    """
    named = [field.name for field in fields(Row) if field.name in COLUMNS]
    row = {name: COLUMNS[name](audit.finding) for name in named}
    if error is not None:
        row |= dict.fromkeys(("log10_e", "marks", "share", "hidden"))
    return row | failed(error)


def failed(error: PuraError | None) -> dict[str, Any]:
    """Return the columns that say what went wrong."""
    if error is None:
        return {"error": None, "message": None}
    return {"verdict": NOT_EXAMINABLE, "error": error.code, "message": str(error)}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a row, made from its columns."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of a batch of audits",
        **schema_of(Row),
        # A file has all columns; those of earlier versions are read without some.
        "required": [field.name for field in fields(Row)],
    }
