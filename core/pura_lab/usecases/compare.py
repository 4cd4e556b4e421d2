"""PURA and the schemes of others side by side (docs/rivals.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import InputError
from pura.base.progress import Checkpoint, Progress, Stage, unstopped, untold
from pura.usecases.environment import Environment

if TYPE_CHECKING:
    from pura.measure.cache import Cache
    from pura.model.load import LanguageModel
    from pura_lab.compare.calibration import Calibration
    from pura_lab.compare.methods import Method
    from pura_lab.compare.sources import LawSource, ModelSource
    from pura_lab.compare.tables import TableCell

_STEP = "compare"
_STREAMS = 8
_KEPT = 4096


@dataclass(frozen=True, kw_only=True)
class CompareSchemes:
    """What is compared.

    Attributes:
        folder: Keeps texts, readings and results; a run that was stopped goes on from there.
        texts: How many a cell, rounded up to eights.
        bits: Payload lengths.
        methods: Names of schemes; all when empty.
        conditions: ``none``, and attacks as ``name`` or ``name:strength``.
        tokens: Length of each text.
        model: Writes and reads; None takes the usual one.
        recorded: Take the laws that the model said in a few plain texts instead of asking it at
            every step: quick, and no attacks.
        keys: Keys that are tried on texts without a mark; 0: none.
        seed: Of everything that is drawn.
    """

    folder: Path
    texts: int = 8
    bits: Sequence[int] = (12, 24, 36)
    methods: Sequence[str] = ()
    conditions: Sequence[str] = ("none",)
    tokens: int = 200
    model: str | None = None
    recorded: bool = False
    keys: int = 0
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What came out.

    Attributes:
        cells: By condition and payload length, best match first.
        calibration: What is printed as p-values on texts without a mark.
        model: Name of the model.
    """

    cells: Sequence[TableCell] = ()
    calibration: Sequence[Calibration] = field(default=())
    model: str


def compare(
    environment: Environment,
    request: CompareSchemes,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> Compared:
    """Write, attack and read texts of every scheme, and write the lines as Parquet.

    Raises:
        PuraError: There is no such scheme or attack, or no model.
    """
    from pura.measure.attacks.local import model_tools
    from pura.measure.cache import Cache
    from pura.measure.corpora import corpus, sentences_of
    from pura_lab.compare.calibration import calibrate, unmarked_texts
    from pura_lab.compare.sources import ModelSource, bench_of
    from pura_lab.compare.tables import summarise, write_parquet
    from pura_lab.compare.work import TOGETHER, CellPart, CellReader, lines_of, write

    methods = _methods(request)
    model = environment.model(request.model)
    cache = Cache(request.folder)
    source = _source(model, request, cache)
    bench = bench_of(model, source)
    tools = model_tools(model, foreign=sentences_of(corpus("manual")))
    reader = CellReader(bench, cache, None if request.recorded else model, tools)
    pieces = [
        CellPart(
            method=method,
            bits=bits,
            chunk=chunk,
            tokens=request.tokens,
            source=f"{model.fingerprint}{'-laws' if request.recorded else ''}",
            seed=request.seed,
        )
        for chunk in range(-(-request.texts // 8))
        for bits in sorted(request.bits, reverse=True)
        for method in methods
        if method.carries(bits)
    ]
    done = 0
    for at in range(0, len(pieces), TOGETHER):
        some = pieces[at : at + TOGETHER]
        checkpoint()
        missing = [piece for piece in some if piece.name not in cache]
        if missing:
            write(source, bench, missing, cache)
        for condition in request.conditions:
            for piece in some:
                checkpoint()
                if piece.outcome(condition) not in cache:
                    reader.read(piece, condition)
        done += len(some)
        progress(Stage(name=_STEP, done=done, total=len(pieces)))
    lines = [
        line
        for condition in request.conditions
        for piece in pieces
        for line in lines_of(cache, piece, condition)
    ]
    if lines:
        write_parquet(request.folder / "lines.parquet", lines)
    assert tools.tokenise is not None
    plain = unmarked_texts(tools.tokenise) if request.keys else {}
    whole = bench_of(model, ModelSource(model)) if request.keys else bench
    return Compared(
        cells=summarise(lines),
        calibration=tuple(
            calibrate(whole, plain, request.keys, request.seed, cache=cache, checkpoint=checkpoint)
        ),
        model=model.name,
    )


def _methods(request: CompareSchemes) -> list[Method]:
    from pura.measure.attacks import ATTACKS, named_strength
    from pura_lab.compare.methods import METHODS
    from pura_lab.compare.work import CLEAN

    unknown = [name for name in request.methods if name not in METHODS]
    attacks = [condition for condition in request.conditions if condition != CLEAN]
    for attack in attacks:
        named_strength(attack)
    if request.recorded:
        unknown += attacks
    if unknown:
        raise InputError(
            "lab.compare", name=unknown[0], known=", ".join([*METHODS, CLEAN, *ATTACKS])
        )
    names = request.methods or METHODS
    return [METHODS[name] for name in names if not (request.recorded and name.startswith("ctwl"))]


def _source(model: LanguageModel, request: CompareSchemes, cache: Cache) -> LawSource | ModelSource:
    from pura_lab.compare.sources import LawSource, ModelSource, record_laws

    if not request.recorded:
        return ModelSource(model)
    name = f"laws.{model.fingerprint}.{request.tokens}.{request.seed}"
    if name not in cache:
        laws = record_laws(model, _STREAMS, request.tokens, _KEPT, request.seed)
        cache.put(name, {"laws": [laws]})
    return LawSource(cache.get(name)["laws"][0])
