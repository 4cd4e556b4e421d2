"""Team bundles: profile, key, policy, power tables and register in one file under one passphrase.

The file is JSON: an encrypted key file's armour around a random content key, and what that key
opens (AES-256-GCM). Nothing of it can be read without the passphrase, and nothing of it is taken
in before somebody has seen the fingerprints.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pura.base.errors import InputError, KeyFormatError, naming
from pura.base.files import read_bounded, refuse_taken, write_or_refuse
from pura.base.json_text import read_json
from pura.keys import Place, Secret, parse_key
from pura.keys.sealed import check_passphrase, seal, unseal
from pura.register.store import Register, export_csv
from pura.scheme import Profile
from pura.scheme.keys import wipe_buffer
from pura.usecases.environment import Environment
from pura.usecases.keys import KeyDone, import_key
from pura.usecases.register import import_register
from pura.verdict.policy import Policy, load_policy
from pura.verdict.power_file import PowerFile, parse_power_file

SUFFIX: Final = ".purateam"
SCHEMA: Final = "pura-team-bundle/1"
MAX_BYTES: Final = 256 << 20
_PARTS: Final = ("profile_name", "profile", "key", "policy", "power", "register")


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What a bundle holds, to be shown before it is taken in.

    Attributes:
        key: Name of the key.
        key_fingerprint: Of the key.
        profile: Name of the profile.
        profile_fingerprint: Of the profile.
        model: Fingerprint of the model that the profile belongs to; None for any.
        policy: Name and version of the policy; None where it is the shipped one.
        power: Fingerprints of the power tables.
        register_rows: How many issued payloads it holds.
    """

    key: str
    key_fingerprint: str
    profile: str
    profile_fingerprint: str
    model: str | None
    policy: str | None
    power: tuple[str, ...]
    register_rows: int


@dataclass(frozen=True, kw_only=True)
class _Content:
    name: str
    profile: Profile
    key: bytes
    policy: Policy | None
    power: tuple[PowerFile, ...]
    register: str


def create_bundle(
    environment: Environment,
    *,
    key: str,
    profile: str,
    passphrase: Secret,
    path: Path,
    register: bool = True,
    replace: bool = False,
) -> Bundle:
    """Write what a colleague needs to audit as one does here.

    Its policy is this environment's, with the power tables that it names.

    Args:
        environment: Where keys, profiles, policy and register are.
        key: Name of the key.
        profile: Name of the profile.
        passphrase: Of the bundle; overwritten afterwards.
        path: The file.
        register: The register of issued payloads goes along, where there is one.
        replace: A file that is there may be replaced.

    Raises:
        InputError: The file is there already, or cannot be written.
        KeyStoreError: The key cannot be read.
        KeyFormatError: The passphrase is too short.
        ProfileError: There is no such profile.
        PolicyError: The policy or one of its tables cannot be read.
    """
    with passphrase.used() as words:
        check_passphrase(words)
        refuse_taken(path, InputError, replace=replace)
        own = environment.paths.policy.exists()
        policy = load_policy(environment.paths.policy) if own else None
        content = _Content(
            name=profile,
            profile=environment.profiles.get(profile),
            key=environment.keys.export(key, words),
            policy=policy,
            power=tuple(environment.power.get(name) for name in policy.power_tables)
            if policy is not None
            else (),
            register=_register_of(environment) if register else "",
        )
        data = _sealed(content, words)
        shown = _shown(content, words)
    write_or_refuse(path, data, InputError, private=True)
    return shown


def open_bundle(path: Path, passphrase: Secret) -> Bundle:
    """Say what a bundle holds; the passphrase stays as it is, to take the bundle in with.

    Raises:
        InputError: It is no bundle, or damaged.
        KeyFormatError: The passphrase is wrong (``key-file-passphrase``).
    """
    lent = passphrase.copy()
    try:
        with naming(path.name):
            return _shown(_opened(path, lent), lent)
    finally:
        wipe_buffer(lent)


def take_bundle(
    environment: Environment,
    *,
    path: Path,
    passphrase: Secret,
    place: Place | None = None,
    replace_policy: bool = False,
) -> Bundle:
    """Take in what a bundle holds; what is here already, unchanged, stays as it is.

    Args:
        environment: Where it goes.
        path: The file.
        passphrase: Of the bundle; overwritten afterwards.
        place: Where the key is kept, as for :func:`pura.usecases.keys.create_key`.
        replace_policy: Another policy that is here may be replaced.

    Raises:
        InputError: It is no bundle, damaged, or another policy is here (``policy-here``).
        KeyFormatError: The passphrase is wrong.
        KeyStoreError: The name of the key is taken, or the store refuses.
        ProfileError: Another profile has that name.
        RegisterError: A payload was issued to somebody else here.
    """
    with passphrase.used() as words:
        with naming(path.name):
            content = _opened(path, words)
        shown = _shown(content, words)
        _check_policy(environment, content, replace=replace_policy)
        names = environment.profiles.names()
        here = shown.profile in names and environment.profiles.get(shown.profile) == content.profile
        if not here:
            environment.profiles.save(shown.profile, content.profile)
        _take_key(environment, content.key, shown, words, place)
    for table in content.power:
        environment.power.put(table)
    if content.policy is not None:
        content.policy.save(environment.paths.policy)
    if content.register:
        _take_register(environment, content)
    return shown


def _take_key(
    environment: Environment, key: bytes, shown: Bundle, passphrase: bytearray, place: Place | None
) -> KeyDone | None:
    if any(entry.fingerprint == shown.key_fingerprint for entry in environment.keys.list()):
        return None
    return import_key(
        environment,
        source=Secret(bytearray(key)),
        passphrase=Secret(bytearray(passphrase)),
        place=place,
    )


def _check_policy(environment: Environment, content: _Content, *, replace: bool) -> None:
    if content.policy is None or replace or not environment.paths.policy.exists():
        return
    mine = load_policy(environment.paths.policy)
    if mine != content.policy:
        raise InputError(
            "bundle.policy", mine=mine.rule, theirs=content.policy.rule, code="policy-here"
        )


def _register_of(environment: Environment) -> str:
    if not environment.paths.register.exists():
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "register.csv"
        with Register(environment.paths.register, read_only=True) as register:
            return path.read_text(encoding="utf-8") if export_csv(register, path) else ""


def _take_register(environment: Environment, content: _Content) -> None:
    """Add the rows, unless the register here holds them already."""
    if _register_of(environment) == content.register:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "register.csv"
        path.write_text(content.register, encoding="utf-8")
        import_register(environment, path=path, profile=content.profile)


def _shown(content: _Content, passphrase: bytearray) -> Bundle:
    found = parse_key(content.key, lambda: bytearray(passphrase))
    with found.key:
        return Bundle(
            key=found.name,
            key_fingerprint=found.key.fingerprint,
            profile=content.name,
            profile_fingerprint=content.profile.fingerprint,
            model=content.profile.model,
            policy=content.policy.rule if content.policy is not None else None,
            power=tuple(table.fingerprint for table in content.power),
            register_rows=max(0, len(content.register.splitlines()) - 1),
        )


def _sealed(content: _Content, passphrase: bytearray) -> bytes:
    body = json.dumps(
        {
            "profile_name": content.name,
            "profile": content.profile.to_json(),
            "key": content.key.decode(),
            "policy": content.policy.to_json() if content.policy is not None else None,
            "power": [table.to_bytes().decode() for table in content.power],
            "register": content.register,
        }
    ).encode()
    inner, nonce = bytearray(os.urandom(32)), os.urandom(12)
    try:
        data = nonce + AESGCM(bytes(inner)).encrypt(nonce, body, SCHEMA.encode())
        whole = {
            "schema": SCHEMA,
            "opened_by": seal(inner, passphrase).decode(),
            "content": base64.b64encode(data).decode(),
        }
    finally:
        wipe_buffer(inner)
    return (json.dumps(whole, indent=1) + "\n").encode()


def _opened(path: Path, passphrase: bytearray) -> _Content:
    whole = _object(read_bounded(path, MAX_BYTES, InputError), ("schema", "opened_by", "content"))
    if whole["schema"] != SCHEMA:
        raise _damaged()
    try:
        data = base64.b64decode(str(whole["content"]), validate=True)
    except ValueError:
        raise _damaged() from None
    try:
        inner = unseal(str(whole["opened_by"]).encode(), passphrase)
    except KeyFormatError as error:
        if error.code == "key-file-passphrase":
            raise KeyFormatError("passphrase.wrong", code=error.code) from None
        raise
    try:
        body = AESGCM(bytes(inner)).decrypt(data[:12], data[12:], SCHEMA.encode())
    except (InvalidTag, ValueError):
        raise _damaged() from None
    finally:
        wipe_buffer(inner)
    parts = _object(body, _PARTS)
    policy, power = parts["policy"], parts["power"]
    if not isinstance(power, list):
        raise _damaged()
    return _Content(
        name=str(parts["profile_name"]),
        profile=Profile.from_json(str(parts["profile"])),
        key=str(parts["key"]).encode(),
        policy=Policy.from_json(policy) if isinstance(policy, str) else None,
        power=tuple(parse_power_file(str(table).encode()) for table in power),
        register=str(parts["register"]),
    )


def _object(data: bytes, names: tuple[str, ...]) -> dict[str, Any]:
    try:
        found = read_json(data)
    except (ValueError, RecursionError):
        raise _damaged() from None
    if not isinstance(found, dict) or set(found) != set(names):
        raise _damaged()
    return found


def _damaged() -> InputError:
    return InputError("bundle.damaged", code="bundle-damaged")
