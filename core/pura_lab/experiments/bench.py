"""The foundation of all experiments: cells, texts and their storage."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.errors import InputError
from pura.base.json_text import canonical
from pura.base.progress import Checkpoint, never_cancelled
from pura.embed.generate import generate_batch, opening_ids, prompt_ids
from pura.measure.attacks.base import Attacked, Tools
from pura.measure.attacks.rewrite import model_tools
from pura.measure.attacks.table import ATTACKS, attack_foreign, attack_many
from pura.measure.cache import Cache
from pura.measure.corpora import DOMAINS, corpus, prompts_of, sentences_of
from pura.measure.evaluate import TextReading, joined, wilson
from pura.model.evidence import divergence_bits, read
from pura.model.tokenise import decode, tokenise
from pura.scheme import F64, I64, Payload, Profile, SecretKey
from pura_lab.afterwards import FixedPhaseKey
from pura_lab.compare.methods import METHODS, ModelSource, bench_of
from pura_lab.proxy import drop_layers, finetune, perturb_weights, quantise_weights

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


Cell = Mapping[str, Any]
"""Settings of a cell: plain values by name; the names are columns of the result."""
Row = Mapping[str, Any]
"""Measurements of one text: numbers, truth values, and lists for figures."""

DRAWS: Final = 1000
"""Draws of the bootstrap."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Extent of an experiment.

    Attributes:
        texts: Texts of a cell.
        full: Whether to run every cell, instead of those that show the trend.
        judge: The model that judges the quality of texts; empty for a letter model.
        attacker: The model that attacks texts; empty for the one that wrote them.
    """

    texts: int = 24
    full: bool = False
    judge: str = ""
    attacker: str = ""


@dataclass(frozen=True, kw_only=True)
class Number:
    """A mean with its 95 % interval: Wilson's for shares, otherwise from a bootstrap over texts.

    Attributes:
        value: The mean.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment.

    Attributes:
        name: Name in commands.
        title: Title for people.
        paper: Corresponding figure or table of the paper.
        cells: Returns its cells at a scale, the most important first.
        row: Measures text ``number`` of a cell.
        columns: Measured columns in its table; others are in the Parquet file.
        x: Column along the axis of its figure.
        y: Columns that are drawn, one line each.
        lines: Columns of the cells with separate lines.
        panels: Column of the cells with separate panels; empty for a single panel.
        log: Whether the axis is logarithmic.
        pooled: Returns numbers of all texts of a cell together, with intervals if available.
        max_texts: Most texts of a cell, if a text is expensive; None for no limit.
    """

    name: str
    title: str
    paper: str
    cells: Callable[[Scale], Sequence[Cell]]
    row: Callable[[ExperimentBench, Cell, int], Row]
    columns: tuple[str, ...]
    x: str
    y: tuple[str, ...] = ("paper_match", "exact_match")
    lines: tuple[str, ...] = ()
    panels: str = ""
    log: bool = False
    pooled: Callable[[Sequence[Row]], Mapping[str, Number | float]] | None = None
    max_texts: int | None = None


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """A cell and the results of its texts.

    Attributes:
        cell: The cell.
        texts: Number of texts.
        numbers: Means by measured column.
        rows: One row for each text.
    """

    cell: Cell
    texts: int
    numbers: Mapping[str, Number]
    rows: Sequence[Row] = field(repr=False)


def summarise(experiment: Experiment, cell: Cell, rows: Sequence[Row]) -> CellResult:
    """Summarise the texts of a cell."""
    rng = np.random.default_rng(1)
    numbers = {}
    for name, first in rows[0].items():
        if isinstance(first, bool):
            count = sum(bool(r[name]) for r in rows)
            low, high = wilson(count, len(rows))
            numbers[name] = Number(value=count / len(rows), low=low, high=high)
        elif isinstance(first, int | float):
            values = np.array([float(r[name]) for r in rows])
            means = values[rng.integers(0, values.size, (DRAWS, values.size))].mean(axis=1)
            low, high = np.quantile(means, [0.025, 0.975]).tolist()
            numbers[name] = Number(value=float(values.mean()), low=low, high=high)
    if experiment.pooled is not None:
        for name, value in experiment.pooled(rows).items():
            if isinstance(value, Number):
                numbers[name] = value
            else:
                numbers[name] = Number(value=value, low=value, high=value)
    return CellResult(cell=cell, texts=len(rows), numbers=numbers, rows=rows)


PLAIN: Final = ("plain", "plain-again")
"""Two independent samples without a mark."""
PURA_MARKS: Final = ("pura", "pura-keys")
"""PURA with one key for all texts, as in an organisation; and with a separate key for each text."""
BITS: Final = 36  # payload length of all schemes


def prompts() -> tuple[str, ...]:
    """Return prompts of all three kinds; no two text numbers below 500 share one."""
    return tuple(p for domain in DOMAINS for p in prompts_of(domain))


def write_texts(
    model: LanguageModel,
    mark: str,
    numbers: Sequence[int],
    *,
    tokens: int,
    seed: int,
    checkpoint: Checkpoint,
) -> list[tuple[I64, list[int]]]:
    """Write texts at temperature 1, each of them ``tokens`` long.

    Args:
        model: The writing model.
        mark: One of :data:`PLAIN` or :data:`PURA_MARKS`, or a scheme of ``pura lab compare``, which
            gets one key for all texts. Every text has its own payload.
        numbers: Numbers of the texts; a number has the same prompt under every mark.
        tokens: Length of each text, in tokens.
        seed: Seed of keys, payloads and random draws.
        checkpoint: Called before every step; may raise.

    Returns:
        The tokens of each text, int64 [L], and the tokens of its prompt.
    """

    def digest(purpose: str, number: int) -> bytes:
        return blake2b(f"{seed}/{mark}/{purpose}/{number}".encode(), digest_size=32).digest()

    def rng(purpose: str, number: int) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(digest(purpose, number), "little"))

    def payload(number: int) -> Payload:
        return Payload.from_bits(rng("payload", number).integers(0, 2, BITS))

    source = ModelSource(model, prompts())
    starts = [prompt_ids(model, source.prompt(n)) for n in numbers]
    if mark in METHODS:
        make = METHODS[mark].make
        assert make is not None
        scheme = make(bench_of(model, source), SecretKey(digest("key", 0)), BITS)
        rows = [scheme.start(payload(n), rng("dice", n)) for n in numbers]
        source.begin(numbers)
        last: I64 | None = None
        for _ in range(tokens):
            checkpoint()
            laws = source.rows(last)
            last = np.array([scheme.embed(row, law) for row, law in zip(rows, laws, strict=True)])
        texts = [np.array(row.tokens, dtype=np.int64) for row in rows]
        return list(zip(texts, starts, strict=True))
    marked = mark in PURA_MARKS
    keys = [SecretKey(digest("key", n if mark == "pura-keys" else 0)) for n in numbers]
    generated = generate_batch(
        model,
        starts,
        [payload(n) if marked else None for n in numbers],
        list(keys) if marked else None,
        Profile(payload_bits=BITS, code="tbcc", vocab_size=model.vocab_size),
        tokens=tokens,
        seed=[int(rng("dice", n).integers(1 << 62)) for n in numbers],
        ignore_eos=True,
        batch_size=len(numbers),
        checkpoint=checkpoint,
    )
    return [(m.ids, start) for m, start in zip(generated, starts, strict=True)]


BATCH: Final = 8
"""Texts in a file."""
ROWS: Final = 32
"""Texts that are written together: a step reads all weights once for any number of rows."""
WRITTEN_TOKENS: Final = 120
"""Tokens of a text that is written with a mark."""
SEED: Final = 20_261_122
_ORDER: Final = blake2b(b"order of the vocabulary in experiments", digest_size=32).digest()
_COLUMNS: Final = tuple(f.name for f in fields(TextReading))
DROPPED: Final = (5, 10, 14, 18, 22, 26)
"""Layers, of 30, that the usual proxy lacks; of other models the corresponding fifth."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlainText:
    """A text without a mark, in which any mark can be simulated.

    Attributes:
        number: Number in its corpus.
        prompt_ids: int64 [P], tokens of the prompt.
        generator: Reading by the model that wrote it, with the prompt.
        points: float64 [L], points at which its tokens were drawn.
        file: Name in the cache, shared with the texts that were written together with it.
    """

    number: int
    prompt_ids: I64
    generator: TextReading
    points: F64
    file: str = ""

    @property
    def ids(self) -> I64:
        """int64 [L]."""
        return self.generator.ids


@dataclass(frozen=True, kw_only=True, eq=False)
class WrittenText:
    """A text that a model wrote, with or without a mark.

    Attributes:
        text: The text.
        ids: int64 [L], its tokens.
        log_p: float64 [L], log probability of each token by the writing model, nats.
    """

    text: str
    ids: I64
    log_p: F64


class ExperimentBench:
    """Texts and readings, computed on demand.

    Args:
        model: The source, which writes and, as a verifier, reads.
        cache: Cache of texts and readings.
        checkpoint: Called before every piece of work; may raise.
        judge: Another model that judges texts.
        attacker: Another model that attacks texts; None for the source.

    Attributes:
        ahead: Number of texts of a corpus that will be needed, so that they are written together.
    """

    def __init__(
        self,
        model: LanguageModel,
        cache: Cache,
        checkpoint: Checkpoint = never_cancelled,
        judge: LanguageModel | None = None,
        attacker: LanguageModel | None = None,
    ) -> None:
        self.model = model
        self.judge = judge
        self.attacker = attacker
        self.ahead = 0
        self._cache = cache
        self._checkpoint = checkpoint
        self._verifiers: dict[str, LanguageModel] = {"same": model}
        self._texts: dict[tuple[str, int, int], PlainText] = {}
        self._seconds: dict[str, float] = {}

    @cached_property
    def order(self) -> SecretKey:
        """The key with the secret order of all intervals; phases are chosen for each mark."""
        return SecretKey(_ORDER)

    @cached_property
    def plain(self) -> Profile:
        """The profile by which texts are sampled and read; its other settings have no effect."""
        return Profile(
            payload_bits=36,
            code="tbcc",
            vocab_size=self.model.vocab_size,
            prefix="bos" if opening_ids(self.model) else "none",
        )

    @cached_property
    def tools(self) -> Tools:
        """Resources of the attacks."""
        foreign = sentences_of(corpus("manual"))
        if self.attacker is not None:
            return model_tools(self.attacker, foreign=foreign)
        return model_tools(self.model, foreign=foreign, reference=self.verifier("proxy"))

    def verifier(self, name: str) -> LanguageModel:
        """Return a verifier's model.

        Args:
            name: ``same``, ``proxy`` (without the layers of :func:`_dropped`), ``drop-N``: without
                N evenly spaced layers, ``noise-X``: normal noise of X standard deviations,
                ``int-N``: weights rounded to N bits, ``tuned-N``: after N steps on Python's
                manual. A part after ``+`` does not concern the model.
        """
        kind = name.partition("+")[0]
        if kind not in self._verifiers:
            self._verifiers[kind] = self._make_verifier(kind)
        return self._verifiers[kind]

    def _make_verifier(self, kind: str) -> LanguageModel:
        family, _, value = kind.partition("-")
        layers = self.model.network.config.num_hidden_layers
        if kind == "proxy":
            return drop_layers(self.model, _dropped(layers))
        if family == "drop":
            lost = np.linspace(2, layers - 2, int(value)).round().astype(int)
            return drop_layers(self.model, lost.tolist())
        if family == "noise":
            return perturb_weights(self.model, float(value), np.random.default_rng(SEED))
        if family == "int":
            return quantise_weights(self.model, int(value))
        if family == "tuned":
            tokenizer = self.model.tokenizer
            texts = [tokenise(tokenizer, text).ids for text in corpus("manual")]
            return finetune(self.model, [t for t in texts if t.size >= 64], steps=int(value))
        raise InputError("choice.unknown", name=kind, known="same, proxy, drop-N, noise-X, int-N")

    def text(self, number: int, *, domain: str = "openings", tokens: int = 200) -> PlainText:
        """Return a plain text of a corpus; write it with its batch if it is missing."""
        text_key = (domain, tokens, number)
        if text_key not in self._texts:
            first = number - number % BATCH
            name = self._file(domain, tokens, first)
            if name not in self._cache:
                files = self._missing(first, lambda f: self._file(domain, tokens, f))
                self._write(domain, tokens, files)
            columns = self._cache.get(name)
            for i in range(BATCH):
                self._texts[domain, tokens, first + i] = PlainText(
                    number=first + i,
                    prompt_ids=columns["prompt_ids"][i],
                    generator=TextReading(**{c: columns[c][i] for c in _COLUMNS}),
                    points=columns["points"][i],
                    file=name,
                )
        return self._texts[text_key]

    def _file(self, domain: str, tokens: int, first: int) -> str:
        return self._name("text", [domain, tokens, first, _chosen(domain, first)])

    def _missing(self, first: int, name: Callable[[int], str]) -> list[int]:
        """Return the first text numbers of the files written together, including ``first``."""
        ahead = range(first, max(first + 1, min(self.ahead, first + ROWS)), BATCH)
        return [f for f in ahead if name(f) not in self._cache]

    def composite(self, numbers: Sequence[int], **selection: Any) -> PlainText:
        """Return several texts joined, each read by itself."""
        texts = [self.text(number, **selection) for number in numbers]
        return PlainText(
            number=numbers[0],
            prompt_ids=texts[0].prompt_ids,
            generator=joined([t.generator for t in texts]),
            points=np.concatenate([t.points for t in texts]),
        )

    def _write(self, domain: str, tokens: int, firsts: Sequence[int]) -> None:
        prompts = [prompt for first in firsts for prompt in _chosen(domain, first)]
        generated = generate_batch(
            self.model,
            prompts,
            [None] * len(prompts),
            None,
            self.plain,
            tokens=tokens,
            seed=[SEED + first + i for first in firsts for i in range(BATCH)],
            ignore_eos=True,
            chat=domain == "tasks",
            batch_size=ROWS,
            checkpoint=self._checkpoint,
        )
        for number, first in enumerate(firsts):
            batch = generated[number * BATCH : (number + 1) * BATCH]
            readings = [self._read(self.model, m.ids, m.prompt_ids.tolist()) for m in batch]
            rng = np.random.default_rng([SEED, first, tokens])
            columns: dict[str, Any] = {c: [getattr(r, c) for r in readings] for c in _COLUMNS}
            columns["entropy_bits"] = [m.entropy_bits for m in batch]
            columns["prompt_ids"] = [m.prompt_ids for m in batch]
            columns["points"] = [r.lo + (r.hi - r.lo) * rng.random(r.lo.size) for r in readings]
            self._cache.put(self._file(domain, tokens, first), columns)

    def written(self, mark: str, number: int) -> WrittenText:
        """Return a text that was written with a mark; write it with its batch if it is missing."""

        def name(first: int) -> str:
            return self._name("written", [mark, first, WRITTEN_TOKENS, list(prompts())])

        first = number - number % BATCH
        if name(first) not in self._cache:
            missing = self._missing(first, name)
            written_texts = write_texts(
                self.model,
                mark,
                [f + i for f in missing for i in range(BATCH)],
                tokens=WRITTEN_TOKENS,
                seed=SEED,
                checkpoint=self._checkpoint,
            )
            readings = [self._read(self.model, *text) for text in written_texts]
            for index, f in enumerate(missing):
                part = slice(BATCH * index, BATCH * (index + 1))
                columns = {
                    "ids": [ids for ids, _ in written_texts[part]],
                    "log_p": [np.log(reading.probability) for reading in readings[part]],
                }
                self._cache.put(name(f), columns)
        columns = self._cache.get(name(first))
        ids, log_p = (columns[c][number - first] for c in ("ids", "log_p"))
        return WrittenText(text=decode(self.model.tokenizer, ids.tolist()), ids=ids, log_p=log_p)

    def attacked(self, text: PlainText, attack: str, **params: Any) -> Attacked:
        """Return a text's tokens after an attack; text and attack determine its random draws."""
        if attack == "clean":
            return Attacked(ids=text.ids, origin=np.arange(text.ids.size), rate=0.0)
        name = self._hit(text, attack, params)
        if name not in self._cache:
            self._checkpoint()
            batch = [text]
            if ATTACKS[attack].target == "many" and text.file:
                batch = [t for t in self._texts.values() if t.file == text.file]
            rng = [self._rng([attack, params, t.ids.tolist()]) for t in batch]
            hits = self._attack(attack, [t.ids for t in batch], rng, params)
            for attacked_text, hit in zip(batch, hits, strict=True):
                origin = np.zeros(0, np.int64) if hit.origin is None else hit.origin
                rows = {"ids": [hit.ids], "origin": [origin], "rate": [np.array([hit.rate])]}
                self._cache.put(self._hit(attacked_text, attack, params), rows)
        columns = self._cache.get(name)
        ids, origin = columns["ids"][0], columns["origin"][0]
        return Attacked(
            ids=ids,
            origin=origin if origin.size == ids.size else None,
            rate=float(columns["rate"][0][0]),
        )

    def _attack(
        self,
        attack: str,
        texts: Sequence[I64],
        rng: Sequence[np.random.Generator],
        params: Mapping[str, Any],
    ) -> list[Attacked]:
        if self.attacker is None:
            return attack_many(attack, texts, rng, self.tools, **params)
        tokenizer = self.model.tokenizer
        return attack_foreign(
            attack,
            texts,
            rng,
            self.tools,
            decode=lambda ids: decode(tokenizer, ids.tolist()),
            tokenise=lambda text: tokenise(tokenizer, text).ids,
            **params,
        )

    def reading(self, text: PlainText, ids: I64, verifier: str = "same") -> TextReading:
        """Return a verifier's reading of some tokens.

        Args:
            text: Text with the prompt, which is used if the verifier's name ends in ``+prompt``.
            ids: int64 [L'].
            verifier: As in :meth:`verifier`.
        """
        prompt = text.prompt_ids.tolist() if verifier.endswith("+prompt") else None
        name = self._name("reading", [ids.tolist(), verifier, prompt])
        if name not in self._cache:
            self._checkpoint()
            model = self.verifier(verifier)
            start = time.process_time()
            reading = self._read(model, ids, prompt)
            took = np.array([time.process_time() - start])
            columns = {c: [getattr(reading, c)] for c in _COLUMNS}
            self._cache.put(name, columns | {"seconds": [took]})
        columns = self._cache.get(name)
        self._seconds[name] = float(columns["seconds"][0][0])
        return TextReading(**{c: columns[c][0] for c in _COLUMNS})

    def seconds(self, text: PlainText, ids: I64, verifier: str = "same") -> float:
        """Return the processor seconds that a reading took."""
        prompt = text.prompt_ids.tolist() if verifier.endswith("+prompt") else None
        name = self._name("reading", [ids.tolist(), verifier, prompt])
        if name not in self._seconds:
            self.reading(text, ids, verifier)
        return self._seconds[name]

    def divergence(self, text: PlainText, verifier: str) -> float:
        """Return the mean divergence of a verifier's model from the source, in bits a token."""
        name = self._name("divergence", [text.ids.tolist(), verifier.partition("+")[0]])
        if name not in self._cache:
            self._checkpoint()
            bits = divergence_bits(self.model, self.verifier(verifier), [text.ids])
            self._cache.put(name, {"bits": [bits]})
        return float(self._cache.get(name)["bits"][0].mean())

    def _read(self, model: LanguageModel, ids: I64, prompt: list[int] | None) -> TextReading:
        reading = read(model, ids, keys=[self.order], profile=self.plain, prompt_ids=prompt)
        return TextReading.of(reading)

    def key(self, *parts: Any) -> FixedPhaseKey:
        """Return the key of a text in a cell."""
        return FixedPhaseKey(_digest(["key", *parts]), self.order)

    def rng(self, *parts: Any) -> np.random.Generator:
        """Return the randomness of a text in a cell."""
        return self._rng(["dice", *parts])

    def _rng(self, parts: list[Any]) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(_digest(parts)[:8], "little"))

    def _hit(self, text: PlainText, attack: str, params: Mapping[str, Any]) -> str:
        attacker = [] if self.attacker is None else [self.attacker.fingerprint]
        return self._name("attacked", [attack, dict(params), text.ids.tolist(), *attacker])

    def _name(self, kind: str, parts: list[Any]) -> str:
        return f"{kind}.{_digest([self.model.fingerprint, SEED, *parts]).hex()[:24]}"


def _dropped(layers: int) -> list[int]:
    positions = np.linspace(0, len(DROPPED) - 1, max(1, layers // 5)).round().astype(int)
    return sorted({DROPPED[n] * layers // 30 for n in positions.tolist()})


def _chosen(domain: str, first: int) -> list[str]:
    """Return the prompts of a file, spread over the list."""
    prompts = prompts_of(domain)
    return [prompts[((first + i) * 7) % len(prompts)] for i in range(BATCH)]


def _digest(parts: list[Any]) -> bytes:
    return blake2b(canonical(parts), digest_size=32).digest()
