"""The card of a finding in a notebook: the answer first, all else folded away."""

from __future__ import annotations

import html
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from pura.record.evidence import TokenEvidence
from pura.record.finding import Finding, rendered
from pura.words.sentences import findings, say

_TONES: Final = {"mark": "#1F7A55", "indication": "#8A6100"}
"""Ink of the edge by outcome; others get the neutral one."""
_NEUTRAL: Final = "#5A6576"
_MOST_LETTERS: Final = 4000
"""Characters of the text that are shown; a notebook saves what it shows."""
_LEVELS: Final = 4
"""Steps of the shading: more could not be told apart."""
_DARKEST: Final = 0.40
"""Opacity of the shading of a token that is certainly marked; letters stay legible on it, on light
and on dark ground."""
_BOX: Final = (
    "border-left:4px solid {tone};padding:.4em .9em;margin:.3em 0;max-width:52em;line-height:1.45"
)
_TEXT: Final = (
    "white-space:pre-wrap;overflow-wrap:anywhere;max-height:16em;overflow:auto;"
    "border:1px solid #8884;border-radius:4px;padding:.5em .7em;margin:.4em 0"
)


def card_html(
    finding: Finding, text: str | None, tokens: TokenEvidence, language: str = "en"
) -> str:
    """Return a finding as a card: headline, strength, for whom, the text shaded, the rest folded.

    Args:
        finding: What is said.
        text: The text as found; None where the record leaves it out.
        tokens: What is known of its tokens.
        language: ``en`` or ``de``.
    """
    tone = _TONES.get(finding.outcome, _NEUTRAL)
    title = html.escape(f"{finding.name}: {finding.title(language)}")
    parts = [f'<p style="margin:.2em 0"><b style="font-size:1.1em">{title}</b></p>']
    if finding.strength:
        strength = findings().retold("scale", finding.strength, language)
        key = "card.strength-mark" if finding.log10_e > 0 else "card.strength-no-mark"
        parts.append(_paragraph(say(key, language, word=strength)))
    parts += [_paragraph(line) for line in rendered(finding.answer, language)]
    parts += [_paragraph(line) for lines in finding.mark_lines(language) for line in lines]
    parts += [_paragraph(line) for line in rendered(finding.qualifications, language)]
    if text:
        parts.append(f'<div style="{_TEXT}">{"".join(_shaded(finding, text, tokens))}</div>')
        key = "card.shading" if finding.marks else "card.no-shading"
        parts.append(f"<p><small>{html.escape(say(key, language))}</small></p>")
    summary = html.escape(say("card.details", language))
    parts.append(f"<details><summary>{summary}</summary>{finding.to_html(language)}</details>")
    box = _BOX.format(tone=tone)
    return f'<div lang="{language}" style="{box}">{"".join(parts)}</div>'


def _paragraph(text: str) -> str:
    return f'<p style="margin:.2em 0">{html.escape(text)}</p>'


def _shaded(finding: Finding, text: str, tokens: TokenEvidence) -> Iterator[str]:
    """Yield the text in pieces, each shaded by how surely its tokens are marked."""
    excerpt = text[:_MOST_LETTERS]
    levels = np.zeros(len(excerpt) + 1, dtype=np.int64)
    if finding.marks:
        marked = np.clip(np.nan_to_num(tokens.marked), 0.0, 1.0)
        steps = np.rint(marked * _LEVELS).astype(np.int64)
        for (start, end), step in zip(tokens.spans.tolist(), steps.tolist(), strict=True):
            levels[start : min(end, len(excerpt))] = step
    edges = np.flatnonzero(np.diff(levels[:-1])) + 1 if excerpt else np.zeros(0, dtype=np.int64)
    bounds = [0, *edges.tolist(), len(excerpt)]
    for start, end in pairwise(bounds):
        piece, level = html.escape(excerpt[start:end]), int(levels[start])
        opacity = _DARKEST * level / _LEVELS
        ground = f"background:rgba(31,122,85,{opacity:.2f})"
        yield f'<span style="{ground}">{piece}</span>' if level else piece
    if len(text) > len(excerpt):
        yield " …"
