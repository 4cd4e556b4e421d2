"""Punctuation that was taken out, put back where the model expects it.

The text is read from left to right, a few words at a time, so that each place is judged behind what
was put back before it. A sign stands between two words where the model finds sign and next word
likelier than the next word alone, an apostrophe in a word where that is likelier than the word. A
place is weighed only where its first token by itself is likelier already, since nothing behind it
can make up for that: the places that are read twice are few. No key has a part in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from pura.base.progress import never_cancelled
from pura.documents.characters import Change, Restored, rewrite, unchanged
from pura.model.tokenise import tokenise

if TYPE_CHECKING:
    import torch

    from pura.model.branches import BranchReader
    from pura.model.load import LanguageModel

PUNCTUATED: Final = "signs-put-back"

_SIGNS: Final = (",", ".", ";", ":", "?", "!", ")", '"', '."', ',"', ".)", "),", " (", ' "', " -")
_AT_ONCE: Final = 24  # tokens that are read before the places among them are judged
_EACH: Final = 2  # signs that are weighed at one place
_MOST: Final = 0.5  # tokens that are read beside those of the text, for each of them
_LONGEST: Final = 1024  # tokens of a text in which signs are put back: enough for any payload
_APOSTROPHE: Final = re.compile(r"\s*[A-Za-z]+?(?=(?:(?<=n)t|s|re|ve|ll|d|m)$)")


@dataclass(kw_only=True, eq=False)
class _Word:
    """A word with the blank before it.

    Attributes:
        start: Its first character in the text.
        text: Its characters.
        ids: Its tokens.
        joins: A sign may be put before it.
        whole: An apostrophe may be put into it.
        sign: The tokens that were put before it.
    """

    start: int
    text: str
    ids: list[int]
    joins: bool
    whole: bool
    sign: list[int] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Try:
    """What might stand in the place of a word.

    Attributes:
        word: Which of those that were read.
        nats: How much likelier its first token is than the word, or its first token.
        asked: Its first tokens.
        then: What comes behind them.
        done: The word with it.
        changes: What makes it of the text.
    """

    word: int
    nats: float
    asked: list[int]
    then: int
    done: _Word
    changes: tuple[Change, ...]


def restore_punctuation(
    model: LanguageModel,
    beginning: Sequence[int],
    text: str,
    *,
    capitals: bool = False,
    checkpoint: Callable[[], None] = never_cancelled,
) -> Restored:
    """Return the text with signs between its words and apostrophes in them.

    Args:
        model: Reads the text once, and few places twice.
        beginning: Tokens before the text.
        text: The text; of a long one the first part gets signs, which is enough for any payload.
        capitals: Words behind the end of a sentence get one.
        checkpoint: Called often; may raise.
    """
    from pura.model.branches import BranchReader

    if not text or not BranchReader.works(model):
        return unchanged(text)
    words = list(_words(model, text))
    sizes = accumulate(len(word.ids) for word in words)
    words = [word for word, size in zip(words, sizes, strict=True) if size <= _LONGEST]
    changes = _put_back(model, beginning, words, capitals=capitals, checkpoint=checkpoint)
    return rewrite(text, changes, (PUNCTUATED,))


def _words(model: LanguageModel, text: str) -> Iterator[_Word]:
    tokens = tokenise(model.tokenizer, text)
    starts = tokens.spans[:, 0].tolist()
    first = [n for n, start in enumerate(starts) if not n or text[start].isspace()]
    for begin, end in zip(first, [*first[1:], len(starts)], strict=True):
        start, stop = starts[begin], starts[end] if end < len(starts) else len(text)
        yield _Word(
            start=start,
            text=text[start:stop],
            ids=tokens.ids[begin:end].tolist(),
            joins=text[start : start + 1].isspace() and text[start - 1 : start].isalnum(),
            whole=bool(_APOSTROPHE.match(text[start:stop])),
        )


def _put_back(
    model: LanguageModel,
    beginning: Sequence[int],
    words: Sequence[_Word],
    *,
    capitals: bool,
    checkpoint: Callable[[], None],
) -> Iterator[Change]:
    import torch

    from pura.model.branches import BranchReader

    reader = BranchReader(model)
    tries = _Tries(model, capitals=capitals)
    states = reader.feed(beginning) if beginning else None
    again: list[_Word] = []
    place = 0
    while place < len(words):
        checkpoint()
        # What is read again, behind a sign, is judged again.
        read, size = again, 0
        while place < len(words) and size < _AT_ONCE:
            read, size, place = [*read, words[place]], size + len(words[place].ids), place + 1
        begin = [*accumulate((len(w.sign) + len(w.ids) for w in read), initial=reader.read)]
        known = reader.read - (0 if states is None else 1)  # the input whose state is the first
        hidden = reader.feed([token for word in read for token in (*word.sign, *word.ids)])
        states = hidden if states is None else torch.cat([states[-1:], hidden])
        rows = reader.log_probabilities(states)
        behind = [start + len(word.sign) for start, word in zip(begin, read, strict=False)]
        listed = sorted(
            (
                one
                for number, word in enumerate(read)
                if behind[number] > known
                for one in tries.of(word, number, rows[behind[number] - known - 1 :])
            ),
            key=lambda one: -one.nats,
        )
        fed = [*accumulate(len(one.asked) for one in listed)]
        listed = [one for one, asked in zip(listed, fed, strict=True) if asked <= _MOST * size + 1]
        best = _best(reader, listed, behind)
        for number, one in best.items():
            read[number] = one.done
            yield from one.changes
        back = min(best, default=len(read))
        again = read[back:]
        reader.take_back(begin[back])
        states = states[: begin[back] - known]


def _best(reader: BranchReader, tries: Sequence[_Try], begin: Sequence[int]) -> dict[int, _Try]:
    """Return the likeliest try of each word that is likelier than the word."""
    if not tries:
        return {}
    import torch

    behind = reader.beside([(begin[one.word], one.asked) for one in tries])
    rows = reader.log_probabilities(torch.cat(behind))
    best: dict[int, tuple[float, _Try]] = {}
    place = 0
    for one in tries:
        tokens = [*one.asked[1:], one.then]
        nats = one.nats + sum(float(rows[place + n, t]) for n, t in enumerate(tokens))
        place += len(tokens)
        if nats > best.get(one.word, (0.0, one))[0]:
            best[one.word] = nats, one
    return {number: one for number, (_, one) in best.items()}


class _Tries:
    """What a model's vocabulary can put in the place of a word."""

    def __init__(self, model: LanguageModel, *, capitals: bool) -> None:
        self._tokenizer, self._capitals = model.tokenizer, capitals
        behind = self._ids("a")
        found = {sign: self._ids(f"a{sign}") for sign in _SIGNS}
        self._signs = {ids[-1]: sign for sign, ids in found.items() if ids[:-1] == behind}

    def _ids(self, text: str) -> list[int]:
        return [int(token) for token in tokenise(self._tokenizer, text).ids]

    def of(self, word: _Word, number: int, rows: torch.Tensor) -> Iterator[_Try]:
        """Yield what may stand there and begins with likelier tokens.

        Args:
            word: The word.
            number: Which it is.
            rows: float32 [N, R], log-probabilities of its first token, and of those behind.
        """
        own = float(rows[0, word.ids[0]])
        if word.joins:
            signs = list(self._signs)
            likely = rows[0, signs].topk(min(_EACH, len(signs)))
            for nats, place in zip(likely.values.tolist(), likely.indices.tolist(), strict=True):
                if nats > own:
                    yield from self._sign(word, number, signs[place], nats - own)
        if word.whole:
            yield from self._apostrophe(word, number, rows)

    def _sign(self, word: _Word, number: int, token: int, nats: float) -> Iterator[_Try]:
        sign, text = self._signs[token], word.text
        opens = sign[0] == " " and sign != " -"
        if opens and text[0] != " ":
            return
        changes = [Change(word.start, word.start + opens, sign, PUNCTUATED)]
        if self._capitals and sign.strip('"')[-1:] in set(".?!") and text[1:2].islower():
            text = text[0] + text[1].upper() + text[2:]
            changes.append(Change(word.start + 1, word.start + 2, text[1], PUNCTUATED))
        ids = word.ids if text == word.text and not opens else self._ids(text[opens:])
        # Only the first token is asked for: the others have to be the same.
        if ids and ids[1:] == word.ids[1:]:
            yield _Try(
                word=number,
                nats=nats,
                asked=[token],
                then=ids[0],
                done=replace(
                    word,
                    text=text,
                    ids=ids,
                    joins=False,
                    whole=word.whole and not opens,
                    sign=[token],
                ),
                changes=tuple(changes),
            )

    def _apostrophe(self, word: _Word, number: int, rows: torch.Tensor) -> Iterator[_Try]:
        match = _APOSTROPHE.match(word.text)
        stem = self._ids(match[0]) if match else []
        own = sum(float(rows[n, token]) for n, token in enumerate(word.ids))
        if match is None or float(rows[0, stem[0]]) <= own:
            return
        at = word.start + match.end()
        for sign in "'’":
            ids = self._ids(f"{match[0]}{sign}{word.text[match.end() :]}")
            if ids[: len(stem)] == stem and len(ids) > len(stem):
                yield _Try(
                    word=number,
                    nats=float(rows[0, stem[0]]) - own,
                    asked=stem,
                    then=ids[len(stem)],
                    done=replace(word, ids=ids, whole=False),
                    changes=(Change(at, at, sign, PUNCTUATED),),
                )
