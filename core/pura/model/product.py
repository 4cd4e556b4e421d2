"""Products of float32 matrices on a processor, by oneDNN.

torch has MKL multiply them, which uses half of what the vector units of some processors can do.
oneDNN comes with torch as well and uses all of it. The numbers are added up in another order.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    import torch

_MULTIPLY: Final = "_linear_pointwise"


def product(
    rows: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """Return ``rows · matrixᵀ + bias``, [..., N]; by torch itself where something is to be learnt.

    Args:
        rows: [..., D].
        matrix: [N, D].
        bias: [N].
    """
    import torch

    is_for_it = rows.device.type == "cpu" and rows.dtype == matrix.dtype == torch.float32
    if is_for_it and not torch.is_grad_enabled() and _is_known():
        return _multiply(rows, matrix, bias)
    return torch.nn.functional.linear(rows, matrix, bias)


def _multiply(rows: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    import torch

    multiply = getattr(torch.ops.mkldnn, _MULTIPLY)
    return cast("torch.Tensor", multiply(rows, matrix, bias, "none", [], ""))


@cache
def _is_known() -> bool:
    """Whether this torch has the operator, which it does not promise, as it is used."""
    import torch

    one = torch.eye(4)
    try:
        return torch.equal(_multiply(one, one, None), one)
    except (AttributeError, RuntimeError, TypeError):
        return False


def speed_up(network: Any) -> None:
    """Let all linear layers of a network but its head multiply by :func:`product`."""
    import torch

    class Faster(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - torch's name
            return product(input, self.weight, self.bias)

    head = network.get_output_embeddings()
    for layer in network.modules():
        # A kind derived from it may compute something of its own.
        if type(layer) is torch.nn.Linear and layer is not head:
            layer.__class__ = Faster
