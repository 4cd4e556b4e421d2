"""What came out of the bench: cells as a table, and whether printed p-values are p-values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pura.base.progress import Checkpoint, never_cancelled
from pura.measure.cache import Cache
from pura.measure.evaluate import wilson
from pura.scheme import SecretKey
from pura.scheme.keys import KEY_BYTES
from pura_lab.compare.methods import METHODS, ZERO_BIT, Bench
from pura_lab.compare.work import ResultLine
from pura_lab.rivals.base import Rival


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """The texts of one method, payload length and condition.

    Attributes:
        method: As in :class:`~pura_lab.compare.work.ResultLine`.
        bits: ``L_m``.
        condition: What was done to the texts.
        texts: How many.
        match: Texts whose payload was read whole.
        low: Lower end of the 95 % interval of the match rate.
        high: Upper end.
        accuracy: Mean share of right bits.
        erased: Mean share of erased bits.
        edited: Mean edit rate.
        read_seconds: Median processor seconds for reading a text.
        write_seconds: Median processor seconds for marking one.
        perplexity: Of the model that wrote the texts, over all their tokens.
        published: Match rate in percent in the PURA paper's table, of another model and corpus.
    """

    method: str
    bits: int
    condition: str
    texts: int
    match: int
    low: float
    high: float
    accuracy: float
    erased: float
    edited: float
    read_seconds: float
    write_seconds: float
    perplexity: float
    published: float | None


def summarise(lines: Iterable[ResultLine]) -> tuple[TableCell, ...]:
    """Return the cells of some lines: by condition and payload length, best match first."""
    groups: dict[tuple[str, int, str], list[ResultLine]] = {}
    for line in lines:
        groups.setdefault((line.condition, line.bits, line.method), []).append(line)
    cells = [_cell(group) for group in groups.values()]
    order = {name: place for place, name in enumerate(dict.fromkeys(c.condition for c in cells))}
    return tuple(
        sorted(
            cells,
            key=lambda c: (order[c.condition], c.bits, -c.match / c.texts, -c.accuracy, c.method),
        )
    )


def _cell(lines: Sequence[ResultLine]) -> TableCell:
    first = lines[0]
    match = sum(line.match for line in lines)
    low, high = wilson(match, len(lines))
    method = METHODS[first.method.removesuffix("-paper")]
    # The paper's own figures are those of its decoder.
    comparable = method.make is not None or first.method.endswith("-paper")

    def mean(name: str) -> float:
        return float(np.mean([getattr(line, name) for line in lines]))

    def median(name: str) -> float:
        return float(np.median([getattr(line, name) for line in lines]))

    return TableCell(
        method=first.method,
        bits=first.bits,
        condition=first.condition,
        texts=len(lines),
        match=match,
        low=low,
        high=high,
        accuracy=mean("accuracy"),
        erased=mean("erased"),
        edited=mean("edited"),
        read_seconds=median("read_seconds"),
        write_seconds=median("write_seconds"),
        perplexity=float(np.exp(-mean("log_p"))),
        published=method.published.get(first.bits) if comparable else None,
    )


def write_parquet(path: Path, lines: Sequence[ResultLine]) -> None:
    """Write a row for every text, condition and decoder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f.name: [getattr(line, f.name) for line in lines] for f in fields(ResultLine)}
    pq.write_table(pa.table(columns), path)


F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Tokenise = Callable[[str], I64]
Maker = Callable[[SecretKey], Rival]

_LEVEL = 0.05
_BITS = 24
_FEWER_BITS = 8  # where every message is tried
_REDRAWS = 199
_REDRAWN = ("exp", "its")  # what they print is the share of redraws
_VERSION = 1  # of what is kept


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """One scheme on one text without a mark.

    Attributes:
        method: The scheme.
        text: Name of the text.
        keys: How many keys were tried.
        printed: Share of keys whose printed p-value is at most 5 %.
        redrawn: The same of the exact redraws.
        evidence: Share of keys whose e-value is 20 or more; None where the scheme has none.
    """

    method: str
    text: str
    keys: int
    printed: float
    redrawn: float
    evidence: float | None


def calibrate(
    bench: Bench,
    texts: Mapping[str, I64],
    keys: int,
    seed: int,
    *,
    cache: Cache | None = None,
    checkpoint: Checkpoint = never_cancelled,
) -> Iterator[Calibration]:
    """Try many keys on texts that none of them wrote.

    Args:
        bench: What schemes are built on.
        texts: int64 [L] by name.
        keys: How many.
        seed: Of keys and redraws.
        cache: Keeps what was counted; what is there is not counted again.
        checkpoint: Called before each scheme and text.
    """
    for name, ids in texts.items():
        for method, scheme in _schemes(bench):
            checkpoint()
            label = f"{_VERSION}/{seed}/{keys}/{bench.vocab_size}/{method}".encode() + ids.tobytes()
            digest = blake2b(label, digest_size=8)
            kept = f"unmarked.{name}.{method}.{digest.hexdigest()}"
            if cache is None or kept not in cache:
                seed_of = int.from_bytes(digest.digest(), "little")
                shares = _shares(scheme, ids, keys, seed_of, by_redraws=method in _REDRAWN)
                if cache is not None:
                    cache.put(kept, {"shares": [shares]})
            else:
                (shares,) = cache.get(kept)["shares"]
            printed, redrawn, evidence = shares.tolist()
            yield Calibration(
                method=method,
                text=name,
                keys=keys,
                printed=printed,
                redrawn=redrawn,
                evidence=None if np.isnan(evidence) else evidence,
            )


def _shares(scheme: Maker, ids: I64, keys: int, seed: int, *, by_redraws: bool) -> F64:
    """Return the shares of keys with a small p-value, a small rank, a large e-value; float64 [3].

    All keys of a text are ranked among the same redraws: each rank alone is exact.
    """
    rng = np.random.default_rng(seed)
    any_key = scheme(SecretKey(rng.bytes(KEY_BYTES)))
    pool = [any_key.decode(any_key.null_draw(ids, rng)).statistic for _ in range(_REDRAWS)]
    printed, redrawn, evidence = [], [], []
    for _ in range(keys):
        mine = scheme(SecretKey(rng.bytes(KEY_BYTES)))
        observed = mine.observe(ids)
        above = int((np.array(pool) >= mine.decode(observed).statistic - 1e-12).sum())
        exact = (1 + above) / (1 + _REDRAWS)
        p = exact if by_redraws else mine.printed_p(ids)
        assert p is not None
        printed.append(p <= _LEVEL)
        redrawn.append(exact <= _LEVEL)
        log_e = getattr(mine, "log_e", None)
        evidence.append(np.nan if log_e is None else log_e(observed) >= np.log(1 / _LEVEL))
    return np.array([np.mean(column) for column in (printed, redrawn, evidence)])


def _schemes(bench: Bench) -> Iterator[tuple[str, Maker]]:
    for name, scheme in ZERO_BIT.items():
        yield name, partial(_zero_bit, scheme, bench.vocab_size)
    for name in ("rsbh-3", "mpac-3", "bimark", "stealthink", "mirrormark", "cycleshift"):
        make, bits = METHODS[name].make, _FEWER_BITS if name == "cycleshift" else _BITS
        assert make is not None
        yield name, partial(_with_bits, make, bench, bits)


def _zero_bit(scheme: Callable[..., Rival], vocab_size: int, key: SecretKey) -> Rival:
    return scheme(key=key, vocab_size=vocab_size)


def _with_bits(
    make: Callable[[Bench, SecretKey, int], Rival], bench: Bench, bits: int, key: SecretKey
) -> Rival:
    return make(bench, key, bits)


def unmarked_texts(tokenise: Tokenise, tokens: int = 200) -> dict[str, I64]:
    """Return texts that no key wrote: prose, a loop, a template with slots, code."""
    from pura.measure.corpora import corpus

    template = "".join(
        f"Dear customer, your invoice no. {4000 + 7 * i} of {i + 1} March is due.\n"
        for i in range(12)
    )
    texts = {
        "prose": " ".join(corpus("manual")[:6]),
        "loop": "The committee will meet again on Monday to discuss the plan. " * 40,
        "template": template * 4,
        "code": "\n".join(corpus("code")[:6]),
    }
    return {name: tokenise(text)[:tokens] for name, text in texts.items()}
