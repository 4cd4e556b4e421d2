"""What several commands need: options, and how key, profile and model are found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pura.base.bounds import Bounds
from pura.base.errors import KeyStoreError, ProfileError
from pura.base.paths import user_paths
from pura.cli.passphrases import ask_folder, warn_exposed, with_passphrase
from pura.cli.terminal import say

if TYPE_CHECKING:
    from pura.keys import KeyRef
    from pura.scheme import Profile
    from pura.usecases.environment import Environment


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
