"""Use cases of the lab's commands: experiments, comparison of schemes, scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pura.base.errors import InputError
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.usecases.environment import Environment

if TYPE_CHECKING:
    from pura.measure.cache import Cache
    from pura.model.load import LanguageModel
    from pura_lab.compare.methods import LawSource, Method
    from pura_lab.compare.work import TableCell
    from pura_lab.scores import Score


_STEP = "compare"
_STREAMS = 8  # plain texts from which laws are recorded
_COMMON_TOKENS = 4096  # tokens of the vocabulary in recorded laws


def compare(
    environment: Environment,
    *,
    folder: Path,
    texts: int = 8,
    bits: Sequence[int] = (12, 24, 36),
    methods: Sequence[str] = (),
    conditions: Sequence[str] = ("none",),
    tokens: Sequence[int] = (200,),
    model: str | None = None,
    recorded: bool = False,
    keys: int = 0,
    seed: int = 1,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[tuple[TableCell, ...], list[dict[str, Any]], str]:
    """Write, attack and read texts of every scheme, and write the results as Parquet.

    Args:
        environment: Environment with the models.
        folder: Folder of texts, readings and results, from which an interrupted run resumes.
        texts: Number of texts of a cell, rounded up to a multiple of eight.
        bits: Payload lengths.
        methods: Names of schemes; empty for all.
        conditions: ``none``, and attacks as ``name`` or ``name:strength``.
        tokens: Lengths; the longest is written, and the others are its beginnings.
        model: Name of the writing and reading model; None for the default.
        recorded: Whether to use laws recorded in a few plain texts instead of running the model at
            every step: fast, but without attacks.
        keys: Number of keys tried on texts without a mark.
        seed: Seed of all random draws.
        progress: Called after every few pieces.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: A scheme or attack is unknown, or the model is missing.
    """
    from pura.measure.attacks.rewrite import model_tools
    from pura.measure.cache import Cache
    from pura.measure.corpora import corpus, sentences_of
    from pura_lab.compare.methods import ModelSource, bench_of
    from pura_lab.compare.work import (
        TOGETHER,
        CellPart,
        CellReader,
        calibrate,
        lines_of,
        summarise,
        unmarked_texts,
        write,
        write_parquet,
    )

    tried = _methods(methods, conditions, recorded=recorded)
    loaded = environment.model(model)
    cache = Cache(folder)
    longest = max(tokens)
    source = _source(loaded, cache, longest, seed) if recorded else ModelSource(loaded)
    bench = bench_of(loaded, source)
    tools = model_tools(loaded, foreign=sentences_of(corpus("manual")))
    reader = CellReader(bench, cache, None if recorded else loaded, tools)
    pieces = [
        CellPart(
            method=method,
            bits=length,
            chunk=chunk,
            tokens=longest,
            source=f"{loaded.fingerprint}{'-laws' if recorded else ''}",
            seed=seed,
        )
        for chunk in range(-(-texts // 8))
        for length in sorted(bits, reverse=True)
        for method in tried
        if method.carries(length)
    ]
    finished = 0
    for start in range(0, len(pieces), TOGETHER):
        group = pieces[start : start + TOGETHER]
        checkpoint()
        missing = [piece for piece in group if piece.name not in cache]
        if missing:
            write(source, bench, missing, cache)
        for condition, length in product(conditions, tokens):
            for piece in group:
                checkpoint()
                if piece.outcome(condition, length) not in cache:
                    reader.read(piece, condition, length)
        finished += len(group)
        progress(Stage(name=_STEP, done=finished, total=len(pieces)))
    lines = [
        line
        for condition, length in product(conditions, tokens)
        for piece in pieces
        for line in lines_of(cache, piece, condition, length)
    ]
    if lines:
        write_parquet(folder / "lines.parquet", lines)
    assert tools.tokenise is not None
    plain = unmarked_texts(tools.tokenise) if keys else {}
    full_bench = bench_of(loaded, ModelSource(loaded)) if keys else bench
    unmarked = list(calibrate(full_bench, plain, keys, seed, cache=cache, checkpoint=checkpoint))
    return summarise(lines), unmarked, loaded.name


def _methods(methods: Sequence[str], conditions: Sequence[str], *, recorded: bool) -> list[Method]:
    from pura.measure.attacks.table import ATTACKS, named_strength
    from pura_lab.compare.methods import METHODS
    from pura_lab.compare.work import CLEAN

    unknown = [name for name in methods if name not in METHODS]
    attacks = [condition for condition in conditions if condition != CLEAN]
    for attack in attacks:
        named_strength(attack)
    if recorded:
        unknown += attacks
    if unknown:
        raise InputError(
            "lab.compare", name=unknown[0], known=", ".join([*METHODS, CLEAN, *ATTACKS])
        )
    names = methods or METHODS
    return [METHODS[name] for name in names if not (recorded and name.startswith("ctwl"))]


def _source(model: LanguageModel, cache: Cache, tokens: int, seed: int) -> LawSource:
    from pura_lab.compare.methods import LawSource, record_laws

    name = f"laws.{model.fingerprint}.{tokens}.{seed}"
    if name not in cache:
        cache.put(name, {"laws": [record_laws(model, _STREAMS, tokens, _COMMON_TOKENS, seed)]})
    return LawSource(cache.get(name)["laws"][0])


def score_texts(
    file: Path,
    *,
    reference: str = "reference",
    systems: tuple[str, ...] = ("marked", "plain"),
    bert: Path | None = None,
    layer: int | None = None,
    seed: int = 1,
) -> tuple[Score, ...]:
    """Score summaries or translations against references.

    Args:
        file: JSON lines.
        reference: Field of the reference.
        systems: Fields of the systems; each is also compared with the last one.
        bert: Folder of the model for BERTScore; None omits that score.
        layer: Layer of that model; None takes the one that bert-score knows.
        seed: Seed of the bootstrap.

    Raises:
        PuraError: File or model cannot be used, or a package is not installed.
    """
    from pura_lab.scores import read_texts, score

    return score(read_texts(file, reference, systems), bert=bert, layer=layer, seed=seed)


SMALL, LARGE = 16, 128
"""Numbers of texts of a cell."""


def list_experiments() -> dict[str, tuple[str, str, int, int]]:
    """Return the experiments in the order of the paper, by name.

    Each has a title, its counterpart in the paper, and its numbers of cells at either scale.
    """
    from pura_lab.experiments.bench import Scale
    from pura_lab.experiments.table import EXPERIMENTS

    return {
        name: (e.title, e.paper, len(e.cells(Scale())), len(e.cells(Scale(full=True))))
        for name, e in EXPERIMENTS.items()
    }


def run_experiments(
    environment: Environment,
    names: Sequence[str],
    *,
    output: Path,
    texts: int | None = None,
    full: bool = False,
    model: str | None = None,
    cache: Path | None = None,
    judge: str | None = None,
    attacker: str | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Iterator[tuple[str, Path]]:
    """Run experiments one after the other; an interrupted run resumes when it is called again.

    Args:
        environment: Environment with the models.
        names: Names of the experiments.
        output: Folder of rows, table, Parquet and figure; existing rows are not computed again.
        texts: Texts of a cell; None takes the small number, or the large one with ``full``.
        full: Whether to run every cell.
        model: Name of the source; None for the default.
        cache: Folder of texts and readings, which experiments share.
        judge: Another model that judges the quality of texts; None for a letter model.
        attacker: Another model that attacks texts; None for the source.
        progress: Called after every step.
        checkpoint: Called often; may raise.

    Yields:
        The table of each in Markdown, and its path; Parquet and figure lie beside it.

    Raises:
        PuraError: An experiment is unknown, or the model cannot be used.
        Cancelled: The checkpoint raised it; finished work is kept.
    """
    from pura.measure.cache import Cache
    from pura_lab.experiments.bench import ExperimentBench, Scale
    from pura_lab.experiments.run import run, write_results
    from pura_lab.experiments.table import EXPERIMENTS

    for name in names:
        if name not in EXPERIMENTS:
            raise InputError("choice.unknown", name=name, known=", ".join(EXPERIMENTS))
    # Loaded first: an environment keeps the last model, which all experiments share.
    other_models = [
        environment.model(other_name) if other_name else None for other_name in (judge, attacker)
    ]
    store = Cache(cache or environment.paths.measuring / "lab")
    bench = ExperimentBench(environment.model(model), store, checkpoint, *other_models)
    scale = Scale(
        texts=texts or (LARGE if full else SMALL),
        full=full,
        judge=judge or "",
        attacker=attacker or "",
    )
    for name in names:
        experiment = EXPERIMENTS[name]
        results = run(experiment, bench, scale, output, progress=progress, checkpoint=checkpoint)
        _, table, _ = write_results(experiment, results, output)
        yield table.read_text(encoding="utf-8"), table
