"""``pura power``: how often marked texts of your own kind are found (power.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pura.base import numerals
from pura.base.errors import PolicyError
from pura.base.files import refuse_taken
from pura.cli.options import (
    Certificate,
    CertificatePassphrase,
    DeviceOption,
    DrawSeed,
    DtypeOption,
    FileToWrite,
    JsonLines,
    ProfileOption,
    Yes,
    environment,
    load_profile,
    number,
)
from pura.cli.terminal import (
    RowsInto,
    as_printed,
    confirm,
    language,
    out,
    passphrase_for,
    print_made,
    say,
    write_row,
)
from pura.cli.tree import App
from pura.measure import DOCUMENTS, LEARNT, PASSAGES, TEXTS, TOKENS

if TYPE_CHECKING:
    from pura.detect.verdict.power import PowerTable
    from pura.usecases.measurements import PowerFound

app = App()

_BARS: Final = {
    "texts": "bar.texts",
    "reading": "bar.reading",
    "reading-inside": "bar.reading-inside",
    "counting": "bar.counting",
}
Name = Annotated[str, typer.Argument(help="Its name, or the beginning of its fingerprint.")]
Trust = Annotated[
    list[Path] | None,
    typer.Option("--trust", metavar="CERT", help="Trusted certificate; several times."),
]


@app.command("measure")
def measure(
    name: Annotated[str, typer.Argument(help="What the table is called.")],
    profile: ProfileOption,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model that writes the texts.")
    ] = None,
    reader: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model that reads; else the same.")
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Text file with a prompt a line; else the study's."),
    ] = None,
    chat: Annotated[
        bool, typer.Option("--chat", help="Put the prompts into the model's chat template.")
    ] = False,
    texts: Annotated[int, number(TEXTS, "How many marked texts.")] = TEXTS.usual,
    learn: Annotated[
        int, number(LEARNT, "Learn a likelihood table too, of so many more.")
    ] = LEARNT.usual,
    tokens: Annotated[int, number(TOKENS, "Length of each, at most.")] = TOKENS.usual,
    passages: Annotated[
        str, typer.Option(metavar="LENGTHS", help="Lengths of passages in longer texts, in tokens.")
    ] = ",".join(map(str, PASSAGES)),
    documents: Annotated[
        str, typer.Option(metavar="LENGTHS", help="Lengths of those texts; empty: none.")
    ] = ",".join(map(str, DOCUMENTS)),
    edits: Annotated[
        list[str] | None,
        typer.Option("--edit", metavar="EDIT", help="Measure edited texts too: substitute:0.1"),
    ] = None,
    seed: DrawSeed = 1,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep half-done work here; it stays.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table to this file too.")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say about how long it takes.")
    ] = False,
    use: Annotated[bool, typer.Option("--use", help="Let the policy rely on it.")] = False,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
) -> None:
    """Measure a table; called again after a stop, it goes on where it was."""
    from pura.cli.progress import bars
    from pura.usecases.measurements import (
        estimate_power,
        export_power,
        measure_power,
        plan_power,
        show_power,
    )

    if output is not None:
        refuse_taken(output, PolicyError)  # before the work, not after it
    at = environment(device, dtype)
    plan = plan_power(
        name=name,
        profile=load_profile(at, profile),
        prompts=prompts,
        chat=chat,
        texts=texts,
        learn=learn,
        tokens=tokens,
        passages=_numbers(passages),
        documents=_numbers(documents),
        edits=tuple(edits or ()),
        seed=seed,
    )
    if estimate:
        minutes = max(1, round(estimate_power(at, plan=plan, model=model) / 60))
        out.print(say("power.estimate", minutes=minutes))
        return
    with bars(_BARS) as tell:
        sealed = measure_power(
            at, plan=plan, model=model, reader=reader, folder=folder, progress=tell
        )
    if output is not None:
        export_power(at, sealed.fingerprint, output)
    if use:
        use_(sealed.fingerprint)
    _print(show_power(at, sealed.fingerprint))


@app.command("list")
def list_(as_json: JsonLines = False, _rows: RowsInto = None) -> None:
    """List the stored tables."""
    from pura.detect.verdict.power import SHORT
    from pura.usecases.measurements import list_power

    for found in list_power(environment()):
        table = found.sealed.table
        if as_json:
            row = {
                "name": table.name,
                "fingerprint": table.fingerprint,
                "date": str(table.conditions.get("date", "")),
                "relied_on": found.relied_on,
            }
            write_row(row, "power-table")
            continue
        mark = say("power.relied-on") if found.relied_on else ""
        line = f"{table.fingerprint[:SHORT]}  {table.conditions.get('date', '')}  {table.name}"
        out.print(f"{line}  {mark}".rstrip())


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A file, a name, or the beginning of a fingerprint.")],
    trust: Trust = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole table as JSON.")] = False,
    _rows: RowsInto = None,
) -> None:
    """Show what a table says, what it was measured on, and whether its seal is whole."""
    from pura.usecases.measurements import show_power

    found = show_power(environment(), name, trust=tuple(trust or ()))
    if as_json:
        write_row(found.sealed.data)
    else:
        _print(found)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A table that was measured elsewhere.")],
    trust: Trust = None,
) -> None:
    """Take in a table; one that was altered is refused."""
    from pura.usecases.measurements import add_power

    _print_made(add_power(environment(), file, trust=tuple(trust or ())))


@app.command("export")
def export(
    name: Name,
    output: FileToWrite,
) -> None:
    """Write a stored table to a file."""
    from pura.usecases.measurements import export_power

    export_power(environment(), name, output)
    print_made("power-table", name, "", files=[output])


@app.command("sign")
def sign(
    name: Name,
    certificate: Certificate,
    passphrase_file: CertificatePassphrase = None,
) -> None:
    """Sign a stored table with the organisation's certificate."""
    from pura.usecases.measurements import sign_power

    secret = passphrase_for(certificate, passphrase_file)
    _print_made(sign_power(environment(), name=name, certificate=certificate, passphrase=secret))


@app.command("use")
def use_(
    name: Name,
    off: Annotated[bool, typer.Option("--off", help="No longer rely on it.")] = False,
) -> None:
    """Let the policy rely on a table; the version of the policy counts up."""
    from pura.usecases.measurements import rely_on_power

    policy = rely_on_power(environment(), name=name, on=not off)
    count = len(policy.power_tables)
    sentence = say("power.policy", rule=policy.rule, count=count)
    print_made("policy", policy.rule, sentence, count=count)


@app.command("remove")
def remove(name: Name, yes: Yes = False) -> None:
    """Delete a stored table."""
    from pura.usecases.measurements import remove_power

    at = environment()
    table = at.power.find(name).stem
    confirm(say("power.delete", name=table), yes=yes)
    remove_power(at, table)
    print_made("power-table", table, "")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace(" ", "").split(",") if part)
    except ValueError:
        raise typer.BadParameter(text) from None


def _print_made(found: PowerFound) -> None:
    """Say what a table is that was taken in or signed."""
    if not as_printed.json:
        _print(found)
        return
    table = found.sealed.table
    print_made("power-table", table.name, "", fingerprint=table.fingerprint)


def _print(found: PowerFound) -> None:
    table = found.sealed.table
    conditions = table.conditions
    out.print(say("power.title", name=table.name, table=table.fingerprint))
    names = conditions.get("names", {})
    out.print(
        say(
            "power.measured",
            date=str(conditions.get("date", "")),
            count=int(conditions.get("texts", 0)),
            generator=str(names.get("generator", "")),
            reader=str(names.get("reader", "")),
            kinds=", ".join(conditions.get("kinds", [])) or "–",
        ),
    )
    for line in _lines(table):
        out.print(line)
    signed = found.signed
    if signed is None:
        words = say("power.unsigned")
    else:
        trusted = "power.signed-trusted" if signed.trusted else "power.signed"
        words = say(trusted, subject=signed.subject)
    out.print(words)
    out.print(say("power.relied" if found.relied_on else "power.not-relied"))


def _lines(table: PowerTable) -> list[str]:
    from pura.detect.verdict.policy import load_policy
    from pura.usecases.measurements import SHARES, power_lines

    lines = []
    for line in power_lines(table, load_policy(environment().paths.policy).t_found):
        if line.edit:
            what = say("power.line-edited", edit=line.edit)
        elif line.text_usable:
            what = say("power.line-inside", count=line.text_usable)
        else:
            what = say("power.line-whole")
        reached = [
            say("power.from", share=numerals.percent(share, language()), count=needed)
            for share in SHARES
            if (needed := line.needed(share)) is not None
        ]
        if not reached:
            reached = [say("power.most", share=numerals.percent(max(line.limits), language()))]
        lines.append(
            say("power.line", what=what, reached=", ".join(reached), count=max(line.texts))
        )
    return lines
