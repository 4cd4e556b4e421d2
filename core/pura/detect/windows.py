"""Windows of a long text that are read a second time.

Behind foreign text the model's predictions are not those that a passage was written with, and a
short passage drowns. So the windows of a long text are members of the evidence, with weights that
are fixed by the number of tokens alone: 128 tokens from every 32nd on, each read and weighed as a
text of its own. Only a few are read, those around the place that the first look ranks highest, and
only where the first reading does not decide; the others add nothing (evidence.md §3, "A
second reading").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pura.detect.decode.marks import Mark
from pura.detect.decode.paper import decode as decode_paper
from pura.detect.key_reading import KeyReading, evidence, unasked, weigh
from pura.detect.readings import ReadingRequest
from pura.record.evidence import RereadingFacts
from pura.scheme import F64, I64, Schedule
from pura.words.sentences import Sentence, sentence

SIZE: Final = 128
"""Tokens of a window."""

STRIDE: Final = 32
"""Tokens between the beginnings of two windows."""

WEIGHT: Final = 0.25
"""Part of the evidence that all windows of a long text share."""

QUESTIONS: Final = 0.5
"""Part of the evidence that readings after stored questions share, where a store takes part."""

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
        questions: A store of questions takes part, tried or not.
    """

    keys: int
    readings: int
    forms: tuple[int, ...]
    schemes: int = 1
    questions: bool = False

    @property
    def again(self) -> bool:
        """The text is long enough for its windows to count."""
        return most_read(self.forms[0]) > 0

    @property
    def cost(self) -> float:
        """log10 by which windows and stored questions lower what a first reading says."""
        return self.question_cost - (math.log10(1 - WEIGHT) if self.again else 0.0)

    @property
    def question_cost(self) -> float:
        """log10 by which stored questions lower what is read without them."""
        return -math.log10(1 - QUESTIONS) if self.questions else 0.0

    @property
    def first(self) -> float:
        """log10 of the weight of a first reading under one key."""
        return -math.log10(self.schemes * self.keys * self.readings) - self.cost

    def second(self, form: int) -> float:
        """log10 of the weight of a window under one key."""
        parts = self.schemes * self.keys * len(self.forms) * windows(self.forms[form])
        return math.log10(WEIGHT / parts) - self.question_cost

    def after_question(self, share: float) -> float:
        """Return log10 of the weight of a reading after a stored question, under its one key.

        Args:
            share: Its share of what all of them have together.
        """
        return math.log10(QUESTIONS * share / self.schemes)

    def alone(self, form: int, trials: Sequence[KeyReading]) -> float:
        """Return log10 of what one form of the text says alone, read for the first time and again.

        Args:
            form: Which.
            trials: All.
        """
        first = [t for t in readings_of_form(form, trials) if t.begin is None]
        second = [t for t in trials if t.begin is not None and t.variant == form]
        parts = np.array(
            [
                evidence(first) + math.log10(self.readings),
                evidence(second) + math.log10(len(self.forms)),
            ]
        )
        alone = float(np.logaddexp.reduce(parts * math.log(10)) / math.log(10))
        return alone + math.log10(self.schemes) + self.question_cost


def readings_of_form(form: int, trials: Sequence[KeyReading]) -> list[KeyReading]:
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

    def reading_request(self, beginning: tuple[int, ...]) -> ReadingRequest:
        """Return what is read again: each window as a text of its own.

        Args:
            beginning: What stands before a text of which nothing else is known.
        """
        from pura.model.evidence import Request

        return ReadingRequest(
            step=8,
            requests=tuple(Request(texts=[text], prompts=[beginning]) for text in self.texts),
            keys=(self.trial.number,),
        )

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
        log10_first=evidence([trial for trial in unasked(trials) if trial.begin is None]),
        log10_second=evidence(second) if second else None,
        first_token=shown.begin,
        last_token=last.get(shown.begin),
    )
