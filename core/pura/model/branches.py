"""Reading a text a few tokens at a time, together with alternative continuations.

The states of the text are kept, so that each token is fed once. Alternatives are fed after those
states under a mask, all of them in one pass, and leave no states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pura.model.head import decoder_of, new_cache
from pura.model.window_scheduler import Passes, put_states

if TYPE_CHECKING:
    import torch

    from pura.model.load import LanguageModel


class BranchReader:
    """Reads a text and its alternatives with one model.

    Args:
        model: A model for which :meth:`works` returns True.

    Attributes:
        read: Number of inputs that were fed and not taken back.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model, self._decoder = model, decoder_of(model.network)
        self._passes = Passes(model)
        self._cache: Any = new_cache(model.network)
        self.read = 0

    @staticmethod
    def works(model: LanguageModel) -> bool:
        """Return whether the model keeps its states and takes a mask."""
        passes = Passes(model)
        return passes.keeps_states and passes.takes_masks

    def feed(self, ids: Sequence[int]) -> torch.Tensor:
        """Read N further tokens; return the hidden states [N, D] after each of them."""
        positions = np.arange(self.read, self.read + len(ids))
        out = self._pass(ids, positions, cache=self._cache)
        self.read += len(ids)
        return out

    def take_back(self, read: int) -> None:
        """Forget all but the first inputs."""
        for layer in self._cache.layers:
            if layer.keys is not None:
                layer.keys, layer.values = layer.keys[:, :, :read], layer.values[:, :, :read]
        self.read = read

    def beside(self, branches: Sequence[tuple[int, Sequence[int]]]) -> list[torch.Tensor]:
        """Read alternative continuations of the text.

        Args:
            branches: For each branch, the number of inputs before it and its tokens, at least one.

        Returns:
            The hidden states [N, D] after the tokens of each branch.
        """
        sizes = [len(ids) for _, ids in branches]
        number = np.repeat(np.arange(len(sizes)), sizes)
        begin = np.repeat([count for count, _ in branches], sizes)
        position = begin + np.concatenate([np.arange(size) for size in sizes])
        before = np.arange(self.read) < begin[:, None]
        among = (number == number[:, None]) & (position <= position[:, None])
        distance = position[:, None] - np.concatenate([np.arange(self.read), position])
        mask = self._passes.masks(np.concatenate([before, among], axis=1)[None], distance[None])
        cache = new_cache(self._model.network)
        states = [(layer.keys, layer.values) for layer in self._cache.layers]
        put_states(cache, states, grows=False)
        flat = [token for _, ids in branches for token in ids]
        out = self._pass(flat, position, cache=cache, mask=mask)
        return [out[end - size : end] for size, end in zip(sizes, np.cumsum(sizes), strict=True)]

    def log_probabilities(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities of all tokens after some states: float32 [N, R], nats."""
        import torch

        with torch.inference_mode():
            logits: torch.Tensor = self._model.head.logits(hidden)
            return logits.log_softmax(dim=1).cpu()

    def _pass(
        self,
        ids: Sequence[int],
        positions: np.ndarray[tuple[int], np.dtype[np.int64]],
        *,
        cache: object,
        mask: Any = None,
    ) -> torch.Tensor:
        import torch

        device = self._model.head.weight.device
        with torch.inference_mode():
            out = self._decoder(
                input_ids=torch.tensor([list(ids)], device=device),
                position_ids=torch.from_numpy(positions)[None].to(device),
                attention_mask=mask,
                past_key_values=cache,
                use_cache=True,
            )
        hidden: torch.Tensor = out.last_hidden_state[0]
        return hidden
