from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pura.audit.keystore import KeyStore, State
from pura.errors import KeyStoreError
from pura.scheme import SecretKey


class MemoryBackend:
    """A keyring in memory whose faults can be switched on."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], str] = {}
        self.fault: Exception | None = None

    def _check(self) -> None:
        if self.fault is not None:
            raise self.fault

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        del self.entries[service, username]


class KeyringLocked(Exception):  # noqa: N818 - the library's own name
    pass


@pytest.fixture
def backend() -> MemoryBackend:
    return MemoryBackend()


@pytest.fixture
def store(tmp_path: Path, backend: MemoryBackend) -> KeyStore:
    return KeyStore(tmp_path / "keys.json", backend, "memory")


def code_of(call: object, *args: object) -> str:
    with pytest.raises(KeyStoreError) as caught:
        call(*args)  # type: ignore[operator]
    assert caught.value.hint
    return caught.value.code


def test_a_key_comes_back_and_only_its_fingerprint_is_listed(
    store: KeyStore, tmp_path: Path
) -> None:
    key = SecretKey.generate()
    entry = store.add("Newsroom 2026", key, note="the first")
    assert store.get("Newsroom 2026") == key
    assert store.list() == (entry,)
    assert entry.fingerprint == key.fingerprint
    text = (tmp_path / "keys.json").read_text()
    assert key.to_hex() not in text
    assert (tmp_path / "keys.json").stat().st_mode & 0o077 == 0


def test_states_are_told_apart(store: KeyStore, backend: MemoryBackend, tmp_path: Path) -> None:
    assert store.state() is State.READY
    backend.fault = KeyringLocked("nobody unlocked it")
    assert store.state() is State.LOCKED
    backend.fault = RuntimeError("dismissed")
    assert store.state() is State.DENIED
    nothing = KeyStore(tmp_path / "none.json", None)
    nothing._backend = None  # a machine without a keyring
    assert nothing.state() is State.NO_BACKEND


def test_every_fault_has_its_own_words(store: KeyStore, backend: MemoryBackend) -> None:
    key = SecretKey.generate()
    store.add("a", key)
    assert code_of(store.get, "b") == "key-not-found"
    assert code_of(store.add, "a", key) == "key-exists"
    assert code_of(store.add, " ", key) == "key-name"
    assert code_of(store.add, "x\ny", key) == "key-name"
    backend.fault = KeyringLocked()
    assert code_of(store.get, "a") == "keyring-locked"
    backend.fault = PermissionError("no")
    assert code_of(store.get, "a") == "keyring-denied"
    backend.fault = None
    stored = backend.entries.copy()
    backend.entries["pura-audit", "a"] = stored["pura-audit", "a"][:-9]
    assert code_of(store.get, "a") == "key-damaged"
    other = json.dumps({"v": 1, "key": SecretKey.generate().to_hex()})
    backend.entries["pura-audit", "a"] = other
    assert code_of(store.get, "a") == "key-damaged"
    backend.entries.clear()
    assert code_of(store.get, "a") == "key-not-found"
    store.delete("a")
    assert store.list() == ()


def test_a_refused_key_is_not_listed(store: KeyStore, backend: MemoryBackend) -> None:
    backend.fault = KeyringLocked()
    assert code_of(store.add, "a", SecretKey.generate()) == "keyring-locked"
    assert store.list() == ()


def test_a_damaged_index_is_said(store: KeyStore, tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text("[{]")
    assert code_of(store.list) == "key-index"


def test_the_environment_cannot_swap_in_a_backend(tmp_path: Path) -> None:
    """A backend named by the library's variable or its rc file is never even imported."""
    (tmp_path / "evilring.py").write_text(
        "raise SystemExit('the backend of the environment was imported')"
    )
    config = tmp_path / "python_keyring"
    config.mkdir()
    (config / "keyringrc.cfg").write_text(
        f"[backend]\ndefault-keyring=evilring.Keyring\nkeyring-path={tmp_path}\n"
    )
    probe = (
        "from pura.audit.keystore import KeyStore, find_backend\n"
        "from pathlib import Path\n"
        "found = find_backend()\n"
        "assert found is None or 'evil' not in repr(found), found\n"
        f"print(KeyStore(Path({str(tmp_path / 'k.json')!r})).state())\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "DBUS_SESSION_BUS_ADDRESS"}
    environment |= {
        "PYTHON_KEYRING_BACKEND": "evilring.Keyring",
        "PYTHONPATH": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
    }
    result = subprocess.run(
        [sys.executable, "-c", probe], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "no-backend"
