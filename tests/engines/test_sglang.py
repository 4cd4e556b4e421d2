"""SGLang's and Dynamo's own classes, as their packages bring them; both need CUDA to write text."""

from __future__ import annotations

import pytest
import torch
from dynamo.logits_processing import BaseLogitsProcessor
from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest, CompletionRequest
from sglang.srt.sampling.custom_logit_processor import CustomLogitProcessor

from conftest import KEYS, Deployed, same_interface
from pura.embed.engine import MarkingEngine, rngs_for
from pura.embed.serving import dynamo, sglang
from pura.embed.serving.routes import ENGINES
from pura.embed.serving.routes.sglang import PROCESSOR
from pura.scheme import Payload


def test_the_interface_of_sglang() -> None:
    assert issubclass(sglang.PuraLogitProcessor, CustomLogitProcessor)
    same_interface(sglang.PuraLogitProcessor, CustomLogitProcessor)


def test_what_travels_with_a_request_of_sglang_holds_no_key() -> None:
    travels = sglang.PuraLogitProcessor.to_str()
    assert not any(key.to_hex()[:16] in travels for key in KEYS.values())
    assert isinstance(CustomLogitProcessor.from_str(travels), sglang.PuraLogitProcessor)


def test_what_the_gateway_names_is_the_adapter() -> None:
    """The gateway writes it without loading SGLang."""
    assert isinstance(CustomLogitProcessor.from_str(PROCESSOR), sglang.PuraLogitProcessor)


@pytest.mark.parametrize(
    ("path", "request_class"),
    [("/v1/completions", CompletionRequest), ("/v1/chat/completions", ChatCompletionRequest)],
)
def test_every_field_that_sglang_knows_stands_in_the_table(path: str, request_class: type) -> None:
    """Its server makes its OpenAPI document of these classes."""
    route = ENGINES["sglang"].find("POST", path)
    assert route.fields is not None
    known = request_class.model_json_schema()["properties"]  # type: ignore[attr-defined]
    assert set(known) - set(route.fields) - set(route.refused) == set()


def test_dynamo_gets_the_tokens_of_the_engine(deployed: Deployed) -> None:
    """Called as its wrapper calls it: the tokens so far, and one line that is changed in place."""
    profile = deployed.profiles["house"]
    payload = Payload.from_int(0x123456789, profile.payload_bits)
    one = dynamo.PuraLogitsProcessor(KEYS["house"], payload, profile, seed=3)
    assert isinstance(one, BaseLogitsProcessor)
    same_interface(dynamo.PuraLogitsProcessor, BaseLogitsProcessor)
    engine, prompt = MarkingEngine(), [5, 6, 7]
    row = engine.add(KEYS["house"], payload, profile, rngs_for(3, 1)[0])
    for step in range(40):
        seed = torch.Generator().manual_seed(step)
        logits = 3 * torch.randn(profile.vocab_size, generator=seed)
        engine.step(logits[None].clone(), [row])
        written = list(engine.tokens(row))
        one([*prompt, *written[:-1]], logits)
        assert int(logits.argmax()) == written[-1]
        assert int(torch.isfinite(logits).sum()) == 1
