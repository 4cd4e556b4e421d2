"""A text that is ready to be read: its readings, and what may have stood before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.base.progress import Stage
from pura.detect.basis import AuditBasis
from pura.detect.decode.evidence_sums import sum_evidence
from pura.detect.decode.likelihood import Intervals
from pura.detect.handling import (
    SCAN,
    TYPING,
    handling_signs,
    lacks_punctuation,
    pieces_of,
    signs_noted,
    was_recognised,
)
from pura.detect.key_reading import intervals_of
from pura.detect.options import AuditText
from pura.detect.prompts import PromptCandidate, openings_of
from pura.detect.readings import ReadingRequest
from pura.detect.restore.punctuation import restore_punctuation
from pura.detect.restore.spelling import RESPELT, restore_spelling
from pura.detect.restore.variants import Variant, readings_of
from pura.detect.step_log import StepLog
from pura.detect.windows import Weights
from pura.documents.characters import Restored, unchanged
from pura.scheme import Profile, contexts_before
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.model.pieces import Look
    from pura.model.reading import Reading
    from pura.model.tokenise import Tokens
    from pura.scheme import Profile


CHUNK: Final = 512
"""Tokens between two looks at least, where reading may stop early."""

_GROWTH: Final = 1.5  # a look weighs all that was read, so they grow rarer


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedText:
    """A text after step 3; step 5 reads its :meth:`reading_request`.

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
            questions=self.basis.options.questions is not None,
        )

    @property
    def parts(self) -> int:
        """Into how many parts the weight is divided, those of readings not begun as well.

        Keys times readings times schemes: PURA has its share among them.
        """
        return len(self.openings) * len(self.basis.keys) * self.weights.schemes

    def reading_request(self) -> ReadingRequest:
        """Return what step 5 reads: every form, and the first one after each candidate prompt."""
        from pura.model.evidence import Request

        texts = [self.tokens[opening.variant].ids for opening in self.openings]
        options = self.basis.options
        stops_early = options.policy.stop_at is not None
        request = Request(
            texts=texts,
            prompts=[opening.ids for opening in self.openings],
            look=self._look(sum(int(ids.size) for ids in texts))
            if options.follow or stops_early
            else None,
        )
        return ReadingRequest(
            step=5,
            requests=(request,),
            keys=tuple(range(len(self.basis.keys))),
            chunk=CHUNK if stops_early else None,
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


def prepare(basis: AuditBasis, text: AuditText, log: StepLog, note: list[Sentence]) -> PreparedText:
    """Fix the forms of a text, tokenise each, and place what may have stood before it (step 3).

    Args:
        basis: What it is audited with.
        text: The text.
        log: Of its steps.
        note: What the log says of this step.

    Raises:
        PuraError: The text cannot be tokenised, or its prompts are too many or too long.
    """
    options, model, profile = basis.options, basis.model, basis.profile
    variants, tokens, notes = readings_of(
        model,
        text.document.text,
        excluded=text.document.excluded,
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
    if was_recognised(text.document):
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
    if lacks_punctuation(text):
        done = restore_punctuation(
            model, beginning, text, capitals=cased, checkpoint=basis.checkpoint
        )
    return done.then(restore_spelling(model, beginning, done.text, basis.checkpoint))


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
