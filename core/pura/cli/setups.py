"""``pura setup``: keys, profile and model that belong together, under one name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pura.cli.options import (
    JsonLines,
    LeaveOutOption,
    ModelOption,
    QuestionsOption,
    ReplaceFile,
    Yes,
    environment,
    stored_keys,
    stored_profiles,
    stored_setups,
)
from pura.cli.terminal import (
    RowsInto,
    complain,
    confirm,
    err,
    out,
    print_made,
    say,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.usecases.environment import Environment
    from pura.usecases.setups import StoredSetup

app = App()

SetupName = Annotated[str, typer.Argument(help="Name of the set-up.", autocompletion=stored_setups)]


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="Name of the set-up.")],
    profile: Annotated[
        str,
        typer.Option(metavar="NAME", help="Stored profile.", autocompletion=stored_profiles),
    ],
    key: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="Stored key; may be given several times.",
            autocompletion=stored_keys,
        ),
    ],
    model: ModelOption = None,
    leave_out: LeaveOutOption = None,
    questions: QuestionsOption = False,
    force: ReplaceFile = False,
) -> None:
    """Store a set-up of a key, a profile and a model that are here.

    Without --model it reads with the model that the profile names.
    """
    from pura.usecases.choices import refuse_other_rules, together
    from pura.usecases.setups import save_setup

    refuse_other_rules(leave_out or ())
    at = environment()
    keys = tuple(at.stored_key(one).fingerprint for one in key)
    setup = save_setup(
        at,
        name=name,
        profile=profile,
        keys=keys,
        model=model or "",
        leave_out=together(tuple(leave_out or ())),
        questions=questions,
        replace=force,
    )
    print_made("setup", setup.name, say("setup.stored", name=setup.name), aside=True)


@app.command("list")
def list_(as_json: JsonLines = False, _rows: RowsInto = None) -> None:
    """List the stored set-ups, each with its parts."""
    from pura.usecases.setups import setup_folder

    at = environment()
    setups = setup_folder(at)
    for name in setups.names():
        _show(at, setups.get(name), as_json=as_json)
    if not setups.names():
        err.print(say("setup.empty"))


@app.command("show")
def show(name: SetupName, as_json: JsonLines = False, _rows: RowsInto = None) -> None:
    """Show the parts of a set-up, and what is missing or does not fit.

    Exit codes: 0 an audit can begin, 1 not.
    """
    from pura.usecases.setups import setup_faults, setup_folder

    at = environment()
    setup = setup_folder(at).get(name)
    _show(at, setup, as_json=as_json)
    faults = setup_faults(at, setup)
    for fault in faults:
        complain(fault)
    raise typer.Exit(1 if faults else 0)


@app.command("remove")
def remove(name: SetupName, yes: Yes = False) -> None:
    """Delete a set-up; its keys, its profile and its model stay."""
    from pura.usecases.setups import setup_folder

    setups = setup_folder(environment())
    setups.get(name)
    confirm(say("setup.delete", name=name), yes=yes)
    setups.remove(name)
    print_made("setup", name, "")


def _show(at: Environment, setup: StoredSetup, *, as_json: bool) -> None:
    from pura.usecases.setups import key_names, setup_faults

    keys = key_names(at, setup)
    if as_json:
        row = {
            "name": setup.name,
            "profile": setup.profile,
            "keys": [
                {"name": key, "fingerprint": fingerprint}
                for key, fingerprint in zip(keys, setup.keys, strict=True)
            ],
            "model": setup.model,
            "leave_out": list(setup.leave_out),
            **({"questions": True} if setup.questions else {}),
            "ready": not setup_faults(at, setup),
        }
        write_row(row, "setup")
        return
    out.print(
        say(
            "setup.parts",
            name=setup.name,
            profile=setup.profile,
            keys=", ".join(keys) or "–",
            model=setup.model or "–",
        )
    )
    if setup.leave_out:
        out.print(say("setup.leave-out", names=", ".join(setup.leave_out)))
    if setup.questions:
        out.print(say("setup.questions"))
