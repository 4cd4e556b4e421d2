"""Workers with models of their own, of which one is killed: every check is answered."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.core.programs import lend
from tests.core.serve.conftest import OPEN, TestClient, Token

from pura.base.errors import Cancelled, ServeError
from pura.base.paths import user_paths
from pura.batch.engine import WorkerDiedError
from pura.documents import Document, from_text
from pura.record.answers import Role
from pura.serve.app import create_app
from pura.serve.reader import Reader, WorkerLane
from pura.serve.settings import Protection, Settings
from pura.usecases.audits import Setup
from pura.usecases.environment import Environment

COUNT = 12


class Worker:
    """A worker that dies when it is told to; nothing else is made up."""

    def __init__(self, dies: bool, waits: bool) -> None:
        self._dies, self._waits, self.closed = dies, waits, threading.Event()

    def read(self, documents: Sequence[Document]) -> list[Any]:
        """Return the texts."""
        if self._waits:
            self.closed.wait()
        if self._dies or self.closed.is_set():
            raise WorkerDiedError
        return list(documents)

    def close(self) -> None:
        """Die."""
        self.closed.set()


def lane(*kinds: str) -> tuple[WorkerLane, list[Worker]]:
    made: list[Worker] = []

    def start(_: Callable[[], bool]) -> Any:
        kind = kinds[min(len(made), len(kinds) - 1)]
        made.append(Worker(kind == "dies", kind == "waits"))
        return made[-1]

    return WorkerLane(start, lambda: False), made


def never() -> bool:
    return False


def test_another_worker_takes_over() -> None:
    away, made = lane("dies", "good")
    text = from_text("a text")
    assert away.read([text], never, never) == [text]
    assert [one.closed.is_set() for one in made] == [True, False]


def test_a_text_that_no_worker_survives_is_an_error_and_the_next_is_read() -> None:
    away, _ = lane("dies", "dies", "good")
    texts = [from_text("a text")]
    [error] = away.read(texts, never, never)
    assert isinstance(error, ServeError)
    assert error.code == "serve-lost"
    assert away.read(texts, never, never) == texts


def test_a_worker_that_takes_too_long_is_ended() -> None:
    away, made = lane("waits")
    begun = threading.Event()

    def over() -> bool:
        begun.set()
        return True

    with pytest.raises(Cancelled):
        away.read([from_text("a text")], over, never)
    assert made[0].closed.is_set()


def test_one_worker_is_too_few(at: Environment, setup: Setup) -> None:
    with pytest.raises(ServeError) as refused:
        Reader(at, setup, text_s=1, long_characters=1, engine="ray", jobs=1)
    assert "--jobs 2" in refused.value.hint


def processes(engine: str) -> list[int]:
    """Return the processes of workers: the local ones of this process, or all actors here."""
    said = {"local": b"pura.batch.worker", "ray": b"ray::Actor"}[engine]
    found = []
    for folder in Path("/proc").iterdir():
        try:
            mine = engine == "ray" or f"PPid:\t{os.getpid()}\n" in (folder / "status").read_text()
            if mine and said in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (OSError, ValueError):  # no process, or one that has ended
            continue
    return sorted(found)


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_a_worker_that_is_killed_costs_no_answer(
    at: Environment,
    setup: Setup,
    token: Token,
    small_models: Path,
    marked: list[str],
    plain: str,
    each_engine: str,
) -> None:
    lend(small_models, user_paths().models)
    limits = replace(OPEN.limits, at_once_s=0.0)
    settings = Settings(limits=limits, protection=Protection(least_tokens=50))
    at = replace(at, lent_model=None)
    before = set(processes(each_engine))
    texts = [marked[0] if n % 2 else plain[: 400 + n] for n in range(COUNT)]
    with Reader(
        at,
        setup,
        text_s=limits.text_s,
        long_characters=limits.long_characters,
        engine=each_engine,
        jobs=2,
    ) as reader:
        pids = [pid for pid in processes(each_engine) if pid not in before]
        assert len(pids) == 2
        with TestClient(create_app(at, reader, settings), "http://localhost") as client:
            header = token(Role.TRUSTED)
            asked = [client.post("/v1/checks", json={"text": t}, headers=header) for t in texts]
            assert {one.status_code for one in asked} <= {200, 202}
            os.kill(pids[0], signal.SIGKILL)
            answers = []
            for one in asked:
                place = f"/v1/checks/{one.json()['id']}"
                while (shown := client.get(place, headers=header).json())["status"] == "waiting":
                    time.sleep(0.05)
                answers.append(shown["answer"]["verdict"])
    assert answers[1::2] == ["mark"] * (COUNT // 2)
    assert "mark" not in answers[::2]
    while set(processes(each_engine)) - before:  # one of Ray's takes a moment to end
        time.sleep(0.1)
