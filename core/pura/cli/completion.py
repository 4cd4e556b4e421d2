"""``pura completion``: what makes a shell complete commands, options and stored names.

The scripts are Typer's own; they ask this program, by a variable of the environment, what fits.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pura.cli.terminal import out
from pura.cli.tree import COMPLETING, PROGRAM


class Shell(StrEnum):
    """A shell that Typer has a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def completion(
    shell: Annotated[Shell, typer.Argument(help="Which shell.")],
) -> None:
    """Print what makes a shell complete commands, options and stored names.

    bash: source <(pura completion bash), also in ~/.bashrc. zsh: the same in ~/.zshrc, after
    compinit. fish: pura completion fish > ~/.config/fish/completions/pura.fish.
    """
    from typer._completion_shared import get_completion_script

    out.print(get_completion_script(prog_name=PROGRAM, complete_var=COMPLETING, shell=shell.value))
