"""Products by oneDNN: those of torch up to rounding, and its own where something is learnt."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch

from pura.model import product as products
from pura.model.load import LanguageModel
from pura.model.product import product, speed_up


class _Doubled(torch.nn.Linear):
    """A kind of layer that computes something of its own."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - torch's name
        return 2 * super().forward(input)


class _Network(torch.nn.Module):
    """Layers of every kind beside a head."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(24, 40), torch.nn.Linear(40, 16, bias=False)
        self.own, self.head = _Doubled(16, 16), torch.nn.Linear(16, 60)

    def get_output_embeddings(self) -> torch.nn.Linear:
        return self.head

    def forward(self, rows: torch.Tensor) -> Any:
        return self.head(self.own(self.second(self.first(rows).tanh())))


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(7)


@pytest.mark.parametrize("shape", [(1, 24), (5, 24), (300, 24), (2, 3, 24), (0, 24)])
def test_a_product_is_that_of_torch_up_to_rounding(shape: tuple[int, ...]) -> None:
    rows, matrix, bias = torch.randn(shape), torch.randn(70, 24), torch.randn(70)
    parts = torch.randn(90, 48)[10:80, ::2], torch.randn(24, 70).T, torch.randn(70, 48)[:, :24]
    with torch.inference_mode():
        for added in (None, bias):
            expected = torch.nn.functional.linear(rows, matrix, added)
            torch.testing.assert_close(product(rows, matrix, added), expected)
        for part in parts:
            expected = torch.nn.functional.linear(rows, part)
            torch.testing.assert_close(product(rows, part), expected)
        if rows.ndim == 2 and rows.numel():
            # The other way round, as an output head multiplies a part of its rows.
            expected = torch.nn.functional.linear(matrix, rows)
            torch.testing.assert_close(product(matrix, rows), expected)


def test_what_is_not_for_onednn_is_multiplied_as_ever(monkeypatch: Any) -> None:
    rows, matrix = torch.randn(3, 8), torch.randn(8, 8)
    expected = torch.nn.functional.linear(rows, matrix)

    def refuse(*_: object) -> torch.Tensor:
        raise AssertionError("by oneDNN")

    monkeypatch.setattr(products, "_multiply", refuse)
    assert product(rows, matrix).equal(expected)  # something may be learnt
    with torch.inference_mode():
        for dtype in (torch.bfloat16, torch.float64):
            assert product(rows.to(dtype), matrix.to(dtype)).dtype == dtype
        monkeypatch.undo()
        monkeypatch.setattr(products, "_MULTIPLY", "no_such_operator")
        products._is_known.cache_clear()
        assert product(rows, matrix).equal(expected)
    products._is_known.cache_clear()


def test_a_faster_network_reads_the_same_and_its_copy_learns() -> None:
    network = _Network()
    plain, rows = copy.deepcopy(network), torch.randn(2, 9, 24)
    speed_up(network)
    with torch.inference_mode():
        torch.testing.assert_close(network(rows), plain(rows))
    assert type(network.own) is _Doubled
    assert type(network.head) is torch.nn.Linear
    assert type(network.first) is not torch.nn.Linear

    learning = copy.deepcopy(network)
    learning.requires_grad_(requires_grad=True)
    learning(rows).sum().backward()
    assert all(weights.grad is not None for weights in learning.parameters())
    assert network.first.weight.grad is None


def test_the_weights_of_a_loaded_model_stay_in_their_file(builtin_model: LanguageModel) -> None:
    """Processes share them, and a first reading begins at once."""
    name = f"/{builtin_model.name}/model.safetensors"
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    spans = [line.split()[0].split("-") for line in maps if line.endswith(name)]
    ranges = [(int(low, 16), int(high, 16)) for low, high in spans]
    weights = [*builtin_model.network.parameters()]
    assert all(any(low <= one.data_ptr() < high for low, high in ranges) for one in weights)
