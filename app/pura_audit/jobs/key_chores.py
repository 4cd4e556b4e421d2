"""What is done to keys from the window; runs in the model thread, where a keyring may take time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pura.base.errors import KeyFormatError, KeyStoreError
from pura.base.files import write_atomic
from pura.keys import KeyStore, Place, Secret, load_key, parse_key
from pura.keys.entries import check_name
from pura.keys.keyfile import KeyFile
from pura.scheme import SecretKey
from pura.scheme.keys import wipe_buffer
from pura_audit.jobs.messages import Chore

SESSION: Final = "session"


@dataclass(frozen=True, kw_only=True)
class KeyChore(Chore):
    """Something to be done to a key.

    Attributes:
        kind: ``new-key``, ``import-key``, ``export-key``, ``rename-key``, ``note-key``,
            ``derive-key``, ``delete-key``, ``unlock-keyring`` or ``unlock-files``.
        name: The key's name; that of the master for ``derive-key``.
        path: The file to read or to write.
        text: New name, note or label of a deployment.
        note: Of a new key.
        place: ``keyring``, ``files`` or ``session``; empty for the keyring, if there is one.
        typed: A key that was typed or pasted.
        passphrase: Of the file that is read or written.
        folder: Passphrase of the folder of encrypted files.
    """

    text: str = ""
    note: str = ""
    place: str = ""
    typed: Secret | None = field(default=None, compare=False)
    passphrase: Secret | None = field(default=None, compare=False)
    folder: Secret | None = field(default=None, compare=False)


def do_key_chore(chore: KeyChore, keys: KeyStore, session_keys: dict[str, SecretKey]) -> None:
    """Do one thing to a key.

    Raises:
        PuraError: It did not work, in words.
    """
    if chore.folder is not None:
        _with(chore.folder, keys.files.unlock)
    match chore.kind:
        case "unlock-files":
            pass
        case "unlock-keyring":
            keys.unlock_keyring()
        case "new-key":
            _keep(KeyFile(key=SecretKey.generate()), chore, keys, session_keys)
        case "import-key":
            _keep(_read(chore), chore, keys, session_keys)
        case "derive-key":
            place = Place(chore.place) if chore.place else None
            keys.derive(chore.name, chore.text, note=chore.note, place=place)
        case "export-key":
            _export(chore, keys)
        case _:
            _change(chore, keys, session_keys)


def _change(chore: KeyChore, keys: KeyStore, session_keys: dict[str, SecretKey]) -> None:
    if chore.name in session_keys:
        if chore.kind == "delete-key":
            session_keys.pop(chore.name).wipe()
        elif chore.kind == "rename-key":
            _free(chore.text, keys, session_keys)
            session_keys[chore.text.strip()] = session_keys.pop(chore.name)
        return
    match chore.kind:
        case "rename-key":
            keys.rename(chore.name, chore.text)
        case "note-key":
            keys.set_note(chore.name, chore.text)
        case "delete-key":
            keys.delete(chore.name)
        case _:
            raise ValueError(chore.kind)


def _keep(
    found: KeyFile, chore: KeyChore, keys: KeyStore, session_keys: dict[str, SecretKey]
) -> None:
    name = chore.name or found.name
    # Without any store a key lives for this run only; the window says so where it is chosen.
    if chore.place == SESSION or (not chore.place and not keys.available):
        _free(name, keys, session_keys)
        session_keys[name.strip()] = found.key
        return
    with found.key:
        keys.add(
            name,
            found.key,
            chore.note or found.note,
            role=found.role,
            master=found.master,
            deployment=found.deployment,
            created=found.created,
            place=Place(chore.place) if chore.place else None,
        )


def _free(name: str, keys: KeyStore, session_keys: dict[str, SecretKey]) -> None:
    if check_name(name, keys.list()) in session_keys:
        raise KeyStoreError("key.taken-here", name=name, code="key-exists")


def _read(chore: KeyChore) -> KeyFile:
    ask = None if chore.passphrase is None else chore.passphrase.copy
    try:
        if chore.typed is not None:
            return _typed(chore.typed, ask)
        if chore.path is None:
            raise ValueError(chore.kind)
        return load_key(chore.path, ask)
    finally:
        if chore.passphrase is not None:
            chore.passphrase.wipe()


def _typed(typed: Secret, ask: Callable[[], bytearray] | None) -> KeyFile:
    data = typed.copy()
    try:
        found = parse_key(bytes(data), ask)
    except KeyFormatError as error:
        if error.code != "key-file-passphrase":  # else it comes again, with a passphrase
            typed.wipe()
        raise
    finally:
        wipe_buffer(data)
    typed.wipe()
    return found


def _export(chore: KeyChore, keys: KeyStore) -> None:
    if chore.path is None or chore.passphrase is None:
        raise ValueError(chore.kind)
    path = chore.path

    def write(passphrase: bytearray) -> None:
        data = keys.export(chore.name, passphrase)
        try:
            write_atomic(path, data, private=True)
        except OSError as error:
            raise KeyStoreError("file.write-it", why=error.errno or 0, code="file-write") from None

    _with(chore.passphrase, write)


def _with(secret: Secret, use: Callable[[bytearray], None]) -> None:
    data = secret.copy()
    try:
        use(data)
    except KeyFormatError as error:
        if error.code == "key-file-passphrase":
            raise KeyStoreError(error.key, code="folder-passphrase", **error.values) from None
        raise
    finally:
        wipe_buffer(data)
        secret.wipe()
