"""A detector with stored questions: texts of token holders are read after them, no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.core.serve.conftest import ask

from pura.base.errors import ServeError
from pura.questions.store import AnsweredQuestion, QuestionStore
from pura.record.answers import Role
from pura.scheme import Payload, PayloadSeries, SecretKey
from pura.serve.reader import Reader
from pura.usecases.audits import Setup
from pura.usecases.environment import Environment


@pytest.fixture
def setup(
    setup: Setup,
    at: Environment,
    sample_key: SecretKey,
    small_samples: dict[str, Any],
    tmp_path: Path,
) -> Setup:
    """The usual one, with a store that holds the question of the first marked text."""
    path = tmp_path / "questions.sqlite3"
    key = SecretKey(bytes(range(1, 33)))
    at.session_keys.add(key, "questions")
    payload = small_samples["marked-tbcc"]["texts"][0]["payload"]
    mark = PayloadSeries.of(sample_key, setup.profile).mark(Payload(text=payload))
    with QuestionStore(path, key, create=True) as store:
        store.keep(AnsweredQuestion(mark=mark, ids=np.arange(100, 130), texts=("Who met?",)))
    return replace(setup, questions=path)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes each look-up in the store."""
    noted: list[str] = []
    for name in ("of_mark", "likely"):
        method = getattr(QuestionStore, name)

        def noting(self: Any, *given: Any, method: Any = method, name: str = name) -> Any:
            noted.append(name)
            return method(self, *given)

        monkeypatch.setattr(QuestionStore, name, noting)
    return noted


def test_the_public_searches_no_questions(
    detector: Any, token: Any, marked: list[str], plain: str, looked_up: list[str]
) -> None:
    client = detector()
    for text in (marked[0], plain):
        assert ask(client, text).status_code == 200
    assert looked_up == []
    answer = ask(client, marked[0], token(Role.INTERNAL)).json()
    assert looked_up == ["of_mark"]
    assert answer["answer"]["record"]["questions"]["stored"] == 1


def test_workers_that_read_for_the_public_take_no_store(at: Environment, setup: Setup) -> None:
    with pytest.raises(ServeError) as error:
        Reader(at, setup, text_s=9, long_characters=9, jobs=3)
    assert error.value.key == "serve.questions"
