"""Attacks on tokens and characters, and the damage that they do.

A rate stands for an exact number of tokens, drawn without replacement, so that all texts of a cell
are changed equally.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from pura.scheme import F64, I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacked:
    """A text after an attack.

    Attributes:
        ids: int64 [L'], its tokens.
        origin: int64 [L'], original position of each token; -1 for new tokens. None if the attack
            worked on characters.
        rate: Achieved edit rate (:func:`edit_rate`).
    """

    ids: I64
    origin: I64 | None
    rate: float


class TextWriter(Protocol):
    """A local model that writes texts on request."""

    @property
    def name(self) -> str:
        """Name of the writer in results."""

    def __call__(self, system: str, user: str, *, seed: int, tokens: int) -> str:
        """Answer a request.

        Args:
            system: The system prompt.
            user: The request.
            seed: Seed of the sampling.
            tokens: Largest number of tokens of the answer.
        """

    def log_likelihoods(self, system: str, user: str, answer: str) -> F64:
        """Return the log probability of each token of an answer; float64 [A], nats."""


class Paraphraser(Protocol):
    """A model from text to text: DIPPER, with control codes before its text, or a translator."""

    name: str

    def __call__(self, prompt: str, *, seed: int) -> str:
        """Answer."""


class Stepper(Protocol):
    """A model that reads several texts in parallel, one token of each at a time."""

    def __call__(self, tokens: I64) -> npt.NDArray[np.floating]:
        """Read the next tokens, int64 [B]; return their predictions, logits [B, V]."""

    def go_on_as(self, rows: I64) -> None:
        """Continue each text as another one: row ``b`` as row ``rows[b]``; int64 [B]."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """Resources that attacks may need; an attack reports a missing one.

    Attributes:
        vocab_size: ``V``, for random tokens.
        decode: Converts token ids to text.
        tokenise: Converts text to token ids.
        propose: Returns logits float [L, V] for token ids [L]; row ``t`` predicts token ``t``.
            Plausible edits are drawn from this small model.
        foreign: Sentences by other authors.
        thesaurus: Returns the synonyms of a word in lower case.
        writer: A model that rewrites.
        stepper: Starts reading with the substitute model.
        paraphraser: DIPPER itself.
        translators: Translators into another language, and back.
    """

    vocab_size: int = 0
    decode: Callable[[I64], str] | None = None
    tokenise: Callable[[str], I64] | None = None
    propose: Callable[[I64], npt.NDArray[np.floating]] | None = None
    foreign: tuple[str, ...] = ()
    thesaurus: Callable[[str], tuple[str, ...]] | None = None
    writer: TextWriter | None = None
    stepper: Callable[[], Stepper] | None = None
    paraphraser: Paraphraser | None = None
    translators: tuple[Paraphraser, ...] = ()


def edit_rate(before: I64, after: I64) -> float:
    """Return the Levenshtein distance between two token sequences per token of the first.

    Args:
        before: int64 [L].
        after: int64 [L'].

    Returns:
        0 for equal sequences, also empty ones; infinity if only the first is empty.
    """
    if not before.size:
        return float("inf") if after.size else 0.0
    columns = np.arange(after.size + 1)
    row = columns.copy()
    for number, token in enumerate(before.tolist(), start=1):
        # Deletion and substitution at once; insertions are a running minimum of row - place.
        best = np.minimum(row[1:] + 1, row[:-1] + (after != token))
        row = np.concatenate([[number], best])
        row = np.minimum.accumulate(row - columns) + columns
    return float(row[-1] / before.size)


@dataclass(frozen=True, kw_only=True)
class Damage:
    """Damage that an attack did to a text.

    Attributes:
        characters: Edit rate in characters (:func:`edit_rate`).
        words: Edit rate in words.
        tokens: Edit rate in tokens.
        similarity: Cosine of the word counts, 0 … 1: the same words give 1, in any order.
        perplexity_before: Perplexity of the text before; None without a model.
        perplexity: Perplexity of the text after.
    """

    characters: float
    words: float
    tokens: float
    similarity: float
    perplexity_before: float | None = None
    perplexity: float | None = None


def damage(before: tuple[str, I64], after: tuple[str, I64], tools: Tools) -> Damage:
    """Measure the difference between two texts, each with its tokens."""
    word_lists = [text.split() for text, _ in (before, after)]
    number = {word: i for i, word in enumerate(dict.fromkeys([*word_lists[0], *word_lists[1]]))}
    old, new = (
        np.array([number[w] for w in word_list], dtype=np.int64) for word_list in word_lists
    )
    letters = [np.frombuffer(text.encode("utf-32-le"), "<u4") for text, _ in (before, after)]
    return Damage(
        characters=edit_rate(letters[0].astype(np.int64), letters[1].astype(np.int64)),
        words=edit_rate(old, new),
        tokens=edit_rate(before[1], after[1]),
        similarity=_cosine(Counter(old.tolist()), Counter(new.tolist())),
        perplexity_before=perplexity(before[1], tools),
        perplexity=perplexity(after[1], tools),
    )


def perplexity(ids: I64, tools: Tools) -> float | None:
    """Return the perplexity of a text from its second token on; None without model or tokens."""
    log_p = log_likelihoods(ids, tools)
    return None if log_p is None else float(np.exp(-log_p.mean()))


def log_likelihoods(ids: I64, tools: Tools) -> F64 | None:
    """Return the log probability of each token but the first; float64 [L - 1], nats.

    Returns:
        None without a model, or with fewer than two tokens.
    """
    if tools.propose is None or ids.size < 2:
        return None
    logits = np.asarray(tools.propose(ids)[1:], dtype=np.float64)
    top = logits.max(axis=1)
    log_z = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    return np.asarray(logits[np.arange(ids.size - 1), ids[1:]] - log_z)


def _cosine(a: Counter[int], b: Counter[int]) -> float:
    if not a or not b:
        return float(a == b)
    norm = np.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return float(sum(v * b[k] for k, v in a.items()) / norm)


def count_of(size: int, rate: float) -> int:
    """Return a rate of ``size`` as a number, rounded to the nearest.

    Raises:
        ValueError: The rate is not between 0 and 1.
    """
    if not 0 <= rate <= 1:
        raise ValueError("a rate lies between 0 and 1")
    return round(rate * size)


def result(before: I64, ids: I64, origin: I64 | None) -> Attacked:
    """Return the outcome with its edit rate."""
    return Attacked(ids=ids, origin=origin, rate=edit_rate(before, ids))


def substitute(ids: I64, rng: np.random.Generator, *, rate: float, vocab_size: int) -> Attacked:
    """Replace tokens by others, uniform over the vocabulary.

    Args:
        ids: int64 [L].
        rng: Randomness.
        rate: Share of tokens.
        vocab_size: ``V``, at least 2.
    """
    positions = rng.choice(ids.size, count_of(ids.size, rate), replace=False)
    out, origin = ids.copy(), np.arange(ids.size)
    # A step of 1 … V-1 around the vocabulary never meets the token itself.
    out[positions] = (ids[positions] + rng.integers(1, vocab_size, positions.size)) % vocab_size
    origin[positions] = -1
    return result(ids, out, origin)


def substitute_plausible(
    ids: I64,
    rng: np.random.Generator,
    *,
    rate: float,
    logits: npt.NDArray[np.floating],
    top_k: int = 50,
) -> Attacked:
    """Replace tokens by what a model finds likely in their place.

    The new token is drawn from the model's ``top_k`` tokens, the old one left out, their
    probabilities renormalised. The model sees the text as it was before the attack.

    Args:
        ids: int64 [L].
        rng: Randomness.
        rate: Share of tokens. The first token, which has no prediction, is spared.
        logits: float [L, V]; row ``t`` predicts token ``t``, row 0 is not read.
        top_k: How many tokens the model offers.
    """
    count = min(count_of(ids.size, rate), max(ids.size - 1, 0))
    positions = 1 + rng.choice(max(ids.size - 1, 0), count, replace=False)
    out, origin = ids.copy(), np.arange(ids.size)
    for position in positions.tolist():
        row = np.array(logits[position], dtype=np.float64)
        row[ids[position]] = -np.inf
        offered = np.argpartition(-row, top_k)[:top_k] if top_k < row.size else np.arange(row.size)
        weight = np.exp(row[offered] - row[offered].max())
        out[position] = rng.choice(offered, p=weight / weight.sum())
    origin[positions] = -1
    return result(ids, out, origin)


def insert(ids: I64, rng: np.random.Generator, *, rate: float, vocab_size: int) -> Attacked:
    """Insert tokens, uniform over the vocabulary, at positions uniform over the text.

    Args:
        ids: int64 [L].
        rng: Randomness.
        rate: Inserted tokens per token of the text.
        vocab_size: ``V``.
    """
    count = count_of(ids.size, rate)
    positions = rng.integers(0, ids.size + 1, count)
    new = rng.integers(0, vocab_size, count)
    origin = np.insert(np.arange(ids.size), positions, -1)
    return result(ids, np.insert(ids, positions, new), origin)


def delete(ids: I64, rng: np.random.Generator, *, rate: float) -> Attacked:
    """Delete a share of the tokens."""
    positions = rng.choice(ids.size, count_of(ids.size, rate), replace=False)
    origin = np.delete(np.arange(ids.size), positions)
    return result(ids, ids[origin], origin)


def truncate(
    ids: I64, _rng: object = None, *, tokens: int | None = None, rate: float = 0.5
) -> Attacked:
    """Keep only the first tokens: a number of them, or all but a share."""
    tokens = ids.size - count_of(ids.size, rate) if tokens is None else tokens
    head = ids[: max(tokens, 0)]
    return result(ids, head.copy(), np.arange(head.size))


def paste_spans(
    ids: I64, rng: np.random.Generator, *, host: I64, share: float, spans: int
) -> Attacked:
    """Put pieces of the text, in order, at random positions of a host text.

    Args:
        ids: int64 [L].
        rng: Randomness; cuts the text and chooses the positions.
        host: int64 [H], long enough for its share.
        share: The host's share of the tokens of the result, in [0, 1).
        spans: Number of pieces, 1 … L.

    Raises:
        ValueError: The host is too short, or there are more pieces than tokens.
    """
    foreign = round(ids.size * share / (1 - share))
    if foreign > host.size or not 1 <= spans <= max(ids.size, 1):
        raise ValueError("the host text is too short, or there are too many pieces")
    cuts = np.sort(rng.choice(max(ids.size - 1, 0), spans - 1, replace=False)) + 1
    gaps = np.sort(rng.integers(0, foreign + 1, spans))
    pieces, around = np.split(np.arange(ids.size), cuts), np.split(np.arange(foreign), gaps)
    origin = np.concatenate(
        [np.full(around[0].size, -1)]
        + [
            np.concatenate([o, np.full(a.size, -1)])
            for o, a in zip(pieces, around[1:], strict=True)
        ]
    )
    out = np.empty(origin.size, dtype=np.int64)
    out[origin >= 0], out[origin < 0] = ids, host[:foreign]
    return result(ids, out, origin)


def splice(ids: I64, rng: np.random.Generator, *, host: I64, before: int | None = None) -> Attacked:
    """Paste the text as one passage into a host text.

    Args:
        ids: int64 [L], the passage.
        rng: Randomness; chooses the position.
        host: int64 [H], the surrounding text.
        before: Tokens of the host before the passage; None for random.
    """
    cut = int(rng.integers(0, host.size + 1)) if before is None else before
    origin = np.full(host.size + ids.size, -1)
    origin[cut : cut + ids.size] = np.arange(ids.size)
    return result(ids, np.concatenate([host[:cut], ids, host[cut:]]), origin)


_WORD: Final = re.compile(r"[^\W\d_]+")
_KEYBOARD: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_HOMOGLYPHS: Final = dict(
    zip("aceijopsxyABCEHIJKMOPSTXY", "асеіјорѕхуАВСЕНІЈКМОРЅТХУ", strict=True)
)
"""Latin letters with their Cyrillic lookalikes."""
_ZERO_WIDTH: Final = "\u200b\u200c\u200d\u2060"
_OFFICE: Final = re.compile(r"\"|'|--|\.\.\.|(?<=\d) (?=\w)")


def at_places(
    text: str,
    spans: list[tuple[int, int]],
    rng: np.random.Generator,
    rate: float,
    change: Callable[[str, int], str],
) -> str:
    """Change a share of the given spans of a text.

    Args:
        text: The text.
        spans: Start and end of every span that can be changed, ascending.
        rng: Randomness.
        rate: Share of the spans that are changed.
        change: Returns the new text of a span from its old text and start.
    """
    selected = rng.choice(len(spans), count_of(len(spans), rate), replace=False) if spans else ()
    parts, last = [], 0
    for number in sorted(int(c) for c in selected):
        begin, end = spans[number]
        parts += [text[last:begin], change(text[begin:end], begin)]
        last = end
    return "".join([*parts, text[last:]])


def word_spans(text: str, shortest: int = 1) -> list[tuple[int, int]]:
    """Return start and end of every word with at least ``shortest`` letters."""
    return [m.span() for m in _WORD.finditer(text) if m.end() - m.start() >= shortest]


def typos(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Put a typing error into a share of the words of three letters or more.

    Two neighbours are swapped, or a letter is missing, doubled, or replaced by a neighbouring key.
    """

    def slip(word: str, _: int) -> str:
        index = int(rng.integers(0, len(word) - 1))
        kind = int(rng.integers(0, 4))
        letter = word[index]
        if kind == 0 and word[index + 1] != letter:
            return word[:index] + word[index + 1] + letter + word[index + 2 :]
        if kind == 1:
            return word[:index] + word[index + 1 :]
        neighbours = _beside(letter)
        if kind == 2 and neighbours:
            return word[:index] + neighbours[int(rng.integers(len(neighbours)))] + word[index + 1 :]
        return word[: index + 1] + letter + word[index + 1 :]

    return at_places(text, word_spans(text, 3), rng, rate, slip)


def _beside(letter: str) -> str:
    for row in _KEYBOARD:
        index = row.find(letter.lower())
        if index >= 0:
            keys = row[max(index - 1, 0) : index] + row[index + 1 : index + 2]
            return keys.upper() if letter.isupper() else keys
    return ""


def change_case(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Swap the case of the first letter of a share of the words."""
    return at_places(text, word_spans(text), rng, rate, lambda w, _: w[0].swapcase() + w[1:])


def drop_punctuation(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Delete a share of the punctuation marks."""
    spans = [m.span() for m in re.finditer(r"[.,;:!?()\"'-]", text)]
    return at_places(text, spans, rng, rate, lambda _, __: "")


def homoglyphs(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Replace a share of the letters with a Cyrillic lookalike by that."""
    spans = [(i, i + 1) for i, sign in enumerate(text) if sign in _HOMOGLYPHS]
    return at_places(text, spans, rng, rate, lambda sign, _: _HOMOGLYPHS[sign])


def zero_width(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Insert a zero-width character after a share of the characters."""
    signs = rng.integers(0, len(_ZERO_WIDTH), len(text))
    spans = [(i, i + 1) for i in range(len(text))]
    return at_places(text, spans, rng, rate, lambda sign, i: sign + _ZERO_WIDTH[signs[i]])


def office_typography(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Apply word-processor typography: curly quotes, dashes, ellipses, no-break spaces."""

    def typeset(sign: str, begin: int) -> str:
        opens = begin == 0 or text[begin - 1].isspace() or text[begin - 1] in "([{“‘"
        return {
            '"': "“" if opens else "”",
            "'": "‘" if opens else "’",
            "--": "–",
            "...": "…",
            " ": "\u00a0",
        }[sign]

    spans = [m.span() for m in _OFFICE.finditer(text)]
    return at_places(text, spans, rng, rate, typeset)


MYTHES: Final = Path("/usr/share/mythes/th_en_US_v2.dat")
"""Thesaurus of the Debian package ``mythes-en-us``, made from WordNet."""

_STEMS: Final = {
    "our or": "behavi col fav fla flav harb hon hum lab neighb od parl rum sav val vap vig endeav",
    "ise ize": "apolog author categor character critic custom emphas familiar final general "
    "harmon memor minim maxim modern optim organ real recogn special standard summar symbol util",
    "yse yze": "anal catal paral",
    "tre ter": "cen li thea lus spec",
    "ence ense": "def off lic pret",
    "ogue og": "catal dial anal monol",
    "lled led": "trave cance mode labe fue leve signa",
    "lling ling": "trave cance mode labe fue leve signa",
}
_PAIRS: Final = (
    "grey gray,programme program,cheque check,tyre tire,kerb curb,plough plow,aluminium aluminum,"
    "jewellery jewelry,moustache mustache,pyjamas pajamas,sceptical skeptical,draught draft,"
    "mould mold,moult molt,storey story,towards toward,whilst while,learnt learned,dreamt dreamed,"
    "spelt spelled,burnt burned,enrol enroll,fulfil fulfill,skilful skillful,wilful willful,"
    "instalment installment,judgement judgment,ageing aging,manoeuvre maneuver,foetus fetus,"
    "fibre fiber,meagre meager"
)
_CONTRACTED: Final = (
    "do not=don't,does not=doesn't,did not=didn't,is not=isn't,are not=aren't,was not=wasn't,"
    "were not=weren't,have not=haven't,has not=hasn't,had not=hadn't,cannot=can't,"
    "could not=couldn't,"
    "would not=wouldn't,should not=shouldn't,will not=won't,I am=I'm,I have=I've,I will=I'll,"
    "you are=you're,you have=you've,you will=you'll,he is=he's,she is=she's,it is=it's,"
    "that is=that's,"
    "we are=we're,we have=we've,we will=we'll,they are=they're,they have=they've,they will=they'll,"
    "there is=there's,what is=what's,let us=let's"
)


@cache
def _spellings() -> dict[str, str]:
    pairs = [tuple(pair.split()) for pair in _PAIRS.split(",")]
    for endings, stems in _STEMS.items():
        british, american = endings.split()
        pairs += [(stem + british, stem + american) for stem in stems.split()]
    out: dict[str, str] = {}
    for british, american in pairs:
        forms = [("", "")]
        if british.endswith("e") and american.endswith("e"):
            forms += [("s", "s"), ("d", "d")]
            pairs_ing = (british[:-1] + "ing", american[:-1] + "ing")
            out[pairs_ing[0]], out[pairs_ing[1]] = pairs_ing[1], pairs_ing[0]
        elif british.endswith("our"):
            forms += [(e, e) for e in ("s", "ed", "ing", "able", "ful", "hood", "ite")]
        else:
            forms += [("s", "s")]
        for b, a in forms:
            out.setdefault(british + b, american + a)
            out.setdefault(american + a, british + b)
    return out


@cache
def _contractions() -> dict[str, str]:
    pairs = [pair.split("=") for pair in _CONTRACTED.split(",")]
    return {a: b for full, short in pairs for a, b in ((full, short), (short, full))}


def change_spelling(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Change the spelling of a share of the words: British to American and back."""
    spellings = _spellings()
    spans = [(b, e) for b, e in word_spans(text) if text[b:e].lower() in spellings]
    return at_places(text, spans, rng, rate, lambda w, _: _cased(spellings[w.lower()], w))


def change_contractions(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Contract a share of the forms with a contraction, or expand it."""
    contractions = {k.lower(): v for k, v in _contractions().items()}
    forms = sorted(map(re.escape, contractions), key=len, reverse=True)
    spans = [m.span() for m in re.finditer(rf"\b(?:{'|'.join(forms)})\b", text, re.IGNORECASE)]
    return at_places(text, spans, rng, rate, lambda w, _: _cased(contractions[w.lower()], w))


def synonyms(
    text: str, rng: np.random.Generator, *, rate: float, thesaurus: Callable[[str], tuple[str, ...]]
) -> str:
    """Replace a share of the words that have synonyms by one of them.

    Args:
        text: The text.
        rng: Randomness.
        rate: Share of those words.
        thesaurus: Returns the synonyms of a word in lower case; only single words are used.
    """

    def offered(word: str) -> list[str]:
        return [s for s in thesaurus(word.lower()) if s.isalpha() and s.lower() != word.lower()]

    spans = [(b, e) for b, e in word_spans(text, 3) if offered(text[b:e])]

    def other(word: str, _: int) -> str:
        choice = offered(word)
        return _cased(choice[int(rng.integers(len(choice)))], word)

    return at_places(text, spans, rng, rate, other)


def _cased(new: str, old: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if old[:1].isupper() else new


@cache
def read_mythes(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a thesaurus in the format of MyThes.

    First line: the encoding. Then ``word|n`` and ``n`` lines ``(part of speech)|synonym|…``.
    """
    encoding, _, rest = path.read_bytes().partition(b"\n")
    lines = iter(rest.decode(encoding.decode("ascii").strip()).splitlines())
    out: dict[str, tuple[str, ...]] = {}
    for line in lines:
        word, _, count = line.rpartition("|")
        listed: list[str] = []
        for _ in range(int(count)):
            # “(generic term)” and similar notes mark relations other than synonyms.
            listed += [s for s in next(lines).split("|")[1:] if "(" not in s]
        out[word] = tuple(dict.fromkeys(listed))
    return out


_END: Final = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|\n+")


def split_sentences(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a text and the separators between them.

    A sentence ends at white space after a full stop, question or exclamation mark (closing
    quotes included), or at a line break. Abbreviations are cut too: an attack need not parse.

    Returns:
        Sentences and separators; joining them alternately gives the text, with one separator less
        than sentences.
    """
    sentences, separators, start = [], [], 0
    for match in _END.finditer(text):
        cut = match.end() - len(match.group()) + len(match.group().rstrip())
        if not text[start:cut].strip() or not text[match.end() :].strip():
            continue
        sentences.append(text[start:cut])
        separators.append(text[cut : match.end()])
        start = match.end()
    return [*sentences, text[start:]], separators


def sentence_shuffle(text: str, rng: np.random.Generator) -> str:
    """Reorder the sentences; the white space between them stays in place.

    With two or more sentences the order always changes.
    """
    sentences, separators = split_sentences(text)
    if len(sentences) < 2:
        return text
    order = rng.permutation(len(sentences))
    while np.all(order[:-1] < order[1:]):
        order = rng.permutation(len(sentences))
    return _join([sentences[i].strip() for i in order], separators)


def copy_paste(text: str, rng: np.random.Generator, *, share: float, foreign: Sequence[str]) -> str:
    """Mix in sentences of other authors.

    The text's own sentences stay in order; foreign ones are inserted at random positions until they
    make up ``share`` of all sentences.

    Args:
        text: The text.
        rng: Randomness.
        share: Foreign share of the sentences of the result, in [0, 1).
        foreign: Sentences to take from, each at most once.

    Raises:
        ValueError: There are too few foreign sentences.
    """
    sentences, separators = split_sentences(text)
    count = round(len(sentences) * share / (1 - share))
    if count > len(foreign):
        raise ValueError("too few foreign sentences")
    inserted = [foreign[i].strip() for i in rng.choice(len(foreign), count, replace=False)]
    for sentence, position in zip(
        inserted,
        sorted(rng.integers(0, len(sentences) + 1, count).tolist(), reverse=True),
        strict=True,
    ):
        sentences.insert(position, sentence)
        separators.insert(min(position, len(separators)), " ")
    return _join(sentences, separators)


def _join(sentences: Sequence[str], separators: Sequence[str]) -> str:
    parts = [sentences[0]]
    for separator, sentence in zip(separators, sentences[1:], strict=True):
        parts += [separator, sentence]
    return "".join(parts)
