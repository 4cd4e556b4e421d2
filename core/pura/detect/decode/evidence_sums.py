"""The evidence of a text before a payload is chosen: grid, list and issued payloads, added up.

evidence.md §2, §3. The whole text is weighed by the trellis at every point of the grid; a list
of payloads by the chains; issued payloads by what they weigh beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pura.base.progress import never_cancelled
from pura.detect.decode import chain
from pura.detect.decode.chain import ChainText
from pura.detect.decode.likelihood import (
    GridPoint,
    Intervals,
    log_likelihoods,
    step_likelihoods,
    window_likelihoods,
)
from pura.detect.decode.limited import Issuable
from pura.detect.decode.passages import log_anywhere
from pura.detect.decode.payloads import StepWeights
from pura.detect.decode.prior import (
    KEPT,
    LISTED,
    Issued,
    IssuedScores,
    PayloadPrior,
    kept_payloads,
    log_prior,
    score_issued,
    strongest_payloads,
    window_payloads,
)
from pura.detect.decode.trellis import (
    codeword_scores,
    codeword_windows,
    make_trellis,
    window_potentials,
)
from pura.scheme import F64, I64, U8
from pura.scheme.profile import Profile, encode_rows

Bits = U8

NAMED: Final = 32
"""Payloads that each strong member of the grid names."""

_LEAST_WEIGHT: Final = 0.02  # grid members below this share name no candidates of their own
_MOST_MEMBERS: Final = 3
_HOPELESS_NATS: Final = -6.0  # share in the evidence of one among many keys, at a first look
_BLOCK: Final = 8192  # steps whose densities are worked out at a time
_LONG: Final = 1024  # steps from which on windows name most of the list
_LOOK: Final = 0.3  # share of the grid members that windows are looked at with
_NO_USE_NATS: Final = 20.0  # so far behind the best, a payload adds nothing to the sum

_SETTLED: Final = math.log(0.99)
"""Log share of the evidence from which on a payload may be stated as a fact."""

_LONGER_LIST_NATS: Final = 3 * math.log(10)
"""Evidence from which on a payload in doubt is held against a longer list.

Below it no payload is shown. A text without a mark gets here once in 1,000 at most, so the longer
list costs it nothing.
"""

_NAMED_IN_DOUBT: Final = 200
"""Payloads that each strong member names for the longer list.

Chosen on half of the texts of study.md §14. Of payloads with posteriors of 0.3 to 0.9 in short
texts of `spc` that were edited much, the first list has 92 right on average and 59 are; with 64 a
member these are 85 and 67, with 128 81 and 66, with 200 78 and 64; beyond, nothing changes.
"""


@dataclass(frozen=True, kw_only=True)
class EvidenceSums:
    """The evidence before a payload is chosen.

    Attributes:
        seen: The text.
        chain_text: The same for the chains.
        table: int64 [G], row of the windows that each grid point reads.
        eta: float64 [G, S], probability that the step is desynchronised.
        anywhere: float64 [S, 8], log of the one density that a window of the text is looked at
            with: the verifier being as badly off at each step as where a passage begins.
        phi: ``φ``, float64 [G, n, 8].
        prior: What payloads weigh without a register.
        log_sums: float64 [G], log of the sum over payloads that weigh alike.
        log_weighted: float64 [G], the same by what they weigh.
        named: uint8 [N, L_m], payloads that the whole text names.
        listed: uint8 [C, L_m], payloads that the chains weighed, strongest first.
        log_listed: float64 [C], log likelihood ratio of each, mean over the chains.
        member: int64 [C], the chain that fits each best.
        look: The window that a first look ranks highest; None in a text of one window.
        issued: What the text says of the issued payloads; None without them.
    """

    seen: Intervals
    chain_text: ChainText
    anywhere: F64
    table: I64
    eta: F64
    phi: F64
    prior: PayloadPrior
    log_sums: F64
    log_weighted: F64
    named: Bits
    listed: Bits
    log_listed: F64
    member: I64
    look: tuple[int, float] | None
    issued: IssuedScores | None

    @property
    def usable(self) -> int:
        """``S``, steps that carry bits."""
        return int(self.chain_text.index.size)

    @property
    def log_e_grid(self) -> F64:
        """float64 [G], natural log of the mean likelihood ratio at each grid point."""
        return self.log_weighted - self.prior.log_all

    def weights_of(self, rows: I64, near: Bits) -> StepWeights:
        """Return what some steps alone say of payloads.

        Args:
            rows: int64 [R], the steps.
            near: uint8 [L_m], a payload that fits them well.
        """
        eta, text, profile = self.eta[:, rows, None], self.chain_text, self.seen.profile
        log_f = np.log((1 - eta) * text.windows[self.table[:, None], rows[None, :]] + eta)
        return StepWeights(
            phi=window_potentials(log_f, text.index[rows], profile.codeword_length),
            near=near,
            prior=self.prior,
            profile=profile,
            issued=None if self.issued is None else self.issued.issued,
        )

    def log_prior(self, bits: Bits) -> F64:
        """Return what payloads weigh before the text is seen; uint8 [C, L_m] to [C]."""
        issued = None if self.issued is None else self.issued.issued
        return log_prior(bits, self.prior, issued)

    @property
    def alike(self) -> tuple[float, float]:
        """Natural logs of the two halves, all payloads being alike: whole text, list."""
        if not self.usable:
            return 0.0, 0.0
        grid = self.log_sums - self.prior.log_all
        whole = np.logaddexp.reduce(grid) - np.log(grid.size)
        listed = np.logaddexp.reduce(self.log_listed) - self.prior.log_all
        return float(whole), float(listed)

    @property
    def unissued(self) -> tuple[float, float]:
        """The same by what payloads weigh without a register: within limits, or alike."""
        if self.prior.issuable is None or not self.usable:
            return self.alike
        whole = np.logaddexp.reduce(self.log_e_grid) - np.log(self.log_e_grid.size)
        listed = np.logaddexp.reduce(self.log_listed + self.prior.log_weight(self.listed))
        return float(whole), float(listed)

    @property
    def of_issued(self) -> tuple[float, float] | None:
        """The same of the issued payloads alone; None without them."""
        if self.issued is None:
            return None
        if not self.usable:
            return 0.0, 0.0
        held = self.log_listed[self.issued.issued.holds(self.listed)]
        listed = np.logaddexp.reduce(held) - np.log(len(self.issued.issued))
        return self.issued.log_mean, float(listed)

    @property
    def log_e_whole(self) -> float:
        """Natural log of the e-value of the text as marked from end to end."""
        return self._mixed(0)

    @property
    def log_e_list(self) -> float:
        """Natural log of that of passages and edits."""
        return self._mixed(1)

    @property
    def log_e(self) -> float:
        """Natural log of the e-value, the mean of the two."""
        return mean_of_halves(self.log_e_whole, self.log_e_list)

    def _mixed(self, half: int) -> float:
        of_issued = self.of_issued
        if self.issued is None or of_issued is None:
            return self.unissued[half]
        weight = self.issued.issued.weight
        return float(
            np.logaddexp(np.log1p(-weight) + self.unissued[half], np.log(weight) + of_issued[half])
        )

    def log_ratios(self, bits: Bits) -> F64:
        """Return the log likelihood ratio of payloads, mean of both halves; [C, L_m] to [C]."""
        return log_ratios(bits, self.phi, self.listed, self.log_listed, self.seen.profile)

    def log_shares(self, bits: Bits) -> F64:
        """Return the share of payloads in the e-value, natural log; uint8 [C, L_m] to [C]."""
        return np.asarray(self.log_ratios(bits) + self.log_prior(bits))

    def best_chain(self, bits: Bits, checkpoint: Callable[[], None]) -> I64:
        """Return the chain that fits a payload best; uint8 [L_m] to int64 [1]."""
        same = np.flatnonzero((self.listed == bits).all(axis=1))
        if same.size:
            return self.member[same[:1]]
        _, _, member = _score(
            self.chain_text, bits[None], np.zeros(1), self.seen.profile, checkpoint
        )
        return member


def mean_of_halves(whole: float, listed: float) -> float:
    """Return the natural log of the e-value that has these halves."""
    return float(np.logaddexp(whole, listed) - np.log(2))


def log_ratios(bits: Bits, phi: F64, listed: Bits, log_listed: F64, profile: Profile) -> F64:
    """Return the log likelihood ratio of payloads, mean of both halves; uint8 [C, L_m] to [C]."""
    scores = codeword_scores(phi, encode_rows(bits, profile))
    whole = np.logaddexp.reduce(scores, axis=0) - np.log(phi.shape[0])
    rows = {row.tobytes(): float(log_listed[i]) for i, row in enumerate(listed)}
    chained = np.array([rows.get(row.tobytes(), -np.inf) for row in np.ascontiguousarray(bits)])
    return np.asarray(np.logaddexp(whole, chained) - np.log(2))


def _densities(
    seen: Intervals,
    grid: tuple[GridPoint, ...],
    tables: list[str],
    checkpoint: Callable[[], None],
) -> tuple[F64, F64, F64, F64, F64]:
    """Work out the densities of all steps, a block after the other.

    Returns:
        ``windows`` [2T, S, 8] of each table, of the whole text and then of passages; ``anywhere``
        [S, 8]; ``looked`` [S, 8], the mean over the members that are looked with; ``eta`` [G, S];
        ``phi`` [G, n, 8].
    """
    count, length = len(seen.schedule), seen.profile.codeword_length
    phi = np.zeros((len(grid), length, 8))
    windows = np.empty((2 * len(tables), count, 8))
    looks = _looks(grid)
    looked, eta = np.empty((count, 8)), np.empty((len(grid), count))
    anywhere = np.empty((count, 8))
    for first in range(0, count, _BLOCK):
        checkpoint()
        rows = slice(first, first + _BLOCK)
        steps = step_likelihoods(seen, grid, rows=rows, tables=tables, passages=True)
        windows[:, rows] = window_likelihoods(steps)
        eta[:, rows] = steps.eta
        anywhere[rows] = log_anywhere(windows[len(tables) :, rows])
        log_f = log_likelihoods(steps, windows[:, rows])
        phi += window_potentials(log_f, seen.schedule.index[rows], length)
        looked[rows] = np.logaddexp.reduce(log_f[looks], axis=0) - np.log(len(looks))
    return windows, anywhere, looked, eta, phi


def _chain_text(seen: Intervals, windows: F64, tables: list[str]) -> ChainText:
    """Return the text as the chains read it."""
    schedule, model, profile = seen.schedule, seen.model, seen.profile
    chains = model.passages.members[seen.prompt_known]
    row = np.full(seen.tokens, -1, dtype=np.int64)
    row[schedule.token] = np.arange(len(schedule))
    return ChainText(
        windows=windows,
        index=schedule.index,
        row=row,
        probability=seen.probability,
        members=chains,
        table=np.array([tables.index(p.table) for p in chains], dtype=np.int64),
        model=model.passages,
        context_window=profile.context_window,
        vocab_size=profile.vocab_size,
        whole=seen.text_tokens,
    )


def sum_evidence(
    seen: Intervals,
    *,
    issuable: Issuable | None = None,
    issued: Issued | None = None,
    one_of_many: bool = False,
    named_each: int = NAMED,
    checkpoint: Callable[[], None] = never_cancelled,
) -> EvidenceSums:
    """Add up the evidence of a text; arguments as of :func:`pura.detect.decode.exact.decide`.

    Each strong member of the grid names ``named_each`` payloads.
    """
    profile, count = seen.profile, len(seen.schedule)
    grid = seen.model.grids[seen.prompt_known]
    chains = seen.model.passages.members[seen.prompt_known]
    tables = list(dict.fromkeys([*(p.table for p in grid), *(p.table for p in chains)]))
    windows, anywhere, looked, eta, phi = _densities(seen, grid, tables, checkpoint)
    prior = PayloadPrior(trellis=make_trellis(profile), issuable=issuable)
    # Without a step every payload weighs 1: exactly, not up to rounding.
    log_sums = prior.trellis.log_sum(phi) if count else np.full(len(grid), prior.log_all)
    log_weighted = prior.weighted(log_sums, phi) if count else log_sums
    text = _chain_text(seen, windows, tables)
    named = _named(prior, phi, log_weighted, named_each)
    listed, log_listed, member = named, np.zeros(len(named)), np.zeros(len(named), np.int64)
    pool = strongest_payloads(phi, named, prior, profile, LISTED if count <= _LONG else LISTED // 4)
    scores = look = None
    if issued is not None:
        scores = score_issued(issued, phi, looked, text.index, profile, checkpoint)
    if count:
        others, look = window_payloads(looked, text.index, prior, profile, pool, checkpoint)
        chosen = [pool[: LISTED - min(len(others), LISTED // 2)], others]
        chosen += [] if scores is None else [scores.strongest]
        pool = np.unique(np.concatenate(chosen), axis=0)
        least = _HOPELESS_NATS if one_of_many else -math.inf
        weights = log_prior(pool, prior, issued)
        listed, log_listed, member = _score(text, pool, weights, profile, checkpoint, least)
    sums = EvidenceSums(
        seen=seen,
        chain_text=text,
        anywhere=anywhere,
        table=np.array([tables.index(p.table) for p in grid], dtype=np.int64),
        eta=eta,
        phi=phi,
        prior=prior,
        log_sums=log_sums,
        log_weighted=log_weighted,
        named=named,
        listed=listed,
        log_listed=log_listed,
        member=member,
        look=look,
        issued=scores,
    )
    return _with_longer_list(sums, checkpoint) if _in_doubt(sums) else sums


def payload_ratios(
    seen: Intervals, bits: Bits, checkpoint: Callable[[], None] = never_cancelled
) -> F64:
    """Return the log likelihood ratios of a few payloads, mean of both halves, and nothing else.

    It costs a fraction of :func:`sum_evidence`. For a payload that was fixed before the phases the
    ratio has mean one (evidence.md §3).

    Args:
        seen: The text.
        bits: uint8 [C, L_m].
        checkpoint: Called often; may raise.

    Returns:
        float64 [C], nats; 0 without a step that carries bits.
    """
    profile = seen.profile
    if not len(seen.schedule):
        return np.zeros(len(bits))
    grid = seen.model.grids[seen.prompt_known]
    chains = seen.model.passages.members[seen.prompt_known]
    tables = list(dict.fromkeys([*(p.table for p in grid), *(p.table for p in chains)]))
    windows, _, _, _, phi = _densities(seen, grid, tables, checkpoint)
    text, words = _chain_text(seen, windows, tables), encode_rows(bits, profile)
    every = np.arange(len(text.members))
    scores = chain.log_likelihoods(text, codeword_windows(words), every, checkpoint)
    chained = np.logaddexp.reduce(scores, axis=0) - np.log(every.size)
    whole = np.logaddexp.reduce(codeword_scores(phi, words), axis=0) - np.log(len(grid))
    return np.asarray(np.logaddexp(whole, chained) - np.log(2))


def _in_doubt(sums: EvidenceSums) -> bool:
    """Return whether the evidence is there, and the first list leaves its payload in doubt.

    Of a payload that is not listed only the whole text counts. So a short list gives the payloads
    on it too large a share, which matters where none of them stands out. In long texts one does,
    and there the longer list would cost seconds.
    """
    if not 0 < sums.usable <= _LONG or sums.log_e < _LONGER_LIST_NATS:
        return False
    return float(sums.log_shares(sums.listed).max()) - sums.log_e < _SETTLED


def _with_longer_list(sums: EvidenceSums, checkpoint: Callable[[], None]) -> EvidenceSums:
    """Weigh many more payloads by the chains; the bound holds for any list (evidence.md §3)."""
    named = _named(sums.prior, sums.phi, sums.log_weighted, _NAMED_IN_DOUBT)
    stored = {bits.tobytes() for bits in sums.listed}
    further = np.array([bits for bits in named if bits.tobytes() not in stored], dtype=np.uint8)
    if not len(further):
        return sums
    every = np.arange(len(sums.chain_text.members))
    words = codeword_windows(encode_rows(further, sums.seen.profile))
    scores = chain.log_likelihoods(sums.chain_text, words, every, checkpoint)
    listed = np.concatenate([sums.listed, further])
    log_ratio = np.logaddexp.reduce(scores, axis=0) - np.log(every.size)
    log_listed = np.concatenate([sums.log_listed, log_ratio])
    order = np.argsort(-(log_listed + sums.log_prior(listed)), kind="stable")
    return replace(
        sums,
        listed=listed[order],
        log_listed=log_listed[order],
        member=np.concatenate([sums.member, scores.argmax(axis=0)])[order],
    )


def _looks(grid: tuple[GridPoint, ...]) -> list[int]:
    """Return the grid members whose mean windows are looked at with, one of each table.

    After other text the first tokens of a passage are read no better than by a proxy.
    """
    return [
        min(
            (g for g, point in enumerate(grid) if point.table == table),
            key=lambda g: (grid[g].family != "constant", abs(grid[g].share - _LOOK), g),
        )
        for table in dict.fromkeys(point.table for point in grid)
    ]


def _first_members(text: ChainText) -> I64:
    """Return the chains of the first look: of the first table, few edits and many."""
    chosen = [
        m
        for m, point in enumerate(text.members)
        if point.family == "constant" and point.table == text.members[0].table
    ]
    chosen = [m for m in chosen if text.members[m].mean_passage == text.members[0].mean_passage]
    return np.array([chosen[len(chosen) // 3], chosen[-1]] if chosen else [0], dtype=np.int64)


def _score(
    text: ChainText,
    pool: Bits,
    prior: F64,
    profile: Profile,
    checkpoint: Callable[[], None],
    least: float = -math.inf,
) -> tuple[Bits, F64, I64]:
    """Weigh payloads by the chains; those that fall behind at a first look are left out.

    Where none reaches ``least`` at the first look, its chains alone are counted, and the others as
    nothing: no more than the mean over all of them, so that the bound of evidence.md holds.

    Args:
        text: The text.
        pool: uint8 [C, L_m].
        prior: float64 [C], natural log of what each weighs before the text is seen.
        profile: The profile.
        checkpoint: Called often; may raise.
        least: Natural log of a share in the evidence.

    Returns:
        The payloads, strongest first, their log likelihood ratios, mean over the chains, and the
        member that fits each of them best.
    """
    words, every = codeword_windows(encode_rows(pool, profile)), np.arange(len(text.members))
    walked = every
    if len(pool) > KEPT:
        looked = chain.log_likelihoods(text, words, _first_members(text), checkpoint)
        # Of use is what adds to the sum, or what may be a further mark.
        first = looked.max(axis=0) + prior
        floor = min(0.0, float(first.max()) - _NO_USE_NATS)
        kept = kept_payloads(pool, first, floor, _NO_USE_NATS)
        pool, words, prior = pool[kept], words[kept], prior[kept]
        if first.max() < least:
            walked, scores = _first_members(text), looked[:, kept]
    if walked is every:
        scores = chain.log_likelihoods(text, words, every, checkpoint)
    mean = np.logaddexp.reduce(scores, axis=0) - np.log(every.size)
    order = np.argsort(-(mean + prior), kind="stable")
    return pool[order], mean[order], walked[scores.argmax(axis=0)[order]]


def strong_members(log_sums: F64) -> I64:
    """Return the grid points that carry weight, strongest first; at least one."""
    weight = np.exp(log_sums - np.logaddexp.reduce(log_sums))
    order = np.argsort(-weight, kind="stable")[:_MOST_MEMBERS]
    return np.asarray(order[(weight[order] >= _LEAST_WEIGHT) | (np.arange(order.size) == 0)])


def _named(prior: PayloadPrior, phi: F64, log_sums: F64, count: int) -> Bits:
    """Return the payloads that any strong grid point names; uint8 [C, L_m], all different."""
    rows: dict[bytes, Bits] = {}
    for g in strong_members(log_sums):
        for bits in prior.k_best(phi[g], count):
            rows.setdefault(bits.tobytes(), bits)
    return np.stack(list(rows.values()))
