"""Undo the substitutions of office software and of capitals, keeping track of positions."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from pura.documents import characters
from pura.documents.characters import Change, Restored, rewrite, unchanged
from pura.documents.formats import LIGATURES

SENTENCES: Final = "sentence-starts"
WORDS: Final = "usual-capitals"
LOWERED: Final = "capitals-lowered"
CASES: Final = (LOWERED, SENTENCES, WORDS)

LOWER: Final = "lower-case"
UPPER: Final = "capitals"
MIXED: Final = "mixed"

_LEAST_LETTERS: Final = 100  # with fewer, the case of a text cannot be judged
_FEW: Final = 0.004
"""Share of letters of the other case up to which a text counts as written in one: one in 250."""
_LEAST_WORDS: Final = 25  # words within sentences; with fewer, capitals are no evidence
_TITLE: Final = 0.6
"""Share of words within sentences that begin with a capital; in German text it is a third."""
_LEAST_ODD, _ODD, _ODD_AMONG_STARTS = 3, 0.08, 0.2
"""Number and share of function words within sentences that begin with a capital; and the share if
no punctuation shows where sentences begin."""
UNPUNCTUATED: Final = 100
"""Words per punctuation mark above which punctuation counts as removed; English prose has 8."""
_ANY_WORD: Final = re.compile(r"\w+")
_END: Final = re.compile(r"(?<=\w)[.,;:!?]")
_CASED_WORD: Final = re.compile(r"[^\W\d_]+")
_INSIDE_SENTENCE: Final = re.compile(r"(?<=[^\W\d_A-Z][ ,;])(?:(?<=[,;]) )?[^\W\d_]{2,}")
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
    """Return :data:`LOWER`, :data:`UPPER`, :data:`MIXED`, or ``""`` for usual capitals.

    :data:`MIXED` is a text whose capitals follow no rule. A text that is too short to judge, or in
    a script without cases, gives ``""``.
    """
    times = Counter(text)  # far fewer than there are characters
    small = sum(count for char, count in times.items() if char.islower())
    capital = sum(count for char, count in times.items() if char.isupper())
    if small + capital < _LEAST_LETTERS:
        return ""
    if capital <= _FEW * small:
        return LOWER
    return UPPER if small <= _FEW * capital else MIXED if _mixed(text) else ""


def unpunctuated(text: str) -> bool:
    """Return whether a text has hardly any punctuation, as if it had been removed."""
    return len(_ANY_WORD.findall(text)) > UNPUNCTUATED * len(_END.findall(text))


def _mixed(text: str) -> bool:
    inner_words = [match[0].strip() for match in _INSIDE_SENTENCE.finditer(text)]
    if len(inner_words) < _LEAST_WORDS:
        return False
    capitalised = [word for word in inner_words if word[0].isupper() and word[1:].islower()]
    if len(capitalised) >= _TITLE * len(inner_words):
        return True
    least_share = _ODD_AMONG_STARTS if unpunctuated(text) else _ODD
    smallest = sum(bool(_SMALLEST.fullmatch(word)) for word in inner_words)
    odd = sum(bool(_SMALLEST.fullmatch(word)) for word in capitalised)
    return odd >= _LEAST_ODD and odd >= least_share * smallest


def restore_case(text: str, spelt: Callable[[Iterable[str]], dict[str, str]]) -> Restored:
    """Restore the usual capitals of a text that was written in one case or with odd capitals.

    Args:
        text: The text.
        spelt: Returns the usual spelling of words in lower case.
    """
    case = case_of(text)
    if not case:
        return unchanged(text)
    restored = unchanged(text)
    if case != LOWER:
        restored = restored.then(rewrite(text, _lowered(text, case), CASES))
    return restored.then(rewrite(restored.text, _capitals(restored.text, spelt), CASES))


def _lowered(text: str, case: str) -> list[Change]:
    """Write words in lower case; in mixed case, words all in capitals are kept."""
    return [
        Change(word.start(), word.end(), word[0].lower(), LOWERED)
        for word in _CASED_WORD.finditer(text)
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
    lower_words = [
        m for m in _CASED_WORD.finditer(text) if m[0].islower() and _is_whole_word(text, m)
    ]
    usual = spelt(sorted({m[0] for m in lower_words}))
    out = []
    for word in lower_words:
        spelling = usual.get(word[0], word[0])
        first = word.start() in starts
        if first and spelling[:1].islower():
            spelling = spelling[:1].upper() + spelling[1:]
        if spelling != word[0] and len(spelling) == len(word[0]):
            name = SENTENCES if first else WORDS
            out.append(Change(word.start(), word.end(), spelling, name))
    return out


def _is_whole_word(text: str, word: re.Match[str]) -> bool:
    """Return whether a word is complete, and not part of an address, a path or a clitic."""
    before, following = text[word.start() - 1 : word.start()], text[word.end() : word.end() + 2]
    if before in {"'", "’"} and text[word.start() - 2 : word.start() - 1].isalpha():
        return False
    return before not in set("@/\\_=.") and not re.match(r"[@_/\\=]|\.[^\W\d_]", following)


def _pairs(originals: str, replacement: str) -> dict[str, str]:
    return dict.fromkeys(originals, replacement)


_QUOTES: Final = _pairs("“”„‟″", '"') | _pairs("‘’‚‛′", "'")
_DASHES: Final = _pairs("‐‑–−", "-") | {"—": "--"}
_BLANKS: Final = _pairs(
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"
    "\u3000",
    " ",
)
_LINES: Final = {"\r\n": "\n", "\r": "\n", "\u2028": "\n", "\u2029": "\n\n", "\u0085": "\n"}
_WIDE: Final = {chr(c): chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F)}
# Letters of other scripts that look like Latin ones. They are replaced only inside a word that
# also has Latin letters, so that Cyrillic and Greek texts stay unchanged.
_LOOKALIKES: Final = dict(
    zip(
        "АВСЕНІЈКМОРЅТХУаеоорсухіјѕԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρ",
        "ABCEHIJKMOPSTXYaeoopcyxijsdqwhABEZHIKMNOPTYXoavp",
        strict=True,
    )
)

_TABLES: Final = {
    "line-ends": _LINES,
    "special-blanks": _BLANKS,
    "curly-quotes": _QUOTES,
    "dashes": _DASHES,
    "ellipses": {"…": "..."},
    "ligatures": LIGATURES,
    "wide-characters": _WIDE,
}

REFERENCES: Final = "character-references"
KINDS: Final = (
    characters.CUT,
    REFERENCES,
    *characters.KINDS,
    *_TABLES,
    "look-alikes",
    "decomposed-letters",
)
_NAMES: Final = {found: name for name, table in _TABLES.items() for found in table}
_PUT: Final = {found: put for table in _TABLES.values() for found, put in table.items()}
_HIDDEN: Final = re.compile(rf"(?P<page>[\x0b\x0c])|(?P<one>[{characters.HIDDEN}])")
_PATTERN: Final = re.compile(
    rf"(?P<plain>\r\n|[{re.escape(''.join(k for k in _PUT if len(k) == 1))}])"
    r"|(?P<marks>[A-Za-z][\u0300-\u036f]+)"
)
_REFERENCE: Final = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{2,7}|#x[0-9a-fA-F]{2,6});")
_AMID: Final = re.compile(r"[^\W_\u0590-\U0010ffff]|[.,;:!?]")
_WORD: Final = re.compile(r"[A-Za-z\u0370-\u03ff\u0400-\u052f]+")
_LATIN: Final = re.compile(r"[A-Za-z]")
_FOREIGN: Final = re.compile(f"[{''.join(_LOOKALIKES)}]")


def restore(text: str) -> Restored:
    """Undo every substitution of :data:`KINDS`.

    Args:
        text: The text as found, ``F`` characters.

    Returns:
        The restored text, with the positions of its characters in the text as found.
    """
    restored = characters.cut(text)
    restored = restored.then(rewrite(restored.text, _references(restored.text), KINDS))
    restored = restored.then(rewrite(restored.text, _hidden(restored.text), KINDS))
    visible_text = restored.text
    return restored.then(
        rewrite(visible_text, [*_signs(visible_text), *_lookalikes(visible_text)], KINDS)
    )


def _references(text: str) -> list[Change]:
    """Replace character references of HTML, such as ``&nbsp;``."""
    return [
        Change(*match.span(), put, REFERENCES)
        for match in _REFERENCE.finditer(text)
        if (put := html.unescape(match[0])) != match[0]
    ]


def _hidden(text: str) -> list[Change]:
    """Remove invisible characters; replace those that look like a blank by one."""
    changes: list[Change] = []
    for match in _HIDDEN.finditer(text):
        start, end = match.span()
        kind = characters.kind_of_hidden(match[0])
        amid = bool(_AMID.match(text[start - 1 : start]) and _AMID.match(text[end : end + 1]))
        blank = "\n" if match["page"] else " " if kind == characters.BLANK_LETTERS else ""
        changes.append(Change(start, end, blank if amid else "", kind))
    return changes


def _signs(text: str) -> list[Change]:
    changes: list[Change] = []
    for match in _PATTERN.finditer(text):
        start, end = match.span()
        if match["marks"]:
            composed = unicodedata.normalize("NFC", match[0])
            if composed != match[0]:
                changes.append(Change(start, end, composed, "decomposed-letters"))
        else:
            changes.append(Change(start, end, _PUT[match[0]], _NAMES[match[0]]))
    return changes


def _lookalikes(text: str) -> list[Change]:
    if not _FOREIGN.search(text):
        return []
    return [
        Change(word.start() + i, word.start() + i + 1, _LOOKALIKES[char], "look-alikes")
        for word in _WORD.finditer(text)
        if _LATIN.search(word[0]) and _FOREIGN.search(word[0])
        for i, char in enumerate(word[0])
        if char in _LOOKALIKES
    ]
