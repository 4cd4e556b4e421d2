"""The one owner of the model: two threads that read, one for short texts and one for long ones.

Short texts that wait are read side by side. Long ones are read one at a time beside them, so that
none of them is waited for. Askers take turns.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Final, Self

from pura.audit.options import AuditText
from pura.base.errors import Cancelled, PuraError, ServeError
from pura.documents import Document
from pura.usecases.audits import (
    TOGETHER_CHARACTERS,
    TOGETHER_TEXTS,
    Audited,
    Prepared,
    Setup,
    prepared,
    resolved,
)
from pura.usecases.environment import Environment

Found = Audited | PuraError | None
"""What became of a text; None where nobody wants to know any more."""
Kept = Callable[[Audited], None]
_JOIN_S: Final = 30.0


@dataclass(kw_only=True, eq=False)
class Work:
    """A text that is to be read.

    Attributes:
        document: The text.
        asker: Whose turn it is; askers take turns.
        done: Told what became of it, in the thread that read it.
        keep: Saves a finding before it is told of; what it raises is told instead.
        cancelled: Nobody wants to know any more.
    """

    document: Document
    asker: str
    done: Callable[[Found], None]
    keep: Kept | None = None
    cancelled: bool = field(default=False)

    @property
    def size(self) -> int:
        """Its characters."""
        return len(self.document.text)


class Line:
    """Texts that wait, by asker; askers take turns. Any thread.

    Args:
        together: So many texts, and
        characters: so many characters are taken at once.
    """

    def __init__(self, together: int, characters: int) -> None:
        self._most = (together, characters)
        self._of: OrderedDict[str, deque[Work]] = OrderedDict()
        self._change = threading.Condition()
        self._ended = False
        self.count = 0
        self.characters = 0

    def put(self, work: Work) -> None:
        """Let a text wait."""
        with self._change:
            self._of.setdefault(work.asker, deque()).append(work)
            self.count += 1
            self.characters += work.size
            self._change.notify()

    def drop(self, work: Work) -> bool:
        """Let a text wait no longer; False where it does not wait."""
        with self._change:
            waiting = self._of.get(work.asker)
            if waiting is None or work not in waiting:
                return False
            waiting.remove(work)
            self._left(work)
        return True

    def waiting(self, asker: str) -> int:
        """Return how many texts of an asker wait."""
        with self._change:
            return len(self._of.get(asker, ()))

    def take(self) -> list[Work]:
        """Wait for texts and take some, of each asker in turn; none where all is over."""
        texts, characters = self._most
        with self._change:
            while not self._of and not self._ended:
                self._change.wait()
            taken: list[Work] = []
            while self._of and len(taken) < texts and sum(w.size for w in taken) < characters:
                asker, waiting = next(iter(self._of.items()))
                self._of.move_to_end(asker)
                work = waiting.popleft()
                self._left(work)
                taken.append(work)
            return [] if self._ended else taken

    def end(self) -> None:
        """Let nobody wait for texts any more."""
        with self._change:
            self._ended = True
            self._change.notify_all()

    def _left(self, work: Work) -> None:
        self.count -= 1
        self.characters -= work.size
        if not self._of[work.asker]:
            del self._of[work.asker]


class Reader:
    """Reads texts with one model. Use it in a ``with`` statement.

    Args:
        environment: Where keys and model are.
        setup: With what texts are read.
        text_s: Seconds that one text may be read.
        long_characters: Longer texts are read beside the others.
    """

    def __init__(
        self, environment: Environment, setup: Setup, *, text_s: float, long_characters: int
    ) -> None:
        self._at, self.setup = environment, resolved(environment, setup)
        self._text_s, self._long = text_s, long_characters
        self._short = Line(TOGETHER_TEXTS, TOGETHER_CHARACTERS)
        self._lengthy = Line(1, 1)
        self._over = False
        self._held = ExitStack()
        self._threads: list[threading.Thread] = []
        self.seconds_a_character = 0.0

    def __enter__(self) -> Self:
        """Open keys, load the model and begin.

        Raises:
            PuraError: One of them cannot be used.
        """
        with ExitStack() as held:
            # Here, where somebody can be asked for a passphrase.
            keys = held.enter_context(self._at.opened_keys(self.setup.needed_keys))
            lent = replace(self._at, lent_keys={key.fingerprint: key for key, _ in keys})
            for name, line in (("short", self._short), ("long", self._lengthy)):
                # A thread of its own opens the register; one after another finds the model loaded.
                ready = threading.Event()
                refused: list[BaseException] = []
                thread = threading.Thread(
                    target=self._work, args=(lent, line, ready, refused), name=name, daemon=True
                )
                thread.start()
                self._threads.append(thread)
                held.callback(self._stop)
                ready.wait()
                if refused:
                    raise refused[0]
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End; what is being read is given up."""
        self._held.close()

    @property
    def waiting(self) -> int:
        """How many texts wait."""
        return self._short.count + self._lengthy.count

    @property
    def characters(self) -> int:
        """How many characters wait."""
        return self._short.characters + self._lengthy.characters

    def waiting_of(self, asker: str) -> int:
        """Return how many texts of an asker wait."""
        return self._short.waiting(asker) + self._lengthy.waiting(asker)

    def put(self, work: Work) -> None:
        """Have a text read."""
        (self._lengthy if work.size >= self._long else self._short).put(work)

    def cancel(self, work: Work) -> None:
        """Have a text read no more; its place is free at once, or when its turn is given up."""
        work.cancelled = True
        if self._short.drop(work) or self._lengthy.drop(work):
            work.done(None)

    def _stop(self) -> None:
        self._over = True
        for line in (self._short, self._lengthy):
            line.end()
        for thread in self._threads:
            thread.join(_JOIN_S)

    def _work(
        self,
        at: Environment,
        line: Line,
        ready: threading.Event,
        refused: list[BaseException],
    ) -> None:
        try:
            with prepared(at, self.setup) as audits:
                ready.set()
                while group := line.take():
                    self._read(audits, group)
        except BaseException as error:  # whoever waits for this thread hears of it
            refused.append(error)
        finally:
            ready.set()

    def _read(self, audits: Prepared, group: Sequence[Work]) -> None:
        """Read some texts side by side and tell what became of each."""
        begun = time.perf_counter()

        def checkpoint() -> None:
            late = time.perf_counter() - begun > self._text_s
            if self._over or late or all(work.cancelled for work in group):
                raise Cancelled

        try:
            found: Sequence[Found] = audits.audit_many(
                [AuditText(document=work.document) for work in group], checkpoint=checkpoint
            )
        except Cancelled:
            late = not self._over and time.perf_counter() - begun > self._text_s
            error = ServeError("serve.time", seconds=round(self._text_s), code="serve-time")
            found = [error if late and not work.cancelled else None for work in group]
        except MemoryError:
            found = [ServeError("serve.memory", code="serve-memory")] * len(group)
        except PuraError as refusal:
            found = [refusal] * len(group)
        except Exception as fault:
            # Its words may quote a text.
            error = ServeError("serve.fault", kind=type(fault).__name__, code="serve-fault")
            found = [error] * len(group)
        if len(group) > 1 and any(isinstance(one, ServeError) for one in found):
            for work in group:  # one of them must not cost the others anything
                self._read(audits, [work])
            return
        spent = (time.perf_counter() - begun) / max(1, sum(work.size for work in group))
        self.seconds_a_character += 0.2 * (spent - self.seconds_a_character)
        for work, one in zip(group, found, strict=True):
            work.done(_kept(work, one))


def _kept(work: Work, found: Found) -> Found:
    """Save a finding where that was asked for; then it may be told of."""
    if work.keep is None or work.cancelled or not isinstance(found, Audited):
        return found
    try:
        work.keep(found)
    except PuraError as error:
        return error
    return found
