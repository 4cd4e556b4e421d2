"""``pura lab score``: summaries and translations against references (docs/lab.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pura.cli.terminal import RowsInto, out, say, write_row


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
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 1,
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
    head = say("score.head")
    out.print(head)
    out.print("|" + "---|" * (head.count("|") - 1))
    for line in found:
        digits = 2 if line.metric == "bleu" else 4
        name = line.system if line.against is None else f"{line.system} - {line.against}"
        by = line.by.replace("|", r"\|")  # sacrebleu's signature has bars
        out.print(
            f"| {line.metric} | {name} | {line.value:.{digits}f}"
            f" | {line.low:.{digits}f} | {line.high:.{digits}f} | {by} |"
        )
