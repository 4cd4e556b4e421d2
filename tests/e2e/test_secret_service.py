"""The command against a real Secret Service: gnome-keyring on a session bus of its own."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import KeyStoreError
from pura.keys import SERVICE, KeyStore, State, watch
from pura.scheme import SecretKey

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the Linux keyring"),
    pytest.mark.programs("dbus-run-session", "gnome-keyring-daemon"),
    # The library leaves its connection to the collector when a collection stays locked.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
LOGIN = "the login password"


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """A user who is logged in: a bus, a keyring, folders of their own."""

    environment: dict[str, str]
    daemons: list[subprocess.Popen[str]] = field(default_factory=list)

    def process(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command as a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "pura.cli", *words],
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def log_in(self) -> None:
        """Start the keyring with the login password, as a login does; ends the one before."""
        self.log_out()
        daemon = subprocess.Popen(
            [
                *("gnome-keyring-daemon", "--foreground", "--replace"),
                *("--unlock", "--components=secrets"),
            ],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert daemon.stdin is not None
        assert daemon.stdout is not None
        daemon.stdin.write(LOGIN)
        daemon.stdin.close()
        daemon.stdout.readline()  # says where its control socket is once it is ready
        self.daemons.append(daemon)

    def log_out(self) -> None:
        """End the keyring."""
        while self.daemons:
            daemon = self.daemons.pop()
            daemon.terminate()
            daemon.wait(10)
            assert daemon.stdout is not None
            daemon.stdout.close()


def look(verb: str) -> tuple[bool, list[tuple[str, str]]]:
    """Look at the service itself, past everything of ours: is it locked, what does it hold."""
    import secretstorage

    with closing(secretstorage.dbus_init()) as bus:
        collection = secretstorage.get_default_collection(bus)
        if verb == "lock":
            collection.lock()
            return collection.is_locked(), []
        items = list(collection.search_items({"service": SERVICE}))
        for item in items:
            if verb == "damage":
                item.set_secret(b"{}")
            elif verb == "remove":
                item.delete()
                return False, []
        return collection.is_locked(), [
            (item.get_attributes()["username"], item.get_secret().decode()) for item in items
        ]


@pytest.fixture
def desktop(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    # A socket's path must be short, and pytest's folders are not.
    with tempfile.TemporaryDirectory(prefix="run-") as runtime:
        kept = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        environment |= {
            "HOME": str(tmp_path),
            "XDG_RUNTIME_DIR": runtime,
            "COLUMNS": "200",
            "XDG_DATA_HOME": str(tmp_path / "share"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "PURA_HOME": str(home),
        }
        bus = subprocess.Popen(
            ["dbus-run-session", "--", "sh", "-c", 'echo "$DBUS_SESSION_BUS_ADDRESS"; cat'],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            stderr=subprocess.DEVNULL,
        )
        assert bus.stdout is not None
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", environment["DBUS_SESSION_BUS_ADDRESS"])
        user = Desktop(environment=environment)
        try:
            user.log_in()
            yield user
        finally:
            user.log_out()
            assert bus.stdin is not None
            bus.stdin.close()
            bus.wait(10)
            bus.stdout.close()
            for thread in threading.enumerate():
                if thread.name == watch.THREAD:
                    thread.join(10)  # without the bus nothing waits any more
            gc.collect()


def until(ready: Callable[[], bool]) -> None:
    for _ in range(30):
        if ready():
            return
        time.sleep(0.1)
    pytest.fail("it never came true")


def test_a_key_is_kept_read_locked_away_and_deleted(
    desktop: Desktop, pura: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state() -> str:
        return str(json.loads(pura("key", "state", "--json").stdout)["state"])

    until(lambda: state() == "ready")
    secret = "5a" * 32
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
    [(account, stored)] = look("list")[1]
    assert account == fingerprint
    assert secret in stored
    for path in home.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    # Listed, and read back by another process.
    assert pura("key", "list").stdout.split()[0] == fingerprint
    # Lock the collection, and see it locked, in words, without a way around.
    assert look("lock")[0]
    told = pura("key", "state")
    assert told.returncode == 1
    assert "Secret Service" in told.stdout
    assert "locked" in told.stdout
    assert pura("key", "list").stdout.split()[0] == fingerprint
    for words in (("key", "new", "Other"), ("key", "delete", "Newsroom", "--yes")):
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
    look("damage")
    damaged = pura("key", "state", "--check")
    assert damaged.returncode == 1
    assert "damaged" in damaged.stdout
    assert pura("key", "delete", "Newsroom", "--yes").returncode == 0
    assert look("list")[1] == []
    assert pura("key", "list").stdout == ""
    assert pura("key", "new", "Newsroom").returncode == 0
    look("remove")
    told = pura("key", "state", "--check")
    assert told.returncode == 1
    assert "no longer holds" in told.stdout


def code_of(call: Callable[..., object], *values: object) -> str:
    with pytest.raises(KeyStoreError) as caught:
        call(*values)
    assert caught.value.hint
    return caught.value.code


def test_a_service_that_hangs_asks_or_dies_halfway_loses_nothing(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(watch, "patience", 0.5)
    store, key = KeyStore(tmp_path / "keys.json"), SecretKey.generate()
    until(lambda: store.state() is State.READY)
    store.add("a", key)
    # It hangs: a word instead of an endless wait, and afterwards all goes on.
    [daemon] = desktop.daemons
    daemon.send_signal(signal.SIGSTOP)
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
        assert look("lock")[0]
        codes: list[str] = []
        asking = threading.Thread(target=lambda: codes.append(code_of(store.get, "a")))
        asking.start()
        asked = bus.receive(timeout=20)
        while asked.header.fields.get(HeaderFields.member) != "BeginPrompting":
            asked = bus.receive(timeout=20)
        bus.send(new_method_return(asked))
        asking.join(3 * watch.patience)
        assert asking.is_alive(), "somebody who thinks about a password is waited for"
        daemon.kill()
        asking.join(20)
        assert codes == ["keyring-gone"]
    # The bus starts another one, which is locked; after a login everything is there.
    assert code_of(store.get, "a") == "keyring-locked"
    assert [entry.name for entry in store.list()] == ["a"]
    desktop.log_in()
    until(lambda: store.state() is State.READY)
    assert store.get("a") == key
