"""The command in this process, as ``pura`` runs it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pura.base.errors import PuraError
from pura.cli.__main__ import app, main


def pura(*words: object, stdin: str | bytes | None = None, file: Path | None = None) -> Result:
    """Run the command with these words; ``file`` holds the passphrase of the keys."""
    options = ["--passphrase-file", str(file)] if file is not None else []
    return CliRunner().invoke(app, [*options, *map(str, words)], input=stdin)


def refusal(done: Result) -> str:
    """Return the code of the error that a command ended with."""
    assert isinstance(done.exception, PuraError), (done.output, done.exception)
    return done.exception.code


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command with these words; returns exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["pura", *words])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
