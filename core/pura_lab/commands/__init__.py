"""``pura lab``: attacks on texts, and what they do to marks (lab.md)."""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.errors import InputError, naming
from pura.base.files import refuse_taken, write_or_refuse
from pura.cli.options import (
    DeviceOption,
    DrawSeed,
    DtypeOption,
    KeyFile,
    KeyName,
    ModelOption,
    PayloadBits,
    ProfileOption,
    environment,
    find_key,
    load_profile,
    payload_of,
    session,
)
from pura.cli.terminal import RowsInto, err, out, rows_into, say, write_row, write_text
from pura.cli.tree import App
from pura_lab.commands.compare import compare, score

if TYPE_CHECKING:
    from pura.measure.decomposition import Decomposition

app = App()
app.command("compare")(compare)
app.command("score")(score)

InputFile = Annotated[str, typer.Argument(help="Document; “-” is standard input.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One line of JSON instead.")]


@app.command("attacks")
def attacks() -> None:
    """List the attacks and their parameters."""
    from pura.usecases.measurements import list_attacks

    for line in list_attacks():
        params = "  ".join(f"{name}={value:g}" for name, value in line.params.items())
        out.print(f"{line.name:22}{params}".rstrip())


@app.command("attack")
def attack(
    name: Annotated[str, typer.Argument(help="The attack; “pura lab attacks” lists them.")],
    file: InputFile,
    strength: Annotated[
        float | None, typer.Option(help="How hard it hits; left out: its usual strength.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A further parameter of the attack."),
    ] = None,
    seed: DrawSeed = 1,
    model: ModelOption = None,
    foreign: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Text by somebody else, for what mixes texts."),
    ] = None,
    thesaurus: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Thesaurus of MyThes, for synonyms.")
    ] = None,
    dipper: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of DIPPER's own model.")
    ] = None,
    translator: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="Folder of a model that translates; given twice: there, and back."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write text, or JSON, to this new file, not stdout."),
    ] = None,
    as_json: JsonOption = False,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
) -> None:
    """Attack a text, and say how hard it was hit."""
    from pura.usecases.measurements import attack_text, attack_tools

    if output is not None:
        refuse_taken(output)
    text, params = read_text(file), _settings(setting or [])
    tools = attack_tools(
        environment(device, dtype),
        model=model,
        foreign=foreign,
        thesaurus=thesaurus,
        dipper=dipper,
        translators=tuple(translator or ()),
    )
    attacked = attack_text(
        tools, attack=name, text=text, seed=seed, strength=strength, params=params
    )
    hit = attacked.damage
    if as_json:
        row = {
            "text": attacked.text,
            "ids": attacked.ids.tolist(),
            "by": attacked.writer,
            **vars(hit),
        }
        with rows_into(output) if output is not None else nullcontext():
            write_row(row, "attack")
        return
    if output is not None:
        write_or_refuse(output, attacked.text.encode(), InputError)
    else:
        write_text(attacked.text)
    err.print(
        say(
            "lab.hit",
            characters=_percent(hit.characters),
            words=_percent(hit.words),
            tokens=_percent(hit.tokens),
            similarity=f"{hit.similarity:.2f}",
            before=f"{hit.perplexity_before or math.nan:.1f}",
            after=f"{hit.perplexity or math.nan:.1f}",
        )
    )
    if attacked.writer:
        err.print(say("lab.by", name=attacked.writer))


@app.command("decompose")
def decompose(
    original: Annotated[str, typer.Argument(help="The marked text as it was written.")],
    edited: Annotated[str, typer.Argument(help="What became of it; “-” is standard input.")],
    profile: ProfileOption,
    payload: PayloadBits,
    key: KeyName = None,
    key_file: KeyFile = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
    _rows: RowsInto = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
) -> None:
    """Say what an edit did to a mark: what survived, how strong it is, what the bound says."""
    from pura.usecases.measurements import decompose_text

    with session(device, dtype) as workspace:
        shared = load_profile(workspace, profile)
        decomposition = decompose_text(
            workspace,
            original=read_text(original),
            edited=read_text(edited),
            payload=payload_of(shared, payload, None),
            key=find_key(workspace, key, key_file),
            profile=shared,
            model=model,
        )
    if as_json:
        readings = decomposition.readings
        write_row(
            {
                "paper": vars(decomposition.paper.margin),
                "exact": vars(decomposition.exact.margin),
                "paper_interval": _ends(decomposition.paper),
                "exact_interval": _ends(decomposition.exact),
                "paper_bits": [vars(bit) for bit in decomposition.paper_bits],
                "exact_bits": [vars(bit) for bit in decomposition.exact_bits],
                "outcome": vars(decomposition.outcome),
                "token": readings.token.tolist(),
                "position": readings.position.tolist(),
                "z": readings.z.tolist(),
                "synchronised": readings.synchronised.tolist(),
            },
            "decomposition",
        )
        return
    for name, part in (("lab.paper", decomposition.paper), ("lab.exact", decomposition.exact)):
        out.print(say(name))
        ends = _ends(part)
        values = {
            k: f"{v:.3f} ({ends[k][0]:.3f}-{ends[k][1]:.3f})" for k, v in vars(part.margin).items()
        }
        out.print(say("lab.margin", **values))
    right = decomposition.outcome
    out.print(
        say(
            "lab.right",
            paper=_percent(right.paper_bits),
            exact=_percent(right.exact_bits),
            evidence=f"{right.log10_e:.1f}",
        )
    )


@app.command("experiments")
def experiments() -> None:
    """List the experiments, their counterparts in the paper, and how many cells they have."""
    from pura_lab.usecases.experiments import list_experiments

    for name, (title, paper, small, full) in list_experiments().items():
        out.print(f"{name:12}{paper:11}{small:4}{full:5}  {title}")


@app.command("run")
def run(
    names: Annotated[
        list[str], typer.Argument(help="Experiments; “pura lab experiments” lists them; or: all.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the results.")
    ],
    texts: Annotated[
        int | None, typer.Option(min=2, max=100_000, help="Texts a cell; left out: as usual.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Every cell, not only those that show the shape.")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep texts and readings here, for other runs."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="Another model, which judges texts; left out: one of letters."
        ),
    ] = None,
    attacker: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="Another model, which attacks texts; left out: the source."
        ),
    ] = None,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
) -> None:
    """Run experiments; called again after a stop, they go on where they were."""
    from pura.cli.progress import bars
    from pura_lab.usecases.experiments import list_experiments, run_experiments

    selected = list(list_experiments()) if names == ["all"] else names
    with bars({"experiment": "bar.experiment"}) as report:
        for table, path in run_experiments(
            environment(device, dtype),
            selected,
            output=output,
            texts=texts,
            full=full,
            model=model,
            cache=cache,
            judge=judge,
            attacker=attacker,
            progress=report,
        ):
            err.print(say("lab.written", name=str(path)))
            sys.stdout.write(table + "\n")


def _ends(decomposition: Decomposition) -> dict[str, tuple[float, float]]:
    return {k: (low, getattr(decomposition.high, k)) for k, low in vars(decomposition.low).items()}


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f}"


def _settings(pairs: list[str]) -> dict[str, float]:
    settings = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            settings[name] = float(value)
        except ValueError:
            raise InputError("command.field", bad=pair, code="usage") from None
    return settings


def read_text(name: str) -> str:
    """Return the text of a document, or of standard input for ``-``."""
    if name == "-":
        return sys.stdin.read()
    from pura.documents import read_file

    with naming(Path(name).name):
        return read_file(Path(name)).text
