"""Keys: create, import, export, derive, delete; team bundles, which hold a key and more.

A bundle is JSON: an encrypted key file's armour around a random content key, and what that key
opens (AES-256-GCM). Nothing of it can be read without the passphrase, and nothing of it is taken
in before somebody has seen the fingerprints.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pura.base.catalogue import phrase
from pura.base.errors import (
    InputError,
    KeyFormatError,
    KeyStoreError,
    ProfileError,
    PuraError,
    naming,
)
from pura.base.files import read_bounded, refuse_taken, write_or_refuse
from pura.base.json_text import read_json
from pura.detect.verdict.policy import Policy, load_policy
from pura.detect.verdict.power import PowerFile, parse_power_file
from pura.keys import KeyEntry, KeyFile, KeyRef, Place, Secret, load_key, parse_key
from pura.keys.entries import check_name
from pura.keys.epochs import AS_GIVEN, epoch_key, epoch_of, epochs, kind_of, today
from pura.keys.sealed import check_passphrase, seal, unseal
from pura.register.rows import Issue
from pura.register.store import Register
from pura.register.table import export_csv
from pura.register.under import IssuedUnder
from pura.register.usage import Usage, find_usage
from pura.scheme import PayloadSeries, Profile, SecretKey
from pura.scheme.keys import wipe_buffer
from pura.scheme.public_keys import PATTERN, public_keys
from pura.usecases.environment import Environment
from pura.usecases.registers import import_register, series_of
from pura.usecases.setups import StoredSetup, setup_folder

if TYPE_CHECKING:
    from pura.base.identity import Identity


@dataclass(frozen=True, kw_only=True)
class KeyDone:
    """A key, and where it is now.

    Attributes:
        key: Which.
        entry: What is known of it, where it is stored; None for a key of this run.
        keyring: What the keyring is called that holds it; empty for a key of a file.
        data: The encrypted copy, of an export.
    """

    key: KeyRef
    entry: KeyEntry | None = None
    keyring: str = ""
    data: bytes = b""


def create_key(
    environment: Environment,
    *,
    name: str,
    note: str = "",
    place: Place | None = None,
    session: bool = False,
) -> KeyDone:
    """Make a fresh key and store it.

    Args:
        environment: Where the keys are.
        name: Its name.
        note: For people.
        place: Where it is kept; None takes the keyring, or encrypted files where there is none.
        session: It is not stored at all, and lives for this run only.

    Raises:
        KeyStoreError: The name is taken or unusable, or the store refuses.
    """
    made = KeyFile(key=SecretKey.generate())
    return _keep(environment, made, name, note, place=place, session=session)


def import_key(
    environment: Environment,
    *,
    source: Path | Secret,
    passphrase: Secret | None = None,
    name: str = "",
    note: str = "",
    place: Place | None = None,
    session: bool = False,
) -> KeyDone:
    """Store a key that exists already.

    Args:
        environment: Where the keys are.
        source: A file, or what was typed: hex, base64, or an encrypted key file. What was typed
            is overwritten, unless its passphrase is missing or wrong (``key-file-passphrase``):
            then it can come again with another.
        passphrase: Of an encrypted one.
        name: Its name; empty takes the one that an encrypted file brings.
        note: For people; empty takes the file's.
        place: As for :func:`create_key`.
        session: As for :func:`create_key`.

    Raises:
        KeyFormatError: It is no key, damaged, or its passphrase is wrong or missing.
        KeyStoreError: The name is missing, taken or unusable, the key is public (``key-public``),
            or the store refuses.
    """
    found = _read(source, passphrase)
    return _keep(environment, found, name, note, place=place, session=session)


def derive_key(
    environment: Environment,
    *,
    master: str,
    label: str,
    epoch: bool = False,
    name: str = "",
    note: str = "",
    place: Place | None = None,
) -> KeyDone:
    """Derive the key of a deployment or of an epoch from a master key, and store it.

    Args:
        environment: Where the keys are.
        master: Name of the master key.
        label: Name of the deployment; or a day, an ISO week or a month.
        epoch: The label is one of those.
        name: Of the new key; empty takes the master's and the label.
        note: For people.
        place: As for :func:`create_key`.

    Raises:
        KeyStoreError: The master cannot be read or is public, or the new key cannot be stored.
        KeyFormatError: The label is unusable.
    """
    _refuse_public(environment.keys.entry(master).fingerprint)
    entry = environment.keys.derive(master, label, name, note, place, epoch=epoch)
    return _stored(environment, entry)


def epoch_keys(environment: Environment, refs: Sequence[KeyRef], span: str) -> tuple[KeyRef, ...]:
    """Name the keys of a range of epochs; they are derived where they are opened, and not stored.

    Args:
        environment: Where the keys are.
        refs: Keys that the epochs' keys come from.
        span: ``FROM..TO``.

    Returns:
        The keys of all epochs, each named after its key and the epoch.

    Raises:
        KeyFormatError: The range cannot be read, or is too long.
        KeyStoreError: A key is not here or cannot be read.
    """
    named, found = epochs(span), []
    with environment.opened_keys(refs) as opened:
        for root, label in opened:
            for epoch in named:
                with epoch_key(root, epoch) as key:
                    ref = KeyRef(
                        fingerprint=key.fingerprint,
                        label=f"{label or root.fingerprint} {epoch}",
                        root=root.fingerprint,
                        epoch=epoch,
                    )
                found.append(ref)
    return tuple(found)


def marking_key(environment: Environment, ref: KeyRef, profile: Profile, epoch: str = "") -> KeyRef:
    """Return the key that a text is marked with now.

    Args:
        environment: Where the keys are.
        ref: The key that was named.
        profile: It says whether keys are those of a day, a week or a month.
        epoch: One instead of the present one; ``none`` takes the key as it is.

    Raises:
        KeyFormatError: This is no epoch, or not one of the profile's kind.
        KeyStoreError: The key is not here or cannot be read.
    """
    kind = profile.key_epochs
    if epoch == AS_GIVEN or not (epoch or kind):
        return ref
    if not epoch and environment.origin_of(ref) is not None:
        return ref
    refuse_kind(profile, epoch)
    (found,) = epoch_keys(environment, [ref], epoch or epoch_of(today(), str(kind)))
    return found


def refuse_kind(profile: Profile, span: str) -> None:
    """Refuse days where a profile says that keys are those of months, and so on.

    Raises:
        KeyFormatError: The range is of another kind than the profile's keys.
    """
    if span and profile.key_epochs not in (None, kind_of(span)):
        raise KeyFormatError("key.epoch", code="key-epoch")


def export_key(
    environment: Environment,
    *,
    name: str,
    passphrase: Secret,
    path: Path | None = None,
    replace: bool = False,
) -> KeyDone:
    """Make an encrypted copy of a key, and write it where a file is named.

    Args:
        environment: Where the keys are.
        name: Of the key.
        passphrase: Of the copy; overwritten when it has been used.
        path: The file; None writes none.
        replace: A file that is there may be replaced.

    Raises:
        KeyStoreError: The key cannot be read, or the file is there or cannot be written.
        KeyFormatError: The passphrase is too short.
    """
    with passphrase.used() as words:
        entry = environment.keys.entry(name)
        if path is not None:
            refuse_taken(path, KeyStoreError, replace=replace)
        data = environment.keys.export(name, words)
    if path is not None:
        write_or_refuse(path, data, KeyStoreError, private=True)
    return _stored(environment, entry, data)


def rename_key(environment: Environment, *, name: str, new: str) -> KeyDone:
    """Give a key another name, one of this run too; its fingerprint stays.

    Raises:
        KeyStoreError: There is no such key, or the new name is taken or unusable.
    """
    here = environment.session_keys
    if here.named(name) is not None:
        return KeyDone(key=here.rename(name, _free(environment, new)))
    if here.named(new.strip()) is not None:
        raise _taken(new)
    return _stored(environment, environment.keys.rename(name, new))


def note_key(environment: Environment, *, name: str, note: str) -> KeyDone:
    """Write a note to a stored key; an empty one takes it off.

    Raises:
        KeyStoreError: There is no such key, or the note is too long.
    """
    return _stored(environment, environment.keys.set_note(name, note))


def delete_key(environment: Environment, *, name: str) -> KeyDone:
    """Delete a key for good, and return what is known of it.

    Texts marked with it can no longer be verified here.

    Raises:
        KeyStoreError: There is no such key, or the store refuses.
    """
    if environment.session_keys.named(name) is not None:
        return KeyDone(key=environment.session_keys.remove(name))
    entry = environment.keys.entry(name)
    environment.keys.delete(name)
    return _stored(environment, entry)


def key_usage(environment: Environment, name: str) -> Usage:
    """Return what refers to a stored key, to be told before it is deleted.

    Raises:
        KeyStoreError: There is no such key.
    """
    entry, paths = environment.keys.entry(name), environment.paths
    return find_usage(entry, environment.keys.list(), paths.profiles, paths.register)


def unlock_files(environment: Environment, *, passphrase: Secret) -> None:
    """Open the folder of encrypted key files for as long as the environment lives.

    Args:
        environment: Whose.
        passphrase: Of the folder; overwritten afterwards.

    Raises:
        KeyStoreError: The passphrase is wrong (``folder-passphrase``), or the folder is damaged.
        KeyFormatError: A new passphrase is too short.
    """
    with passphrase.used() as words:
        try:
            environment.keys.files.unlock(words)
        except KeyFormatError as error:
            if error.code == "key-file-passphrase":
                raise KeyStoreError(error.key, code="folder-passphrase", **error.values) from None
            raise


def unlock_keyring(environment: Environment) -> None:
    """Have the keyring ask for its password.

    Raises:
        KeyStoreError: There is none, or it stays locked or refuses.
    """
    environment.keys.unlock_keyring()


def open_identity(
    path: Path, passphrase: Secret | None, error: type[PuraError], key: Path | None = None
) -> Identity:
    """Read the certificate that signs, with its key.

    Args:
        path: PKCS#12 file; with ``key`` the certificates, PEM.
        passphrase: Its passphrase, or that of the key; overwritten when it has been used.
        error: Raised where a file cannot be read.
        key: The private key, PEM.

    Raises:
        SigningError: The certificate cannot be used.
    """
    from pura.base.identity import MAX_FILE_BYTES, load_identity

    data = read_bounded(path, MAX_FILE_BYTES + 1, error)
    private = None if key is None else read_bounded(key, MAX_FILE_BYTES, error)
    with nullcontext() if passphrase is None else passphrase.used() as words:
        return load_identity(data, words, now=datetime.now(UTC), key=private)


def trusted_roots(paths: Sequence[Path], error: type[PuraError]) -> list[bytes]:
    """Return the trusted certificates of files, PEM or DER, as DER; ``error`` as above."""
    from pura.report.check import MAX_TRUST_BYTES, load_trust

    found = (load_trust(read_bounded(path, MAX_TRUST_BYTES, error)) for path in paths)
    return [der for one in found for der in one]


def open_key_file(environment: Environment, path: Path, passphrase: Secret | None = None) -> KeyRef:
    """Read a key from a file for this run only.

    Raises:
        KeyFormatError: It is no key, damaged, or its passphrase is wrong or missing.
    """
    found = _read(path, passphrase)
    return environment.session_keys.add(found.key, found.name or None)


def _keep(
    environment: Environment,
    found: KeyFile,
    name: str,
    note: str,
    *,
    place: Place | None,
    session: bool,
) -> KeyDone:
    with found.key:
        name = name or found.name
        if not name:
            raise KeyStoreError("name.none", code="key-name")
        if not session:
            _refuse_public(found.key.fingerprint, found.master)
            entry = environment.keys.add(
                name,
                found.key,
                note or found.note,
                role=found.role,
                master=found.master,
                deployment=found.deployment,
                created=found.created,
                place=place,
            )
            return _stored(environment, entry)
        name = _free(environment, name)
        if environment.session_keys.get(found.key.fingerprint) is not None:
            raise _taken(name)
        secret = found.key.copy_secret()
        try:
            copy = SecretKey(secret, found.key.origin)
            return KeyDone(key=environment.session_keys.add(copy, name))
        finally:
            wipe_buffer(secret)


def _refuse_public(*fingerprints: str) -> None:
    """Refuse to store a key that anyone can know, or one that was derived from such a key.

    Raises:
        KeyStoreError: One of the fingerprints is that of a public key.
    """
    published = public_keys()
    for fingerprint in fingerprints:
        if (where := published.get(fingerprint)) is not None:
            raise KeyStoreError(
                "key.public",
                fingerprint=fingerprint,
                where=phrase("key.public-pattern") if where == PATTERN else where,
                code="key-public",
            )


def _free(environment: Environment, name: str) -> str:
    name = check_name(name, environment.keys.list())
    if environment.session_keys.named(name) is not None:
        raise _taken(name)
    return name


def _taken(name: str) -> KeyStoreError:
    return KeyStoreError("name.taken", name=name, code="key-exists")


def _read(source: Path | Secret, passphrase: Secret | None) -> KeyFile:
    ask = None if passphrase is None else passphrase.copy
    try:
        if isinstance(source, Path):
            return load_key(source, ask)
        data = source.copy()
        try:
            found = parse_key(bytes(data), ask)
        except KeyFormatError as error:
            if error.code != "key-file-passphrase":
                source.wipe()
            raise
        finally:
            wipe_buffer(data)
        source.wipe()
        return found
    finally:
        if passphrase is not None:
            passphrase.wipe()


def _stored(environment: Environment, entry: KeyEntry, data: bytes = b"") -> KeyDone:
    store = environment.keys
    return KeyDone(
        key=KeyRef.of(entry),
        entry=entry,
        keyring=store.title if entry.place is Place.KEYRING else "",
        data=data,
    )


SUFFIX: Final = ".purateam"
SCHEMA: Final = "pura-team-bundle/1"
MAX_BYTES: Final = 256 << 20


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
        register: What was issued under the key and the profile goes along, in whatever epoch.
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
        shared = environment.profiles.get(profile)
        series = series_of(environment, environment.stored_key(key), shared)
        content = _Content(
            name=profile,
            profile=shared,
            key=environment.keys.export(key, words),
            policy=policy,
            power=tuple(environment.power.get(name) for name in policy.power_tables)
            if policy is not None
            else (),
            register=_issued(environment, series) if register else "",
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
    """Take in what a bundle holds, as a set-up; what is here already, unchanged, stays as it is.

    Args:
        environment: Where it goes.
        path: The file.
        passphrase: Of the bundle; overwritten afterwards.
        place: Where the key is kept, as for :func:`pura.usecases.keys.create_key`.
        replace_policy: Another policy that is here may be replaced.

    Raises:
        InputError: It is no bundle, damaged, or another policy is here (``policy-here``).
        KeyFormatError: The passphrase is wrong.
        KeyStoreError: The name of the key is taken, it is public, or the store refuses.
        ProfileError: Another profile or another set-up has that name.
        RegisterError: A payload was issued to somebody else here.
    """
    with passphrase.used() as words:
        with naming(path.name):
            content = _opened(path, words)
        shown = _shown(content, words)
        setup = StoredSetup(
            name=shown.profile, profile=shown.profile, keys=(shown.key_fingerprint,)
        )
        setups = setup_folder(environment)
        here = setups.get(setup.name) if setup.name in setups.names() else setup
        if here.keys and (here.profile, here.keys) != (setup.profile, setup.keys):
            raise ProfileError("setup.there", name=setup.name, code="setup-exists")
        _refuse_public(shown.key_fingerprint)
        _check_policy(environment, content, replace=replace_policy)
        names = environment.profiles.names()
        if not (
            shown.profile in names and environment.profiles.get(shown.profile) == content.profile
        ):
            environment.profiles.save(shown.profile, content.profile)
        _take_key(environment, content.key, shown, words, place)
    if not here.keys or here == setup:  # one with a model of its own stays as it is
        setups.save(setup, replace=True)
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


def _issued(environment: Environment, series: PayloadSeries) -> str:
    """Return what was issued under a key and a profile as a table; that of other keys stays here.

    Of a key that was derived for an epoch it is what was issued in that epoch.
    """
    if not environment.paths.register.exists():
        return ""

    def belongs(issue: Issue) -> bool:
        other = issue.series
        return (
            other is not None
            and (other.key, other.profile) == (series.key, series.profile)
            and series.epoch in ("", other.epoch)
        )

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "register.csv"
        with Register(environment.paths.register, read_only=True) as register:
            written = export_csv(register, path, only=belongs)
        return path.read_text(encoding="utf-8") if written else ""


def _take_register(environment: Environment, content: _Content) -> None:
    """Add the rows that the register here does not hold.

    Rows of bundles of versions before 0.5 do not say their key, and stay of unknown key.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "register.csv"
        path.write_text(content.register, encoding="utf-8")
        import_register(environment, path=path, under=IssuedUnder(profile=content.profile))


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
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

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
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

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
    names = ("profile_name", "profile", "key", "policy", "power", "register")
    parts = _object(body, names)
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
