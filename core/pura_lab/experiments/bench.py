"""What all experiments stand on: cells, texts and their keeping."""

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
"""What makes a cell: plain values by name; the names are columns of the result."""
Row = Mapping[str, Any]
"""What was measured of one text: numbers, truth values, and lists that figures need."""

DRAWS: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is done.

    Attributes:
        texts: Texts a cell.
        full: Every cell, instead of those that show the shape.
        judge: The model that judges how good texts are; empty for one of letters.
        attacker: The model that attacks texts; empty for the one that wrote them.
    """

    texts: int = 24
    full: bool = False
    judge: str = ""
    attacker: str = ""


@dataclass(frozen=True, kw_only=True)
class Number:
    """A mean with its 95 % interval: Wilson's for shares, else of the bootstrap over texts.

    Attributes:
        value: The mean.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment.

    Attributes:
        name: As it is asked for.
        title: For people.
        paper: The figure or table of the paper that it answers.
        cells: Its cells at a scale, the most important first.
        row: What is measured of text ``number`` in a cell.
        columns: Measured columns that its table shows; others are in the Parquet file.
        x: The column along the axis of its figure.
        y: The columns that are drawn, one line each.
        lines: Columns of the cells that make further lines.
        panels: Column of the cells that makes a picture each; empty for one.
        log: The axis is logarithmic.
        pooled: Numbers of a cell that are of all its texts together, with their intervals if they
            have some.
        most: Texts a cell at most, where a text is dear.
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
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """A cell and what its texts gave.

    Attributes:
        cell: The cell.
        texts: How many.
        numbers: By measured column.
        rows: One a text.
    """

    cell: Cell
    texts: int
    numbers: Mapping[str, Number]
    rows: Sequence[Row] = field(repr=False)


def summarise(experiment: Experiment, cell: Cell, rows: Sequence[Row]) -> CellResult:
    """Add up the texts of a cell."""
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
OURS: Final = ("pura", "pura-keys")
"""All texts under one key, as an organisation writes them; and each under a key of its own."""
BITS: Final = 36


def prompts() -> tuple[str, ...]:
    """Return what opens the texts, of all three kinds; no two numbers below 500 share one."""
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
        model: Writes.
        mark: One of :data:`PLAIN` or :data:`OURS`, or a scheme of ``pura lab compare``, which
            gets one key for all texts. Every text has a payload of its own.
        numbers: Of the texts; a number has the same prompt under every mark.
        tokens: Length of each.
        seed: Of keys, payloads and random draws.
        checkpoint: Called before every step; may raise.

    Returns:
        Of each its tokens, int64 [L], and what stood before them.
    """

    def digest(what: str, number: int) -> bytes:
        return blake2b(f"{seed}/{mark}/{what}/{number}".encode(), digest_size=32).digest()

    def rng(what: str, number: int) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(digest(what, number), "little"))

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
    marked = mark in OURS
    keys = [SecretKey(digest("key", n if mark == "pura-keys" else 0)) for n in numbers]
    made = generate_batch(
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
    return [(m.ids, start) for m, start in zip(made, starts, strict=True)]


BATCH: Final = 8
"""Texts in a file."""
ROWS: Final = 32
"""Texts that are written side by side: a step reads all weights, whatever the number of rows."""
WRITTEN_TOKENS: Final = 120
"""Tokens of a text that is written with a mark."""
SEED: Final = 20_261_122
_ORDER: Final = blake2b(b"order of the vocabulary in experiments", digest_size=32).digest()
_COLUMNS: Final = tuple(f.name for f in fields(TextReading))
DROPPED: Final = (5, 10, 14, 18, 22, 26)
"""Layers that the usual proxy lacks, of 30; of other models a fifth too, in the same places."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlainText:
    """A text without a mark that any mark can be laid into.

    Attributes:
        number: In its set.
        prompt_ids: int64 [P].
        generator: The reading of the model that wrote it, with the prompt.
        points: float64 [L], where its tokens were drawn.
        file: On the cache, with the texts that were written side by side with it.
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
    """A text as a model wrote it, with a mark or without.

    Attributes:
        text: What its tokens say.
        ids: int64 [L], its tokens.
        log_p: float64 [L], the log probability of each by the model that wrote it, nats.
    """

    text: str
    ids: I64
    log_p: F64


class ExperimentBench:
    """Texts and readings, made when they are asked for.

    Args:
        model: The source; it writes, and as a verifier it reads.
        cache: Where everything is kept.
        checkpoint: Called before every piece of work; may raise.
        judge: Another model, which judges texts.
        attacker: Another model, which attacks texts; None lets the source do it.

    Attributes:
        ahead: So many texts of a corpus will be asked for; they are written side by side.
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
        """The key whose secret order all intervals are of; phases are laid anew each time."""
        return SecretKey(_ORDER)

    @cached_property
    def plain(self) -> Profile:
        """Says how texts are sampled and read; nothing else of it matters."""
        return Profile(
            payload_bits=36,
            code="tbcc",
            vocab_size=self.model.vocab_size,
            prefix="bos" if opening_ids(self.model) else "none",
        )

    @cached_property
    def tools(self) -> Tools:
        """What attacks may use."""
        foreign = sentences_of(corpus("manual"))
        if self.attacker is not None:
            return model_tools(self.attacker, foreign=foreign)
        return model_tools(self.model, foreign=foreign, reference=self.verifier("proxy"))

    def verifier(self, name: str) -> LanguageModel:
        """Return a verifier's model.

        Args:
            name: ``same``, ``proxy`` (:func:`_dropped` left out), ``drop-N``: N layers left out
                evenly, ``noise-X``: normal noise of X spreads, ``int-N``: weights rounded to N
                bits, ``tuned-N``: after N steps on Python's manual. What is behind a ``+`` is not
                of the model.
        """
        kind = name.partition("+")[0]
        if kind not in self._verifiers:
            self._verifiers[kind] = self._made(kind)
        return self._verifiers[kind]

    def _made(self, kind: str) -> LanguageModel:
        what, _, value = kind.partition("-")
        layers = self.model.network.config.num_hidden_layers
        if kind == "proxy":
            return drop_layers(self.model, _dropped(layers))
        if what == "drop":
            lost = np.linspace(2, layers - 2, int(value)).round().astype(int)
            return drop_layers(self.model, lost.tolist())
        if what == "noise":
            return perturb_weights(self.model, float(value), np.random.default_rng(SEED))
        if what == "int":
            return quantise_weights(self.model, int(value))
        if what == "tuned":
            tokenizer = self.model.tokenizer
            texts = [tokenise(tokenizer, text).ids for text in corpus("manual")]
            return finetune(self.model, [t for t in texts if t.size >= 64], steps=int(value))
        raise InputError("choice.unknown", name=kind, known="same, proxy, drop-N, noise-X, int-N")

    def text(self, number: int, *, domain: str = "openings", tokens: int = 200) -> PlainText:
        """Return a plain text of a corpus, written when it is not there yet, with its batch."""
        at = (domain, tokens, number)
        if at not in self._texts:
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
        return self._texts[at]

    def _file(self, domain: str, tokens: int, first: int) -> str:
        return self._name("text", [domain, tokens, first, _chosen(domain, first)])

    def _missing(self, first: int, name: Callable[[int], str]) -> list[int]:
        """Return the first numbers of the files that are written together, ``first`` among them."""
        ahead = range(first, max(first + 1, min(self.ahead, first + ROWS)), BATCH)
        return [f for f in ahead if name(f) not in self._cache]

    def composite(self, numbers: Sequence[int], **where: Any) -> PlainText:
        """Return texts one after the other, each read on its own."""
        texts = [self.text(number, **where) for number in numbers]
        return PlainText(
            number=numbers[0],
            prompt_ids=texts[0].prompt_ids,
            generator=joined([t.generator for t in texts]),
            points=np.concatenate([t.points for t in texts]),
        )

    def _write(self, domain: str, tokens: int, firsts: Sequence[int]) -> None:
        prompts = [prompt for first in firsts for prompt in _chosen(domain, first)]
        made = generate_batch(
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
            some = made[number * BATCH : (number + 1) * BATCH]
            readings = [self._read(self.model, m.ids, m.prompt_ids.tolist()) for m in some]
            rng = np.random.default_rng([SEED, first, tokens])
            columns: dict[str, Any] = {c: [getattr(r, c) for r in readings] for c in _COLUMNS}
            columns["entropy_bits"] = [m.entropy_bits for m in some]
            columns["prompt_ids"] = [m.prompt_ids for m in some]
            columns["points"] = [r.lo + (r.hi - r.lo) * rng.random(r.lo.size) for r in readings]
            self._cache.put(self._file(domain, tokens, first), columns)

    def written(self, mark: str, number: int) -> WrittenText:
        """Return a text that was really written with a mark, with its batch when it is missing."""

        def name(first: int) -> str:
            return self._name("written", [mark, first, WRITTEN_TOKENS, list(prompts())])

        first = number - number % BATCH
        if name(first) not in self._cache:
            missing = self._missing(first, name)
            some = write_texts(
                self.model,
                mark,
                [f + i for f in missing for i in range(BATCH)],
                tokens=WRITTEN_TOKENS,
                seed=SEED,
                checkpoint=self._checkpoint,
            )
            said = [self._read(self.model, *text) for text in some]
            for at, f in enumerate(missing):
                here = slice(BATCH * at, BATCH * (at + 1))
                columns = {
                    "ids": [ids for ids, _ in some[here]],
                    "log_p": [np.log(reading.probability) for reading in said[here]],
                }
                self._cache.put(name(f), columns)
        columns = self._cache.get(name(first))
        ids, log_p = (columns[c][number - first] for c in ("ids", "log_p"))
        return WrittenText(text=decode(self.model.tokenizer, ids.tolist()), ids=ids, log_p=log_p)

    def attacked(self, text: PlainText, attack: str, **params: Any) -> Attacked:
        """Return what an attack makes of a text's tokens; its draws follow from text and attack."""
        if attack == "clean":
            return Attacked(ids=text.ids, origin=np.arange(text.ids.size), rate=0.0)
        name = self._hit(text, attack, params)
        if name not in self._cache:
            self._checkpoint()
            some = [text]
            if ATTACKS[attack].target == "many" and text.file:
                some = [t for t in self._texts.values() if t.file == text.file]
            rng = [self._rng([attack, params, t.ids.tolist()]) for t in some]
            hits = self._attack(attack, [t.ids for t in some], rng, params)
            for one, done in zip(some, hits, strict=True):
                origin = np.zeros(0, np.int64) if done.origin is None else done.origin
                rows = {"ids": [done.ids], "origin": [origin], "rate": [np.array([done.rate])]}
                self._cache.put(self._hit(one, attack, params), rows)
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
        """Return what a verifier reads of some tokens.

        Args:
            text: Whose prompt is known where the verifier's name ends in ``+prompt``.
            ids: int64 [L'].
            verifier: As in :meth:`verifier`.
        """
        prompt = text.prompt_ids.tolist() if verifier.endswith("+prompt") else None
        name = self._name("reading", [ids.tolist(), verifier, prompt])
        if name not in self._cache:
            self._checkpoint()
            model = self.verifier(verifier)
            start = time.process_time()
            seen = self._read(model, ids, prompt)
            took = np.array([time.process_time() - start])
            columns = {c: [getattr(seen, c)] for c in _COLUMNS}
            self._cache.put(name, columns | {"seconds": [took]})
        columns = self._cache.get(name)
        self._seconds[name] = float(columns["seconds"][0][0])
        return TextReading(**{c: columns[c][0] for c in _COLUMNS})

    def seconds(self, text: PlainText, ids: I64, verifier: str = "same") -> float:
        """Return the processor seconds that a reading took when it was made."""
        prompt = text.prompt_ids.tolist() if verifier.endswith("+prompt") else None
        name = self._name("reading", [ids.tolist(), verifier, prompt])
        if name not in self._seconds:
            self.reading(text, ids, verifier)
        return self._seconds[name]

    def divergence(self, text: PlainText, verifier: str) -> float:
        """Return how far a verifier's model is from the source on a text, mean bits a token."""
        name = self._name("divergence", [text.ids.tolist(), verifier.partition("+")[0]])
        if name not in self._cache:
            self._checkpoint()
            bits = divergence_bits(self.model, self.verifier(verifier), [text.ids])
            self._cache.put(name, {"bits": [bits]})
        return float(self._cache.get(name)["bits"][0].mean())

    def _read(self, model: LanguageModel, ids: I64, prompt: list[int] | None) -> TextReading:
        seen = read(model, ids, keys=[self.order], profile=self.plain, prompt_ids=prompt)
        return TextReading.of(seen)

    def key(self, *what: Any) -> FixedPhaseKey:
        """Return a fresh key of a text in a cell."""
        return FixedPhaseKey(_digest(["key", *what]), self.order)

    def rng(self, *what: Any) -> np.random.Generator:
        """Return the randomness of a text in a cell."""
        return self._rng(["dice", *what])

    def _rng(self, what: list[Any]) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(_digest(what)[:8], "little"))

    def _hit(self, text: PlainText, attack: str, params: Mapping[str, Any]) -> str:
        by = [] if self.attacker is None else [self.attacker.fingerprint]
        return self._name("attacked", [attack, dict(params), text.ids.tolist(), *by])

    def _name(self, kind: str, what: list[Any]) -> str:
        return f"{kind}.{_digest([self.model.fingerprint, SEED, *what]).hex()[:24]}"


def _dropped(layers: int) -> list[int]:
    some = np.linspace(0, len(DROPPED) - 1, max(1, layers // 5)).round().astype(int)
    return sorted({DROPPED[n] * layers // 30 for n in some.tolist()})


def _chosen(domain: str, first: int) -> list[str]:
    """Return the prompts of a file, spread over the list, whatever its order is."""
    prompts = prompts_of(domain)
    return [prompts[((first + i) * 7) % len(prompts)] for i in range(BATCH)]


def _digest(what: list[Any]) -> bytes:
    return blake2b(canonical(what), digest_size=32).digest()
