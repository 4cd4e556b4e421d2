"""Signs that a text was handled after it was written.

The power behind "no mark found" (study.md) was measured on unedited texts. A text that was
written all in small letters, was broken in the middle of its sentences, or is full of typing errors
has lost evidence that restoring brings back in part only; there the absence of a mark says
nothing. So it does where many characters are such as the model would hardly write there, whatever
they are, and where the words are much less probable to the model than those that it writes. The
signs are read off the text, and off what the model makes of it without a key; they take away a
claim, never evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.detect.verdict.expect import language_of
from pura.documents.layout import BROKEN, PAGES, WRAPPED, restore_layout
from pura.documents.restore import UPPER, case_of, restore, unpunctuated
from pura.scheme import F64, Profile
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.model.reading import Reading
    from pura.model.tokenise import HasTokenizer
    from pura.scheme import Profile


CASE: Final = "case"
LINES: Final = "lines"
TYPING: Final = "typing"
CHARACTERS: Final = "characters"
WORDS: Final = "words"
SETTINGS: Final = "settings"

SPLIT_WORDS: Final = 0.12
"""Share of words that are no token of their own from which a text counts as full of errors.

Of the 64 marked texts of the study 4 lie above it, with errors in 3 % of their letters 50."""
NARROW: Final = 40
"""Column below which the joining of wrapped lines was not measured."""
SURPRISE, SURPRISE_CUT = 1.0, 4.5
"""Bits a token beyond the entropy from which words count as exchanged.

What the model wrote has none on average, human prose about 0.6 (study.md). Where the profile
cuts the distribution a token outside it counts as :data:`_LEAST_PROBABLE`: there human prose has 3.
"""
COLDER, _SHOCK = -0.24, 1.0
"""Share of the entropy that is missing from the surprise from which a text counts as written with
other settings, and the bits beyond the entropy from which one token counts no more.

So exchanged words hardly hide it. Texts written as the profile says lie around -0.19, human prose
around -0.16, those written at temperature 0.7 and read with 1 around -0.34, edited or not.
"""
BESIDE_SIGNS, BESIDE_STOPS, BESIDE_LETTERS = 0.08, 0.25, 0.4
"""Share of the gaps between words from which one character stands beside too many of them: any
sign, those that end sentences and parts of them or hold them together, letters.

Every sixth English word begins with the same letter, every fifth ends with one."""
JOINED_ENGLISH, JOINED = 6.5, 7.5
"""Characters that stand between two blanks, on average, from which words count as joined: blanks
were left out, or other signs put there. English prose has 5, German up to 6.2."""
FIGURED: Final = 0.04
"""Share of words in which figures stand for letters from which they are a sign."""
SCATTERED: Final = 0.6
"""Share of short lines that end within a sentence from which they are a sign, joined or not."""
TABBED: Final = 0.05
"""Share of the gaps between words that hold a tab from which they are a sign."""
REFERENCES: Final = 0.001
"""Character references a character from which they are a sign."""
_LEAST_PROBABLE: Final = 2.0**-40  # a token outside the nucleus is less probable than any number
_USUAL: Final = frozenset(map(chr, range(0x21, 0x7F))) | frozenset(
    "¡¢£¥§©«®°±²³·»¼½¾¿×÷‐‑–—‘’‚“”„†‡•…‰′″‹›⁄€№™−≤≥≈→"
)
_LEAST_WORDS: Final = 40
_LEAST_LINES: Final = 10
_ENDED: Final = re.compile(r"[.!?:;…][\"'”’»)\]*_]*$")
_PERHAPS_ENGLISH: Final = ("", "English", "another language")
_SAMPLE: Final = 20_000
# Names and acronyms are no errors: words in small letters only, and no part of a clitic.
_WORD: Final = re.compile(r"(?<![\w'’])[a-z]{3,}(?![\w'’])")

Pieces = Callable[[Sequence[str]], list[int]]


def handling_signs(
    text: str, pieces: Pieces, *, odd: float, restored: bool = True
) -> tuple[str, ...]:
    """Return the signs of handling beyond what was measured, as far as the text itself has them.

    Args:
        text: The text as found.
        pieces: Into how many tokens each word falls.
        odd: Share of odd characters (:func:`odd_share`) from which they are a sign; of the policy.
        restored: Whether restored readings are made; without them broken lines stay broken.

    Returns:
        Of :data:`CASE`, :data:`LINES`, :data:`TYPING` and :data:`CHARACTERS` those that apply.
    """
    shown = restore(text).text if restored else text
    layout = restore_layout(restore(text).text)
    changes = {s.name for s in layout.substitutions}
    if restored:
        shown = layout.text
    narrow = max(map(len, text.splitlines()), default=0) < NARROW
    unmeasured = {BROKEN, PAGES} | ({WRAPPED} if narrow or not restored else set())
    signs = (
        (CASE, bool(case_of(text))),
        (LINES, bool(changes & unmeasured) or _scattered(text)),
        (TYPING, _split_words(text, pieces) >= SPLIT_WORDS),
        (
            CHARACTERS,
            odd_share(shown) >= odd
            or one_beside_gaps(shown)
            or _joined(shown)
            or _figured_words(shown) >= FIGURED
            or _tabbed(shown)
            or _marked_up(text)
            or lacks_punctuation(text),
        ),
    )
    return tuple(name for name, applies in signs if applies)


def unlike_written(readings: Sequence[Reading], profile: Profile) -> tuple[str, ...]:
    """Return the signs of handling that the model sees: its words are not those that it writes.

    Of a text that it wrote, a token's surprise is on average the entropy that it was drawn from.

    Args:
        readings: All of one text; the one that fits best counts.
        profile: Its sampling.

    Returns:
        :data:`WORDS` where no reading is as probable to the model as what it writes,
        :data:`SETTINGS` where it is more probable than with the profile's sampling, or nothing.
    """
    whole = profile.temperature >= 1 and profile.top_p >= 1 and not profile.top_k
    if min(map(surprise, readings), default=0.0) >= (SURPRISE if whole else SURPRISE_CUT):
        return (WORDS,)
    return (SETTINGS,) if whole and _colder(readings[0]) else ()


def surprise(reading: Reading) -> float:
    """Return by how many bits a token's surprise exceeds the entropy, on average."""
    excess = _excess(reading)
    return float(excess.mean()) if excess.size else 0.0


def _colder(reading: Reading) -> bool:
    entropy = float(reading.entropy_bits[1:].sum())
    return entropy > 0 and float(np.minimum(_excess(reading), _SHOCK).sum()) <= COLDER * entropy


def _excess(reading: Reading) -> F64:
    """Return each token's surprise less the entropy, bits; nothing predicted the first one."""
    probability = np.maximum(reading.probability[1:], _LEAST_PROBABLE)
    return -np.log2(probability) - reading.entropy_bits[1:]


def odd_share(text: str) -> float:
    """Return the share of characters that stand in no usual writing of the text's script.

    Usual are letters and marks of the script that most letters are of, Latin letters, their
    figures, blanks, and what keyboards and word processors put between words. Pictures, letters of
    other scripts, private and unassigned code points and characters that show nothing are odd; in
    English so are letters with accents.

    Args:
        text: The text; of a long one the beginning counts.
    """
    counts = Counter(text[:_SAMPLE])
    main = _main_script(counts)
    english = language_of(text) == "English"
    odd = sum(
        count
        for char, count in counts.items()
        if not _usual(char, main) or (english and char.isalpha() and not char.isascii())
    )
    return odd / max(1, counts.total())


def _scattered(text: str) -> bool:
    """Whether lines hold a few words each and sentences go on over them, as in pasted cells."""
    lines = [line.strip() for line in text[:_SAMPLE].splitlines() if line.strip()]
    if len(lines) < _LEAST_LINES or sum(map(len, lines)) >= NARROW * len(lines):
        return False
    return sum(not _ENDED.search(line) for line in lines) >= SCATTERED * len(lines)


def _tabbed(text: str) -> bool:
    """Whether tabs stand between words, as in what was copied from the cells of a table."""
    gaps = _BETWEEN.findall(text[:_SAMPLE])
    return sum("\t" in gap for gap in gaps) > TABBED * len(gaps)


def _marked_up(text: str) -> bool:
    """Whether character references of a page stand for characters, ``&nbsp;`` for a blank."""
    part = text[:_SAMPLE]
    return len(_REFERENCE.findall(part)) > REFERENCES * len(part)


def lacks_punctuation(text: str) -> bool:
    """Whether hardly a sign stands behind a word, as where punctuation was taken out."""
    part = text[:_SAMPLE]
    enough = len(_ANY_WORD.findall(part)) >= _LEAST_WORDS
    return enough and unpunctuated(part) and language_of(text) in _MEASURED


def _joined(text: str) -> bool:
    """Whether words are joined, in a language whose words are known to be no longer."""
    pieces = text[:_SAMPLE].split()
    letters, language = sum(map(len, pieces)), language_of(text)
    if letters < _LEAST_WORDS * JOINED or language not in _MEASURED:
        return False
    return letters >= (JOINED_ENGLISH if language == "English" else JOINED) * len(pieces)


def _figured_words(text: str) -> float:
    """Return the share of words in which figures stand for letters; 0 where that tells nothing."""
    words = _ANY_WORD.findall(text[:_SAMPLE])
    if len(words) < _LEAST_WORDS:
        return 0.0
    return sum(bool(_FIGURED.search(word)) for word in words) / len(words)


def _main_script(counts: Counter[str]) -> str:
    scripts = Counter[str]()
    for char, count in counts.items():
        if char.isalpha():
            scripts[_script(char)] += count
    return scripts.most_common(1)[0][0] if scripts else "LATIN"


_MEASURED: Final = ("", "English", "German", "French", "Spanish", "Italian", "Portuguese", "Dutch")
_ANY_WORD: Final = re.compile(r"\w+")
_BETWEEN: Final = re.compile(r"(?<=\S)[^\S\n]+(?=\S)")
_REFERENCE: Final = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{2,7}|#x[0-9a-fA-F]{2,6});")
_FIGURED: Final = re.compile(r"[^\W\d_]\d+[^\W\d_]|^\d[^\W\d_]{3}|[^\W\d_]{3}\d$")
_EAST_ASIA: Final = frozenset(
    ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC")
)


@cache
def _script(char: str) -> str:
    first = unicodedata.name(char, "?").split()[0]
    return "CJK" if first in _EAST_ASIA else first


@cache
def _usual(char: str, main: str) -> bool:
    if char in _USUAL or char in "\t\n\r ":
        return True
    category = unicodedata.category(char)
    if category[0] == "L":
        return _script(char) in (main, "LATIN")
    return main != "LATIN" and category in ("Mn", "Mc", "Nd", "Po", "Ps", "Pe", "Pd")


_GAP: Final = re.compile(r"(?=(\S)[ \t]+(\S))")


def one_beside_gaps(text: str) -> bool:
    """Whether one and the same character stands beside more gaps than any usual one does.

    Whatever it is: put behind every blank it does.

    Args:
        text: The text; of a long one the beginning counts.
    """
    gaps = _GAP.findall(text[:_SAMPLE])
    if len(gaps) < _LEAST_WORDS:
        return False
    for side in zip(*gaps, strict=True):
        for char, count in Counter(side).most_common(3):
            most = (
                BESIDE_LETTERS if char.isalpha() else BESIDE_STOPS if char in ",." else BESIDE_SIGNS
            )
            if count >= most * len(gaps):
                return True
    return False


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


def pieces_of(model: HasTokenizer) -> Pieces:
    """Return how a model's tokenizer splits words that stand behind a blank."""
    from pura.model.tokenise import word_ids

    def pieces(words: Sequence[str]) -> list[int]:
        return [len(ids) for ids in word_ids(model.tokenizer, words)]

    return pieces


def signs_noted(signs: Sequence[str]) -> list[Sentence]:
    """Return how the log says that a text was handled."""
    return [sentence("log.handled", sign=f"log.sign-{sign}") for sign in signs]
