"""The adapters inside engines that behave as vLLM 0.33 and SGLang 0.5.23 do around them.

Neither can be installed beside this torch, so their interfaces stand here as small modules of the
same names and signatures; where an engine is installed, its own signatures are compared. The
engines move texts about, read prompts in parts, take texts out and put them back, force tokens and
sample with settings of their own. What they wrote is then read by the verifier's side: every step
that carries must show the token at its anchor.
"""

import gc
import importlib
import inspect
import pickle
import sys
import types
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from pura.base.errors import GenerationError
from pura.embed.engine import entropy_bits, inverse_transform
from pura.embed.serving import channel
from pura.embed.serving.deployments import serving_config
from pura.embed.serving.tickets import TICKET, AssignedMark, TicketOffice, TicketState
from pura.model.reading import distribution
from pura.scheme import Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of

WIDTH = 304  # four more than the profile has tokens
KEYS = {"house": SecretKey(bytes(range(32))), "desk": SecretKey(b"\7" * 32)}
# The history of all contexts is the one that a text taken out and put back keeps to the letter.
PROFILES = {
    "house": Profile(payload_bits=12, blocks=3, vocab_size=300, history="all"),
    "desk": Profile(payload_bits=36, blocks=4, vocab_size=300, temperature=0.8, history="all"),
}
PAYLOADS = {"house": Payload.from_int(0x5A3, 12), "desk": Payload.from_int(0x123456789, 36)}
PROMPT = [7, 8, 9]


# --- what the engines offer, by their own names -------------------------------------------------


class Move(Enum):
    UNIDIRECTIONAL = auto()
    SWAP = auto()


class V1Interface:
    @classmethod
    def validate_params(cls, sampling_params: Any) -> None: ...
    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: Any) -> None: ...
    def apply(self, logits: Any) -> Any: ...
    def is_argmax_invariant(self) -> Any: ...
    def update_state(self, batch_update: Any) -> Any: ...


class V2Interface:
    def __init__(self, vllm_config: Any, req_states: Any) -> None: ...
    @classmethod
    def validate_params(cls, sampling_params: Any) -> None: ...
    def add_request(self, req_idx: Any, sampling_params: Any) -> Any: ...
    def apply_staged_writes(self) -> None: ...
    def apply(self, logits: Any, ctx: Any) -> Any: ...


class SglangInterface:
    def __call__(self, logits: Any, custom_param_list: Any = None) -> Any: ...

    @classmethod
    def to_str(cls) -> str:
        return pickle.dumps(cls).hex()

    @classmethod
    def from_str(cls, text: str) -> Any:
        return pickle.loads(bytes.fromhex(text))()


class FirstRank:
    """A group of one process."""

    rank_in_group = 0

    def broadcast_object(self, value: Any, src: int) -> Any:
        assert src == 0
        return 20_261_122 if isinstance(value, int) else value


RANKS = FirstRank()
# Assigns the mark of the deployment that a ticket was opened for, and keeps what was drawn.
OFFICE = TicketOffice(
    lambda names, _series: [AssignedMark(deployment=name, payload=PAYLOADS[name]) for name in names]
)
STAND_INS: dict[str, dict[str, Any]] = {
    "vllm.distributed": {"get_tp_group": lambda: RANKS},
    "vllm.v1.sample.logits_processor": {
        "LogitsProcessor": V1Interface,
        "MoveDirectionality": Move,
    },
    "vllm.v1.worker.gpu.sample.logits_processor": {"LogitsProcessor": V2Interface},
    "sglang.srt.distributed.parallel_state": {"get_attn_tp_group": lambda: RANKS},
    "sglang.srt.sampling.custom_logit_processor": {"CustomLogitProcessor": SglangInterface},
}
BASES = {
    "vllm_v1": ("vllm.v1.sample.logits_processor", "LogitsProcessor"),
    "vllm_v2": ("vllm.v1.worker.gpu.sample.logits_processor", "LogitsProcessor"),
    "sglang": ("sglang.srt.sampling.custom_logit_processor", "CustomLogitProcessor"),
}


@pytest.fixture
def adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The adapters' modules, loaded as a server loads them, with a file of deployments."""
    torch.manual_seed(5)
    for name in STAND_INS:
        parts = name.split(".")
        for end in range(1, len(parts)):
            package = ModuleType(".".join(parts[:end]))
            package.__path__ = []
            monkeypatch.setitem(sys.modules, package.__name__, package)
    for name, names in STAND_INS.items():
        module = ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
    for name, profile in PROFILES.items():
        (tmp_path / f"{name}.json").write_text(profile.to_json())
        (tmp_path / f"{name}.key").write_text(KEYS[name].to_hex())
        (tmp_path / f"{name}.key").chmod(0o600)
    (tmp_path / "serving.json").write_text(
        '{"deployments": {"house": {"profile": "house.json", "key": "house.key"},'
        ' "desk": {"profile": "desk.json", "key": "desk.key"}},'
        ' "required": false, "tickets": "tickets"}'
    )
    # The gateway is this process; how tickets travel between processes is test_channel's affair.
    monkeypatch.setattr(channel, "ChannelClient", lambda _folder: OFFICE)
    monkeypatch.setenv("PURA_SERVING", str(tmp_path / "serving.json"))
    serving_config.cache_clear()
    loaded = {name: importlib.import_module(f"pura.embed.serving.{name}") for name in BASES}
    yield SimpleNamespace(**loaded)
    for name in BASES:
        del sys.modules[f"pura.embed.serving.{name}"]
    serving_config.cache_clear()


# --- texts, and the verifier's look at them -----------------------------------------------------


@dataclass(eq=False)
class Request:
    """One text on its way through an engine."""

    name: int
    deployment: str | None
    length: int
    temperature: float
    output: list[int] = field(default_factory=list)
    forced: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.ticket = None if self.deployment is None else OFFICE.open(self.deployment)

    @property
    def arguments(self) -> dict[str, Any]:
        return {"other": 1} if self.ticket is None else {TICKET: self.ticket.text}

    @property
    def done(self) -> bool:
        return len(self.output) >= self.length

    def logits(self, tokens: list[int]) -> torch.Tensor:
        """What the model says behind these tokens; contexts come back every now and then."""
        last = tokens[-1] if tokens else 0
        rng = np.random.default_rng([self.name, len(tokens) % 5, last % 7])
        return torch.from_numpy(rng.normal(size=WIDTH, scale=3).astype(np.float32))

    def sample(self, logits: torch.Tensor) -> int:
        """Draw as an engine does, with a temperature of its own."""
        weights = torch.softmax(logits / self.temperature, dim=-1)
        return int(torch.multinomial(weights, 1))


def requests() -> list[Request]:
    """Seven texts, two of them unmarked."""
    deployments = ["house", "desk", None, "house", "desk", None, "house"]
    lengths = [60, 25, 10, 40, 30, 20, 35]
    return [
        Request(n, d, length, 0.2 + n / 3)
        for n, (d, length) in enumerate(zip(deployments, lengths, strict=True))
    ]


def read(request: Request) -> tuple[int, list[int]]:
    """Return how many tokens carry, and the positions of those that are not at their anchor."""
    name = request.deployment
    assert name is not None
    key, profile = KEYS[name], PROFILES[name]
    code = encode(PAYLOADS[name], profile)
    order = np.concatenate([key.vocabulary_order(300), np.arange(300, WIDTH)])
    walk, carried, wrong = Scheduler(key, profile), 0, []
    for at, token in enumerate(request.output):
        logits = request.logits(request.output[:at]).numpy()
        pi = distribution(logits, temperature=profile.temperature)
        step = walk.step(entropy_bits(pi))
        if step.arity:
            carried += 1
            bits = [int(code[(step.index + j) % code.size]) for j in range(step.arity)]
            if inverse_transform(pi, order, anchor(step, sector_of(bits))) != token:
                wrong.append(at)
        walk.push(token)
    return carried, wrong


def check(texts: list[Request]) -> None:
    for text in texts:
        assert len(text.output) == text.length
        if text.deployment is not None:
            carried, wrong = read(text)
            assert carried > text.length / 4
            assert set(wrong) <= text.forced, (text.name, wrong)
            assert text.ticket is not None
            assert text.ticket.state is TicketState.REDEEMED
            # A text with a token that the marker did not choose is never delivered.
            assert text.ticket.foreign is bool(text.forced)
            if not text.forced:
                assert text.ticket.tokens[: text.length] == text.output
        else:  # the engine's own temperature ruled
            assert len(set(text.output)) > 1


# --- vLLM, first runner -------------------------------------------------------------------------


class FirstRunner:
    """The batch of vLLM's first runner: rows are removed, filled up, moved, swapped.

    Args:
        processor: The adapter.
        late: A token is known to the host one step late, as with asynchronous scheduling.
    """

    def __init__(self, processor: Any, *, late: bool) -> None:
        self.processor, self.late = processor, late
        self.batch: list[Request] = []
        self.lists: dict[int, list[int]] = {}  # what vLLM itself calls output_token_ids
        self.rng = np.random.default_rng(11)

    def step(self, leave: list[Request], come: list[Request], drop: set[int]) -> None:
        """Go one step; what ``drop`` names is thrown away (the middle of a prompt)."""
        removed = sorted(self.batch.index(text) for text in leave)
        places: list[Request | None] = [None if t in leave else t for t in self.batch]
        added, moved = [], []
        for text in come:
            index = removed.pop(0) if removed else len(places)
            if index == len(places):
                places.append(None)
            places[index] = text
            self.lists[text.name] = list(text.output)
            params = SimpleNamespace(extra_args=text.arguments)
            added.append((index, params, PROMPT, self.lists[text.name]))
        gone = list(reversed(removed))
        while None in places:
            last = places.pop()
            if last is not None:
                hole = places.index(None)
                places[hole] = last
                moved.append((len(places), hole, Move.UNIDIRECTIONAL))
        self.batch = [text for text in places if text is not None]
        if len(self.batch) > 2 and self.rng.random() < 0.5:
            a, b = self.rng.choice(len(self.batch), 2, replace=False).tolist()
            self.batch[a], self.batch[b] = self.batch[b], self.batch[a]
            moved.append((a, b, Move.SWAP))
        update = SimpleNamespace(batch_size=len(self.batch), removed=gone, added=added, moved=moved)
        self.processor.update_state(update if gone or added or moved else None)
        if not self.batch:
            return
        logits = torch.stack([text.logits(text.output) for text in self.batch])
        for text in self.batch:
            own = self.lists[text.name]
            if own and own[-1] == -1 and self.rng.random() < 0.5:  # not always in time
                own[-1] = text.output[-1]
        logits = self.processor.apply(logits)
        for line, text in zip(logits, self.batch, strict=True):
            token = text.sample(line)
            if text.name in drop:
                continue
            text.output.append(token)
            own = self.lists[text.name]
            own[:] = text.output[:-1]
            own.append(-1 if self.late else token)


@pytest.mark.parametrize("late", [False, True])
def test_the_first_runner_of_vllm(adapters: Any, *, late: bool) -> None:
    config = SimpleNamespace(speculative_config=None)
    processor = adapters.vllm_v1.PuraLogitsProcessor(config, torch.device("cpu"), False)
    assert not processor.is_argmax_invariant()
    engine, texts = FirstRunner(processor, late=late), requests()
    waiting, taken_out = list(texts), None
    for step in range(400):
        leave = [text for text in engine.batch if text.done]
        if step % 9 == 4 and taken_out is None and len(engine.batch) > len(leave):
            taken_out = next(text for text in engine.batch if not text.done)
            leave.append(taken_out)
        come = [waiting.pop(0)] if waiting and len(engine.batch) - len(leave) < 4 else []
        if step % 9 == 7 and taken_out is not None:
            come, taken_out = [*come, taken_out], None
        if not engine.batch and not come and step > 10 and taken_out is None:
            break
        # Prompts are read in two parts, also after a text was put back.
        engine.step(leave, come, {text.name for text in come})
    check(texts)
    assert len(processor._marker) == 0


# --- vLLM, second runner ------------------------------------------------------------------------


def test_the_second_runner_of_vllm(adapters: Any) -> None:
    """Slots, lines in any order, prompts in parts, preemption, a budget that forces a token."""
    slots, longest = 5, 100
    states = SimpleNamespace(
        prompt_len=SimpleNamespace(np=np.zeros(slots, dtype=np.int32)),
        prefill_len=SimpleNamespace(np=np.zeros(slots, dtype=np.int32)),
        all_token_ids=SimpleNamespace(gpu=torch.zeros((slots, longest), dtype=torch.int32)),
    )
    config = SimpleNamespace(speculative_config=None)
    processor = adapters.vllm_v2.PuraLogitsProcessor(config, states)
    free, running, rng = list(range(slots)), {}, np.random.default_rng(5)
    texts = requests()
    waiting, partial = list(texts), set()

    def enter(text: Request) -> None:
        slot = free.pop()
        running[slot] = text
        tokens = [*PROMPT, *text.output]
        states.prompt_len.np[slot], states.prefill_len.np[slot] = len(PROMPT), len(tokens)
        states.all_token_ids.gpu[slot, : len(tokens)] = torch.tensor(tokens)
        params = SimpleNamespace(extra_args=text.arguments)
        assert processor.add_request(slot, params) == (text.deployment is not None)
        partial.add(slot)

    for step in range(400):
        while waiting and len(running) < 4:
            enter(waiting.pop(0))
        if not running:
            break
        order = rng.permutation(list(running)).tolist()
        lengths = [len(PROMPT) + len(running[slot].output) - (slot in partial) for slot in order]
        context = SimpleNamespace(
            idx_mapping_np=np.array(order),
            seq_lens_upper_bound_np=np.array(lengths),
            input_ids=torch.tensor([[*PROMPT, *running[s].output][-1] for s in order]),
            expanded_idx_mapping=torch.tensor(order),
            expanded_local_pos=torch.zeros(len(order), dtype=torch.int64),
            pos=torch.tensor(lengths) - 1,
        )
        logits = torch.stack([running[slot].logits(running[slot].output) for slot in order])
        processor.apply_staged_writes()
        logits = processor.apply(logits, context)
        for line, slot in zip(logits, order, strict=True):
            text = running[slot]
            token = text.sample(line)
            if slot in partial:
                partial.discard(slot)
                continue
            if text.name == 3 and len(text.output) == 12:  # the budget for thinking is spent
                token = 42
                text.forced.add(12)
            states.all_token_ids.gpu[slot, len(PROMPT) + len(text.output)] = token
            text.output.append(token)
            if text.done or step % 13 == 6:
                free.insert(0, slot)
                del running[slot]
                if not text.done:
                    waiting.append(text)
                break  # one at a step is enough
        for slot in [slot for slot, text in running.items() if text.done]:
            free.insert(0, slot)
            del running[slot]
    # A token that is forced leaves the steps behind it at their anchors.
    check(texts)


# --- SGLang -------------------------------------------------------------------------------------


class SglangRequest:
    """SGLang's own request, as far as a processor may look at it."""

    def __init__(self, text: Request) -> None:
        self.output_ids: list[int] = []
        self.retraction_count = 0
        self.extend_end: int | None = None
        self.full_untruncated_fill_ids: list[int] = []
        self.text = text
        self.pending: int | None = None  # drawn, and not in output_ids yet

    def finished(self) -> bool:
        return self.text.done

    def fill(self, *, whole: bool) -> None:
        self.full_untruncated_fill_ids = [*PROMPT, *self.output_ids]
        self.extend_end = len(self.full_untruncated_fill_ids) - (not whole)


@pytest.mark.parametrize("overlap", [False, True])
def test_sglang(adapters: Any, *, overlap: bool) -> None:
    """New objects for every batch, tokens that lag, retraction, prompts in parts, weak requests."""
    Processor = adapters.sglang.PuraLogitProcessor
    travels = Processor.to_str()
    assert not any(key.to_hex()[:16] in travels for key in KEYS.values())
    assert len(travels) < 300
    rng, texts = np.random.default_rng(3), requests()
    waiting = [SglangRequest(text) for text in texts]
    params = {
        id(request): {**request.text.arguments, "__req__": weakref.proxy(request)}
        for request in waiting
    }
    running: list[SglangRequest] = []
    for step in range(400):
        entering = []
        while waiting and len(running) < 4:
            request = waiting.pop(0)
            request.fill(whole=False)
            entering.append(request)
            running.append(request)
        if not running:
            break
        batch = rng.permutation(np.array(running, dtype=object)).tolist()
        processor = Processor.from_str(travels)
        tokens = [[*r.output_ids, *([] if r.pending is None else [r.pending])] for r in batch]
        logits = torch.stack([r.text.logits(known) for r, known in zip(batch, tokens, strict=True)])
        given = [params[id(r)] if r.text.deployment or step % 2 else None for r in batch]
        logits = processor(logits, given)
        for line, request in zip(logits, batch, strict=True):
            token = request.text.sample(line)
            if request in entering:  # the first part of a prompt
                request.fill(whole=True)
                continue
            if request.pending is not None:
                request.output_ids.append(request.pending)
            request.pending = token if overlap else None
            if not overlap:
                request.output_ids.append(token)
            request.text.output = list(request.output_ids)
        for request in [r for r in running if r.finished()]:
            running.remove(request)
            del params[id(request)]
        if step % 11 == 5 and running:  # memory is short: the last token is lost with it
            request = running.pop(0)
            request.retraction_count += 1
            request.pending = request.extend_end = None
            waiting.append(request)
        del batch, request
    check(texts)
    process = Processor.process()
    del entering
    gc.collect()
    process.forget()
    assert len(process.marker) == 0


def test_what_cannot_carry_a_mark_is_refused(adapters: Any) -> None:
    drafts = SimpleNamespace(speculative_config=object())
    with pytest.raises(GenerationError, match="speculative"):
        adapters.vllm_v1.PuraLogitsProcessor(drafts, torch.device("cpu"), False)
    by_chance = SimpleNamespace(
        speculative_config=SimpleNamespace(rejection_sample_method="synthetic")
    )
    with pytest.raises(GenerationError, match="at random"):
        adapters.vllm_v2.PuraLogitsProcessor(by_chance, None)
    request = SglangRequest(requests()[0])
    request.fill(whole=True)
    params = {**request.text.arguments, "__req__": weakref.proxy(request)}
    processor = adapters.sglang.PuraLogitProcessor()
    with pytest.raises(GenerationError, match="speculative"):
        processor(torch.zeros((2, WIDTH)), [params, params])
    request.beam_group = object()  # type: ignore[attr-defined]
    processor(torch.zeros((1, WIDTH)), [params])
    assert request.text.ticket is not None
    assert request.text.ticket.foreign


@pytest.mark.parametrize("runner", ["vllm_v1", "vllm_v2"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"pura_payload": "0x1", "pura_profile": "house"},
        {TICKET: "0x1"},
        {TICKET: 5},
        {TICKET: f"{'0' * 16}.{'0' * 32}", "pura_payload": "0x1"},
    ],
)
def test_a_request_that_names_a_mark_by_itself_is_refused(
    adapters: Any, runner: str, arguments: dict[str, Any]
) -> None:
    validate = getattr(adapters, runner).PuraLogitsProcessor.validate_params
    with pytest.raises(ValueError, match=TICKET):
        validate(SimpleNamespace(extra_args=arguments, n=1, temperature=0.7))


@pytest.mark.parametrize("runner", ["vllm_v1", "vllm_v2"])
@pytest.mark.parametrize(
    "settings", [{"n": 4}, {"thinking_token_budget": 9}, {"watermarking": "vllm's own"}]
)
def test_a_marked_request_that_lets_others_choose_tokens_is_refused(
    adapters: Any, runner: str, settings: dict[str, Any]
) -> None:
    validate = getattr(adapters, runner).PuraLogitsProcessor.validate_params
    arguments = requests()[0].arguments
    params = {"extra_args": arguments, "n": 1, "temperature": 0.7, **settings}
    with pytest.raises(ValueError, match=r"."):
        validate(SimpleNamespace(**params))


@pytest.mark.parametrize("runner", ["vllm_v1", "vllm_v2"])
def test_only_a_marked_request_turns_greedy(adapters: Any, runner: str) -> None:
    validate = getattr(adapters, runner).PuraLogitsProcessor.validate_params
    for arguments, temperature in ((None, 0.7), (requests()[0].arguments, 0.0)):
        params = SimpleNamespace(extra_args=arguments, n=1, temperature=0.7)
        validate(params)
        assert params.temperature == temperature


@pytest.mark.parametrize("runner", ["vllm_v1", "vllm_v2"])
def test_where_marks_are_required_a_request_without_a_ticket_is_refused(
    adapters: Any, tmp_path: Path, runner: str
) -> None:
    file = tmp_path / "serving.json"
    file.write_text(file.read_text().replace("false", "true"))
    serving_config.cache_clear()
    validate = getattr(adapters, runner).PuraLogitsProcessor.validate_params
    with pytest.raises(ValueError, match=TICKET):
        validate(SimpleNamespace(extra_args=None, n=1, temperature=0.7))


def test_the_signatures(adapters: Any) -> None:
    """Every method of an interface has its parameters by name; installed engines are asked."""
    for name, (home, base) in BASES.items():
        stand_in = STAND_INS[home][base]
        adapter = vars(adapters)[name]
        ours = next(
            c
            for c in vars(adapter).values()
            if inspect.isclass(c) and c is not stand_in and issubclass(c, stand_in)
        )
        for theirs in (stand_in, *_installed(home, base)):
            methods = [m for m, f in vars(theirs).items() if isinstance(f, types.FunctionType)]
            for method in [m for m in methods if not m.startswith("_") or m in vars(stand_in)]:
                want = list(inspect.signature(vars(theirs)[method]).parameters)
                got = list(inspect.signature(getattr(ours, method)).parameters)
                assert got == want or got == want[1:], (name, method)


def _installed(home: str, base: str) -> list[Any]:
    """Return the engine's own class where the engine can be imported."""
    kept = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        if name.split(".")[0] == home.split(".")[0]
    }
    try:
        return [getattr(importlib.import_module(home), base)]
    except ImportError:
        return []
    finally:
        sys.modules.update(kept)
