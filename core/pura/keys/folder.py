"""A folder of encrypted key files, which stores secrets if there is no keyring.

Each file is an ordinary exported key; all have the same passphrase. An additional file without a
key verifies the passphrase before anything else is opened or written. The passphrase stays in
memory for the session, so that the user enters it once.
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
_PATIENCE: Final = 10.0  # seconds to wait for another program that sets up the folder


class KeyFolder:
    """Secrets in encrypted files.

    Args:
        folder: Path of the folder, which is created with the first key.
        ask: Prompts for the passphrase when it is needed; None if nobody can be prompted. Its
            argument is True if a new passphrase has to be chosen.
        cost: Cost of the key derivation for new files.
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
        self._guard = threading.RLock()  # nobody overwrites it while another thread opens a file

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
        """Whether the passphrase was entered."""
        return self._passphrase is not None

    def state(self) -> State:
        """Return the state of the folder, without a prompt."""
        if not self.exists:
            return State.NO_BACKEND
        try:
            self._bytes(_VERIFIER, "")
        except KeyStoreError as error:
            return State.DAMAGED if error.code == "key-damaged" else State.DENIED
        return State.READY if self.unlocked else State.LOCKED

    def unlock(self, passphrase: bytearray) -> None:
        """Verify a passphrase, and keep it for the session if it is right.

        If the folder does not exist yet, the passphrase becomes that of the new folder.

        Raises:
            KeyFormatError: The passphrase is wrong, or too short for a new folder.
            KeyStoreError: The folder cannot be read or written.
        """
        if self.exists or not self._set_up(passphrase):
            verifier = read_key_file(self._bytes(_VERIFIER, "folder"), passphrase)
            verifier.key.wipe()
        with self._guard:
            self.lock()
            self._passphrase = bytearray(passphrase)

    def lock(self) -> None:
        """Forget the passphrase."""
        with self._guard:
            if self._passphrase is not None:
                wipe_buffer(self._passphrase)
            self._passphrase = None

    def read(self, slot: str, name: str) -> SecretKey | None:
        """Return a secret; None if there is none.

        Raises:
            KeyStoreError: Locked, denied or damaged.
        """
        path = self._folder / self._file(slot)
        if not path.exists():
            return None
        sealed = self._bytes(path.name, name)
        with self._guard:
            passphrase = self._session_passphrase()  # its errors are not those of the file
            try:
                key_file = read_key_file(sealed, passphrase)
            except KeyFormatError as error:
                if error.code == "key-file-passphrase":
                    raise KeyStoreError("key.foreign", name=name, code="key-damaged") from None
                raise fault(State.DAMAGED, self.title, name) from None
        return key_file.key

    def write(self, slot: str, key: SecretKey, name: str) -> None:
        """Store a secret.

        Raises:
            KeyStoreError: Locked or denied.
        """
        file = self._file(slot)
        key_file = KeyFile(key=key, name=name)
        with self._guard:
            sealed = write_key_file(key_file, self._session_passphrase(), cost=self._cost)
        self._write(file, sealed)

    def remove(self, slot: str, name: str) -> None:
        """Remove a secret, if there is one.

        Raises:
            KeyStoreError: Denied.
        """
        try:
            (self._folder / self._file(slot)).unlink(missing_ok=True)
        except OSError as error:
            raise _denied(error, name) from None

    def _set_up(self, passphrase: bytearray) -> bool:
        """Create the folder; return False if another program created it with its passphrase."""
        check_passphrase(passphrase)
        with SecretKey.generate() as nothing:
            verifier = KeyFile(key=nothing, verifier=True)
            sealed = write_key_file(verifier, passphrase, cost=self._cost)
        try:
            make_private(self._folder)
            with file_lock(self._folder / _LOCK, _PATIENCE):
                if self.exists:
                    return False
                write_atomic(self._folder / _VERIFIER, sealed, private=True)
                return True
        except OSError as error:
            raise _denied(error, "") from None

    def _session_passphrase(self) -> bytearray:
        if self._passphrase is None and self._ask is not None:
            passphrase = self._ask(not self.exists)
            if passphrase is not None:
                try:
                    self.unlock(passphrase)
                finally:
                    wipe_buffer(passphrase)
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
                sealed = stream.read(MAX_FILE + 1)
        except OSError as error:
            raise _denied(error, name) from None
        if not sealed or len(sealed) > MAX_FILE:
            raise fault(State.DAMAGED, self.title, name)
        return sealed

    def _write(self, file: str, sealed: bytes) -> None:
        try:
            make_private(self._folder)
            write_atomic(self._folder / file, sealed, private=True)
        except OSError as error:
            raise _denied(error, "") from None


def _denied(error: OSError, name: str) -> KeyStoreError:
    reason = phrase("reason.system", why=error.errno or 0)
    return fault(State.DENIED, KeyFolder.title, name, detail=reason)
