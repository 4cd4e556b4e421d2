"""What several commands need: options, and how key, profile and model are found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

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


def _stored_profiles() -> list[str]:
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
        autocompletion=_stored_profiles,
    ),
]
AlsoOption = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="FILE",
        help="Also try this profile of a mark by others; the evidence is the mean.",
        autocompletion=_stored_profiles,
    ),
]
WeighOption = Annotated[
    bool,
    typer.Option(
        "--weigh",
        help="Marks by others: let the model read the text too, which sharpens Gumbel-max.",
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


DecoderOption = Annotated[
    str, typer.Option("--decoder", help="exact, or paper (the published method).")
]
RegisterOption = Annotated[
    bool, typer.Option("--register", help="Ask the register of issued payloads.")
]
PolicyOption = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help="Policy instead of the stored one."),
]
FdrOption = Annotated[
    float | None,
    typer.Option(
        "--fdr",
        metavar="ALPHA",
        help="Also choose from the batch with this false discovery rate (e-BH).",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Encoding of text files, if it is known."),
]
PartOption = Annotated[
    list[str] | None,
    typer.Option("--part", metavar="NAME", help="Audit this part of a file, or “all” of them."),
]
RestoreOption = Annotated[
    bool,
    typer.Option(
        "--restore/--no-restore",
        help="Also read the text with the substitutions of office software undone.",
    ),
]
EpochsOption = Annotated[
    str | None,
    typer.Option(
        "--epochs",
        metavar="FROM..TO",
        help="Try the keys of these days, weeks or months, derived from each key; "
        "none: keys as they are.",
    ),
]
StopEarly = Annotated[
    bool,
    typer.Option("--stop-early", help="Read no further once the evidence has reached the cap."),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include", metavar="PATTERN", help="Folders: take these names only, e.g. *.docx."
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="PATTERN", help="Folders: leave these names out."),
]
Hidden = Annotated[bool, typer.Option("--hidden", help="Folders: take hidden files too.")]
Links = Annotated[bool, typer.Option("--links", help="Folders: follow symbolic links.")]
_DECODERS: Final = ("exact", "paper")


def refuse_choices(decoder: str, fdr: float | None) -> None:
    """Refuse a decoder that is none, and a rate that is none, before any work."""
    if decoder not in _DECODERS:
        raise typer.BadParameter(say("choose", known=", ".join(_DECODERS)), param_hint="--decoder")
    refuse_rate(fdr)


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
        paths=paths,
        device=device,
        dtype=dtype,
        ask_folder=lambda new: ask_folder(folder, new=new),
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
        raise KeyStoreError("command.no-key", code="key-missing")
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
