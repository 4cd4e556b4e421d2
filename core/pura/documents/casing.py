"""Give capitals back to a text that was written all in small letters, all in capitals, or mixed.

Mixed is a text in which most words begin with a capital, as in a title, or in which the smallest
words do here and there, as where first letters were swapped: its capitals say nothing.

Sentences begin with a capital; a word alone is spelled as a given lexicon knows it (the audit
takes the vocabulary of the model's tokenizer: ``Tuesday`` and ``EU`` are entries, ``tuesday`` and
``eu`` are not). Names that the lexicon does not know stay small. Everything is a guess from the
characters alone (docs/reading-files.md).
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
MIXED: Final = "mixed"

_LEAST_LETTERS: Final = 100
_FEW: Final = 0.004
"""Share of letters of the other case up to which a text counts as written in one: one in 250."""
_LEAST_WORDS: Final = 25
_TITLE: Final = 0.6
"""Share of words amid a sentence that begin with a capital; a German text has a third of them."""
_LEAST_ODD, _ODD = 3, 0.08
"""How many of the smallest words amid a sentence do, and which share of them."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_AMID: Final = re.compile(r"(?<=[^\W\d_A-Z][ ,;])(?:(?<=[,;]) )?[^\W\d_]{2,}")
_SMALLEST: Final = re.compile(
    r"(?i:the|of|and|to|in|that|is|was|for|on|with|as|by|at|from|but|not|this|are|or|have|had|an"
    r"|which|were|has|their|its|it|he|she|they|und|von|zu|mit|sich|des|auf|ist|nicht|eine?|auch"
    r"|dass|wird|bei|les|et|en|une?|que|est|pour|dans|qui|par|sur|se|ce|avec|sont|el|por|con|del"
    r"|di|il|che|per|non|una|het|een|van|op|te|voor)"
)
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
    """Return :data:`LOWER` or :data:`UPPER` for a text written in one case, else mostly ``""``.

    :data:`MIXED` is a text whose capitals say nothing. A text too short to tell, or in a script
    without cases, is none of them.
    """
    small = sum(char.islower() for char in text)
    capital = sum(char.isupper() for char in text)
    if small + capital < _LEAST_LETTERS:
        return ""
    if capital <= _FEW * small:
        return LOWER
    return UPPER if small <= _FEW * capital else MIXED if _mixed(text) else ""


def _mixed(text: str) -> bool:
    words = [match[0].strip() for match in _AMID.finditer(text)]
    if len(words) < _LEAST_WORDS:
        return False
    begun = [word for word in words if word[0].isupper() and word[1:].islower()]
    if len(begun) >= _TITLE * len(words):
        return True
    smallest = sum(bool(_SMALLEST.fullmatch(word)) for word in words)
    odd = sum(bool(_SMALLEST.fullmatch(word)) for word in begun)
    return odd >= _LEAST_ODD and odd >= _ODD * smallest


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
    if case != LOWER:
        done = done.then(rewrite(text, _lowered(text, case), KINDS))
    return done.then(rewrite(done.text, _capitals(done.text, spelt), KINDS))


def _lowered(text: str, case: str) -> list[Change]:
    """Put words into small letters; where cases are mixed, not those all in capitals."""
    return [
        Change(word.start(), word.end(), word[0].lower(), LOWERED)
        for word in _WORD.finditer(text)
        if word[0] != word[0].lower()
        and (case == UPPER or len(word[0]) == 1 or not word[0].isupper())
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
