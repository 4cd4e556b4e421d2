"""What each role is told of a finding.

The service answers with the values of :data:`~pura.record.finding.VALUES` that are told, a
statement signs exactly them, and who checks a statement reads them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pura.base.catalogue import catalogue
from pura.base.json_text import canonical, sha256
from pura.record.finding import VALUES, AnswerValue, Finding
from pura.scheme.identity import MarkIdentity

MARKED: Final = "marked"
NO_STATEMENT: Final = "no-statement"


class Role(StrEnum):
    """How much of a finding is answered."""

    PUBLIC = "public"
    TRUSTED = "trusted"
    INTERNAL = "internal"
    PUBLISHER = "publisher"  # asks about no text: publishes manifests


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one asker is answered; it is in no language yet.

    Attributes:
        role: Whose answer it is.
        verdict: For the public ``marked`` or ``no-statement``; for others the outcome.
        finding: What was found; None for the public, who is told the verdict alone.
        policy: Name and version of the policy, and SHA-256 of its canonical JSON.
        release: Fields of payloads that a trusted asker is told.
        marks: Those of its marks whose payload is identified; manifests are found by them.
        draft: Anyone can know one of the keys. It is told to the public as well, who is told no
            other warning: which of them hold would say more of the text than the one word.
    """

    role: Role
    verdict: str
    finding: Finding | None = None
    policy: dict[str, Any] | None = None
    release: tuple[str, ...] = ()
    marks: tuple[MarkIdentity, ...] = ()
    draft: bool = False

    def told(self, language: str) -> dict[str, Any]:
        """Return the answer as JSON in a language."""
        rows, found = answer_values(), self.finding
        if found is None:
            public = {
                n: row.public(self.verdict, language) for n, row in rows.items() if row.public
            }
            if self.draft:
                public["meaning"] = f"{say('answer.draft', language)} {public['meaning']}"
            return public
        released = None if self.role is Role.INTERNAL else self.release

        def value(name: str, row: AnswerValue) -> Any:
            if name == "policy":
                return self.policy
            return row.told(found, released, language) if row.told else VALUES[name].of(found)

        return {name: value(name, row) for name, row in rows.items()}


POLICY: Final = {"name": str, "version": int, "sha256": (str, "Of its canonical JSON (RFC 8785).")}
_POLICY: Final = AnswerValue(
    (POLICY, "The decision rule."),
    shown=lambda value, *_: "{name} {version}, SHA-256 {sha256}".format_map(value),
)
_ORDER: Final = (
    *("verdict", "headline", "strength", "supports", "meaning", "sha256", "created", "policy"),
    "marks",
)
"""As answers have always had them; what is new comes behind."""


def answer_values() -> dict[str, AnswerValue]:
    """Return what is told, in its order: values of the finding, and the policy.

    Of a record, which internal askers get as well, the digest is signed (:func:`digested`).
    """
    rows = {name: row.told for name, row in VALUES.items() if row.told is not None}
    rows["policy"] = _POLICY
    return {name: rows[name] for name in (*_ORDER, *(n for n in rows if n not in _ORDER))}


def say(key: str, language: str, **values: Any) -> str:
    """Return a text of the volume ``serve``."""
    return catalogue("serve").fill(key, language, values)


def policy_facts(policy: dict[str, object]) -> dict[str, Any]:
    """Return what names a policy."""
    digest = sha256(canonical(policy))
    return {"name": policy.get("name"), "version": policy.get("version"), "sha256": digest}


def digested(record: object) -> dict[str, str]:
    """Return what stands for a record in what is signed.

    Raises:
        ValueError: It has no canonical form.
    """
    return {"sha256": sha256(canonical(record))}
