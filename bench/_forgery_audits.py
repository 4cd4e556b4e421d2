"""Audits of the study of forgeries, each done once: records are stored by what was audited."""

from __future__ import annotations

import gzip
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pura
from pura.base.json_text import canonical, sha256
from pura.decode.likelihood import default_model
from pura.record.audit import Audit
from pura.record.json_io import from_json, to_json
from pura.scheme import Profile, SecretKey
from pura.verdict.policy import Policy

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


class Audits:
    """A folder of records.

    Args:
        folder: Made when it is not there.
        verifier: Name of the reading model; records of two models do not meet.
    """

    def __init__(self, folder: Path, verifier: str = "same") -> None:
        self._folder = folder / f"audits-{verifier}"
        self._folder.mkdir(parents=True, exist_ok=True)

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
                policy=Policy(),
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
