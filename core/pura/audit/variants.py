"""The readings of one text: restored ones, other keys, windows that are read a second time.

Behind foreign text the model's predictions are not those that a passage was written with, and a
short passage drowns. So the windows of a long text are members of the evidence, with weights that
are fixed by the number of tokens alone: 128 tokens from every 32nd on, each read and weighed as a
text of its own. Only a few are read, those around the place that the first look ranks highest, and
only where the first reading does not decide; the others add nothing (evidence.md §3, "A
second reading").

As found, as restored, from saved token ids, after what stood before it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.audit.key_reading import KeyReading, evidence, strongest, weigh
from pura.base.errors import InputError
from pura.base.progress import Checkpoint, never_cancelled
from pura.decode.marks import Mark
from pura.decode.paper import decode as decode_paper
from pura.decode.significance import combine
from pura.documents import characters, layout
from pura.documents.characters import Change, Restored, Substitution, rewrite, unchanged
from pura.documents.layout import Costs
from pura.documents.restore import CASES, MIXED, case_of, restore, restore_case
from pura.model.tokenise import HasTokenizer, Tokens, decode, nats_of, tokenise, usual_spelling
from pura.record.evidence import ChangeFacts, PromptReading, RereadingFacts, VariantFacts
from pura.record.left_out import ExcludedPiece
from pura.record.surroundings import PromptFacts
from pura.scheme import F64, I64, Profile, Schedule
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


SIZE: Final = 128
"""Tokens of a window."""

STRIDE: Final = 32
"""Tokens between the beginnings of two windows."""

WEIGHT: Final = 0.25
"""Part of the evidence that all windows of a long text share."""

_TOKENS_A_WINDOW: Final = 2_500  # so that at most 5.2 % of a text is read again
_NEAR: Final = (-1, 0, -2, 1)  # windows around a place, in strides, the likeliest first


def most_read(tokens: int) -> int:
    """Return how many windows of a text of so many tokens are read at most; 0 where it is short."""
    return min(len(_NEAR), tokens // _TOKENS_A_WINDOW)


def windows(tokens: int) -> int:
    """Return how many windows a text has; the last ones are shorter."""
    return max(1, tokens // STRIDE)


def windows_near(token: int, tokens: int, most: int) -> tuple[int, ...]:
    """Return the first tokens of the windows that are read around a place.

    Args:
        token: The place.
        tokens: Of the text.
        most: How many.
    """
    numbers = [token // STRIDE + step for step in _NEAR]
    there = [number for number in numbers if 0 <= number < windows(tokens)]
    return tuple(sorted(STRIDE * number for number in there[:most]))


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What each e-value counts in the evidence of a text, fixed before any phase is looked at.

    Attributes:
        keys: How many are tried.
        readings: Of the text: its forms, and the first one after each candidate prompt.
        forms: Tokens of each form of the text, as found first.
        schemes: How many are tried, PURA's among them; each has the same part.
    """

    keys: int
    readings: int
    forms: tuple[int, ...]
    schemes: int = 1

    @property
    def again(self) -> bool:
        """The text is long enough for its windows to count."""
        return most_read(self.forms[0]) > 0

    @property
    def cost(self) -> float:
        """log10 by which the windows lower what a first reading says."""
        return -math.log10(1 - WEIGHT) if self.again else 0.0

    @property
    def first(self) -> float:
        """log10 of the weight of a first reading under one key."""
        return -math.log10(self.schemes * self.keys * self.readings) - self.cost

    def second(self, form: int) -> float:
        """log10 of the weight of a window under one key."""
        parts = self.schemes * self.keys * len(self.forms) * windows(self.forms[form])
        return math.log10(WEIGHT / parts)

    def alone(self, form: int, trials: Sequence[KeyReading]) -> float:
        """Return log10 of what one form of the text says alone, read for the first time and again.

        Args:
            form: Which.
            trials: All.
        """
        first = [t for t in _first_of(form, trials) if t.begin is None]
        second = [t for t in trials if t.begin is not None and t.variant == form]
        parts = np.array(
            [
                evidence(first) + math.log10(self.readings),
                evidence(second) + math.log10(len(self.forms)),
            ]
        )
        alone = float(np.logaddexp.reduce(parts * math.log(10)) / math.log(10))
        return alone + math.log10(self.schemes)


def _first_of(form: int, trials: Sequence[KeyReading]) -> list[KeyReading]:
    """Return the trials of a form, of several after candidate prompts those of the first."""
    mine = [trial for trial in trials if trial.variant == form]
    first = min((trial.reading for trial in mine), default=None)
    return [trial for trial in mine if trial.reading == first]


@dataclass(frozen=True, kw_only=True)
class Windows:
    """What is to be read again.

    Attributes:
        trial: The first reading whose look names them.
        begins: The first token of each.
    """

    trial: KeyReading
    begins: tuple[int, ...]

    @property
    def texts(self) -> list[I64]:
        """int64 [128] each, fewer at the end of the text."""
        return [self.trial.ids[begin : begin + SIZE] for begin in self.begins]

    @property
    def note(self) -> Sentence:
        """How the record's log says it."""
        begins = ", ".join(str(begin) for begin in self.begins)
        return sentence("log.again", size=SIZE, begins=begins)


def windows_of(trials: Sequence[KeyReading], weights: Weights, threshold: float) -> Windows | None:
    """Name the windows that are read again; None where nothing is.

    Args:
        trials: Every key on every reading.
        weights: Of them.
        threshold: log10 of the evidence that decides.
    """
    looked = [trial for trial in trials if trial.exact.look is not None]
    if not weights.again or not looked or evidence(trials) >= threshold:
        return None
    if any(trial.seen.stopped for trial in trials):
        return None
    best = max(looked, key=_look)
    assert best.exact.look is not None  # for the type checker
    token = int(best.seen.schedule.token[best.exact.look[0]])
    begins = windows_near(token, best.ids.size, most_read(weights.forms[0]))
    return Windows(trial=_first(best, trials), begins=begins)


def _first(trial: KeyReading, trials: Sequence[KeyReading]) -> KeyReading:
    """Return the first reading of the same form under the same key.

    Of readings that differ in what stands before the text it is the one without a candidate prompt.
    """
    return next(t for t in trials if (t.variant, t.number) == (trial.variant, trial.number))


def _look(trial: KeyReading) -> float:
    return -math.inf if trial.exact.look is None else trial.exact.look[1]


def decisive(trials: Sequence[KeyReading], threshold: float) -> KeyReading | None:
    """Return the window that a finding rests on; None where it rests on first readings.

    Args:
        trials: Every key on every reading and on every window that was read again.
        threshold: log10 of the evidence that is a finding.
    """
    best = max(trials, key=lambda trial: trial.log10_share)
    return best if best.begin is not None and evidence(trials) >= threshold else None


def placed(window: KeyReading, trials: Sequence[KeyReading]) -> KeyReading:
    """Return a window's findings where they stand in the text.

    Its tokens and steps take the place of those that the first reading has there.

    Args:
        window: The second reading of a window.
        trials: All of the text.
    """
    assert window.begin is not None  # for the type checker
    first = _first(window, trials)
    own, there = window.seen, slice(window.begin, window.begin + window.ids.size)

    def put(into: F64, part: F64) -> F64:
        out = into.copy()
        out[there] = part
        return out

    base = first.seen
    seen = replace(
        base,
        schedule=_spliced(base.schedule, own.schedule, there),
        entropy_bits=put(base.entropy_bits, own.entropy_bits),
        probability=put(base.probability, own.probability),
        lo=put(base.lo, own.lo),
        hi=put(base.hi, own.hi),
    )
    local = weigh(seen)
    marks = tuple(_moved(mark, there, first.ids.size) for mark in window.exact.marks)
    return replace(
        window,
        reading=first.reading,
        ids=first.ids,
        seen=seen,
        local=local,
        paper=decode_paper(seen.schedule, local, seen.profile),
        exact=replace(window.exact, marks=marks, usable=len(seen.schedule)),
    )


def _spliced(text: Schedule, window: Schedule, there: slice) -> Schedule:
    before = text.part(slice(0, int(np.searchsorted(text.token, there.start))))
    after = text.part(slice(int(np.searchsorted(text.token, there.stop)), None))
    gate = text.gate.copy()
    gate[there] = window.gate
    return Schedule(
        token=np.concatenate([before.token, window.token + there.start, after.token]),
        arity=np.concatenate([before.arity, window.arity, after.arity]),
        phase=np.concatenate([before.phase, window.phase, after.phase]),
        index=np.concatenate([before.index, window.index, after.index]),
        gate=gate,
    )


def _moved(mark: Mark, there: slice, tokens: int) -> Mark:
    marked, log_ratio = np.zeros(tokens), np.zeros(tokens)
    marked[there], log_ratio[there] = mark.marked, mark.log_ratio
    extents = tuple(one.moved(there.start) for one in mark.extents)
    return replace(mark, marked=marked, log_ratio=log_ratio, extents=extents)


def rereading_facts(
    trials: Sequence[KeyReading], weights: Weights, shown: KeyReading
) -> RereadingFacts | None:
    """Return what the record says of second readings; None of a text that is too short for them.

    Args:
        trials: Every key on every reading and on every window that was read again.
        weights: Of them.
        shown: The trial that the record is about.
    """
    if not weights.again:
        return None
    second = [trial for trial in trials if trial.begin is not None]
    form = second[0].variant if second else 0
    last = {trial.begin: (trial.begin or 0) + trial.ids.size - 1 for trial in second}
    return RereadingFacts(
        weight=WEIGHT,
        windows=windows(weights.forms[form]),
        read=len(second),
        tokens=sum(trial.ids.size for trial in second),
        log10_first=evidence([trial for trial in trials if trial.begin is None]),
        log10_second=evidence(second) if second else None,
        first_token=shown.begin,
        last_token=last.get(shown.begin),
    )


FOUND: Final = "found"
RESTORED: Final = "restored"
LAYOUT: Final = "layout"
CASE: Final = "case"
SPELLING: Final = "spelling"
IDS: Final = "ids"
_MOST: Final = 3  # readings
_UNLIKELY, _A_CHANGE = 20.0, 6.0
"""Nats behind the likeliest one from which a reading is left out: in all, and for each change that
says little by itself."""
_AROUND: Final = 8  # ids that are decoded before a token, since some decoders trim the beginning


Spelling = Callable[[Iterable[str]], dict[str, str]]
Mend = Callable[[str, bool], Restored]
"""Gives a text as a model mends it; True where its capitals were put back."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One reading of a text.

    Attributes:
        name: :data:`FOUND`, :data:`RESTORED`, :data:`LAYOUT`, :data:`CASE`, :data:`SPELLING`,
            :data:`IDS`, or the
            name of an alternative that a document's reader offered (e.g. ``original``).
        text: Its characters; without hidden manifests.
        ids: int64 [L], saved token ids; None tokenises the text.
        undone: How it was made from the text as found; None for a text of its own.
        excluded: Pieces of the text as found that a rule leaves out.
        read: The model reads it and it counts; another one is so much likelier otherwise.
    """

    name: str
    text: str
    ids: I64 | None = None
    undone: Restored | None = None
    excluded: tuple[ExcludedPiece, ...] = ()
    read: bool = True

    @property
    def substitutions(self) -> tuple[Substitution, ...]:
        """What was undone."""
        return self.undone.substitutions if self.undone is not None else ()

    def in_record(self, text: str) -> str:
        """Return the text that a record of this reading shows, given the text as found."""
        return self.text if self.undone is None else text

    def spans_in_record(self, spans: I64) -> I64:
        """Return the tokens' characters in the text that a record of this reading shows."""
        if self.undone is None:
            return spans
        found = self.undone.spans_in_found(spans)
        # What was undone behind a token belongs to it; a piece that is left out does not.
        if self.excluded and found.size:
            beyond = int(self.undone.origin[-1]) + 1
            edges = [(one.start, one.end) for one in self.excluded]
            starts, ends = np.array([*edges, (beyond, beyond)], dtype=np.int64).T
            following = np.searchsorted(starts, found[:, 0])
            start, end = starts[following], ends[following]
            found[:, 1] = np.where(found[:, 1] <= end, np.minimum(found[:, 1], start), found[:, 1])
        return found

    def facts(
        self, tokens: Tokens, *, shown: bool, own: str, usable: int, log10_e: float, verdict: str
    ) -> VariantFacts:
        """Return what a record says of this reading; ``own`` is the record's text, said once."""
        return VariantFacts(
            name=self.name,
            shown=shown,
            read=self.read,
            text=None if self.text == own else self.text,
            characters=len(self.text),
            tokens=int(tokens.ids.size),
            usable=usable,
            log10_e=log10_e,
            verdict=verdict,
            changes=tuple(ChangeFacts(name=s.name, count=s.count) for s in self.substitutions),
        )


def variants_of(
    text: str,
    *,
    excluded: Sequence[ExcludedPiece] = (),
    restored: bool = True,
    spelt: Spelling | None = None,
    costs: Costs = len,
    ids: I64 | None = None,
    ids_text: str | None = None,
) -> tuple[Variant, ...]:
    """Fix which readings are tried, each distinct one once.

    Nothing but the text and the tokenizer's vocabulary is looked at: no key, no phase.

    Args:
        text: The text as found.
        excluded: Pieces that a rule leaves out; no reading has their characters.
        restored: Also try the text as it was before it was handled, where it shows signs of that.
        spelt: The usual spelling of words in small letters; None leaves the case alone.
        costs: Nats that a text takes; without a vocabulary the shortest is taken for the likeliest.
        ids: int64 [L], token ids that a generator saved.
        ids_text: What these ids decode to; needed with ``ids``.

    Returns:
        The text as found, then the likeliest ways to undo what was done to it.
    """
    # A hidden manifest is no part of what anybody wrote: no reading has its characters.
    ruled = _without_pieces(text, excluded)
    bare = characters.cut(ruled.text)
    bare = ruled.then(bare) if bare.changed and bare.text.strip() else ruled
    ways = _handled(bare, spelt, costs) if restored else [(bare, 0.0)]
    nearest = sorted(ways, key=lambda one: one[1])[:_MOST]
    least, sure = nearest[0][1], layout.doubtful(nearest[0][0])
    limits = [
        min(nearest[-1][1], least + _UNLIKELY + _A_CHANGE * abs(layout.doubtful(way) - sure))
        for way, _ in ways
    ]
    distinct = [
        Variant(
            name=FOUND if way is bare else _named(way),
            text=way.text,
            undone=way if way.changed else None,
            excluded=tuple(excluded),
            read=nats <= limit,
        )
        for (way, nats), limit in zip(ways, limits, strict=True)
        if way is bare or (nats <= limit and way.text.strip())
    ]
    if ids is not None:
        distinct.append(Variant(name=IDS, text=ids_text or "", ids=ids))
    return tuple(distinct)


def _without_pieces(text: str, excluded: Sequence[ExcludedPiece]) -> Restored:
    """Return a text without the pieces that a rule leaves out, with the way back."""
    if not excluded:
        return unchanged(text)
    pieces = [Change(one.start, one.end, "", f"{one.kind}-left-out") for one in excluded]
    return rewrite(text, pieces, dict.fromkeys(one.name for one in pieces))


def _named(way: Restored) -> str:
    kinds = {substitution.name for substitution in way.substitutions}
    return CASE if kinds & {*CASES} else LAYOUT if kinds & {*layout.KINDS} else RESTORED


def _handled(bare: Restored, spelt: Spelling | None, costs: Costs) -> list[tuple[Restored, float]]:
    """Return the text as found, then ways to undo what was done, the likeliest first, and nats."""
    signs = bare.then(restore(bare.text))
    ways = layout.layouts([bare, signs] if signs.changed else [bare], costs)
    as_found, *nats = layout.nats([bare, *ways], costs)
    listed = {bare.text: (bare, as_found)}
    for way, found in zip(ways, nats, strict=True):
        # Capitals take more nats than small letters, and yet they belong where there are none.
        cased = way if spelt is None else way.then(restore_case(way.text, spelt))
        if case_of(way.text) in ("", MIXED):
            listed.setdefault(way.text, (way, found))
        listed.setdefault(cased.text, (cased, found))
    return list(listed.values())


def readings_of(
    model: HasTokenizer,
    text: str,
    *,
    restored: bool,
    excluded: Sequence[ExcludedPiece] = (),
    mend: Mend | None = None,
    ids: Sequence[int] | I64 | None = None,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[tuple[Variant, ...], list[Tokens], list[Sentence]]:
    """Fix which readings of a text are tried, and tokenise each.

    Args:
        model: Whose tokenizer.
        text: The text as found.
        restored: As in :func:`variants_of`.
        excluded: Likewise.
        mend: Mends broken words and puts signs back; None where no model is at hand.
        ids: Token ids that a generator saved.
        checkpoint: Called often; may raise.

    Returns:
        The readings, the tokens of each, and what the log says of them.
    """

    @cache
    def nats(written: str) -> float:
        checkpoint()
        return nats_of(model.tokenizer, written)

    notes: list[Sentence] = []
    saved, words = None, None
    if ids is not None and excluded:
        # They are those of the whole text, of which a rule leaves something out.
        notes.append(sentence("log.ids-excluded"))
    elif ids is not None:
        saved, words = check_ids(model, ids)
        if words.strip() != text.strip():
            notes.append(sentence("log.ids-differ"))
    variants = variants_of(
        text,
        excluded=excluded,
        restored=restored,
        spelt=lambda words: usual_spelling(model.tokenizer, words),
        costs=nats,
        ids=saved,
        ids_text=words,
    )
    if restored and mend is not None:
        variants = _mended(variants, mend)
    tokens = [tokens_of(model, variant) for variant in variants]
    for variant, found in zip(variants, tokens, strict=True):
        size = int(found.ids.size)
        if not variant.read:
            notes.append(sentence("log.unread", reading=f"log.from-{variant.name}"))
            continue
        notes.append(sentence("log.tokens", n=size, reading=f"log.from-{variant.name}"))
        notes += [
            sentence("changed", what=f"change.{one.name}", n=one.count)
            for one in variant.substitutions
        ]
    return variants, tokens, notes


def _mended(variants: tuple[Variant, ...], mend: Mend) -> tuple[Variant, ...]:
    """Put the likeliest reading, as the model mends it, in the place of that reading."""
    place = next(n for n in reversed(range(min(2, len(variants)))) if variants[n].read)
    base = variants[place]
    mended = mend(base.text, base.name == CASE) if base.ids is None else unchanged(base.text)
    if not mended.changed:
        return variants
    before = unchanged(base.text) if base.undone is None else base.undone
    spelt = replace(base, name=SPELLING, text=mended.text, undone=before.then(mended))
    read = [replace(one, read=one.read and one is not base) for one in variants]
    return (*read[: place + 1], spelt, *read[place + 1 :])


def variant_facts(
    variants: Sequence[Variant],
    tokens: Sequence[Tokens],
    trials: Sequence[KeyReading],
    shown: KeyReading,
    weights: Weights,
    verdict: Callable[[float, KeyReading], str],
) -> tuple[VariantFacts, ...]:
    """Return what each reading says alone.

    The record's own text is left out where it is named a second time. A reading that was not begun,
    since reading stopped early or another one is likelier, has no usable position.

    Args:
        variants: The readings.
        tokens: Of each of them.
        trials: Every key on every reading, and the windows that were read again.
        shown: The trial that the record is about.
        weights: Of the trials.
        verdict: What the decision rule makes of a log10 e-value and a trial.
    """
    facts = []
    own = variants[shown.variant].in_record(variants[0].text)
    for number, (variant, found) in enumerate(zip(variants, tokens, strict=True)):
        mine = _first_of(number, trials)
        best = strongest(mine) if mine else None
        log10_e = weights.alone(number, trials) if mine else 0.0
        facts.append(
            variant.facts(
                found,
                shown=number == shown.variant,
                own=own,
                usable=0 if best is None else len(best.seen.schedule),
                log10_e=log10_e,
                verdict="insufficient" if best is None else verdict(log10_e, best),
            )
        )
    return tuple(facts)


def without_text(facts: Sequence[VariantFacts]) -> tuple[VariantFacts, ...]:
    """Return the facts without the characters of any reading."""
    return tuple(replace(one, text=None) for one in facts)


def tokens_of(model: HasTokenizer, variant: Variant) -> Tokens:
    """Return the tokens of a reading, with the characters of *its* text that they stand for."""
    if variant.ids is None:
        return tokenise(model.tokenizer, variant.text)
    return Tokens(ids=variant.ids, spans=spans_of_ids(model, variant.ids, variant.text))


def check_ids(model: HasTokenizer, ids: Sequence[int] | I64) -> tuple[I64, str]:
    """Check saved token ids, and return them with the text that they decode to.

    Raises:
        InputError: None, not whole numbers, or outside the vocabulary.
    """
    found = np.asarray(ids)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise InputError("audit.ids-list", code="input-ids")
    if found.min() < 0 or found.max() >= model.vocab_size:
        raise InputError("audit.ids-range", vocab_size=model.vocab_size, code="input-ids-range")
    found = found.astype(np.int64)
    return found, decode(model.tokenizer, found.tolist())


def spans_of_ids(model: HasTokenizer, ids: I64, text: str) -> I64:
    """Return the characters of a text that saved ids stand for.

    Args:
        model: Whose tokenizer wrote them.
        ids: int64 [L].
        text: What all of them decode to.

    Returns:
        int64 [L, 2]. Tokens that share the bytes of one character share its span.
    """
    spans = np.zeros((ids.size, 2), dtype=np.int64)
    listed = ids.tolist()
    begun, place = 0, 0
    for t in range(ids.size):
        before = listed[max(0, begun - _AROUND) : begun]
        whole = decode(model.tokenizer, before + listed[begun : t + 1])
        piece = whole[len(decode(model.tokenizer, before)) if before else 0 :]
        # Half a character decodes to a replacement sign; its other half comes with the next token.
        if piece.endswith("\ufffd") and not text.startswith(piece, place) and t + 1 < ids.size:
            continue
        end = min(place + len(piece), len(text))
        spans[begun : t + 1] = place, end
        begun, place = t + 1, end
    return spans


MAX_CANDIDATES: Final = 200
MAX_PROMPT_CHARACTERS: Final = 200_000


@dataclass(frozen=True, kw_only=True)
class PromptCandidate:
    """What a reading begins with.

    Attributes:
        variant: Which reading of the text.
        ids: Tokens before the text.
        candidate: Which of the given prompts; None where none of them stands there.
    """

    variant: int
    ids: tuple[int, ...]
    candidate: int | None


def openings_of(
    model: LanguageModel, profile: Profile, prompts: Sequence[str], variants: Sequence[Variant]
) -> tuple[PromptCandidate, ...]:
    """Fix which readings are tried: each variant, and each candidate prompt.

    Args:
        model: Whose tokenizer.
        profile: May hold a template and a system prompt.
        prompts: All different; none, one that is known, or several candidates.
        variants: The readings of the text, as found first.

    Raises:
        InputError: Too many candidates, or one that is too long.
    """
    from pura.model.tokenise import beginning_ids

    if len(prompts) > MAX_CANDIDATES:
        raise InputError(
            "audit.prompts-many",
            count=len(prompts),
            most=MAX_CANDIDATES,
            code="prompts-many",
        )
    for prompt in prompts:
        if len(prompt) > MAX_PROMPT_CHARACTERS:
            raise InputError(
                "audit.prompt-long",
                count=len(prompt),
                most=MAX_PROMPT_CHARACTERS,
                code="prompt-long",
            )
    given = [beginning_ids(model.tokenizer, profile, prompt) for prompt in prompts]
    read = [number for number, variant in enumerate(variants) if variant.read]
    if len(given) == 1:
        return tuple(PromptCandidate(variant=i, ids=given[0], candidate=0) for i in read)
    usual = beginning_ids(model.tokenizer, profile, "")
    alone = [PromptCandidate(variant=i, ids=usual, candidate=None) for i in read]
    return (
        *alone,
        *(PromptCandidate(variant=read[0], ids=ids, candidate=i) for i, ids in enumerate(given)),
    )


def prompt_facts(prompts: Sequence[str], shown: PromptCandidate | None = None) -> PromptFacts:
    """Return whether the prompt was known; it is named by its hash, never quoted.

    Args:
        prompts: All that were given.
        shown: What the shown reading begins with; None where nothing was read.
    """
    if shown is None and len(prompts) == 1:
        shown = PromptCandidate(variant=0, ids=(), candidate=0)
    if shown is None or shown.candidate is None:
        return PromptFacts()
    digest = _digest(prompts[shown.candidate])
    return PromptFacts(known=True, sha256=digest, tokens=len(shown.ids))


def prompt_readings(
    prompts: Sequence[str],
    openings: Sequence[PromptCandidate],
    trials: Sequence[KeyReading],
    shown: KeyReading,
) -> tuple[PromptReading, ...]:
    """Return what the text says after each of several candidates; nothing for one prompt or none.

    Args:
        prompts: The candidates.
        openings: Of all readings.
        trials: Every key on every reading.
        shown: The trial that the record is about.
    """
    if len(prompts) < 2:
        return ()
    found: dict[int, list[float]] = {}
    for trial in trials:
        found.setdefault(trial.reading, []).append(trial.exact.log10_e)
    return tuple(
        PromptReading(
            number=opening.candidate + 1,
            sha256=_digest(prompts[opening.candidate]),
            tokens=len(opening.ids),
            log10_e=combine(found[number]) if number in found else None,
            shown=number == shown.reading,
        )
        for number, opening in enumerate(openings)
        if opening.candidate is not None
    )


def _digest(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()
