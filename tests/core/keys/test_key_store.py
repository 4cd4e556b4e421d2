import base64
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.core.programs import for_owner_alone, python

from pura.base.errors import KeyFormatError, KeyStoreError, PuraError
from pura.cli.terminal import read_passphrase
from pura.keys import KeyFolder, KeyRole, KeyStore, Place, State, backends, passphrase_bytes, words
from pura.keys.backends import MAX_ENTRY, Keyring, classify
from pura.keys.sealed import read_key_file
from pura.scheme import KeyOrigin, SecretKey

PASSPHRASE = "four words in a row"


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


class KeychainDenied(Exception):  # noqa: N818 - the library's own name
    pass


def denied_on_a_mac() -> Exception:
    """As the library reports a refusal there: "locked", with the truth as the cause."""
    try:
        try:
            raise KeychainDenied(-128, "user cancelled")
        except KeychainDenied as cause:
            raise KeyringLocked("Can't get password from keychain") from cause
    except KeyringLocked as error:
        return error


def folder(tmp_path: Path, ask: Callable[[bool], bytearray | None] | None = None) -> KeyFolder:
    return KeyFolder(tmp_path / "files", ask)


@pytest.fixture
def backend() -> MemoryBackend:
    return MemoryBackend()


@pytest.fixture
def store(tmp_path: Path, backend: MemoryBackend) -> KeyStore:
    return KeyStore(tmp_path / "keys.json", backend, "memory", files=folder(tmp_path))


@pytest.fixture
def bare(tmp_path: Path) -> KeyStore:
    """A machine without a keyring."""
    return KeyStore(tmp_path / "keys.json", files=folder(tmp_path), find=lambda: None)


def code_of(call: object, *args: object, **named: object) -> str:
    with pytest.raises(PuraError) as caught:
        call(*args, **named)  # type: ignore[operator]
    return caught.value.code


def test_a_key_comes_back_and_only_its_fingerprint_is_listed(store, tmp_path):
    key = SecretKey.generate()
    entry = store.add("Newsroom 2026", key, note="the first")
    assert store.get("Newsroom 2026") == key
    assert store.list() == (entry,)
    assert entry.fingerprint == key.fingerprint
    assert entry.role is KeyRole.SINGLE
    assert entry.place is Place.KEYRING
    text = (tmp_path / "keys.json").read_text()
    assert key.to_hex() not in text
    assert for_owner_alone(tmp_path / "keys.json")


FAULTS = [
    (KeyringLocked("nobody unlocked it"), State.LOCKED, "keyring-locked"),
    (RuntimeError("Failed to unlock the collection!"), State.LOCKED, "keyring-locked"),
    (PermissionError(13, "no"), State.DENIED, "keyring-denied"),
    (RuntimeError("dismissed"), State.DENIED, "keyring-denied"),
    (denied_on_a_mac(), State.DENIED, "keyring-denied"),
    (OSError(1783, "CredWrite", "The stub received bad data."), State.TOO_LONG, "key-long"),
]


@pytest.mark.parametrize(("error", "state", "code"), FAULTS, ids=lambda v: str(v)[:24])
def test_each_fault_of_a_keyring_has_its_state_and_its_words(store, backend, error, state, code):
    key = SecretKey.generate()
    store.add("a", key)
    assert store.state() is State.READY
    backend.fault = error
    assert classify(error) is state
    assert store.state() is state
    assert code_of(store.get, "a") == code
    assert store.check("a")[0] is state
    assert code_of(store.add, "b", SecretKey.generate()) == code
    assert code_of(store.delete, "a") == code
    backend.fault = None
    assert [e.name for e in store.list()] == ["a"], "a refused key is listed, or a kept one lost"


def test_an_entry_may_be_missing_damaged_or_another_one(store, backend):
    key = SecretKey.generate()
    store.add("a", key)
    slot = ("pura-audit", key.fingerprint)
    whole = backend.entries[slot]
    for broken in (whole[:-9], "", "null", "[1]", '{"v":2}', '{"v":1,"key":7}', "[" * 5000):
        backend.entries[slot] = broken
        assert code_of(store.get, "a") == "key-damaged"
        assert store.check("a")[0] is State.DAMAGED
    backend.entries[slot] = json.dumps({"v": 1, "key": SecretKey.generate().to_hex()})
    assert code_of(store.get, "a") == "key-damaged"
    backend.entries.clear()
    assert code_of(store.get, "a") == "key-not-found"
    assert store.check("a")[0] is State.NOT_FOUND
    assert code_of(store.get, "b") == "key-not-found"
    store.delete("a")
    assert store.list() == ()


def test_an_entry_that_is_too_long_is_not_given_to_the_keyring(backend):
    ring = Keyring(backend, "memory")
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-long"):
        ring.write("x" * MAX_ENTRY, SecretKey.generate(), "a")
    assert backend.entries == {}


def test_every_state_has_a_sentence_and_all_but_one_a_way_out():
    said = {state: words(state, "Secret Service") for state in State}
    assert len({sentence for sentence, _ in said.values()}) == len(State)
    for state, (sentence, way_out) in said.items():
        assert sentence.endswith(".")
        assert "{" not in sentence
        assert bool(way_out) is (state is not State.READY)
    assert words(State.LOCKED, "x", files=True) != words(State.LOCKED, "x")


def test_names_notes_and_doubles_are_refused(store):
    key = SecretKey.generate()
    store.add(" a ", key)
    assert store.list()[0].name == "a"
    assert code_of(store.add, "a", SecretKey.generate()) == "key-exists"
    assert code_of(store.add, "b", key) == "key-known"
    for name in (" ", "x\ny", "n" * 81):
        assert code_of(store.add, name, SecretKey.generate()) == "key-name"
    assert code_of(store.set_note, "a", "n" * 501) == "key-note"


def test_rename_and_note_leave_the_secret_alone(store, backend):
    key = SecretKey.generate()
    store.add("a", key)
    before = dict(backend.entries)
    store.rename("a", "b")
    store.set_note("b", "  two \n lines ")
    assert store.entry("b").note == "two lines"
    assert store.get("b") == key
    assert backend.entries == before
    store.add("c", SecretKey.generate())
    assert code_of(store.rename, "c", "b") == "key-exists"
    store.rename("b", "b")


def test_entries_of_the_first_version_are_still_read(tmp_path, store, backend):
    key = SecretKey.generate()
    row = {"name": "Old", "fingerprint": key.fingerprint, "created": "2026-01-01T00:00:00+00:00"}
    (tmp_path / "keys.json").write_text(json.dumps([row | {"note": ""}]))
    backend.entries["pura-audit", "Old"] = json.dumps({"v": 1, "key": key.to_hex()})
    assert store.get("Old") == key
    store.rename("Old", "New")
    assert store.get("New") == key
    store.delete("New")
    assert backend.entries == {}


ROW = '{"name": "a", "fingerprint": "0", "created": ""}'
DOUBLE = f"[{ROW}, {ROW}]"


@pytest.mark.parametrize(
    "text",
    [
        "[{]",
        "[" * 3000,
        "{}x",
        '["a"]',
        '[{"name": 1}]',
        '[{"role": "king"}]',
        "7",
        "{}",
        '""',
        DOUBLE,
    ],
)
def test_a_damaged_index_is_said(store, tmp_path, text):
    (tmp_path / "keys.json").write_text(text)
    assert code_of(store.list) == "key-index-damaged"
    assert code_of(store.add, "new", SecretKey.generate()) == "key-index-damaged"
    assert (tmp_path / "keys.json").read_text() == text, "what is damaged is never written over"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_an_index_that_leads_nowhere_is_damaged(store, tmp_path):
    (tmp_path / "keys.json").symlink_to(tmp_path / "nowhere")
    assert code_of(store.add, "new", SecretKey.generate()) == "key-index-damaged"


def test_a_secret_in_the_place_of_a_name_is_refused_and_not_repeated(store):
    secret = bytes(range(200, 232))
    coded = base64.b64encode(secret).decode()
    written = (secret.hex(), secret.hex().upper(), secret.hex(":"), coded)
    for typed in (*written, base64.urlsafe_b64encode(secret).decode().rstrip("=")):
        for act in (
            lambda typed=typed: store.add(typed, SecretKey.generate()),
            lambda typed=typed: store.add("n", SecretKey.generate(), f"the key: {typed}"),
            lambda typed=typed: store.get(typed),
        ):
            with pytest.raises(KeyStoreError) as caught:
                act()
            assert caught.value.key == "key.secret-words"
            assert typed not in caught.value.message + caught.value.hint
    store.add("Newsroom of the Westdeutsche Allgemeine Zeitung, 2026", SecretKey.generate())


@pytest.mark.skipif(os.name == "nt", reason="permissions of Unix")
def test_a_secret_that_others_get_at_is_told_with_the_command_that_mends_it(tmp_path, bare, capsys):
    file, link = tmp_path / "a key.txt", tmp_path / "link"
    file.write_text("passphrase of a test\n")
    file.chmod(0o644)
    link.symlink_to(file)
    read_passphrase(link)
    told = capsys.readouterr().err.replace("\n", " ")
    assert "is a link to" in told
    assert "chmod 600" in told
    # A pipe that a shell lends holds a passphrase; one that nobody writes to does not stop us.
    heard, said = os.pipe()
    os.write(said, b"passphrase of a pipe\n")
    os.close(said)
    assert read_passphrase(Path(f"/dev/fd/{heard}")) == passphrase_bytes("passphrase of a pipe")
    os.close(heard)
    os.mkfifo(tmp_path / "pipe")
    assert code_of(read_passphrase, tmp_path / "pipe") == "passphrase-missing"
    # The key store's own: the list, the folder, a file in it, and one that leads elsewhere.
    bare.files.unlock(passphrase_bytes(PASSPHRASE))
    key = bare.add("a", SecretKey.generate())
    assert bare.exposures() == ()
    held = tmp_path / "files" / f"{key.fingerprint}.purakey"
    held.rename(tmp_path / "elsewhere")
    held.symlink_to(tmp_path / "elsewhere")
    for open_one, mode in (
        (held, 0o640),
        (tmp_path / "files", 0o770),
        (tmp_path / "keys.json", 0o666),
    ):
        open_one.chmod(mode)
    found = bare.exposures()
    assert [problem.key for problem in found] == [
        *("keystore.exposed", "keystore.exposed", "keystore.link", "keystore.exposed")
    ]
    for problem in found:
        subprocess.run(["sh", "-c", str(problem.values["command"])], check=True)
    assert bare.exposures() == ()
    assert not held.is_symlink()
    bare.get("a").wipe()


def test_a_passphrase_is_read_where_files_cannot_be_set_to_block(tmp_path, monkeypatch):
    # Python 3.12 and later on Windows: the call is there, takes pipes only, and opening knows no
    # flag that would need it.
    def refused(handle: int, blocking: bool) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.delattr(os, "O_NONBLOCK", raising=False)
    monkeypatch.setattr(os, "set_blocking", refused)
    (tmp_path / "words").write_text("Grüße 7\n", encoding="utf-8")
    (tmp_path / "words").chmod(0o600)
    assert read_passphrase(tmp_path / "words") == passphrase_bytes("Grüße 7")


def test_without_a_keyring_there_is_no_fallback_in_silence(bare):
    assert bare.state() is State.NO_BACKEND
    assert bare.title == "none"
    assert code_of(bare.add, "a", SecretKey.generate()) == "no-keyring"
    assert bare.list() == ()
    assert not bare.files.exists


def test_the_folder_of_key_files_takes_the_place_of_a_keyring(tmp_path, bare):
    key = SecretKey.generate()
    bare.files.unlock(passphrase_bytes(PASSPHRASE))
    bare.add("a", key, note="n")
    assert bare.state() is State.READY
    assert bare.get("a") == key
    for path in (tmp_path / "files").iterdir():
        assert for_owner_alone(path)
        assert key.to_hex().encode() not in path.read_bytes()
    again = KeyStore(tmp_path / "keys.json", files=folder(tmp_path), find=lambda: None)
    assert again.state() is State.LOCKED
    assert code_of(again.get, "a") == "keyring-locked"
    assert code_of(again.files.unlock, passphrase_bytes("another passphrase")) == (
        "key-file-passphrase"
    )
    assert again.state() is State.LOCKED
    again.files.unlock(passphrase_bytes(PASSPHRASE))
    assert again.get("a") == key
    again.files.lock()
    assert again.state() is State.LOCKED


def test_the_passphrase_of_the_folder_is_asked_for_once(tmp_path):
    asked: list[bool] = []

    def ask(new: bool) -> bytearray:
        asked.append(new)
        return passphrase_bytes(PASSPHRASE)

    store = KeyStore(tmp_path / "keys.json", files=folder(tmp_path, ask), find=lambda: None)
    store.add("a", SecretKey.generate())
    store.add("b", SecretKey.generate())
    store.get("a")
    assert asked == [True]
    short = KeyFolder(tmp_path / "short", lambda _: passphrase_bytes("short"))
    with pytest.raises(KeyFormatError, check=lambda e: e.code == "passphrase-short"):
        short.write("0" * 16, SecretKey.generate(), "a")
    assert not short.exists


def test_faults_of_the_folder_have_their_states(tmp_path, bare):
    key, files = SecretKey.generate(), tmp_path / "files"
    bare.files.unlock(passphrase_bytes(PASSPHRASE))
    bare.add("a", key)
    path = files / f"{key.fingerprint}.purakey"
    whole = path.read_bytes()
    path.write_bytes(whole[:-60])
    assert bare.check("a")[0] is State.DAMAGED
    path.write_bytes(b"")
    assert bare.check("a")[0] is State.DAMAGED
    path.unlink()
    assert bare.check("a")[0] is State.NOT_FOUND
    path.mkdir()
    assert bare.check("a")[0] is State.DENIED
    path.rmdir()
    rows = json.loads((tmp_path / "keys.json").read_text())
    rows[0]["account"] = "../../elsewhere"
    (tmp_path / "keys.json").write_text(json.dumps(rows))
    assert bare.check("a")[0] is State.DAMAGED
    assert code_of(bare.delete, "a") == "key-damaged"


def test_keys_of_both_places_stay_in_sight(tmp_path, store, bare):
    key, other = SecretKey.generate(), SecretKey.generate()
    store.add("ring", key)
    store.files.unlock(passphrase_bytes(PASSPHRASE))
    store.add("file", other, place=Place.FILES)
    assert [e.place for e in store.list()] == [Place.FILES, Place.KEYRING]
    assert store.get("file") == other
    assert [e.name for e in bare.list()] == ["file", "ring"]
    assert code_of(bare.get, "ring") == "no-keyring"


def test_a_derived_key_is_stored_and_its_master_marked(store):
    master = SecretKey.generate()
    store.add("House", master)
    entry = store.derive("House", "newsroom-2026")
    assert entry.name == "House/newsroom-2026"
    assert entry.role is KeyRole.DERIVED
    assert entry.master == master.fingerprint
    assert store.entry("House").role is KeyRole.MASTER
    assert store.get(entry.name).fingerprint != master.fingerprint
    assert code_of(store.derive, "House", "newsroom-2026") == "key-exists"
    assert code_of(store.derive, entry.name, "x") == "key-role"
    assert code_of(store.derive, "House", " ") == "key-label"


@pytest.mark.parametrize("epoch", ["2026-11-22", "2026-W47", "2026-11"])
def test_an_epochs_key_knows_its_parent_and_epoch_wherever_it_comes_from(store, tmp_path, epoch):
    """Also for somebody who holds no more than this one key, in a file."""
    master = SecretKey.generate()
    store.add("House", master)
    entry = store.derive("House", epoch, epoch=True)
    origin = KeyOrigin(parent=master.fingerprint, epoch=epoch)
    assert (entry.origin, store.get(entry.name).origin) == (origin, origin)
    data = store.export(entry.name, passphrase_bytes(PASSPHRASE))
    found = read_key_file(data, passphrase_bytes(PASSPHRASE))
    assert found.key.origin == origin
    assert store.get("House").origin is None


def test_the_key_of_a_deployment_is_one_of_its_own(store):
    store.add("House", SecretKey.generate())
    assert store.derive("House", "newsroom-2026").origin is None
    assert store.get("House/newsroom-2026").origin is None


@pytest.mark.parametrize("label", ["2026-11-22", "2026-W47", " 2026-11 "])
def test_no_deployment_is_called_like_an_epoch(store, label):
    """Its key would be taken for that of the epoch, and be given the names of its texts."""
    store.add("House", SecretKey.generate())
    with pytest.raises(KeyFormatError, check=lambda e: e.code == "key-epoch-label"):
        store.derive("House", label)


PROBE = """
import sys
from pathlib import Path
from pura.keys import KeyStore
from pura.keys.backends import find_backend
found = find_backend()
assert found is None or "evil" not in repr(found), found
assert "evilring" not in sys.modules
print(KeyStore(Path(sys.argv[1])).state())
"""


@pytest.mark.parametrize("way", ["variable", "file", "both"])
def test_the_environment_cannot_swap_in_a_backend(tmp_path, way):
    """A backend named by the library's variable or its rc file is never even imported.

    The guard is shown to guard: the library itself does import it.
    """
    (tmp_path / "evilring.py").write_text(
        "from keyring.backend import KeyringBackend\n"
        "class Keyring(KeyringBackend):\n"
        "    priority = 99\n"
        "    def get_password(self, service, username): return 'evil'\n"
        "    def set_password(self, service, username, password): raise SystemExit(7)\n"
        "    def delete_password(self, service, username): pass\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "DBUS_SESSION_BUS_ADDRESS"}
    environment |= {
        "PYTHONPATH": str(tmp_path),
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "LOCALAPPDATA": str(tmp_path),
    }
    if way != "file" and sys.flags.ignore_environment:
        pytest.skip("this Python takes no folder of modules from the environment")
    if way != "file":
        environment["PYTHON_KEYRING_BACKEND"] = "evilring.Keyring"
    if way != "variable":
        config = tmp_path / ("Python Keyring" if os.name == "nt" else "python_keyring")
        config.mkdir()
        (config / "keyringrc.cfg").write_text(
            f"[backend]\ndefault-keyring=evilring.Keyring\nkeyring-path={tmp_path}\n"
        )

    def said(code: str) -> str:
        return python(code, tmp_path / "k.json", env=environment).strip()

    bent = said("import keyring; print(keyring.get_password('a', 'b'))")
    assert bent == "evil", "the trap does not catch the library"
    assert said(PROBE) == ("ready" if os.name == "nt" else "no-backend")


def test_the_environment_cannot_bend_the_backend(monkeypatch):
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 5

        def get_password(self, service: str, username: str) -> str | None:
            return None

        def set_password(self, service: str, username: str, password: str) -> None: ...

        def delete_password(self, service: str, username: str) -> None: ...

    monkeypatch.setenv("KEYRING_PROPERTY_PREFERRED_COLLECTION", "/somewhere/else")
    bent: Any = Ring()
    assert bent.preferred_collection == "/somewhere/else"
    assert not hasattr(backends._unbent(bent), "preferred_collection")
    KeyringBackend._classes.discard(Ring)


def test_a_key_that_cannot_be_listed_is_not_left_behind(tmp_path, backend):
    (tmp_path / "file").write_text("in the way of the folder")
    store = KeyStore(tmp_path / "file" / "keys.json", backend, "memory", files=folder(tmp_path))
    with pytest.raises(PuraError):
        store.add("a", SecretKey.generate())
    assert backend.entries == {}


def test_unlocking_says_when_it_did_not_work(store, bare, backend):
    store.unlock_keyring()
    backend.fault = KeyringLocked()
    assert code_of(store.unlock_keyring) == "keyring-locked"
    assert code_of(bare.unlock_keyring) == "no-keyring"
