"""Weights that are laid out for the processor: the same products, and copies as they were."""

import copy
from typing import Any

import pytest
import torch

from pura.model import packed as layout
from pura.model.load import LanguageModel
from pura.model.packed import pack_layers, packed, product


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
    for added in (None, bias):
        expected = torch.nn.functional.linear(rows, matrix, added)
        torch.testing.assert_close(product(rows, packed(matrix), added), expected)
    # Parts of larger matrices, as an output head meets them.
    part = torch.randn(90, 48)[10:80, ::2]
    expected = torch.nn.functional.linear(rows, part)
    torch.testing.assert_close(product(rows, packed(part)), expected)


def test_16_bits_stay_as_they_are() -> None:
    matrix = torch.randn(8, 8, dtype=torch.bfloat16)
    assert packed(matrix) is matrix


def test_a_torch_without_the_operators_multiplies_as_ever(monkeypatch: Any) -> None:
    matrix = torch.randn(8, 8)
    assert packed(matrix).is_mkldnn
    for missing in ("_PACK", "_MULTIPLY"):
        monkeypatch.setattr(layout, missing, "no_such_operator")
        layout._is_known.cache_clear()
        assert packed(matrix) is matrix
        monkeypatch.undo()
    layout._is_known.cache_clear()


def test_a_packed_network_reads_the_same_and_its_copy_learns() -> None:
    network = _Network()
    plain, rows = copy.deepcopy(network), torch.randn(2, 9, 24)
    before = {name: weights.detach().clone() for name, weights in network.named_parameters()}
    pack_layers(network)
    torch.testing.assert_close(network(rows), plain(rows))
    assert [*dict(network.named_parameters())] == [*before]
    assert type(network.own) is _Doubled
    assert type(network.head) is torch.nn.Linear

    learning = copy.deepcopy(network)
    assert all(weights.equal(before[name]) for name, weights in learning.named_parameters())
    assert type(learning.first) is torch.nn.Linear
    learning.requires_grad_(requires_grad=True)
    learning(rows).sum().backward()
    assert all(weights.grad is not None for weights in learning.parameters())
    assert network.first.weight.grad is None


def test_a_loaded_model_counts_all_its_weights_and_reads_as_its_copy(
    small_model: LanguageModel,
) -> None:
    plain = copy.deepcopy(small_model.network)
    assert small_model.parameters == sum(weights.numel() for weights in plain.parameters())
    ids = torch.arange(40)[None]
    with torch.inference_mode():
        found, expected = small_model.network(ids).logits, plain(ids).logits
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
