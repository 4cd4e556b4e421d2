"""Words that keyboards, scanners and people broke, spelled as the model expects them.

A word that is no token of its own is compared with the words that a slip leads from: a letter too
many, missing or exchanged, letters in another order, or such as scanners take for others. The
vocabulary is the lexicon, since a marked text was written in its tokens. The model decides: a word
is put there where it is likelier than what stands there, although somebody had to slip.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.progress import never_cancelled
from pura.documents.characters import Change, Restored, rewrite, unchanged
from pura.model.tokenise import tokenise, word_ids

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

RESPELT: Final = "words-respelt"

_SLIP, _MORE = 6.0, 3.0  # nats of a slip: some fifty ways, in one of eight words; of each further
_MISREAD: Final = 4.0  # of one that scanners make
_LEAST: Final = 4
"""Words that must be respelt: together they make a reading 24 nats likelier, and more."""
_SUSPECTS: Final = 0.05  # share of the words from which the model is asked
_CHUNK: Final = 1024  # tokens that the model reads at once
_EXCHANGED: Final = ((8, 3), (4, 2), (0, 1))  # letters of a word, and how many may be others
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SCANNED: Final = (
    *(("rn", "m"), ("cl", "d"), ("vv", "w"), ("li", "h"), ("0", "o"), ("1", "l"), ("1", "i")),
    *(("5", "s"), ("8", "b"), ("c", "e"), ("e", "c"), ("f", "t"), ("ii", "u"), ("ri", "n")),
)
_WORD: Final = re.compile(r"(?<= )[^\s.,:;\"'“”’()\[\]]{2,16}(?<![?!])(?=[.,:;!?\"”)]*(?:\s|$))")
_USUAL: Final = re.compile(r"[A-Za-z]?[a-z]+(?:-[A-Za-z]+)*|[A-Z]+")  # no figures, signs, capitals
_LEXICAL: Final = re.compile(r"[Ġ▁]([A-Za-z]{2,16})")


class _Lexicon:
    """The words of a vocabulary that are one token behind a blank.

    Args:
        tokens: The strings of the tokens, by id.

    Attributes:
        forms: The ways in which a word in small letters is written, each with its token.
    """

    def __init__(self, tokens: Sequence[str | None]) -> None:
        self.forms: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for number, token in enumerate(tokens):
            if match := _LEXICAL.fullmatch(token or ""):
                self.forms[match[1].lower()].setdefault(match[1], number)
        by_length: defaultdict[int, list[str]] = defaultdict(list)
        for word in self.forms:
            by_length[len(word)].append(word)
        self._by_length = {n: (words, *_codes(words)) for n, words in by_length.items()}

    def near(self, word: str, *, exchanged: bool) -> dict[int, tuple[str, float]]:
        """Return the tokens that a word may have been, each with its form and the nats of slips.

        Args:
            word: The word as found.
            exchanged: Also several letters that were exchanged for others.
        """
        small, usual = word.lower(), bool(_USUAL.fullmatch(word))
        own, own_letters = _codes([small])
        words, codes, letters = self._by_length.get(len(small), ([small], own, own_letters))
        anagrams = [words[n] for n in np.flatnonzero((letters == own_letters).all(axis=1))]
        nats = dict.fromkeys([*_slips(small), *anagrams], _SLIP)
        nats |= dict.fromkeys(_misread(small), _MISREAD)
        if exchanged:
            most = next(most for length, most in _EXCHANGED if len(small) >= length)
            differ = (codes != own).sum(axis=1)
            for place in np.flatnonzero(differ <= most):
                nats.setdefault(words[place], _SLIP + _MORE * (int(differ[place]) - 1))
        return {
            number: (form, cost)
            for each, cost in nats.items()
            if each in self.forms and each != small
            for form, number in self.forms[each].items()
            if (form[0].isupper() == word[0].isupper() or not usual)
            and (form[1:].islower() or word.isupper())
        }


def _codes(words: Sequence[str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return words of one length letter by letter, [W, N], and their letters in order."""
    found = np.array(words, dtype=f"U{len(words[0])}")[:, None].view(np.uint32)
    codes = found.reshape(len(words), -1)
    return codes, np.sort(codes, axis=1)


@lru_cache(maxsize=2)
def _lexicon_of(tokenizer: Any) -> _Lexicon:
    return _Lexicon(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))


def restore_spelling(
    model: LanguageModel,
    beginning: Sequence[int],
    text: str,
    checkpoint: Callable[[], None] = never_cancelled,
) -> Restored:
    """Return the text with broken words mended; unchanged where too few are.

    Args:
        model: Reads the text once more where many words may be broken. No key has a part in it.
        beginning: Tokens before the text.
        text: The text.
        checkpoint: Called often; may raise.
    """
    words = [word for word in _WORD.finditer(text) if any(map(str.isalpha, word[0]))]
    checkpoint()
    forms = list({word[0] for word in words})
    tokens = dict(zip(forms, map(len, word_ids(model.tokenizer, forms)), strict=True))
    split = [word for word in words if tokens[word[0]] > 1]
    lexicon = _lexicon_of(model.tokenizer)
    # Figures and signs between letters say more than a word that is not in the lexicon.
    broken = 0
    for word, count in Counter(word[0] for word in split).items():
        checkpoint()
        usual = bool(_USUAL.fullmatch(word))
        if lexicon.near(word, exchanged=not usual):
            broken += count * (2 - usual)
    if broken < max(_LEAST, _SUSPECTS * len(words)):
        return unchanged(text)
    near = {word[0]: lexicon.near(word[0], exchanged=True) for word in split}
    changes = [
        Change(word.start(), word.end(), put, RESPELT)
        for word, put in _likelier(model, beginning, text, split, near, checkpoint)
    ]
    return rewrite(text, changes if len(changes) >= _LEAST else [], (RESPELT,))


def _slips(word: str) -> Iterator[str]:
    """Yield what a word in small letters may have been before one slip."""
    for place in range(len(word) + 1):
        before, behind = word[:place], word[place:]
        yield from (before + letter + behind for letter in _LETTERS)
        if behind:
            yield before + behind[1:]
            yield from (before + letter + behind[1:] for letter in _LETTERS)


def _misread(word: str) -> Iterator[str]:
    """Yield what a scanner may have taken for a word."""
    for found, put in _SCANNED:
        for match in re.finditer(found, word):
            yield word[: match.start()] + put + word[match.end() :]


def _likelier(
    model: LanguageModel,
    beginning: Sequence[int],
    text: str,
    suspects: Sequence[re.Match[str]],
    near: dict[str, dict[int, tuple[str, float]]],
    checkpoint: Callable[[], None],
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the words that the model finds likelier than what stands there, a slip included."""
    from pura.model.evidence import log_probabilities

    tokens = tokenise(model.tokenizer, text)
    starts, ends = tokens.spans[:, 0].tolist(), tokens.spans[:, 1].tolist()
    first_at = {start: number for number, start in enumerate(starts)}
    last_at = {end: number for number, end in enumerate(ends)}
    for start in range(0, len(tokens), _CHUNK):
        ids = tokens.ids[start : start + _CHUNK]
        places = [
            (word, first - start, last_at[word.end()] - start)
            for word in suspects
            if near[word[0]]
            and (first := first_at.get(word.start() - 1, -1)) > start
            and first < last_at.get(word.end(), -1) < start + _CHUNK
        ]
        if not places:
            continue
        checkpoint()
        asked = [n for _, first, last in places for n in range(first, last + 1)]
        before = len(beginning) - 1
        all_rows = log_probabilities(model, [*beginning, *ids.tolist()])(
            [before + n for n in asked]
        )
        begin = 0
        for word, first, last in places:
            likely = all_rows[begin : begin + last - first + 1]
            begin += len(likely)
            own = sum(float(likely[n, ids[first + n]]) for n in range(last - first + 1))
            nats, best = max(
                (float(likely[0, token]) - slips, form)
                for token, (form, slips) in near[word[0]].items()
            )
            if nats > own:
                yield word, best
