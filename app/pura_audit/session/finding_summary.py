"""What the list shows of a finding, without the whole record in memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from pura.record.audit import Audit
from pura.record.marks import standing, token_share
from pura.verdict.expect import language_of
from pura.words.sentences import title

SAMPLE: Final = 20_000  # characters that the language is told from


@dataclass(frozen=True, kw_only=True)
class OutlinePayload:
    """What may be said of one payload.

    Attributes:
        fields: Name and value of each field that is identified.
        bits: The payload where it is identified; else empty.
        in_question: It is not identified.
    """

    fields: tuple[tuple[str, str], ...]
    bits: str
    in_question: bool


@dataclass(frozen=True, kw_only=True)
class FindingSummary:
    """A finding in one row.

    Attributes:
        audit: Identifier of the audit.
        created: UTC, ISO 8601.
        verdict: The outcome.
        marks: How many marks it counts; 0 where the record knows one mark only.
        payloads: What may be said of the payload of each mark, in the order of the text.
        log10_e: The evidence.
        places: Start and end of each passage as parts of the text, and the number of its mark.
        share: Part of the tokens inside passages; None without a mark.
        tokens: Tokens of the text.
        language: What its words look like; empty when there are too few to tell.
        at_least: There may be more marks.
    """

    audit: str
    created: str
    verdict: str
    marks: int
    payloads: tuple[OutlinePayload, ...]
    log10_e: float
    places: tuple[tuple[float, float, int], ...]
    share: float | None
    tokens: int
    language: str
    at_least: bool = False

    def title(self, language: str) -> str:
        """Return the headline."""
        return title(self.verdict, language, self.marks, at_least=self.at_least)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FindingSummary:
        """Undo :meth:`to_json`."""
        if "payloads" not in data:  # of an earlier version: of the first payload, by its own rule
            old = {"fields": data.pop("fields"), "bits": data.pop("payload")}
            old["in_question"] = data.pop("candidates")
            data["payloads"] = [old] if data.get("verdict") == "mark" else []
        payloads = tuple(
            OutlinePayload(
                fields=tuple((str(name), str(value)) for name, value in one["fields"]),
                bits=str(one["bits"]),
                in_question=bool(one["in_question"]),
            )
            for one in data.pop("payloads")
        )
        places = tuple((float(a), float(b), int(n)) for a, b, n in data.pop("places"))
        return cls(payloads=payloads, places=places, **data)


def marked_share(audit: Audit) -> float | None:
    """Return which share of the tokens lies in marked passages; None without a mark."""
    if audit.verdict != "mark":
        return None
    ranges = ((p.first_token, p.last_token) for _, p in standing(audit))
    return token_share(ranges, audit.input.tokens)


def outline(audit: Audit) -> FindingSummary:
    """Return what the list shows of an audit."""
    found = audit.verdict == "mark"
    tokens = max(1, audit.input.tokens)
    passages = standing(audit) if found else ()
    return FindingSummary(
        audit=audit.id,
        created=audit.created,
        verdict=audit.verdict,
        marks=len(audit.marks),
        at_least=audit.marks_limited,
        payloads=tuple(
            OutlinePayload(
                fields=tuple((f.name, f.text) for f in mark.payload.fields if f.identified),
                bits=mark.payload.bits or "",
                in_question=not mark.payload.identified,
            )
            for mark in audit.named_marks
        ),
        log10_e=audit.evidence.log10_e,
        places=tuple(
            (p.first_token / tokens, (p.last_token + 1) / tokens, number) for number, p in passages
        ),
        share=marked_share(audit),
        tokens=audit.input.tokens,
        language=language_of((audit.text or "")[:SAMPLE]),
    )
