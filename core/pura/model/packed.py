"""Products of matrices, one of which was laid out for the processor beforehand.

torch has MKL multiply float32 matrices, which uses half of what the vector units of some processors
can do. oneDNN comes with torch as well and uses all of it, once one of the two matrices lies in
blocks: the weights of a layer, laid out when they are loaded, or the hidden states that meet many
tiles of an output head. The numbers are float32, added up in another order.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    import torch

_PACK: Final = "_reorder_linear_weight"
_MULTIPLY: Final = "_linear_pointwise"


def packed(matrix: torch.Tensor) -> torch.Tensor:
    """Return a matrix, [N, D], as :func:`product` multiplies it fastest, be it as it is."""
    import torch

    if matrix.device.type != "cpu" or matrix.dtype != torch.float32 or not _is_known():
        return matrix
    return cast("torch.Tensor", getattr(torch.ops.mkldnn, _PACK)(matrix.detach()))


@cache
def _is_known() -> bool:
    """Whether this torch has the two operators, which it does not promise, as they are used."""
    import torch

    one = torch.eye(4)
    try:
        return torch.equal(product(one, getattr(torch.ops.mkldnn, _PACK)(one)), one)
    except (AttributeError, RuntimeError, TypeError):
        return False


def product(
    rows: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return ``rows · matrixᵀ + bias``, [..., N].

    Args:
        rows: [..., D].
        matrix: [N, D], :func:`packed` or not.
        bias: [N].
    """
    import torch

    if not matrix.is_mkldnn:
        return torch.nn.functional.linear(rows, matrix, bias)
    multiply = getattr(torch.ops.mkldnn, _MULTIPLY)
    return cast("torch.Tensor", multiply(rows, matrix, bias, "none", [], ""))


def pack_layers(network: Any) -> None:
    """Pack the weights of all linear layers of a network that is only to read, but of its head.

    They are held once. A deep copy of the network has them as they were, so that it can learn.
    """
    import torch

    class Packed(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - torch's name
            return product(input, self.weight, self.bias)

        def __deepcopy__(self, memo: dict[int, Any]) -> torch.nn.Linear:
            plain = torch.nn.Linear(self.in_features, self.out_features, bias=False, device="meta")
            plain.weight = torch.nn.Parameter(self.weight.to_dense(), requires_grad=False)
            plain.bias = copy.deepcopy(self.bias, memo)
            return plain.train(self.training)

    head = network.get_output_embeddings()
    for layer in network.modules():
        # A kind derived from it may compute something of its own.
        if type(layer) is torch.nn.Linear and layer is not head:
            layer.weight = torch.nn.Parameter(packed(layer.weight), requires_grad=False)
            layer.__class__ = Packed
