"""What the evidence is the mean of: readings, prompts, priors, schemes, windows."""

from __future__ import annotations

from dataclasses import dataclass

from pura.base.decoder import later
from pura.scheme import Profile


@dataclass(frozen=True, kw_only=True)
class ChangeFacts:
    """One kind of typographic substitution that was undone (docs/documents.md).

    Attributes:
        name: Stable name, e.g. ``curly-quotes``.
        count: How often.
    """

    name: str
    count: int


@dataclass(frozen=True, kw_only=True)
class VariantFacts:
    """One reading of the text; all of them count in the evidence.

    Attributes:
        name: ``found``, ``restored``, ``layout``, ``case``, ``ids``, or the name of an alternative
            of the document.
        shown: The record's tokens, bits and passages are of this one.
        text: Its characters; None where they are the record's own text, or it leaves text out.
        characters: Code points.
        tokens: ``L``.
        usable: Steps that carry bits, for the key with the largest evidence.
        log10_e: Mean over the keys, for this reading alone.
        verdict: What the decision rule would make of this reading alone.
        changes: What was undone.
    """

    name: str
    shown: bool
    text: str | None
    characters: int
    tokens: int
    usable: int
    log10_e: float
    verdict: str
    changes: tuple[ChangeFacts, ...]


@dataclass(frozen=True, kw_only=True)
class PromptReading:
    """The text as found, read after one of several candidate prompts; all count in the evidence.

    Attributes:
        number: Which candidate, from 1.
        sha256: Of its UTF-8 bytes.
        tokens: Tokens before the text, with template and system prompt.
        log10_e: Mean over the keys, for this reading alone; None where reading had stopped before.
        shown: The record's tokens, bits and passages are of this one.
    """

    number: int
    sha256: str
    tokens: int
    log10_e: float | None
    shown: bool


@dataclass(frozen=True, kw_only=True)
class LimitsFacts:
    """How limits of the payload's fields entered the evidence; the profile holds them.

    Attributes:
        weight: Part of the prior weight that all payloads share; those within share the rest.
        log10_share: log10 of the share of all payloads that is within.
        log10_alike: log10 of the e-value with all payloads alike, over all keys and readings.
        day: What ``today`` in the limits stood for, ISO 8601; empty where none says it. It is part
            of the rule: another day is another rule (docs/evidence.md §3, "Limits as prior").
    """

    weight: float
    log10_share: float
    log10_alike: float
    day: str = later("")


@dataclass(frozen=True, kw_only=True)
class PriorFacts:
    """How the register of issued payloads entered the evidence, as its policy fixed beforehand.

    Attributes:
        version: Which state of the register.
        digest: Digest over its rows, hex.
        date: When it was last changed, ISO 8601; empty when it never was.
        entries: Its payloads of the profile's length.
        weight: Part of the prior weight that they share.
        log10_alike: log10 of the e-value with all payloads alike, over all keys and readings.
        log10_issued: log10 of the e-value of the issued payloads alone.
    """

    version: str
    digest: str
    date: str
    entries: int
    weight: float
    log10_alike: float
    log10_issued: float


@dataclass(frozen=True, kw_only=True)
class SchemeFacts:
    """One scheme that was tried, where not PURA's mark alone was; the evidence is their mean.

    Attributes:
        profile: Names the scheme.
        keys: Fingerprints of its keys; of a mark by others the one that its secret is sealed under.
        log10_e: log10 of its own evidence, the mean over its readings.
        shown: The record's tokens are of this one.
        weighed: A model's probabilities took part in the bets on a mark by others.
    """

    profile: Profile
    keys: tuple[str, ...]
    log10_e: float
    shown: bool
    weighed: bool = later(False, omitted=False)


@dataclass(frozen=True, kw_only=True)
class StopFacts:
    """Where reading was stopped, as the evidence was there.

    Attributes:
        read: Tokens that were read.
        tokens: Tokens of the text.
        log10_e: log10 of the evidence that the policy stops at.
        unread: Further readings of the text that were not begun; each counts as 0.
    """

    read: int
    tokens: int
    log10_e: float
    unread: int


@dataclass(frozen=True, kw_only=True)
class RereadingFacts:
    """Windows of a long text, which may be read a second time with nothing before them.

    Attributes:
        weight: Part of the evidence that all windows share, read or not.
        windows: How many there are, in the form of the text that was read again.
        read: How many were read.
        tokens: Tokens of those.
        log10_first: log10 of what the first readings add to the evidence.
        log10_second: log10 of what the windows add; None where none was read.
        first_token: First token of the window that the findings rest on, whose second reading the
            record's tokens, steps and bits are of; None where they rest on first readings.
        last_token: Its last token, inclusive.
    """

    weight: float
    windows: int
    read: int
    tokens: int
    log10_first: float
    log10_second: float | None = None
    first_token: int | None = None
    last_token: int | None = None
