"""What the attacks are called by people, and how two texts differ, marked."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence

from pura.record.alignment import Kind, align
from pura.usecases.stress import Try
from pura_audit.platform.i18n import decimal, filled, translate
from pura_audit.theme.theme import Theme
from pura_audit.widgets.text_layout import safe_text


def attack_title(name: str) -> str:
    """Return what an attack does, in a few words."""
    return {
        "substitute": translate("Stress", "Random tokens in the place of others"),
        "substitute-plausible": translate("Stress", "Likely tokens in the place of others"),
        "insert": translate("Stress", "Random tokens put in"),
        "delete": translate("Stress", "Tokens left out"),
        "synonyms": translate("Stress", "Synonyms"),
        "typos": translate("Stress", "Typing errors"),
        "case": translate("Stress", "Capital and small letters"),
        "punctuation": translate("Stress", "Punctuation"),
        "spelling": translate("Stress", "British and American spelling"),
        "contractions": translate("Stress", "Contractions"),
        "office": translate("Stress", "Typography of office programs"),
        "homoglyphs": translate("Stress", "Letters that only look the same"),
        "zero-width": translate("Stress", "Invisible characters"),
        "sentence-shuffle": translate("Stress", "Sentences in another order"),
        "copy-paste": translate("Stress", "A passage in somebody else’s text"),
        "paste-spans": translate("Stress", "Several passages in somebody else’s text"),
        "truncate": translate("Stress", "Only the beginning is kept"),
        "splice": translate("Stress", "Sentences of somebody else in between"),
        "smoothing": translate("Stress", "Smoothing by another model"),
        "paraphrase": translate("Stress", "A model writes it anew"),
        "dipper": translate("Stress", "DIPPER, or a model in its place"),
        "back-translation": translate("Stress", "Translated and back"),
        "sira": translate("Stress", "SIRA: telling words are written anew"),
        "rlcracker": translate("Stress", "RLCracker: the best of several rewrites"),
    }.get(name, name)


def outcome_sentence(attack: str, tries: Sequence[Try], bits: int) -> str:
    """Say in a sentence what the payload survived.

    Args:
        attack: What was done, in words.
        tries: The text as it is, and after each attack.
        bits: Of the payload.
    """
    hit = sorted((one for one in tries if one.damage is not None), key=lambda o: o.strength or 0)
    kept = list(itertools.takewhile(lambda one: one.found.outcome.exact_match, hit))
    if not hit:
        return ""
    if not tries[0].found.outcome.exact_match:
        words = translate(
            "Stress", "Unchanged already, the text gives only {right:count} of {all:count} bits."
        )
        return filled(words, right=_right(tries[0], bits), all=bits)
    if kept:
        survives = translate(
            "Stress",
            "The payload survives “{attack:text}”{at:text}: {all:count} of {all:count} bits.",
        )
        upto = translate("Stress", " up to {share:text}") if len(hit) > 1 else _at()
        parts = [filled(survives, attack=attack, at=_strength(upto, kept[-1]), all=bits)]
    else:
        parts = []
    if len(kept) < len(hit):
        lost = hit[len(kept)]
        words = translate(
            "Stress",
            "It does not survive “{attack:text}”{at:text}: {right:count} of {all:count} bits "
            "are right.",
        )
        right = _right(lost, bits)
        parts.append(filled(words, attack=attack, at=_strength(_at(), lost), right=right, all=bits))
    return " ".join(parts)


def _at() -> str:
    return translate("Stress", " at {share:text}")


def _strength(words: str, one: Try) -> str:
    if one.strength is None:
        return ""
    share = f"{decimal(100 * one.strength, 0)}\N{NO-BREAK SPACE}%"
    return filled(words, share=share)


def _right(one: Try, bits: int) -> int:
    return round(one.found.outcome.exact_bits * bits)


def marked_difference(before: str, after: str, theme: Theme) -> str:
    """Return the second text as HTML: what was taken out struck, what was put in underlined.

    Args:
        before: The text as it was.
        after: The text as it is.
        theme: Its colours; line and ink say the same as the colour.
    """
    lost = f"color:{theme.colour('against').name()};text-decoration:line-through"
    put = f"color:{theme.colour('support').name()};text-decoration:underline"
    parts = []
    for pair in align(before, after).pairs:
        gone, come = _escaped(before[slice(*pair.left)]), _escaped(after[slice(*pair.right)])
        if pair.kind is Kind.SAME:
            parts.append(come)
            continue
        if gone:
            parts.append(f"<span style='{lost}'>{gone}</span>{' ' if come.strip() else ''}")
        if come:
            parts.append(f"<span style='{put}'>{come}</span>")
    return f"<div style='white-space:pre-wrap'>{''.join(parts)}</div>"


def _escaped(piece: str) -> str:
    lines = piece.split("\n")
    return html.escape("\n".join(safe_text(line) for line in lines))
