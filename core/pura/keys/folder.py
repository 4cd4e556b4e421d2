"""A folder of encrypted key files: where secrets are kept when there is no keyring.

Each file is an ordinary exported key under the folder's one passphrase. A file without a key shows
whether a passphrase is the right one before anything else is opened or written. The passphrase
stays in memory for the session, so that it is asked for once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pura.base.catalogue import phrase
from pura.base.errors import KeyFormatError, KeyStoreError
from pura.base.files import file_lock, make_private, open_regular, write_atomic
from pura.base.json_text import is_hex
from pura.keys.backends import State, fault
from pura.keys.sealed import (
    MAX_FILE,
    SUFFIX,
    USUAL,
    Cost,
    KeyFile,
    check_passphrase,
    read_key_file,
    write_key_file,
)
from pura.scheme import SecretKey
from pura.scheme.keys import wipe_buffer

_VERIFIER: Final = f"folder{SUFFIX}"
_LOCK: Final = ".lock"
_PATIENCE: Final = 10.0


class KeyFolder:
    """Secrets in encrypted files.

    Args:
        folder: Where the files are; made with the first key.
        ask: Gives the passphrase when it is needed and not known; None means that nobody can be
            asked. Its argument says whether a new one is to be chosen.
        cost: Of files that are written.
    """

    title = "Encrypted key files"

    def __init__(
        self,
        folder: Path,
        ask: Callable[[bool], bytearray | None] | None = None,
        cost: Cost = USUAL,
    ) -> None:
        self._folder = folder
        self._ask = ask
        self._cost = cost
        self._passphrase: bytearray | None = None
        self._held = threading.RLock()  # nobody overwrites it while another thread opens a file

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder

    @property
    def exists(self) -> bool:
        """Whether the folder has been set up."""
        return (self._folder / _VERIFIER).exists()

    @property
    def unlocked(self) -> bool:
        """Whether the passphrase is known."""
        return self._passphrase is not None

    def state(self) -> State:
        """Say what state the folder is in; nobody is asked."""
        if not self.exists:
            return State.NO_BACKEND
        try:
            self._bytes(_VERIFIER, "")
        except KeyStoreError as error:
            return State.DAMAGED if error.code == "key-damaged" else State.DENIED
        return State.READY if self.unlocked else State.LOCKED

    def unlock(self, passphrase: bytearray) -> None:
        """Try a passphrase, and keep it for the session if it is the right one.

        On a folder that is not there yet, it becomes the folder's passphrase.

        Raises:
            KeyFormatError: Wrong, or too short for a new folder.
            KeyStoreError: The folder cannot be read or written.
        """
        if self.exists or not self._set_up(passphrase):
            found = read_key_file(self._bytes(_VERIFIER, "folder"), passphrase)
            found.key.wipe()
        with self._held:
            self.lock()
            self._passphrase = bytearray(passphrase)

    def lock(self) -> None:
        """Forget the passphrase."""
        with self._held:
            if self._passphrase is not None:
                wipe_buffer(self._passphrase)
            self._passphrase = None

    def read(self, slot: str, name: str) -> SecretKey | None:
        """Return a secret, None when there is none.

        Raises:
            KeyStoreError: Locked, denied or damaged.
        """
        path = self._folder / self._file(slot)
        if not path.exists():
            return None
        data = self._bytes(path.name, name)
        with self._held:
            passphrase = self._known()  # a wrong one is no fault of the file
            try:
                found = read_key_file(data, passphrase)
            except KeyFormatError as error:
                if error.code == "key-file-passphrase":
                    raise KeyStoreError("key.foreign", name=name, code="key-damaged") from None
                raise fault(State.DAMAGED, self.title, name) from None
        return found.key

    def write(self, slot: str, key: SecretKey, name: str) -> None:
        """Store a secret.

        Raises:
            KeyStoreError: Locked or denied.
        """
        file = self._file(slot)
        content = KeyFile(key=key, name=name)
        with self._held:
            sealed = write_key_file(content, self._known(), cost=self._cost)
        self._write(file, sealed)

    def remove(self, slot: str, name: str) -> None:
        """Remove a secret; nothing happens when there is none.

        Raises:
            KeyStoreError: Denied.
        """
        try:
            (self._folder / self._file(slot)).unlink(missing_ok=True)
        except OSError as error:
            raise _denied(error, name) from None

    def _set_up(self, passphrase: bytearray) -> bool:
        """Make the folder; False when another program was first, with its own passphrase."""
        check_passphrase(passphrase)
        with SecretKey.generate() as nothing:
            content = KeyFile(key=nothing, verifier=True)
            data = write_key_file(content, passphrase, cost=self._cost)
        try:
            make_private(self._folder)
            with file_lock(self._folder / _LOCK, _PATIENCE):
                if self.exists:
                    return False
                write_atomic(self._folder / _VERIFIER, data, private=True)
                return True
        except OSError as error:
            raise _denied(error, "") from None

    def _known(self) -> bytearray:
        if self._passphrase is None and self._ask is not None:
            given = self._ask(not self.exists)
            if given is not None:
                try:
                    self.unlock(given)
                finally:
                    wipe_buffer(given)
        if self._passphrase is None:
            if self.exists:
                raise fault(State.LOCKED, self.title, files=True)
            raise KeyStoreError("keystore.files-new", code="passphrase-missing")
        return self._passphrase

    def _file(self, slot: str) -> str:
        # The index file may have been edited; a slot must not lead out of the folder.
        if not is_hex(slot, 16):
            raise fault(State.DAMAGED, self.title, "?")
        return slot + SUFFIX

    def _bytes(self, file: str, name: str) -> bytes:
        try:
            with open_regular(self._folder / file) as stream:
                data = stream.read(MAX_FILE + 1)
        except OSError as error:
            raise _denied(error, name) from None
        if not data or len(data) > MAX_FILE:
            raise fault(State.DAMAGED, self.title, name)
        return data

    def _write(self, file: str, data: bytes) -> None:
        try:
            make_private(self._folder)
            write_atomic(self._folder / file, data, private=True)
        except OSError as error:
            raise _denied(error, "") from None


def _denied(error: OSError, name: str) -> KeyStoreError:
    why = phrase("reason.system", why=error.errno or 0)
    return fault(State.DENIED, KeyFolder.title, name, detail=why)
