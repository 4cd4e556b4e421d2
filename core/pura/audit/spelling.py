"""Words that keyboards, scanners and people broke, spelled as the model expects them.

A word that is no token of its own is compared with the words that one slip leads from: a letter
too many, missing, exchanged or swapped, or letters that scanners take for others. The vocabulary is
the lexicon, since a marked text was written in its tokens. The model decides: a word is put there
where it is likelier than what stands there, although somebody had to slip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pura.documents.characters import Change, Restored, rewrite, unchanged
from pura.model.tokenise import tokenise, word_ids

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

RESPELT: Final = "words-respelt"

_SLIP: Final = 6.0  # nats that a slip takes: some fifty ways to slip, in one of eight words
_LEAST: Final = 4
"""Words that must be respelt: together they make a reading 24 nats likelier, and more."""
_SUSPECTS: Final = 0.06  # share of the words from which the model is asked
_CHUNK: Final = 1024  # tokens that the model reads at once
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SCANNED: Final = (
    *(("rn", "m"), ("cl", "d"), ("vv", "w"), ("li", "h"), ("0", "o"), ("0", "O"), ("1", "l")),
    *(("1", "i"), ("1", "I"), ("5", "s"), ("5", "S"), ("8", "B")),
)
_WORD: Final = re.compile(r"(?<= )[A-Za-z][A-Za-z0-9]{2,15}(?![\w'’])")


def restore_spelling(model: LanguageModel, beginning: Sequence[int], text: str) -> Restored:
    """Return the text with broken words mended; unchanged where too few are.

    Args:
        model: Reads the text once more where many words may be broken. No key has a part in it.
        beginning: Tokens before the text.
        text: The text.
    """
    words = list(_WORD.finditer(text))
    pieces = word_ids(model.tokenizer, [word[0] for word in words])
    split = [word for word, ids in zip(words, pieces, strict=True) if len(ids) > 1]
    slips = {word[0]: sorted(set(_slips(word[0]))) for word in split}
    listed = sorted({each for found in slips.values() for each in found})
    ids_of = dict(zip(listed, word_ids(model.tokenizer, listed), strict=True))
    lexicon = {
        word: {ids_of[each][0]: each for each in found if len(ids_of[each]) == 1}
        for word, found in slips.items()
    }
    suspects = [word for word in split if lexicon[word[0]]]
    if len(suspects) < max(_LEAST, _SUSPECTS * len(words)):
        return unchanged(text)
    changes = [
        Change(word.start(), word.end(), put, RESPELT)
        for word, put in _likelier(model, beginning, text, suspects, lexicon)
    ]
    return rewrite(text, changes if len(changes) >= _LEAST else [], (RESPELT,))


def _slips(word: str) -> Iterator[str]:
    """Yield what a word may have been before one slip."""
    for place in range(len(word) + 1):
        before, behind = word[:place], word[place:]
        yield from (before + letter + behind for letter in _LETTERS)
        if behind:
            yield before + behind[1:]
            yield from (before + letter + behind[1:] for letter in _LETTERS)
            yield before + behind[1:2] + behind[0] + behind[2:]
    for found, put in _SCANNED:
        for match in re.finditer(found, word):
            yield word[: match.start()] + put + word[match.end() :]


def _likelier(
    model: LanguageModel,
    beginning: Sequence[int],
    text: str,
    suspects: Sequence[re.Match[str]],
    lexicon: dict[str, dict[int, str]],
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
            if (first := first_at.get(word.start() - 1, -1)) > start
            and first < last_at.get(word.end(), -1) < start + _CHUNK
        ]
        if not places:
            continue
        rows = log_probabilities(model, [*beginning, *ids.tolist()])
        for word, first, last in places:
            before = len(beginning) + first - 1
            likely = rows([*range(before, before + last - first + 1)])
            own = sum(float(likely[n, ids[first + n]]) for n in range(last - first + 1))
            known = lexicon[word[0]]
            best = max(known, key=lambda each: float(likely[0, each]))
            if float(likely[0, best]) - _SLIP > own:
                yield word, known[best]
