"""The blocks of the README, run as shown: one shell, an empty folder, a user who has nothing."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing.connection import Client, Listener
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
README = Path(__file__).resolve().parents[2] / "README.md"
CUT = "…"
MARK = "-- end of a command:"

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.programs("bash", "sha256sum", "sed"),
]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A command, and the lines that the page shows below it."""

    command: str
    lines: list[str]


def shown(page: str) -> list[Shown]:
    """What the page lets one run, in its order; a block of Python is a command as well."""
    steps: list[Shown] = []
    for language, block in re.findall(r"```(console|python)\n(.*?)```", page, flags=re.DOTALL):
        if language == "python":
            printed = [line[2:] for line in block.splitlines() if line.startswith("# ")]
            steps.append(Shown(command=f"python - <<'END'\n{block}END", lines=printed))
        else:
            steps += _commands(block)
    return steps


def _commands(block: str) -> list[Shown]:
    steps: list[Shown] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append(Shown(command=line[2:], lines=[]))
        elif line.startswith("> "):
            steps[-1] = Shown(command=f"{steps[-1].command}\n{line[2:]}", lines=[])
        elif steps[-1].command.endswith("\\"):
            steps[-1] = Shown(command=f"{steps[-1].command}\n{line}", lines=[])
        else:
            steps[-1].lines.append(line)
    return steps


def pattern(lines: list[str]) -> re.Pattern[str]:
    """What was printed has to match: a line that is cut stands for any lines, even none."""
    parts = [
        r"(?:.*\n)*?"
        if line == CUT
        else r"[^\n]*".join(re.escape(piece.rstrip()) for piece in line.split(CUT)) + r"[ ]*\n"
        for line in lines
    ]
    return re.compile("".join(parts))


# Hands its words to the process of the tests, which has the model; says its answer.
PROGRAM = """#!{python} -IS
import sys
from multiprocessing.connection import Client
with Client({address!r}, "AF_UNIX") as line:
    line.send({words})
    said, code = line.recv()
sys.stdout.write(said)
sys.exit(code)
"""


@pytest.fixture
def models(installed_models: Path) -> Path:
    """The page is about the built-in model."""
    return installed_models


def run_python(code: str) -> str:
    """Run a block as a program of its own would; return what it printed."""
    with redirect_stdout(io.StringIO()) as said:
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    return said.getvalue()


def run_shell(script: str, folder: Path, pura: Run) -> str:
    """Run a script in a shell; return what it printed.

    Its ``pura`` is the command in this process; its ``python`` runs what it is given here too.
    """
    programs = folder / "programs"
    programs.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "DBUS_SESSION_BUS_ADDRESS"}
    environment["PATH"] = os.pathsep.join(
        [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    with Listener(family="AF_UNIX") as listener, (folder / "said").open("w+") as said:
        for name, words in (("pura", "sys.argv[1:]"), ("python", "sys.stdin.read()")):
            program = programs / name
            program.write_text(
                PROGRAM.format(python=sys.executable, address=listener.address, words=words)
            )
            program.chmod(0o755)
        with subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=said, stderr=said, env=environment, text=True
        ) as shell:

            def feed() -> None:
                shell.communicate(script)
                Client(listener.address, "AF_UNIX").close()

            feeder = threading.Thread(target=feed)
            feeder.start()
            with suppress(EOFError):  # the feeder's own call, at the end
                while True:
                    with listener.accept() as line:
                        words = line.recv()
                        if isinstance(words, str):
                            line.send((run_python(words), 0))
                            continue
                        done = pura(*words, mixed=True)
                        line.send((done.stdout, done.returncode))
            feeder.join()
        said.seek(0)
        return said.read()


def test_the_page_shows_what_its_commands_print(
    tmp_path: Path, pura: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = shown(README.read_text(encoding="utf-8"))
    assert any("verify" in step.command for step in steps)
    # The status of each command is kept for the next, which may ask for it.
    script = "".join(
        f'{step.command}\nstatus=$?; echo "{MARK} $status"; (exit $status)\n' for step in steps
    )
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    said = run_shell(script, tmp_path, pura)
    *printed, rest = re.split(rf"^{MARK} (\d+)\n", said, flags=re.MULTILINE)
    assert rest == ""
    assert len(printed) == 2 * len(steps), said
    for number, step in enumerate(steps):
        output, status = printed[2 * number], printed[2 * number + 1]
        assert pattern(step.lines).fullmatch(output), f"$ {step.command}\n{output}"
        told = number + 1 < len(steps) and steps[number + 1].command == "echo $?"
        assert status == "0" or told, f"$ {step.command} ended with {status}"


@pytest.mark.parametrize(
    ("lines", "printed", "same"),
    [
        (["one", CUT, "four"], "one\ntwo\nthree\nfour\n", True),
        (["one", CUT, "four"], "one\nfour\n", True),
        (["one", "four"], "one\ntwo\nfour\n", False),
        ([f"a {CUT} c"], "a b c\n", True),
        ([f"a {CUT} c"], "a\nb c\n", False),
        (["1.5"], "1x5\n", False),
        ([], "something\n", False),
    ],
)
def test_a_cut_stands_for_what_is_left_out_and_for_nothing_else(
    lines: list[str], printed: str, same: bool
) -> None:
    assert bool(pattern(lines).fullmatch(printed)) is same
