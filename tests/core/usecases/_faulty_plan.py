"""What a worker of a batch does, with a fault of the program in one text; workers import it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pura.audit import run
from pura.batch.engine import Read
from pura.usecases.batch import BatchPlan

BROKEN = "what no program survives"


class FaultyPlan(BatchPlan):
    """Fails as soon as something is concluded about a text with these words."""

    @contextmanager
    def opened(self, secrets: Sequence[bytearray]) -> Iterator[Read]:
        """See :class:`~pura.batch.engine.Plan`."""
        usual = run.conclude

        def conclude(weighed: Any) -> Any:
            if BROKEN in weighed.prepared.text.document.text:
                raise RuntimeError(weighed.prepared.text.document.text)
            return usual(weighed)

        run.conclude = conclude
        with super().opened(secrets) as read:
            yield read
