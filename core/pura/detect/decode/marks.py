"""All marks of a text: how many, and from where to where each goes.

evidence.md §4, "Limits of a passage". The payload and roughly where it stands are known by
now. The joint posterior over first and last token is that of one marked stretch inside the tokens
that no other passage takes; tokens that are not counted have the factor 1. Behind text that is
foreign to the mark a step is misread more often, the nearer to the beginning the more: the chance
falls with the number of tokens since then and was learnt (``bench/passage_limits.py``).

What the steps of a mark's own passages say of its payload stands in ``payloads``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.detect.decode import chain
from pura.detect.decode.chain import ChainText
from pura.detect.decode.payloads import Candidate
from pura.detect.decode.trellis import codeword_windows
from pura.scheme import F64, I64, U8
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile, encode_rows

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
        limits = ("first", "last", "first_from", "first_to", "last_from", "last_to")
        return replace(self, **{name: getattr(self, name) + by for name in limits})


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
    text: PassageText,
    span: tuple[int, int],
    bounds: tuple[int, int],
    checkpoint: Callable[[], None],
) -> Extent:
    """Return where a passage begins and ends.

    Args:
        text: What the text says of its payload.
        span: First and last token that it is known to hold, roughly; at least one is counted.
        bounds: First and last token that it may reach to.
        checkpoint: Called often; may raise.
    """
    inside = np.flatnonzero(text.counted[span[0] : span[1] + 1]) + span[0]
    half = min(_ANCHORED, max(1, inside.size // 2))
    begin_anchor, end_anchor = int(inside[half - 1]), int(inside[-half])
    checkpoint()
    firsts, log_first = _firsts(text, bounds[0], begin_anchor)
    checkpoint()
    likeliest = int(firsts[int(np.argmax(np.where(text.counted[firsts], log_first, -math.inf)))])
    begun = max(likeliest, end_anchor - int(AGES[-1]))
    lasts, log_last = _lasts(text, likeliest, begun, end_anchor, bounds[1])
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


def misread(age: I64, pace: float | F64 = 1.0) -> F64:
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
    paces = np.array(list(PACES))[:, None]
    state = np.zeros((paces.size, firsts.size, text.context_window + 2))
    state[:, :, 0] = 1.0
    total = np.log(list(PACES.values()))[:, None] + np.zeros(firsts.size)
    for step in range(min(_RECOVERED, anchor + 1 - int(firsts[0]))):
        going = firsts + step <= anchor
        tokens = np.minimum(firsts + step, anchor)
        chance = np.tile(misread(np.array(step), paces), firsts.size)
        chance[:, firsts == 0] = np.minimum(chance[:, firsts == 0], _AT_TEXT_BEGIN)
        moved = _step(state, text.edited[tokens], text.factors(tokens, np.array(step), chance))
        size = moved.sum(axis=-1)
        state = np.where(going[:, None], moved / size[:, :, None], state)
        total += np.where(going, np.log(size), 0.0)
    then = np.minimum(firsts + _RECOVERED, anchor + 1) - least
    walked = total + np.log((state * settled[then]).sum(axis=-1)) + log_settled[then]
    return np.asarray(np.logaddexp.reduce(walked, axis=0))


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


Bits = U8

PASSAGE_NATS: Final = 3 * math.log(10)
"""Least evidence, its payload being known, of each of several passages of one mark."""

_LEAST_EDITED: Final = 0.01  # share of edited tokens that a limit reckons with in any passage


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One payload and where in the text it stands.

    Attributes:
        payload: Its bits.
        log_e: Natural log of the e-value of the statement that its passages carry a mark: that of
            the best window inside them, divided by how many such statements there are, so that it
            holds of all marks at once. Where the text is no longer than a window, or none of its
            windows reaches the level, the statement is about the whole text: its evidence.
        candidates: Payloads in question for this mark, strongest first, as of
            :class:`~pura.detect.decode.payloads.PayloadPosterior`.
        bit_posteriors: float64 [L_m], probability that each of its payload bits is 1.
        of_text: The steps of the whole text decide about its payload; else those of its passages.
        repeats: Payload of a stronger mark of which this may be a piece; None where there is none.
        marked: float64 [L], posterior that the token belongs to a passage of this mark.
        log_ratio: float64 [L], what each token adds to the log likelihood ratio of this payload.
        extents: Where each passage stands, in order, with intervals for its limits.
    """

    payload: Payload
    log_e: float
    candidates: tuple[Candidate, ...]
    bit_posteriors: F64
    of_text: bool
    repeats: Payload | None
    marked: F64
    log_ratio: F64
    extents: tuple[Extent, ...]

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """First and last token (inclusive) of each passage."""
        return tuple((one.first, one.last) for one in self.extents)

    @property
    def log10_e(self) -> float:
        """``log10`` of the e-value of its statement."""
        return float(self.log_e / np.log(10))


def places_of(
    text: ChainText,
    payloads: Bits,
    spans: Sequence[Sequence[tuple[int, int]]] | None,
    member: int,
    profile: Profile,
    checkpoint: Callable[[], None],
    *,
    short: bool = False,
) -> list[tuple[F64, F64, tuple[Extent, ...]]]:
    """Return where marks begin and end, token by token.

    One chain runs over the text; around the passages of a mark it reads the mark's payload, up to
    the middle between them and those of another mark. So many marks cost what one does.

    Args:
        text: The text.
        payloads: uint8 [K, L_m], all different.
        spans: First and last token of the passages that are known of each, apart from each other;
            None where there is one payload and nothing is known.
        member: Which chain.
        profile: The profile.
        checkpoint: Called often; may raise.
        short: The one payload is a finding: where no stretch is as long as passages are, it stands
            in a shorter one, else in the whole text.

    Returns:
        Of each: ``marked``, ``log_ratio`` and ``extents`` of its :class:`Mark`.
    """
    owner = np.zeros(text.tokens, np.int64) if spans is None else _owners(text.tokens, spans)
    words = codeword_windows(encode_rows(payloads, profile))
    tokens = np.flatnonzero(text.row >= 0)
    rows = text.row[tokens]
    read = words[owner[tokens], text.index[rows]]
    picked = np.ones(text.windows.shape[:2])
    picked[:, rows] = text.windows[:, rows, read]
    of_owner = replace(text, windows=np.broadcast_to(picked[:, :, None], text.windows.shape))
    (inside_any,), (log_ratio,) = chain.posteriors(
        of_owner, words[:1], np.array([member]), checkpoint
    )
    ranges: list[tuple[int, int, int]] = []
    for number in range(len(payloads)):
        there = runs(np.where(owner == number, inside_any, 0.0), text.model.least_tokens)
        if short and not there:
            there = runs(inside_any, 1) or ((0, text.tokens - 1),)
        own = there if spans is None else spans[number]
        stated = [r for r in there if any(r[0] <= b and a <= r[1] for a, b in own)]
        ranges += [(*one, number) for one in stated or own]
    extents = _extents(text, words, sorted(ranges), member, checkpoint)
    out = []
    for number in range(len(payloads)):
        inside = np.zeros(text.tokens, dtype=bool)
        for one in extents[number]:
            inside[one.first : one.last + 1] = True
        marked = np.where(owner == number, inside_any, 0.0)
        marked = np.where(inside, marked, np.minimum(marked, 0.5))
        out.append((marked, np.where(owner == number, log_ratio, 0.0), tuple(extents[number])))
    return out


def _extents(
    text: ChainText,
    words: I64,
    ranges: Sequence[tuple[int, int, int]],
    member: int,
    checkpoint: Callable[[], None],
) -> list[list[Extent]]:
    """Return the limits of passages, by mark.

    Of the passages of one mark those are left out that say too little for themselves: next to a
    passage, text that is hardly counted stays probable by the chain's expectation alone.

    Args:
        text: The text.
        words: int64 [K, n], window indices of the codewords.
        ranges: First and last token of each passage and the number of its mark, in order.
        member: Which chain.
        checkpoint: Called often; may raise.
    """
    read = [passage_text(text, word, member) for word in words]
    gains: list[list[float]] = [[] for _ in words]
    out: list[list[Extent]] = [[] for _ in words]
    taken = -1
    for at, (first, last, number) in enumerate(ranges):
        most = ranges[at + 1][0] - 1 if at + 1 < len(ranges) else text.tokens - 1
        seen, first = read[number], max(first, taken + 1)
        if not seen.counted[first : last + 1].any():
            continue
        one = extent_of(seen, (first, last), (taken + 1, max(most, last)), checkpoint)
        out[number].append(one)
        gains[number].append(seen.gain(one.first, one.last))
        taken = one.last
    for number, own in enumerate(out):
        least = min(PASSAGE_NATS, max(gains[number], default=0.0))
        out[number] = [e for e, gain in zip(own, gains[number], strict=True) if gain >= least]
    return out


def passage_text(text: ChainText, word: I64, member: int) -> PassageText:
    """Return what a text says of one payload, token by token.

    Args:
        text: The text.
        word: int64 [n], window indices of the payload's codeword.
        member: Which chain.
    """
    clean = int(text.table[member])
    tokens = np.flatnonzero(text.row >= 0)
    rows = text.row[tokens]
    densities = np.ones((2, text.tokens))
    for place, row in enumerate((clean + text.windows.shape[0] // 2, clean)):
        densities[place, tokens] = text.windows[row, rows, word[text.index[rows]]]
    edited = text.edits(np.array([member]), 0, text.tokens)[:, 0, 0]
    return PassageText(
        young=densities[0],
        clean=densities[1],
        counted=text.row >= 0,
        edited=np.maximum(edited, _LEAST_EDITED),
        context_window=text.context_window,
    )


def _owners(tokens: int, spans: Sequence[Sequence[tuple[int, int]]]) -> I64:
    """Return whose payload is read at each token; int64 [L]."""
    placed = sorted((first, last, k) for k, own in enumerate(spans) for first, last in own)
    out = np.full(tokens, placed[0][2], dtype=np.int64)
    for (_, before, _), (first, _, number) in itertools.pairwise(placed):
        out[(before + first + 1) // 2 :] = number
    return out


def runs(marked: F64, least: int) -> tuple[tuple[int, int], ...]:
    """Return the stretches whose posterior is above one half, first and last token.

    Shorter ones than ``least`` tokens are left out, and so are shorter gaps between two.
    """
    inside = np.concatenate([[False], marked > 0.5, [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    joined: list[list[int]] = []
    for first, after in edges.reshape(-1, 2).tolist():
        if joined and first - joined[-1][1] < least:
            joined[-1][1] = after
        else:
            joined.append([first, after])
    return tuple((first, after - 1) for first, after in joined if after - first >= least)
