"""Give capitals back to a text that was written all in small letters, or all in capitals.

Sentences begin with a capital; a word alone is spelled as a given lexicon knows it (the audit
takes the vocabulary of the model's tokenizer: ``Tuesday`` and ``EU`` are entries, ``tuesday`` and
``eu`` are not). Names that the lexicon does not know stay small. Everything is a guess from the
characters alone (docs/documents.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from pura.documents.rewriting import Change, Restored, rewrite, unchanged

SENTENCES: Final = "sentence-starts"
WORDS: Final = "usual-capitals"
LOWERED: Final = "capitals-lowered"
KINDS: Final = (LOWERED, SENTENCES, WORDS)

LOWER: Final = "lower-case"
UPPER: Final = "capitals"

_LEAST_LETTERS: Final = 100
_FEW: Final = 0.004
"""Share of letters of the other case up to which a text counts as written in one: one in 250."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_STARTS: Final = re.compile(
    r"""(?:^\s*|[.!?…]["'”’)\]]*\s+|\n\s*\n\s*|\n[ \t]*(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+"""
    r"""|(?<=[,:])\s+(?=["“]))["'“‘(\[*_]*(?P<first>[^\W\d_])"""
)
_NO_END: Final = re.compile(
    r"(?:^|[\s(\"'“])(?:[a-z]|e\.g|i\.e|cf|vs|mr|mrs|ms|dr|prof|st|no|vol|fig|al|approx|ca|inc"
    r"|z\.b|d\.h|u\.a|bzw|nr|usw)\.\s*$",
    re.IGNORECASE,
)
_LINE_AFTER_END: Final = re.compile(r"[.!?:…][\"'”’)\]]*[ \t]*\n[ \t]*(?P<first>[^\W\d_])")


def case_of(text: str) -> str:
    """Return :data:`LOWER` or :data:`UPPER` for a text written in one case, else ``""``.

    A text too short to tell, or in a script without cases, is neither.
    """
    small = sum(char.islower() for char in text)
    capital = sum(char.isupper() for char in text)
    if small + capital < _LEAST_LETTERS:
        return ""
    if capital <= _FEW * small:
        return LOWER
    return UPPER if small <= _FEW * capital else ""


def restore_case(text: str, spelt: Callable[[Iterable[str]], dict[str, str]]) -> Restored:
    """Return the text with capitals where they usually stand; unchanged where it has both cases.

    Args:
        text: The text.
        spelt: Gives words in small letters as they are usually spelled.
    """
    case = case_of(text)
    if not case:
        return unchanged(text)
    done = unchanged(text)
    if case == UPPER:
        done = done.then(rewrite(text, _lowered(text), KINDS))
    return done.then(rewrite(done.text, _capitals(done.text, spelt), KINDS))


def _lowered(text: str) -> list[Change]:
    return [
        Change(word.start(), word.end(), word[0].lower(), LOWERED)
        for word in _WORD.finditer(text)
        if word[0] != word[0].lower()
    ]


def _capitals(text: str, spelt: Callable[[Iterable[str]], dict[str, str]]) -> list[Change]:
    starts = {
        match.start("first")
        for pattern in (_STARTS, _LINE_AFTER_END)
        for match in pattern.finditer(text)
        if not _NO_END.search(text[max(0, match.start() - 12) : match.start("first")])
    }
    words = [m for m in _WORD.finditer(text) if m[0].islower() and _alone(text, m)]
    usual = spelt(sorted({m[0] for m in words}))
    out = []
    for word in words:
        put = usual.get(word[0], word[0])
        first = word.start() in starts
        if first and put[:1].islower():
            put = put[:1].upper() + put[1:]
        if put != word[0] and len(put) == len(word[0]):
            name = SENTENCES if first else WORDS
            out.append(Change(word.start(), word.end(), put, name))
    return out


def _alone(text: str, word: re.Match[str]) -> bool:
    """Whether a word is one of its own, and no part of an address, a path or a clitic."""
    before, behind = text[word.start() - 1 : word.start()], text[word.end() : word.end() + 2]
    if before in {"'", "’"} and text[word.start() - 2 : word.start() - 1].isalpha():
        return False
    return before not in set("@/\\_=.") and not re.match(r"[@_/\\=]|\.[^\W\d_]", behind)
