"""Attackers without the key, who want a text of their own to carry somebody's mark.

Each writes with the service's own model, the strongest that he can have, and knows how the mark
works but for the key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from _forgery_texts import ACCOMPLICES, Answer, Setting, randomness
from pura.embed.engine import MarkingEngine
from pura.embed.generate import Feed, end_ids, prompt_ids
from pura.scheme import F64, I64, Profile

TARGETS: Final = (
    "Dear colleagues, the managers of the company have lied about the safety of the product and",
    "To the press: our company has known since last year that the new product",
    "I work for the bank and I can no longer keep silent. The board decided",
    "The report that the hospital does not want you to read shows that the patients",
    "The mayor and the city council have taken money from the company that",
    "Our director told us in a meeting on Monday that we should not",
    "Dear customers, the product that you have bought from us is dangerous, and",
    "According to an internal study, the company sold the data of its patients to",
    "The managers of the bank met in secret on Tuesday and agreed that",
    "Nobody at the company believes the annual report, because the numbers",
)
"""What the attacker wants to say; text ``i`` begins with target ``i`` modulo their number."""

LEAST_OWN: Final = 1e-3
"""The attacker's own tokens are at least so probable, or the text stops making sense."""


@dataclass(frozen=True, kw_only=True)
class Manner:
    """What an attacker gives up for a stronger mark.

    Attributes:
        least_probability: A copied token must be at least so probable in its new place.
        pull: Log odds by which a token is preferred that leads to a context whose continuation is
            known.
    """

    least_probability: float
    pull: float


MANNERS: Final = {
    # Tried on 64 answers, 20 texts of 320 tokens: without a pull 3 are attributed, with it 19.
    "readable": Manner(least_probability=2e-4, pull=3.0),
    # The text no longer makes sense, as nobody would want it who frames somebody.
    "greedy": Manner(least_probability=1e-5, pull=8.0),
}

MOST_REQUESTS: Final = 2000.0
"""Requests that an attacker spends on learning one token; by chance one of them fits."""


@dataclass(frozen=True, kw_only=True)
class Forged:
    """A text that an attacker put together.

    Attributes:
        ids: int64 [L].
        copied: Tokens that an attacker took from the service, of all.
        requests: Requests that it took on average beyond the collected answers.
    """

    ids: I64
    copied: int
    requests: float = 0.0


@dataclass(kw_only=True)
class Table:
    """What collected answers tell: the token that the service wrote behind a context.

    Attributes:
        window: Tokens of a context.
        continuations: Known tokens behind a context, as often as they were seen.
        openings: Tokens that complete a known context behind its other tokens.
    """

    window: int
    continuations: dict[tuple[int, ...], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )
    openings: dict[tuple[int, ...], set[int]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, answers: Sequence[I64], window: int) -> Table:
        """Read answers; a context that one answer repeats carries no mark and is left out."""
        table = cls(window=window)
        for ids in answers:
            tokens, seen = ids.tolist(), set()
            for place in range(window, len(tokens)):
                context = tuple(tokens[place - window : place])
                if context in seen:
                    continue
                seen.add(context)
                table.continuations[context].append(tokens[place])
                table.openings[context[:-1]].add(context[-1])
        return table


class _Draft:
    """A text on its way, and which contexts it has used up: a repeated one is not read."""

    def __init__(self, window: int, rng: np.random.Generator) -> None:
        self.tokens: list[int] = []
        self.window, self.rng = window, rng
        self.used: set[tuple[int, ...]] = set()
        self.copied = 0

    @property
    def context(self) -> tuple[int, ...] | None:
        """The last tokens, if they are enough and have not stood before."""
        context = tuple(self.tokens[-self.window :])
        return context if len(context) == self.window and context not in self.used else None

    def push(self, token: int) -> None:
        """Add a token."""
        if self.context is not None:
            self.used.add(self.context)
        self.tokens.append(token)

    def copy_from(self, table: Table, probability: F64, manner: Manner) -> int | None:
        """Return a token that the service wrote behind the last tokens, if one fits here."""
        context = self.context
        if context is None or context not in table.continuations:
            return None
        least = manner.least_probability
        known = [t for t in table.continuations[context] if probability[t] > least]
        if not known:
            return None
        weights = probability[known]
        return int(self.rng.choice(known, p=weights / weights.sum()))

    def write(
        self, probability: F64, table: Table | None = None, pull: Manner | None = None
    ) -> int:
        """Return a token of the attacker's own, one that leads to a known context if possible."""
        floor = min(LEAST_OWN, float(probability.max()))
        own = np.where(probability >= floor, probability, 0.0)
        if table is not None and pull is not None and len(self.tokens) >= self.window - 1:
            behind = tuple(self.tokens[len(self.tokens) - self.window + 1 :])
            for token in table.openings.get(behind, ()):
                fresh = (*behind, token) not in self.used
                if fresh and probability[token] > pull.least_probability:
                    own[token] = probability[token] * np.exp(pull.pull)
        return int(self.rng.choice(own.size, p=own / own.sum()))


class _Writer:
    """The attacker's model, at some texts at once."""

    def __init__(self, model: Any, profile: Profile, texts: int) -> None:
        starts = [prompt_ids(model, TARGETS[i % len(TARGETS)], profile) for i in range(texts)]
        self._feed, self._ends = Feed(model, starts), sorted(end_ids(model))

    def next(self, tokens: Sequence[int] | None) -> tuple[Any, F64]:
        """Return logits, float [B, V], and probabilities of the next token of every text."""
        import torch

        logits = self._feed.logits(None if tokens is None else np.array(tokens)).clone()
        logits[:, self._ends] = float("-inf")
        return logits, torch.softmax(logits.double(), dim=-1).numpy()


def replay(
    model: Any, setting: Setting, answers: Sequence[Answer], texts: int, tokens: int, manner: str
) -> list[Forged]:
    """Write texts in which the service's tokens follow the contexts that it wrote them behind."""
    profile, way = setting.profile(model), MANNERS[manner]
    table = Table.of([answer.ids for answer in answers], setting.context_window)
    labels = ("replay", setting.name, len(answers), tokens, manner)
    drafts = [_Draft(setting.context_window, randomness(*labels, i)) for i in range(texts)]
    writer, last = _Writer(model, profile, texts), None
    for _ in range(tokens):
        _, probability = writer.next(last)
        last = []
        for draft, row in zip(drafts, probability, strict=True):
            token = draft.copy_from(table, row, way)
            draft.copied += token is not None
            token = draft.write(row, table, way) if token is None else token
            draft.push(token)
            last.append(token)
    return [Forged(ids=np.array(d.tokens), copied=d.copied) for d in drafts]


def three_accounts(
    model: Any, setting: Setting, texts: int, tokens: int, request: int
) -> list[Forged]:
    """Write texts of which three accounts learn, token by token, what a fourth would have got.

    For the last tokens of his text an attacker asks, as each of three customers, for an answer of
    ``request`` tokens until its first ones are those; the next token tells what the customer's bits
    are there. Two that agree tell that the third one's bits are the victim's.
    """
    profile, window = setting.profile(model), setting.context_window
    labels = ("three", setting.name, request, tokens)
    drafts = [_Draft(window, randomness(*labels, i)) for i in range(texts)]
    spent = np.zeros(texts)
    writer, last = _Writer(model, profile, texts), None
    chances: list[list[float]] = [[] for _ in drafts]
    for _ in range(tokens):
        logits, probability = writer.next(last)
        # An answer that is no longer than a context shows no token that is marked.
        asked = [
            i
            for i, draft in enumerate(drafts)
            if draft.context is not None
            and request > window
            and np.prod(chances[i][-window:]) >= 1 / MOST_REQUESTS
        ]
        shown = _answers_behind(logits, setting, profile, [drafts[i] for i in asked], asked)
        last = []
        for i, draft in enumerate(drafts):
            token = _odd_one_out(shown[i]) if i in shown else None
            if i in shown:
                spent[i] += len(ACCOMPLICES) / np.prod(chances[i][-window:])
            draft.copied += token is not None
            token = draft.write(probability[i]) if token is None else token
            draft.push(token)
            chances[i].append(float(probability[i, token]))
            last.append(token)
    return [
        Forged(ids=np.array(d.tokens), copied=d.copied, requests=float(n))
        for d, n in zip(drafts, spent, strict=True)
    ]


def _answers_behind(
    logits: Any, setting: Setting, profile: Profile, drafts: Sequence[_Draft], lines: Sequence[int]
) -> dict[int, list[int]]:
    """Return the token that each accomplice gets behind the last tokens of some texts."""
    if not lines:
        return {}
    engine, rows = MarkingEngine(), []
    for draft in drafts:
        for customer in ACCOMPLICES:
            payload = setting.payload(profile, customer, draft.rng)
            seed = np.random.default_rng(int(draft.rng.integers(1 << 62)))
            rows.append(engine.add(setting.key, payload, profile, seed, tokens=draft.context or ()))
    repeated = logits[[line for line in lines for _ in ACCOMPLICES]]
    taken = engine.step(repeated, rows).tokens.reshape(len(lines), len(ACCOMPLICES))
    return dict(zip(lines, taken.tolist(), strict=True))


def _odd_one_out(tokens: Sequence[int]) -> int | None:
    """Return the token of the victim's bits, where three accomplices' tokens tell it."""
    first, second, third = tokens
    if first == second:
        return third
    if first == third:
        return second
    return first if second == third else None


def composed(model: Any, setting: Setting, texts: int, tokens: int, request: int) -> list[Forged]:
    """Write texts that consist of answers of a few tokens each, of three customers in turn."""
    profile = setting.profile(model)
    labels = ("composed", setting.name, request, tokens)
    rngs = [randomness(*labels, i) for i in range(texts)]
    engine, rows = MarkingEngine(), [-1] * texts
    writer, last, written = _Writer(model, profile, texts), None, []
    for step in range(tokens):
        logits, _ = writer.next(last)
        if step % request == 0:
            customer = ACCOMPLICES[step // request % len(ACCOMPLICES)]
            for i, rng in enumerate(rngs):
                if rows[i] >= 0:
                    engine.remove(rows[i])
                payload = setting.payload(profile, customer, rng)
                seed = np.random.default_rng(int(rng.integers(1 << 62)))
                rows[i] = engine.add(setting.key, payload, profile, seed)
        last = engine.step(logits, rows).tokens.tolist()
        written.append(last)
    return [Forged(ids=ids, copied=tokens) for ids in np.array(written).T]


def mosaic(
    setting: Setting, answers: Sequence[Answer], texts: int, tokens: int, piece: int, people: int
) -> list[Forged]:
    """Put texts together from pieces of answers that some people got, in turn.

    Args:
        setting: How the service marks; each answer here carries a payload of its own.
        answers: Those of all people; one answer a person.
        texts: How many texts.
        tokens: Length of each.
        piece: Tokens of a piece.
        people: Whose answers they are; a person's pieces do not overlap.
    """
    out = []
    for number in range(texts):
        rng = randomness("mosaic", setting.name, piece, people, number)
        chosen = rng.choice(len(answers), people, replace=False)
        parts: list[I64] = []
        for turn in range(-(-tokens // piece)):
            ids = answers[chosen[turn % people]].ids
            # Pieces of one person stand one behind the other in the answer, wrapped at its end.
            start = turn // people * piece % max(1, ids.size - piece + 1)
            parts.append(ids[start : start + piece])
        out.append(Forged(ids=np.concatenate(parts)[:tokens], copied=tokens))
    return out


def longest_copy(ids: I64, answers: Sequence[I64]) -> int:
    """Return the length of the longest run of tokens that stands in one of the answers."""
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, answer in enumerate(answers):
        for place, token in enumerate(answer.tolist()):
            places[token].append((number, place))
    best, running = 0, {}
    for token in ids.tolist():
        running = {
            (number, place): running.get((number, place - 1), 0) + 1
            for number, place in places.get(token, ())
        }
        best = max(best, max(running.values(), default=0))
    return best
