"""``pura lab compare`` and ``pura lab score``.

Schemes on one bench, and texts against references.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pura.cli.options import DeviceOption, DrawSeed, DtypeOption, ModelOption, environment
from pura.cli.progress import ProgressLine
from pura.cli.terminal import RowsInto, err, out, say, write_row

if TYPE_CHECKING:
    from pura_lab.compare.work import TableCell


def score(
    file: Annotated[Path, typer.Argument(help="JSON lines, one object a text.")],
    reference: Annotated[
        str, typer.Option(metavar="FIELD", help="The field of the reference.")
    ] = "reference",
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="The field of a system; the others are compared with the last."
            " Left out: marked, plain.",
        ),
    ] = None,
    bert: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="BERTScore too, with the model in this folder."),
    ] = None,
    layer: Annotated[
        int | None, typer.Option(min=1, help="Which layer of that model BERTScore takes.")
    ] = None,
    seed: DrawSeed = 1,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead.")] = False,
    _rows: RowsInto = None,
) -> None:
    """Score summaries or translations against references: ROUGE-1, BLEU, BERTScore."""
    from pura_lab.usecases.experiments import score_texts

    found = score_texts(
        file,
        reference=reference,
        systems=tuple(system or ("marked", "plain")),
        bert=bert,
        layer=layer,
        seed=seed,
    )
    if as_json:
        for line in found:
            write_row(vars(line), "score")
        return
    _print_head("score.head")
    for line in found:
        digits = 2 if line.metric == "bleu" else 4
        name = line.system if line.against is None else f"{line.system} - {line.against}"
        by = line.by.replace("|", r"\|")  # sacrebleu's signature has bars
        out.print(
            f"| {line.metric} | {name} | {line.value:.{digits}f}"
            f" | {line.low:.{digits}f} | {line.high:.{digits}f} | {by} |"
        )


def compare(
    folder: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Keeps texts, readings and results; a run that was stopped goes on.",
        ),
    ],
    texts: Annotated[
        int, typer.Option(min=1, max=10_000, help="Texts of each cell, rounded up to eights.")
    ] = 8,
    bits: Annotated[list[int] | None, typer.Option(help="Payload lengths.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Schemes; left out: all.")] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="What is done to the texts: “none”, or an attack, like “substitute:0.2”."
        ),
    ] = None,
    tokens: Annotated[
        list[int] | None,
        typer.Option(
            min=20, max=4000, help="Lengths; shorter texts are the beginnings of the longest."
        ),
    ] = None,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Take laws of a few plain texts instead of the model: quick, without attacks.",
        ),
    ] = False,
    keys: Annotated[int, typer.Option(min=0, help="Try so many keys on texts without a mark.")] = 0,
    seed: DrawSeed = 1,
    model: ModelOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON instead.")] = False,
    _rows: RowsInto = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
) -> None:
    """Compare PURA with the schemes of others on one bench (pura help rivals)."""
    from pura_lab.usecases.experiments import compare as run

    with ProgressLine("compare") as shown:
        cells, unmarked, name = run(
            environment(device, dtype),
            folder=folder,
            texts=texts,
            bits=tuple(bits or (12, 24, 36)),
            methods=tuple(method or ()),
            conditions=tuple(condition or ("none",)),
            tokens=tuple(tokens or (200,)),
            model=model,
            recorded=recorded,
            keys=keys,
            seed=seed,
            progress=shown,
        )
    if as_json:
        row = {"model": name, "cells": [vars(cell) for cell in cells], "unmarked": unmarked}
        write_row(row, "comparison")
        return
    _print(cells, unmarked)
    err.print(say("compare.kept", name=str(folder / "lines.parquet")))


def _print(cells: Sequence[TableCell], unmarked: Sequence[dict[str, Any]]) -> None:
    if cells:
        _print_head("compare.head")
    for c in cells:
        paper = "–" if c.published is None else f"{c.published:.1f}"
        out.print(
            f"| {c.condition} | {c.bits} | {c.tokens} | {c.method} | {c.match}/{c.texts}"
            f" | {100 * c.low:.0f}–{100 * c.high:.0f} | {100 * c.accuracy:.1f}"
            f" | {100 * c.erased:.1f} | {100 * c.edited:.1f} | {c.read_seconds:.3f}"
            f" | {c.write_seconds:.2f} | {c.perplexity:.1f}"
            f" | {100 * c.likeliest:+.1f} | {paper} |"
        )
    if unmarked:
        _print_head("compare.plain-head")
    for line in unmarked:
        evidence = "–" if line["evidence"] is None else f"{100 * line['evidence']:.1f} %"
        out.print(
            f"| {line['text']} | {line['method']} | {line['keys']} | {100 * line['printed']:.1f} %"
            f" | {100 * line['redrawn']:.1f} % | {evidence} |"
        )


def _print_head(key: str) -> None:
    """Print the first two lines of a table in Markdown."""
    head = say(key)
    out.print(head)
    out.print("|" + "---|" * (head.count("|") - 1))
