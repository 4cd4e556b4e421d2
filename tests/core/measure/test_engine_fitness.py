"""A server's next tokens beside a model's: asked over HTTP, judged by the printed rule."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest
from tests.core.programs import lend
from typer.testing import CliRunner

from pura.base.errors import InputError, PuraError
from pura.base.paths import user_paths
from pura.cli.__main__ import app
from pura.measure.engine import PROMPTS, compare_engine, engine_sentence
from pura.model.evidence import next_token
from pura.model.tokenise import decode, tokenise

Answer = tuple[int, Any]
PowerQuery = Callable[[dict[str, Any]], Answer]
Rows = Callable[[str], list[dict[str, Any]]]


@contextmanager
def serving(answer: PowerQuery) -> Iterator[str]:
    """A server of OpenAI's interface on a free port of this computer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(
                *((200, {"data": [{"id": "tiny"}]}) if self.path == "/v1/models" else (404, {}))
            )

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.path == "/v1/completions"
            assert (asked["model"], asked["max_tokens"]) == ("tiny", 1)
            self._say(*answer(asked))

        def _say(self, status: int, answer: Any) -> None:
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def expected(model: Any, prompt: str, temperature: float = 1.0) -> Any:
    sharpened = next_token(model, tokenise(model.tokenizer, prompt).ids) ** (1 / temperature)
    return sharpened / sharpened.sum()


def top(model: Any, probabilities: Any, count: int) -> list[tuple[str, float]]:
    likeliest = np.argsort(-probabilities)[:count]
    return [(decode(model.tokenizer, [int(i)]), float(np.log(probabilities[i]))) for i in likeliest]


def from_model(model: Any, temperature: float = 1.0, turned: int = 0) -> PowerQuery:
    """Answer as vLLM and llama.cpp do; turned, each token has the probability of another one."""

    def answer(asked: dict[str, Any]) -> Answer:
        probabilities = np.roll(expected(model, asked["prompt"], temperature), turned)
        found = top(model, probabilities, asked["logprobs"])
        return 200, {"choices": [{"text": "", "logprobs": {"top_logprobs": [dict(found)]}}]}

    return answer


def test_the_prompts_are_forty_different_ones():
    assert len(set(PROMPTS)) == 40
    assert all(prompt == prompt.strip() for prompt in PROMPTS)


def test_a_server_with_the_same_model_is_read_well(small_model):
    said: list[tuple[int, int]] = []
    with serving(from_model(small_model)) as url:
        found = compare_engine(small_model, f"{url}/v1/", progress=lambda *n: said.append(n))
    assert (found.word, found.prefix, found.engine_model) == ("good", "none", "tiny")
    assert found.kl_bits.value == pytest.approx(0, abs=0.02)  # one word may be several tokens
    assert found.variation.value == pytest.approx(0, abs=0.02)
    assert found.same_first.value == 1.0
    named = [np.sort(expected(small_model, prompt))[-20:].sum() for prompt in PROMPTS]
    assert found.covered == pytest.approx(np.mean(named), abs=0.01)
    assert said[-1] == (40, 40)
    assert "should be readable here:" in engine_sentence(found)


def test_a_server_that_draws_at_another_temperature_is_not_relied_on(small_model):
    with serving(from_model(small_model, 0.3)) as url:
        found = compare_engine(small_model, url)
    assert found.word == "poor"


def test_another_model_is_not_relied_on(small_model):
    with serving(from_model(small_model, turned=1)) as url:
        found = compare_engine(small_model, url)
    assert found.word == "poor"
    assert "Do not rely on" in engine_sentence(found)
    assert "Verlassen Sie sich nicht darauf" in engine_sentence(found, "de")


def test_a_server_that_gives_five_in_the_newer_form_is_asked_for_five(small_model):
    asked_for: list[int] = []

    def answer(asked: dict[str, Any]) -> Answer:
        asked_for.append(asked["logprobs"])
        if asked["logprobs"] > 5:
            return 400, {"error": {"message": "at most 5"}}
        named = top(small_model, expected(small_model, asked["prompt"]), 5)
        rows = [{"token": token, "logprob": value} for token, value in named]
        return 200, {"choices": [{"logprobs": {"content": [{"top_logprobs": rows}]}}]}

    with serving(answer) as url:
        found = compare_engine(small_model, url)
    assert asked_for == [20, *[5] * 40]
    assert found.top <= 5
    assert found.word == "good"


NOTHING = {"choices": [{"text": " a", "logprobs": None}]}
HALF = {"choices": [{"logprobs": {"top_logprobs": [{" a": 0.5}]}}]}


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ((200, NOTHING), "engine.no-probabilities"),
        ((200, HALF), "engine.no-probabilities"),
        ((200, b"<html>"), "engine.no-probabilities"),
        ((200, b"[" * 100_000), "engine.no-probabilities"),
        ((400, {}), "engine.refused"),
        ((401, {}), "engine.refused"),
        ((302, {}), "engine.refused"),
    ],
)
def test_a_server_without_probabilities_is_named_with_the_way_out(small_model, answer, key):
    with serving(lambda _: answer) as url, pytest.raises(InputError) as caught:
        compare_engine(small_model, url)
    assert caught.value.key == key
    for language in ("en", "de"):
        happened, way_out = caught.value.words(language)
        assert url in happened
        assert "--logprobs" in way_out


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "file:///etc/passwd", "http://", "http://a:b@c", "http://a:x"]
)
def test_what_is_no_address_is_never_asked(url, small_model):
    with pytest.raises(InputError, match="no address"):
        compare_engine(small_model, url)


def test_a_server_that_is_not_there_is_named(small_model):
    with serving(from_model(small_model)) as url:
        pass
    with pytest.raises(InputError, match="gave no answer"):
        compare_engine(small_model, url)


def pura(*words: object) -> Any:
    return CliRunner().invoke(app, [*map(str, words)])


def test_the_command_says_it_in_a_sentence_or_a_row(small_model, small_models, rows):
    lend(small_models, user_paths().models)
    with serving(from_model(small_model)) as url:
        said = pura("model", "fitness", "--engine", url, "--device", "cpu")
        row = pura("model", "fitness", "small", "--engine", url, "--device", "cpu", "--json")
    assert said.exit_code == 0, said.output
    assert f"Marked texts of {url} should be readable here" in said.stdout
    assert "not proved" in said.stdout
    (found,) = rows(row.stdout)
    assert (found["schema"], found["word"]) == ("pura-engine-fitness/1", "good")


def test_the_command_says_what_it_lacks():
    for words, key in (
        (["--engine", "http://127.0.0.1:9", "--source", "small"], "engine.alone"),
        (["small"], "command.profile-needed"),
    ):
        done = pura("model", "fitness", *words)
        assert isinstance(done.exception, PuraError)
        assert (done.exception.key, done.exception.code) == (key, "usage")
