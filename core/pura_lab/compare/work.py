"""One bench for marks by others and ours: what is computed and what is counted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.progress import Checkpoint, never_cancelled
from pura.detect.decode import paper
from pura.detect.local.evidence import local_evidence
from pura.embed.engine import MarkingEngine
from pura.measure.attacks.base import Tools
from pura.measure.attacks.table import attack_ids, named_strength
from pura.measure.cache import Cache
from pura.measure.corpora import Cell, corpus
from pura.measure.evaluate import TextReading, decide, wilson
from pura.scheme import F64, I64, Payload, Profile, SecretKey, ranks, schedule
from pura.scheme.keys import KEY_BYTES
from pura_lab.compare.methods import METHODS, ZERO_BIT, Bench, Method, Source
from pura_lab.rivals.base import ERASED, Rival, RivalRow

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


CLEAN: Final = "none"
CHUNK: Final = 8  # texts of a piece of work
TOGETHER: Final = 8  # pieces whose texts are written side by side
_VERSION: Final = 2  # of what a piece holds


@dataclass(frozen=True, kw_only=True)
class CellPart:
    """A few texts of one cell.

    Attributes:
        method: Who marks them.
        bits: ``L_m``.
        chunk: Texts ``CHUNK * chunk`` and so on.
        tokens: Length of each; shorter ones are read of their beginnings.
        source: What the rows come from: fingerprint of a model, or of laws.
        seed: Of everything that is drawn.
    """

    method: Method
    bits: int
    chunk: int
    tokens: int
    source: str
    seed: int

    @property
    def numbers(self) -> range:
        """Numbers of the texts."""
        return range(CHUNK * self.chunk, CHUNK * (self.chunk + 1))

    @property
    def name(self) -> str:
        """Of its texts on the cache; says what they depend on."""
        what = [_VERSION, self.tokens, self.source, self.seed]
        digest = blake2b(json.dumps(what).encode(), digest_size=5).hexdigest()
        return f"texts.{self.method.name}-{self.bits}-{self.chunk}.{digest}"

    def outcome(self, condition: str, tokens: int) -> str:
        """Return the name of what was read of the first tokens after an attack."""
        return self.name.replace("texts.", f"outcome.{condition.replace(':', '-')}.{tokens}.")

    @cached_property
    def cell(self) -> Cell:
        """Gives each text its key, payload and randomness, and PURA's its profile."""
        name = f"compare/{self.method.name}/{self.bits}"
        return Cell(name=name, code=self.method.code, payload_bits=self.bits)

    def key(self, number: int) -> SecretKey:
        """Return the key of one text. It guards nothing: anyone can derive it."""
        return self.cell.key(number, self.seed)

    def payload(self, number: int) -> Payload:
        """Return the payload of one text."""
        return self.cell.payload(number, self.seed)

    def rng(self, purpose: str, number: int) -> np.random.Generator:
        """Return the randomness of one text for one purpose."""
        return self.cell.generator(purpose, number, self.seed)

    def scheme(self, bench: Bench, number: int) -> Rival:
        """Return the scheme with the key of one text."""
        assert self.method.make is not None
        return self.method.make(bench, self.key(number), self.bits)


def write(source: Source, bench: Bench, pieces: Sequence[CellPart], cache: Cache) -> None:
    """Write the texts of some pieces side by side and put them on the cache."""
    texts = [_Text(piece, number, bench) for piece in pieces for number in piece.numbers]
    engine = MarkingEngine()
    for text in texts:
        text.join(engine, bench.vocab_size)
    ours = [i for i, text in enumerate(texts) if text.row is None]
    source.begin([text.number for text in texts])
    tokens: I64 | None = None
    for _ in range(pieces[0].tokens):
        rows = source.rows(tokens)
        tokens = np.zeros(len(texts), dtype=np.int64)
        if ours:
            tokens[ours] = _marked(engine, rows, texts, ours)
        for i, text in enumerate(texts):
            if text.row is not None:
                start = time.process_time()
                tokens[i] = text.scheme.embed(text.row, rows[i])
                text.seconds += time.process_time() - start
            text.note(int(tokens[i]), rows[i])
    for at, piece in enumerate(pieces):
        mine = texts[CHUNK * at : CHUNK * (at + 1)]
        columns = {name: [text.column(name) for text in mine] for name in _COLUMNS}
        cache.put(piece.name, columns)


def _marked(engine: MarkingEngine, rows: F64, texts: Sequence[_Text], ours: Sequence[int]) -> I64:
    import torch

    start = time.process_time()
    with np.errstate(divide="ignore"):
        logits = torch.from_numpy(np.log(rows[ours]))
    drawn = engine.step(logits, [texts[i].number_in_engine for i in ours])
    each = (time.process_time() - start) / len(ours)
    for i in ours:
        texts[i].seconds += each
    return drawn.tokens


_COLUMNS: Final = ("ids", "log_p", "likeliest", "entropy_bits", "lo", "hi", "seconds")


class _Text:
    """A text that is being written."""

    def __init__(self, piece: CellPart, number: int, bench: Bench) -> None:
        self.number = number
        self.seconds = 0.0
        self.number_in_engine = -1
        self._piece = piece
        self._rank: I64 | None = None
        self._said: list[tuple[int, float, float, float, float, float]] = []
        self.row: RivalRow | None = None
        if piece.method.make is not None:
            self.scheme = piece.scheme(bench, number)
            self.row = self.scheme.start(piece.payload(number), piece.rng("dice", number))

    def join(self, engine: MarkingEngine, vocab_size: int) -> None:
        """Let PURA's engine write the text, if it is one of its."""
        if self.row is not None:
            return
        key, piece = self._piece.key(self.number), self._piece
        self._rank = ranks(key.vocabulary_order(vocab_size))
        self.number_in_engine = engine.add(
            key,
            piece.payload(self.number),
            piece.cell.profile(vocab_size),
            piece.rng("dice", self.number),
        )

    def note(self, token: int, law: F64) -> None:
        """Keep what the law said of the chosen token."""
        p, top = float(law[token]), int(law.argmax())
        entropy, lo = 0.0, 0.0
        if self._rank is not None:
            some = law[law > 0]
            entropy = float(-(some * np.log2(some)).sum())
            lo = float(law[self._rank < self._rank[token]].sum())
        likeliest = float(token == top) - float(law[top])
        self._said.append((token, float(np.log(p)), likeliest, entropy, lo, lo + p))

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the text's results."""
        if name == "seconds":
            return np.array([self.seconds])
        found = np.array([said[_COLUMNS.index(name)] for said in self._said])
        return found.astype(np.int64) if name == "ids" else found


@dataclass(frozen=True, kw_only=True)
class ResultLine:
    """One text under one condition, read by one decoder.

    Attributes:
        method: Who marked it; ``pura-spc-paper`` is the published decoder on ``pura-spc``.
        bits: ``L_m``.
        tokens: Length of the text before anything was done to it.
        number: Of the text.
        condition: What was done to it, as
            :func:`~pura.measure.attacks.table.named_strength` reads it.
        match: The whole payload was read.
        accuracy: Share of its bits; an erased one counts half.
        erased: Share of bits that were erased.
        edited: Edit rate in tokens.
        read_seconds: Processor seconds for reading, the model's pass included where one is needed.
        write_seconds: Processor seconds for marking, the model's passes left out.
        log_p: Mean log probability of its tokens when it was written, nats.
        likeliest: Share of tokens that were the likeliest, less what the model expected of them;
            0 in the mean where a scheme is unbiased.
    """

    method: str
    bits: int
    tokens: int
    number: int
    condition: str
    match: bool
    accuracy: float
    erased: float
    edited: float
    read_seconds: float
    write_seconds: float
    log_p: float
    likeliest: float


_NUMBERS: Final = ("number", "match", "accuracy", "erased", "edited", "read_seconds",
                   "write_seconds", "log_p", "likeliest")  # fmt: skip


class CellReader:
    """Attacks and reads the texts of pieces.

    Args:
        bench: What schemes are built on.
        cache: Has the texts, gets the outcomes.
        model: Reads PURA's texts; None: the laws that they were written by do.
        tools: For attacks.
    """

    def __init__(
        self, bench: Bench, cache: Cache, model: LanguageModel | None, tools: Tools | None
    ) -> None:
        self._bench = bench
        self._cache = cache
        self._model = model
        self._tools = tools

    def read(self, piece: CellPart, condition: str, tokens: int) -> None:
        """Read the first tokens of a piece after an attack; what came out goes on the cache."""
        texts = self._cache.get(piece.name)
        lines = [
            line
            for at, number in enumerate(piece.numbers)
            for line in self._lines(
                piece,
                number,
                condition,
                {name: column[at][:tokens] for name, column in texts.items()},
            )
        ]
        table = np.array([[float(getattr(line, n)) for n in _NUMBERS] for line in lines]).T
        paper = np.array([line.method.endswith("-paper") for line in lines], dtype=np.float64)
        self._cache.put(piece.outcome(condition, tokens), {"lines": [np.vstack([table, paper])]})

    def _lines(
        self, piece: CellPart, number: int, condition: str, text: Mapping[str, npt.NDArray[Any]]
    ) -> Iterator[ResultLine]:
        ids, edited = text["ids"], 0.0
        written = ids.size
        if condition != CLEAN:
            assert self._tools is not None
            name, params = named_strength(condition)
            done = attack_ids(name, ids, piece.rng(condition, number), self._tools, **params)
            ids, edited = done.ids, done.rate
        truth = piece.payload(number).array
        known = text if condition == CLEAN else None
        for name, bits, seconds in self._decode(piece, number, ids, known):
            right = np.where(bits == ERASED, 0.5, bits == truth)
            yield ResultLine(
                method=name,
                bits=piece.bits,
                tokens=written,
                number=number,
                condition=condition,
                match=bool((bits == truth).all()),
                accuracy=float(right.mean()),
                erased=float((bits == ERASED).mean()),
                edited=edited,
                read_seconds=seconds,
                write_seconds=float(text["seconds"][0]) * written / piece.tokens,
                log_p=float(text["log_p"].mean()),
                likeliest=float(text["likeliest"].mean()),
            )

    def _decode(
        self, piece: CellPart, number: int, ids: I64, text: Mapping[str, npt.NDArray[Any]] | None
    ) -> Iterator[tuple[str, npt.NDArray[np.int8], float]]:
        """Yield name, bits and seconds of each decoder; what they share counts for both."""
        name, start = piece.method.name, time.process_time()
        if piece.method.make is not None:
            scheme = piece.scheme(self._bench, number)
            bits = scheme.decode(scheme.observe(ids)).bits
            yield name, bits, time.process_time() - start
            return
        key, profile = piece.key(number), piece.cell.profile(self._bench.vocab_size)
        reading = self._reading(key, profile, ids, text)
        steps = schedule(reading.ids, reading.entropy_bits, key, profile)
        known = self._model is None  # laws were said with the prompt before them
        shared = time.process_time() - start
        decision = decide(reading, steps, profile, prompt_known=known)
        yield name, decision.payload.array.astype(np.int8), time.process_time() - start
        if piece.method.code == "spc":
            start = time.process_time() - shared
            local = local_evidence(steps, reading.lo, reading.hi, profile)
            bits = paper.decode(steps, local, profile).payload.array.astype(np.int8)
            yield f"{name}-paper", bits, time.process_time() - start

    def _reading(
        self,
        key: SecretKey,
        profile: Profile,
        ids: I64,
        text: Mapping[str, npt.NDArray[Any]] | None,
    ) -> TextReading:
        if self._model is None:
            assert text is not None
            return TextReading(
                ids=ids,
                entropy_bits=text["entropy_bits"],
                probability=np.exp(text["log_p"]),
                lo=text["lo"],
                hi=text["hi"],
            )
        from pura.model.evidence import read

        said = read(self._model, ids, keys=[key], profile=profile)
        return TextReading.of(said)


def lines_of(cache: Cache, piece: CellPart, condition: str, tokens: int) -> Iterator[ResultLine]:
    """Return what was read of a piece."""
    for *numbers, published in cache.get(piece.outcome(condition, tokens))["lines"][0].T.tolist():
        row = dict(zip(_NUMBERS, numbers, strict=True))
        yield ResultLine(
            method=piece.method.name + ("-paper" if published else ""),
            bits=piece.bits,
            tokens=tokens,
            condition=condition,
            match=bool(row.pop("match")),
            number=int(row.pop("number")),
            **row,
        )


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """The texts of one method, payload length, length and condition.

    Attributes:
        method: As in :class:`~pura_lab.compare.work.ResultLine`.
        unbiased: For a fixed message.
        bits: ``L_m``.
        tokens: Length of the texts before anything was done to them.
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
        likeliest: Mean share of tokens that were the likeliest, less what the model expected.
        published: Match rate in percent in the PURA paper's table, of another model and corpus.
    """

    method: str
    unbiased: bool
    bits: int
    tokens: int
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
    likeliest: float
    published: float | None


def summarise(lines: Iterable[ResultLine]) -> tuple[TableCell, ...]:
    """Return the cells: by condition, payload length and tokens, best match first."""
    groups: dict[tuple[str, int, int, str], list[ResultLine]] = {}
    for line in lines:
        cell = (line.condition, line.bits, line.tokens, line.method)
        groups.setdefault(cell, []).append(line)
    cells = [_cell(group) for group in groups.values()]
    order = {name: place for place, name in enumerate(dict.fromkeys(c.condition for c in cells))}
    return tuple(
        sorted(
            cells,
            key=lambda c: (
                order[c.condition],
                c.bits,
                c.tokens,
                -c.match / c.texts,
                -c.accuracy,
                c.method,
            ),
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
        unbiased=method.unbiased,
        bits=first.bits,
        tokens=first.tokens,
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
        likeliest=mean("likeliest"),
        published=method.published.get(first.bits) if comparable else None,
    )


def write_parquet(path: Path, lines: Sequence[ResultLine]) -> None:
    """Write a row for every text, condition and decoder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f.name: [getattr(line, f.name) for line in lines] for f in fields(ResultLine)}
    pq.write_table(pa.table(columns), path)


Tokenise = Callable[[str], I64]
Maker = Callable[[SecretKey], Rival]

_LEVEL = 0.05
_BITS = 24
_FEWER_BITS = 8  # where every message is tried
_REDRAWS = 199
_REDRAWN = ("exp", "its")  # what they print is the share of redraws


def calibrate(
    bench: Bench,
    texts: Mapping[str, I64],
    keys: int,
    seed: int,
    *,
    cache: Cache | None = None,
    checkpoint: Checkpoint = never_cancelled,
) -> Iterator[dict[str, Any]]:
    """Try many keys on texts that none of them wrote.

    Args:
        bench: What schemes are built on.
        texts: int64 [L] by name.
        keys: How many.
        seed: Of keys and redraws.
        cache: Keeps what was counted; what is there is not counted again.
        checkpoint: Called before each scheme and text.

    Yields:
        ``method``, ``text`` (its name), ``keys`` (how many were tried); ``printed``, the share of
        keys whose printed p-value is at most 5 %, ``redrawn``, the same of the exact redraws, and
        ``evidence``, that of keys whose e-value is 20 or more; None where the scheme has none.
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
            yield {
                "method": method,
                "text": name,
                "keys": keys,
                "printed": printed,
                "redrawn": redrawn,
                "evidence": None if np.isnan(evidence) else evidence,
            }


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
    for name in (
        "rsbh-3", "mpac-3", "bimark", "stealthink", "mirrormark", "cycleshift", "binomial-plus"
    ):  # fmt: skip
        make, bits = METHODS[name].make, _FEWER_BITS if name == "cycleshift" else _BITS
        assert make is not None
        yield name, partial(_with_bits, make, bench, bits)


def _zero_bit(scheme: Callable[..., Rival], vocab_size: int, key: SecretKey) -> Rival:
    return scheme(key=key, vocab_size=vocab_size)


def _with_bits(
    make: Callable[[Bench, SecretKey, int], Rival], bench: Bench, bits: int, key: SecretKey
) -> Rival:
    return make(bench, key, bits)


def unmarked_texts(tokenise: Tokenise) -> dict[str, I64]:
    """Return texts that no key wrote: prose, a loop, a template with slots, code."""
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
    return {name: tokenise(text)[:200] for name, text in texts.items()}
