"""Digests, how to check, the text, the glossary, the sealed annex."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from pura.base import numerals
from pura.record.audit import Audit
from pura.record.findings_digest import findings_digest
from pura.report.blocks import Block, facts, heading, note, paragraph
from pura.report.glyphs import printable
from pura.report.hiding import BLOCK
from pura.report.labels import Labels
from pura.report.request import FULL, OMITTED, ReportRequest

# log10 evidence from which a token has the next darker shade, as in the window.
_STEPS = (0.02, 0.15, 0.4, 0.8)
HIDDEN = 9
MAX_RUNS = 20_000  # a longer text is printed without shades


def integrity(
    audits: Sequence[Audit],
    labels: Labels,
    name: str,
    sha256: str,
    size: int,
    annex: str,
    log: str,
) -> tuple[Block, ...]:
    """Return the digests, and how they are checked without our program."""
    rows = [
        (labels("integrity.record", name=name), sha256),
        (labels("integrity.size"), labels("bytes", n=numerals.count(size, labels.language))),
    ]
    for audit in audits:
        rows += [
            (labels("integrity.audit"), audit.id),
            (labels("integrity.findings"), findings_digest(audit)),
        ]
    examined = any(audit.verdict != "not-examinable" for audit in audits)
    if annex:
        rows.append((labels("integrity.annex"), annex))
    rows += [
        (labels("integrity.log"), printable(log) or labels("integrity.log.none")),
        (labels("integrity.signature"), labels("integrity.signature.text")),
        (labels("integrity.time"), labels("integrity.time.text")),
    ]
    return (
        facts(rows),
        paragraph(labels("integrity.check", name=name)),
        *([paragraph(labels("integrity.repeat"))] if examined else []),
    )


def annexes(
    audits: Sequence[Audit], request: ReportRequest, labels: Labels, annex: str
) -> tuple[Block, ...]:
    """Return the text as far as it is shown, the glossary, and where the sealed annex is."""
    blocks = [heading(labels("annex.text"))]
    for place, audit in enumerate(audits, start=1):
        if len(audits) > 1:
            name = printable(audit.input.name)
            blocks.append(paragraph(labels("item.n", n=place, name=name)))
        if audit.text is None:
            blocks.append(note(labels("annex.text.omitted")))
            continue
        shaded = audit.verdict == "mark" and audit.tokens.ids.size <= MAX_RUNS
        plain = request.text == FULL and not shaded
        mode = request.text if request.text != OMITTED else FULL
        blocks.append(note(labels("annex.text.plain" if plain else f"annex.text.{mode}")))
        blocks.append(Block(kind="text", runs=_runs(audit, shaded=shaded)))
    blocks += [heading(labels("annex.glossary")), note(labels("glossary"))]
    if annex:
        blocks.append(heading(labels("annex.sealed")))
        blocks.append(paragraph(labels("annex.sealed.text", sha=annex)))
    return tuple(blocks)


def _runs(audit: Audit, *, shaded: bool) -> tuple[tuple[str, int], ...]:
    """Return the text in stretches of one shade; positive supports, negative speaks against."""
    text = audit.text or ""
    shade = np.zeros(len(text), dtype=np.int8)
    if shaded:
        evidence = audit.tokens.log10_evidence
        levels = np.searchsorted(_STEPS, np.abs(evidence), side="right")
        levels = np.where(evidence < 0, -levels, levels)
        for (start, end), level in zip(audit.tokens.spans.tolist(), levels.tolist(), strict=True):
            shade[start:end] = level
    shade[[i for i, char in enumerate(text) if char == BLOCK]] = HIDDEN
    edges = np.flatnonzero(np.diff(shade)) + 1
    bounds = [0, *edges.tolist(), len(text)]
    return tuple(
        (printable(text[a:b]), int(shade[a])) for a, b in itertools.pairwise(bounds) if b > a
    )
