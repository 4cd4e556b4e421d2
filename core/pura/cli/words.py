"""An audit in words, for a terminal or a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pura.base.numerals import weight
from pura.documents import c2pa
from pura.record.audit import Audit
from pura.words.sentences import fill, title

_LABELS = {
    "en": {
        "evidence": "Evidence (log10 of the likelihood ratio)",
        "payload": "Payload",
        "cautions": "What weakens or limits this",
        "passages": "Passages",
        "tokens": "tokens",
        "usable": "usable positions",
        "key": "Key",
        "tried": "Keys tried; the number is the mean over them",
        "model": "Model",
        "device": "Device",
        "candidates": "Candidates",
        "field": "Field",
    },
    "de": {
        "evidence": "Anhaltspunkte (log10 des Likelihood-Quotienten)",
        "payload": "Nutzlast",
        "cautions": "Was dies abschwächt oder begrenzt",
        "passages": "Passagen",
        "tokens": "Token",
        "usable": "verwertbare Stellen",
        "key": "Schlüssel",
        "tried": "Versuchte Schlüssel; die Zahl ist das Mittel über sie",
        "model": "Modell",
        "device": "Gerät",
        "candidates": "Kandidaten",
        "field": "Feld",
    },
}


def print_audit(console: Console, audit: Audit, language: str) -> None:
    """Print the findings: the outcome first, then what supports it, then what weakens it."""
    words = _LABELS[language]
    name = " · ".join(filter(None, (audit.input.name, audit.input.part)))
    console.print(Text(f"{name}: {title(audit.verdict, language)}", style="bold"))
    for sentence in audit.sentences:
        console.print(Text(fill(sentence, language)))
    if audit.verdict in ("mark", "indication"):
        _payload(console, audit, language)
    if audit.cautions:
        console.print(Text(words["cautions"], style="bold"))
        for sentence in audit.cautions:
            console.print(Text(f"- {fill(sentence, language)}"))
    for sentence in c2pa.sentences(audit.input):
        console.print(Text(fill(sentence, language)))
    _facts(console, audit, words)
    console.print()


def _payload(console: Console, audit: Audit, language: str) -> None:
    words = _LABELS[language]
    console.print(Text(f"{words['payload']}: {audit.payload.bits}", style="bold"))
    for value in audit.payload.fields:
        console.print(Text(f"  {value.name}: {value.text}"))
    if len(audit.candidates) > 1 and audit.decoder == "exact":
        table = Table(words["candidates"], "", box=None, padding=(0, 1))
        for candidate in audit.candidates[:5]:
            table.add_row(Text(candidate.bits), Text(weight(candidate.posterior, language)))
        console.print(table)
    for passage in audit.passages:
        place = f"{passage.start}–{passage.end}"
        console.print(Text(f"{words['passages']}: {place}"))


def _facts(console: Console, audit: Audit, words: dict[str, str]) -> None:
    evidence = audit.evidence
    lines = (
        f"{words['evidence']}: {evidence.log10_e:.1f}",
        f"{audit.input.tokens} {words['tokens']}, {evidence.usable} {words['usable']}",
        f"{words['key']} {audit.key.label or ''} {audit.key.fingerprint}".replace("  ", " "),
        *_tried(audit, words),
        f"{words['model']} {audit.model.name} {audit.model.fingerprint}",
        f"{words['device']} {audit.device.name} ({audit.device.dtype}). {audit.device.reason}",
        f"SHA-256 {audit.input.sha256}",
    )
    for line in lines:
        console.print(Text(line, style="dim"))


def _tried(audit: Audit, words: dict[str, str]) -> list[str]:
    if len(audit.keys) < 2:
        return []
    names = (f"{key.label or ''} {key.fingerprint}".strip() for key in audit.keys)
    return [f"{words['tried']}: {', '.join(names)}"]
