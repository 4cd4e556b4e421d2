"""What an audit is told besides key, profile and model, and the texts that it is told of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from pura.base.progress import Checkpoint
from pura.detect.verdict.policy import Policy, default_policy
from pura.detect.verdict.power import PowerTable
from pura.documents import Document, under_rule
from pura.documents.manifests import in_texts
from pura.questions.store import QuestionStore
from pura.record.evidence import SchemeFacts
from pura.record.provenance import ManifestFacts
from pura.record.surroundings import StepReport
from pura.register.store import Register


class Notice(StrEnum):
    """What a person should hear of at once, not only from the record's log."""

    SHORT_OF_MEMORY = "short-of-memory"
    READ_ALONE = "read-alone"


@dataclass(frozen=True, kw_only=True)
class KeyUse:
    """What is on record of the use of the keys of an audit.

    Attributes:
        created: The day on which the oldest of them was created, UTC; None where that is not known
            of each.
        issued: Payloads that were issued under the keys and the profile; None without a register.
        unassigned: Payloads of the profile's length in the register of which nobody knows the key.
        today: The day of the audit, UTC.
    """

    created: dt.date | None
    issued: int | None
    unassigned: int
    today: dt.date

    @property
    def new(self) -> bool:
        """No text that is older than the day of the audit can carry a mark of these keys."""
        return self.created is not None and self.created >= self.today


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an audit may be told besides text, key, profile and model; the same for many texts.

    Attributes:
        decoder: Which payload is reported: ``exact`` or ``paper``.
        policy: The decision rule.
        register: The register of issued payloads, asked after the verdict is fixed.
        questions: The stored questions, after which the text is read as well; None takes none.
        candidates: How many payloads to list.
        keep_text: Whether the record holds the text itself.
        restore: Also read the text as it was before it was handled, where it shows signs of that.
        power_tables: The power tables that the policy names, all of them.
        epochs: ``FROM..TO`` where the keys are those of a range of epochs.
        follow: Tell of the evidence while a long text is read.
        weigh: Let the model read a text that is looked through for marks by others, where its
            probabilities can weigh the bets; it needs its weights then.
        day: What ``today`` stands for in limits of the profile's fields, part of the decision rule;
            None takes :func:`latest_day`.
        use: What is on record of the use of the keys; None where nobody looked.
        trust: Certificates, PEM, whose signatures of manifests are trusted; empty trusts nobody.
        unfinished: Folder for sealed numbers of long texts, from which an audit that was
            interrupted goes on; None keeps none.
    """

    decoder: str = "exact"
    policy: Policy = field(default_factory=default_policy)
    register: Register | None = None
    questions: QuestionStore | None = None
    candidates: int = 32
    keep_text: bool = True
    restore: bool = True
    power_tables: tuple[PowerTable, ...] = ()
    epochs: str = ""
    follow: bool = False
    weigh: bool = False
    day: dt.date | None = None
    use: KeyUse | None = None
    trust: str = ""
    unfinished: Path | None = None


def latest_day() -> dt.date:
    """Return the latest date that any clock shows now: none is further ahead than UTC+14."""
    return (dt.datetime.now(dt.UTC) + dt.timedelta(hours=14)).date()


@dataclass(frozen=True, kw_only=True)
class AuditText:
    """A text to be audited.

    Attributes:
        document: The text and where it came from.
        prompts: The prompt, when it is known, which sharpens the evidence; or several candidates,
            all different.
        ids: Token ids that the generator saved; read beside the text.
        other_schemes: What other schemes say of this text; they count in the mean.
        alone: It is read by itself, since reading it beside others failed.
        manifests: Those of its file and among its characters (:func:`with_manifests`); None where
            nobody has looked.
        notice: Told of what a person should hear of at once.
        log: Gets a report of every step as it ends, also of the one that failed.
    """

    document: Document
    prompts: tuple[str, ...] = ()
    ids: tuple[int, ...] | None = None
    other_schemes: tuple[SchemeFacts, ...] = ()
    alone: bool = False
    manifests: tuple[ManifestFacts, ...] | None = None
    notice: Callable[[Notice], None] = field(default=lambda _: None, repr=False, compare=False)
    log: list[StepReport] = field(default_factory=list, repr=False, compare=False)


def under_policy(texts: Sequence[AuditText], options: Options) -> list[AuditText]:
    """Leave out of texts what the policy leaves out; those that were read so stay as they are."""
    rule = options.policy.leave_out
    return [replace(text, document=under_rule(text.document, rule)) for text in texts]


def with_manifests(
    texts: Sequence[AuditText], options: Options, checkpoint: Checkpoint
) -> list[AuditText]:
    """Look into the manifests of texts of which nobody has; one child looks at those of all."""
    left = [text for text in texts if text.manifests is None]
    asked = [(text.document.text, text.document.encoding) for text in left]
    told = iter(in_texts(asked, options.trust, heartbeat=checkpoint))
    return [
        replace(text, manifests=(*text.document.manifests, *next(told)))
        if text.manifests is None
        else text
        for text in texts
    ]
