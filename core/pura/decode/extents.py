"""Where a passage of a mark begins and ends, with a credible interval for each limit.

docs/evidence.md §4, "Limits of a passage". The payload and roughly where it stands are known by
now. The joint posterior over first and last token is that of one marked stretch inside the tokens
that no other passage takes; tokens that are not counted have the factor 1. Behind text that is
foreign to the mark a step is misread more often, the nearer to the beginning the more: the chance
falls with the number of tokens since then and was learnt (``bench/passage_limits.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LEVEL: Final = 0.95
"""Credibility of an interval."""

AGES: Final = (3, 6, 10, 15, 20, 30, 40, 60, 80)
MISREAD: Final = (0.98, 0.52, 0.52, 0.46, 0.42, 0.30, 0.26, 0.24, 0.20, 0.14)
"""Chance that a step is misread, below so many tokens since the beginning, and beyond."""

PACES: Final = {0.05: 0.04, 1.0: 0.32, 2.0: 0.32, 4.0: 0.32}
"""How many times slower than on average the reading of a passage recovers, and how likely that is.

The first stands for a passage that is read in the context in which it was written.
"""
TEMPER: Final = 0.8
"""Exponent of a step's factor: steps next to each other are misread together."""

_AT_TEXT_BEGIN: Final = 0.14  # at most: nothing foreign stands before the text
_YOUNG_TOKENS: Final = 30.0  # a passage is read as at its beginning for so long, on average
_RECOVERED: Final = 120  # tokens behind which every passage is read alike
_ANCHORED: Final = 200  # counted tokens inside a passage that a limit is weighed by
_EDITED: Final = 0.15  # a step of a passage says nothing, as windows are looked at
_CHUNK: Final = 256  # first tokens that are weighed together
_LOST_NATS: Final = 40.0  # so far below the best a limit is out of question
_KEPT_NATS: Final = 20.0  # and so far it no longer changes the interval
_LEAST_TOKENS: Final = 20
_UNCOUNTED: Final = 10  # tokens in a row are worth a word …
_HARDLY_ANY: Final = 0.1  # … of which so few are counted


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The tokens of a passage; all indices are inclusive.

    Attributes:
        first: The token that is most probably the first one inside of those that are counted.
        last: The one that is most probably the last.
        first_from: Least of the 95 % credible interval of the first token.
        first_to: Greatest of it.
        last_from: Least of that of the last token.
        last_to: Greatest of it.
        first_uncounted: The interval reaches into tokens before the passage of which hardly any is
            counted: what stands there is not known.
        last_uncounted: The same behind the passage.
    """

    first: int
    last: int
    first_from: int
    first_to: int
    last_from: int
    last_to: int
    first_uncounted: bool = False
    last_uncounted: bool = False

    def moved(self, by: int) -> Extent:
        """Return the extent so many tokens further on."""
        return Extent(
            first=self.first + by,
            last=self.last + by,
            first_from=self.first_from + by,
            first_to=self.first_to + by,
            last_from=self.last_from + by,
            last_to=self.last_to + by,
            first_uncounted=self.first_uncounted,
            last_uncounted=self.last_uncounted,
        )


@dataclass(frozen=True, kw_only=True)
class PassageText:
    """What a text says of one payload, token by token.

    Attributes:
        young: float64 [L], density of each step as at a passage's beginning; 1 where not counted.
        clean: float64 [L], density further inside.
        counted: bool [L], the token carries bits.
        edited: float64 [L], chance that the token was edited.
        context_window: ``W``; so many steps behind an edited token are misread.
    """

    young: F64
    clean: F64
    counted: npt.NDArray[np.bool_]
    edited: F64
    context_window: int

    def gain(self, first: int, last: int) -> float:
        """Return what the tokens of a passage add to the log likelihood ratio of the payload."""
        return float(np.log((1 - _EDITED) * self.young[first : last + 1] + _EDITED).sum())

    def factors(self, tokens: I64, age: I64, chance: F64) -> F64:
        """Return the factors of tokens at an age, each misread with some chance."""
        read = (1 - chance) * self.density(tokens, age) + chance
        return np.where(self.counted[tokens], read**TEMPER, 1.0)

    def density(self, tokens: I64, age: I64) -> F64:
        """Return the densities of tokens at an age."""
        still = np.exp(-age / _YOUNG_TOKENS)
        return np.asarray(still * self.young[tokens] + (1 - still) * self.clean[tokens])


def extent_of(
    text: PassageText, span: tuple[int, int], room: tuple[int, int], checkpoint: Callable[[], None]
) -> Extent:
    """Return where a passage begins and ends.

    Args:
        text: What the text says of its payload.
        span: First and last token that it is known to hold, roughly; at least one is counted.
        room: First and last token that it may reach to.
        checkpoint: Called often; may raise.
    """
    inside = np.flatnonzero(text.counted[span[0] : span[1] + 1]) + span[0]
    half = min(_ANCHORED, max(1, inside.size // 2))
    begin_anchor, end_anchor = int(inside[half - 1]), int(inside[-half])
    checkpoint()
    firsts, log_first = _firsts(text, room[0], begin_anchor)
    checkpoint()
    likeliest = int(firsts[int(np.argmax(np.where(text.counted[firsts], log_first, -math.inf)))])
    begun = max(likeliest, end_anchor - int(AGES[-1]))
    lasts, log_last = _lasts(text, likeliest, begun, end_anchor, room[1])
    length = (lasts[None, :] - firsts[:, None] + 1).astype(np.float64)
    # A scale-free prior: no length is expected beforehand.
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.where(length >= _LEAST_TOKENS, -np.log(length), -math.inf)
    joint = log_first[:, None] + log_last[None, :] + prior
    if not np.isfinite(joint).any():
        joint = log_first[:, None] + log_last[None, :]
    joint = np.exp(joint - joint.max())
    joint /= joint.sum()
    of_first, of_last = joint.sum(axis=1), joint.sum(axis=0)
    first = -_outermost(-firsts[::-1], of_first[::-1], text.counted[firsts][::-1])
    last = _outermost(lasts, of_last, text.counted[lasts])
    first_from, first_to = _interval(firsts, of_first)
    last_from, last_to = _interval(lasts, of_last)
    return Extent(
        first=first,
        last=last,
        first_from=min(first, first_from),
        first_to=max(first, first_to),
        last_from=min(last, last_from),
        last_to=max(last, last_to),
        first_uncounted=_uncounted(text.counted[first_from:first]),
        last_uncounted=_uncounted(text.counted[last + 1 : last_to + 1]),
    )


def misread(age: I64, pace: float = 1.0) -> F64:
    """Return the chance that a step is misread so many tokens after the beginning of a passage."""
    return np.asarray(MISREAD)[np.searchsorted(AGES, age / pace, side="right")]


def _step(state: F64, edited: F64, factor: F64) -> F64:
    """Carry chances over one token; [..., W + 2]: clean, then so many tokens since an edit."""
    out = np.empty_like(state)
    out[..., 1] = state.sum(axis=-1) * edited
    out[..., 2:] = state[..., 1:-1] * (1 - edited)[..., None]
    out[..., 0] = (state[..., 0] + state[..., -1]) * (1 - edited) * factor
    return out


def _firsts(text: PassageText, least: int, anchor: int) -> tuple[I64, F64]:
    """Return possible first tokens, and the log likelihood of the tokens up to the anchor."""
    settled, log_settled = _settled(text, least, anchor)
    best, found = -math.inf, []
    for after in range(anchor + 1, least, -_CHUNK):
        firsts = np.arange(max(least, after - _CHUNK), after)
        values = _chunk_of_firsts(text, firsts, anchor, settled, log_settled, least)
        found.append((firsts, values))
        best = max(best, float(values.max()))
        if values.max() < best - _LOST_NATS:
            break
    firsts = np.concatenate([one for one, _ in found[::-1]])
    values = np.concatenate([one for _, one in found[::-1]])
    kept = values > best - _KEPT_NATS
    return firsts[kept], values[kept]


def _settled(text: PassageText, least: int, anchor: int) -> tuple[F64, F64]:
    """Return the likelihood of the tokens up to the anchor from each state of a passage of age.

    Returns:
        float64 [N + 1, W + 2], scaled, and the logarithms of the scales, [N + 1], for the tokens
        ``least`` to ``anchor + 1``.
    """
    tokens = np.arange(least, anchor + 1)
    age = np.full(tokens.size, AGES[-1])
    factor = text.factors(tokens, age, misread(age))
    edited = text.edited[least : anchor + 1]
    out = np.empty((tokens.size + 1, text.context_window + 2))
    scale = np.zeros(tokens.size + 1)
    out[-1] = 1.0
    for at in range(tokens.size - 1, -1, -1):
        after, r = out[at + 1], edited[at]
        clean = (1 - r) * factor[at] * after[0]
        out[at] = r * after[1]
        out[at, 0] += clean
        out[at, -1] += clean
        out[at, 1:-1] += (1 - r) * after[2:]
        total = out[at].sum()
        out[at] /= total
        scale[at] = scale[at + 1] + math.log(total)
    return out, scale


def _chunk_of_firsts(
    text: PassageText, firsts: I64, anchor: int, settled: F64, log_settled: F64, least: int
) -> F64:
    """Return the log likelihood of the tokens up to the anchor for each of some first tokens."""
    walked = [
        _walked(text, firsts, anchor, settled, log_settled, least, pace) + math.log(share)
        for pace, share in PACES.items()
    ]
    return np.asarray(np.logaddexp.reduce(walked, axis=0))


def _walked(
    text: PassageText,
    firsts: I64,
    anchor: int,
    settled: F64,
    log_settled: F64,
    least: int,
    pace: float,
) -> F64:
    state = np.zeros((firsts.size, text.context_window + 2))
    state[:, 0] = 1.0
    total = np.zeros(firsts.size)
    for step in range(_RECOVERED):
        going = firsts + step <= anchor
        if not going.any():
            break
        tokens = np.minimum(firsts + step, anchor)
        age = np.full(firsts.size, step)
        chance = misread(age, pace)
        chance = np.where(firsts == 0, np.minimum(chance, _AT_TEXT_BEGIN), chance)
        moved = _step(state, text.edited[tokens], text.factors(tokens, age, chance))
        size = moved.sum(axis=1)
        state = np.where(going[:, None], moved / size[:, None], state)
        total += np.where(going, np.log(size), 0.0)
    then = np.minimum(firsts + _RECOVERED, anchor + 1) - least
    return np.asarray(total + np.log((state * settled[then]).sum(axis=1)) + log_settled[then])


def _lasts(text: PassageText, first: int, begun: int, anchor: int, most: int) -> tuple[I64, F64]:
    """Return possible last tokens, and the log likelihood of the tokens up to each of them."""
    state = np.zeros((1, text.context_window + 2))
    state[0, 0] = 1.0
    values, total, best = [], 0.0, -math.inf
    for start in range(begun, most + 1, _CHUNK):
        tokens = np.arange(start, min(start + _CHUNK, most + 1))
        age = tokens - first
        chance = np.minimum(misread(age), _AT_TEXT_BEGIN) if first == 0 else misread(age)
        factor = text.factors(tokens, age, chance)
        for at, token in enumerate(tokens.tolist()):
            state = _step(state, text.edited[token : token + 1], factor[at : at + 1])
            size = float(state.sum())
            state /= size
            total += math.log(size)
            if token >= anchor:
                values.append(total)
                best = max(best, total)
        if values and values[-1] < best - _LOST_NATS:
            break
    lasts, log_last = np.arange(anchor, anchor + len(values)), np.array(values)
    kept = log_last > best - _KEPT_NATS
    return lasts[kept], log_last[kept]


def _outermost(tokens: I64, chance: F64, counted: npt.NDArray[np.bool_]) -> int:
    """Return the counted token that is most probably the last one inside.

    Where the passage ends among tokens that are not counted, the counted one before them is it.
    """
    group = np.cumsum(counted)
    mass = np.bincount(group, weights=chance)
    mass[0] = 0.0  # before any counted token
    return int(tokens[int(np.argmax(group == int(np.argmax(mass))))])


def _uncounted(counted: npt.NDArray[np.bool_]) -> bool:
    return counted.size >= _UNCOUNTED and bool(counted.mean() <= _HARDLY_ANY)


def _interval(tokens: I64, chance: F64) -> tuple[int, int]:
    """Return the ends of the smallest set of tokens that holds :data:`LEVEL` of the chance."""
    order = np.argsort(-chance, kind="stable")
    enough = int(np.searchsorted(np.cumsum(chance[order]), LEVEL)) + 1
    held = tokens[order[:enough]]
    return int(held.min()), int(held.max())
