"""A finding for people who read one sentence: no symbols, two possibilities that are named.

The exact wording, with its numbers and what chance can do, are the record's own sentences.
"""

from __future__ import annotations

from pura.record.audit import Audit
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentence import Sentence
from pura.words.sentences import fill, say


def keys_named(audit: Audit) -> str:
    """Return the names of the keys that were tried; where one has none, its fingerprint."""
    return ", ".join(key.label or key.fingerprint for key in audit.keys)


def config_named(audit: Audit) -> str:
    """Return the name of the profile, or its fingerprint."""
    return audit.profile.name or audit.profile.fingerprint


def _config_once(audit: Audit) -> str:
    """Return the name of the profile with its fingerprint, which stands there once."""
    profile = audit.profile
    named = f"{profile.name} ({profile.fingerprint})"
    return named if profile.name else profile.fingerprint


def answer(audit: Audit, language: str) -> str:
    """Return what the findings say, in one sentence or two.

    Args:
        audit: The record.
        language: ``en`` or ``de``.
    """
    first = fill(audit.sentences[0], language) if audit.sentences else ""
    if audit.verdict not in ("mark", "indication"):
        return first
    evidence = audit.evidence
    values: dict[str, str | int | float] = {
        "capped": int(evidence.capped),
        "lr": evidence.lr_capped,
        "key": keys_named(audit),
        "config": config_named(audit),
    }
    said = fill(Sentence(key="plain.for-h1", values=values), language)
    return said if audit.verdict == "mark" else f"{said} {first}"


def propositions(audit: Audit, language: str) -> tuple[str, str]:
    """Return the two propositions that a likelihood ratio compares, H1 and H2, written out."""
    values: dict[str, str | int | float] = {
        "key": audit.key.fingerprint,
        "config": _config_once(audit),
    }
    key = "proposition.h1"
    if audit.profile.foreign is not None:
        key = "proposition.h1-foreign"
        values["name"] = FOREIGN_NAMES[audit.profile.scheme]
    first = fill(Sentence(key=key, values=values), language)
    return first, say("proposition.h2", language)


def not_a_probability(language: str) -> str:
    """Return what the number of :func:`answer` is not; it stands with that sentence."""
    return say("plain.n1", language)
