"""The head's description is proven against the network before it is believed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from pura.base.errors import ModelError
from pura.model.evidence import read
from pura.model.head import decoder_of, find_head
from pura.model.load import LanguageModel, wrap
from pura.model.reading import full_order, read_logits
from pura.scheme import Profile, SecretKey

Tiny = Callable[[str], LanguageModel]


def test_scale_cap_and_bias_are_found(tiny: Tiny) -> None:
    assert tiny("cohere").head.scale == 0.25
    assert tiny("granite").head.scale == 0.25
    assert tiny("gemma2").head.cap == 3.0
    assert tiny("gemma3").head.cap is None
    assert tiny("gemma3-capped").head.cap == 2.0
    assert tiny("phi").head.bias is not None
    assert tiny("llama").head.bias is None


def test_columns_are_the_columns_of_the_whole(tiny: Tiny) -> None:
    for family in ("llama", "gemma2", "cohere", "phi"):
        head = tiny(family).head
        hidden = torch.randn(3, 32, generator=torch.Generator().manual_seed(0))
        whole = head.logits(hidden)
        assert whole.dtype == torch.float32
        torch.testing.assert_close(head.columns(hidden, 100, 120), whole[:, 100:120].T)


def test_unknown_arithmetic_is_refused(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    network = tiny("llama").network
    real = type(network).forward

    def shifted(self: Any, *args: Any, **kwargs: Any) -> Any:
        out = real(self, *args, **kwargs)
        out.logits = out.logits.square()
        return out

    monkeypatch.setattr(type(network), "forward", shifted)
    with pytest.raises(ModelError, match="evidence pass cannot follow"):
        find_head(network)


def test_config_that_lies_about_the_cap_is_refused(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = tiny("llama").network  # Llama ignores the entry, so following it would be wrong
    monkeypatch.setattr(network.config, "final_logit_softcapping", 0.5, raising=False)
    with pytest.raises(ModelError, match="evidence pass cannot follow"):
        find_head(network)


def test_decoder_ends_in_hidden_states(tiny: Tiny) -> None:
    for family in ("llama", "gemma3", "gpt-neox", "bloom"):
        network = tiny(family).network
        out = decoder_of(network)(input_ids=torch.tensor([[1, 2, 3]]), use_cache=False)
        assert out.last_hidden_state.shape == (1, 3, 32)


def test_tokenizer_larger_than_the_model_is_refused(tiny: Tiny) -> None:
    model = tiny("llama")

    class Large:
        bos_token_id = None

        def __len__(self) -> int:
            return 338

    with pytest.raises(ModelError, match="do not belong together"):
        wrap(model.network, Large(), model.device, name="x")


def test_control_tokens_beyond_the_rows_have_no_probability(tiny: Tiny) -> None:
    model = tiny("llama")

    class Token:
        special = True

    tokenizer = copy.copy(model.tokenizer)
    tokenizer.size, tokenizer.added_tokens_decoder = 339, {337: Token(), 338: Token()}
    wide = wrap(model.network, tokenizer, model.device, name="x")
    assert wide.vocab_size == 339
    profile = Profile(payload_bits=36, blocks=4, vocab_size=339)
    key = SecretKey(bytes(32))
    assert sorted(full_order(key, 339, 337).tolist()) == list(range(337))
    ids = np.arange(20, dtype=np.int64)
    found = read(wide, ids, keys=[key], profile=profile)
    with torch.inference_mode():
        logits = model.network(torch.from_numpy(ids)[None]).logits[0, :-1].numpy()
    wanted = read_logits(logits, ids[1:], keys=[key], profile=profile)
    np.testing.assert_allclose(found.hi[0, 1:], wanted.hi[0], atol=1e-5)
    assert found.hi.max() <= 1.0
