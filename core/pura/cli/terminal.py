"""The terminal: its two outputs, how an error stands there, and what a person is asked."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from io import FileIO, TextIOWrapper
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, TypeVar

import typer

from pura.base import logs
from pura.base.catalogue import Phrase, Value, catalogue
from pura.base.errors import InputError, KeyFormatError, PuraError, SigningError, os_error_as
from pura.base.files import refuse_taken
from pura.base.numerals import LANGUAGES, visible, visible_lines
from pura.base.process import unconfined

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from pura.keys import Secret
    from pura.report.check import ReportCheck
    from pura.report.statement import StatementCheck


NARROWEST: Final = 60
WIDEST: Final = 120
"""Columns between which sentences are wrapped: longer lines are hard to read, shorter ones break
words."""


def wrapped(sentence: str, columns: int) -> str:
    """Return a sentence in lines as long as the terminal allows.

    Args:
        sentence: The sentence.
        columns: Width of the terminal.
    """
    bare = sentence.lstrip(" ")
    indent = len(sentence) - len(bare) + (2 if bare.startswith("- ") else 0)
    return textwrap.fill(
        sentence,
        min(max(columns, NARROWEST), WIDEST),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )


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
        from rich.console import Console
        from rich.segment import Segment

        class SafeConsole(Console):
            """Makes every control character visible that is not the console's own."""

            def render(self, *given: Any, **named: Any) -> Iterator[Segment]:
                for one in super().render(*given, **named):
                    yield one if one.control else Segment(visible_lines(one.text), one.style)

        return SafeConsole(stderr=self._stderr, highlight=False, soft_wrap=True, markup=False)

    def print(self, *objects: RenderableType, style: str = "", end: str = "\n") -> None:
        """Print words, or what Rich lays out.

        Args:
            *objects: Words, or a table of Rich.
            style: Of the words, as Rich names it; a pipe gets none.
            end: What comes after them.

        Raises:
            PuraError: The output takes no more.
        """
        if self.quiet:
            return
        with _written():
            words = [one for one in objects if isinstance(one, str)]
            if len(words) < len(objects) or (style and self.is_terminal):
                self.rich.print(*objects, style=style or None, end=end)
            else:
                self._write(visible_lines(" ".join(words)) + end)

    def paragraph(self, sentence: str, *, style: str = "") -> None:
        """Print a sentence; on a screen it is wrapped, and what goes on stands below its begin.

        Args:
            sentence: The sentence; blanks in front of it, or a dash, are its indent.
            style: See :meth:`print`.
        """
        if self.is_terminal:
            sentence = wrapped(sentence, get_terminal_size().columns)
        self.print(sentence, style=style)

    @property
    def _stream(self) -> TextIO:
        return sys.stderr if self._stderr else sys.stdout

    def _write(self, text: str) -> None:
        stream = self._stream
        coded = text.encode(stream.encoding or "utf-8", "backslashreplace")
        stream.write(coded.decode(stream.encoding or "utf-8"))
        stream.flush()


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
        raise PuraError("command.output", code="output", why=error.errno or 0) from None


out = Terminal()
err = Terminal(stderr=True)
notes = Terminal(stderr=True)
"""Standard error too, for what is neither finding nor error; ``--quiet`` stops it."""
details = Terminal(stderr=True)
"""Standard error once more, for what ``--verbose`` asks for."""
details.quiet = True


def go_into_detail() -> None:
    """Print the log and the steps of audits from now on, as ``--verbose`` asks."""
    details.quiet = False
    logs.log_to(sys.stderr)


class _Printed:
    """How what is printed is written.

    Attributes:
        json: As JSON, whatever command runs (``pura --json COMMAND``).
    """

    json = False


as_printed: Final = _Printed()
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


def error_text(error: Phrase) -> str:
    """Return a text of the volume ``errors`` in the language of this run."""
    return catalogue("errors").fill(error.key, language(), error.values)


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
            PuraError: The disk takes no more; nothing of the row is in the file.
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
            raise PuraError(
                "command.row-printed", code="output-row", name=self._path.name, why=error.errno or 0
            ) from None


_rows_into: list[_Rows] = []


@contextmanager
def rows_into(path: Path) -> Iterator[None]:
    """Have rows written to a new file instead of standard output; each is there at once.

    Raises:
        InputError: The file is there, or cannot be made.
    """
    refuse_taken(path, InputError)
    with os_error_as(InputError, "file.write", name=path.name):
        file = path.open("wb", buffering=0)
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


FormerOutput = Annotated[
    Path | None, typer.Argument(metavar="OUT", hidden=True, help="Former place of --output.")
]
"""Where commands of 0.4 took the file to write; 0.5 takes it there too, and names the option."""


def output_of(output: Path | None, former: Path | None) -> Path:
    """Return the file to write, which stands behind ``--output`` or in its former place.

    Raises:
        typer.BadParameter: It stands in neither place, or in both.
    """
    if former is None and output is not None:
        return output
    if former is None or output is not None:
        raise typer.BadParameter(say("choose.output"), param_hint="--output")
    err.print(say("former", former=former.name, now=f"--output {former.name}"))
    return former


def print_made(
    what: str,
    name: str,
    sentence: str,
    *,
    fingerprint: str | None = None,
    files: Iterable[Path] = (),
    count: int | None = None,
    text: str | None = None,
    aside: bool = False,
) -> None:
    """Say what a command made, changed or removed; with ``--json`` as one object.

    Args:
        what: Of which kind it is, one of :data:`~pura.cli.rows.MADE`.
        name: What it is called.
        sentence: The same for people; empty says nothing.
        fingerprint: Of it, where it has one.
        files: That were written.
        count: How many there are, of what is counted.
        text: What was written, of a text.
        aside: The sentence goes to standard error.
    """
    if as_printed.json:
        row: dict[str, Any] = {
            "what": what,
            "name": name,
            "fingerprint": fingerprint,
            "files": [visible(str(path)) for path in files],
            "count": count,
        }
        write_row(row if text is None else row | {"text": text}, "made")
    elif sentence:
        (err if aside else out).print(sentence)


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
_TYPED: Final = (
    "usage",
    "payload",
    "key-epoch",
    "key-epoch-label",
    "key-epochs-many",
    "key-missing",
    "key-one",
    "key-type",
    "device-name",
)


def exit_code(error: PuraError) -> int:
    """Return the exit code of an error: 2 when the command was called wrongly, else 1."""
    return 2 if error.code in _TYPED else 1


def refuse_unknown(option: str, value: str | None, known: Iterable[str]) -> None:
    """Refuse a value of an option that is none of the known ones; None is left out."""
    choices = list(known)
    if value is not None and value not in choices:
        raise typer.BadParameter(say("choose", known=", ".join(choices)), param_hint=option)


def columns(heads: Iterable[str], rows: Iterable[Iterable[str]], *, boxed: bool = False) -> Table:
    """Lay words out in columns, with a box or so that long ones go on in the next line.

    Args:
        heads: Keys of the headings, without ``head.``.
        rows: The words.
        boxed: With a box.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table() if boxed else Table(box=None, pad_edge=False)
    for head in heads:
        table.add_column(say(f"head.{head}"), overflow="ellipsis" if boxed else "fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


STYLES: Final = {"good": "green", "notice": "yellow", "bad": "bold red", "open": "dim"}
"""How the result of a check is coloured."""
STATUS_CODES: Final = {"amiss": 1, "unsigned": 3, "signed": 4, "trusted": 0}
"""Exit codes of what signed files come to."""


def print_checks(
    found: ReportCheck | StatementCheck, language: str, facts: Iterable[tuple[str, str]] = ()
) -> None:
    """Print what became of the checks of a signed file: the headline, facts, each check."""
    amiss = found.status == "amiss"
    out.print(found.headline(language), style="bold red" if amiss else "bold")
    for title, value in facts:
        out.print(f"{title}: ", style="bold", end="")
        out.print(value)
    for check in found.checks:
        out.print(f"{check.title(language)}: ", style="bold", end="")
        out.print(check.result(language), style=STYLES[check.state])
        out.print(f"  {check.text(language)}")


def warn_unconfined() -> None:
    """Say, once a run, that this system does not confine what reads files from others."""
    unconfined.clear()
    notes.print(say("unconfined"))


def write_alike() -> None:
    """Have files and pipes get the same bytes on Windows as elsewhere: UTF-8, no other line ends.

    There they would get a code page that lacks most letters, and two characters at each line end.
    """
    for stream in (sys.stdout, sys.stderr):
        if sys.platform == "win32" and isinstance(stream, TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", newline="\n")


def write_text(text: str) -> None:
    """Write a text to standard output as it is; on a screen the prompt stands on its own line."""
    sys.stdout.write(text)
    sys.stdout.write("\n" if sys.stdout.isatty() else "")


def complain(error: PuraError, name: str | None = None) -> None:
    """Print an error on standard error: what happened, then the way out."""
    prefix = f"{visible(name)}: " if name else ""
    message, hint = error.words(language())
    err.print(f"{prefix}{message}", style="bold red")
    if hint:
        err.print(hint)
    if near := _similar(error):
        err.print(say("choose.similar", name=near))
    details.print(say("code", code=error.code))


def _similar(error: PuraError) -> str:
    """Return the stored name that an unknown one looks like; empty where none does."""
    from difflib import get_close_matches

    stored = error.values.get("known", error.values.get("listed"))
    name = error.values.get("name")
    if not isinstance(stored, str) or not isinstance(name, str):
        return ""
    return next(iter(get_close_matches(name.strip("'"), stored.split(", "), n=1)), "")


def confirm(question: str, *, yes: bool = False) -> None:
    """Ask a question on standard error until it is answered with yes or no; empty is no.

    Where nobody answers, the option is named that does.

    Args:
        question: What is asked.
        yes: It was answered already (``--yes``).

    Raises:
        typer.Abort: The answer is no, or nobody answers.
    """
    while not yes:
        try:
            answer = typer.prompt(f"{question} {say('ask.sure')}", "", show_default=False, err=True)
        except typer.Abort:
            if not interactive():
                err.print(say("ask.yes-option"))
            raise
        if answer.strip().lower() in say("ask.is-yes").split():
            return
        if answer.strip().lower() in ("", *say("ask.is-no").split()):
            raise typer.Abort
        err.print(say("ask.yes-or-no"))


def interactive() -> bool:
    """Whether a person sits at the other end of standard input."""
    return sys.stdin.isatty()


STDIN: Final = Path("-")


_MAX: Final = 4096


_TRIES: Final = 3


Result = TypeVar("Result")


_key_passphrase_file: list[Path] = []


def set_key_passphrase(file: Path | None) -> None:
    """Remember the file with the passphrase of encrypted key files (``--passphrase-file``)."""
    _key_passphrase_file[:] = [] if file is None else [file]


def ask_folder(path: Path, *, new: bool) -> bytearray | None:
    """Give the passphrase of the folder of key files; None when nobody can be asked."""
    if _key_passphrase_file:
        return read_passphrase(_key_passphrase_file[0])
    if not interactive():
        return None
    if new:
        err.print(say("ask.kept", folder=str(path)))
        return ask_new(say("ask.folder-new"))
    return _ask(say("ask.folder"))


PASSPHRASE_FILE: Final = "--passphrase-file"  # noqa: S105 (the name of an option)


def passphrase(
    file: Path | None, prompt: str, *, new: bool = False, option: str = PASSPHRASE_FILE
) -> Secret:
    """Give a passphrase from a file, or ask for it.

    Args:
        file: Holds it in its first line; ``-`` is standard input. None: ask.
        prompt: What is asked for.
        new: It is a new one, so ask twice.
        option: The option of the command that names the file; an error points to it.

    Raises:
        KeyFormatError: Nobody can be asked, the file cannot be read, or the two are not the same.
    """
    from pura.keys import Secret

    if file is not None:
        return Secret(read_passphrase(file))
    if not interactive():
        raise KeyFormatError("command.ask", prompt=prompt, option=option, code="passphrase-missing")
    return Secret(ask_new(prompt) if new else _ask(prompt))


def passphrase_for(
    certificate: Path,
    file: Path | None,
    *others: Path,
    prompt: str = "",
    option: str = PASSPHRASE_FILE,
) -> Secret:
    """Give the passphrase of a certificate, once it is known that the files are there.

    Args:
        certificate: What it opens, or another file.
        file: As for :func:`passphrase`.
        others: Further files that it is wanted for.
        prompt: As for :func:`passphrase`; empty asks by the file's name.
        option: As for :func:`passphrase`.

    Raises:
        InputError: One of them cannot be opened.
        KeyFormatError: As for :func:`passphrase`.
    """
    for path in (*others, certificate):
        with os_error_as(InputError, "file.read", name=path.name, code="file-unreadable"):
            path.open("rb").close()
    return passphrase(file, prompt or say("ask.of", name=certificate.name), option=option)


def with_passphrase(
    use: Callable[[Secret | None], Result], file: Path | None, prompt: str
) -> Result:
    """Do what may need the passphrase of a key or certificate; ask for it only if it does.

    Args:
        use: Is tried without a passphrase first.
        file: As for :func:`passphrase`.
        prompt: As for :func:`passphrase`.
    """
    return _with_secret(use, lambda: passphrase(file, prompt))


def with_key_passphrase(use: Callable[[Secret | None], Result], name: str) -> Result:
    """Do what may need the passphrase of a key file that an option of a command names.

    Such commands have no option of their own for it: the one of the whole program counts, or the
    environment variable.

    Args:
        use: Is tried without a passphrase first.
        name: Of the key file, for the question.
    """
    file = _key_passphrase_file[0] if _key_passphrase_file else None

    def ask() -> Secret:
        try:
            return passphrase(file, say("ask.of", name=name))
        except KeyFormatError as error:
            if error.key != "command.ask":
                raise
            raise KeyFormatError(
                "command.ask-key-file", name=name, code="passphrase-missing"
            ) from None

    return _with_secret(use, ask)


def _with_secret(use: Callable[[Secret | None], Result], ask: Callable[[], Secret]) -> Result:
    try:
        return use(None)
    except (KeyFormatError, SigningError) as error:
        if error.code not in ("key-file-passphrase", "signing-passphrase"):
            raise
    return use(ask())


def read_passphrase(file: Path) -> bytearray:
    """Read the first line of a file, or of standard input for ``-``.

    Raises:
        KeyFormatError: It cannot be read, is empty, or is not UTF-8.
    """
    from pura.keys import passphrase_bytes

    try:
        with os_error_as(KeyFormatError, "file.read", name=str(file), code="passphrase-missing"):
            if file == STDIN:
                line = sys.stdin.readline(_MAX)
            else:
                warn_exposed(file)
                with os.fdopen(_opened(file), encoding="utf-8-sig") as stream:
                    line = stream.readline(_MAX)
    except UnicodeDecodeError:
        raise KeyFormatError("passphrase.text", code="passphrase-missing") from None
    words = line.rstrip("\r\n")
    if not words:
        raise KeyFormatError("passphrase.text", code="passphrase-missing")
    return passphrase_bytes(words)


def _opened(file: Path) -> int:
    """Open a file, or a pipe as a shell lends one; a pipe that nobody writes to is empty."""
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    if hasattr(os, "O_NONBLOCK"):  # Windows opens no pipe by its name, and blocks files always
        os.set_blocking(handle, True)
    return handle


def warn_exposed(path: Path) -> None:
    """Warn of a secret's file that others can read or that is a link, with the way out."""
    from pura.keys import exposures

    warn(exposures(path))


def warn(problems: Iterable[PuraError]) -> None:
    """Tell problems that stop nothing, each with its way out."""
    for problem in problems:
        for words in problem.words(language()):
            err.print(words)


def ask_new(prompt: str) -> bytearray:
    """Ask twice for a new passphrase.

    Raises:
        KeyFormatError: Three times too short, or not the same.
    """
    import getpass

    from pura.keys import MIN_PASSPHRASE, passphrase_bytes

    for _ in range(_TRIES):
        first = getpass.getpass(say("ask.new", prompt=prompt, least=MIN_PASSPHRASE))
        if len(first) < MIN_PASSPHRASE:
            err.print(say("ask.short", count=len(first)))
        elif getpass.getpass(say("ask.again")) == first:
            return passphrase_bytes(first)
        else:
            err.print(say("ask.differ"))
    raise KeyFormatError("command.no-passphrase", code="passphrase-missing")


def _ask(prompt: str) -> bytearray:
    import getpass

    from pura.keys import passphrase_bytes

    return passphrase_bytes(getpass.getpass(say("ask.hidden", prompt=prompt)))
