"""What may be expected of a text before it is read, and of a profile before it is used."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pura.base.catalogue import Value, catalogue
from pura.detect.verdict.power import PROSE, length_found, shipped_power
from pura.scheme import Profile

TOKENS_A_LETTER_WORD: Final = 1.25
"""Tokens an English word, of the built-in model's kind of vocabulary."""
USABLE_SHARE: Final = 0.895
"""Usable positions a token: 179 of 200 in the study's cells (study.md §1)."""
SHORT_TOKENS: Final = 60
"""Below it the study found fewer than 95 of 100 payloads (study.md §2)."""
SIGNS: Final = "signs"
"""What a text of mostly code or numbers is called."""
MANY_SIGNS: Final = 0.2
"""Share of digits and signs among the characters from which a text is mostly code or numbers."""
REPETITIVE: Final = 0.25
"""Compressed size over size below which a text repeats itself; a context counts once."""
_MIN_WORDS: Final = 20
_SAMPLE: Final = 20_000
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

# The commonest function words; a text of prose holds about one in three of its own language's.
_COMMON: Final[dict[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "English": "the of and to a in is that it was for on with as be at by not this are or from "
        "have but an they which you were her she he his all we their has had will one can",
        "German": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine "
        "als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie",
        "French": "de la le et les des en un une du que est pour dans qui par plus au sur pas ne "
        "se il ce avec sont cette son mais ou nous elle aux ont leur",
        "Spanish": "de la que el en y los del se las por un para con no una su al es lo como más "
        "pero sus le ya o este sí porque esta entre cuando muy sin sobre",
        "Italian": "di e il la che in un a per è una sono non del con si da della le i al dei "
        "nel come più anche lo alla ma ha gli delle questo",
        "Portuguese": "de a o que e do da em um para é com não uma os no se na por mais as dos "
        "como mas foi ao ele das tem à seu sua ou ser",
        "Dutch": "de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar "
        "bij uit nog naar heeft ze wordt door over deze",
    }.items()
}

_TAGS: Final = {
    "English": "en",
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Italian": "it",
    "Portuguese": "pt",
    "Dutch": "nl",
}


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What may be expected of an audit of one text.

    Attributes:
        tokens: Estimate of ``L``.
        usable: Estimate of the usable positions.
        bits: Estimate of the payload bits that can be read if the text is marked, at most
            ``payload_bits``.
        payload_bits: ``L_m`` of the profile.
        language: What the words look like; ``""`` when there are too few to tell.
        notes: Some of :data:`NOTES`, the weightiest first.
    """

    tokens: int
    usable: int
    bits: int
    payload_bits: int
    language: str
    notes: tuple[str, ...]

    @property
    def matters(self) -> bool:
        """A mark could not be read whole, or something stands against the estimate."""
        return self.bits < self.payload_bits or bool(self.notes)

    def lines(self, language: str = "en") -> list[str]:
        """Return the expectation in sentences, the number first; none where nothing is amiss."""
        if not self.matters:
            return []
        values: dict[str, Value] = {
            "bits": self.bits,
            "payload_bits": self.payload_bits,
            "tokens": self.tokens,
            "usable": self.usable,
            "found": self.language or "",
        }
        keys = ("expect.bits", *(f"expect.{note}" for note in self.notes))
        return [catalogue("command").fill(key, language, values) for key in keys]


TOLD: Final = frozenset({*_TAGS, SIGNS})
"""Kinds of texts that are told from all others; "another language" is any of many."""

NOTES: Final = ("signs", "language", "short", "repetitive")
"""What can weaken an estimate; the words stand in the catalogue."""


def expect(text: str, profile: Profile) -> Expectation:
    """Estimate what an audit of a text can find.

    Args:
        text: The text under audit.
        profile: Its payload.
    """
    tokens = estimate_tokens(text)
    language = language_of(text)
    unlike = unlike_study(text)
    repeated = _ratio(text)
    usable = round(tokens * USABLE_SHARE * min(1.0, repeated / REPETITIVE))
    notes = (
        ("signs", unlike == "signs"),
        ("language", unlike == "language"),
        ("short", tokens < SHORT_TOKENS),
        ("repetitive", repeated < REPETITIVE),
    )
    return Expectation(
        tokens=tokens,
        usable=usable,
        bits=readable_bits(usable, profile.payload_bits),
        payload_bits=profile.payload_bits,
        language=language,
        notes=tuple(name for name, applies in notes if applies),
    )


def unlike_study(text: str) -> str:
    """Say in what a text differs from the English prose that all rates were measured on.

    Args:
        text: The text under audit.

    Returns:
        ``signs`` for what is mostly code or numbers, ``language`` for words that do not look
        English, else ``""``; also when there are too few words to tell.
    """
    return {"": "", PROSE: "", SIGNS: SIGNS}.get(kind_of(text), "language")


def kind_of(text: str) -> str:
    """Say what a text looks like, as far as rates depend on it.

    Args:
        text: The text.

    Returns:
        ``signs`` for what is mostly code or numbers, else the name of its language; ``""`` when
        there are too few words to tell.
    """
    return SIGNS if sign_share(text) >= MANY_SIGNS else language_of(text)


def readable_bits(usable: int, payload_bits: int) -> int:
    """Return about how many payload bits so many usable positions settle.

    In the study, texts cut after 54 usable positions gave 97.9 % of 36 bits back, and 90 positions
    all of them (study.md §2, prompt unknown): 1.5 positions a bit. Fewer positions settle
    proportionally fewer bits, which for a code that spreads every bit is an upper estimate.
    """
    return min(payload_bits, int(usable / 1.5))


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens: words by their length, every other sign one."""
    sample = text[:_SAMPLE]
    words = _WORD.findall(sample)
    latin = sum(max(1.0, len(w) / 5) * TOKENS_A_LETTER_WORD for w in words if w.isascii())
    other = sum(max(1.0, len(w) / 2) for w in words if not w.isascii())
    letters = sum(map(len, words))
    signs = len("".join(sample.split())) - letters
    count = latin * 0.85 + other + signs * 0.9
    return round(count * len(text) / max(1, len(sample)))


def language_of(text: str) -> str:
    """Tell the language from its script and its commonest words; ``""`` when it cannot be told.

    Knows seven languages; another one in Latin letters is called "another language", and a text in
    another script by the script.
    """
    words = [w.casefold() for w in _WORD.findall(text[:_SAMPLE])]
    if len(words) < _MIN_WORDS:
        return ""
    letters = "".join(words)
    if not letters.isascii() and sum(c <= "ɏ" for c in letters) < 0.5 * len(letters):
        return _script(next(c for c in letters if c > "ɏ"))
    counts = Counter(words)
    shares = {
        name: sum(counts[word] for word in common) / len(words) for name, common in _COMMON.items()
    }
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= 0.12 else "another language"


def not_among(text: str, languages: Sequence[str]) -> str:
    """Return the language of a text that is in none of some, ``""`` when it may be in one.

    Args:
        text: The text under audit.
        languages: BCP 47 tags; none admits all. A tag beyond the seven languages that are told
            apart could be any other one, so with such a tag only those seven are ever refused.
    """
    language = language_of(text) if languages else ""
    admitted = {tag.split("-")[0].casefold() for tag in languages}
    if not language or _TAGS.get(language) in admitted:
        return ""
    unclear = language not in _TAGS and not admitted <= set(_TAGS.values())
    return "" if unclear else language


def sign_share(text: str) -> float:
    """Return the share of digits and signs among the characters that are not blank."""
    marks = "".join(text[:_SAMPLE].split())
    if not marks:
        return 0.0
    # Sentence marks belong to prose; they do not make a text code.
    plain = sum(unicodedata.category(c)[0] in "LM" or c in ".,;:!?'\"’“”-" for c in marks)
    return 1.0 - plain / len(marks)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "unknown").split()[0].capitalize() + " script"


def _ratio(text: str) -> float:
    """Return compressed size over size; 1 for what is too short to tell."""
    data = text[:_SAMPLE].encode("utf-8", "replace")
    return len(zlib.compress(data, 6)) / len(data) if len(data) >= 500 else 1.0


THRESHOLD: Final = 6.0
GOAL: Final = 0.9


def length_needed(profile: Profile) -> tuple[int, int] | None:
    """Return how much unedited text a finding takes, nine times in ten; never guessed.

    Returns:
        Positions that carry bits, and about how many tokens that is with the built-in model; None
        where these settings were not measured.
    """
    usable = length_found(shipped_power(), profile, THRESHOLD, GOAL)
    return None if usable is None else (usable, round(usable / USABLE_SHARE))


def advise(profile: Profile) -> dict[str, str]:
    """Return what is odd about a profile, by a code for programs: the setting that it is about."""
    p, low = profile, profile.entropy_thresholds_bits[0]
    odd = {
        "few-bits": ("payload_bits", p.payload_bits < 16),
        "many-bits": ("payload_bits", p.payload_bits > 128),
        "paper-code": ("code", p.code == "spc"),
        "cold": ("temperature", p.temperature < 0.5),
        "hot": ("temperature", p.temperature > 1.5),
        "narrow-k": ("top_k", 0 < p.top_k < 10),
        "narrow-p": ("top_p", p.top_p < 0.5),
        "low-gate": ("entropy_thresholds_bits", low < 0.5),
        "high-gate": ("entropy_thresholds_bits", low > 4),
        "short-window": ("context_window", p.context_window == 1),
        "long-window": ("context_window", p.context_window > 4),
        "no-tokenizer": ("tokenizer", p.tokenizer is None),
        "no-key": ("key", p.key is None),
    }
    return {code: setting for code, (setting, applies) in odd.items() if applies}
