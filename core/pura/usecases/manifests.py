"""Manifests of marked texts: which text one is made for, and where it is noted."""

from __future__ import annotations

from pathlib import Path

from pura.base.errors import InputError, RegisterError
from pura.base.files import read_bounded
from pura.documents import FORMATS
from pura.provenance.writing import MAX_TEXT_BYTES
from pura.register.store import Register
from pura.scheme import Payload, Profile
from pura.usecases.environment import Environment


def read_signable(path: Path) -> str:
    """Read a text byte for byte, as a manifest is made for it.

    Raises:
        InputError: It cannot be read, is too large, no plain text, or not UTF-8.
    """
    ending = path.suffix.lower()
    if any(ending in one.endings for one in FORMATS.values() if one.name != "text"):
        raise InputError("manifest.format", name=path.name, code="input-format")
    try:
        return read_bounded(path, MAX_TEXT_BYTES).decode()
    except UnicodeDecodeError:
        raise InputError("manifest.format", name=path.name, code="input-format") from None


def name_manifest(
    environment: Environment, *, entry: int, payload: Payload, profile: Profile, manifest: str
) -> None:
    """Note in the register of issued payloads which manifest names the mark of an entry.

    Args:
        environment: Whose register.
        entry: Number of the entry.
        payload: The payload that the manifest names.
        profile: The profile of the mark.
        manifest: The manifest's identifier.

    Raises:
        RegisterError: There is no register, or the entry is another mark's.
    """
    with Register(environment.paths.register) as register:
        issued = register.entry(entry)
        mark = None if issued is None else issued.issue.mark
        if mark is None or (mark.payload, mark.profile) != (payload, profile.fingerprint):
            raise RegisterError("register.other-mark", number=entry, code="register-other-mark")
        register.name_manifest(entry, manifest)
