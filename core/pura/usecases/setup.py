"""Key, model and profile made together, under one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pura.base.errors import ProfileError, PuraError
from pura.base.progress import Checkpoint, Progress, never_cancelled, no_progress
from pura.keys import KeyRef, Secret
from pura.keys.entries import check_name
from pura.scheme.fields import Field
from pura.scheme.profile import clean_name, refuse_path
from pura.usecases.environment import Environment
from pura.usecases.keys import create_key, delete_key, import_key
from pura.usecases.models import install_model
from pura.usecases.profiles import ProfileDone, create_profile
from pura.usecases.setups import save_setup, setup_folder

TEMPLATES: Final[Mapping[str, tuple[tuple[str, int, str], ...]]] = {
    "answer": (),
    "customer-date": (("customer", 20, "integer"), ("date", 16, "date")),
    "customer": (("customer", 24, "integer"),),
}
"""Layouts of the usual payloads, the default first: name, width in bits and kind of each field.

``answer`` has no fields: its payload is a random number, used once, and the register names the
recipient. The others name the recipient in the payload itself.
"""


def set_up(
    environment: Environment,
    *,
    name: str,
    fields: Sequence[Field] = (),
    bits: int = 36,
    code: str = "tbcc",
    model: str | None = None,
    key: KeyRef | Path | None = None,
    passphrase: Secret | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> ProfileDone:
    """Make a set-up and its parts under one name: a key, a model, and a profile of both.

    Args:
        environment: Where they are kept.
        name: Of the set-up, of its profile, and of the key where it is new.
        fields: The payload's layout; empty leaves it a number.
        bits: Payload bits where there are no fields.
        code: ``tbcc`` or ``spc``.
        model: Name of an installed model; None installs the built-in one.
        key: One that is here, or the file of one; None makes one.
        passphrase: Of an encrypted key file.
        progress: Told how far an installation is.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: A name is taken, the key does not open, the model cannot be had, or a setting
            does not fit. A model that was installed until then stays.
    """
    refuse_path(name)
    stored = (*environment.profiles.names(), *setup_folder(environment).names())
    if clean_name(name) in stored:
        raise ProfileError("file.there", name=name, code="file-exists")
    if not isinstance(key, KeyRef):
        check_name(name, environment.keys.list())
    if model is None:
        model = install_model(environment, progress=progress, checkpoint=checkpoint).name
    made = None if isinstance(key, KeyRef) else name
    if key is None:
        key = create_key(environment, name=name).key
    elif isinstance(key, Path):
        key = import_key(environment, source=key, passphrase=passphrase, name=name).key
    try:
        done = create_profile(
            environment,
            name=name,
            bits=sum(field.bits for field in fields) or bits,
            code=code,
            layout=fields,
            model=model,
            key=key.fingerprint,
        )
    except PuraError:
        if made is not None:  # else another try would find its name taken
            delete_key(environment, name=made)
        raise
    stored_name = done.name or clean_name(name)
    save_setup(
        environment, name=stored_name, profile=stored_name, keys=(key.fingerprint,), model=model
    )
    return done
