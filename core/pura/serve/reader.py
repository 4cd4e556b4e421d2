"""Who reads texts: threads with the model of this process, or workers with a model each.

Short texts that wait are read side by side. Long ones are read one at a time beside them, so that
none of them is waited for. Askers take turns. Texts of askers with reserved places wait in lines of
their own. With the model of this process, those of the public are read between them, layer by
layer; of workers, one is theirs alone and the others take their texts first.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Self, TypeVar

from pura.base.errors import Cancelled, InputError, PuraError, ServeError
from pura.base.progress import Checkpoint, never_cancelled
from pura.batch.engine import Start, Worker, WorkerDiedError
from pura.detect.options import AuditText, Notice
from pura.detect.unexamined import contained
from pura.documents import Document, characters
from pura.usecases.audits import (
    TOGETHER_CHARACTERS,
    TOGETHER_TEXTS,
    Audited,
    Prepared,
    Setup,
    prepared,
    resolved,
)
from pura.usecases.batch import AuditPlan
from pura.usecases.environment import Environment

if TYPE_CHECKING:
    from pura.model.load import BareModel


Answer = Audited | PuraError
Said = Callable[[], bool]
Lane = Callable[[Sequence[Document], Said, Said], list[Answer]]
"""Reads a few texts side by side.

It is told, by two functions, that they may take no longer, and that nobody wants to know any more;
what it raises is ``Cancelled``, where one of these said so.
"""
_TRIES: Final = 2
_BEAT_S: Final = 0.2


class WorkerLane:
    """Reads with a worker; one that dies is followed by another.

    Args:
        start: Starts a worker.
        over: Says that all is over.

    Raises:
        PuraError: None can be had.
    """

    def __init__(self, start: Start[Answer], over: Said) -> None:
        self._start, self._over = start, over
        try:
            self._worker: Worker[Answer] | None = start(over)
        except WorkerDiedError:
            raise InputError("batch.no-worker", code="batch-worker") from None

    def read(self, documents: Sequence[Document], over: Said, _: Said) -> list[Answer]:
        """See :data:`Lane`; who goes away costs no worker, which would have to load its model."""
        for _try in range(_TRIES):
            try:
                worker = self._worker = self._worker or self._start(self._over)
                with _ending(worker, over):
                    return worker.read(documents)
            except WorkerDiedError:
                self.close()
                if over():
                    raise Cancelled from None
        return [ServeError("batch.lost", code="serve-lost")] * len(documents)

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
        self._worker = None


@dataclass(frozen=True, kw_only=True)
class ReadPlan(AuditPlan):
    """What a worker of the service does."""

    @contextmanager
    def opened(
        self, secrets: Sequence[bytearray]
    ) -> Iterator[Callable[[Sequence[Document]], list[Answer]]]:
        """See :class:`~pura.batch.engine.Plan`."""
        with self.prepared(secrets) as audits:
            yield lambda documents: _read(audits, documents, never_cancelled)


@contextmanager
def here(
    environment: Environment, setup: Setup, give_way: Checkpoint = never_cancelled
) -> Iterator[Lane]:
    """Lend a lane of this process.

    Args:
        environment: Where keys and model are.
        setup: With what texts are read.
        give_way: Called often; waits while others go first.
    """
    with prepared(environment, setup) as audits:

        def read(documents: Sequence[Document], over: Said, dropped: Said) -> list[Answer]:
            def checkpoint() -> None:
                give_way()
                if over() or dropped():
                    raise Cancelled

            return _read(audits, documents, checkpoint)

        yield read


@contextmanager
def away(start: Start[Answer], over: Said) -> Iterator[Lane]:
    """Lend the lane of a worker, ready to read."""
    with closing(WorkerLane(start, over)) as lane:
        yield lane.read


@contextmanager
def workers(
    environment: Environment,
    setup: Setup,
    lend: Callable[[], Sequence[bytearray]],
    *,
    engine: str,
    jobs: int,
) -> Iterator[Start[Answer]]:
    """Lend what starts workers.

    Args:
        environment: Where models and register are.
        setup: With what texts are read, resolved.
        lend: Lends the keys.
        engine: ``local`` or ``ray``.
        jobs: How many there will be.
    """
    plan = ReadPlan(
        paths=environment.paths,
        device=environment.device,
        dtype=environment.dtype,
        setup=setup,
    )
    with ExitStack() as held:
        if engine == "local":
            from pura.batch.engine import Process

            yield lambda stopped: Process(plan, lend(), jobs, stopped)
            return
        from pura.batch.engine import actors

        gpus = int(environment.device == "cuda")
        yield held.enter_context(actors(plan, lend, gpus=gpus))


@contextmanager
def _ending(worker: Worker[Answer], over: Said) -> Iterator[None]:
    """End a worker that takes too long."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_BEAT_S):
            if over():
                worker.close()
                return

    watcher = threading.Thread(target=watch, name="watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _read(audits: Prepared, documents: Sequence[Document], checkpoint: Checkpoint) -> list[Answer]:
    """Read texts side by side; what keeps all of them from being read is the answer to each."""
    try:
        texts = [AuditText(document=document) for document in documents]
        return audits.audit_many(texts, checkpoint=checkpoint)
    except PuraError as refusal:
        return [refusal] * len(documents)


Found = Audited | PuraError | None
"""What became of a text; None where nobody wants to know any more."""
Kept = Callable[[Audited], None]
Made = TypeVar("Made")
_JOIN_S: Final = 30.0
_LEAST_ACTORS: Final = 2
_PAUSE_S: Final = 0.5
"""So long the public's texts wait at each layer while others are read: they go on, but slowly."""


@dataclass(kw_only=True, eq=False)
class Work:
    """A text that is to be read.

    Attributes:
        document: The text.
        asker: Whose turn it is; askers take turns.
        reserved: Whether it waits in the lines of those for whom places are reserved.
        done: Told what became of it, in the thread that read it.
        keep: Saves a finding before it is told of; what it raises is told instead.
        cancelled: Nobody wants to know any more.
        begun: It was taken to be read.
    """

    document: Document
    asker: str
    reserved: bool
    done: Callable[[Found], None]
    keep: Kept | None = None
    cancelled: bool = field(default=False)
    begun: bool = field(default=False)

    @property
    def size(self) -> int:
        """Its characters."""
        return len(self.document.text)


class Line:
    """Texts that wait, by asker; askers take turns. Any thread.

    Args:
        change: Notified when a text comes; lines that one thread waits for share it.
        together: So many texts, and
        characters: so many characters are taken at once.
    """

    def __init__(self, change: threading.Condition, together: int, characters: int) -> None:
        self._most = (together, characters)
        self._of: OrderedDict[str, deque[Work]] = OrderedDict()
        self._change = change
        self.count = 0
        self.characters = 0

    def put(self, work: Work) -> None:
        """Let a text wait."""
        with self._change:
            self._of.setdefault(work.asker, deque()).append(work)
            self.count += 1
            self.characters += work.size
            self._change.notify_all()

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

    def taken(self) -> list[Work]:
        """Take some texts, of each asker in turn; none where none waits."""
        texts, characters = self._most
        with self._change:
            taken: list[Work] = []
            while self._of and len(taken) < texts and sum(w.size for w in taken) < characters:
                asker, waiting = next(iter(self._of.items()))
                self._of.move_to_end(asker)
                work = waiting.popleft()
                self._left(work)
                work.begun = True
                taken.append(work)
            return taken

    def _left(self, work: Work) -> None:
        self.count -= 1
        self.characters -= work.size
        if not self._of[work.asker]:
            del self._of[work.asker]


class Reader:
    """Reads texts. Use it in a ``with`` statement.

    Args:
        environment: Where keys and model are.
        setup: With what texts are read.
        text_s: Seconds that one text may be read.
        long_characters: Longer texts are read beside the others.
        engine: ``local`` or ``ray``: where workers are.
        jobs: How many workers, each with a model: processes of this machine, or actors of a
            cluster. One local job is this process.

    Raises:
        ServeError: There are too few workers to read a long text beside others, or stored questions
            are asked of workers.
    """

    def __init__(
        self,
        environment: Environment,
        setup: Setup,
        *,
        text_s: float,
        long_characters: int,
        engine: str = "local",
        jobs: int = 1,
    ) -> None:
        self._own = (engine, jobs) == ("local", 1)
        if not self._own and jobs < _LEAST_ACTORS:
            raise ServeError("serve.jobs", least=_LEAST_ACTORS, code="usage")
        if setup.questions and not self._own:
            # A worker reads texts of the public as well, who may not search what others asked.
            raise ServeError("serve.questions", code="usage")
        self._at, self.setup = environment, resolved(environment, setup)
        self._text_s, self._long = text_s, long_characters
        self._engine, self._jobs = engine, jobs
        self._change = threading.Condition()
        self._short, self._lengthy = self._lines()
        self._public_short, self._public_lengthy = self._lines()
        self._reading = 0  # groups of texts of askers with reserved places
        self._over = False
        self._held = ExitStack()
        self._threads: list[threading.Thread] = []
        self._counter: BareModel
        self.seconds_a_character = 0.0

    def __enter__(self) -> Self:
        """Open keys, load models and begin.

        Raises:
            PuraError: One of them cannot be used.
        """
        with ExitStack() as held:
            # Here, where somebody can be asked for a passphrase.
            keys = held.enter_context(self._at.opened_keys(self.setup.lent_keys))
            if self._own:
                lent = replace(self._at, lent_keys={key.fingerprint: key for key, _ in keys})
                held.callback(self._stop)
                # One after another: the second finds the model loaded.
                for line in (self._short, self._lengthy):
                    self._begin([((line,), lambda: here(lent, self.setup))])
                public = replace(self.setup, questions=False, question_key="")
                for line in (self._public_short, self._public_lengthy):
                    self._begin([((line,), lambda: here(lent, public, self._give_way))])
            else:
                start = held.enter_context(
                    workers(
                        self._at,
                        self.setup,
                        lambda: [key.copy_secret() for key, _ in keys],
                        engine=self._engine,
                        jobs=self._jobs,
                    )
                )
                held.callback(self._stop)
                # One reads none of the public's; one its long texts too, the others none, for short
                # ones to go on.
                lines: list[tuple[Line, ...]] = [
                    (self._lengthy, self._short),
                    (self._short, self._public_lengthy, self._public_short),
                    *[(self._short, self._public_short)] * (self._jobs - 2),
                ]
                self._begin([(each, lambda: away(start, lambda: self._over)) for each in lines])
            # Of the service's own, beside workers too: it counts what a text costs.
            self._counter = self._at.bare_model(self.setup.model, profile=self.setup.profile)
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End; what is being read is given up."""
        self._held.close()

    def waiting(self, *, public: bool = False) -> int:
        """Return how many texts wait, in all or of the public."""
        return sum(line.count for line in self._counted(public=public))

    def characters(self, *, public: bool = False) -> int:
        """Return how many characters wait, in all or of the public."""
        return sum(line.characters for line in self._counted(public=public))

    def waiting_of(self, asker: str) -> int:
        """Return how many texts of an asker wait."""
        return sum(line.waiting(asker) for line in self._counted(public=False))

    def tokens(self, text: str) -> int:
        """Return how many tokens the model would read of a text, as found."""
        from pura.model.tokenise import tokenise

        try:
            return int(tokenise(self._counter.tokenizer, characters.cut(text).text).ids.size)
        except PuraError:  # what cannot be tokenised is told of when it is read
            return len(text)

    def put(self, work: Work) -> None:
        """Have a text read."""
        if work.reserved:
            short, lengthy = self._short, self._lengthy
        else:
            short, lengthy = self._public_short, self._public_lengthy
        (lengthy if work.size >= self._long else short).put(work)

    def cancel(self, work: Work) -> None:
        """Have a text read no more; its place is free at once, or when its turn is given up."""
        work.cancelled = True
        if any(line.drop(work) for line in self._counted(public=False)):
            work.done(None)

    def contained(self, work: Callable[[], Made]) -> Made | PuraError:
        """Do something with one text; a fault of the program in it is its error. Any thread."""
        return contained(work, folder=self._at.paths.state)

    def _lines(self) -> tuple[Line, Line]:
        """Return lines for short texts and for long ones."""
        return (
            Line(self._change, TOGETHER_TEXTS, TOGETHER_CHARACTERS),
            Line(self._change, 1, 1),
        )

    def _counted(self, *, public: bool) -> tuple[Line, ...]:
        lines = (self._public_short, self._public_lengthy)
        return lines if public else (*lines, self._short, self._lengthy)

    def _give_way(self) -> None:
        """Wait a while, as long as texts of askers with reserved places wait or are read."""
        with self._change:
            self._change.wait_for(
                lambda: (
                    not (self._reading or self._short.count or self._lengthy.count) or self._over
                ),
                timeout=_PAUSE_S,
            )

    def _begin(
        self, lanes: Sequence[tuple[Sequence[Line], Callable[[], AbstractContextManager[Lane]]]]
    ) -> None:
        """Begin to read lines, each by a thread of its own, and wait until all are ready."""
        refused: list[BaseException] = []
        waits: list[threading.Event] = []
        for lines, opened in lanes:
            ready = threading.Event()
            waits.append(ready)
            thread = threading.Thread(
                target=self._work, args=(lines, opened, ready, refused), daemon=True
            )
            thread.start()
            self._threads.append(thread)
        for ready in waits:
            ready.wait()
        if refused:
            raise refused[0]

    def _stop(self) -> None:
        with self._change:
            self._over = True
            self._change.notify_all()
        for thread in self._threads:
            thread.join(_JOIN_S)

    def _work(
        self,
        lines: Sequence[Line],
        opened: Callable[[], AbstractContextManager[Lane]],
        ready: threading.Event,
        refused: list[BaseException],
    ) -> None:
        try:
            with opened() as lane:
                ready.set()
                while group := self._next(lines):
                    try:
                        self._read(lane, group)
                    finally:
                        with self._change:
                            self._reading -= group[0].reserved
                            self._change.notify_all()
        except BaseException as error:  # whoever waits for this thread hears of it
            refused.append(error)
        finally:
            ready.set()

    def _next(self, lines: Sequence[Line]) -> list[Work]:
        """Wait for texts and take some; none where all is over."""
        with self._change:
            while not self._over:
                for line in lines:
                    if taken := line.taken():
                        self._reading += taken[0].reserved
                        return taken
                self._change.wait()
        return []

    def _read(self, lane: Lane, group: Sequence[Work], *, alone: bool = False) -> None:
        """Read some texts side by side and tell what became of each.

        Args:
            lane: Who reads.
            group: The texts.
            alone: It is one, since reading it beside others failed.
        """
        begun = time.perf_counter()

        def late() -> bool:
            return time.perf_counter() - begun > self._text_s

        try:
            found: Sequence[Found] = lane(
                [work.document for work in group],
                lambda: self._over or late(),
                lambda: all(work.cancelled for work in group),
            )
        except Cancelled:
            error = ServeError("serve.time", seconds=round(self._text_s), code="serve-time")
            told = late() and not self._over
            found = [error if told and not work.cancelled else None for work in group]
        except PuraError as refusal:  # no worker can be had
            found = [refusal] * len(group)
        if len(group) > 1 and any(isinstance(one, ServeError) for one in found):
            for work in group:  # one of them must not cost the others anything
                self._read(lane, [work], alone=True)
            return
        spent = (time.perf_counter() - begun) / max(1, sum(work.size for work in group))
        self.seconds_a_character += 0.2 * (spent - self.seconds_a_character)
        for work, one in zip(group, found, strict=True):
            if alone and isinstance(one, Audited) and Notice.READ_ALONE not in one.notices:
                one = replace(one, notices=(*one.notices, Notice.READ_ALONE))
            work.done(self._kept(work, one))

    def _kept(self, work: Work, found: Found) -> Found:
        """Save a finding where that was asked for; then it may be told of."""
        keep = work.keep
        if keep is None or work.cancelled or not isinstance(found, Audited):
            return found
        refused = self.contained(lambda: keep(found))
        return refused if isinstance(refused, PuraError) else found
