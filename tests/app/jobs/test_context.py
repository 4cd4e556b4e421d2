"""What a job sees of the outside: cancel, pause, throttled progress, time left."""

import threading

import pytest

from pura.base.errors import Cancelled
from pura.base.progress import Stage
from pura_audit.jobs.queue import INTERVAL, READ, JobContext, Progress


@pytest.fixture
def told() -> list[Progress]:
    return []


@pytest.fixture
def context(told, clock) -> JobContext:
    return JobContext(told.append, lambda act: act(), clock)


def test_cancel_raises_at_the_next_checkpoint(context):
    context.checkpoint()
    context.cancel()
    with pytest.raises(Cancelled):
        context.checkpoint()


def test_cancel_wakes_a_paused_job(context):
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
    thread.join(timeout=60)
    assert ended.is_set()


def test_progress_is_throttled_within_a_step_and_never_between_steps(context, told, clock):
    for i in range(100):
        clock.now += INTERVAL / 10
        context.progress(Stage(number=5, name="reading", done=i, total=1000))
    assert 8 <= len(told) <= 12
    context.progress(Stage(number=6, name="schedule"))
    assert told[-1].step == 6
    context.progress(Stage(number=6, name="schedule", done=5, total=5))
    assert told[-1].done == 5
    context.progress(Stage(name="texts", total=9))
    context.progress(Stage(name="fitness", total=9))
    assert [progress.name for progress in told[-2:]] == ["texts", "fitness"]


def test_time_left_follows_the_speed_and_waits_for_something_to_go_by(context, told, clock):
    context.progress(Stage(number=5, name="reading", done=0, total=100))
    clock.now += 0.5
    context.progress(Stage(number=5, name="reading", done=5, total=100))
    assert told[-1].seconds_left is None
    clock.now += 1.5
    context.progress(Stage(number=5, name="reading", done=20, total=100))
    # 0.1 s a token: 80 to read, and what comes after the reading.
    after = 10 * (1 - READ) / READ
    assert told[-1].seconds_left == pytest.approx(8.0 + after)
    clock.now += 8.5
    context.progress(Stage(number=8, name="decoding"))
    assert told[-1].seconds_left == pytest.approx(after - 0.5)


def test_what_an_interrupted_audit_has_read_is_no_part_of_the_speed(context, told, clock):
    context.progress(Stage(number=5, name="reading"))
    clock.now += 1
    for done in (4000, 4010, 4500):
        context.progress(Stage(number=5, name="reading", done=done, total=10_000))
        clock.now += 2.5
    assert told[-1].seconds_left == pytest.approx(55 + 100 * (1 - READ) / READ)


def test_time_left_never_counts_up(context, told, clock):
    ways = [(1, 10), (1, 20), (1, 30), (1, 38), (2, 40), (60, 41), (1, 90), (1, 99)]
    context.progress(Stage(name="install", done=0, total=100))
    for seconds, done in ways:
        clock.now += seconds
        context.progress(Stage(name="install", done=done, total=100))
    left = [one.seconds_left for one in told]
    assert left[0] is None
    assert left[6] is None  # the guess was far off
    shown = [one for one in left if one is not None]
    assert len(shown) == 7
    assert shown == sorted(shown, reverse=True)


def test_reading_is_told_in_tokens(qapp):
    from pura_audit.workbench.state_views import progress_words

    reading = Progress(step=5, name="reading", done=1240, total=4000, seconds_left=12.0)
    words = progress_words(reading)
    assert "of" in words
    assert "tokens" in words
    assert "12" in words
    assert "%" not in words
