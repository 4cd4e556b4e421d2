"""The numbered steps of an audit, as they are logged."""

from __future__ import annotations

from dataclasses import dataclass

from pura.base.decoder import later
from pura.base.errors import PuraError, RecordError
from pura.words.sentence import Note
from pura.words.sentences import noted


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """One numbered step of the audit: what was done, what was not and why.

    Attributes:
        number: 1 … 12, the same in the docs and in the code.
        name: input, text, tokens, fitness, reading, schedule, local-evidence, decoding,
            significance, passages, candidates, verdict.
        done: False when it was left out.
        note: What is worth knowing, or why it was left out.
        seconds: How long it took.
        error: Why it failed, as :meth:`~pura.base.errors.PuraError.packed` returns it.
    """

    number: int
    name: str
    done: bool
    note: Note = ()
    seconds: float = 0.0
    error: dict[str, object] | None = later(None)

    def words(self, language: str) -> str:
        """Return what is noted of the step, or why it failed.

        Raises:
            RecordError: The error is none that this program knows.
        """
        if self.error is None:
            return noted(self.note, language)
        try:
            error = PuraError.unpacked(self.error)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise RecordError("record.step", number=self.number) from None
        return " ".join(filter(None, error.words(language)))
