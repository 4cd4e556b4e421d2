"""The vectors of embedding: entropies, arity, phase, index, bits, anchor and token."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from pura.embed.engine import MarkingEngine, entropy_bits, inverse_transform
from pura.model.reading import distribution
from pura.scheme import Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of

VECTORS = sorted((Path(__file__).parents[2] / "data" / "vectors").glob("embed-*.json"))


class Fixed:
    """Dice that always land on one point."""

    def __init__(self, points: list[float]) -> None:
        self._points = iter(points)

    def random(self) -> float:
        return next(self._points)


def load(path: Path) -> tuple[dict, SecretKey, Profile, Payload]:
    data = json.loads(path.read_text())
    key = SecretKey.from_hex(data["key_hex"])
    return data, key, Profile.from_dict(data["profile"]), Payload.from_bits(data["payload"])


def test_the_vectors_are_there() -> None:
    assert [p.stem for p in VECTORS] == ["embed-0", "embed-1", "embed-2", "embed-3", "embed-tbcc-0"]


@pytest.mark.parametrize("path", VECTORS, ids=lambda p: p.stem)
def test_numpy_reference(path: Path) -> None:
    data, key, profile, payload = load(path)
    code = encode(payload, profile)
    order = key.vocabulary_order(profile.vocab_size)
    assert key.fingerprint == data["key_fingerprint"]
    assert code.tolist() == data["codeword"]
    assert order.tolist() == data["order"]
    walk = Scheduler(key, profile)
    carried = 0
    for logits, want in zip(data["logits"], data["steps"], strict=True):
        probabilities = distribution(np.array(logits), temperature=profile.temperature)
        entropy = entropy_bits(probabilities)
        assert entropy == pytest.approx(want["entropy_bits"], abs=1e-9)
        step = walk.step(entropy)
        assert step.arity == want["arity"]
        if step.arity:
            carried += 1
            bits = [int(code[(step.index + j) % code.size]) for j in range(step.arity)]
            point = anchor(step, sector_of(bits))
            assert step.phase == pytest.approx(want["U"], abs=1e-9)
            assert step.index == want["index"]
            assert bits == want["bits"]
            assert point == pytest.approx(want["anchor"], abs=1e-9)
            assert inverse_transform(probabilities, order, point) == want["token"]
        walk.push(want["token"])
    assert carried > 20


@pytest.mark.parametrize("path", VECTORS, ids=lambda p: p.stem)
def test_the_engine(path: Path) -> None:
    """It walks the same text in four rows; plain steps are steered to the vector's token."""
    data, key, profile, payload = load(path)
    order = key.vocabulary_order(profile.vocab_size)
    points = []
    for logits, want in zip(data["logits"], data["steps"], strict=True):
        if want["arity"] == 0:
            ordered = distribution(np.array(logits), temperature=profile.temperature)[order]
            rank = order.tolist().index(want["token"])
            points.append(float(ordered[:rank].sum() + ordered[rank] / 2))
    rows = 4
    engine = MarkingEngine()
    numbers = [engine.add(key, payload, profile, Fixed(points)) for _ in range(rows)]
    for logits, want in zip(data["logits"], data["steps"], strict=True):
        drawn = engine.step(torch.tensor([logits] * rows, dtype=torch.float64), numbers)
        assert drawn.tokens.tolist() == [want["token"]] * rows
        assert drawn.arity.tolist() == [want["arity"]] * rows
        np.testing.assert_allclose(drawn.entropy_bits, want["entropy_bits"], atol=1e-9)
