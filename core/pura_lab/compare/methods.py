"""The schemes that are compared, and the sources of their probabilities."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

from pura.embed.generate import Feed, end_ids, prompt_ids
from pura.measure.corpora import STUDY
from pura.scheme import F64, I64, SecretKey
from pura_lab.rivals.base import Rival, draw
from pura_lab.rivals.binomial import HORIZONS, Binomial, BinomialTournament
from pura_lab.rivals.greens import BiMark, Kgw, Mpac, RsBh, StealthInk, Unigram, segment_table
from pura_lab.rivals.gumbel import Ctwl, CycleShift, Exp, GumbelMax, Its, Proxy
from pura_lab.rivals.spread import ArcMark, Mc2Mark
from pura_lab.rivals.tournament import MirrorMark, SynthId

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


@dataclass(frozen=True, kw_only=True, eq=False)
class Bench:
    """The data from which schemes are built.

    Attributes:
        vocab_size: ``V``.
        segments: Returns the segment of each token for a payload length, for RS-BH.
        proxy: Proxy model for CTWL.
    """

    vocab_size: int
    segments: Callable[[int], I64]
    proxy: Proxy | None = None


Maker = Callable[[Bench, SecretKey, int], Rival]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A scheme with its settings.

    Attributes:
        name: Name for programs and in results.
        unbiased: Whether the scheme is unbiased for a fixed message.
        make: Builds the scheme; None for PURA.
        code: Code of PURA, ``spc`` or ``tbcc``.
        bits: Feasible payload lengths; empty for all.
        published: Match rate in percent by payload length, from the table of the PURA paper
            (C4, Llama-3 8B, 200 tokens).
    """

    name: str
    unbiased: bool
    make: Maker | None = None
    code: str = ""
    bits: tuple[int, ...] = ()
    published: Mapping[int, float] = field(default_factory=dict)

    def carries(self, bits: int) -> bool:
        """Return whether the payload length is feasible."""
        return not self.bits or bits in self.bits


def _plain(scheme: Callable[..., Rival], **settings: object) -> Maker:
    def make(bench: Bench, key: SecretKey, bits: int) -> Rival:
        return scheme(key=key, vocab_size=bench.vocab_size, payload_bits=bits, **settings)

    return make


def _rsbh(delta: float) -> Maker:
    def make(bench: Bench, key: SecretKey, bits: int) -> Rival:
        return _plain(RsBh, segment=bench.segments(bits), delta=delta)(bench, key, bits)

    return make


def _ctwl(bench: Bench, key: SecretKey, bits: int) -> Rival:
    return _plain(Ctwl, proxy=bench.proxy)(bench, key, bits)


def _row(
    name: str,
    make: Maker | None,
    *published: float,
    unbiased: bool = True,
    code: str = "",
    bits: tuple[int, ...] = (),
) -> Method:
    """Return a row; ``published`` are the rates of 12, 18, 24, 30 and 36 bits."""
    rates = dict(zip((12, 18, 24, 30, 36), published, strict=False))
    return Method(name=name, unbiased=unbiased, make=make, code=code, bits=bits, published=rates)


METHODS: Final[dict[str, Method]] = {
    m.name: m
    for m in (
        _row("pura-tbcc", None, code="tbcc"),
        _row("pura-spc", None, 99.8, 99.6, 99.4, 99.0, 97.2, code="spc"),
        _row("rsbh-3", _rsbh(3.0), 98.7, 97.9, 95.9, 90.5, 81.4, unbiased=False),
        _row("mpac-3", _plain(Mpac, delta=3.0), 99.1, 96.2, 87.2, 70.6, 52.3, unbiased=False),
        _row("bimark", _plain(BiMark), 97.2, 87.8, 65.0, 50.0, 28.9),
        _row("stealthink", _plain(StealthInk), 60.0, 25.5, 6.5, 2.0, 0.5),
        _row("mirrormark", _plain(MirrorMark)),
        _row("mc2mark", _plain(Mc2Mark)),
        _row("arcmark", _plain(ArcMark)),
        _row("binomial", _plain(Binomial), unbiased=False),
        _row("binomial-plus", _plain(Binomial, horizons=HORIZONS), unbiased=False),
        _row(
            "binomial-plus-0.5",
            _plain(Binomial, horizons=HORIZONS, epsilon=0.5),
            unbiased=False,
        ),
        _row("binomial-tournament", _plain(BinomialTournament, horizons=HORIZONS)),
        _row("cycleshift", _plain(CycleShift), 98.6, 97.8, bits=(12, 18)),
        _row("rsbh-2", _rsbh(2.0), 93.3, 82.7, 60.4, 35.4, 20.8, unbiased=False),
        _row("mpac-2", _plain(Mpac, delta=2.0), 91.8, 71.0, 41.3, 18.5, 5.6, unbiased=False),
        _row("stealthink-padded", _plain(StealthInk, width=2, padded=True)),
        _row("mirrormark-tournament", _plain(MirrorMark, layers=30)),
        _row("ctwl-2", _ctwl, 99.3, 97.0, unbiased=False, bits=(12, 18)),
    )
}
"""Schemes with a message, the most important first."""

ZERO_BIT: Final[dict[str, Callable[..., Rival]]] = {
    "kgw": Kgw,
    "unigram": Unigram,
    "gumbel-max": GumbelMax,
    "exp": Exp,
    "its": Its,
    "synthid": SynthId,
}
"""Schemes without a message, for their printed p-values."""


_STRIDE = 7  # step through the prompts, so that a few texts cover all kinds


class Source(Protocol):
    """Rows of probabilities for texts that are being written."""

    @property
    def vocab_size(self) -> int:
        """``V``."""

    def begin(self, numbers: Sequence[int]) -> None:
        """Begin texts; a number has the same beginning under every scheme."""

    def rows(self, tokens: I64 | None) -> F64:
        """Read the last chosen tokens [B], None at first; return the next laws, float64 [B, V]."""


class ModelSource:
    """A model that continues prompts, at temperature 1; end tokens are barred.

    Args:
        model: The model.
        prompts: Prompts of the texts, by default those of the study.
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
        """Return the prompt of a text."""
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
    """Laws that a model gave while it wrote plain texts, replayed for any chosen tokens.

    The chosen tokens do not affect the next laws, so a complete study needs a single pass of the
    model. The vocabulary is reduced to the commonest tokens.

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
    model: LanguageModel, streams: int, steps: int, common_tokens: int, seed: int
) -> npt.NDArray[np.float32]:
    """Write plain texts, and record the model's laws for its commonest tokens.

    Args:
        model: The model.
        streams: Number of texts.
        steps: Tokens of each text.
        common_tokens: Number of tokens that are kept, those with the largest mean probability.
        seed: Seed of the draws.

    Returns:
        float32 [streams, steps, common_tokens].
    """
    source = ModelSource(model)
    source.begin(range(streams))
    rng = np.random.default_rng(seed)
    laws = np.empty((streams, steps, source.vocab_size), dtype=np.float32)
    tokens = None
    for step in range(steps):
        rows = source.rows(tokens)
        laws[:, step] = rows
        tokens = np.array([draw(row, rng.random()) for row in rows])
    top = np.sort(np.argsort(-laws.mean(axis=(0, 1)))[:common_tokens])
    out = laws[:, :, top]
    return np.asarray(out / out.sum(axis=2, keepdims=True))


def bench_of(model: LanguageModel, source: LawSource | ModelSource) -> Bench:
    """Return the data for schemes; token frequencies are estimated from the source.

    Its predictions after the first prompts replace a corpus.
    """
    source.begin(range(24))
    frequency = source.rows(None).mean(axis=0)

    @functools.cache
    def segments(bits: int) -> I64:
        return np.asarray(segment_table(source.vocab_size, bits, frequency))

    return Bench(vocab_size=source.vocab_size, segments=segments, proxy=proxy_of(model))


def proxy_of(model: LanguageModel) -> Proxy:
    """Return the proxy of CTWL: a model that sees only a window."""

    def proxy(windows: I64) -> F64:
        import torch

        fed = torch.from_numpy(np.ascontiguousarray(windows)).to(model.device.torch_device)
        parts = []
        with torch.inference_mode():
            for first in range(0, len(windows), 32):
                part = fed[first : first + 32]
                logits = model.network(input_ids=part, use_cache=False, logits_to_keep=1).logits
                parts.append(logits[:, -1, : model.vocab_size].double().softmax(dim=1).cpu())
        out: F64 = torch.cat(parts).numpy()
        return out

    return proxy
