"""Products of float32 matrices on a processor, by oneDNN.

torch multiplies with MKL, which uses half of the vector units of some processors. oneDNN, which
comes with torch as well, uses all of them. It adds up the numbers in another order.
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
    """Return ``rows · matrixᵀ + bias``, [..., N]; by torch itself if gradients are needed.

    Args:
        rows: [..., D].
        matrix: [N, D].
        bias: [N].
    """
    import torch

    fits = rows.device.type == "cpu" and rows.dtype == matrix.dtype == torch.float32
    if fits and not torch.is_grad_enabled() and _is_known():
        return _multiply(rows, matrix, bias)
    return torch.nn.functional.linear(rows, matrix, bias)


def _multiply(rows: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    import torch

    multiply = getattr(torch.ops.mkldnn, _MULTIPLY)
    return cast("torch.Tensor", multiply(rows, matrix, bias, "none", [], ""))


@cache
def _is_known() -> bool:
    """Return whether this version of torch has the undocumented operator, as used here."""
    import torch

    identity = torch.eye(4)
    try:
        return torch.equal(_multiply(identity, identity, None), identity)
    except (AttributeError, RuntimeError, TypeError):
        return False


def speed_up(network: Any) -> None:
    """Let all linear layers of a network except its head multiply with :func:`product`."""
    import torch

    class Faster(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - torch's name
            return product(input, self.weight, self.bias)

    head = network.get_output_embeddings()
    for layer in network.modules():
        # A derived class may compute something else.
        if type(layer) is torch.nn.Linear and layer is not head:
            layer.__class__ = Faster
