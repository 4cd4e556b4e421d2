"""The text, read once more after stored questions: what stood before the answer that it may be.

Without the question a reader loses most of what an answer says at a low temperature. Whoever marks
knows the question, and may have stored it (:mod:`pura.questions`). Two ways lead to one:

* *by number*: the text carries a mark, its payload is identified, and answers with that payload
  have stored questions;
* *by words*: the index gives the questions that share the rarest words with the text.

The weights are fixed before: half for what is read without a question, the other half for stored
ones. By words the 64 likeliest rows share nine tenths of it by their ranks; all rows of the store
share the last tenth alike, of which a reading by number takes the part of its rows. Rows with the
same tokens are read once, at most eight different questions are read each way, and what is not read
counts as nothing (evidence.md §3, "Stored questions").
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pura.detect.conclusion import select_reading
from pura.detect.decode.evidence_sums import payload_ratios
from pura.detect.decode.likelihood import Intervals
from pura.detect.decode.prior import Issued
from pura.detect.decoding import TextDecoding
from pura.detect.key_reading import (
    KeyReading,
    KeyTrial,
    decode,
    evidence,
    intervals_of,
    total_evidence,
    unasked,
    weigh,
)
from pura.detect.pooling import TextPooling
from pura.detect.readings import ReadingRequest, Readings
from pura.detect.step_log import StepLog
from pura.detect.windows import QUESTIONS
from pura.questions.store import QuestionStore, StoredQuestion
from pura.record.evidence import QuestionFacts, QuestionReading
from pura.scheme import F64, U8, MarkIdentity, PayloadSeries
from pura.scheme.schedule import contexts_before
from pura.words.sentences import Sentence, sentence

MOST: Final = 8
"""Different questions that are read at most, by words and by number each."""

BY_NUMBER: Final = 0.1
"""Share of all rows together in the weight of stored questions. A payload that is identified needs
no more evidence; what matters is the rest, for texts of which nothing is known."""

OWN_PAYLOAD: Final = 0.5
"""Weight of the payload that the answers to a question carry, in a reading after it."""

GLANCED: Final = 48
"""Tokens of a text that are read first after each question but the likeliest. Where the payloads of
a question are no likelier there than no mark, the rest is not read after it: that keeps an audit
with eight questions at three to four times one without (study.md, "Stored questions")."""

FITS: Final = 1.0
"""log10 by which a question must raise the likelihood of its payload for the text to fit it."""

_TEN: Final = math.log(10)


@dataclass(frozen=True, kw_only=True)
class _QuestionGroup:
    """Questions with the same tokens, after which the text is read.

    Attributes:
        rows: The questions; one key, epoch and profile.
        share: In the weight of all stored questions.
        by_number: The payload that the text carries led to them.
    """

    rows: tuple[StoredQuestion, ...]
    share: float
    by_number: bool

    @property
    def first(self) -> StoredQuestion:
        """The one that stands for all."""
        return self.rows[0]

    @property
    def payloads(self) -> U8:
        """uint8 [C, L_m], what the answers carry, each once."""
        return np.unique(np.stack([row.mark.payload.array for row in self.rows]), axis=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class _GroupReading:
    """What came of reading after a question.

    Attributes:
        group: The questions.
        log_ratios: float64 [C], nats: of its payloads.
        trial: The reading decoded; None where it adds nothing worth it.
    """

    group: _QuestionGroup
    log_ratios: F64
    trial: KeyReading | None

    @property
    def log10_e(self) -> float:
        """log10 of its evidence; of one that was not decoded, what its own payloads say."""
        if self.trial is not None:
            return self.trial.exact.log10_e
        mean = float(np.logaddexp.reduce(self.log_ratios)) - math.log(self.log_ratios.size)
        return (math.log(OWN_PAYLOAD) + mean) / _TEN


def read_after_questions(
    decoded: TextDecoding, log: StepLog
) -> Generator[ReadingRequest, Readings, TextDecoding]:
    """Read a text after stored questions, as more of step 8.

    Args:
        decoded: The text, read without one.
        log: Of its steps.

    Yields:
        What the model is to read.

    Returns:
        The text with these readings; as it was, where no store takes part.

    Raises:
        PuraError: The store is damaged, or the text cannot be read.
    """
    store = decoded.prepared.basis.options.questions
    if store is None:
        return decoded
    search = _QuestionSearch(decoded=decoded, store=store)
    if decoded.stopped is None:
        for find in (search.by_number, search.by_words, search.by_number):
            for plan in find():
                answer = yield search.reading_request(plan)
                with log.resumed(answer.seconds) as note:
                    search.take(plan, answer, note)
    return search.result()


@dataclass(frozen=True, kw_only=True)
class _ReadingPlan:
    """What is read next.

    Attributes:
        groups: After which questions.
        glance: Only the first :data:`GLANCED` tokens of the text.
    """

    groups: Sequence[_QuestionGroup]
    glance: bool = False


class _QuestionSearch:
    """The stored questions of one text.

    Args:
        decoded: The text, read without one.
        store: The questions.
    """

    def __init__(self, decoded: TextDecoding, store: QuestionStore) -> None:
        self._first, self._store = decoded, store
        self._prepared = decoded.prepared
        self._stored = len(store)
        self._readings: list[_GroupReading] = []
        self._promising: list[_QuestionGroup] = []
        self._named: MarkIdentity | None = None
        self._of_name = 0
        basis = self._prepared.basis
        self._series = {
            PayloadSeries.of(key, basis.profile): number
            for number, (key, _) in enumerate(basis.keys)
        }

    @property
    def _decoded(self) -> TextDecoding:
        trials = [one.trial for one in self._readings if one.trial is not None]
        return replace(self._first, trials=(*self._first.trials, *trials))

    def _total(self) -> float:
        other_schemes = [one.log10_e for one in self._prepared.text.other_schemes]
        return total_evidence(self._decoded.trials, other_schemes)[1]

    def _identified(self) -> MarkIdentity | None:
        """Return the mark that the text carries, where its payload may be stated."""
        policy = self._prepared.basis.options.policy
        if self._total() < policy.t_found:
            return None
        decoded = self._decoded
        selected = select_reading(decoded, TextPooling(decoded=decoded))
        best = selected.posterior.best_of(selected.key)
        if best is None or best.posterior < policy.single_weight:
            return None
        key, _ = self._prepared.basis.keys[selected.trial.number]
        return PayloadSeries.of(key, self._prepared.basis.profile).mark(best.payload)

    def by_number(self) -> Generator[_ReadingPlan]:
        """Yield the questions of the payload that the text carries, if that is identified."""
        mark = self._identified()
        if mark is None or mark == self._named:
            return
        self._named = mark
        rows, self._of_name = self._store.of_mark(mark, self._text)
        read_before = {
            one.group.first.ids.tobytes() for one in self._readings if mark in _marks(one.group)
        }
        groups = [
            _QuestionGroup(
                rows=tuple(rows[place] for place in places),
                share=BY_NUMBER * len(places) / self._stored,
                by_number=True,
            )
            for places in _alike(rows)
            if rows[places[0]].ids.tobytes() not in read_before
        ]
        if groups:
            yield _ReadingPlan(groups=groups[:MOST])

    def by_words(self) -> Generator[_ReadingPlan]:
        """Yield the questions that share the rarest words with the text: the likeliest, the rest.

        Nothing where the payload is identified already, and the rest only where it still is not;
        of a longer text first its beginning, and the whole where that speaks for the question.
        """
        if self._named is not None:
            return
        rows = self._store.likely(self._text, self._series)
        shares = rank_shares(len(rows))
        groups = [
            _QuestionGroup(
                rows=tuple(rows[place] for place in places),
                share=(1 - BY_NUMBER) * sum(shares[place] for place in places),
                by_number=False,
            )
            for places in _alike(rows)[:MOST]
        ]
        if groups:
            yield _ReadingPlan(groups=groups[:1])
        if not groups[1:] or self._identified() is not None:
            return
        if self._prepared.tokens[self._form].ids.size <= 2 * GLANCED:
            yield _ReadingPlan(groups=groups[1:])
            return
        yield _ReadingPlan(groups=groups[1:], glance=True)
        if self._promising:
            yield _ReadingPlan(groups=self._promising)

    @property
    def _text(self) -> str:
        return self._prepared.text.document.examined_text

    @property
    def _form(self) -> int:
        """The form of the text that is read."""
        return self._prepared.openings[0].variant

    def reading_request(self, plan: _ReadingPlan) -> ReadingRequest:
        """Return what the model reads: the text, or its beginning, after each question."""
        from pura.model.evidence import Request

        ids = self._prepared.tokens[self._form].ids
        ids = ids[:GLANCED] if plan.glance else ids
        return ReadingRequest(
            step=8,
            requests=tuple(
                Request(texts=[ids], prompts=[one.first.ids.tolist()]) for one in plan.groups
            ),
            keys=tuple(sorted({self._key_of(one) for one in plan.groups})),
        )

    def take(self, plan: _ReadingPlan, readings: Readings, note: list[Sentence]) -> None:
        """Weigh what was read."""
        for group, reading in zip(plan.groups, readings.all(), strict=True):
            number = self._key_of(group)
            basis, before = self._prepared.basis, self._prepared.before
            # What stood before an answer may hold earlier ones, which are marked as well.
            contexts = contexts_before([reading.ids], [group.first.ids.tolist()], basis.profile)
            intervals = intervals_of(
                reading,
                readings.rows[number],
                basis.keys[number][0],
                basis.profile,
                basis.checkpoint,
                prompt_known=True,
                before=before | contexts,
                likelihood=basis.likelihood,
            )
            ratios = payload_ratios(intervals, group.payloads, basis.checkpoint)
            if plan.glance and ratios.max() > 0:
                self._promising.append(group)
                continue
            trial = None
            if ratios.max() > 0:
                trial = self._decoded_trial(group, number, reading.ids, intervals)
            self._readings.append(_GroupReading(group=group, log_ratios=ratios, trial=trial))
        route = "number" if plan.groups[0].by_number else "glance" if plan.glance else "words"
        note.append(sentence(f"log.questions-{route}", n=len(plan.groups)))

    def _decoded_trial(
        self, group: _QuestionGroup, number: int, ids: np.ndarray[tuple[int], np.dtype[np.int64]],
        intervals: Intervals,
    ) -> KeyReading:  # fmt: skip
        prepared = self._prepared
        basis, weights = prepared.basis, prepared.weights
        tried = KeyTrial(
            number=number,
            variant=self._form,
            reading=len(prepared.openings) + len(self._readings),
            log10_weight=weights.after_question(group.share),
            question=group.first.number,
        )
        payloads = group.payloads
        return decode(
            tried,
            ids,
            intervals,
            weigh(intervals),
            candidates=basis.options.candidates,
            issuable=basis.issuable,
            issued=Issued.of([payloads], payloads.shape[1], OWN_PAYLOAD),
            threshold=basis.options.policy.t_found,
            checkpoint=basis.checkpoint,
        )

    def _key_of(self, group: _QuestionGroup) -> int:
        return self._series[group.first.mark.series]

    def result(self) -> TextDecoding:
        """Return the text with all that was read of it, and what the record says of questions."""
        decoded = self._decoded
        weights = self._prepared.weights
        without = evidence(self._first.trials) + weights.question_cost
        shares = [(one.trial.log10_share, one) for one in self._readings if one.trial is not None]
        best = max(shares, key=lambda pair: pair[0], default=None)
        carried = None
        if best is not None and best[0] > evidence(decoded.trials) + math.log10(0.5):
            carried = best[1].group.first.number
        mark = self._identified()
        gain = None if mark is None else self._gain(mark)
        facts = QuestionFacts(
            stored=self._stored,
            weight=QUESTIONS,
            log10_without=without + math.log10(weights.schemes),
            tried=tuple(
                QuestionReading(
                    number=one.group.first.number,
                    same=len(one.group.rows),
                    by="number" if one.group.by_number else "words",
                    tokens=int(one.group.first.ids.size),
                    until=one.group.first.until.isoformat(),
                    weight=QUESTIONS * one.group.share,
                    log10_e=one.log10_e,
                    counted=one.trial is not None,
                )
                for one in self._readings
            ),
            carried=carried,
            same_payload=self._of_name if mark is not None and mark == self._named else None,
            gain=gain,
            fits="" if gain is None else "yes" if gain >= FITS else "no" if gain <= 0 else "",
        )
        return replace(decoded, questions=facts)

    def _gain(self, mark: MarkIdentity) -> float | None:
        """Return log10 by which a question of a mark makes its payload likelier; None without one.

        Of several questions it is the largest.
        """
        bits = mark.payload.array[None]
        gains = []
        for reading in self._readings:
            same = np.flatnonzero((reading.group.payloads == bits).all(axis=1))
            if mark in _marks(reading.group) and same.size:
                gains.append(float(reading.log_ratios[same[0]]))
        number = self._series.get(mark.series)
        if not gains or number is None:
            return None
        profile = self._prepared.basis.profile
        plain = [
            float(trial.exact.log_ratios(bits, profile)[0])
            for trial in unasked(self._first.trials)
            if trial.number == number and trial.begin is None
        ]
        return (max(gains) - max(plain)) / _TEN


def _marks(group: _QuestionGroup) -> set[MarkIdentity]:
    return {row.mark for row in group.rows}


def _alike(rows: Sequence[StoredQuestion]) -> list[list[int]]:
    """Return which rows have the same tokens and key, in the order of the first of each."""
    groups: dict[tuple[PayloadSeries, bytes], list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault((row.mark.series, row.ids.tobytes()), []).append(number)
    return list(groups.values())


def rank_shares(count: int) -> list[float]:
    """Return the shares of ranks 1, 2, …: as 1 to 1/2 to 1/3, adding up to one."""
    total = sum(1 / rank for rank in range(1, count + 1))
    return [1 / rank / total for rank in range(1, count + 1)]
