"""The marking engine: rows that take one token a step.

Tokens are drawn by keyed inverse transform sampling (paper, "Embedding").
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.base.errors import GenerationError
from pura.model.reading import distribution_torch, is_truncated
from pura.scheme import F64, I64, Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of

if TYPE_CHECKING:
    import torch


Seed = int | Sequence[int] | None


class MarkedRow:
    """One text on its way: decides which point of the circle picks its next token.

    Args:
        key: The secret key; None for an unmarked text.
        payload: What the text shall carry; None for an unmarked text.
        profile: The profile.
        rng: Ordinary randomness for the steps that carry nothing. Never derived from the key.

    Attributes:
        key: As given. Hazard: a secret.
        profile: As given.
        tokens: What the text consists of so far.

    Raises:
        PayloadError: The payload does not fit the profile.
        GenerationError: A payload without a key.
    """

    def __init__(
        self,
        key: SecretKey | None,
        payload: Payload | None,
        profile: Profile,
        rng: np.random.Generator,
    ) -> None:
        self.key = key
        self.profile = profile
        self.tokens: list[int] = []
        self._rng = rng
        self._spent: list[float | None] = []  # by token: the ordinary randomness that it took
        self._returned: deque[float] = deque()  # taken back with its token; the next to be spent
        self._schedule: Scheduler | None = None
        self._code: list[int] = []
        if payload is None:
            return
        if key is None:
            raise GenerationError("audit.no-key")
        self._code = encode(payload, profile).tolist()
        self._schedule = Scheduler(key, profile)

    def point(self, entropy_bits: float) -> tuple[float, int]:
        """Return the point in [0, 1) that picks the next token, and the bits that it carries.

        Args:
            entropy_bits: Of the next-token distribution.
        """
        if self._schedule is not None:
            step = self._schedule.step(entropy_bits)
            if step.arity:
                self._spent.append(None)
                length = len(self._code)
                bits = [self._code[(step.index + j) % length] for j in range(step.arity)]
                return anchor(step, sector_of(bits)), step.arity
        point = self._returned.popleft() if self._returned else float(self._rng.random())
        self._spent.append(point)
        return point, 0

    def push(self, token_id: int) -> None:
        """Tell the row which token it got."""
        self.tokens.append(token_id)
        if self._schedule is not None:
            self._schedule.push(token_id)

    def resume(self, tokens: Sequence[int], rng: np.random.Generator | None = None) -> None:
        """Go on from these tokens; every context in them counts as used."""
        self.tokens = []
        self._rng = rng or self._rng
        self._spent = [None] * len(tokens)
        self._returned.clear()
        if self._schedule is not None:
            assert self.key is not None  # a row without a key has no schedule
            self._schedule = Scheduler(self.key, self.profile)
        for token_id in tokens:
            if self._schedule is not None:
                self._schedule.step(math.inf)
            self.push(int(token_id))

    def rewind(self, length: int) -> None:
        """Take back all tokens behind the first ones, as if they had never been drawn."""
        self._returned.extendleft(p for p in reversed(self._spent[length:]) if p is not None)
        del self.tokens[length:], self._spent[length:]
        if self._schedule is not None:
            self._schedule.rewind(self.tokens)


def rngs_for(seed: Seed, rows: int) -> list[np.random.Generator]:
    """Return one generator a row.

    Args:
        seed: One number: row ``i`` takes its child ``i``, however the rows are cut into batches.
            A list: one number a row, and a row is the same as alone with that number. None:
            the operating system's randomness.
        rows: How many.

    Raises:
        GenerationError: The list is not of that length, or a seed is negative.
    """
    seeds = [] if seed is None else [seed] if isinstance(seed, int) else list(seed)
    if any(s < 0 for s in seeds):
        raise GenerationError("number.least", name="seed", least=0)
    if seed is None or isinstance(seed, int):
        root = np.random.SeedSequence(seed).entropy
        children = [np.random.SeedSequence(root, spawn_key=(row,)) for row in range(rows)]
    else:
        check_count(len(seeds), rows, "seed")
        children = [np.random.SeedSequence(s, spawn_key=(0,)) for s in seeds]
    return [np.random.default_rng(child) for child in children]


def check_count(given: int, rows: int, name: str) -> None:
    """Refuse a list that has not one value a row.

    Raises:
        GenerationError: Names what there is too much or too little of.
    """
    if given != rows:
        raise GenerationError("generate.rows", rows=rows, given=given, name=name)


Floats = F64
Ids = I64

# exp(-800) is exactly 0 in float64, so cutting here changes nothing and keeps 0 · log 0 finite.
_FLOOR: Final = -800.0


def extend_order(order: Ids, width: int) -> Ids:
    """Give the padding rows of a model their place behind the secret order.

    Args:
        order: int64 [V], the secret order.
        width: Logits per row, at least ``V``.

    Returns:
        int64 [width]: ``order``, then the ids ``V … width-1`` in natural order.

    Raises:
        ValueError: The rows are shorter than the order.
    """
    if width < order.size:
        raise ValueError("the model has fewer logits than the order has tokens")
    return np.concatenate([order, np.arange(order.size, width, dtype=np.int64)])


def entropy_bits(probabilities: Floats) -> float:
    """Return the Shannon entropy in bits; 0 · log 0 counts as 0."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log2(positive)).sum())


def inverse_transform(probabilities: Floats, order: Ids, point: float) -> int:
    """Return the token whose interval in the secret order holds a point.

    Args:
        probabilities: float64 [V], by token id.
        order: int64 [V], token id at each rank.
        point: In [0, 1).

    Returns:
        The token id; always one of positive probability.
    """
    ordered = probabilities[order]
    cdf = np.cumsum(ordered)
    rank = int(np.searchsorted(cdf, point, side="right"))
    if rank == cdf.size:  # rounding left the last value of the CDF at or below the point
        rank = int(np.flatnonzero(ordered > 0)[-1])
    return int(order[rank])


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedDistributions:
    """Next-token distributions, laid out along the circle.

    Attributes:
        probabilities: float64 [B, V], ``π`` by rank.
        cdf: float64 [B, V], its cumulative sums.
        entropy_bits: float64 [B]; NaN where the logits hold no distribution.
    """

    probabilities: torch.Tensor
    cdf: torch.Tensor
    entropy_bits: torch.Tensor

    def line(self, at: int) -> RankedDistributions:
        """Return one of them, as a batch of one."""
        one = slice(at, at + 1)
        return RankedDistributions(
            probabilities=self.probabilities[one],
            cdf=self.cdf[one],
            entropy_bits=self.entropy_bits[one],
        )


def lay_out(
    logits: torch.Tensor, profile: Profile, buffer: torch.Tensor | None = None
) -> RankedDistributions:
    """Return the distributions of some logits.

    Args:
        logits: float [B, V] by rank, on a device that knows float64.
        profile: Names temperature, top-k and top-p.
        buffer: float64 [2, B, V] to work in, if it is used again and again: fresh memory of that
            size costs as much as the work. What is returned lies in it.
    """
    import torch

    if is_truncated(profile.top_k, profile.top_p):
        weights = distribution_torch(
            logits, temperature=profile.temperature, top_k=profile.top_k, top_p=profile.top_p
        )
        entropy = torch.special.entr(weights).sum(dim=1) / math.log(2.0)
        cdf = torch.cumsum(weights, dim=1)
        return RankedDistributions(probabilities=weights, cdf=cdf, entropy_bits=entropy)
    # One exponential a token and no logarithm: H = log Z - E[x].
    first, second = (None, None) if buffer is None else buffer
    scaled = logits.to(torch.float64, copy=True) if first is None else first.copy_(logits)
    if profile.temperature != 1.0:
        scaled.div_(profile.temperature)
    scaled.sub_(scaled.amax(dim=1, keepdim=True)).clamp_(min=_FLOOR)
    weights = torch.exp(scaled, out=second)
    total = weights.sum(dim=1)
    mean = torch.linalg.vecdot(weights, scaled) / total
    entropy = (total.log() - mean).div_(math.log(2.0)).clamp_(min=0.0)
    weights.div_(total[:, None])
    cdf = torch.cumsum(weights, dim=1, out=scaled)
    return RankedDistributions(probabilities=weights, cdf=cdf, entropy_bits=entropy)


def pick(ordered: RankedDistributions, points: torch.Tensor) -> torch.Tensor:
    """Return the rank of each row whose interval holds the row's point.

    Args:
        ordered: From :func:`lay_out`.
        points: float64 [B], in [0, 1).

    Returns:
        int64 [B], ranks of positive probability.
    """
    import torch

    rank = torch.searchsorted(ordered.cdf, points[:, None], right=True)
    width = ordered.cdf.shape[1]
    if bool((rank == width).any()):  # rounding left the end of a CDF at or below the point
        positive = ordered.probabilities > 0
        last = width - 1 - positive.flip(1).to(torch.uint8).argmax(dim=1, keepdim=True)
        rank = torch.minimum(rank, last)
    return rank[:, 0]


_ORDERS_KEPT: Final = 8  # secret orders that are not in use any more; each is 8 bytes a token
_CACHED: Final = 1 << 18  # probabilities, 8 bytes each


@dataclass(frozen=True, kw_only=True)
class StepOutcome:
    """The outcome of one step, an entry for every row of the logits.

    Attributes:
        tokens: int64 [B]; 0 where no row stood, -1 where the logits hold NaN or are all -inf:
            such a row has not moved.
        entropy_bits: float64 [B]; 0 where no row stood.
        arity: int64 [B], bits carried, 0 … 3.
    """

    tokens: I64
    entropy_bits: F64
    arity: I64


class MarkingEngine:
    """Chooses the next token of every row that runs.

    Each row has its own key, payload, profile, history and randomness, so a text is marked as if it
    were generated alone. Not for several threads at once.
    """

    def __init__(self) -> None:
        self._rows: dict[int, MarkedRow] = {}
        self._next = 0
        self._orders: dict[tuple[str | None, int, int, torch.device], torch.Tensor] = {}
        self._buffer: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        key: SecretKey | None,
        payload: Payload | None,
        profile: Profile,
        rng: np.random.Generator | None = None,
        *,
        tokens: Sequence[int] = (),
    ) -> int:
        """Begin a text.

        Args:
            key: The secret key; None for an unmarked text. Hazard: held until the row is removed.
            payload: What the text shall carry; None for an unmarked text.
            profile: The profile that the verifier will use.
            rng: Ordinary randomness for the steps that carry nothing, never derived from the key;
                None takes the operating system's.
            tokens: What there is of the text already; see :meth:`resume`.

        Returns:
            The row's number, never given twice.

        Raises:
            PayloadError: The payload does not fit the profile.
            GenerationError: A payload without a key.
        """
        row = MarkedRow(key, payload, profile, rng or np.random.default_rng())
        if len(tokens):
            row.resume(tokens)
        self._rows[self._next] = row
        self._next += 1
        return self._next - 1

    def remove(self, row: int) -> None:
        """End a text."""
        del self._rows[row]
        while len(self._orders) > len(self._rows) + _ORDERS_KEPT:
            del self._orders[next(iter(self._orders))]  # the one unused for the longest time

    def tokens(self, row: int) -> Sequence[int]:
        """Return the tokens of a row, first to last; to be read only."""
        return self._rows[row].tokens

    def resume(
        self, row: int, tokens: Sequence[int], rng: np.random.Generator | None = None
    ) -> None:
        """Set what a text consists of, where somebody else has decided about its tokens.

        Every context in it counts as used, so that no phase is taken twice; what was drawn with
        this row and is not in ``tokens`` is forgotten.

        Args:
            row: The text.
            tokens: All of its tokens.
            rng: Others from here on; None goes on with those that it has.
        """
        self._rows[row].resume(tokens, rng)

    def rewind(self, row: int, length: int) -> None:
        """Take back what was drawn behind the first ``length`` tokens of a row.

        The row goes on as if it had never been drawn: with the same contexts unused and the same
        ordinary randomness. So a row may run ahead on another model's logits, as a draft.
        """
        self._rows[row].rewind(length)

    def verify(self, row: int, logits: torch.Tensor, drafts: Sequence[int]) -> list[int]:
        """Choose the next tokens of a row, as far as a draft of them is right.

        Each is chosen as :meth:`step` would, so the text is the same as without drafts.

        Args:
            row: The text.
            logits: float [k + 1, V], behind the text and behind each token of the draft.
            drafts: [k] token ids.

        Returns:
            The accepted tokens of the draft, and the one chosen behind them: 1 to k + 1; fewer
            where a line holds no distribution.
        """
        import torch

        if logits.device.type == "mps":
            logits = logits.cpu()
        marked, lines = self._rows[row], range(logits.shape[0])
        order = self._order(marked, logits.shape[1], logits.device)
        by_rank = _permuted(logits, list(lines), [order for _ in lines])
        ordered = lay_out(by_rank, marked.profile)
        taken: list[int] = []
        for line, entropy in enumerate(ordered.entropy_bits.tolist()):
            if not math.isfinite(entropy):
                break
            point, _ = marked.point(entropy)
            points = torch.tensor([point], dtype=torch.float64, device=logits.device)
            token = int(order[pick(ordered.line(line), points)[0]])
            marked.push(token)
            taken.append(token)
            if line == len(drafts) or token != drafts[line]:
                break
        return taken

    def step(self, logits: torch.Tensor, rows: Sequence[int | None]) -> StepOutcome:
        """Choose the next token of every row.

        Args:
            logits: float [B, V] on any device.
            rows: Which row each line of the logits belongs to, all different; None: to none.
        """
        if logits.device.type == "mps":  # Apple's GPU knows no float64
            logits = logits.cpu()
        drawn = StepOutcome(
            tokens=np.zeros(len(rows), dtype=np.int64),
            entropy_bits=np.zeros(len(rows)),
            arity=np.zeros(len(rows), dtype=np.int64),
        )
        alike: dict[int, list[tuple[int, MarkedRow]]] = {}  # by profile
        for line, number in enumerate(rows):
            if number is not None:
                row = self._rows[number]
                alike.setdefault(id(row.profile), []).append((line, row))
        # On a processor as many lines at once as stay in its cache.
        on_cpu = logits.device.type == "cpu"
        most = max(1, _CACHED // logits.shape[1]) if on_cpu else max(1, len(rows))
        for together in alike.values():
            for at in range(0, len(together), most):
                self._draw(logits, together[at : at + most], drawn)
        return drawn

    def _draw(
        self, logits: torch.Tensor, some: list[tuple[int, MarkedRow]], drawn: StepOutcome
    ) -> None:
        """Draw for rows of one profile."""
        import torch

        lines = [line for line, _ in some]
        orders = [self._order(row, logits.shape[1], logits.device) for _, row in some]
        by_rank = _permuted(logits, lines, orders)
        ordered = lay_out(by_rank, some[0][1].profile, self._buffer_for(by_rank))
        entropy = ordered.entropy_bits.cpu().numpy()
        points = np.zeros(len(some))
        for at, (line, row) in enumerate(some):
            if np.isfinite(entropy[at]):
                drawn.entropy_bits[line] = entropy[at]
                points[at], drawn.arity[line] = row.point(float(entropy[at]))
        ranks = pick(ordered, torch.from_numpy(points).to(logits.device))
        if _shared(orders):
            tokens = orders[0][ranks].tolist()
        else:
            tokens = [int(order[rank]) for order, rank in zip(orders, ranks.tolist(), strict=True)]
        for at, (line, row) in enumerate(some):
            if np.isfinite(entropy[at]):
                drawn.tokens[line] = tokens[at]
                row.push(tokens[at])
            else:
                drawn.tokens[line] = -1

    def _buffer_for(self, logits: torch.Tensor) -> torch.Tensor | None:
        """Return memory to work in on a processor; elsewhere torch keeps what was freed."""
        import torch

        if logits.device.type != "cpu":
            return None
        if self._buffer is None or self._buffer.numel() < 2 * logits.numel():
            self._buffer = torch.empty(2 * logits.numel(), dtype=torch.float64)
        return self._buffer[: 2 * logits.numel()].view(2, *logits.shape)

    def _order(self, row: MarkedRow, width: int, device: torch.device) -> torch.Tensor:
        """Return the secret order of a row, and where it is not known yet, work it out."""
        import torch

        size = row.profile.vocab_size
        name = (None if row.key is None else row.key.fingerprint, size, width, device)
        order = self._orders.pop(name, None)
        if order is None:
            natural = np.arange(size) if row.key is None else row.key.vocabulary_order(size)
            order = torch.from_numpy(extend_order(natural, width)).to(device)
        self._orders[name] = order  # the latest is at the end
        return order


def _permuted(logits: torch.Tensor, lines: list[int], orders: list[torch.Tensor]) -> torch.Tensor:
    """Return some lines of the logits, each in its secret order; float [B, V]."""
    import torch

    if len(lines) > 1 and _shared(orders):
        whole = lines == list(range(logits.shape[0]))
        return torch.index_select(logits if whole else logits[lines], 1, orders[0])
    out = torch.empty((len(lines), logits.shape[1]), dtype=logits.dtype, device=logits.device)
    for at, (line, order) in enumerate(zip(lines, orders, strict=True)):
        torch.index_select(logits[line], 0, order, out=out[at])
    return out


def _shared(orders: list[torch.Tensor]) -> bool:
    return all(order is orders[0] for order in orders)
