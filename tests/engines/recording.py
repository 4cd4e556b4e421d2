"""The adapter of vLLM's first runner, which also writes down what each marked draw was drawn from.

Given to the engine by its name, as any logits processor.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import torch

from pura.embed.serving.vllm_v1 import PuraLogitsProcessor

RECORD = "PURA_TEST_RECORD"  # folder


class RecordingLogitsProcessor(PuraLogitsProcessor):
    """Marks, and appends a row a draw to a file of float64: see :func:`draws_in`."""

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Mark, and keep where each drawn token lies in the distribution it was drawn from."""
        marked = {index: text for index, (text, _) in self._texts.items()}
        before = logits.double()
        after = super().apply(logits)
        rows = []
        for index, text in marked.items():
            row = self._marker._texts[text].row
            if row is None:  # its ticket was refused
                continue
            profile = self._marker._engine._rows[row].profile
            weights = torch.softmax(before[index] / profile.temperature, dim=0)
            token = int(after[index].argmax())
            below, own = float(weights[:token].sum()), float(weights[token])
            log = torch.log2(weights.clamp_min(1e-300))
            mean = float(-(weights * log).sum())
            spread = float((weights * (log + mean) ** 2).sum())
            rows.append([below, own, -np.log2(own), mean, spread])
        if rows:
            with (Path(os.environ[RECORD]) / f"{os.getpid()}.f8").open("ab") as file:
                np.array(rows).tofile(file)
        return after


def draws_in(folder: Path) -> np.ndarray:
    """Return what was recorded.

    Returns:
        float64 [N, 5]: by token id the cumulative probability below the drawn token and its own,
        its surprise in bits, and mean and variance of the surprise under the distribution.
    """
    files = [np.fromfile(path).reshape(-1, 5) for path in sorted(folder.glob("*.f8"))]
    return np.concatenate(files)
