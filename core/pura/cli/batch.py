"""``pura batch``: a pile of texts into one file of rows."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pura.base.process import confines_children
from pura.cli.options import (
    AuditOptions,
    EngineOption,
    FdrOption,
    JobsOption,
    ReplaceFile,
    refuse_rate,
    with_audit_options,
)
from pura.cli.terminal import (
    Language,
    RowsInto,
    err,
    language,
    out,
    refuse_unknown,
    say,
    warn_unconfined,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.usecases.batch import BatchDone

_OUTCOME_CODES: Final = {"mark": 3, "indication": 4}

app = App()

Output = Annotated[
    str, typer.Option("--output", "-o", metavar="OUT", help="The result: .jsonl or .parquet.")
]
OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--output-format", metavar="NAME", help="jsonl or parquet, whatever the result's name."
    ),
]
ByOutcome = Annotated[
    bool,
    typer.Option(
        "--exit-by-outcome", help="Exit code 3 when a text is marked, 4 for an indication."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="The summary as one JSON object.")]


@app.command("run")
@with_audit_options
def run(
    options: AuditOptions,
    output: Output,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE…",
            help="Files, folders, patterns in quotes, or addresses like s3://bucket/texts.parquet.",
        ),
    ] = None,
    files_from: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Also take the names in this file, “-”: from input."),
    ] = None,
    nul: Annotated[
        bool, typer.Option("--null", "-0", help="These names end with a zero byte.")
    ] = False,
    text_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Tables: the column that holds the text.")
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Tables: the column with your own identifier."),
    ] = None,
    form: OutputFormat = None,
    records: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also keep whole records, by digest of the text."),
    ] = None,
    jobs: JobsOption = 1,
    engine: EngineOption = "local",
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only this part of the inputs, e.g. 1/8.")
    ] = "1/1",
    journal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where it is noted what is done; else OUT.journal."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew, and replace a result that is there.")
    ] = False,
    recursive: Annotated[
        bool,
        typer.Option(
            "--recursive/--no-recursive", "-r", help="Folders: enter those inside them too."
        ),
    ] = True,
    by_outcome: ByOutcome = False,
    as_json: AsJson = False,
    _language: Language = "",
) -> None:
    """Audit every text of the inputs into one file of rows, one a text.

    Stopped or killed, the same command goes on where it was; called again later, it reads what is
    new. What cannot be examined is a row with an error. Exit codes: 0 every text was examined, 1
    some could not be, 2 usage.
    """
    from pura.batch.inputs import Columns, Inputs
    from pura.cli.progress import batch_bar
    from pura.documents import ReadOptions
    from pura.usecases.batch import ENGINES, run_batch

    options.refuse()
    refuse_unknown("--engine", engine, ENGINES)
    part_of = _shard(shard)
    if not files and not files_from:
        raise typer.BadParameter(say("batch.no-inputs"), param_hint="FILE…")
    at = options.environment()
    if not confines_children():  # its workers have nobody to tell
        warn_unconfined()
    try:
        with _lists(files_from or []) as lists, batch_bar() as tell:
            inputs = Inputs(
                names=tuple(files or ()),
                lists=lists,
                nul=nul,
                walk=options.walk(recursive=recursive),
                columns=Columns(
                    text=text_column,
                    id=id_column,
                    options=ReadOptions(
                        encoding=options.encoding, field=text_column, trust=options.trusted
                    ),
                ),
                parts=tuple(options.part or ()),
                shard=part_of,
            )
            done = run_batch(
                at,
                inputs=inputs,
                setup=options.setup(at),
                output=output,
                form=form,
                records=records,
                fdr=options.fdr,
                engine=engine,
                jobs=jobs,
                journal=journal,
                anew=force,
                tell=tell,
            )
    finally:
        at.session_keys.wipe()
    _end(done, by_outcome=by_outcome, as_json=as_json)


@app.command("merge")
def merge(
    results: Annotated[
        list[str], typer.Argument(metavar="RESULT…", help="Results, one of each shard.")
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="The result: .jsonl or .parquet."),
    ] = None,
    form: OutputFormat = None,
    fdr: FdrOption = None,
    force: ReplaceFile = False,
    by_outcome: ByOutcome = False,
    as_json: AsJson = False,
    _language: Language = "",
) -> None:
    """Put the results of shards into one, in the order of the inputs; one result is converted."""
    from pura.usecases.batch import merge_batch

    refuse_rate(fdr)
    if output is None:  # as in 0.4, where it stood in front
        output, *results = results
        err.print(say("former", former=output, now=f"--output {output}"))
    if not results:
        raise typer.BadParameter(say("choose.output"), param_hint="--output")
    done = merge_batch(output, results, form=form, fdr=fdr, replacing=force)
    _end(done, by_outcome=by_outcome, as_json=as_json)


@app.command("summary")
def summary(
    result: Annotated[str, typer.Argument(metavar="RESULT", help="The result of a batch.")],
    form: Annotated[
        str | None,
        typer.Option(
            "--input-format", metavar="NAME", help="jsonl or parquet, whatever the result's name."
        ),
    ] = None,
    by_outcome: ByOutcome = False,
    as_json: AsJson = False,
    _rows: RowsInto = None,
    _language: Language = "",
) -> None:
    """Count what the result of a batch holds."""
    from pura.usecases.batch import summary_of

    _end(summary_of(result, form), by_outcome=by_outcome, as_json=as_json)


def _shard(asked: str) -> tuple[int, int]:
    """Return which part of the inputs is meant, from 0, and of how many."""
    first, slash, last = asked.partition("/")
    if slash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last):
        return int(first) - 1, int(last)
    raise typer.BadParameter(say("batch.shard"), param_hint="--shard")


@contextmanager
def _lists(names: list[str]) -> Iterator[tuple[Path, ...]]:
    """Lend the files of names; standard input, which is read twice, becomes one."""
    with tempfile.TemporaryDirectory(prefix="pura-") as folder:
        found = []
        for name in names:
            path = Path(name)
            if name == "-":
                path = Path(folder, "names")
                with path.open("wb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
            found.append(path)
        yield tuple(found)


def _end(done: BatchDone, *, by_outcome: bool, as_json: bool) -> None:
    """Say what became of a batch, and leave with its exit code."""
    if as_json:
        from pura.cli.rows import ROWS, row_of

        row = row_of(
            done,
            ROWS["batch"][1],
            outcomes=dict(sorted(done.outcomes.items())),
            errors=dict(sorted(done.errors.items())),
            examined_now=done.found,
            read_alone=done.alone,
            seconds=round(done.seconds, 1),
            skipped=dict(sorted(done.skipped.items())),
        )
        write_row(row, "batch")
    else:
        _say(done)
    code = 1 if done.errors or done.missing else 0
    found = (code for outcome, code in _OUTCOME_CODES.items() if done.outcomes[outcome])
    raise typer.Exit(next(found, code) if by_outcome else code)


def _say(done: BatchDone) -> None:
    from pura.documents.folders import MAX_DEPTH
    from pura.words.sentences import title

    out.print(say("batch.rows", count=done.rows, name=done.output))
    for outcome, count in done.outcomes.most_common():
        out.print(f"  {count}  {title(outcome, language())}")
    for code, count in done.errors.most_common():
        out.print(f"  {count}  {say('batch.error', code=code)}")
    if done.missing is not None:
        number, item = done.missing
        err.print(say("batch.missing", number=number, item=item), style="bold red")
    if done.chosen is not None:
        out.print(say("batch.chosen", count=done.chosen))
    if done.found:
        rate = done.found / done.seconds if done.seconds else 0.0
        out.print(
            say("batch.rate", count=done.found, seconds=f"{done.seconds:.1f}", rate=f"{rate:.3g}")
        )
    if done.alone:
        err.print(say("read-alone", count=done.alone))
    for reason, count in done.skipped.most_common():
        why = say(f"skipped.{reason}", depth=MAX_DEPTH, most=0)
        err.print(say("batch.skipped", count=count, why=why))
