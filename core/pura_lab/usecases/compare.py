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
    from pura_lab.compare.sources import LawSource
    from pura_lab.compare.tables import TableCell

_STEP = "compare"
_STREAMS = 8
_KEPT = 4096


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
    *,
    folder: Path,
    texts: int = 8,
    bits: Sequence[int] = (12, 24, 36),
    methods: Sequence[str] = (),
    conditions: Sequence[str] = ("none",),
    tokens: int = 200,
    model: str | None = None,
    recorded: bool = False,
    keys: int = 0,
    seed: int = 1,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> Compared:
    """Write, attack and read texts of every scheme, and write the lines as Parquet.

    Args:
        environment: Whose models.
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
        progress: Told after every few pieces.
        checkpoint: Called often; may raise.

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

    tried = _methods(methods, conditions, recorded=recorded)
    loaded = environment.model(model)
    cache = Cache(folder)
    source = _source(loaded, cache, tokens, seed) if recorded else ModelSource(loaded)
    bench = bench_of(loaded, source)
    tools = model_tools(loaded, foreign=sentences_of(corpus("manual")))
    reader = CellReader(bench, cache, None if recorded else loaded, tools)
    pieces = [
        CellPart(
            method=method,
            bits=length,
            chunk=chunk,
            tokens=tokens,
            source=f"{loaded.fingerprint}{'-laws' if recorded else ''}",
            seed=seed,
        )
        for chunk in range(-(-texts // 8))
        for length in sorted(bits, reverse=True)
        for method in tried
        if method.carries(length)
    ]
    done = 0
    for at in range(0, len(pieces), TOGETHER):
        some = pieces[at : at + TOGETHER]
        checkpoint()
        missing = [piece for piece in some if piece.name not in cache]
        if missing:
            write(source, bench, missing, cache)
        for condition in conditions:
            for piece in some:
                checkpoint()
                if piece.outcome(condition) not in cache:
                    reader.read(piece, condition)
        done += len(some)
        progress(Stage(name=_STEP, done=done, total=len(pieces)))
    lines = [
        line
        for condition in conditions
        for piece in pieces
        for line in lines_of(cache, piece, condition)
    ]
    if lines:
        write_parquet(folder / "lines.parquet", lines)
    assert tools.tokenise is not None
    plain = unmarked_texts(tools.tokenise) if keys else {}
    whole = bench_of(loaded, ModelSource(loaded)) if keys else bench
    return Compared(
        cells=summarise(lines),
        calibration=tuple(calibrate(whole, plain, keys, seed, cache=cache, checkpoint=checkpoint)),
        model=loaded.name,
    )


def _methods(methods: Sequence[str], conditions: Sequence[str], *, recorded: bool) -> list[Method]:
    from pura.measure.attacks import ATTACKS, named_strength
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
    from pura_lab.compare.sources import LawSource, record_laws

    name = f"laws.{model.fingerprint}.{tokens}.{seed}"
    if name not in cache:
        cache.put(name, {"laws": [record_laws(model, _STREAMS, tokens, _KEPT, seed)]})
    return LawSource(cache.get(name)["laws"][0])
