"""``pura doctor``, ``pura selftest``, ``pura completion``: what looks after an installation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Final, Never

import typer

from pura.base.numerals import visible
from pura.cli.options import PROFILE, environment, load_profile
from pura.cli.terminal import Language, RowsInto, err, language, out, refuse_unknown, say, write_row
from pura.cli.tree import COMPLETING, PROGRAM

_STYLES: Final = {"ok": "green", "warning": "yellow", "fault": "bold red"}
_STATES: Final = {"have": "green", "partly": "yellow", "absent": "bold red"}


def doctor(
    hashes: Annotated[
        bool, typer.Option("--hash", help="Also hash every file of the installed models.")
    ] = False,
    what_is_asked: Annotated[
        bool,
        typer.Option(
            "--duties",
            help="Look instead at what the EU AI Act asks of whoever marks texts.",
        ),
    ] = False,
    profile: Annotated[str, PROFILE] = "",
    detector: Annotated[
        str, typer.Option(metavar="URL", help="With --duties: where others may ask the detector.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a thing.")] = False,
    _rows: RowsInto = None,
    _language: Language = "",
) -> None:
    """Look at everything that an audit needs, and say what to do about what is wrong.

    It changes nothing, loads no model and shows neither keys nor texts, so that what it says can be
    sent to whoever helps. Exit codes: 0 nothing is at fault, 1 something is; with --duties, 1 where
    one is absent. --duties looks at each stored profile, or at that of --profile. No legal advice.
    """
    if what_is_asked:
        _duties(profile, detector, as_json=as_json)
    from pura.usecases.doctor import examine

    grades: Counter[str] = Counter()
    width = max(len(say(f"doctor.{grade}")) for grade in _STYLES)
    for found in examine(environment(), hashes=hashes):
        grades[found.grade] += 1
        words, hint = found.words("en" if as_json else language())
        if as_json:
            row = {"check": found.name, "grade": found.grade, "text": words, "hint": hint}
            write_row(row, "doctor")
            continue
        out.print(f"{say(f'doctor.{found.grade}'):>{width}}", style=_STYLES[found.grade], end="  ")
        out.print(words)
        if hint and found.grade != "ok":
            out.print(f"{'':>{width}}  {hint}")
    if not as_json:
        out.print(say("doctor.sum", faults=grades["fault"], warnings=grades["warning"]))
    raise typer.Exit(1 if grades["fault"] else 0)


def _duties(profile: str, detector: str, *, as_json: bool) -> Never:
    from pura.base.catalogue import catalogue
    from pura.usecases.duties import deployment, duties

    at = environment()
    states: Counter[str] = Counter()
    tongue = "en" if as_json else language()
    texts = catalogue("duties")
    shown = {state: texts.fill(f"state.{state}", tongue, {}) for state in _STATES}
    width = max(map(len, shown.values()))
    for name in [profile] if profile else at.profiles.names() or [""]:
        used = load_profile(at, name, foreign=True) if name else None
        if used is not None and used.foreign is not None:
            continue  # a mark that others put in
        if name and not as_json:
            out.print(say("doctor.profile", name=visible(name)))
        for duty in duties(deployment(at, used, detector=detector)):
            states[duty.state] += 1
            asked, source, seen, way_on = duty.words(tongue)
            if as_json:
                row = {"profile": name, "duty": duty.id, "state": duty.state, "asked": asked}
                write_row(row | {"source": source, "text": seen, "hint": way_on}, "duty")
                continue
            style = _STATES[duty.state]
            out.print(f"{shown[duty.state]:>{width}}", style=style, end="  ")
            out.print(f"{asked} ({source})")
            out.print(f"{'':>{width}}  {seen} {way_on}".rstrip())
    if not as_json:
        out.print(say("doctor.reported"))
    raise typer.Exit(1 if states["absent"] else 0)


def selftest(
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of vector files; left out: those that ship."),
    ] = None,
) -> None:
    """Recompute every test vector; then try to get out of the sandbox for files from others.

    Exit code 1 when a vector differs, none is there, or a way out is open. With --vectors, the
    vectors only.
    """
    from pura.base.paths import resource
    from pura.usecases.doctor import check_folder

    results = check_folder(vectors if vectors is not None else resource("vectors"))
    for name, problem in results.items():
        if problem is not None:
            err.print(say("selftest.bad", name=name, problem=problem.words(language())[0]))
        else:
            out.print(say("selftest.good", name=name))
    if not results:
        err.print(say("selftest.none"))
    shut = vectors is not None or _sandbox_is_shut()
    raise typer.Exit(0 if shut and results and not any(results.values()) else 1)


def _sandbox_is_shut() -> bool:
    from pura.usecases.doctor import check_sandbox

    sandbox = check_sandbox()
    if sandbox is None:
        out.print(say("selftest.cage-weak"))
        return True
    if sandbox.problem is not None:
        problem, hint = sandbox.problem.words(language())
        err.print(
            say("selftest.bad", name=say("selftest.cage"), problem=f"{problem} {hint}".strip())
        )
        return False
    known = sandbox.landlock
    files = say("selftest.landlock", version=known) if known else say("selftest.no-landlock")
    names = say("selftest.namespaces" if sandbox.namespaces else "selftest.no-namespaces")
    out.print(say("selftest.cage-shut", tried=sandbox.tried, landlock=files, namespaces=names))
    return True


def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh, fish or powershell.")],
) -> None:
    """Print what makes a shell complete commands, options and stored names.

    bash: source <(pura completion bash), also in ~/.bashrc. zsh: the same in ~/.zshrc, after
    compinit. fish: pura completion fish > ~/.config/fish/completions/pura.fish.
    """
    refuse_unknown("SHELL", shell, ("bash", "zsh", "fish", "powershell"))
    from typer._completion_shared import get_completion_script

    out.print(get_completion_script(prog_name=PROGRAM, complete_var=COMPLETING, shell=shell))
