"""``pura lab``: attacks on texts, and what they do to marks (docs/lab.md)."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from pura.base.errors import InputError
from pura.base.files import write_atomic
from pura.cli.common import DeviceOption, DtypeOption, ModelOption, workplace
from pura.cli.terminal import err, out, say, write_row
from pura.cli.tree import App

app = App()

SeedOption = Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")]
InputFile = Annotated[str, typer.Argument(help="Document; “-” is standard input.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One line of JSON instead.")]


@app.command("attacks")
def attacks() -> None:
    """List the attacks and their parameters."""
    from pura.desk.lab import list_attacks

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
    seed: SeedOption = 1,
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
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the text here, not to stdout.")
    ] = None,
    as_json: JsonOption = False,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "float32",
) -> None:
    """Attack a text, and say how hard it was hit."""
    from pura.desk.lab import AttackText, LabTools, attack_text

    request = AttackText(
        attack=name,
        text=read_text(file),
        seed=seed,
        strength=strength,
        params=_settings(setting or []),
        tools=LabTools(model=model, foreign=foreign, thesaurus=thesaurus, dipper=dipper),
    )
    done = attack_text(workplace(device, dtype), request)
    hit = done.damage
    if as_json:
        row = {"text": done.text, "ids": done.ids.tolist(), "by": done.by, **vars(hit)}
        write_row(row)
        return
    if output is not None:
        write_atomic(output, done.text.encode())
    else:
        sys.stdout.write(done.text)
        sys.stdout.write("\n" if sys.stdout.isatty() else "")
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
    if done.by:
        err.print(say("lab.by", name=done.by))


def read_text(name: str) -> str:
    """Return the text of a document, or of standard input."""
    if name == "-":
        return sys.stdin.read()
    from pura.documents import read_file

    return read_file(Path(name)).text


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f}"


def _settings(pairs: list[str]) -> dict[str, float]:
    found = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError("lab.setting", pair=pair, code="usage") from None
    return found
