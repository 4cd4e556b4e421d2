"""What the list shows of a finding, without the whole record in memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from pura.record.audit import Audit
from pura.record.marks import standing
from pura.record.plain import undecided
from pura.verdict.expect import language_of
from pura.words.sentences import title

SAMPLE: Final = 20_000  # characters that the language is told from


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A finding in one row.

    Attributes:
        audit: Identifier of the audit.
        created: UTC, ISO 8601.
        verdict: The outcome.
        marks: How many marks it counts; 0 where the record knows one mark only.
        fields: Name and value of each field of the first payload; empty without a layout or mark.
        payload: Bits of the first payload; empty without a mark, or where it is not decided.
        candidates: Payloads that remain in question; 0 where one is decided, or without a mark.
        log10_e: The evidence.
        places: Start and end of each passage as parts of the text, and the number of its mark.
        share: Part of the tokens inside passages; None without a mark.
        tokens: Tokens of the text.
        language: What its words look like; empty when there are too few to tell.
    """

    audit: str
    created: str
    verdict: str
    marks: int
    fields: tuple[tuple[str, str], ...]
    payload: str
    candidates: int
    log10_e: float
    places: tuple[tuple[float, float, int], ...]
    share: float | None
    tokens: int
    language: str

    def title(self, language: str) -> str:
        """Return the headline."""
        return title(self.verdict, language, self.marks)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outline:
        """Undo :meth:`to_json`.

        Raises:
            TypeError: It is something else.
            ValueError: The same.
        """
        fields = tuple((str(name), str(value)) for name, value in data.pop("fields"))
        places = tuple((float(a), float(b), int(n)) for a, b, n in data.pop("places"))
        return cls(fields=fields, places=places, **data)


def marked_share(audit: Audit) -> float | None:
    """Return which share of the tokens lies in marked passages; None without a mark."""
    if audit.verdict != "mark":
        return None
    inside = sum(p.last_token - p.first_token + 1 for _, p in standing(audit))
    return min(1.0, inside / max(1, audit.input.tokens))


def outline(audit: Audit) -> Outline:
    """Return what the list shows of an audit."""
    found = audit.verdict == "mark"
    tokens = max(1, audit.input.tokens)
    passages = standing(audit) if found else ()
    open_payloads = undecided(audit)
    decided = found and not open_payloads
    return Outline(
        audit=audit.id,
        created=audit.created,
        verdict=audit.verdict,
        marks=len(audit.marks),
        fields=tuple((f.name, f.text if f.known else f"{f.raw} ?") for f in audit.payload.fields)
        if decided
        else (),
        payload=audit.payload.bits if decided else "",
        candidates=open_payloads,
        log10_e=audit.evidence.log10_e,
        places=tuple(
            (p.first_token / tokens, (p.last_token + 1) / tokens, number) for number, p in passages
        ),
        share=marked_share(audit),
        tokens=audit.input.tokens,
        language=language_of((audit.text or "")[:SAMPLE]),
    )
