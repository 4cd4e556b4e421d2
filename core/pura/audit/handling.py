"""Signs that a text was handled in a way for which no rate of finding was measured.

The power behind "no mark found" (docs/study.md) was measured on unedited texts. A text that was
written all in small letters, was broken in the middle of its sentences, or is full of typing errors
has lost evidence that restoring brings back in part only; there the absence of a mark says
nothing. The signs are read off the text alone and take away a claim, never evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from pura.documents.casing import UPPER, case_of
from pura.documents.layout import BROKEN, WRAPPED, restore_layout
from pura.documents.restore import restore
from pura.verdict.expect import language_of

if TYPE_CHECKING:
    from pura.model.tokenise import Spelled

CASE: Final = "case"
LINES: Final = "lines"
TYPING: Final = "typing"

SPLIT_WORDS: Final = 0.12
"""Share of words that are no token of their own from which a text counts as full of errors.

Of the 64 marked texts of the study 4 lie above it, with errors in 3 % of their letters 50."""
NARROW: Final = 40
"""Column below which the joining of wrapped lines was not measured."""
_LEAST_WORDS: Final = 40
_PERHAPS_ENGLISH: Final = ("", "English", "another language")
_SAMPLE: Final = 20_000
# Names and acronyms are no errors: words in small letters only, and no part of a clitic.
_WORD: Final = re.compile(r"(?<![\w'’])[a-z]{3,}(?![\w'’])")

Pieces = Callable[[Sequence[str]], list[int]]


def handling_signs(text: str, pieces: Pieces, *, restored: bool = True) -> tuple[str, ...]:
    """Return the signs of handling beyond what was measured.

    Args:
        text: The text as found.
        pieces: Into how many tokens each word falls.
        restored: Whether restored readings are made; without them broken lines stay broken.

    Returns:
        Of :data:`CASE`, :data:`LINES` and :data:`TYPING` those that apply.
    """
    changes = {s.name for s in restore_layout(restore(text).text).substitutions}
    unmeasured = not restored or max(map(len, text.splitlines()), default=0) < NARROW
    signs = (
        (CASE, bool(case_of(text))),
        (LINES, BROKEN in changes or (WRAPPED in changes and unmeasured)),
        (TYPING, _split_words(text, pieces) >= SPLIT_WORDS),
    )
    return tuple(name for name, applies in signs if applies)


def _split_words(text: str, pieces: Pieces) -> float:
    """Return the share of words that are no token of their own; 0 where that tells nothing."""
    sample = text[:_SAMPLE]
    # Errors in the commonest words make English look like a language that nobody knows.
    if case_of(sample) == UPPER or language_of(sample) not in _PERHAPS_ENGLISH:
        return 0.0
    words = _WORD.findall(sample)
    if len(words) < _LEAST_WORDS:
        return 0.0
    listed = sorted(set(words))
    split = {word for word, count in zip(listed, pieces(listed), strict=True) if count > 1}
    return len([word for word in words if word in split]) / len(words)


def pieces_of(model: Spelled) -> Pieces:
    """Return how a model's tokenizer splits words that stand behind a blank."""
    from pura.model.tokenise import word_ids

    def pieces(words: Sequence[str]) -> list[int]:
        return [len(ids) for ids in word_ids(model.tokenizer, words)]

    return pieces
