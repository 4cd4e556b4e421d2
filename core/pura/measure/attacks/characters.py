"""Attacks on characters, words and sentences, as people and office programs make them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from pura.measure.attacks.base import count_of

_WORD: Final = re.compile(r"[^\W\d_]+")
_KEYBOARD: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_HOMOGLYPHS: Final = dict(
    zip("aceijopsxyABCEHIJKMOPSTXY", "асеіјорѕхуАВСЕНІЈКМОРЅТХУ", strict=True)
)
"""Latin letters and the Cyrillic ones that look like them."""
_ZERO_WIDTH: Final = "\u200b\u200c\u200d\u2060"
_OFFICE: Final = re.compile(r"\"|'|--|\.\.\.|(?<=\d) (?=\w)")


def at_places(
    text: str,
    spans: list[tuple[int, int]],
    rng: np.random.Generator,
    rate: float,
    change: Callable[[str, int], str],
) -> str:
    """Change some places of a text.

    Args:
        text: The text.
        spans: Begin and end of every place where something can be done, ascending.
        rng: Randomness.
        rate: Share of them.
        change: Gets what stands there and where it begins; returns what is to stand there.
    """
    chosen = rng.choice(len(spans), count_of(len(spans), rate), replace=False) if spans else ()
    parts, last = [], 0
    for number in sorted(int(c) for c in chosen):
        begin, end = spans[number]
        parts += [text[last:begin], change(text[begin:end], begin)]
        last = end
    return "".join([*parts, text[last:]])


def word_spans(text: str, least: int = 1) -> list[tuple[int, int]]:
    """Return begin and end of every word of letters with at least so many."""
    return [m.span() for m in _WORD.finditer(text) if m.end() - m.start() >= least]


def typos(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Put a slip of the keyboard into a share of the words of three letters or more.

    Two neighbours change places, a letter is missing, stands twice, or is the key beside it.
    """

    def slip(word: str, _: int) -> str:
        at = int(rng.integers(0, len(word) - 1))
        kind = int(rng.integers(0, 4))
        letter = word[at]
        if kind == 0 and word[at + 1] != letter:
            return word[:at] + word[at + 1] + letter + word[at + 2 :]
        if kind == 1:
            return word[:at] + word[at + 1 :]
        beside = _beside(letter)
        if kind == 2 and beside:
            return word[:at] + beside[int(rng.integers(len(beside)))] + word[at + 1 :]
        return word[: at + 1] + letter + word[at + 1 :]

    return at_places(text, word_spans(text, 3), rng, rate, slip)


def _beside(letter: str) -> str:
    for row in _KEYBOARD:
        at = row.find(letter.lower())
        if at >= 0:
            keys = row[max(at - 1, 0) : at] + row[at + 1 : at + 2]
            return keys.upper() if letter.isupper() else keys
    return ""


def change_case(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Turn the first letter of a share of the words from large to small or back."""
    return at_places(text, word_spans(text), rng, rate, lambda w, _: w[0].swapcase() + w[1:])


def drop_punctuation(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Leave out a share of the punctuation marks."""
    spans = [m.span() for m in re.finditer(r"[.,;:!?()\"'-]", text)]
    return at_places(text, spans, rng, rate, lambda _, __: "")


def homoglyphs(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Replace a share of the letters that have a Cyrillic double by it."""
    spans = [(i, i + 1) for i, sign in enumerate(text) if sign in _HOMOGLYPHS]
    return at_places(text, spans, rng, rate, lambda sign, _: _HOMOGLYPHS[sign])


def zero_width(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Put a character of no width behind a share of the characters."""
    signs = rng.integers(0, len(_ZERO_WIDTH), len(text))
    spans = [(i, i + 1) for i in range(len(text))]
    return at_places(text, spans, rng, rate, lambda sign, i: sign + _ZERO_WIDTH[signs[i]])


def office_typography(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Do what word processors do: curly quotes, dashes, one sign of three dots, hard spaces."""

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
"""Where the package ``mythes-en-us`` of Debian puts its thesaurus, made from WordNet."""

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
    """Spell a share of the words the other way: British as American and back."""
    known = _spellings()
    spans = [(b, e) for b, e in word_spans(text) if text[b:e].lower() in known]
    return at_places(text, spans, rng, rate, lambda w, _: _cased(known[w.lower()], w))


def change_contractions(text: str, rng: np.random.Generator, *, rate: float) -> str:
    """Contract or spell out a share of the forms that have both."""
    known = {k.lower(): v for k, v in _contractions().items()}
    forms = sorted(map(re.escape, known), key=len, reverse=True)
    spans = [m.span() for m in re.finditer(rf"\b(?:{'|'.join(forms)})\b", text, re.IGNORECASE)]
    return at_places(text, spans, rng, rate, lambda w, _: _cased(known[w.lower()], w))


def synonyms(
    text: str, rng: np.random.Generator, *, rate: float, thesaurus: Callable[[str], tuple[str, ...]]
) -> str:
    """Replace a share of the words that have synonyms by one of them.

    Args:
        text: The text.
        rng: Randomness.
        rate: Share of those words.
        thesaurus: Gives the synonyms of a word in small letters; single words only are taken.
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
            # “(generic term)” and the like are other relations than that of a synonym.
            listed += [s for s in next(lines).split("|")[1:] if "(" not in s]
        out[word] = tuple(dict.fromkeys(listed))
    return out


_END: Final = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|\n+")


def split_sentences(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a text and what stands between them.

    A sentence ends at white space after a full stop, question or exclamation mark (closing
    quotes included), or at a line break. Abbreviations are cut too: an attack need not parse.

    Returns:
        Sentences and separators; putting them together alternately gives the text, and there is
        one separator less than there are sentences.
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
    """Put the sentences into another order; the white space between them stays in place.

    With two sentences or more the order always changes.
    """
    sentences, separators = split_sentences(text)
    if len(sentences) < 2:
        return text
    order = rng.permutation(len(sentences))
    while np.all(order[:-1] < order[1:]):
        order = rng.permutation(len(sentences))
    return _join([sentences[i].strip() for i in order], separators)


def copy_paste(text: str, rng: np.random.Generator, *, share: float, foreign: Sequence[str]) -> str:
    """Mix in sentences of somebody else.

    The text's own sentences stay in order; foreign ones go between them at random places until
    they make up ``share`` of all sentences.

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
    chosen = [foreign[i].strip() for i in rng.choice(len(foreign), count, replace=False)]
    for sentence, place in zip(
        chosen,
        sorted(rng.integers(0, len(sentences) + 1, count).tolist(), reverse=True),
        strict=True,
    ):
        sentences.insert(place, sentence)
        separators.insert(min(place, len(separators)), " ")
    return _join(sentences, separators)


def _join(sentences: Sequence[str], separators: Sequence[str]) -> str:
    parts = [sentences[0]]
    for separator, sentence in zip(separators, sentences[1:], strict=True):
        parts += [separator, sentence]
    return "".join(parts)
