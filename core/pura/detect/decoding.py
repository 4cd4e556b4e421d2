"""What each key makes of each reading: the work of steps 5 to 8."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pura.detect.decode.likelihood import Intervals
from pura.detect.handling import signs_noted, unlike_written
from pura.detect.key_reading import (
    KeyReading,
    KeyTrial,
    RegisterPrior,
    decode,
    register_prior,
    weigh,
)
from pura.detect.local.evidence import LocalEvidence
from pura.detect.options import Notice
from pura.detect.prepared import PreparedText
from pura.detect.readings import Readings
from pura.detect.windows import Windows, windows_of
from pura.record.evidence import QuestionFacts, StopFacts
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
class TextDecoding:
    """A text after step 8.

    Attributes:
        prepared: The text.
        trials: Every key on every reading, and the windows that were read again.
        prior: How issued payloads weigh; None where all payloads weigh alike.
        stopped: Where reading was stopped early; None where all was read.
        handled: Signs that the text was handled, those of its reading too.
        questions: What became of stored questions; None without a store.
    """

    prepared: PreparedText
    trials: tuple[KeyReading, ...]
    prior: RegisterPrior | None
    stopped: StopFacts | None
    handled: tuple[str, ...]
    questions: QuestionFacts | None = None

    @property
    def windows(self) -> Windows | None:
        """What is to be read again, if anything is."""
        prepared = self.prepared
        return windows_of(self.trials, prepared.weights, prepared.basis.options.policy.t_found)


def note_reading(
    prepared: PreparedText, readings: Sequence[Reading], note: list[Sentence]
) -> tuple[StopFacts | None, tuple[str, ...]]:
    """Say what was read (step 5).

    Args:
        prepared: The text.
        readings: What the model read.
        note: What the log says of this step.

    Returns:
        Where reading was stopped early, or None; and the signs that the text was handled.
    """
    stopped = _stopped(prepared, len(readings[0]))
    unlike = unlike_written(readings, prepared.basis.profile)
    note += _reading_noted(prepared, readings, stopped)
    note += signs_noted(unlike)
    if resumed := sum(reading.resumed for reading in readings):
        note.append(sentence("log.resumed", n=resumed))
    if any(reading.short_of_memory for reading in readings):
        note.append(sentence("log.memory"))
        prepared.text.notice(Notice.SHORT_OF_MEMORY)
    return stopped, prepared.handled + unlike


def decode_windows(
    decoded: TextDecoding, windows: Windows, readings: Readings, note: list[Sentence]
) -> TextDecoding:
    """Weigh windows that were read a second time, as more of step 8.

    Args:
        decoded: The text.
        windows: Which they are.
        readings: What was read of them.
        note: What the log says of this step.

    Raises:
        PuraError: They could not be read.
    """
    prepared, first = decoded.prepared, windows.trial
    trials = list(decoded.trials)
    row = readings.rows[first.number]
    for begin, reading in zip(windows.begins, readings.all(), strict=True):
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
    note.append(windows.note)
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


def trials_of(prepared: PreparedText, readings: Sequence[Reading]) -> tuple[KeyTrial, ...]:
    """Return which key is tried on which reading: every key on every one that was read."""
    return tuple(
        KeyTrial(
            number=number,
            variant=prepared.openings[position].variant,
            reading=position,
            log10_weight=prepared.weights.first,
        )
        for position in range(len(readings))
        for number in range(len(prepared.basis.keys))
    )


def intervals_of_readings(
    prepared: PreparedText,
    readings: Sequence[Reading],
    trials: Sequence[KeyTrial],
    note: list[Sentence],
) -> list[Intervals]:
    """Return for each trial which steps carry bits, and where each token fell (step 6)."""
    seen = [
        prepared.seen(readings[one.reading], one.number, one.number, prepared.openings[one.reading])
        for one in trials
    ]
    note.append(sentence("log.carrying", n=max(len(intervals.schedule) for intervals in seen)))
    return seen


def decode_readings(
    prepared: PreparedText,
    readings: Sequence[Reading],
    tried: Sequence[KeyTrial],
    seen: Sequence[Intervals],
    local: Sequence[LocalEvidence],
    note: list[Sentence],
) -> tuple[tuple[KeyReading, ...], RegisterPrior | None]:
    """Decode every trial with both decoders, and weigh issued payloads (step 8).

    Args:
        prepared: The text.
        readings: What the model read.
        tried: Which key on which reading.
        seen: What each trial sees.
        local: The local evidence of each.
        note: What the log says of this step.

    Returns:
        Every trial decoded, and the prior of issued payloads, if there is one.

    Raises:
        RegisterError: The register cannot be read.
    """
    basis, weights = prepared.basis, prepared.weights
    options, keys = basis.options, basis.keys
    prior = register_prior(
        options.register,
        [key for key, _ in keys],
        basis.profile,
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
        strongest_so_far = max((trial.exact.log_e for trial in trials), default=-math.inf)
        trials.insert(
            0,
            _decoded(
                prepared,
                prior,
                one,
                readings[one.reading].ids,
                intervals,
                evidence,
                least=strongest_so_far - _RIVAL_NATS if only_one else -math.inf,
            ),
        )
    note.append(sentence("log.decoder", name=options.decoder))
    note.append(sentence("log.likelihood", fingerprint=trials[0].exact.model_fingerprint))
    return tuple(trials), prior


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
