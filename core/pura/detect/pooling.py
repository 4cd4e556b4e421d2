"""Which marks a text's evidence speaks for: the posterior over all its readings and keys.

evidence.md §4. Where one mark takes nearly all steps of a text, the shares in the evidence of the
text say which payload it carries. Where it takes a part, or one of several, the same sum is taken
over the steps of its passages alone, in every reading and under every key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from pura.detect.decode.exact import TextWeights, weigh_steps
from pura.detect.decode.marks import Mark
from pura.detect.decode.payloads import PayloadPosterior, StepWeights
from pura.detect.decode.pooling import (
    PooledPosterior,
    WeighedReading,
    log_odds_repeated,
    of_one_reading,
    pool,
)
from pura.detect.decoding import FEW_KEYS, TextDecoding
from pura.detect.key_reading import KeyReading
from pura.record.comparison import Alignment, align
from pura.scheme import F64, I64, U8

Span = tuple[int, int]
_TEN: Final = math.log(10)


@dataclass(frozen=True, kw_only=True, eq=False)
class TextPooling:
    """Spreads the evidence of a text over marks.

    Attributes:
        decoded: The text, every key on every reading.
    """

    decoded: TextDecoding
    _alignments: dict[tuple[int, int], Alignment] = field(default_factory=dict)

    def of_text(self) -> PooledPosterior:
        """Return the posterior given all steps of the text."""
        profile = self.decoded.prepared.basis.profile
        if len(self.decoded.trials) == 1:
            (trial,) = self.decoded.trials
            return of_one_reading(self._key(trial), trial.exact.whole)
        return pool(
            [
                WeighedReading(
                    key=self._key(trial),
                    log_weight=trial.log10_weight * _TEN,
                    weights=TextWeights(decision=trial.exact, profile=profile),
                )
                for trial in self.decoded.trials
            ]
        )

    def of_mark(self, mark: Mark, shown: KeyReading) -> PooledPosterior:
        """Return the posterior of a mark: given the text, or the steps of its passages.

        Args:
            mark: The mark.
            shown: The reading that it was found in.
        """
        if mark.of_text:
            return self.of_text()
        if len(self.decoded.trials) == 1:
            posterior = PayloadPosterior(mark.candidates, mark.bit_posteriors)
            return of_one_reading(self._key(shown), posterior)
        spans = self._spans(shown)
        passages = [(int(spans[first, 0]), int(spans[last, 1])) for first, last in mark.ranges]
        readings: list[WeighedReading] = []
        steps: list[tuple[float, StepWeights]] = []
        # A key that is not looked at counts as 1, the mean that it has where it did not write this.
        unread, elsewhere = [-math.inf], [-math.inf]
        for trial in self.decoded.trials:
            log_weight = trial.log10_weight * _TEN
            if not self._looked_at(trial, shown):
                unread.append(log_weight)
                continue
            rows = self._rows(trial, shown, passages)
            if not rows.size:
                continue
            weights = weigh_steps(trial.seen, rows, trial.exact)
            one = WeighedReading(key=self._key(trial), log_weight=log_weight, weights=weights)
            readings.append(one)
            if one.key == self._key(shown):
                steps.append((log_weight, weights))
            else:
                elsewhere.append(one.log_share)
        log_unread = float(np.logaddexp.reduce(unread))
        pooled = pool(readings, log_unread=log_unread)
        if mark.repeats is None:
            return pooled
        others = float(np.logaddexp.reduce([*elsewhere, log_unread]))
        odds = log_odds_repeated(steps, mark.repeats.array, others)
        return pooled.doubted(self._key(shown), mark.repeats, odds)

    @property
    def log_e_alike(self) -> float:
        """Natural log of the evidence with all payloads alike."""
        shares = [t.log10_weight * _TEN + t.exact.log_e_alike for t in self.decoded.trials]
        return float(np.logaddexp.reduce(shares))

    def log_ratios(self, bits: U8, key: str) -> F64:
        """Return the log likelihood ratios of payloads under a key, over all readings.

        Args:
            bits: uint8 [C, L_m].
            key: Fingerprint of the key.

        Returns:
            float64 [C], in nats, on the scale of :attr:`log_e_alike`.
        """
        profile = self.decoded.prepared.basis.profile
        ratios = [
            trial.log10_weight * _TEN + trial.exact.log_ratios(bits, profile)
            for trial in self.decoded.trials
            if self._key(trial) == key
        ]
        return np.asarray(np.logaddexp.reduce(ratios, axis=0))

    def _key(self, trial: KeyReading) -> str:
        return self.decoded.prepared.basis.keys[trial.number][0].fingerprint

    def _looked_at(self, trial: KeyReading, shown: KeyReading) -> bool:
        """Whether a key is weighed on passages: of many those that have any evidence at all."""
        few = len(self.decoded.prepared.basis.keys) <= FEW_KEYS
        return few or trial.number == shown.number or trial.exact.log_e >= 0

    def _spans(self, trial: KeyReading) -> I64:
        """Return the characters of a form's tokens, in the text that a record of it shows."""
        prepared = self.decoded.prepared
        variant = prepared.variants[trial.variant]
        return variant.spans_in_record(prepared.tokens[trial.variant].spans)

    def _rows(self, trial: KeyReading, shown: KeyReading, passages: Sequence[Span]) -> I64:
        """Return which steps of a reading stand in passages, characters of the shown reading."""
        spans = self._spans(trial)
        token = trial.seen.schedule.token + (trial.begin or 0)
        middle = spans[token].mean(axis=1)
        inside = np.zeros(token.size, dtype=bool)
        for start, end in self._moved(passages, shown, trial):
            inside |= (middle >= start) & (middle <= end)
        return np.flatnonzero(inside)

    def _moved(
        self, passages: Sequence[Span], shown: KeyReading, trial: KeyReading
    ) -> Sequence[Span]:
        """Return where passages of one form of the text stand in another form."""
        prepared = self.decoded.prepared
        found = prepared.text.document.text
        here = prepared.variants[shown.variant].in_record(found)
        there = prepared.variants[trial.variant].in_record(found)
        if here == there:
            return passages
        forms = (shown.variant, trial.variant)
        if forms not in self._alignments:
            self._alignments[forms] = align(here, there, checkpoint=prepared.basis.checkpoint)
        alignment = self._alignments[forms]
        return [(alignment.right_of(start), alignment.right_of(end)) for start, end in passages]
