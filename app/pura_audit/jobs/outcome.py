"""What travels back from a queue's thread: how far it is, and what came of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from pura.base.errors import PuraError
from pura_audit.platform.i18n import language

# What reading a text takes of its audit: as a share, until the text is read, and then per step.
READING: Final = 5
READ: Final = 0.85
_log = logging.getLogger(__name__)

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
