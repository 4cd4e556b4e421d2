"""Attacks on words that leave the sense alone: spelling, contractions, synonyms."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from pura.measure.attacks.characters import at_places, word_spans

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
