"""Undo what office software does to the characters of a text (docs/reading-files.md).

Word processors curl quotation marks, web pages put in blanks that do not break, a hostile hand
swaps letters for look-alikes. Each changes tokens, and tokens are the evidence. What stands here
is a *guess* at the text before: a model may have written a curly quote itself. So the text is
audited as found and as restored, and both e-values count (docs/evidence.md §3): whatever was
guessed wrong costs at most the logarithm of two, and never makes a false finding likelier.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pura.documents import c2pa, hidden
from pura.documents.rewriting import Change, Restored, rewrite


def _pairs(found: str, put: str) -> dict[str, str]:
    return dict.fromkeys(found, put)


_QUOTES: Final = _pairs("“”„‟″", '"') | _pairs("‘’‚‛′", "'")
_DASHES: Final = _pairs("‐‑–−", "-") | {"—": "--"}
_BLANKS: Final = _pairs(
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"
    "\u3000",
    " ",
)
_LINES: Final = {"\r\n": "\n", "\r": "\n", "\u2028": "\n", "\u2029": "\n\n", "\u0085": "\n"}
_LIGATURES: Final = {
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
}
_WIDE: Final = {chr(c): chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F)}
# Letters of other scripts that look like Latin ones; undone only inside a word that also holds
# Latin letters, so that Cyrillic and Greek texts stay what they are.
_LOOKALIKES: Final = dict(
    zip(
        "АВСЕНІЈКМОРЅТХУаеоорсухіјѕԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρ",
        "ABCEHIJKMOPSTXYaeoopcyxijsdqwhABEZHIKMNOPTYXoavp",
        strict=True,
    )
)

KINDS: Final = (
    c2pa.CUT,
    *hidden.KINDS,
    "line-ends",
    "special-blanks",
    "curly-quotes",
    "dashes",
    "ellipses",
    "ligatures",
    "wide-characters",
    "look-alikes",
    "decomposed-letters",
)

_TABLES: Final = {
    "line-ends": _LINES,
    "special-blanks": _BLANKS,
    "curly-quotes": _QUOTES,
    "dashes": _DASHES,
    "ellipses": {"…": "..."},
    "ligatures": _LIGATURES,
    "wide-characters": _WIDE,
}
_NAMES: Final = {found: name for name, table in _TABLES.items() for found in table}
_PUT: Final = {found: put for table in _TABLES.values() for found, put in table.items()}
_HIDDEN: Final = re.compile(rf"(?P<page>[\x0b\x0c])|(?P<one>[{hidden.HIDDEN}])")
_PATTERN: Final = re.compile(
    rf"(?P<plain>\r\n|[{re.escape(''.join(k for k in _PUT if len(k) == 1))}])"
    r"|(?P<marks>[A-Za-z][\u0300-\u036f]+)"
)
_AMID: Final = re.compile(r"[^\W_\u0590-\U0010ffff]|[.,;:!?]")
_WORD: Final = re.compile(r"[A-Za-z\u0370-\u03ff\u0400-\u052f]+")
_LATIN: Final = re.compile(r"[A-Za-z]")
_FOREIGN: Final = re.compile(f"[{''.join(_LOOKALIKES)}]")


def restore(text: str) -> Restored:
    """Undo every substitution of :data:`KINDS`.

    Args:
        text: The text as found, ``F`` characters.

    Returns:
        The restored text with the way back to the characters of the found one.
    """
    done = c2pa.cut(text)
    done = done.then(rewrite(done.text, _hidden(done.text), KINDS))
    shown = done.text
    return done.then(rewrite(shown, [*_signs(shown), *_lookalikes(shown)], KINDS))


def _hidden(text: str) -> list[Change]:
    """Leave out what shows nothing, however little of it; what looks like a blank becomes one."""
    found: list[Change] = []
    for match in _HIDDEN.finditer(text):
        start, end = match.span()
        kind = hidden.kind_of_hidden(match[0])
        amid = bool(_AMID.match(text[start - 1 : start]) and _AMID.match(text[end : end + 1]))
        blank = "\n" if match["page"] else " " if kind == hidden.BLANK_LETTERS else ""
        found.append(Change(start, end, blank if amid else "", kind))
    return found


def _signs(text: str) -> list[Change]:
    found: list[Change] = []
    for match in _PATTERN.finditer(text):
        start, end = match.span()
        if match["marks"]:
            composed = unicodedata.normalize("NFC", match[0])
            if composed != match[0]:
                found.append(Change(start, end, composed, "decomposed-letters"))
        else:
            found.append(Change(start, end, _PUT[match[0]], _NAMES[match[0]]))
    return found


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
