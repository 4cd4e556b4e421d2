"""What a detector tells of a finding: one table of values, and what each role is told of them.

The service answers with these values, a statement signs exactly them, and who checks a statement
reads them again. A value more is a row more of :data:`VALUES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple

from pura.base.catalogue import catalogue
from pura.base.json_text import canonical, sha256
from pura.record.finding import Finding
from pura.words.sentences import fill, findings

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
        payloads: Those of its marks that are identified; manifests are found by them.
    """

    role: Role
    verdict: str
    finding: Finding | None = None
    policy: dict[str, Any] | None = None
    release: tuple[str, ...] = ()
    payloads: tuple[str, ...] = ()

    def told(self, language: str) -> dict[str, Any]:
        """Return the answer as JSON in a language."""
        if self.finding is None:
            return {name: row.public(self, language) for name, row in VALUES.items() if row.public}
        internal = self.role is Role.INTERNAL
        return {
            name: (row.internal if internal and row.internal else row.trusted)(
                self.finding, self, language
            )
            for name, row in VALUES.items()
        }


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


def _strength(finding: Finding, _: Answer, language: str) -> str:
    # Records hold the word of the scale in English.
    return findings().retold("scale", finding.strength, language) if finding.strength else ""


def _meaning(finding: Finding, _: Answer, language: str) -> str:
    words = " ".join(fill(one, language) for one in finding.answer)
    return words or say(f"answer.{finding.verdict}-means", language)


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


def _shown_strength(word: str, answer: dict[str, Any], language: str) -> str:
    side = answer["supports"]
    if not word or side not in ("mark", "no-mark"):
        return word
    return catalogue("report-check").fill(f"statement.for-{side}", language, {"word": word})


class Told(NamedTuple):
    """A value of an answer, and what each role is told for it.

    Attributes:
        shape: What it is, see :func:`~pura.base.decoder.hold`; with what it means.
        trusted: What trusted askers are told.
        internal: What internal ones are; None: the same.
        public: What the public is; None: nothing.
        shown: How a person reads it who checks a statement; None: beside another, or not at all.
    """

    shape: Any
    trusted: Callable[[Finding, Answer, str], Any]
    internal: Callable[[Finding, Answer, str], Any] | None = None
    public: Callable[[Answer, str], Any] | None = None
    shown: Callable[[Any, dict[str, Any], str], str] | None = lambda value, *_: str(value)


POLICY: Final = {"name": str, "version": int, "sha256": (str, "Of its canonical JSON (RFC 8785).")}
_MARK: Final = {
    "places": (
        [{"start": (int, "First character."), "end": (int, "Character after the last.")}],
        "Where it stands.",
    ),
    "fields": (dict[str, str], "Fields of its payload that are identified and released."),
}
VALUES: Final[dict[str, Told]] = {
    "verdict": Told(
        (
            Literal[
                "marked",
                "no-statement",
                "mark",
                "indication",
                "no-mark",
                "insufficient",
                "not-examinable",
            ],
            "The public: marked or no-statement. Others: the outcome.",
        ),
        lambda finding, *_: finding.verdict,
        public=lambda answer, _: answer.verdict,
        shown=None,
    ),
    "headline": Told(
        (str, "The same in a few words."),
        lambda finding, _, language: finding.title(language),
        public=lambda answer, language: say(f"answer.{answer.verdict}", language),
    ),
    "strength": Told(
        (str, "How strong the evidence is, in words."), _strength, shown=_shown_strength
    ),
    "supports": Told(
        (Literal["", "mark", "no-mark"], "What it supports."),
        lambda finding, *_: finding.supports,
        shown=None,
    ),
    "meaning": Told(
        (str, "What it means, and what it does not."),
        # The sentences have numbers, which trusted askers are not told.
        lambda finding, _, language: say(f"answer.{finding.verdict}-means", language),
        internal=_meaning,
        public=lambda answer, language: say(f"answer.{answer.verdict}-means", language),
    ),
    "sha256": Told(
        (str, "Of the bytes that were asked about."), lambda finding, *_: finding.sha256
    ),
    "created": Told((str, "When it was read, ISO 8601."), lambda finding, *_: finding.created),
    "policy": Told(
        (POLICY, "The decision rule."),
        lambda _, answer, *__: answer.policy,
        shown=lambda value, *_: "{name} {version}, SHA-256 {sha256}".format_map(value),
    ),
    "marks": Told(
        ([_MARK], "The marks."),
        lambda finding, answer, _: _marks(finding, answer.release.__contains__),
        internal=lambda finding, *_: _marks(finding, lambda name: True),
        shown=None,
    ),
}
"""The values of an answer, in their order. Of a record, which internal askers get as well, the
digest is signed (:func:`digested`)."""
