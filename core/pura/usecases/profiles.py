"""Profiles: made, stored, imported, exported, limited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pura.base.catalogue import phrase
from pura.base.errors import ProfileError, unusable
from pura.base.files import read_bounded, refuse_taken, write_or_refuse
from pura.base.json_text import read_json
from pura.keys import KeyRef
from pura.keys.sealed import seal_secret
from pura.model.folder import InstalledModel
from pura.scheme import Profile, parse_layout
from pura.scheme.fields import Field
from pura.scheme.foreign import FOREIGN, ForeignSettings, foreign_settings
from pura.scheme.profile import refuse_path
from pura.usecases.environment import Environment

MAX_LAYOUT: Final = 1 << 20
MAX_SETTINGS: Final = 64 << 10


@dataclass(frozen=True, kw_only=True)
class ProfileDone:
    """A profile, and where it is now.

    Attributes:
        profile: The profile.
        name: Under which it is stored; None where it is not.
        notes: What was done to read it (``pura.scheme.profile.NOTES``).
    """

    profile: Profile
    name: str | None
    notes: tuple[str, ...] = ()


def create_profile(
    environment: Environment,
    *,
    name: str | None = None,
    output: Path | None = None,
    bits: int = 36,
    model: str | None = None,
    vocab_size: int | None = None,
    chat_template: Path | None = None,
    system_prompt: Path | None = None,
    layout: Path | Sequence[Field] = (),
    limits: Mapping[str, tuple[str, ...]] | None = None,
    **settings: Any,
) -> ProfileDone:
    """Make a profile for the tokenizer of an installed model, and store it where that is wanted.

    Args:
        environment: Whose models and profiles.
        name: Of the profile, and of its file where it is stored; None leaves it without.
        output: A file that it is also written to.
        bits: Payload bits.
        model: Whose tokenizer it is for; None takes the only one that is installed.
        vocab_size: Size of a tokenizer that is not here; instead of a model.
        chat_template: Text file: what stands before a text at the generator, with the hole
            ``{prompt}``, and ``{system}`` for the system prompt.
        system_prompt: Text file with what fills ``{system}``.
        layout: The payload's fields, or a JSON file with them.
        limits: What can have been issued at most, by the name of a field; instead of what the
            file says of it.
        **settings: Further ones of :meth:`pura.scheme.Profile.new`, e.g. ``code``.

    Raises:
        ProfileError: A setting does not fit, the tokenizer is not clear, the name is taken, or
            the file cannot be written.
    """
    refuse_path(name)
    if output is not None:
        refuse_taken(output, ProfileError)
    profile = Profile.new(
        None if vocab_size else _model(environment, model),
        bits=bits,
        vocab_size=vocab_size,
        fields=_layout(layout, bits),
        chat_template=_text(chat_template),
        system_prompt=_text(system_prompt),
        name=name,
        **settings,
    )
    if limits:
        stated = {one.name: one.limits for one in profile.fields}
        profile = profile.with_limits(stated | dict(limits))
    return _made(environment, profile, name, output)


def _made(
    environment: Environment, profile: Profile, name: str | None, output: Path | None
) -> ProfileDone:
    """Store a profile that has a name, and write it where a file is named."""
    stored = None if name is None else environment.profiles.save(name, profile)
    if output is not None:
        write_or_refuse(output, profile.to_json().encode(), ProfileError)
    return ProfileDone(profile=profile, name=stored)


def limit_profile(
    environment: Environment, *, name: str, limits: Mapping[str, tuple[str, ...]]
) -> ProfileDone:
    """State what the fields of a stored profile can hold at most, in the place of what it says.

    Args:
        environment: Whose.
        name: Of the profile.
        limits: By the name of a field; one that is not named has none afterwards.

    Raises:
        ProfileError: There is no such profile or field, or a limit is none of it.
    """
    profile = environment.profiles.get(name).with_limits(limits)
    stored = environment.profiles.save(name, profile, replace=True)
    return ProfileDone(profile=profile, name=stored)


def create_foreign(
    environment: Environment,
    *,
    settings: Path | ForeignSettings,
    key: KeyRef,
    name: str | None = None,
    output: Path | None = None,
    model: str | None = None,
    width: int | None = None,
) -> ProfileDone:
    """Make a profile of a mark by others from the settings of the program that writes it.

    Args:
        environment: Whose keys, models and profiles.
        settings: As vLLM or SGLang takes them (``--watermark-config``) or transformers writes them
            (``SynthIDTextWatermarkingConfig``, ``WatermarkingConfig``), the secret included, in a
            file of JSON; or as they were typed.
        key: The key that the secret is sealed under.
        name: Of the profile, and of its file where it is stored; None leaves it without.
        output: A file that it is also written to.
        model: Whose tokenizer it is for; None takes the only one that is installed.
        width: Rows of the generating model's output, for KGW; None takes the tokenizer's size.

    Raises:
        ProfileError: The settings are of no known scheme or out of range, the name is taken, or
            the file cannot be written.
        KeyStoreError: The key is not here or cannot be read.
    """
    refuse_path(name)
    if output is not None:
        refuse_taken(output, ProfileError)
    installed = _model(environment, model)
    width = width or installed.vocab_size
    if isinstance(settings, ForeignSettings):
        if not settings.usable:
            raise ProfileError("profile.foreign-typed")
        read = settings
    else:
        read = read_foreign(settings, width)
    values = {n: width if n == "list_width" and v is None else v for n, v in read.settings.items()}
    with environment.opened_keys([key]) as [(opened, _)]:
        sealed = seal_secret(opened, read.scheme, read.secret)
    profile = Profile(
        payload_bits=0,
        scheme=read.scheme,
        vocab_size=installed.vocab_size,
        tokenizer=installed.tokenizer_fingerprint,
        key=key.fingerprint,
        name=name,
        foreign=FOREIGN[read.scheme](sealed=sealed, **values),
    )
    return _made(environment, profile, name, output)


def read_foreign(path: Path, width: int | None = None) -> ForeignSettings:
    """Read the settings file of another program, its secret included.

    Args:
        path: JSON.
        width: Rows of the generating model's output, for KGW.

    Raises:
        ProfileError: It cannot be read, or holds the settings of no known scheme.
    """
    try:
        settings = read_json(read_bounded(path, MAX_SETTINGS, ProfileError))
    except ValueError:
        settings = None
    read = foreign_settings(settings, width)
    if read is None:
        raise ProfileError("profile.foreign-settings", name=path.name)
    return read


def save_profile(
    environment: Environment, *, name: str, profile: Profile, replace: bool = False
) -> ProfileDone:
    """Store a profile that was made elsewhere.

    Args:
        environment: Whose.
        name: For people; what cannot stand in a file's name becomes a dash.
        profile: The profile.
        replace: It may take the place of one of that name.

    Raises:
        ProfileError: The name is taken or empty, or the folder cannot be written.
    """
    refuse_path(name)
    name = environment.profiles.save(name, profile, replace=replace)
    return ProfileDone(profile=profile, name=name)


def import_profile(environment: Environment, *, path: Path, name: str | None = None) -> ProfileDone:
    """Take a profile file in.

    Args:
        environment: Whose.
        path: The file.
        name: Its name here; None takes its own.

    Raises:
        ProfileError: Not a profile, or the name is taken.
    """
    refuse_path(name)
    name, notes = environment.profiles.take_in(path, name)
    return ProfileDone(profile=environment.profiles.get(name), name=name, notes=notes)


def export_profile(
    environment: Environment, *, name: str, path: Path, replace: bool = False
) -> ProfileDone:
    """Write a stored profile to a file, in the present version.

    Args:
        environment: Whose.
        name: Of the profile.
        path: The file.
        replace: A file that is there may be replaced.

    Raises:
        ProfileError: There is none of that name, it is damaged, or the file cannot be written.
    """
    refuse_taken(path, ProfileError, replace=replace)
    environment.profiles.hand_out(name, path)
    return ProfileDone(profile=environment.profiles.get(name), name=name)


def remove_profile(environment: Environment, *, name: str) -> None:
    """Delete a stored profile.

    Raises:
        ProfileError: There is none of that name, or it cannot be deleted.
    """
    environment.profiles.remove(name)


def find_profile(environment: Environment, name: str) -> Path:
    """Return the file of a profile that is named by its path or by its stored name.

    Raises:
        ProfileError: There is none.
    """
    path = Path(name)
    if path.exists():
        return path
    stored = environment.paths.profiles / f"{name}.json"
    if "/" not in name and stored.exists():
        return stored
    names = {"known": ", ".join(environment.profiles.names())}  # one of them may be meant
    raise ProfileError("command.profile", name=name, code="profile-not-found", **names)


def _model(environment: Environment, name: str | None) -> InstalledModel:
    store = environment.models
    installed = (store.get(name),) if name else store.list()
    if not installed:
        raise ProfileError("command.no-model", code="model-none")
    if len(installed) > 1:
        raise ProfileError("profile.no-tokenizer", code="tokenizer-unclear")
    return installed[0]


def _text(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return read_bounded(path, MAX_LAYOUT, ProfileError).decode()
    except ValueError:
        raise ProfileError("input.not-text").in_file(path.name) from None


def _layout(layout: Path | Sequence[Field], bits: int) -> Any:
    if not isinstance(layout, Path):
        return layout
    try:
        entries = read_json(read_bounded(layout, MAX_LAYOUT, ProfileError))
    except ValueError:
        raise unusable(ProfileError, "profile", phrase("what.not-list"), layout.name) from None
    return parse_layout(entries, bits)
