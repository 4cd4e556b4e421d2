"""The evidence pass: one forward pass gives entropy and intervals, without an L×V array.

Paper §4.2 needs, for every token, the entropy of the distribution that predicted it and the
token's interval in the secret order (docs/scheme.md §5). The network is run without its output
head; the hidden states of a chunk of tokens meet the head tile by tile (:mod:`pura.model.tiles`)
and are forgotten. Memory depends on the tile and the model's window, not on text or vocabulary.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.errors import InputError, ModelError, ProfileError
from pura.model.head import decoder_of
from pura.model.load import LanguageModel
from pura.model.naive import full_order
from pura.model.reading import Reading
from pura.model.shared import Share, States, put_states, shares, states_of, wanted
from pura.model.tiles import CPU_TILING, GPU_TILING, Tiling, row_sums, tile_count
from pura.model.windows import Window, plan
from pura.scheme import Profile, SecretKey, ranks

if TYPE_CHECKING:
    import torch

# Attention over a window costs its square; a longer one would serve a generator's text badly.
MAX_WINDOW: Final = 8192
EAGER_CHUNK: Final = 1024
Look = Callable[[Reading], bool]


def read(
    model: LanguageModel,
    ids: npt.NDArray[np.int64],
    *,
    keys: Sequence[SecretKey],
    profile: Profile,
    prompt_ids: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: Callable[[], None] | None = None,
    tiling: Tiling | None = None,
    window: int = MAX_WINDOW,
) -> Reading:
    """Read the evidence of a text for some keys.

    Args:
        model: The model, the generator's own or a proxy.
        ids: int64 [L], the tokens of the text alone.
        keys: One row of intervals a key; the entropies do not depend on it.
        profile: Prefix, temperature, top-k, top-p, vocabulary size.
        prompt_ids: The known prompt, without the opening token. With the prefix ``bos`` that
            token stands before it.
        progress: Gets steps done and steps in all.
        checkpoint: Called between layers and tiles; may raise
            :class:`~pura.base.errors.Cancelled` to stop.
        tiling: How much is held at once; by the kind of device when None.
        window: Longest input in tokens, at most the model's own context.

    Raises:
        ProfileError: The vocabulary or the prefix does not fit the model.
        InputError: A token id outside the vocabulary.
        ModelError: No memory, or the model gave no finite numbers.
    """
    return read_many(
        model,
        [ids],
        keys=keys,
        profile=profile,
        prompts=[prompt_ids or ()],
        progress=progress,
        checkpoint=checkpoint,
        tiling=tiling,
        window=window,
    )[0]


def read_many(
    model: LanguageModel,
    texts: Sequence[npt.NDArray[np.int64]],
    *,
    keys: Sequence[SecretKey],
    profile: Profile,
    prompts: Sequence[Sequence[int]] | None = None,
    progress: Callable[[int, int], None] | None = None,
    checkpoint: Callable[[], None] | None = None,
    tiling: Tiling | None = None,
    window: int = MAX_WINDOW,
    look: Look | None = None,
    chunk: int | None = None,
) -> list[Reading]:
    """Read several readings of one text; what they have in common is read once.

    See :func:`read`; ``texts`` holds the tokens of each, ``prompts`` what stands before each.
    ``look`` gets what is known of the first text after each chunk of it, of at most ``chunk``
    tokens, and returns True to read no further: then only that part of the first text comes back.
    """
    import torch

    for ids in texts:
        _check(model, ids, profile)
    opening = _opening(model, profile)
    context = max(4, min(model.context_length, window))
    windows = [
        plan(ids, context=context, opening=opening, prompt=_without_opening(prompt, opening))
        for ids, prompt in zip(texts, prompts or [()] * len(texts), strict=True)
    ]
    run = _Run(
        model=model,
        profile=profile,
        ranks=_rank_table(model, keys, profile),
        tiling=_of_at_most(chunk, tiling or _tiling_for(model)),
        texts=texts,
        windows=windows,
        results=[_blank(i, len(keys), len(w)) for i, w in zip(texts, windows, strict=True)],
        shares=shares(texts, windows),
        progress=progress,
        checkpoint=checkpoint,
        look=look,
    )
    with torch.inference_mode(), _between_layers(model, run.tick):
        run.all_windows()
    return run.finish()


def _check(model: LanguageModel, ids: npt.NDArray[np.int64], profile: Profile) -> None:
    if profile.vocab_size != model.vocab_size:
        raise ProfileError(
            "model.vocabulary",
            vocab_size=profile.vocab_size,
            name=model.name,
            there=model.vocab_size,
        )
    if ids.ndim != 1 or (ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < model.head.rows):
        raise InputError("model.ids")


def _tiling_for(model: LanguageModel) -> Tiling:
    tiling = CPU_TILING if model.device.kind == "cpu" else GPU_TILING
    # Attention that is spelled out holds a matrix of chunk × window for every head.
    eager = getattr(model.network.config, "_attn_implementation", "") == "eager"
    return replace(tiling, chunk=min(tiling.chunk, EAGER_CHUNK)) if eager else tiling


def _of_at_most(chunk: int | None, tiling: Tiling) -> Tiling:
    return tiling if chunk is None else replace(tiling, chunk=min(tiling.chunk, chunk))


def _opening(model: LanguageModel, profile: Profile) -> tuple[int, ...]:
    if profile.prefix == "none":
        return ()
    if model.bos_id is None:
        raise ProfileError("model.opening", name=model.name)
    return (model.bos_id,)


def _without_opening(prompt: Sequence[int], opening: tuple[int, ...]) -> tuple[int, ...]:
    tokens = tuple(int(v) for v in prompt)
    return tokens[1:] if opening and tokens[:1] == opening else tokens


def _rank_table(model: LanguageModel, keys: Sequence[SecretKey], profile: Profile) -> torch.Tensor:
    """Return int32 [K, R]: the rank of every logit in each key's order."""
    import torch

    rows = [ranks(full_order(key, profile.vocab_size, model.head.rows)) for key in keys]
    table = np.array(rows, dtype=np.int32).reshape(len(rows), model.head.rows)
    return torch.from_numpy(table).to(model.head.weight.device)


def _blank(ids: npt.NDArray[np.int64], keys: int, windows: int) -> Reading:
    """Everything as for a token that nothing predicted."""
    return Reading(
        ids=np.array(ids, dtype=np.int64),
        entropy_bits=np.zeros(ids.size),
        probability=np.ones(ids.size),
        lo=np.zeros((keys, ids.size)),
        hi=np.ones((keys, ids.size)),
        windows=windows,
    )


@dataclass(kw_only=True, eq=False)
class _Run:
    """The state of one pass over all texts."""

    model: LanguageModel
    profile: Profile
    ranks: torch.Tensor
    tiling: Tiling
    texts: Sequence[npt.NDArray[np.int64]]
    windows: Sequence[Sequence[Window]]
    results: Sequence[Reading]
    shares: Sequence[Sequence[Share | None]]
    progress: Callable[[int, int], None] | None
    checkpoint: Callable[[], None] | None
    look: Look | None = None
    stopped: int | None = None
    done: int = 0
    total: int = 0
    short_of_memory: bool = False
    kept: dict[tuple[int, int], States] = field(default_factory=dict)

    def tick(self) -> None:
        """One layer or one tile is through."""
        if self.checkpoint is not None:
            self.checkpoint()
        self.done = min(self.done + 1, self.total)
        if self.progress is not None:
            self.progress(self.done, self.total)

    def all_windows(self) -> None:
        """Read window after window; a window for which memory is short is read again."""
        places = [(text, w) for text, mine in enumerate(self.windows) for w in range(len(mine))]
        for number, (text, place) in enumerate(places):
            while True:
                self.total = self.done + sum(self.ticks(*rest) for rest in places[number:])
                problem = self.attempt(text, place)
                if problem is None:
                    break
                self.shrink(problem)
            if self.stopped is not None:
                break
            self.kept = {
                key: states
                for key, states in self.kept.items()
                if any(
                    (share := self.shares[t][w]) is not None and (share.text, w) == key
                    for t, w in places[number + 1 :]
                )
            }
        if self.progress is not None and places:
            self.progress(self.total, self.total)

    def ticks(self, text: int, place: int) -> int:
        """How many ticks a window takes."""
        window, share = self.windows[text][place], self.shares[text][place]
        taken = 0 if share is None else share.inputs
        if share is not None and share.whole:
            return 0
        chunks = -(-(int(window.inputs.size) - taken) // self.tiling.chunk)
        rows = window.count - max(taken - window.first, 0)
        tiles = tile_count(self.model.head, rows, self.profile, self.tiling)
        return chunks * len(_layers(self.model)) + tiles

    def attempt(self, text: int, place: int) -> str | None:
        """Read one window; return the error's text when memory was short."""
        try:
            self.one_window(text, place)
        except (MemoryError, RuntimeError) as error:
            if _is_out_of_memory(error):
                return str(error) or "out of memory"
            raise ModelError("model.failed", kind=type(error).__name__) from None
        return None

    def one_window(self, text: int, place: int) -> None:
        """Feed a window in chunks and sum up the rows whose next token belongs to it."""
        import torch

        window, share = self.windows[text][place], self.shares[text][place]
        if share is not None and share.whole:
            self.take_results(text, share.text, window.target, window.count)
            return
        device = self.model.head.weight.device
        inputs = torch.from_numpy(window.inputs).to(device)
        size, step = int(inputs.shape[0]), self.tiling.chunk
        network = decoder_of(self.model.network)
        states = self.kept.get((share.text, place)) if share is not None else None
        begin = 0 if share is None or states is None else share.inputs
        keep = wanted(self.shares, text, place)
        cache = _cache(self.model) if size > step or begin or keep else None
        if share is not None and states is not None:
            put_states(cache, states, begin)
            self.take_results(text, share.text, window.target, max(begin - window.first, 0))
        for start in range(begin, size, step):
            fed = inputs[None, start : start + step]
            out = network(input_ids=fed, past_key_values=cache, use_cache=cache is not None)
            skip = max(window.first - start, 0)
            hidden = out.last_hidden_state[0, skip:]
            if hidden.shape[0]:
                first = window.target + start + skip - window.first
                self.sum_up(text, first, hidden)
                if self.seen_enough(text, first + int(hidden.shape[0])):
                    return
        if keep and (states := states_of(cache, keep)) is not None:
            self.kept[text, place] = states

    def seen_enough(self, text: int, tokens: int) -> bool:
        """Show what is known of the first text; True where it is enough."""
        if self.look is None or text or tokens >= self.texts[0].size:
            return False
        if self.look(self.results[0].first(tokens)):
            self.stopped = tokens
        return self.stopped is not None

    def take_results(self, text: int, other: int, first: int, count: int) -> None:
        """Copy what was found for the same tokens of another text."""
        mine, theirs, at = self.results[text], self.results[other], slice(first, first + count)
        mine.entropy_bits[at] = theirs.entropy_bits[at]
        mine.probability[at] = theirs.probability[at]
        mine.lo[:, at], mine.hi[:, at] = theirs.lo[:, at], theirs.hi[:, at]

    def sum_up(self, text: int, first: int, hidden: torch.Tensor) -> None:
        """Write the results of the tokens from ``first`` on."""
        import torch

        ids, result = self.texts[text], self.results[text]
        last = first + int(hidden.shape[0])
        targets = torch.from_numpy(np.ascontiguousarray(ids[first:last])).to(hidden.device)
        sums = row_sums(
            self.model.head, hidden, targets, self.ranks, self.profile, self.tiling, self.tick
        )
        probability, lo = sums.probability.numpy(), sums.lo.numpy()
        result.entropy_bits[first:last] = np.maximum(sums.entropy_bits.numpy(), 0.0)
        result.probability[first:last] = probability
        result.lo[:, first:last] = np.clip(lo, 0.0, 1.0)
        result.hi[:, first:last] = np.clip(lo + probability, 0.0, 1.0)

    def shrink(self, problem: str) -> None:
        """Give memory back and go on with smaller pieces.

        Raises:
            ModelError: There is nothing left to make smaller.
        """
        import torch

        self.kept.clear()
        if self.model.device.kind == "cuda":
            torch.cuda.empty_cache()
        smaller = self.tiling.halved()
        if smaller is None:
            raise ModelError("model.memory-text", name=self.model.device.name, code="model-memory")
        self.tiling = smaller
        self.short_of_memory = True

    def finish(self) -> list[Reading]:
        """Return the readings.

        Raises:
            ModelError: The model gave no finite numbers.
        """
        results = self.results
        if self.stopped is not None:
            results = [self.results[0].first(self.stopped)]
        for result in results:
            if not (np.isfinite(result.entropy_bits).all() and np.isfinite(result.lo).all()):
                raise ModelError("model.not-finite", code="model-damaged")
        return [replace(result, short_of_memory=self.short_of_memory) for result in results]


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    words = str(error).lower()
    return (
        isinstance(error, MemoryError | torch.OutOfMemoryError)
        or "out of memory" in words
        or "can't allocate memory" in words
    )


def _cache(model: LanguageModel) -> Any:
    from transformers import DynamicCache

    return DynamicCache(config=model.network.config)


def _layers(model: LanguageModel) -> list[Any]:
    """Return the decoder's layers; none when the architecture hides them."""
    import torch

    config = model.network.config.get_text_config()
    depth = getattr(config, "num_hidden_layers", 0)
    for part in decoder_of(model.network).modules():
        if isinstance(part, torch.nn.ModuleList) and len(part) == depth:
            return list(part)
    return []


@contextlib.contextmanager
def _between_layers(model: LanguageModel, tick: Callable[[], None]) -> Iterator[None]:
    """Call ``tick`` after every layer, so that a long chunk can be stopped half-way."""
    me = threading.get_ident()

    def hook(*_: Any) -> None:
        if threading.get_ident() == me:  # another thread may read with the same model
            tick()

    handles = [layer.register_forward_hook(hook) for layer in _layers(model)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
