"""The queue: one job after the other, off the window's thread; each is told of once, or never."""

import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from shiboken6 import delete

from pura.base.errors import InputError
from pura.base.progress import Stage
from pura.detect.options import Notice
from pura.usecases.audits import Audited
from pura_audit.jobs.queue import (
    Done,
    Failure,
    JobContext,
    JobQueue,
    Jobs,
    Outcome,
    Progress,
    Stopped,
)


class Gate:
    """Work that waits until it is let go, and asks meanwhile whether to stop."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, context: JobContext) -> str:
        self.entered.set()
        while not self.opened.wait(0.005):
            context.checkpoint()
        context.checkpoint()
        return "through"


@pytest.fixture
def queue(qapp) -> Iterator[JobQueue]:
    made = JobQueue("test")
    yield made
    made.stop()
    assert made.wait(60_000)


@pytest.fixture
def owner(qapp) -> QObject:
    return QObject()


Told = list[tuple[str, Outcome[str]]]


def ask(queue: JobQueue, told: Told, owner: QObject, name: str) -> Any:
    return queue.do(lambda _: name, lambda outcome: told.append((name, outcome)), owner)


def test_a_result_comes_back_once_in_the_window_s_thread(queue, owner, qtbot):
    threads: list[threading.Thread] = []
    outcomes: list[Outcome[int]] = []

    def work(_: JobContext) -> int:
        threads.append(threading.current_thread())
        return 42

    def then(outcome: Outcome[int]) -> None:
        threads.append(threading.current_thread())
        outcomes.append(outcome)

    queue.do(work, then, owner)
    qtbot.waitUntil(lambda: bool(outcomes))
    assert outcomes == [Done(42)]
    assert threads[0] is not threading.current_thread()
    assert threads[1] is threading.current_thread()


def test_a_job_that_fails_never_stops_the_others(queue, owner, qtbot):
    outcomes: list[Outcome[str]] = []
    refusal = InputError("file.read", name="a.txt", why=2, code="no")

    def refuse(_: JobContext) -> str:
        raise refusal

    def break_down(_: JobContext) -> str:
        raise RuntimeError("words of a text")

    queue.do(refuse, outcomes.append, owner)
    queue.do(break_down, outcomes.append, owner)
    queue.do(lambda _: "fine", outcomes.append, owner)
    qtbot.waitUntil(lambda: len(outcomes) == 3)
    refused, broken, fine = outcomes
    assert refused == Failure(code="no", message=refusal.message, hint=refusal.hint)
    assert refused.words == f"{refusal.message} {refusal.hint}"
    assert isinstance(broken, Failure)
    assert broken.code == "internal"
    assert "words of a text" not in broken.message + broken.hint
    assert fine == Done("fine")


def test_whoever_takes_a_result_badly_does_not_stop_the_others(queue, owner, qtbot):
    told: Told = []

    def bad(_: Outcome[str]) -> None:
        raise ValueError

    with qtbot.captureExceptions() as raised:
        queue.do(lambda _: "first", bad, owner)
        ask(queue, told, owner, "second")
        qtbot.waitUntil(lambda: bool(told))
    assert len(raised) == 1
    assert told == [("second", Done("second"))]


def test_nobody_is_told_once_the_owner_is_gone(queue, owner, qtbot):
    gate, told = Gate(), list[object]()
    gone = QObject()
    queue.do(gate, told.append, gone, progressed=told.append)
    queue.do(
        lambda context: context.progress(Stage(name="step")),
        told.append,
        gone,
        started=lambda: told.append("started"),
        progressed=told.append,
    )
    after: Told = []
    ask(queue, after, owner, "after")
    qtbot.waitUntil(gate.entered.is_set)
    delete(gone)
    gate.opened.set()
    qtbot.waitUntil(lambda: bool(after))
    assert told == []
    assert not queue.busy


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_at_its_checkpoint(
    queue, owner, qtbot
):
    gate, told = Gate(), list[object]()
    running = queue.do(gate, told.append, owner)
    waiting = queue.do(lambda _: told.append("ran"), told.append, owner)
    qtbot.waitUntil(gate.entered.is_set)
    waiting.cancel()
    assert told == [Stopped()]
    running.cancel()
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told == [Stopped(), Stopped()]
    running.cancel()
    waiting.cancel()
    assert len(told) == 2
    assert not queue.busy


def test_what_is_dropped_is_told_to_nobody(queue, owner, qtbot):
    gate, told = Gate(), list[object]()
    running = queue.do(gate, told.append, owner)
    waiting = queue.do(lambda _: told.append("ran"), told.append, owner)
    qtbot.waitUntil(gate.entered.is_set)
    waiting.drop()
    running.drop()
    qtbot.waitUntil(lambda: not queue.busy)
    assert told == []


def test_the_order_of_what_waits_can_be_changed(queue, owner, qtbot):
    told: Told = []
    queue.set_paused(True)
    first, second, third = (ask(queue, told, owner, name) for name in ("1", "2", "3"))
    assert queue.order() == (first, second, third)
    queue.move(third, -5)
    assert queue.order() == (third, first, second)
    queue.move(third, 1)
    assert queue.order() == (first, third, second)
    queue.set_paused(False)
    qtbot.waitUntil(lambda: len(told) == 3)
    assert [name for name, _ in told] == ["1", "3", "2"]
    queue.move(first, 1)  # it is over
    assert queue.order() == ()


def test_a_pause_holds_what_runs_and_what_waits_but_not_what_goes_aside(queue, owner, qtbot):
    gate, told = Gate(), list[object]()
    queue.do(gate, told.append, owner)
    qtbot.waitUntil(gate.entered.is_set)
    queue.set_paused(True)
    gate.opened.set()
    queue.do(lambda _: "waited", told.append, owner)
    queue.set_paused(False)
    qtbot.waitUntil(lambda: told == [Done("through"), Done("waited")])
    queue.set_paused(True)
    queue.do(lambda _: "later", told.append, owner)
    queue.do(lambda _: "aside", told.append, owner, urgent=True)
    qtbot.waitUntil(lambda: told[-1] == Done("aside"))
    assert queue.busy
    queue.set_paused(False)
    qtbot.waitUntil(lambda: told[-1] == Done("later"))


def test_busy_is_said_when_it_begins_and_when_it_ends(queue, owner, qtbot):
    said: list[bool] = []
    queue.busy_changed.connect(said.append)
    told: list[object] = []
    queue.do(lambda _: "aside", told.append, owner, urgent=True)
    qtbot.waitUntil(lambda: bool(told))
    assert said == []
    gate = Gate()
    queue.do(gate, told.append, owner)
    queue.do(lambda _: "", told.append, owner)
    queue.cancel_all()
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told[1:] == [Stopped(), Stopped()]
    assert said == [True, False]


def test_progress_and_what_is_posted_arrive_before_the_end(queue, owner, qtbot):
    told: list[object] = []

    def work(context: JobContext) -> str:
        context.progress(Stage(number=2, name="step", done=1, total=2))
        context.post(lambda: told.append(threading.current_thread()))
        return "end"

    queue.do(
        work,
        told.append,
        owner,
        started=lambda: told.append("started"),
        progressed=told.append,
    )
    qtbot.waitUntil(lambda: len(told) == 4)
    assert told == [
        "started",
        Progress(step=2, name="step", done=1, total=2),
        threading.current_thread(),
        Done("end"),
    ]


def test_closing_cancels_everything_and_ends_all_threads(owner, qtbot):
    jobs, gates, told = Jobs(), [Gate() for _ in range(4)], list[object]()
    queues = (jobs.model, jobs.files, jobs.cases, jobs.reports)
    for queue, gate in zip(queues, gates, strict=True):
        queue.do(gate, lambda _: None, owner)
        queue.do(lambda _: told.append("ran"), lambda _: None, owner)
    qtbot.waitUntil(lambda: all(gate.entered.is_set() for gate in gates))
    jobs.model.set_paused(True)
    assert jobs.close()
    assert not any(queue.alive for queue in queues)
    assert jobs.close()
    jobs.model.do(lambda _: told.append("too late"), lambda _: None, owner)
    QCoreApplication.processEvents()
    assert told == []


def test_queues_do_not_wait_for_each_other(owner, qtbot):
    jobs, gate, told = Jobs(), Gate(), list[object]()
    jobs.model.do(gate, told.append, owner)
    jobs.reports.do(lambda _: "preview", told.append, owner)
    qtbot.waitUntil(lambda: bool(told))
    assert told == [Done("preview")]
    assert jobs.model.busy
    assert jobs.close()


def test_a_failure_whose_dialog_is_gone_is_said_in_the_status_line(window, qtbot):
    refusal = InputError("file.read", name="a.txt", why=2)

    def refuse(_: JobContext) -> str:
        raise refusal

    dialog, told = QObject(), list[object]()
    window.session.do(refuse, told.append, dialog)
    delete(dialog)
    qtbot.waitUntil(lambda: window.status.words.text() == str(refusal))
    assert told == []


def test_a_text_that_was_read_in_smaller_pieces_is_said(window, engine, audit, qtbot, monkeypatch):
    said: list[str] = []
    window.session.noticed.connect(said.append)
    for number, notices in (("a", ()), ("b", (Notice.SHORT_OF_MEMORY,))):
        assert said == []
        # Each is a finding of its own: the case would refuse the same one twice.
        found = dataclasses.replace(audit, id=number * 32)
        result = Audited(audit=found, notices=notices)
        monkeypatch.setattr(engine, "audit", lambda *_, result=result: result)
        window.session.texts.add_text("a text")
        item = window.session.texts.current
        window.session.audits.audit([item])
        qtbot.waitUntil(lambda done=item: done.audit is not None)
    assert len(said) == 1
    assert "smaller pieces" in said[0]
