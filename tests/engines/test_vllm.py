"""vLLM in this process: what its batches do to marked texts, and that the draws are exact."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vllm
from recording import RECORD, draws_in
from scipy.stats import kstest

from conftest import PROMPTS, Deployed, named, same_interface
from pura.embed.serving.tickets import TICKET

LENGTH = 200
ADAPTER = "pura.embed.serving.vllm_v1:PuraLogitsProcessor"
RECORDING = "recording:RecordingLogitsProcessor"
RARE = 1e-4  # one false alarm in ten thousand runs


def started(deployed: Deployed, adapter: str = ADAPTER, **settings: Any) -> Any:
    """Start an engine in this process."""
    return vllm.LLM(
        str(deployed.model),
        dtype="float32",
        enforce_eager=True,
        max_model_len=512,
        logits_processors=[adapter],
        disable_log_stats=False,
        **settings,
    )


def params(arguments: dict[str, str] | None = None, **settings: Any) -> Any:
    """Return what one request asks of the engine."""
    chosen = {"max_tokens": LENGTH, "ignore_eos": True, "temperature": 1.0, **settings}
    return vllm.SamplingParams(extra_args=arguments, **chosen)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("record")


@pytest.fixture(scope="module")
def engine(deployed: Deployed, record: Path) -> Iterator[Any]:
    """One engine for all that need no settings of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(RECORD, str(record))
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        running = started(deployed, RECORDING, max_num_seqs=16, enable_prefix_caching=True)
        yield running
    del running
    gc.collect()


@pytest.fixture(scope="module")
def batch(engine: Any, deployed: Deployed) -> list[tuple[str | None, int, Any]]:
    """32 requests in one batch: two keys, two profiles, 24 payloads, eight unmarked."""
    plan: list[tuple[str | None, int]] = []
    for at in range(32):
        name = (None, "house", "desk", "house")[at % 4]
        plan.append((name, (at * 2_654_435_761) % (1 << (12 if name == "desk" else 36))))
    asked = [params(None if name is None else deployed.arguments(name, n)) for name, n in plan]
    made = engine.generate([PROMPTS[at % 4] for at in range(32)], asked, use_tqdm=False)
    return [(name, n, one.outputs[0]) for (name, n), one in zip(plan, made, strict=True)]


def test_every_text_of_a_batch_names_its_own_payload(
    batch: list[tuple[str | None, int, Any]], deployed: Deployed
) -> None:
    named(
        deployed,
        [
            (name, payload, text.text, list(text.token_ids))
            for name, payload, text in batch
            if name is not None
        ],
    )


def test_unmarked_texts_among_marked_ones_carry_no_mark(
    batch: list[tuple[str | None, int, Any]], deployed: Deployed
) -> None:
    for name, _, text in batch:
        if name is None:
            for key in deployed.profiles:
                assert deployed.audit(text.text, key).verdict != "mark"


@pytest.mark.usefixtures("batch")
def test_marked_draws_follow_the_models_distribution(record: Path) -> None:
    """Uniform on the circle of token ids (KS), and surprising as the distribution says (mean)."""
    below, own, surprise, mean, variance = draws_in(record).T
    assert below.size >= 24 * LENGTH
    point = below + own * np.random.default_rng(5).random(below.size)
    assert kstest(point, "uniform").pvalue > RARE
    z = (surprise - mean).sum() / np.sqrt(variance.sum())
    assert abs(z) < 4


@pytest.mark.parametrize("settings", [{"n": 4}, {"thinking_token_budget": 5}])
def test_a_marked_request_that_lets_others_choose_tokens_is_refused(
    engine: Any, deployed: Deployed, settings: dict[str, int]
) -> None:
    """Several texts would share a mark; a budget for thinking forces its end."""
    asked = params(deployed.arguments("house", 5), **settings)
    with pytest.raises(vllm.exceptions.VLLMValidationError):
        engine.generate([PROMPTS[0]], [asked], use_tqdm=False)


def test_a_text_that_a_stop_string_ends(engine: Any, deployed: Deployed) -> None:
    asked = params(deployed.arguments("desk", 0x5A3), stop=["e"], min_tokens=120, max_tokens=LENGTH)
    (made,) = engine.generate([PROMPTS[1]], [asked], use_tqdm=False)
    (one,) = made.outputs
    assert one.finish_reason == "stop"
    assert not one.text.endswith("e")
    deployed.check(one.text, "desk", 0x5A3)


def test_a_chat_template(engine: Any, deployed: Deployed) -> None:
    said = [{"role": "user", "content": "Tell me about the harbour of our town."}]
    asked = params(deployed.arguments("house", 0xABCDEF012))
    (made,) = engine.chat([said], asked, use_tqdm=False)
    deployed.check(made.outputs[0].text, "house", 0xABCDEF012)


@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.7])
def test_the_profile_rules_the_temperature(
    engine: Any, deployed: Deployed, temperature: float
) -> None:
    """Greedy search gets the chosen token too; the verifier knows the profile's only."""
    asked = params(deployed.arguments("house", 77), temperature=temperature)
    (made,) = engine.generate([PROMPTS[2]], [asked], use_tqdm=False)
    deployed.check(made.outputs[0].text, "house", 77)


def test_a_prefix_that_is_cached_changes_nothing(engine: Any, deployed: Deployed) -> None:
    human = (Path(__file__).parents[1] / "data" / "human.txt").read_text()
    prompt = " ".join(human.split()[:200])
    for payload in (1, 2):
        asked = params(deployed.arguments("desk", payload))
        (made,) = engine.generate([prompt], [asked], use_tqdm=False)
        deployed.check(made.outputs[0].text, "desk", payload)
    assert made.num_cached_tokens > 0


def test_an_aborted_request_leaves_the_others_alone(engine: Any, deployed: Deployed) -> None:
    inner = engine.llm_engine
    for at in range(3):
        inner.add_request(str(at), PROMPTS[at], params(deployed.arguments("desk", at + 1)))
    done = {}
    for step in range(2_000):
        if step == 20:
            inner.abort_request(["1"])
        for output in inner.step():
            if output.finished:
                done[output.request_id] = output.outputs[0]
        if not inner.has_unfinished_requests():
            break
    assert {name for name, one in done.items() if one.finish_reason == "length"} == {"0", "2"}
    for at in (0, 2):
        deployed.check(done[str(at)].text, "desk", at + 1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"pura_payload": "0x1"},
        {"pura_payload": "0x1", "pura_profile": "house"},
        {TICKET: "guessed"},
        {TICKET: 5},
    ],
)
def test_a_request_that_names_a_mark_by_itself_is_refused(
    engine: Any, arguments: dict[str, Any]
) -> None:
    with pytest.raises(vllm.exceptions.VLLMValidationError, match=TICKET):
        engine.generate([PROMPTS[0]], [params(arguments)], use_tqdm=False)


def test_a_ticket_is_good_for_one_text(engine: Any, deployed: Deployed) -> None:
    """The second text gets no token of the model: nothing but the one that ends texts."""
    asked = [params(deployed.arguments("house", 5), max_tokens=20)] * 2
    first, second = engine.generate([PROMPTS[0]] * 2, asked, use_tqdm=False)
    endings = [set(made.outputs[0].token_ids) for made in (first, second)]
    assert sorted(len(tokens) > 1 for tokens in endings) == [False, True]


def test_a_text_that_is_preempted_goes_on(deployed: Deployed) -> None:
    """A cache for about two texts, and eight that want it."""
    engine = started(
        deployed, num_gpu_blocks_override=8, max_num_seqs=8, max_num_batched_tokens=512
    )
    asked = [params(deployed.arguments("house", n), max_tokens=LENGTH) for n in range(8)]
    made = engine.generate([PROMPTS[n % 4] for n in range(8)], asked, use_tqdm=False)
    preempted = sum(m.value for m in engine.get_metrics() if m.name == "vllm:num_preemptions")
    assert preempted > 0
    texts = [one.outputs[0] for one in made]
    named(
        deployed,
        [("house", payload, one.text, list(one.token_ids)) for payload, one in enumerate(texts)],
    )


def test_the_interface_of_the_second_runner() -> None:
    """It needs Triton, which is slow on a processor; its class is compared."""
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

    from pura.embed.serving import vllm_v2

    assert issubclass(vllm_v2.PuraLogitsProcessor, LogitsProcessor)
    same_interface(vllm_v2.PuraLogitsProcessor, LogitsProcessor)
