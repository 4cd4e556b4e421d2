"""A finding as it is shown: what command, notebook, window and report render.

What is said, and which sentences stand beside the answer wherever that is given alone, is decided
here once, as keys and values; each place chooses how it looks and in which language.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pura.record.naming import NamedMark, Passage
from pura.record.spoken import mark_lines, place_words
from pura.record.surroundings import InputFacts
from pura.scheme import Profile
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentence import Sentence
from pura.words.sentences import Value, fill, scale

_BESIDE: Final = (
    "stopped.",
    "reread.",
    "foreign.",
    "marks.",
    "payload.",
    "register.",
    "text.concentrated",
    "text.edited",
    "text.gap",
    "text.copy",
    "verifier.",
    "way-out.",
)
"""Kinds of sentences without which the answer would be taken for more, or for less, than it is."""
_OF_THE_SCALE: Final = ("outcome.mark", "evidence.for-h1", "evidence.for-h2", "evidence.neutral")
_POSITIVE: Final = ("mark", "indication")


@dataclass(frozen=True, kw_only=True)
class Presented:
    """A finding as it is shown.

    Attributes:
        headline: The outcome in a few words, e.g. "A mark was found".
        answer: What the findings say to whoever reads no more, in a sentence or two.
        caveat: What the number of the answer is not; empty where it has none.
        compared: The two propositions, H1 and H2, written out.
        wording: All sentences, the outcome first.
        beside: Those of them that stand beside the answer wherever that is given alone.
        conditions: What was hidden among the characters.
        cautions: What weakens or limits the findings.
        marks: Each mark with what may be said of its payload, in the order of the text.
        input: What was examined; it tells the pages of the marks.
        text: The text, which tells the lines of the marks; None where the record leaves it out.
        lr_cap: Largest likelihood ratio that is printed.
        keys: Names of the keys that were tried; where one has none, its fingerprint.
        profile: Name of the profile, or its fingerprint.
    """

    headline: Sentence
    answer: tuple[Sentence, ...]
    caveat: tuple[Sentence, ...]
    compared: tuple[Sentence, ...]
    wording: tuple[Sentence, ...]
    beside: tuple[Sentence, ...]
    conditions: tuple[Sentence, ...]
    cautions: tuple[Sentence, ...]
    marks: tuple[NamedMark, ...]
    input: InputFacts
    text: str | None
    lr_cap: float
    keys: str
    profile: str

    def place(self, passage: Passage, language: str) -> str:
        """Return where a passage stands: page or slide, paragraph, line, as far as known.

        Args:
            passage: The passage.
            language: ``en`` or ``de``.
        """
        leaf = "slide" if self.input.format == "pptx" else "page"
        return place_words(passage, self.text, language, self.input.pages, leaf)

    def mark_lines(self, language: str) -> list[list[str]]:
        """Return what is said of each mark: where it stands, its payload, its evidence.

        Args:
            language: ``en`` or ``de``.
        """
        alone = len(self.marks) < 2
        return [
            mark_lines(mark, language, alone=alone, place=self.place, lr_cap=self.lr_cap)
            for mark in self.marks
        ]

    def scale_lines(self, language: str) -> list[str]:
        """Return the verbal scale where the wording uses a word of it; it stands below.

        Args:
            language: ``en`` or ``de``.
        """
        if not any(sentence.key in _OF_THE_SCALE for sentence in self.wording):
            return []
        return [f"{row.range}: {row.word}" for row in scale(language)]

    def to_html(self, name: str, language: str) -> str:
        """Return the finding as HTML.

        Args:
            name: Of the item.
            language: ``en`` or ``de``.
        """
        title = html.escape(f"{name}: {fill(self.headline, language)}")
        blocks = (
            *([one] for one in said((*self.compared, *self.wording), language)),
            self.scale_lines(language),
            *self.mark_lines(language),
            *([one] for one in said(self.conditions, language)),
        )
        parts = [f"<p><b>{title}</b></p>"]
        parts += [f"<p>{'<br>'.join(map(html.escape, lines))}</p>" for lines in blocks if lines]
        limits = "".join(f"<li>{html.escape(one)}</li>" for one in said(self.cautions, language))
        if limits:
            parts.append(f"<ul>{limits}</ul>")
        return f'<div lang="{language}">{"".join(parts)}</div>'


def said(sentences: Iterable[Sentence], language: str) -> list[str]:
    """Return sentences in words.

    Args:
        sentences: As a :class:`Presented` has them.
        language: ``en`` or ``de``.
    """
    return [fill(sentence, language) for sentence in sentences]


def answer_of(
    verdict: str, wording: Sequence[Sentence], *, capped: bool, lr: float, keys: str, config: str
) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """Return what the findings say in a sentence or two without symbols, and its caveat.

    Args:
        verdict: The outcome's word.
        wording: All sentences of the record.
        capped: The likelihood ratio lies beyond what is printed.
        lr: The likelihood ratio that is printed.
        keys: Names of the keys that were tried.
        config: Name of the profile.
    """
    # That a key was never used comes before what finding no mark of it would mean.
    unused = [one for one in wording if one.key.startswith("unused.")]
    first = (*unused, *wording[:1])
    if verdict not in _POSITIVE:
        return first, ()
    values: dict[str, Value] = {"capped": int(capped), "lr": lr, "key": keys, "config": config}
    plain = Sentence(key="plain.for-h1", values=values)
    more = first if verdict == "indication" else ()
    return (plain, *more), (Sentence(key="plain.n1"),)


def compared_of(profile: Profile, key: str) -> tuple[Sentence, Sentence]:
    """Return the two propositions that a likelihood ratio compares.

    Args:
        profile: Its name stands there with its fingerprint, which stands there once.
        key: Fingerprint of the key.
    """
    fingerprint = profile.fingerprint
    config = f"{profile.name} ({fingerprint})" if profile.name else fingerprint
    values: dict[str, Value] = {"key": key, "config": config}
    if profile.foreign is None:
        return Sentence(key="proposition.h1", values=values), Sentence(key="proposition.h2")
    values["name"] = FOREIGN_NAMES[profile.scheme]
    return Sentence(key="proposition.h1-foreign", values=values), Sentence(key="proposition.h2")


def beside_of(wording: Iterable[Sentence]) -> tuple[Sentence, ...]:
    """Return the sentences that stand beside the answer."""
    return tuple(one for one in wording if one.key.startswith(_BESIDE))
