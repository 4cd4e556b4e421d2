"""What is answered, by role: from the record of an audit to what the asker gets of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pura.base.catalogue import catalogue
from pura.base.json_text import canonical, sha256
from pura.record.finding import Finding
from pura.record.json_io import to_json
from pura.report.statement import digested
from pura.serve.settings import Protection
from pura.serve.tokens import Role
from pura.usecases.audits import Audited
from pura.verdict.policy import Policy
from pura.words.sentences import Sentence, fill, findings

MARKED: Final = "marked"
NO_STATEMENT: Final = "no-statement"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one asker is answered; it is in no language yet.

    Attributes:
        role: Whose answer it is.
        verdict: For the public ``marked`` or ``no-statement``; for others the outcome.
        finding: What was found; None for the public, who is told the verdict alone.
        policy: Name and version of the policy, and SHA-256 of its canonical JSON.
        release: Fields of payloads that a trusted asker is told.
        record: The whole record, JSON, packed; None unless the asker is internal.
        digest: What stands for the record in a statement.
    """

    role: Role
    verdict: str
    finding: Finding | None = None
    policy: dict[str, Any] | None = None
    release: tuple[str, ...] = ()
    record: bytes | None = None
    digest: dict[str, str] | None = None

    @property
    def payloads(self) -> tuple[str, ...]:
        """Payloads of its marks that are identified; manifests are found by them."""
        marks = () if self.finding is None else self.finding.marks
        return tuple(m.payload.bits for m in marks if m.payload.bits is not None)

    def shown(self, language: str) -> dict[str, Any]:
        """Return the answer as JSON in a language, without its record."""
        if self.finding is None:
            return {name: tell(self, language) for name, tell in _TOLD_THE_PUBLIC.items()}
        told = _TOLD[self.role]
        return {name: tell(self.finding, self, language) for name, tell in told.items()}

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
    internal = role is Role.INTERNAL
    record = to_json(found.audit) if internal else ""
    return Answer(
        role=role,
        verdict=found.audit.verdict,
        finding=found.audit.finding,
        policy=policy_facts(found.audit.policy),
        release=release,
        record=zlib.compress(record.encode()) if internal else None,
        digest=digested(json.loads(record)) if internal else None,
    )


def policy_facts(policy: dict[str, object]) -> dict[str, Any]:
    """Return what names a policy."""
    digest = sha256(canonical(policy))
    return {"name": policy.get("name"), "version": policy.get("version"), "sha256": digest}


def _meaning(told: Sequence[Sentence], verdict: str, language: str) -> str:
    words = " ".join(fill(one, language) for one in told)
    return words or say(f"answer.{verdict}-means", language)


def _marks(finding: Finding, released: Callable[[str], bool]) -> list[dict[str, Any]]:
    return [
        {
            "places": [{"start": p.start, "end": p.end} for p in mark.passages],
            "fields": {
                one.name: one.text
                for one in mark.payload.fields
                if one.identified and released(one.name)
            },
        }
        for mark in finding.marks
    ]


_TOLD_THE_PUBLIC: Final[dict[str, Callable[[Answer, str], Any]]] = {
    "verdict": lambda answer, _: answer.verdict,
    "headline": lambda answer, language: say(f"answer.{answer.verdict}", language),
    "meaning": lambda answer, language: say(f"answer.{answer.verdict}-means", language),
}
_TOLD_TRUSTED: Final[dict[str, Callable[[Finding, Answer, str], Any]]] = {
    "verdict": lambda finding, *_: finding.verdict,
    "headline": lambda finding, _, language: finding.title(language),
    "strength": lambda finding, _, language: say_scale(finding.strength, language),
    "supports": lambda finding, *_: finding.supports,
    # The sentences have numbers, which trusted askers are not told.
    "meaning": lambda finding, _, language: _meaning((), finding.verdict, language),
    "sha256": lambda finding, *_: finding.sha256,
    "created": lambda finding, *_: finding.created,
    "policy": lambda _, answer, *__: answer.policy,
    "marks": lambda finding, answer, _: _marks(finding, answer.release.__contains__),
}
_TOLD: Final = {
    Role.TRUSTED: _TOLD_TRUSTED,
    Role.INTERNAL: _TOLD_TRUSTED
    | {
        "meaning": lambda finding, _, language: _meaning(finding.answer, finding.verdict, language),
        "marks": lambda finding, *_: _marks(finding, lambda name: True),
    },
}
"""What each role is told of a finding, by name; of a finding the public is told the verdict."""
