"""What several commands need: consoles, and how key, profile and model are found."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pura.base.errors import KeyStoreError, ModelError, ProfileError, PuraError
from pura.base.paths import Paths, user_paths
from pura.keys import KeyFolder, KeyStore, load_key
from pura.scheme import Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

KeyName = Annotated[
    list[str] | None,
    typer.Option("--key", metavar="NAME", help="Stored key; may be given several times."),
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
    str, typer.Option("--profile", metavar="FILE", help="Profile: a file or a stored name.")
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="Installed model, or a local folder or GGUF."),
]
DeviceOption = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda or mps; cuda is never replaced silently.")
]
DtypeOption = Annotated[
    str,
    typer.Option("--dtype", help="Number format: float32; bfloat16 or float16 on a GPU."),
]


@dataclass(frozen=True, kw_only=True)
class LabelledKey:
    """A secret key and the name people know it by."""

    key: SecretKey
    label: str | None


def complain(error: PuraError, name: str | None = None) -> None:
    """Print an error on standard error: what happened, then the way out."""
    prefix = f"{name}: " if name else ""
    err.print(f"{prefix}{error.message}", style="bold red", markup=False)
    if error.hint:
        err.print(error.hint, markup=False)


def key_store(paths: Paths | None = None) -> KeyStore:
    """Return the user's key store."""
    from pura.cli.passphrases import ask_folder

    config = (paths or user_paths()).config
    folder = config / "keys"
    files = KeyFolder(folder, lambda new: ask_folder(folder, new=new))
    return KeyStore(config / "keys.json", files=files)


def find_keys(names: list[str] | None, files: list[Path] | None) -> list[LabelledKey]:
    """Return the keys that the options name, each once.

    Raises:
        PuraError: None is named, or one cannot be read.
    """
    found = [_from_file(path) for path in files or []]
    if names:
        store = key_store()
        found += [LabelledKey(key=store.get(name), label=name) for name in names]
    if not found:
        raise KeyStoreError(
            "No key was named.", "Use --key NAME or --key-file FILE.", code="key-missing"
        )
    # The mean runs over different keys; one that is named twice would count twice.
    unique: dict[str, LabelledKey] = {}
    for one in found:
        unique.setdefault(one.key.fingerprint, one)
    return list(unique.values())


def _from_file(path: Path) -> LabelledKey:
    from pura.cli.passphrases import passphrase

    found = load_key(path, lambda: passphrase(None, f"Passphrase of {path.name}"))
    return LabelledKey(key=found.key, label=found.name or None)


def find_profile(name: str) -> Profile:
    """Return a profile by file path or stored name.

    Raises:
        ProfileError: There is none, or it is damaged.
    """
    return Profile.load(profile_path(name))


def profile_path(name: str) -> Path:
    """Return the file of a profile that is named by its path or by its stored name.

    Raises:
        ProfileError: There is none.
    """
    path = Path(name)
    if path.exists():
        return path
    stored = user_paths().profiles / f"{name}.json"
    if "/" not in name and stored.exists():
        return stored
    raise ProfileError(
        f"There is no profile file or stored profile “{name}”.",
        "Make one with “pura profile new”, or give the path of the file.",
        code="profile-not-found",
    )


def find_model(name: str | None, device: str, dtype: str = "float32") -> LanguageModel:
    """Load the model that the options name, or the only one that is installed.

    Raises:
        ModelError: There is none, several, or it is unsafe or damaged.
        DeviceError: The device is not there.
    """
    from pura.model import offline

    offline.prepare()
    from pura.model.device import choose_device
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    chosen = choose_device(device, dtype)
    store = ModelStore(user_paths().models)
    if name is None:
        installed = store.list()
        if not installed:
            raise ModelError(
                "No model is installed.",
                "Run “pura model install smollm2-135m”, or name a folder with --model.",
                code="model-missing",
            )
        if len(installed) > 1:
            names = ", ".join(m.name for m in installed)
            raise ModelError(
                f"Several models are installed: {names}.",
                "Choose one with --model.",
                code="model-ambiguous",
            )
        return load_model(installed[0], chosen)
    known = any(model.name == name for model in store.list())
    path = Path(name)
    # A stored name wins over a file that happens to be called the same in this folder.
    return load_model(path if path.exists() and not known else store.get(name), chosen)


def interactive() -> bool:
    """Whether a person sits at the other end of standard input."""
    return sys.stdin.isatty()
