"""Steps 5 to 8 of an audit: what the model read, and what each key makes of each reading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pura.audit.key_reading import (
    KeyReading,
    KeyTrial,
    RegisterPrior,
    decode,
    register_prior,
    weigh,
)
from pura.audit.options import Notice
from pura.audit.prepare import PreparedText, signs_noted, unlike_written
from pura.audit.variants import Windows, windows_of
from pura.base.errors import PuraError
from pura.decode.likelihood import Intervals
from pura.extract.local import LocalEvidence
from pura.record.evidence import StopFacts
from pura.scheme import I64
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.model.load import LanguageModel
    from pura.model.reading import Reading

FEW_KEYS: Final = 8
"""Beyond so many, keys under which nothing is in sight are weighed by a bound from below."""

_RIVAL_NATS: Final = math.log(1000)
"""Marks are looked for in readings that are no further behind the strongest: together with others,
one of them may decide which payload is the most probable."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WeighedText:
    """A text after step 8.

    Attributes:
        prepared: The text.
        trials: Every key on every reading, and the windows that were read again.
        prior: How issued payloads weigh; None where all payloads weigh alike.
        stopped: Where reading was stopped early; None where all was read.
        handled: Signs that the text was handled, those of its reading too.
    """

    prepared: PreparedText
    trials: tuple[KeyReading, ...]
    prior: RegisterPrior | None
    stopped: StopFacts | None
    handled: tuple[str, ...]

    @property
    def windows(self) -> Windows | None:
        """What is to be read again, if anything is."""
        prepared = self.prepared
        return windows_of(self.trials, prepared.weights, prepared.basis.options.policy.t_found)


def decode_text(
    prepared: PreparedText, readings: list[Reading] | PuraError, seconds: float
) -> WeighedText:
    """Walk steps 5 to 8.

    Args:
        prepared: The text.
        readings: What was read, or why it could not be.
        seconds: How long that took.

    Raises:
        PuraError: It could not be read, or the register cannot be.
    """
    with prepared.log.logged(5, seconds) as note:
        if isinstance(readings, PuraError):
            raise readings
        stopped = _stopped(prepared, len(readings[0]))
        unlike = unlike_written(readings, prepared.basis.profile)
        note += _reading_noted(prepared, readings, stopped)
        note += signs_noted(unlike)
        if resumed := sum(reading.resumed for reading in readings):
            note.append(sentence("log.resumed", n=resumed))
        if any(reading.short_of_memory for reading in readings):
            note.append(sentence("log.memory"))
            prepared.text.notice(Notice.SHORT_OF_MEMORY)
    trials, prior = _try_keys(prepared, readings)
    return WeighedText(
        prepared=prepared,
        trials=tuple(trials),
        prior=prior,
        stopped=stopped,
        handled=prepared.handled + unlike,
    )


def decode_windows(
    decoded: WeighedText,
    again: Windows,
    readings: list[Reading] | PuraError,
    row: int,
    seconds: float,
) -> WeighedText:
    """Weigh windows that were read a second time, as more of step 8.

    Args:
        decoded: The text.
        again: Which they are.
        readings: What was read, or why it could not be.
        row: Which of the readings' rows is that of the windows' key.
        seconds: How long that took.

    Raises:
        PuraError: It could not be read.
    """
    prepared, first = decoded.prepared, again.trial
    trials = list(decoded.trials)
    with prepared.log.resumed(seconds) as note:
        if isinstance(readings, PuraError):
            raise readings
        for begin, reading in zip(again.begins, readings, strict=True):
            seen = prepared.seen(reading, row, first.number)
            trials.append(
                _decoded(
                    prepared,
                    decoded.prior,
                    KeyTrial(
                        number=first.number,
                        variant=first.variant,
                        reading=first.reading,
                        log10_weight=prepared.weights.second(first.variant),
                        begin=begin,
                    ),
                    reading.ids,
                    seen,
                    weigh(seen),
                )
            )
        note.append(again.note)
    return replace(decoded, trials=tuple(trials))


def _stopped(prepared: PreparedText, read: int) -> StopFacts | None:
    """Return where reading was stopped early."""
    stop_at = prepared.basis.options.policy.stop_at
    tokens = int(prepared.tokens[prepared.openings[0].variant].ids.size)
    if stop_at is None or read == tokens:
        return None
    unread = len(prepared.openings) - 1
    return StopFacts(read=read, tokens=tokens, log10_e=stop_at, unread=unread)


def _reading_noted(
    prepared: PreparedText, readings: Sequence[Reading], stopped: StopFacts | None
) -> list[Sentence]:
    """Say what was read."""
    note: list[Sentence] = []
    if stopped is not None:
        note.append(
            sentence(
                "log.stopped",
                n=stopped.read,
                all=stopped.tokens,
                log10_e=f"{stopped.log10_e:g}",
            )
        )
    prompt = "with-prompt" if prepared.text.prompts else "without-prompt"
    note.append(sentence(f"log.{prompt}"))
    model = prepared.basis.model
    note += [_windows(n, model) for n in dict.fromkeys(r.windows for r in readings)]
    for opening, reading in zip(prepared.openings, readings, strict=False):
        if reading.taken:
            note.append(
                sentence(
                    "log.anew",
                    n=len(reading) - reading.taken,
                    all=len(reading),
                    reading=f"log.from-{prepared.variants[opening.variant].name}",
                )
            )
    return note


def _windows(count: int, model: LanguageModel) -> Sentence:
    if count == 1:
        return sentence("log.window")
    from pura.model.evidence import cut_of

    longest, overlap = cut_of(model)
    return sentence("log.windows", n=count, size=longest, overlap=overlap)


def _try_keys(
    prepared: PreparedText, readings: Sequence[Reading]
) -> tuple[list[KeyReading], RegisterPrior | None]:
    """Try every key on every reading."""
    basis, log, weights = prepared.basis, prepared.log, prepared.weights
    options, profile, keys = basis.options, basis.profile, basis.keys
    tried = [
        KeyTrial(
            number=number,
            variant=prepared.openings[place].variant,
            reading=place,
            log10_weight=weights.first,
        )
        for place in range(len(readings))
        for number in range(len(keys))
    ]
    with log.step(6) as note:
        seen = [
            prepared.seen(
                readings[one.reading], one.number, one.number, prepared.openings[one.reading]
            )
            for one in tried
        ]
        note.append(sentence("log.carrying", n=max(len(intervals.schedule) for intervals in seen)))
    with log.step(7) as note:
        local = [weigh(intervals) for intervals in seen]
        note.append(sentence("log.kernel", name=profile.kernel))
    with log.step(8) as note:
        prior = register_prior(
            options.register,
            [key for key, _ in keys],
            profile,
            options.policy,
            basis.checkpoint,
        )
        if prior is not None:
            note.append(sentence("log.prior", n=prior.entries))
        elif options.policy.register_prior:
            note.append(sentence("log.prior-none"))
        if basis.issuable is not None:
            note.append(sentence("log.limits", n=basis.issuable.count))
        trials: list[KeyReading] = []
        # The marks of the strongest reading are told; those of other keys on it, and around a
        # window that is read again, as well.
        only_one = len(keys) == 1 and not weights.again
        for one, intervals, evidence in reversed(list(zip(tried, seen, local, strict=True))):
            basis.checkpoint()
            known = max((trial.exact.log_e for trial in trials), default=-math.inf)
            trials.insert(
                0,
                _decoded(
                    prepared,
                    prior,
                    one,
                    readings[one.reading].ids,
                    intervals,
                    evidence,
                    least=known - _RIVAL_NATS if only_one else -math.inf,
                ),
            )
        note.append(sentence("log.decoder", name=options.decoder))
        note.append(sentence("log.likelihood", fingerprint=trials[0].exact.model_fingerprint))
    return trials, prior


def _decoded(
    prepared: PreparedText,
    prior: RegisterPrior | None,
    tried: KeyTrial,
    ids: I64,
    seen: Intervals,
    local: LocalEvidence,
    *,
    least: float = -math.inf,
) -> KeyReading:
    basis = prepared.basis
    return decode(
        tried,
        ids,
        seen,
        local,
        candidates=basis.options.candidates,
        issuable=basis.issuable,
        issued=None if prior is None else prior.issued[tried.number],
        one_of_many=len(basis.keys) > FEW_KEYS,
        threshold=basis.options.policy.t_found,
        least=least,
        checkpoint=basis.checkpoint,
    )
