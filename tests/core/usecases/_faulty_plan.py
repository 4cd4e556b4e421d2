"""Faults of the program in one step of one text, here and in workers, which import this."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from pura.batch.engine import Read
from pura.detect.step_log import StepLog
from pura.usecases.batch import BatchPlan


@dataclass(kw_only=True)
class Fault:
    """What a step raises, and how often it was met."""

    step: int
    error: Exception
    met: int = 0


def failing(faults: Mapping[str, Fault]) -> Callable[..., AbstractContextManager[Any]]:
    """Return a way to log a step that fails at some texts, which are named by their SHA-256."""
    usual = StepLog.logged

    @contextmanager
    def logged(self: StepLog, number: int, spent: float = 0.0) -> Generator[Any, None, None]:
        with usual(self, number, spent) as note:
            yield note
            known = [*(n for report in self.reports for n in report.note), *note]
            for one in known:
                fault = faults.get(str(getattr(one, "values", {}).get("sha256")))
                if fault is not None and fault.step == number:
                    fault.met += 1
                    raise type(fault.error)(*fault.error.args)

    return logged


@dataclass(frozen=True, kw_only=True)
class FaultyPlan(BatchPlan):
    """A worker of a batch that fails.

    Attributes:
        faults: By the SHA-256 of a text.
    """

    faults: Mapping[str, Fault]

    @contextmanager
    def opened(self, secrets: Sequence[bytearray]) -> Iterator[Read]:
        """See :class:`~pura.batch.engine.Plan`."""
        StepLog.logged = failing(self.faults)  # type: ignore[method-assign]
        with super().opened(secrets) as read:
            yield read
