"""One row of the queue: a text, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from pura.caselog import CaseStanding
from pura.documents import Document
from pura.record.audit import Audit
from pura.record.finding import Finding
from pura.scheme import Profile
from pura.verdict.expect import language_of
from pura_audit.jobs.outcome import Failure, Progress
from pura_audit.session.choices import KeyChoice


class ItemState(StrEnum):
    """Where a row stands."""

    LOADING = "loading"
    READY = "ready"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


@dataclass(kw_only=True, eq=False)
class Item:
    """A row; lives in the window's thread only.

    Attributes:
        number: Unique within the run.
        name: What people call it.
        path: The file, or None for pasted text.
        part: The part of the file that it is alone; None where all that the file holds is wanted.
        document: The text, once it is read.
        noted: Characters of the text when it was last read, as an earlier run noted them.
        noted_digest: The digest of the text, the same way.
        prompt: The known prompt, or "".
        several: The prompt is a list of candidates, one a line.
        key: The key to use instead of the chosen one (samples bring their own).
        profile: The profile to use instead of the chosen one.
        state: Where it stands.
        progress: While it runs.
        looks: Tokens read and log10 of the evidence, at each look while it runs.
        wanted: It is audited as soon as it has been read.
        sample: It is the sample text.
        elsewhere: Its audit was done elsewhere and only opened here.
        audit: When it is done and its record is in memory.
        finding: The finding as the list keeps it, when it is done.
        standing: Where the finding stands in the case log; None while it stands nowhere.
        report: The report that was last written of it in this run.
        failure: When it failed, could not be examined, or could not be kept.
    """

    number: int
    name: str
    path: Path | None = None
    part: str | None = None
    document: Document | None = None
    noted: int = 0
    noted_digest: str = ""
    prompt: str = ""
    several: bool = False
    key: KeyChoice | None = None
    profile: Profile | None = None
    state: ItemState = ItemState.LOADING
    progress: Progress | None = None
    looks: list[tuple[int, float]] = field(default_factory=list)
    wanted: bool = False
    sample: bool = False
    elsewhere: bool = False
    audit: Audit | None = None
    finding: Finding | None = None
    standing: CaseStanding | None = None
    report: Path | None = None
    failure: Failure | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the text, hex; "" as long as nobody has read it."""
        return self.document.digest if self.document is not None else self.noted_digest

    @property
    def runnable(self) -> bool:
        """Whether an audit of it can be asked for; a file without a text is read again for it."""
        here = self.document is not None or self.path is not None
        return here and self.state is not ItemState.LOADING and not self.active

    @property
    def unkept(self) -> bool:
        """Whether its finding is in memory alone."""
        return self.audit is not None and self.standing is None and not self.elsewhere

    @property
    def examined(self) -> bool:
        """Whether there is a finding about its text: not of what could not be examined."""
        done = self.state is ItemState.DONE
        return done and (self.finding is None or self.finding.verdict != "not-examinable")

    @property
    def shown(self) -> Audit | None:
        """The audit to show: the last one, also while the text is audited again."""
        return self.audit if self.state is ItemState.DONE or self.active else None

    @property
    def active(self) -> bool:
        """Whether it waits for the model or is being read by it."""
        return self.state in (ItemState.WAITING, ItemState.RUNNING)


def listed(audit: Audit) -> Finding:
    """Return what the list keeps of a finding, with the language that the text looks like."""
    return replace(audit.finding.brief(), language=language_of(audit.text or ""))
