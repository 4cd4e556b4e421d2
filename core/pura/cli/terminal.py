"""The terminal: its two outputs, how an error stands there, and whether a person reads it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from pura.base.catalogue import Value, catalogue
from pura.base.errors import InputError, PuraError
from pura.base.files import refuse_taken
from pura.base.numerals import LANGUAGES, visible, visible_lines

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Terminal:
    """One of the two outputs, for words of which some are a stranger's: nothing in them steers it.

    Rich lays out tables and colours words; it takes a tenth of a second to import, so plain words
    and words into a pipe go without it.

    Args:
        stderr: Standard error instead of standard output.

    Attributes:
        quiet: Whether nothing is printed.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        self._stderr = stderr
        self.quiet = False

    @property
    def is_terminal(self) -> bool:
        """Whether a screen is at the other end, and no pipe or file."""
        return self._stream.isatty()

    @cached_property
    def rich(self) -> Console:
        """The console of Rich on this output: for tables, bars and colours."""
        from pura.cli.console import SafeConsole

        return SafeConsole(stderr=self._stderr)

    def print(self, *objects: RenderableType, style: str = "", end: str = "\n") -> None:
        """Print words, or what Rich lays out.

        Args:
            *objects: Words, or a table of Rich.
            style: Of the words, as Rich names it; a pipe gets none.
            end: What comes after them.

        Raises:
            OutputError: The output takes no more.
        """
        if self.quiet:
            return
        with _written():
            words = [one for one in objects if isinstance(one, str)]
            if len(words) < len(objects) or (style and self.is_terminal):
                self.rich.print(*objects, style=style or None, end=end)
            else:
                self._write(visible_lines(" ".join(words)) + end)

    @property
    def _stream(self) -> TextIO:
        return sys.stderr if self._stderr else sys.stdout

    def _write(self, text: str) -> None:
        stream = self._stream
        coded = text.encode(stream.encoding or "utf-8", "backslashreplace")
        stream.write(coded.decode(stream.encoding or "utf-8"))
        stream.flush()


class OutputError(PuraError):
    """Standard output takes no more."""

    code = "output"


@contextmanager
def _written() -> Iterator[None]:
    """Turn what the system says of an output that is full into an error of ours."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still in the buffer would fail again when the program ends.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError("command.output", why=error.errno or 0) from None


out = Terminal()
err = Terminal(stderr=True)
notes = Terminal(stderr=True)
"""Standard error too, for what is neither finding nor error; ``--quiet`` stops it."""
details = Terminal(stderr=True)
"""Standard error once more, for what ``--verbose`` asks for."""
details.quiet = True

_language: Final = ["en"]


def language() -> str:
    """Return the language of this run: ``en`` or ``de``."""
    return _language[0]


def use_language(name: str) -> str:
    """Take the language of this run from an option, and return it; empty leaves it as it is.

    Raises:
        typer.BadParameter: There is no such language.
    """
    if name and name not in LANGUAGES:
        raise typer.BadParameter(say("choose", known=", ".join(LANGUAGES)))
    if name:
        _language[0] = name
    return _language[0]


Language = Annotated[
    str,
    typer.Option("--language", help="en or de.", callback=use_language, show_default=False),
]


def say(key: str, /, **values: Value) -> str:
    """Return a text of the volume ``command`` in the language of this run."""
    return catalogue("command").fill(key, language(), values)


class _Rows:
    """A new file of rows; each is in it whole, or not at all.

    Args:
        path: Its name.
        file: The file, without a buffer.
    """

    def __init__(self, path: Path, file: FileIO) -> None:
        self._path, self._file = path, file

    def write(self, line: str) -> None:
        """Write a row; one that the disk does not take goes to standard output instead.

        Raises:
            OutputError: The disk takes no more; nothing of the row is in the file.
        """
        begun, rest = self._file.tell(), memoryview(line.encode())
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(begun)
            with _written():
                sys.stdout.write(line)
                sys.stdout.flush()
            raise OutputError(
                "command.row-printed", name=self._path.name, why=error.errno or 0
            ) from None


_rows_into: list[_Rows] = []


@contextmanager
def rows_into(path: Path) -> Iterator[None]:
    """Have rows written to a new file instead of standard output; each is there at once.

    Raises:
        InputError: The file is there, or cannot be made.
    """
    refuse_taken(path, InputError)
    try:
        file = path.open("xb", buffering=0)
    except OSError as error:
        raise InputError("file.write", name=path.name, why=error.errno or 0) from None
    with file:
        _rows_into.append(_Rows(path, file))
        try:
            yield
        finally:
            _rows_into.pop()


def write_row(row: Mapping[str, Any], kind: str = "") -> None:
    """Write one JSON object and a newline, whatever the output can encode.

    Args:
        row: The object; it says its ``schema`` itself, or is of this kind:
        kind: Its name in ``resources/rows.schema.json``.
    """
    into = _rows_into[-1] if _rows_into else None
    encoding = sys.stdout.encoding if into is None else "utf-8"
    whole = {"schema": f"pura-{kind}/1", **row} if kind else row
    line = json.dumps(whole, ensure_ascii=False, allow_nan=False)
    try:
        line.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(whole, allow_nan=False)
    if into is not None:
        into.write(f"{line}\n")
        return
    with _written():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


RowsInto = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the JSON objects into this new file; implies --json.",
    ),
]


# What was typed is at fault, and nothing that lies here.
_TYPED: Final = ("usage", "payload", "key-epoch", "key-missing", "device-name")


def exit_code(error: PuraError) -> int:
    """Return the exit code of an error: 2 when the command was called wrongly, else 1."""
    return 2 if error.code in _TYPED else 1


def complain(error: PuraError, name: str | None = None) -> None:
    """Print an error on standard error: what happened, then the way out."""
    prefix = f"{visible(name)}: " if name else ""
    message, hint = error.words(language())
    err.print(f"{prefix}{message}", style="bold red")
    if hint:
        err.print(hint)
    details.print(say("code", code=error.code))


def confirm(question: str) -> None:
    """Ask a question on standard error until it is answered with yes or no; empty is no.

    Raises:
        typer.Abort: The answer is no, or nobody answers.
    """
    while True:
        answer = typer.prompt(f"{question} {say('ask.sure')}", "", show_default=False, err=True)
        if answer.strip().lower() in say("ask.is-yes").split():
            return
        if answer.strip().lower() in ("", *say("ask.is-no").split()):
            raise typer.Abort
        err.print(say("ask.yes-or-no"))


def interactive() -> bool:
    """Whether a person sits at the other end of standard input."""
    return sys.stdin.isatty()
