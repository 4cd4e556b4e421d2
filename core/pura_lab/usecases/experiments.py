"""The lab's use cases: experiments, and scores of summaries and translations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import InputError
from pura.base.progress import Checkpoint, Progress, unstopped, untold
from pura.usecases.environment import Environment

if TYPE_CHECKING:
    from pura_lab.scores import Score


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
        reference: The field of the reference.
        systems: The fields of the systems; each but the last is also compared with the last.
        bert: Folder of the model of BERTScore; None leaves that out.
        layer: Which of its layers; None takes the one that bert-score knows.
        seed: Of the bootstrap.

    Raises:
        PuraError: File or model cannot be used, or a package is not installed.
    """
    from pura_lab.scores import read_texts, score

    return score(read_texts(file, reference, systems), bert=bert, layer=layer, seed=seed)


@dataclass(frozen=True, kw_only=True)
class ExperimentLine:
    """One line of the list of experiments.

    Attributes:
        name: As it is asked for.
        title: For people.
        paper: Its counterpart in the paper.
        cells: Cells at the small scale, and of all.
    """

    name: str
    title: str
    paper: str
    cells: tuple[int, int]


SMALL, LARGE = 16, 128
"""Texts a cell."""


def list_experiments() -> tuple[ExperimentLine, ...]:
    """Return the experiments in the order of the paper."""
    from pura_lab.experiments.base import Scale
    from pura_lab.experiments.table import EXPERIMENTS

    return tuple(
        ExperimentLine(
            name=e.name,
            title=e.title,
            paper=e.paper,
            cells=(len(e.cells(Scale())), len(e.cells(Scale(full=True)))),
        )
        for e in EXPERIMENTS.values()
    )


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
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> Iterator[tuple[str, Path]]:
    """Run experiments one after the other; called again after a stop, they go on where they were.

    Args:
        environment: Whose models.
        names: Of the experiments.
        output: Folder of rows, table, Parquet and figure; what is there already is not done again.
        texts: Texts a cell; None takes the small number, or the large one with ``full``.
        full: Every cell.
        model: The source; None takes the usual one.
        cache: Folder of texts and readings, which experiments share.
        judge: Another model, which judges how good texts are; None takes one of letters.
        attacker: Another model, which attacks texts; None takes the source.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Yields:
        The table of each in Markdown, and its path; Parquet and figure lie beside it.

    Raises:
        PuraError: There is no such experiment, or the model cannot be used.
        Cancelled: The checkpoint said so; what was done is kept.
    """
    from pura.measure.cache import Cache
    from pura_lab.experiments.base import Scale
    from pura_lab.experiments.bench import ExperimentBench
    from pura_lab.experiments.run import run, write_results
    from pura_lab.experiments.table import EXPERIMENTS

    for name in names:
        if name not in EXPERIMENTS:
            raise InputError("choice.unknown", name=name, known=", ".join(EXPERIMENTS))
    # Fetched first: an environment keeps the last one, which all experiments share.
    others = [environment.model(one) if one else None for one in (judge, attacker)]
    kept = Cache(cache or environment.paths.measuring / "lab")
    bench = ExperimentBench(environment.model(model), kept, checkpoint, *others)
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
