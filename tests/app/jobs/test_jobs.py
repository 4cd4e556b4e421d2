"""What a job sees of the outside: cancel, pause, throttled progress, time left."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from pura.base.errors import Cancelled
from pura.model.reading import SHORT_OF_MEMORY
from pura.record.audit import Audit
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


def test_reading_is_told_in_tokens_and_other_steps_in_shares(qapp: Any) -> None:
    from pura_audit.workbench.state_views import progress_words

    reading = Progress(step=5, name="reading", done=1240, total=4000, seconds_left=12.0)
    words = progress_words(reading)
    assert "of" in words
    assert "tokens" in words
    assert "12" in words
    assert "%" not in words
    assert "50" in progress_words(Progress(step=9, name="significance", done=1, total=2))


def test_a_text_that_was_read_in_smaller_pieces_is_said(window: Any, audit: Audit) -> None:

    said: list[str] = []
    window.session.noticed.connect(said.append)
    window.session.add_text("a text")
    number = window.session.current.number
    window.session._finished(number, audit)
    assert said == []
    log = tuple(
        replace(step, note=f"1 window(s); {SHORT_OF_MEMORY}") if step.number == 5 else step
        for step in audit.log
    )
    window.session._finished(number, replace(audit, log=log))
    assert len(said) == 1
    assert "smaller pieces" in said[0]
