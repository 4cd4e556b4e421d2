"""The command against a real Secret Service: gnome-keyring on a session bus of its own."""

import json
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from pura.base.errors import KeyStoreError
from pura.keys import KeyStore, State, backends
from pura.scheme import SecretKey

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the Linux keyring"),
    pytest.mark.programs("dbus-run-session", "gnome-keyring-daemon"),
    # The library leaves its connection to the collector when a collection stays locked.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


def until(ready: Callable[[], bool]) -> None:
    while not ready():
        time.sleep(0.1)


def test_a_key_is_kept_read_locked_away_and_deleted(desktop, pura, home, monkeypatch):
    def state() -> str:
        return str(json.loads(pura("key", "state", "--json").stdout)["state"])

    until(lambda: state() == "ready")
    secret = secrets.token_hex(32)
    # Variables would bend the library's own backend, and lead to another; ours is not bent.
    with monkeypatch.context() as bent:
        bent.setitem(
            desktop.environment,
            "KEYRING_PROPERTY_PREFERRED_COLLECTION",
            "/org/freedesktop/secrets/collection/nowhere",
        )
        bent.setitem(desktop.environment, "PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        done = desktop.process("key", "import", "Newsroom", stdin=secret)
        assert done.returncode == 0, done.stderr
        assert "Stored in Secret Service." in done.stderr
        checked = desktop.process("key", "state", "--check")
        assert checked.returncode == 0, checked.stderr
        assert "can be read" in checked.stdout
    fingerprint = done.stdout.split()[1]
    # It is in the service, under its fingerprint, and in none of our files.
    [(account, stored)] = desktop.look("list")[1]
    assert account == fingerprint
    assert secret in stored
    for path in home.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    # Listed, and read back by another process.
    assert pura("key", "list").stdout.split()[0] == fingerprint
    # Lock the collection, and see it locked, in words, without a way around.
    assert desktop.look("lock")[0]
    told = pura("key", "state")
    assert told.returncode == 1
    assert "Secret Service" in told.stdout
    assert "locked" in told.stdout
    assert pura("key", "list").stdout.split()[0] == fingerprint
    for words in (("key", "new", "Other"), ("key", "remove", "Newsroom", "--yes")):
        refused = pura(*words)
        assert refused.returncode == 1
        assert "is locked" in refused.stderr
        assert "Unlock it" in refused.stderr
    assert "is locked" in pura("key", "state", "--check").stdout
    # After the next login everything is still there.
    desktop.log_in()
    until(lambda: state() == "ready")
    assert pura("key", "state", "--check").returncode == 0
    # Another program changes the entry; then it is deleted; of another one the program removes it.
    desktop.look("damage")
    damaged = pura("key", "state", "--check")
    assert damaged.returncode == 1
    assert "damaged" in damaged.stdout
    assert pura("key", "remove", "Newsroom", "--yes").returncode == 0
    assert desktop.look("list")[1] == []
    assert pura("key", "list").stdout == ""
    assert pura("key", "new", "Newsroom").returncode == 0
    desktop.look("remove")
    told = pura("key", "state", "--check")
    assert told.returncode == 1
    assert "no longer holds" in told.stdout


def code_of(call: Callable[..., object], *values: object) -> str:
    with pytest.raises(KeyStoreError) as caught:
        call(*values)
    assert caught.value.hint
    return caught.value.code


def test_a_service_that_hangs_asks_or_dies_halfway_loses_nothing(desktop, monkeypatch, tmp_path):
    store, key = KeyStore(tmp_path / "keys.json"), SecretKey.generate()
    until(lambda: store.state() is State.READY)
    store.add("a", key)
    # It hangs: a word instead of an endless wait, and afterwards all goes on.
    [daemon] = desktop.daemons
    daemon.send_signal(signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(backends, "patience", 0.5)
        assert store.state() is State.GONE
        assert code_of(store.get, "a") == "keyring-gone"
        assert code_of(store.add, "b", SecretKey.generate()) == "keyring-gone"
        assert code_of(store.delete, "a") == "keyring-gone"
        assert store.check("a")[0] is State.GONE
    daemon.send_signal(signal.SIGCONT)
    until(lambda: store.state() is State.READY)
    assert store.get("a") == key
    # It is locked halfway and asks; the question may stand open. It dies beside its question.
    from jeepney import HeaderFields, new_method_return
    from jeepney.bus_messages import DBus
    from jeepney.io.blocking import open_dbus_connection

    with closing(open_dbus_connection("SESSION")) as bus:
        bus.send_and_get_reply(DBus().RequestName("org.gnome.keyring.SystemPrompter"))
        assert desktop.look("lock")[0]
        codes: list[str] = []
        asking = threading.Thread(target=lambda: codes.append(code_of(store.get, "a")))
        asking.start()
        asked = bus.receive(timeout=60)
        while asked.header.fields.get(HeaderFields.member) != "BeginPrompting":
            asked = bus.receive(timeout=60)
        bus.send(new_method_return(asked))
        asking.join(3 * backends.patience)
        assert asking.is_alive(), "somebody who thinks about a password is waited for"
        daemon.kill()
        asking.join(60)
        assert codes == ["keyring-gone"]
    # The bus starts another one, which is locked; after a login everything is there.
    assert code_of(store.get, "a") == "keyring-locked"
    assert [entry.name for entry in store.list()] == ["a"]
    desktop.log_in()
    until(lambda: store.state() is State.READY)
    assert store.get("a") == key
