"""Where rows of probabilities come from: a model, or laws that it said once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from pura.embed.generate import Feed
from pura.embed.prompts import end_ids, prompt_ids
from pura.measure.prompts import STUDY
from pura_lab.compare.methods import Bench
from pura_lab.rivals.base import draw
from pura_lab.rivals.ctwl import Proxy
from pura_lab.rivals.rsbh import segment_table

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_STRIDE = 7  # through the prompts, so that a few texts are of all kinds


class Source(Protocol):
    """Rows of probabilities for texts that are being written."""

    @property
    def vocab_size(self) -> int:
        """``V``."""

    def begin(self, numbers: Sequence[int]) -> None:
        """Begin texts; the same number begins alike under every scheme."""

    def rows(self, tokens: I64 | None) -> F64:
        """Take the tokens [B] chosen last, None at first; return the next laws, float64 [B, V]."""


class ModelSource:
    """A model that continues prompts, at temperature 1; end tokens are barred.

    Args:
        model: The model.
        prompts: The study's, unless told otherwise.
    """

    def __init__(self, model: LanguageModel, prompts: Sequence[str] = STUDY) -> None:
        self._model = model
        self._prompts = prompts
        self._ends = sorted(end_ids(model))
        self._feed: Feed | None = None

    @property
    def vocab_size(self) -> int:
        """``V``."""
        return self._model.vocab_size

    def prompt(self, number: int) -> str:
        """Return what opens a text."""
        return self._prompts[number * _STRIDE % len(self._prompts)]

    def begin(self, numbers: Sequence[int]) -> None:
        """Begin texts with their prompts."""
        starts = [prompt_ids(self._model, self.prompt(n)) for n in numbers]
        self._feed = Feed(self._model, starts)

    def rows(self, tokens: I64 | None) -> F64:
        """Return the next laws, float64 [B, V]."""
        import torch

        assert self._feed is not None
        logits = self._feed.logits(tokens)[:, : self.vocab_size].double()
        logits[:, self._ends] = float("-inf")
        out: F64 = torch.softmax(logits, dim=1).cpu().numpy()
        return out


class LawSource:
    """Laws that a model said while it wrote plain texts, said again whatever is chosen.

    What a scheme chooses has no influence on what comes next, so a whole study needs one pass of
    the model. The vocabulary is cut to the commonest tokens.

    Args:
        laws: float32 [streams, steps, V].
    """

    def __init__(self, laws: npt.NDArray[np.float32]) -> None:
        self._laws = laws
        self._streams: I64 = np.zeros(0, dtype=np.int64)
        self._step = 0

    @property
    def vocab_size(self) -> int:
        """``V``."""
        return int(self._laws.shape[2])

    def begin(self, numbers: Sequence[int]) -> None:
        """Begin texts, each on its stream."""
        self._streams = np.array(numbers) % self._laws.shape[0]
        self._step = 0

    def rows(self, tokens: I64 | None) -> F64:
        """Return the next laws, float64 [B, V]."""
        out = self._laws[self._streams, self._step].astype(np.float64)
        self._step += 1
        return np.asarray(out / out.sum(axis=1, keepdims=True))


def record_laws(
    model: LanguageModel, streams: int, steps: int, kept: int, seed: int
) -> npt.NDArray[np.float32]:
    """Write plain texts and keep what the model said, for its commonest tokens.

    Args:
        model: The model.
        streams: Texts.
        steps: Tokens of each.
        kept: Tokens of the vocabulary that are kept, those with the largest mean.
        seed: Of the dice.

    Returns:
        float32 [streams, steps, kept].
    """
    source = ModelSource(model)
    source.begin(range(streams))
    dice = np.random.default_rng(seed)
    said = np.empty((streams, steps, source.vocab_size), dtype=np.float32)
    tokens = None
    for step in range(steps):
        rows = source.rows(tokens)
        said[:, step] = rows
        tokens = np.array([draw(row, dice.random()) for row in rows])
    top = np.sort(np.argsort(-said.mean(axis=(0, 1)))[:kept])
    out = said[:, :, top]
    return np.asarray(out / out.sum(axis=2, keepdims=True))


def bench_of(model: LanguageModel, source: LawSource | ModelSource) -> Bench:
    """Return what schemes are built on; token frequencies are those that the source expects.

    What it expects after the first prompts stands in for a corpus.
    """
    source.begin(range(24))
    frequency = source.rows(None).mean(axis=0)

    @functools.cache
    def segments(bits: int) -> I64:
        return np.asarray(segment_table(source.vocab_size, bits, frequency))

    return Bench(vocab_size=source.vocab_size, segments=segments, proxy=proxy_of(model))


def proxy_of(model: LanguageModel) -> Proxy:
    """Return what CTWL asks for a law: a model that sees a window alone."""

    def proxy(windows: I64) -> F64:
        import torch

        fed = torch.from_numpy(np.ascontiguousarray(windows)).to(model.device.torch_device)
        parts = []
        with torch.inference_mode():
            for first in range(0, len(windows), 32):
                part = fed[first : first + 32]
                said = model.network(input_ids=part, use_cache=False, logits_to_keep=1).logits
                parts.append(said[:, -1, : model.vocab_size].double().softmax(dim=1).cpu())
        out: F64 = torch.cat(parts).numpy()
        return out

    return proxy
