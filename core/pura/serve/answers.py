"""What is answered, by role: from the record of an audit to what the asker gets of it."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from typing import Any, Final

from pura.base.canonical import canonical, sha256
from pura.base.catalogue import catalogue
from pura.record.json_io import to_json
from pura.record.naming import NamedMark
from pura.report.statement import Mark, Place, digested
from pura.serve.roles import Role
from pura.serve.settings import Protection
from pura.usecases.audits import Audited
from pura.verdict.policy import Policy
from pura.words.sentence import Sentence
from pura.words.sentences import fill, findings

MARKED: Final = "marked"
NO_STATEMENT: Final = "no-statement"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one asker is answered; it is in no language yet.

    Attributes:
        role: Whose answer it is.
        verdict: For the public ``marked`` or ``no-statement``; for others the outcome.
        sha256: Of the bytes that were asked about.
        tokens: Of the text; 0 where it was not read, and for the public.
        created: When it was read, ISO 8601.
        policy: Name and version of the policy, and SHA-256 of its canonical JSON.
        headline: The outcome in a few words; None for the public.
        strength: The word of the verbal scale, English; empty for the public, and where nothing
            was read.
        supports: What it supports: ``mark`` or ``no-mark``; empty where the strength is.
        sentences: The answer in words, which have numbers; trusted askers get others.
        marks: See there.
        record: The whole record, JSON, packed; None unless the asker is internal.
        digest: What stands for the record in a statement.
        payloads: Payloads of its marks that are identified; manifests are found by them.
    """

    role: Role
    verdict: str
    sha256: str = ""
    tokens: int = 0
    created: str = ""
    policy: dict[str, Any] | None = None
    headline: Sentence | None = None
    strength: str = ""
    supports: str = ""
    sentences: tuple[Sentence, ...] = ()
    marks: tuple[Mark, ...] = ()
    record: bytes | None = None
    digest: dict[str, str] | None = None
    payloads: tuple[str, ...] = ()

    def shown(self, language: str) -> dict[str, Any]:
        """Return the answer as JSON in a language, without its record."""
        if self.role is Role.PUBLIC:
            return {
                "verdict": self.verdict,
                "headline": say(f"answer.{self.verdict}", language),
                "meaning": say(f"answer.{self.verdict}-means", language),
            }
        return {
            "verdict": self.verdict,
            "headline": "" if self.headline is None else fill(self.headline, language),
            "strength": say_scale(self.strength, language),
            "supports": self.supports,
            "meaning": " ".join(fill(one, language) for one in self.sentences)
            or say(f"answer.{self.verdict}-means", language),
            "sha256": self.sha256,
            "created": self.created,
            "policy": self.policy,
            "marks": [
                {"places": [asdict(place) for place in mark.places], "fields": mark.fields}
                for mark in self.marks
            ],
        }

    def opened(self) -> dict[str, Any]:
        """Return the record as JSON, by its name; nothing where there is none."""
        return {} if self.record is None else {"record": json.loads(zlib.decompress(self.record))}


def say(key: str, language: str, **values: Any) -> str:
    """Return a text of the volume ``serve``."""
    return catalogue("serve").fill(key, language, values)


def say_scale(word: str, language: str) -> str:
    """Return a word of the verbal scale, which records hold in English, in a language."""
    return findings().retold("scale", word, language) if word else ""


def threshold(policy: Policy, protection: Protection) -> float:
    """Return the log10 of the evidence from which the public is told of a mark."""
    return policy.t_found + protection.margin


def public(found: Audited | None, *, above: float, long_enough: bool) -> Answer:
    """Return what the public is told: that a text is marked, or nothing.

    Args:
        found: The finding; None where there is none.
        above: See :func:`threshold`.
        long_enough: Whether the text has as many tokens as an answer needs.
    """
    marked = (
        found is not None
        and found.error is None
        and found.audit.verdict == "mark"
        and long_enough
        and found.audit.evidence.log10_e >= above
    )
    return Answer(role=Role.PUBLIC, verdict=MARKED if marked else NO_STATEMENT)


def full(found: Audited, role: Role, release: tuple[str, ...]) -> Answer:
    """Return what trusted and internal askers are told.

    Args:
        found: The finding.
        role: Trusted or internal.
        release: Fields of payloads that trusted askers are told.
    """
    audit = found.audit
    examined = found.error is None
    internal = role is Role.INTERNAL
    presented = audit.finding
    record = to_json(audit) if internal else ""
    return Answer(
        role=role,
        verdict=audit.verdict,
        sha256=audit.input.sha256,
        tokens=audit.input.tokens,
        created=audit.created,
        policy=policy_facts(audit.policy),
        headline=presented.headline,
        strength=audit.evidence.scale_word if examined else "",
        supports=("mark" if audit.evidence.log10_e >= 0 else "no-mark") if examined else "",
        sentences=presented.answer if internal else (),
        marks=tuple(
            Mark(
                places=tuple(Place(start=p.start, end=p.end) for p in mark.passages),
                fields=_fields(mark, None if internal else release),
            )
            for mark in audit.finding.marks
        ),
        record=zlib.compress(record.encode()) if internal else None,
        digest=digested(json.loads(record)) if internal else None,
        payloads=tuple(m.payload.bits for m in audit.finding.marks if m.payload.bits is not None),
    )


def policy_facts(policy: dict[str, object]) -> dict[str, Any]:
    """Return what names a policy."""
    digest = sha256(canonical(policy))
    return {"name": policy.get("name"), "version": policy.get("version"), "sha256": digest}


def _fields(mark: NamedMark, release: tuple[str, ...] | None) -> dict[str, str]:
    return {
        one.name: one.text
        for one in mark.payload.fields
        if one.identified and (release is None or one.name in release)
    }
