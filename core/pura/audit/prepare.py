"""Steps 1 to 4 of an audit, and the signs that a text was handled.

The power behind "no mark found" (study.md) was measured on unedited texts. A text that was
written all in small letters, was broken in the middle of its sentences, or is full of typing errors
has lost evidence that restoring brings back in part only; there the absence of a mark says
nothing. So it does where many characters are such as the model would hardly write there, whatever
they are, and where the words are much less probable to the model than those that it writes. The
signs are read off the text, and off what the model makes of it without a key; they take away a
claim, never evidence.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.audit.key_reading import intervals_of, issuable
from pura.audit.options import (
    AuditText,
    Options,
    StepLog,
    characters_noted,
    input_noted,
    latest_day,
)
from pura.audit.punctuation import restore_punctuation
from pura.audit.spelling import RESPELT, restore_spelling
from pura.audit.variants import (
    PromptCandidate,
    Variant,
    Weights,
    openings_of,
    readings_of,
)
from pura.base.errors import InputError, ModelError, PolicyError, ProfileError, PuraError
from pura.base.progress import Checkpoint, Progress, Stage
from pura.decode.evidence_sums import sum_evidence
from pura.decode.likelihood import Intervals, LikelihoodModel
from pura.decode.limited import Issuable
from pura.documents.characters import Restored, unchanged
from pura.documents.layout import BROKEN, PAGES, WRAPPED, restore_layout
from pura.documents.ocr import RECOGNISED
from pura.documents.restore import UPPER, case_of, restore, unpunctuated
from pura.scheme import F64, Profile, SecretKey, contexts_before
from pura.verdict.expect import language_of, not_among
from pura.verdict.policy import Policy
from pura.verdict.power import likelihood_of
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.documents import Document
    from pura.model.evidence import Request
    from pura.model.load import BareModel, LanguageModel
    from pura.model.pieces import Look
    from pura.model.reading import Reading
    from pura.model.tokenise import HasTokenizer, Tokens
    from pura.scheme import Profile


CASE: Final = "case"
LINES: Final = "lines"
TYPING: Final = "typing"
CHARACTERS: Final = "characters"
WORDS: Final = "words"
SETTINGS: Final = "settings"
SCAN: Final = "scan"

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
            or _unpunctuated(text),
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


def _unpunctuated(text: str) -> bool:
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


def check_fitness(model: LanguageModel, profile: Profile, keys: Sequence[SecretKey]) -> None:
    """Refuse what cannot work.

    Another model than the profile names is no error: that is what a proxy is, and the record says
    so.

    Raises:
        ProfileError: The tokenizer or the key is not the one that the profile names.
        ModelError: The profile wants a start token and the model has none.
    """
    check_tokenizer(model, profile, [key.fingerprint for key in keys])
    if profile.prefix == "bos" and model.bos_id is None:
        raise ModelError("fitness.start-token", code="model-mismatch")


def check_tokenizer(model: BareModel, profile: Profile, keys: Sequence[str]) -> None:
    """Refuse a tokenizer or a key that is not the one that the profile names.

    Args:
        model: Whose tokenizer.
        profile: The profile.
        keys: Fingerprints.

    Raises:
        ProfileError: It is another.
    """
    found = mismatches(
        profile,
        model=model.name,
        vocab_size=model.vocab_size,
        tokenizer=model.tokenizer_fingerprint,
        keys=keys,
    )
    if found:
        raise found[0]


def check_language(text: str, policy: Policy) -> None:
    """Refuse a text in a language that the policy does not list as validated.

    Raises:
        InputError: It is in another one, as far as its words can tell.
    """
    if not_among(text, policy.languages):
        raise InputError(
            "audit.language",
            rule=policy.rule,
            admitted=", ".join(policy.languages),
            code="language-not-validated",
        )


def mismatches(
    profile: Profile, *, model: str, vocab_size: int, tokenizer: str, keys: Sequence[str]
) -> tuple[PuraError, ...]:
    """Say what does not belong together, from fingerprints alone: nothing is loaded for it.

    Args:
        profile: The profile.
        model: Name of the model.
        vocab_size: Of its tokenizer.
        tokenizer: Fingerprint of its tokenizer.
        keys: Fingerprints of the keys; none chosen is no mismatch.

    Returns:
        One error a mismatch; empty when an audit can begin.
    """
    found: list[PuraError] = []
    if profile.vocab_size != vocab_size or profile.tokenizer not in (None, tokenizer):
        found.append(ProfileError("fitness.tokenizer", model=model, code="tokenizer-mismatch"))
    if profile.key is not None and keys and profile.key not in keys:
        found.append(ProfileError("fitness.key", key=profile.key, code="key-mismatch"))
    return tuple(found)


CHUNK: Final = 512
"""Tokens between two looks at least, where reading may stop early."""

_GROWTH: Final = 1.5  # a look weighs all that was read, so they grow rarer


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditBasis:
    """What all documents of a run are audited with. Make it with :meth:`of`.

    Attributes:
        options: What else is asked.
        model: The model that reads.
        keys: Secret keys and their labels.
        profile: What generator and verifier share; ``today`` in its limits is written out.
        issuable: The payloads within limits; None where all are alike.
        day: What ``today`` in these limits stands for; None where none says it.
        likelihood: The frozen numbers of the decoder, where a power table brings its own.
        progress: Told of every step.
        checkpoint: Called often; may raise.
    """

    options: Options
    model: LanguageModel
    keys: Sequence[tuple[SecretKey, str | None]]
    profile: Profile
    issuable: Issuable | None
    day: dt.date | None
    likelihood: LikelihoodModel | None
    progress: Progress
    checkpoint: Checkpoint

    @classmethod
    def of(
        cls,
        options: Options,
        model: LanguageModel,
        keys: Sequence[tuple[SecretKey, str | None]],
        profile: Profile,
        progress: Progress,
        checkpoint: Checkpoint,
    ) -> AuditBasis:
        """Work out what follows from what a run is given."""
        day = options.day or latest_day()
        dated = profile.on(day)
        return cls(
            options=options,
            model=model,
            keys=keys,
            profile=dated,
            issuable=issuable(dated, options.policy),
            day=day if profile.names_today else None,
            likelihood=likelihood_of(options.power_tables, profile, model.fingerprint),
            progress=progress,
            checkpoint=checkpoint,
        )

    @property
    def beginning(self) -> tuple[int, ...]:
        """What stands before a text of which nothing else is known: the profile's template."""
        from pura.model.tokenise import beginning_ids

        return beginning_ids(self.model.tokenizer, self.profile, "")


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedText:
    """A text after step 4; step 5 reads its :meth:`request`.

    Attributes:
        basis: What it is audited with.
        text: The document, and what is known of it.
        log: Of the steps.
        variants: The forms of the text, as found first.
        tokens: Of each form.
        openings: The readings: a form, behind what may have stood before it.
        before: Contexts that stood before any of them; at these no step carries bits.
        handled: Signs that the text was handled.
    """

    basis: AuditBasis
    text: AuditText
    log: StepLog
    variants: tuple[Variant, ...]
    tokens: tuple[Tokens, ...]
    openings: tuple[PromptCandidate, ...]
    before: frozenset[bytes]
    handled: tuple[str, ...]

    @property
    def weights(self) -> Weights:
        """What each e-value counts in the evidence of the text."""
        return Weights(
            keys=len(self.basis.keys),
            readings=len(self.openings),
            forms=tuple(int(tokens.ids.size) for tokens in self.tokens),
            schemes=1 + len(self.text.other_schemes),
        )

    @property
    def parts(self) -> int:
        """Into how many parts the weight is divided, those of readings not begun as well.

        Keys times readings times schemes: PURA has its share among them.
        """
        return len(self.openings) * len(self.basis.keys) * self.weights.schemes

    def request(self) -> Request:
        """Return what is to be read: every variant, and the first after each candidate."""
        from pura.model.evidence import Request

        texts = [self.tokens[opening.variant].ids for opening in self.openings]
        options = self.basis.options
        looked_at = options.follow or options.policy.stop_at is not None
        return Request(
            texts=texts,
            prompts=[opening.ids for opening in self.openings],
            look=self._look(sum(int(ids.size) for ids in texts)) if looked_at else None,
        )

    def seen(
        self, reading: Reading, row: int, number: int, opening: PromptCandidate | None = None
    ) -> Intervals:
        """Return what a key sees of a reading; of a window, where no opening is given.

        Args:
            reading: Of the model.
            row: Which row of its intervals is in the key's secret order.
            number: Which key.
            opening: What the reading began with.
        """
        basis = self.basis
        whole = None if opening is None else int(self.tokens[opening.variant].ids.size)
        return intervals_of(
            reading,
            row,
            basis.keys[number][0],
            basis.profile,
            basis.checkpoint,
            prompt_known=opening is not None and opening.candidate is not None,
            text_tokens=whole,
            before=self.before,
            likelihood=basis.likelihood,
        )

    def _look(self, all_tokens: int) -> Look:
        """Return what weighs the first reading as far as it was read, and says when to stop.

        In the order of the text the evidence is never more than a test martingale
        (evidence.md §3, "Stopping early"), so a look may be taken at any token.

        Args:
            all_tokens: Of all readings, as the step counts them.
        """
        basis, due = self.basis, 0
        stop_at = basis.options.policy.stop_at

        def look(reading: Reading) -> bool:
            nonlocal due
            if len(reading) < due:
                return False
            due = math.ceil(len(reading) * _GROWTH)
            seen = (self.seen(reading, n, n, self.openings[0]) for n in range(len(basis.keys)))
            each = [sum_evidence(one, checkpoint=basis.checkpoint).log_e for one in seen]
            log10_e = self.weights.first + float(np.logaddexp.reduce(each)) / math.log(10)
            done = len(reading)
            basis.progress(
                Stage(number=5, name="reading", done=done, total=all_tokens, log10_e=log10_e)
            )
            return stop_at is not None and log10_e >= stop_at

        return look


def prepare(basis: AuditBasis, text: AuditText) -> PreparedText:
    """Walk steps 1 to 4.

    Raises:
        PuraError: The text cannot be tokenised, or what is used does not belong together.
    """
    options, model, profile = basis.options, basis.model, basis.profile
    document = text.document
    log = StepLog(reports=text.log, progress=basis.progress, checkpoint=basis.checkpoint)
    _check_power(options)
    with log.step(1) as note:
        note += input_noted(document, alone=text.alone)
    with log.step(2) as note:
        note.append(characters_noted(document))
    with log.step(3) as note:
        variants, tokens, notes = readings_of(
            model,
            document.text,
            excluded=document.excluded,
            restored=options.restore,
            mend=partial(_mend, basis),
            ids=text.ids,
            checkpoint=basis.checkpoint,
        )
        note += notes
        handled = handling_signs(
            variants[0].text,
            pieces_of(model),
            odd=options.policy.odd_characters,
            restored=options.restore,
        )
        if TYPING not in handled and any(
            change.name == RESPELT for one in variants for change in one.substitutions
        ):
            handled += (TYPING,)
        if was_recognised(document):
            handled += (SCAN,)
        note += signs_noted(handled)
        openings = openings_of(model, profile, text.prompts, variants)
        note += _before(openings, profile)
        # In all readings: each text that stood before may quote another one.
        before = contexts_before(
            [one.ids for one in tokens], {opening.ids for opening in openings}, profile
        )
        if before:
            note.append(sentence("log.contexts", n=len(before)))
    with log.step(4):
        check_language(document.examined_text, options.policy)
        check_fitness(model, profile, [key for key, _ in basis.keys])
    return PreparedText(
        basis=basis,
        text=text,
        log=log,
        variants=variants,
        tokens=tuple(tokens),
        openings=openings,
        before=before,
        handled=handled,
    )


def _mend(basis: AuditBasis, text: str, cased: bool) -> Restored:
    """Put signs back where hardly any is left, and mend broken words."""
    done, (model, beginning) = unchanged(text), (basis.model, basis.beginning)
    if _unpunctuated(text):
        done = restore_punctuation(
            model, beginning, text, capitals=cased, checkpoint=basis.checkpoint
        )
    return done.then(restore_spelling(model, beginning, done.text, basis.checkpoint))


def was_recognised(document: Document) -> bool:
    """Whether a text was read from pictures, with the errors that this makes."""
    return any(one.name == RECOGNISED for one in document.transforms)


def signs_noted(signs: Sequence[str]) -> list[Sentence]:
    """Return how the log says that a text was handled."""
    return [sentence("log.handled", sign=f"log.sign-{sign}") for sign in signs]


def _check_power(options: Options) -> None:
    here = {table.fingerprint for table in options.power_tables}
    for name in options.policy.power_tables:
        if name not in here:
            raise PolicyError("power.absent", name=name[:16], code="power-absent")


def _before(openings: Sequence[PromptCandidate], profile: Profile) -> list[Sentence]:
    """Say what stands before the readings."""
    note = [] if profile.chat_template is None else [sentence("log.template")]
    given = [opening for opening in openings if opening.candidate is not None]
    if len({opening.candidate for opening in given}) > 1:
        sizes = [len(opening.ids) for opening in given]
        note.append(sentence("log.prompts", n=len(given), least=min(sizes), most=max(sizes)))
    elif given:
        note.append(sentence("log.prompt", n=len(given[0].ids)))
    return note
