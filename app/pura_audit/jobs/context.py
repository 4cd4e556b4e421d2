"""What a running job sees of the outside, and what travels back from a queue's thread."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from pura.base.errors import Cancelled, PuraError
from pura.base.progress import Stage
from pura_audit.platform.i18n import language

# What reading a text takes of its audit: as a share, until the text is read, and then per step.
READING: Final = 5
READ: Final = 0.85
_log = logging.getLogger(__name__)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a job is.

    Attributes:
        step: 1 … 12, the step of the audit; 0 while the model is loaded.
        name: Of the step.
        done: Pieces of work done within the step.
        total: Pieces of the step; 0 when they are not counted.
        seconds_left: Estimate, or None.
        log10_e: The evidence of what was read so far, where somebody looked; else None.
        texts: How many texts are read side by side; the pieces are those of all.
    """

    step: int
    name: str
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    log10_e: float | None = None
    texts: int = 1

    @property
    def share(self) -> float | None:
        """How much of an audit is done, 0 … 1; None while the model is loaded.

        It never falls from one report to the next: everything that shows an audit shows this.
        """
        if self.step == 0:
            return None
        if self.step == READING:
            return READ * self.done / self.total if self.total else 0.0
        if self.step < READING:
            return 0.0
        return min(1.0, READ + (1 - READ) * max(0, self.step - 7) / 5)


@dataclass(frozen=True)
class Done(Generic[T_co]):
    """It worked; what came of it."""

    result: T_co


@dataclass(frozen=True, kw_only=True)
class Failure:
    """It did not work; why, in words.

    Attributes:
        code: For programs.
        message: What happened and what it means.
        hint: The way out.
        error: Where the words are from, to say them in another language.
    """

    code: str
    message: str
    hint: str
    error: PuraError | None = field(default=None, compare=False, repr=False)

    @property
    def words(self) -> str:
        """Message and way out, one after the other."""
        return f"{self.message} {self.hint}".strip()

    @classmethod
    def of(cls, error: PuraError) -> Failure:
        """Take the words of one of our errors."""
        message, hint = error.words(language())
        kept = type(error)(
            error.key, code=error.code, **error.values
        )  # without where it was raised
        return cls(code=error.code, message=message, hint=hint, error=kept)


@dataclass(frozen=True)
class Stopped:
    """Somebody stopped it."""


Outcome = Done[T_co] | Failure | Stopped


def by_outcome(
    done: Callable[[T], object], failed: Callable[[Failure], object]
) -> Callable[[Outcome[T]], None]:
    """Return what hands a result to one function and a failure to another."""

    def ended(outcome: Outcome[T]) -> None:
        if isinstance(outcome, Done):
            done(outcome.result)
        elif isinstance(outcome, Failure):
            failed(outcome)

    return ended


def unexpected(error: Exception) -> Failure:
    """Put a fault of the program into words; the details go to the log, never the text."""
    # The traceback names places in the code; the exception's own words may quote the text.
    _log.error("a job failed: %s", type(error).__name__, exc_info=error)
    return Failure(
        code="internal",
        message=f"The program made a mistake ({type(error).__name__}); no statement is made "
        "about the text.",
        hint="Try once more. If it happens again, send the log file (Help) to your support.",
    )


INTERVAL: float = 0.1  # seconds between two reports of the same step
_TIMED = (0, 5)  # long work that counts its pieces, and the reading of an audit


class JobContext:
    """One job's cancel switch, pause switch and throttled progress.

    Args:
        report: Gets the progress, at most every ``INTERVAL`` seconds within a step.
        post: Calls something in the window's thread.
        clock: For tests.
    """

    def __init__(
        self,
        report: Callable[[Progress], None],
        post: Callable[[Callable[[], None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._report, self.post = report, post
        self._clock = clock
        self._cancel = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._step = (-1, "")
        self._told = 0.0
        self._started = 0.0
        self._first = 0
        self._end: float | None = None
        self._left: float | None = None

    def cancel(self) -> None:
        """Ask the job to stop at its next checkpoint; a paused one wakes up for it."""
        self._cancel.set()
        self._go.set()

    def pause(self) -> None:
        """Let the job wait at its next checkpoint."""
        self._go.clear()

    def resume(self) -> None:
        """Let the job go on."""
        self._go.set()

    def checkpoint(self) -> None:
        """Wait while paused.

        Raises:
            Cancelled: The user asked to stop.
        """
        if not self._go.is_set():
            before = self._clock()
            self._go.wait()
            pause = self._clock() - before
            self._started += pause  # it is no part of the speed
            self._end = None if self._end is None else self._end + pause
        if self._cancel.is_set():
            raise Cancelled

    def _told_before(self, left: float) -> float | None:
        """Return the time to tell: it never counts up.

        A guess that was a little too short stands still until it is true; of one that was far off
        nothing is told until then.
        """
        if self._left is None or left <= self._left:
            self._left = left
            return left
        return self._left if left <= 1.5 * self._left + 2 else None

    def progress(self, stage: Stage) -> None:
        """Report, unless the last report was a moment ago; estimates the time left."""
        now, step = self._clock(), (stage.number, stage.name)
        if step != self._step:
            if stage.number < self._step[0]:  # other texts begin
                self._end = None
            self._step, self._started, self._first = step, now, stage.done
            self._left = None
        elif (
            now - self._told < INTERVAL
            and stage.done < stage.total
            and stage.log10_e is None  # looks are rare, and none may be lost
        ):
            return
        self._told = now
        done, spent = stage.done - self._first, now - self._started
        left = None
        # The first pieces tell little of the speed; a wild guess is worse than none.
        if stage.number in _TIMED and spent >= 1.0 and done >= max(1, 0.02 * stage.total):
            left = (stage.total - stage.done) * spent / done
            if stage.number == READING:  # of the audit as a whole
                left += stage.total * spent / done * (1 - READ) / READ
            self._end = now + left
            left = self._told_before(left)
        elif stage.number > READING and self._end is not None:
            left = max(1.0, self._end - now)
        self._report(
            Progress(
                step=stage.number,
                name=stage.name,
                done=stage.done,
                total=stage.total,
                seconds_left=left,
                log10_e=stage.log10_e,
            )
        )
