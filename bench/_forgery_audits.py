"""Audits of the study of forgeries, each done once: records are stored by what was audited."""

from __future__ import annotations

import gzip
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pura
from pura.base.json_text import canonical, sha256
from pura.detect.decode.fit import fit_of
from pura.detect.decode.likelihood import default_model
from pura.detect.verdict.attribution import withhold
from pura.detect.verdict.policy import Policy
from pura.record.audit import Audit
from pura.record.evidence import FitFacts, MarkFacts
from pura.record.json_io import from_json, to_json
from pura.scheme import Payload, Profile, Schedule, SecretKey, encode

EDITION: Final = 1
"""Counts up when the program measures something else of the same text: all is audited again."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A text and what it is audited with.

    Attributes:
        text: Its characters: an auditor does not have the forger's tokens.
        key: The key.
        profile: The profile.
    """

    text: str
    key: SecretKey
    profile: Profile

    @property
    def digest(self) -> str:
        """Name of the record in the cache."""
        parts = {
            "edition": EDITION,
            "text": self.text,
            "key": self.key.fingerprint,
            "profile": self.profile.to_dict(),
            "likelihood": default_model().fingerprint,
        }
        return sha256(canonical(parts))


@dataclass(frozen=True, kw_only=True)
class Naming:
    """Whether a text names somebody.

    Attributes:
        mark: A mark was found.
        before: It would name somebody without the rule of ``detect/verdict/attribution.py``.
        named: It names somebody.
        pieces: It does not since it is put together from pieces.
    """

    mark: bool
    before: bool
    named: bool
    pieces: bool


def naming_of(audit: Audit, use: str) -> Naming:
    """Judge a stored record by the present rule.

    Records are kept with their payloads, so that a change of the rule audits nothing again.

    Args:
        audit: A record made without the rule, of a profile that does not say its use.
        use: How payloads are used, ``answer`` or ``recipient``.
    """
    if audit.verdict != "mark":
        return Naming(mark=False, before=False, named=False, pieces=False)
    marks = sorted(audit.marks, key=lambda one: [p.first_token for p in one.passages])
    judged = withhold(
        [replace(one, fit=_fit(audit, one)) for one in marks],
        replace(audit.profile, payload_use=use),
        Policy(),
    )
    named = [bool(one.payload.identified or one.payload.withheld) for one in audit.named_marks]
    reasons = [one.withheld for one in judged]
    return Naming(
        mark=True,
        before=any(named),
        named=any(one and not why for one, why in zip(named, reasons, strict=True)),
        pieces="pieces" in reasons,
    )


def _fit(audit: Audit, mark: MarkFacts) -> FitFacts | None:
    """Return how a mark fits, from the steps of its record; None for a mark of another key,
    and where the record holds no payload."""
    if mark.key != audit.key.fingerprint or not mark.bits:
        return None
    steps = audit.steps
    plan = Schedule(
        token=steps.token,
        arity=steps.arity,
        phase=steps.phase,
        index=steps.index,
        gate=audit.tokens.gate,
    )
    ranges = [(one.first_token, one.last_token) for one in mark.passages]
    codeword = encode(Payload(text=mark.bits), audit.profile)
    found = fit_of(plan, steps.llr_nats, codeword, ranges)
    return None if found is None else FitFacts(**vars(found))


class Audits:
    """A folder of records.

    Args:
        folder: Made when it is not there.
        verifier: Name of the reading model; records of two models do not meet.
    """

    def __init__(self, folder: Path, verifier: str = "same") -> None:
        self._folder = folder / f"audits-{verifier}"
        self._folder.mkdir(parents=True, exist_ok=True)

    def __contains__(self, question: Question) -> bool:
        """Whether the record of a question is there."""
        return self._path(question).exists()

    def of(self, questions: Sequence[Question], model: Any, what: str) -> list[Audit]:
        """Return the record of each question, and audit what is missing.

        Args:
            questions: Texts of one cell.
            model: The reading model; a function that loads it, since it may not be needed.
            what: Name of the cell, for the progress.
        """
        missing = [q for q in questions if not self._path(q).exists()]
        start = time.perf_counter()
        groups: dict[tuple[str, str], list[Question]] = {}
        for question in missing:
            name = (question.key.fingerprint, question.profile.fingerprint)
            groups.setdefault(name, []).append(question)
        for group in groups.values():
            found = pura.verify_many(
                [question.text for question in group],
                key=group[0].key,
                profile=group[0].profile,
                model=model(),
                # A single step that fits is enough here: what the rule withholds is judged later,
                # from the record, which has to hold the payload for that.
                policy=Policy(name_ratio=-10.0, name_per_step=0.0),
            )
            for question, outcome in zip(group, found, strict=True):
                if outcome.error is not None:
                    raise outcome.error
                self._store(question, outcome.audit)
        if missing:
            seconds = time.perf_counter() - start
            print(f"audited {what}: {len(missing)} texts in {seconds:.0f} s", flush=True)
        return [self._load(question) for question in questions]

    def _path(self, question: Question) -> Path:
        return self._folder / f"{question.digest}.json.gz"

    def _store(self, question: Question, audit: Audit | None) -> None:
        assert audit is not None
        path = self._path(question)
        part = path.with_suffix(".part")
        part.write_bytes(gzip.compress(to_json(audit).encode(), compresslevel=3))
        part.replace(path)

    def _load(self, question: Question) -> Audit:
        return from_json(gzip.decompress(self._path(question).read_bytes()))
