"""The evidence pass equals the naive float64 way, on every family, cut or not, however tiled."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from tests.core.stops import stop_after

from pura.base.errors import Cancelled, InputError, ModelError, ProfileError
from pura.model import window_scheduler
from pura.model.evidence import read
from pura.model.load import LanguageModel
from pura.model.reading import Reading, full_order, read_logits
from pura.model.tiles import CPU_TILING, Tiling
from pura.model.tokenise import tokenise
from pura.scheme import Profile, SecretKey, schedule

KEYS = (SecretKey(bytes(range(32))), SecretKey(bytes(range(1, 33))))
FAMILIES = (
    "llama",
    "gemma2",
    "gemma3",
    "gemma3-capped",
    "gpt-neox",
    "bloom",
    "cohere",
    "granite",
    "phi",
)
SMALL = Tiling(chunk=7, rows=5, columns=100, block=3 * 337)
SAMPLES = Path(__file__).parents[2] / "data" / "samples"
Tiny = Callable[[str], LanguageModel]


def profile_for(model: LanguageModel, **changes: Any) -> Profile:
    return Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size, **changes)


def some_ids(model: LanguageModel, length: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(length).integers(0, model.vocab_size, length)


def network_logits(model: LanguageModel, inputs: list[int]) -> npt.NDArray[np.float32]:
    with torch.inference_mode():
        out = model.network(torch.tensor([inputs]), use_cache=False).logits[0]
    return np.asarray(out.float().numpy())


def assert_equal(found: Reading, wanted: Reading, start: int, tolerance: float = 1e-5) -> None:
    for name in ("entropy_bits", "probability"):
        got, want = getattr(found, name)[start:], getattr(wanted, name)
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance, err_msg=name)
    for name in ("lo", "hi"):
        got, want = getattr(found, name)[:, start:], getattr(wanted, name)
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tiling", [CPU_TILING, SMALL], ids=["whole", "cut"])
def test_equals_naive_on_every_family(tiny, family, tiling):
    model = tiny(family)
    profile = profile_for(model)
    ids = some_ids(model, 40)
    logits = network_logits(model, ids.tolist())[:-1]
    wanted = read_logits(logits, ids[1:], keys=KEYS, profile=profile)
    found = read(model, ids, keys=KEYS, profile=profile, tiling=tiling)
    assert_equal(found, wanted, 1)
    assert wanted.entropy_bits.std() > 0.01, "the comparison would say nothing on a flat model"


@pytest.mark.parametrize(
    "changes",
    [
        {"temperature": 0.6},
        {"temperature": 1.7, "top_k": 40},
        {"top_p": 0.8},
        {"temperature": 0.8, "top_k": 60, "top_p": 0.9},
        {"top_k": 1},
        {"top_k": 100_000, "top_p": 0.999},
    ],
    ids=str,
)
@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_equals_naive_where_the_profile_cuts(tiny, family, changes):
    model = tiny(family)
    profile = profile_for(model, **changes)
    ids = some_ids(model, 33)
    logits = network_logits(model, ids.tolist())[:-1]
    wanted = read_logits(logits, ids[1:], keys=KEYS, profile=profile)
    assert_equal(read(model, ids, keys=KEYS, profile=profile, tiling=SMALL), wanted, 1)


def test_first_token_without_prefix_says_nothing(tiny):
    model = tiny("llama")
    for length in (0, 1, 2):
        found = read(model, some_ids(model, length), keys=KEYS, profile=profile_for(model))
        assert len(found) == length
        assert found.lo.shape == found.hi.shape == (2, length)
        if length:
            first = (found.entropy_bits[0], found.probability[0], found.lo[0, 0], found.hi[0, 0])
            assert first == (0.0, 1.0, 0.0, 1.0)


def test_no_key_gives_entropies_only(tiny):
    model = tiny("llama")
    ids = some_ids(model, 12)
    for changes in ({}, {"top_p": 0.9}):
        profile = profile_for(model, **changes)
        bare = read(model, ids, keys=(), profile=profile)
        assert bare.lo.shape == (0, 12)
        keyed = read(model, ids, keys=KEYS, profile=profile)
        np.testing.assert_allclose(bare.entropy_bits, keyed.entropy_bits, atol=1e-9)


@pytest.mark.parametrize("prompt", [(), (5, 6, 7), (1, 5, 6, 7)], ids=str)
def test_bos_and_prompt_stand_before_the_text(tiny, prompt):
    model = tiny("llama")
    profile = profile_for(model, prefix="bos")
    ids = some_ids(model, 20)
    # The start token stands once, whether the caller's prompt brings it or not.
    before = [1, *(prompt[1:] if prompt[:1] == (1,) else prompt)]
    logits = network_logits(model, [*before, *ids.tolist()])[len(before) - 1 : -1]
    wanted = read_logits(logits, ids, keys=KEYS, profile=profile)
    found = read(model, ids, keys=KEYS, profile=profile, prompt_ids=prompt, tiling=SMALL)
    assert_equal(found, wanted, 0)


def test_padding_rows_come_after_the_permuted_ones(tiny):
    order = full_order(KEYS[0], 331, 337)
    assert sorted(order[:331].tolist()) == list(range(331))
    assert order[331:].tolist() == list(range(331, 337))
    model = tiny("llama")
    ids = np.array([3, 336, 4, 331], dtype=np.int64)
    found = read(model, ids, keys=KEYS[:1], profile=profile_for(model))
    assert found.hi[0, 1] == pytest.approx(1.0, abs=1e-6)  # the very last of the order
    assert found.lo[0, 3] < found.hi[0, 3] < 1.0


def test_several_keys_are_several_single_readings(tiny):
    model = tiny("bloom")
    profile = profile_for(model)
    ids = some_ids(model, 25)
    both = read(model, ids, keys=KEYS, profile=profile)
    for row, key in enumerate(KEYS):
        one = read(model, ids, keys=[key], profile=profile)
        np.testing.assert_allclose(both.lo[row], one.lo[0], atol=1e-12)
    assert np.abs(both.lo[0] - both.lo[1]).max() > 0.1


@pytest.mark.parametrize(("prefix", "prompt"), [("none", ()), ("bos", ()), ("bos", range(2, 12))])
def test_long_text_goes_in_overlapping_windows(tiny, prefix, prompt):
    """Every token is predicted from what the plan says; here each one is recomputed alone."""
    model = tiny("llama")
    profile = profile_for(model, prefix=prefix)
    ids = some_ids(model, 150)
    found = read(
        model, ids, keys=KEYS, profile=profile, prompt_ids=list(prompt), tiling=SMALL, window=32
    )
    assert found.windows > 5
    opening = [1] if prefix == "bos" else []
    head = [*opening, *prompt]
    for token in (1, 2, 21, 22, 30, 31, 32, 33, 47, 48, 49, 64, 100, 148, 149):
        inputs = _context_of(token, ids, head, opening, 32)
        wanted = read_logits(
            network_logits(model, inputs)[-1:], ids[[token]], keys=KEYS, profile=profile
        )
        assert found.entropy_bits[token] == pytest.approx(wanted.entropy_bits[0], abs=1e-5)
        np.testing.assert_allclose(found.lo[:, token], wanted.lo[:, 0], atol=1e-5)


def _context_of(
    token: int, ids: npt.NDArray[np.int64], head: list[int], opening: list[int], context: int
) -> list[int]:
    """What stands before a token, written without the plan's arithmetic."""
    stop = context - len(opening)  # a prompt takes nothing of a window
    if token <= stop:
        return [*head, *ids[:token].tolist()]
    keep = context // 2
    while True:
        begin, fresh = stop - keep, context - len(opening) - keep
        if token <= stop + fresh:
            return [*opening, *ids[begin:token].tolist()]
        stop += fresh


def test_progress_ends_complete_and_never_falls(tiny):
    model = tiny("llama")
    seen: list[tuple[int, int]] = []
    ids = some_ids(model, 60)
    read(
        model,
        ids,
        keys=KEYS,
        profile=profile_for(model),
        tiling=SMALL,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert len(seen) > 20
    assert len({total for _, total in seen}) == 1
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("after", [0, 1, 3, 30])
def test_cancel_stops_between_layers_and_tiles(tiny, after):
    model = tiny("llama")
    with pytest.raises(Cancelled):
        read(
            model,
            some_ids(model, 60),
            keys=KEYS,
            profile=profile_for(model),
            tiling=SMALL,
            checkpoint=stop_after(after),
        )
    assert not any(m._forward_hooks for m in model.network.modules())


def test_short_memory_is_survived_and_said(tiny, monkeypatch):
    model = tiny("llama")
    ids = some_ids(model, 40)
    profile = profile_for(model)
    calm = read(model, ids, keys=KEYS, profile=profile)
    assert not calm.short_of_memory
    real = window_scheduler.row_sums

    def short(head: Any, hidden: Any, *rest: Any) -> Any:
        tiling = next(r for r in rest if isinstance(r, Tiling))
        if tiling.rows > 64:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(head, hidden, *rest)

    monkeypatch.setattr(window_scheduler, "row_sums", short)
    found = read(model, ids, keys=KEYS, profile=profile)
    np.testing.assert_allclose(found.lo, calm.lo, atol=1e-6)
    assert found.short_of_memory

    def never(*_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(window_scheduler, "row_sums", never)
    with pytest.raises(ModelError, check=lambda e: e.code == "model-memory"):
        read(model, ids, keys=KEYS, profile=profile)


def test_other_failures_of_the_network_are_model_errors(tiny, monkeypatch):
    model = tiny("llama")

    def broken(*_: Any) -> Any:
        raise RuntimeError("secret text inside a library's message")

    monkeypatch.setattr(window_scheduler, "row_sums", broken)
    with pytest.raises(ModelError) as caught:
        read(model, some_ids(model, 9), keys=KEYS, profile=profile_for(model))
    assert "secret" not in str(caught.value)


def test_numbers_that_are_not_finite_are_refused(tiny):
    model = tiny("llama")
    weight = model.head.weight.clone()
    weight[3, 0] = float("nan")
    damaged = replace(model, head=replace(model.head, weight=weight))
    with pytest.raises(ModelError, match="finite"):
        read(damaged, some_ids(model, 9), keys=KEYS, profile=profile_for(model))


def test_what_does_not_fit_is_refused(tiny):
    model = tiny("llama")
    ids = some_ids(model, 9)
    with pytest.raises(ProfileError, match="is not the one that the profile names"):
        read(model, ids, keys=KEYS, profile=Profile(payload_bits=36, blocks=4, vocab_size=500))
    for bad in (np.array([1, -1]), np.array([1, 337]), np.zeros((2, 2), dtype=np.int64)):
        with pytest.raises(InputError):
            read(model, bad, keys=KEYS, profile=profile_for(model))
    headless = replace(model, bos_id=None)
    with pytest.raises(ProfileError, match="start token"):
        read(headless, ids, keys=KEYS, profile=profile_for(model, prefix="bos"))


def test_no_array_of_text_times_vocabulary(tiny, monkeypatch):
    """No piece of logits that the head hands out exceeds a tile, or a block where it is cut."""
    model = tiny("llama")
    largest = 0
    real = type(model.head).columns

    def watched(self: Any, *args: Any) -> Any:
        nonlocal largest
        out = real(self, *args)
        largest = max(largest, out.numel())
        return out

    monkeypatch.setattr(type(model.head), "columns", watched)
    ids = some_ids(model, 60)
    read(model, ids, keys=KEYS, profile=profile_for(model), tiling=SMALL)
    assert largest == SMALL.rows * SMALL.columns
    largest = 0
    read(model, ids, keys=KEYS, profile=profile_for(model, top_k=5), tiling=SMALL)
    assert largest == SMALL.block


@pytest.mark.sampled
@pytest.mark.model
def test_real_model_equals_naive_and_reads_the_samples(real_model):
    data = json.loads((SAMPLES / "marked.json").read_text(encoding="utf-8"))
    key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
    ids = np.array(data["texts"][0]["tokens"], dtype=np.int64)
    found = read(real_model, ids, keys=[key], profile=profile)
    # The same inputs: one token more changes the order of sums inside the matrix products, as the
    # layout of the weights does, and with it the float32 hidden states by some 1e-5.
    logits = network_logits(real_model, ids[:-1].tolist())
    assert_equal(found, read_logits(logits, ids[1:], keys=[key], profile=profile), 1, 1e-4)
    plan = schedule(ids, found.entropy_bits, key, profile)
    assert len(plan) > 60
    cut = replace(profile, temperature=0.9, top_k=200, top_p=0.95)
    wanted = read_logits(logits, ids[1:], keys=[key], profile=cut)
    assert_equal(read(real_model, ids, keys=[key], profile=cut), wanted, 1, 1e-4)


@pytest.mark.sampled
@pytest.mark.model
def test_samples_come_back_from_their_text(real_model):
    """Decoding and tokenising again changes some ids; how many is part of the scheme's life."""
    data = json.loads((SAMPLES / "marked.json").read_text(encoding="utf-8"))
    key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
    same, agreeing = 0, []
    for number, entry in enumerate(data["texts"]):
        tokens = tokenise(real_model.tokenizer, entry["text"])
        same += tokens.ids.tolist() == entry["tokens"]
        if number < 3:
            plans = [
                schedule(
                    ids,
                    read(real_model, ids, keys=[key], profile=profile).entropy_bits,
                    key,
                    profile,
                )
                for ids in (np.array(entry["tokens"], dtype=np.int64), tokens.ids)
            ]
            known = set(plans[0].phase.tolist())
            agreeing.append(np.mean([p in known for p in plans[1].phase.tolist()]))
    assert same == 7
    assert min(agreeing) > 0.8
