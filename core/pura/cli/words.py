"""An audit in words, for a terminal or a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pura.base.catalogue import catalogue
from pura.base.numerals import weight
from pura.documents import c2pa
from pura.record.audit import Audit
from pura.record.marks import standing
from pura.words.sentences import fill


def print_audit(console: Console, audit: Audit, language: str) -> None:
    """Print the findings: the outcome first, then what supports it, then what weakens it."""
    name = " · ".join(filter(None, (audit.input.name, audit.input.part)))
    console.print(Text(f"{name}: {audit.title(language)}", style="bold"))
    for sentence in audit.sentences:
        console.print(Text(fill(sentence, language)))
    if audit.verdict in ("mark", "indication"):
        _payload(console, audit, language)
    if audit.cautions:
        console.print(Text(_word("cautions", language), style="bold"))
        for sentence in audit.cautions:
            console.print(Text(f"- {fill(sentence, language)}"))
    for sentence in c2pa.sentences(audit.input):
        console.print(Text(fill(sentence, language)))
    _facts(console, audit, language)
    console.print()


def _payload(console: Console, audit: Audit, language: str) -> None:
    console.print(Text(f"{_word('payload', language)}: {audit.payload.bits}", style="bold"))
    for value in audit.payload.fields:
        console.print(Text(f"  {value.name}: {value.text}"))
    if len(audit.candidates) > 1 and audit.decoder == "exact":
        table = Table(_word("candidates", language), "", box=None, padding=(0, 1))
        for candidate in audit.candidates[:5]:
            table.add_row(Text(candidate.bits), Text(weight(candidate.posterior, language)))
        console.print(table)
    several = len(audit.marks) > 1
    for number, passage in standing(audit):
        mark = f" ({_word('mark', language)} {number + 1})" if several else ""
        place = f"{passage.start}–{passage.end}{mark}"
        console.print(Text(f"{_word('passages', language)}: {place}"))


def _facts(console: Console, audit: Audit, language: str) -> None:
    evidence = audit.evidence
    key = f"{_word('key', language)} {audit.key.label or ''} {audit.key.fingerprint}"
    device = f"{_word('device', language)} {audit.device.name} ({audit.device.dtype})"
    # A record holds the English sentence.
    reason = catalogue("command").retold("device", audit.device.reason, language)
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
        console.print(Text(line, style="dim"))


def _tried(audit: Audit, language: str) -> list[str]:
    if len(audit.keys) < 2:
        return []
    names = (f"{key.label or ''} {key.fingerprint}".strip() for key in audit.keys)
    return [f"{_word('tried', language)}: {', '.join(names)}"]


def _word(key: str, language: str) -> str:
    return catalogue("command").fill(f"audit.{key}", language, {})
