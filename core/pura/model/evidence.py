"""Reading texts with a model for some keys, and the divergence between two models.

Paper §4.2 needs, for every token, the entropy of the distribution that predicted it and the
token's interval in the secret order (scheme.md §5). The network is run without its output
head; the hidden states of a chunk of tokens meet the head tile by tile (:mod:`pura.model.tiles`)
and are forgotten. Memory depends on the tile and the model's window, not on text or vocabulary.

One text and many are read alike: windows that are short enough are fed side by side
(:mod:`pura.model.window_scheduler`), and the readings of one text after the part that they share
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
"""Longest input in tokens, including a known prompt."""

WINDOW: Final = 2048
"""Longest input without a prompt; the cost of attention grows with its square (decision 041)."""

OVERLAP: Final = 256
"""Tokens that a window shares with the one before and does not predict."""

EAGER_CHUNK: Final = 1024
"""Tokens fed together if attention keeps its whole matrix in memory."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The readings of one document that are to be fed to the model.

    Attributes:
        texts: int64 [L] each: token ids of the readings; parts in common are read once.
        prompts: Tokens before each text; none if empty.
        look: Called with the results for the first text after each chunk of it. If it returns
            True, reading stops, and only that part of the first text is returned.
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
        progress: Called with the steps done and all steps.
        checkpoint: Called between layers and tiles; may raise
            :class:`~pura.base.errors.Cancelled` to stop.
        tiling: Sizes of the parts held in memory; None chooses by the device.
        window: Longest input in tokens without the prompt, at most the model's own context.

    Raises:
        ProfileError: The vocabulary or the prefix does not fit the model.
        InputError: A token id is outside the vocabulary.
        ModelError: Memory is short, or the model gave numbers that are not finite.
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
    (readings,) = read_documents(
        model,
        [Request(texts=texts, prompts=prompts)],
        keys=keys,
        profile=profile,
        progress=progress,
        checkpoint=checkpoint,
        tiling=tiling,
        window=window,
    )
    if isinstance(readings, PuraError):
        raise readings
    return readings


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

    Arguments are those of :func:`read`, for all documents; ``chunk`` is the largest number of
    tokens between two looks, and ``kept`` holds the pieces that an interrupted run has read.

    Returns:
        In the order of ``requests``: the readings, or the error that prevented them. Among others
        a text gives the same numbers as alone up to rounding: matrix products add in another
        order.

    Raises:
        ProfileError: The vocabulary or the prefix does not fit the model.
        ModelError: Memory is short even for the smallest pieces.
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
        stored_pieces=kept,
    )
    errors: list[PuraError | None] = []
    for request in requests:
        outside = any(not _inside(ids, model.head.rows) for ids in request.texts)
        errors.append(
            InputError("audit.ids-range", vocab_size=model.head.rows) if outside else None
        )
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
    return [next(read_) if error is None else error for error in errors]


def cut_of(model: LanguageModel, window: int = WINDOW) -> tuple[int, int]:
    """Return the length of the windows of a long text, and the tokens that they share."""
    longest = max(4, min(model.context_length, window))
    return longest, min(OVERLAP, longest // 2)


def _check(model: LanguageModel, profile: Profile) -> None:
    if profile.vocab_size != model.vocab_size:
        raise ProfileError("fitness.tokenizer", model=model.name)


def _inside(ids: I64, rows: int) -> bool:
    return ids.ndim == 1 and (not ids.size or 0 <= int(ids.min()) <= int(ids.max()) < rows)


def _tiling_for(model: LanguageModel) -> Tiling:
    tiling = CPU_TILING if model.device.kind == "cpu" else GPU_TILING
    # Eager attention holds a matrix of chunk × window for every head.
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


_BLOCK: Final = 64  # rows of the distribution held in memory at once


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
                # Logits beyond the tokenizer are padding that differs between models.
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
    """Return the distribution of the next token, at temperature 1: float64 [V].

    Args:
        model: The model.
        ids: int64 [L], at least one.
    """
    import torch

    with torch.inference_mode():
        logits = model.head.logits(_hidden(model, ids)[-1:])[0]
        distribution = (
            logits[: min(model.vocab_size, model.head.rows)].double().cpu().softmax(dim=0)
        )
        return np.asarray(distribution.numpy())


def log_probabilities(
    model: LanguageModel, ids: Sequence[int]
) -> Callable[[Sequence[int]], torch.Tensor]:
    """Read tokens, and return a function for the log-probabilities of the tokens that follow.

    Args:
        model: The model; no top-k or top-p is applied.
        ids: Token ids, at most as many as the model reads at once.

    Returns:
        A function from positions in ``ids`` to float32 [N, R], nats.
    """
    import torch

    with torch.inference_mode():
        hidden = _hidden(model, np.asarray(ids, dtype=np.int64))

    def rows(positions: Sequence[int]) -> torch.Tensor:
        with torch.inference_mode():
            logits: torch.Tensor = model.head.logits(hidden[list(positions)])
            return logits.log_softmax(dim=1).cpu()

    return rows


def _hidden(model: LanguageModel, ids: I64) -> torch.Tensor:
    import torch

    fed = torch.from_numpy(np.asarray(ids))[None].to(model.device.torch_device)
    output = decoder_of(model.network)(input_ids=fed, use_cache=False)
    hidden = output.last_hidden_state[0]
    assert isinstance(hidden, torch.Tensor)
    return hidden
