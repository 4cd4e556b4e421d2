"""How the command gets a secret: from a file, or by a question without echo; never an argument."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from pura.base.errors import InputError, KeyFormatError
from pura.cli.terminal import err, interactive, language, say

if TYPE_CHECKING:
    from pura.base.errors import PuraError
    from pura.keys import Secret

STDIN: Final = Path("-")
_MAX: Final = 4096
_TRIES: Final = 3
Result = TypeVar("Result")
_folder_file: list[Path] = []


def set_folder_passphrase(file: Path | None) -> None:
    """Remember the file with the passphrase of the folder of key files (``--passphrase-file``)."""
    _folder_file[:] = [] if file is None else [file]


def ask_folder(path: Path, *, new: bool) -> bytearray | None:
    """Give the passphrase of the folder of key files; None when nobody can be asked."""
    if _folder_file:
        return read_passphrase(_folder_file[0])
    if not interactive():
        return None
    if new:
        err.print(
            say("ask.kept", folder=str(path)),
        )
        return ask_new(say("ask.folder-new"))
    return _ask(say("ask.folder"))


def passphrase(file: Path | None, prompt: str, *, new: bool = False) -> bytearray:
    """Give a passphrase from a file, or ask for it.

    Args:
        file: Holds it in its first line; ``-`` is standard input. None: ask.
        prompt: What is asked for.
        new: It is a new one, so ask twice.

    Raises:
        KeyFormatError: Nobody can be asked, the file cannot be read, or the two are not the same.
    """
    if file is not None:
        return read_passphrase(file)
    if not interactive():
        raise KeyFormatError("command.ask", prompt=prompt, code="passphrase-missing")
    return ask_new(prompt) if new else _ask(prompt)


def passphrase_for(*needed: Path, file: Path | None, prompt: str) -> bytearray:
    """Give a passphrase, once it is known that the files are there that it is wanted for.

    Args:
        needed: The files.
        file: As for :func:`passphrase`.
        prompt: As for :func:`passphrase`.

    Raises:
        InputError: One of them cannot be opened.
        KeyFormatError: As for :func:`passphrase`.
    """
    for path in needed:
        try:
            path.open("rb").close()
        except OSError as error:
            why = error.errno or 0
            raise InputError("file.read", name=path.name, why=why, code="file-unreadable") from None
    return passphrase(file, prompt)


def with_passphrase(
    use: Callable[[Secret | None], Result], file: Path | None, prompt: str
) -> Result:
    """Do what may need the passphrase of a key file; ask for it only if it does.

    Args:
        use: Is tried without a passphrase first.
        file: As for :func:`passphrase`.
        prompt: As for :func:`passphrase`.
    """
    from pura.keys import Secret

    try:
        return use(None)
    except KeyFormatError as error:
        if error.code != "key-file-passphrase":
            raise
    return use(Secret(passphrase(file, prompt)))


def read_passphrase(file: Path) -> bytearray:
    """Read the first line of a file, or of standard input for ``-``.

    Raises:
        KeyFormatError: It cannot be read, is empty, or is not UTF-8.
    """
    from pura.keys import passphrase_bytes

    try:
        if file == STDIN:
            line = sys.stdin.readline(_MAX)
        else:
            warn_exposed(file)
            with os.fdopen(_opened(file), encoding="utf-8-sig") as stream:
                line = stream.readline(_MAX)
    except OSError as error:
        raise KeyFormatError(
            "file.read", name=str(file), why=error.errno or 0, code="passphrase-missing"
        ) from None
    except UnicodeDecodeError:
        raise KeyFormatError("passphrase.text", code="passphrase-missing") from None
    words = line.rstrip("\r\n")
    if not words:
        raise KeyFormatError("passphrase.text", code="passphrase-missing")
    return passphrase_bytes(words)


def _opened(file: Path) -> int:
    """Open a file, or a pipe as a shell lends one; a pipe that nobody writes to is empty."""
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    if hasattr(os, "set_blocking"):
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
