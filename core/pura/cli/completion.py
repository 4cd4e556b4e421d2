"""``pura completion``: what makes a shell complete commands, options and stored names.

The scripts are Typer's own; they ask this program, by a variable of the environment, what fits.
"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from pura.cli.terminal import out, say
from pura.cli.tree import COMPLETING, PROGRAM

_SHELLS: Final = ("bash", "zsh", "fish", "powershell")


def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh, fish or powershell.")],
) -> None:
    """Print what makes a shell complete commands, options and stored names.

    bash: source <(pura completion bash), also in ~/.bashrc. zsh: the same in ~/.zshrc, after
    compinit. fish: pura completion fish > ~/.config/fish/completions/pura.fish.
    """
    if shell not in _SHELLS:
        raise typer.BadParameter(say("choose", known=", ".join(_SHELLS)), param_hint="SHELL")
    from typer._completion_shared import get_completion_script

    out.print(get_completion_script(prog_name=PROGRAM, complete_var=COMPLETING, shell=shell))
