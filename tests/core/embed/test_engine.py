"""Rows that come and go: each is marked as if it were generated alone."""

import numpy as np
import pytest
import torch

from pura.embed.engine import MarkingEngine, rngs_for
from pura.scheme import Payload, Profile, SecretKey

WIDTH = 300
KEYS = [SecretKey(bytes([n]) * 32) for n in range(3)]
PROFILES = [
    Profile(payload_bits=12, blocks=3, vocab_size=WIDTH - 7),
    Profile(payload_bits=36, blocks=4, vocab_size=WIDTH, temperature=0.7, top_k=40, top_p=0.9),
]


def logits_of(text: int, position: int) -> torch.Tensor:
    """What a model without memory says; four positions only, so that contexts come back."""
    rng = np.random.default_rng(1000 * text + position % 4)
    return torch.from_numpy(rng.normal(size=WIDTH, scale=3).astype(np.float32))


def begin(engine: MarkingEngine, text: int) -> int:
    profile = PROFILES[text % 2]
    payload = None if text % 20 == 5 else Payload.from_int(77 * text % 4096, profile.payload_bits)
    return engine.add(KEYS[text % 3], payload, profile, rngs_for(text, 1)[0])


def alone(text: int, length: int) -> list[int]:
    engine = MarkingEngine()
    row = begin(engine, text)
    for position in range(length):
        engine.step(logits_of(text, position)[None], [row])
    return list(engine.tokens(row))


def test_rows_that_come_and_go() -> None:
    """Seven texts, three keys, two profiles, at most four at once, lines shuffled at every step."""
    rng = np.random.default_rng(4)
    lengths = [40, 7, 25, 60, 12, 30, 18]
    waiting, engine = list(range(7)), MarkingEngine()
    running: dict[int, int] = {}
    made: dict[int, list[int]] = {}
    while waiting or running:
        while waiting and len(running) < 4:
            text = waiting.pop(0)
            running[text] = begin(engine, text)
        texts = rng.permutation(list(running)).tolist()
        lines = [logits_of(text, len(engine.tokens(running[text]))) for text in texts]
        lines.insert(1, torch.zeros(WIDTH))  # a line that is not ours
        rows: list[int | None] = [running[text] for text in texts]
        rows.insert(1, None)
        drawn = engine.step(torch.stack(lines), rows)
        assert drawn.tokens[1] == 0
        for text in texts:
            if len(engine.tokens(running[text])) == lengths[text]:
                row = running.pop(text)
                made[text] = list(engine.tokens(row))
                engine.remove(row)
    assert len(engine) == 0
    assert made == {text: alone(text, length) for text, length in enumerate(lengths)}


def test_a_line_without_a_distribution_moves_nothing() -> None:
    engine = MarkingEngine()
    rows = [begin(engine, 0), begin(engine, 1)]
    lines = torch.stack([torch.full((WIDTH,), float("nan")), logits_of(1, 0)])
    drawn = engine.step(lines, rows)
    assert drawn.tokens.tolist() == [-1, *alone(1, 1)]
    assert len(engine.tokens(rows[0])) == 0


@pytest.mark.parametrize("history", ["used", "all"])
def test_a_text_that_is_resumed_takes_no_phase_twice(history: str) -> None:
    """Behind foreign tokens the row goes on; contexts that stand in them carry nothing again."""
    profile = PROFILES[0].with_(history=history)
    payload = Payload.from_int(9, 12)
    flat = torch.zeros((1, WIDTH))
    engine = MarkingEngine()
    row = engine.add(KEYS[0], payload, profile, rngs_for(1, 1)[0], tokens=[5, 6, 8, 5, 6])
    assert engine.step(flat, [row]).arity.tolist() == [0]
    engine.resume(row, [5, 6, 8, 5])
    assert engine.step(flat, [row]).arity.tolist() == [3]
    assert engine.tokens(row)[:4] == [5, 6, 8, 5]


# --- drafts -------------------------------------------------------------------------------------


def said_behind(text: int, tokens: list[int], noise: float = 0.0) -> torch.Tensor:
    """What a model says behind some tokens, or with noise another one that resembles it."""
    seed = [text, len(tokens) % 3, *tokens[-1:]]
    logits = np.random.default_rng(seed).normal(size=WIDTH, scale=6)
    if noise:
        logits += np.random.default_rng([7, *seed]).normal(size=WIDTH, scale=noise)
    return torch.from_numpy(logits.astype(np.float32))


def looked_up(tokens: list[int], most: int) -> list[int]:
    """Return what stood behind the last token when it came before: prompt lookup."""
    if not tokens or tokens[-1] not in tokens[:-1]:
        return []
    at = tokens[:-1].index(tokens[-1]) + 1
    return tokens[at : at + most]


def ahead(engine: MarkingEngine, row: int, text: int, most: int) -> list[int]:
    """Return what a draft model writes that draws at the row's own points."""
    length = len(engine.tokens(row))
    for _ in range(most):
        engine.step(said_behind(text, list(engine.tokens(row)), noise=0.5)[None], [row])
    drafts = list(engine.tokens(row))[length:]
    engine.rewind(row, length)
    return drafts


@pytest.mark.sampled
def test_a_text_with_drafts_is_the_same_token_for_token() -> None:
    """200 texts, by prompt lookup and by a draft model, one to eight tokens at a time."""
    accepted = {"lookup": 0, "model": 0}
    for text in range(200):
        length = 40
        engine = MarkingEngine()
        plain, drafted = begin(engine, text), begin(engine, text)
        while len(engine.tokens(plain)) < length + 9:
            engine.step(said_behind(text, list(engine.tokens(plain)))[None], [plain])
        kind = ("lookup", "model")[text // 2 % 2]
        while len(engine.tokens(drafted)) < length:
            tokens, most = list(engine.tokens(drafted)), 1 + text % 8
            drafts = (
                looked_up(tokens, most) if kind == "lookup" else ahead(engine, drafted, text, most)
            )
            behind = [said_behind(text, [*tokens, *drafts[:k]]) for k in range(len(drafts) + 1)]
            taken = engine.verify(drafted, torch.stack(behind), drafts)
            accepted[kind] += len(taken) - 1
        written = list(engine.tokens(drafted))
        assert written == list(engine.tokens(plain))[: len(written)], text
    assert min(accepted.values()) > 100


def test_a_draft_stops_where_a_line_holds_no_distribution() -> None:
    engine = MarkingEngine()
    row = begin(engine, 1)
    first = alone(1, 1)
    lines = torch.stack([logits_of(1, 0), torch.full((WIDTH,), float("nan"))])
    assert engine.verify(row, lines, first) == first
    assert list(engine.tokens(row)) == first
