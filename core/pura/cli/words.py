"""An audit in words, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pura.base.catalogue import catalogue
from pura.base.numerals import weight
from pura.record.audit import Audit
from pura.record.finding import said
from pura.record.naming import NamedMark, limits_words
from pura.words.sentences import fill, noted

_CANDIDATES: Final = 5  # of each mark that are printed
Line = tuple[str, str]
"""Words and their style, as :meth:`pura.cli.terminal.Terminal.print` takes them."""


def audit_lines(audit: Audit, language: str, *, explain: bool = True) -> Iterator[Line]:
    """Say the findings: the outcome first, then what supports it, then what weakens it.

    Args:
        audit: The record.
        language: ``en`` or ``de``.
        explain: All that a record says in words; else the outcome in one sentence, the payload
            with its fields, and what weakens it.
    """
    found = audit.finding
    name = " · ".join(filter(None, (audit.input.name, audit.input.part)))
    yield f"{name}: {fill(found.headline, language)}", "bold"
    if explain:
        shown, scale = (*found.compared, *found.wording), found.scale_lines(language)
    else:
        shown, scale = (*found.answer, *found.caveat, *found.beside), []
    for words in said(shown, language):
        yield words, ""
    if scale:
        yield f"{_word('scale', language)}:", ""
        for row in scale:
            yield f"  {row}", ""
    yield from _marks(audit, language, explain=explain)
    if found.cautions:
        yield _word("cautions", language), "bold"
        for words in said(found.cautions, language):
            yield f"- {words}", ""
    for words in said(found.conditions, language):
        yield words, ""
    if explain:
        yield from _facts(audit, language)
    yield "", ""


def _marks(audit: Audit, language: str, *, explain: bool) -> Iterator[Line]:
    """Say of each mark where it stands, and its payload where that is identified."""
    found = audit.finding
    for mark, lines in zip(found.marks, found.mark_lines(language), strict=True):
        for number, line in enumerate(lines):
            yield line, "" if number else "bold"
        if explain:
            yield from _details(audit, mark, language)


def _details(audit: Audit, mark: NamedMark, language: str) -> Iterator[Line]:
    if len(mark.candidates) > 1 and audit.decoder == "exact":
        yield f"{_word('candidates', language)}:", ""
        for candidate in mark.candidates[:_CANDIDATES]:
            yield f"  {candidate.bits}  {weight(candidate.posterior, language)}", ""
    if len(audit.finding.marks) < 2:
        for passage in mark.passages:
            place = audit.finding.place(passage, language)
            yield f"{_word('passages', language)}: {place}", ""
            if words := limits_words(passage, language):
                yield f"  {words}", "dim"


def _facts(audit: Audit, language: str) -> Iterator[Line]:
    evidence = audit.evidence
    key = f"{_word('key', language)} {audit.key.label or ''} {audit.key.fingerprint}"
    device = f"{_word('device', language)} {audit.device.name} ({audit.device.dtype})"
    reason = noted(audit.device.reason, language)
    tokens = f"{audit.input.tokens} {_word('tokens', language)}"
    lines = (
        f"{_word('evidence', language)}: {evidence.log10_e:.1f}",
        f"{tokens}, {evidence.usable} {_word('usable', language)}",
        key.replace("  ", " "),
        *_tried(audit, language),
        f"{_word('model', language)} {audit.model.name} {audit.model.fingerprint}",
        f"{device}. {reason}",
        f"SHA-256 {audit.input.sha256}",
    )
    for line in lines:
        yield line, "dim"


def _tried(audit: Audit, language: str) -> list[str]:
    if len(audit.keys) < 2:
        return []
    names = (f"{key.label or ''} {key.fingerprint}".strip() for key in audit.keys)
    return [f"{_word('tried', language)}: {', '.join(names)}"]


def _word(key: str, language: str) -> str:
    return catalogue("command").fill(f"audit.{key}", language, {})
