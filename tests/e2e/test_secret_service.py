"""The command against a real Secret Service: gnome-keyring on a session bus of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the Linux keyring"),
    pytest.mark.programs("dbus-run-session", "gnome-keyring-daemon"),
]
LOGIN = "the login password"

# Looks at the service itself, past everything of ours.
LOOK = """
import json, sys, secretstorage
from contextlib import closing
with closing(secretstorage.dbus_init()) as bus:
    collection = secretstorage.get_default_collection(bus)
    verb = sys.argv[1]
    if verb == "lock":
        collection.lock()
    found = [] if verb == "lock" else [
        [item.get_attributes().get("username"), item.get_secret().decode()]
        for item in collection.search_items({"service": "pura-audit"})
    ]
    if verb == "damage":
        [item] = collection.search_items({"service": "pura-audit"})
        item.set_secret(b"{}")
    if verb == "remove":
        [item] = collection.search_items({"service": "pura-audit"})
        item.delete()
    print(json.dumps({"locked": collection.is_locked(), "items": found}))
"""


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """A user who is logged in: a bus, a keyring, folders of their own."""

    environment: dict[str, str]
    daemons: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, *words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, words)),
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def pura(self, *words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        done = self.run(sys.executable, "-m", "pura.cli", *words, stdin=stdin)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def look(self, verb: str) -> dict[str, list[list[str]]]:
        done = self.run(sys.executable, "-c", LOOK, verb)
        assert done.returncode == 0, done.stderr
        found: dict[str, list[list[str]]] = json.loads(done.stdout)
        return found

    def state(self) -> str:
        return str(json.loads(self.pura("key", "state", "--json").stdout)["state"])

    def log_in(self) -> None:
        """Start the keyring with the login password, as a login does; ends the one before."""
        self.log_out()
        daemon = subprocess.Popen(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
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


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Desktop]:
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
            "PURA_HOME": str(tmp_path / "pura"),
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


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    def wait(ready: Callable[[], bool]) -> None:
        import time

        for _ in range(30):
            if ready():
                return
            time.sleep(0.1)
        pytest.fail("it never came true")

    return wait


def test_a_key_is_kept_read_locked_away_and_deleted(
    desktop: Desktop, until: Callable[[Callable[[], bool]], None]
) -> None:
    until(lambda: desktop.state() == "ready")
    secret = "5a" * 32
    # Variables would bend the library's own backend, and lead to another; ours is not bent.
    nowhere = "/org/freedesktop/secrets/collection/nowhere"
    bent = Desktop(
        environment=desktop.environment
        | {
            "KEYRING_PROPERTY_PREFERRED_COLLECTION": nowhere,
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        }
    )
    # Store; each of these is a fresh process.
    done = bent.pura("key", "import", "Newsroom", stdin=secret)
    assert done.returncode == 0, done.stderr
    assert "Stored in Secret Service." in done.stderr
    fingerprint = done.stdout.split()[1]
    # It is in the service, under its fingerprint, and in none of our files.
    [[account, stored]] = desktop.look("list")["items"]
    assert account == fingerprint
    assert secret in stored
    for path in Path(desktop.environment["PURA_HOME"]).rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    # List and read back.
    assert desktop.pura("key", "list").stdout.split()[0] == fingerprint
    checked = bent.pura("key", "state", "--check")
    assert checked.returncode == 0, checked.stderr
    assert "can be read" in checked.stdout
    # Lock the collection, and see it locked, in words, without a way around.
    assert desktop.look("lock")["locked"]
    told = desktop.pura("key", "state")
    assert told.returncode == 1
    assert "Secret Service" in told.stdout
    assert "locked" in told.stdout
    assert desktop.pura("key", "list").stdout.split()[0] == fingerprint
    for words in (("key", "new", "Other"), ("key", "delete", "Newsroom", "--yes")):
        refused = desktop.pura(*words)
        assert refused.returncode == 1
        assert "is locked" in refused.stderr
        assert "Unlock it" in refused.stderr
    assert "is locked" in desktop.pura("key", "state", "--check").stdout
    # After the next login everything is still there.
    desktop.log_in()
    until(lambda: desktop.state() == "ready")
    assert desktop.pura("key", "state", "--check").returncode == 0
    # Another program changes the entry; then it is deleted; of another one the program removes it.
    desktop.look("damage")
    damaged = desktop.pura("key", "state", "--check")
    assert damaged.returncode == 1
    assert "damaged" in damaged.stdout
    assert desktop.pura("key", "delete", "Newsroom", "--yes").returncode == 0
    assert desktop.look("list")["items"] == []
    assert desktop.pura("key", "list").stdout == ""
    assert desktop.pura("key", "new", "Newsroom").returncode == 0
    desktop.look("remove")
    told = desktop.pura("key", "state", "--check")
    assert told.returncode == 1
    assert "no longer holds" in told.stdout
