"""Reading the evidence of texts for some keys, and how far the model lies from another.

Paper §4.2 needs, for every token, the entropy of the distribution that predicted it and the
token's interval in the secret order (scheme.md §5). The network is run without its output
head; the hidden states of a chunk of tokens meet the head tile by tile (:mod:`pura.model.tiles`)
and are forgotten. Memory depends on the tile and the model's window, not on text or vocabulary.

One text and many go the same way: their windows are fed side by side where they are short enough
(:mod:`pura.model.window_scheduler`), readings of one text behind what they share
(:mod:`pura.model.pieces`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.base.errors import InputError, ProfileError, PuraError
from pura.base.progress import never_cancelled, not_counted
from pura.model.head import Orders, decoder_of
from pura.model.load import LanguageModel
from pura.model.pieces import Look, ReadPieces, plan
from pura.model.reading import Reading
from pura.model.tiles import CPU_TILING, GPU_TILING, Tiling
from pura.model.window_scheduler import WindowScheduler
from pura.scheme import F64, I64, Profile, SecretKey

if TYPE_CHECKING:
    import torch


CONTEXT: Final = 8192
"""Longest input in tokens, a known prompt with it."""

WINDOW: Final = 2048
"""Longest input without a prompt: attention costs its square (decision 041)."""

OVERLAP: Final = 256
"""Tokens that a window has in common with the one before, and predicts nothing of."""

EAGER_CHUNK: Final = 1024


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be read of one document.

    Attributes:
        texts: int64 [L] each: the readings; what they have in common is read once.
        prompts: What stands before each; nothing when empty.
        look: Gets what is known of the first text after each chunk of it; True reads no further,
            and then only that part of the first text comes back.
    """

    texts: Sequence[I64]
    prompts: Sequence[Sequence[int]] = ()
    look: Look | None = None


def read(
    model: LanguageModel,
    ids: I64,
    *,
    keys: Sequence[SecretKey],
    profile: Profile,
    prompt_ids: Sequence[int] | None = None,
    progress: Callable[[int, int], None] = not_counted,
    checkpoint: Callable[[], None] = never_cancelled,
    tiling: Tiling | None = None,
    window: int = WINDOW,
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
        window: Longest input in tokens without the prompt, at most the model's own context.

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
    texts: Sequence[I64],
    *,
    keys: Sequence[SecretKey],
    profile: Profile,
    prompts: Sequence[Sequence[int]] = (),
    progress: Callable[[int, int], None] = not_counted,
    checkpoint: Callable[[], None] = never_cancelled,
    tiling: Tiling | None = None,
    window: int = WINDOW,
) -> list[Reading]:
    """Read several readings of one document; see :func:`read` and :class:`Request`."""
    (found,) = read_documents(
        model,
        [Request(texts=texts, prompts=prompts)],
        keys=keys,
        profile=profile,
        progress=progress,
        checkpoint=checkpoint,
        tiling=tiling,
        window=window,
    )
    if isinstance(found, PuraError):
        raise found
    return found


def read_documents(
    model: LanguageModel,
    requests: Sequence[Request],
    *,
    keys: Sequence[SecretKey],
    profile: Profile,
    progress: Callable[[int, int], None] = not_counted,
    checkpoint: Callable[[], None] = never_cancelled,
    tiling: Tiling | None = None,
    window: int = WINDOW,
    chunk: int | None = None,
    kept: ReadPieces | None = None,
) -> list[list[Reading] | PuraError]:
    """Read many documents, the windows of all of them side by side.

    Arguments are those of :func:`read`, for all documents; ``chunk`` is how many tokens there are
    at most between two looks, ``kept`` has the pieces that an interrupted run has read.

    Returns:
        In the order of ``requests``: the readings, or why this document could not be read. Beside
        others a text gives the same numbers as alone up to rounding: matrix products add in
        another order.

    Raises:
        ProfileError: The vocabulary or the prefix does not fit the model.
        ModelError: No memory, however small the pieces.
    """
    import torch

    _check(model, profile)
    opening = _opening(model, profile)
    context = max(4, min(model.context_length, CONTEXT))
    window, overlap = cut_of(model, window)
    feeding = WindowScheduler(
        model=model,
        profile=profile,
        orders=Orders.of(keys, profile.vocab_size, model.head),
        tiling=tiling or _tiling_for(model),
        chunk=chunk,
        progress=progress,
        checkpoint=checkpoint,
        kept=kept,
    )
    found: list[PuraError | None] = []
    for request in requests:
        outside = any(not _inside(ids, model.head.rows) for ids in request.texts)
        found.append(InputError("audit.ids-range", vocab_size=model.head.rows) if outside else None)
        if not outside:
            prompts = request.prompts or [()] * len(request.texts)
            windows = [
                plan(
                    ids,
                    context=context,
                    window=window,
                    overlap=overlap,
                    opening=opening,
                    prompt=_without(prompt, opening),
                )
                for ids, prompt in zip(request.texts, prompts, strict=True)
            ]
            feeding.add(request.texts, windows, request.look)
    with torch.inference_mode():
        feeding.run()
    read_ = iter(feeding.finish())
    return [next(read_) if error is None else error for error in found]


def cut_of(model: LanguageModel, window: int = WINDOW) -> tuple[int, int]:
    """Return how long the windows of a long text are, and how many tokens they share."""
    longest = max(4, min(model.context_length, window))
    return longest, min(OVERLAP, longest // 2)


def _check(model: LanguageModel, profile: Profile) -> None:
    if profile.vocab_size != model.vocab_size:
        raise ProfileError("fitness.tokenizer", model=model.name)


def _inside(ids: I64, rows: int) -> bool:
    return ids.ndim == 1 and (not ids.size or 0 <= int(ids.min()) <= int(ids.max()) < rows)


def _tiling_for(model: LanguageModel) -> Tiling:
    tiling = CPU_TILING if model.device.kind == "cpu" else GPU_TILING
    # Attention that is spelled out holds a matrix of chunk × window for every head.
    eager = getattr(model.network.config, "_attn_implementation", "") == "eager"
    return replace(tiling, chunk=min(tiling.chunk, EAGER_CHUNK)) if eager else tiling


def _opening(model: LanguageModel, profile: Profile) -> tuple[int, ...]:
    if profile.prefix == "none":
        return ()
    if model.bos_id is None:
        raise ProfileError("fitness.start-token")
    return (model.bos_id,)


def _without(prompt: Sequence[int], opening: tuple[int, ...]) -> tuple[int, ...]:
    tokens = tuple(int(v) for v in prompt)
    return tokens[1:] if opening and tokens[:1] == opening else tokens


_BLOCK: Final = 64  # rows of the distribution held at once


def divergence_bits(
    source: LanguageModel,
    proxy: LanguageModel,
    texts: Sequence[I64],
    checkpoint: Callable[[], None] = never_cancelled,
) -> F64:
    """Return ``KL(source ‖ proxy)`` of the next-token distributions, at temperature 1.

    Args:
        source: The generating model.
        proxy: The verifying model, with the same tokenizer.
        texts: Token ids [L] each; every token but the first is predicted by both.
        checkpoint: Called between texts; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        float64 [Σ (L - 1)], in bits a token.
    """
    import torch

    size = min(source.vocab_size, source.head.rows, proxy.head.rows)
    rows = []
    with torch.inference_mode():
        for ids in texts:
            checkpoint()
            hidden = [_hidden(m, ids[:-1]) for m in (source, proxy)]
            for start in range(0, hidden[0].shape[0], _BLOCK):
                # Rows beyond the tokenizer differ from model to model and mean nothing.
                part = [
                    m.head.logits(h[start : start + _BLOCK])[:, :size]
                    .double()
                    .cpu()
                    .log_softmax(dim=1)
                    for m, h in zip((source, proxy), hidden, strict=True)
                ]
                rows.append((part[0].exp() * (part[0] - part[1])).sum(dim=1).numpy())
    return np.asarray(np.concatenate(rows) / np.log(2)) if rows else np.zeros(0)


def next_token(model: LanguageModel, ids: I64) -> F64:
    """Return what a model expects behind some tokens, at temperature 1: float64 [V].

    Args:
        model: The model.
        ids: int64 [L], at least one.
    """
    import torch

    with torch.inference_mode():
        logits = model.head.logits(_hidden(model, ids)[-1:])[0]
        found = logits[: min(model.vocab_size, model.head.rows)].double().cpu().softmax(dim=0)
        return np.asarray(found.numpy())


def log_probabilities(
    model: LanguageModel, ids: Sequence[int]
) -> Callable[[Sequence[int]], torch.Tensor]:
    """Read tokens, and return what gives the log-probabilities of all tokens behind some of them.

    Args:
        model: Reads them as they stand, without a sampling's cuts.
        ids: At most as many as the model reads at once.

    Returns:
        Takes places in ``ids``; gives float32 [N, R], nats.
    """
    import torch

    with torch.inference_mode():
        hidden = _hidden(model, np.asarray(ids, dtype=np.int64))

    def rows(places: Sequence[int]) -> torch.Tensor:
        with torch.inference_mode():
            logits: torch.Tensor = model.head.logits(hidden[list(places)])
            return logits.log_softmax(dim=1).cpu()

    return rows


def _hidden(model: LanguageModel, ids: I64) -> torch.Tensor:
    import torch

    fed = torch.from_numpy(np.asarray(ids))[None].to(model.device.torch_device)
    output = decoder_of(model.network)(input_ids=fed, use_cache=False)
    hidden = output.last_hidden_state[0]
    assert isinstance(hidden, torch.Tensor)
    return hidden
