"""What a job sees of the outside: cancel, pause, throttled progress, time left."""

from __future__ import annotations

import threading

import pytest

from pura.errors import Cancelled
from pura_audit.jobs.context import INTERVAL, JobContext
from pura_audit.jobs.messages import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_cancel_raises_at_the_next_checkpoint() -> None:
    context = JobContext(lambda _: None)
    context.checkpoint()
    context.cancel()
    with pytest.raises(Cancelled):
        context.checkpoint()


def test_cancel_wakes_a_paused_job() -> None:
    context = JobContext(lambda _: None)
    context.pause()
    ended = threading.Event()

    def job() -> None:
        try:
            context.checkpoint()
        except Cancelled:
            ended.set()

    thread = threading.Thread(target=job)
    thread.start()
    context.cancel()
    thread.join(timeout=10)
    assert ended.is_set()


def test_progress_is_throttled_within_a_step_and_never_between_steps() -> None:
    told: list[Progress] = []
    clock = Clock()
    context = JobContext(told.append, clock)
    for i in range(100):
        clock.now += INTERVAL / 10
        context.progress(Progress(step=5, name="reading", done=i, total=1000))
    assert 8 <= len(told) <= 12
    context.progress(Progress(step=6, name="schedule"))
    assert told[-1].step == 6
    context.progress(Progress(step=6, name="schedule", done=5, total=5))
    assert told[-1].done == 5


def test_time_left_follows_the_speed_and_waits_for_something_to_go_by() -> None:
    told: list[Progress] = []
    clock = Clock()
    context = JobContext(told.append, clock)
    context.progress(Progress(step=5, name="reading", done=0, total=100))
    clock.now += 0.5
    context.progress(Progress(step=5, name="reading", done=5, total=100))
    assert told[-1].seconds_left is None
    clock.now += 1.5
    context.progress(Progress(step=5, name="reading", done=20, total=100))
    assert told[-1].seconds_left == pytest.approx(8.0)
