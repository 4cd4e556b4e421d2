"""What several commands need.

Options, how key, profile and model are found, how a secret is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from pura.base.errors import InputError, KeyFormatError, KeyStoreError, ProfileError
from pura.base.paths import user_paths
from pura.cli.terminal import err, interactive, language, say
from pura.measure import Bounds

if TYPE_CHECKING:
    from pura.base.errors import PuraError
    from pura.keys import KeyRef, Secret
    from pura.scheme import Profile
    from pura.usecases.environment import Environment


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


def _stored_keys() -> list[str]:
    return [entry.name for entry in environment().keys.list()]


def stored_profiles() -> list[str]:
    """Return the names that a shell completes."""
    return list(environment().profiles.names())


def _installed_models() -> list[str]:
    return [model.name for model in environment().models.list()]


KeyName = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="NAME",
        envvar="PURA_KEY",
        help="Stored key; may be given several times.",
        autocompletion=_stored_keys,
    ),
]
KeyFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="File with a key: hex, base64 or encrypted. It is used for this run only.",
    ),
]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="FILE",
        envvar="PURA_PROFILE",
        help="Profile: a file or a stored name.",
        autocompletion=stored_profiles,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        envvar="PURA_MODEL",
        help="Installed model, or a local folder or GGUF.",
        autocompletion=_installed_models,
    ),
]
DeviceOption = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda or mps; cuda is never replaced silently.")
]
DtypeOption = Annotated[
    str,
    typer.Option(
        "--dtype",
        help="Number format: float32; bfloat16 where GPU or processor has it; float16 on a GPU.",
    ),
]
PolicyOption = Annotated[
    Path | None, typer.Option("--policy", metavar="FILE", help="Policy instead of the stored one.")
]
JobsOption = Annotated[
    int,
    typer.Option("--jobs", "-j", min=1, help="Processes or actors, each with a model of its own."),
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", help="Who reads: local, or ray: actors of a cluster (RAY_ADDRESS)."),
]
FdrOption = Annotated[
    float | None,
    typer.Option(
        "--fdr",
        metavar="ALPHA",
        help="Also choose from the batch with this false discovery rate (e-BH).",
    ),
]


def number(bounds: Bounds, words: str) -> Any:
    """Return an option for a number between bounds.

    Args:
        bounds: Its limits.
        words: Its help.
    """
    return typer.Option(min=bounds.least, max=bounds.most, help=words)


def refuse_rate(fdr: float | None) -> None:
    """Refuse a false discovery rate that is none."""
    if fdr is not None and not 0 < fdr < 1:
        raise typer.BadParameter(say("choose.rate"), param_hint="--fdr")


def environment(device: str = "auto", dtype: str = "float32") -> Environment:
    """Return the user's environment, for one call of the command."""
    from pura.usecases.environment import Environment

    paths = user_paths()
    folder = paths.config / "keys"
    return Environment(
        paths=paths, device=device, dtype=dtype, ask_folder=lambda new: ask_folder(folder, new=new)
    )


def find_keys(
    at: Environment,
    names: list[str] | None,
    files: list[Path] | None,
    profile: Profile | None = None,
) -> list[KeyRef]:
    """Return the keys that the options name; those of files are read for this run.

    Args:
        at: Where keys are.
        names: Of stored keys.
        files: With keys.
        profile: Of a mark by others: without any option its own key is taken.

    Raises:
        PuraError: None is named, or one is not there or cannot be read.
    """
    found = [_from_file(at, path) for path in files or []]
    found += [at.stored_key(name) for name in names or []]
    if not found and profile is not None and profile.foreign is not None:
        found = [at.key_of(profile.key or "")]
    if not found:
        raise KeyStoreError("audit.no-key", code="key-missing")
    return found


def find_key(
    at: Environment, names: list[str] | None, files: list[Path] | None, why: str
) -> KeyRef:
    """Return the one key that the options name; ``why`` is the error that it takes one.

    Raises:
        PuraError: None is named, several are, or it is not there or cannot be read.
    """
    found = {ref.fingerprint: ref for ref in find_keys(at, names, files)}
    if len(found) != 1:
        raise KeyStoreError(why, code="key-missing")
    return next(iter(found.values()))


def _from_file(at: Environment, path: Path) -> KeyRef:
    from pura.usecases.keys import open_key_file

    warn_exposed(path)
    return with_passphrase(
        lambda secret: open_key_file(at, path, secret), None, say("ask.of", name=path.name)
    )


def load_profile(at: Environment, name: str, *, foreign: bool = False) -> Profile:
    """Return a profile by file path or stored name.

    Args:
        at: Where profiles are stored.
        name: The path or name.
        foreign: It may be of a mark by others, which can be looked for and nothing else.

    Raises:
        ProfileError: There is none, it is damaged, or of a mark by others.
    """
    from pura.scheme import Profile
    from pura.usecases.profiles import find_profile

    profile = Profile.load(find_profile(at, name))
    if profile.foreign is not None and not foreign:
        raise ProfileError("profile.foreign-only", code="usage")
    return profile
