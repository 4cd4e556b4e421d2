"""A clean user with a model, and the real command."""

import gc
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pura.cli.__main__ import main
from pura.keys import SERVICE, backends

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def models(small_models) -> Path:
    """The folder of the models that are installed: the small one; some tests put the real there."""
    return small_models


@pytest.fixture(scope="session")
def samples(small_samples) -> dict[str, Any]:
    """Samples of the model that is installed."""
    return small_samples


@pytest.fixture
def home(tmp_path, models) -> Path:
    """A user's folder in which one model is installed."""
    root = tmp_path / "home"
    (root / "data").mkdir(parents=True)
    (root / "data" / "models").symlink_to(models, target_is_directory=True)
    return root


@pytest.fixture
def pura(home, lent, monkeypatch) -> Run:
    """The command of a clean user, in this process: torch and the model are loaded once.

    ``mixed`` puts what it complains of into its output. ``test_wheel.py`` and others start the same
    command as a process of its own.
    """
    monkeypatch.setenv("PURA_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "200")

    def run(
        *arguments: str | Path, stdin: str | bytes | None = None, mixed: bool = False
    ) -> subprocess.CompletedProcess[str]:
        words = ["pura", *map(str, arguments)]
        data = stdin.encode() if isinstance(stdin, str) else stdin
        said, complained = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        if mixed:
            complained = said
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", words)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data or b"")))
            patch.setattr(sys, "stdout", said)
            patch.setattr(sys, "stderr", complained)
            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        written = []
        for stream in (said, complained):
            stream.flush()
            written.append(stream.buffer.getvalue().decode())
        return subprocess.CompletedProcess(words, code, *written)

    return run


@pytest.fixture
def marked(tmp_path, samples) -> Path:
    """A folder with the marked samples as plain files, their key and their profile."""
    folder = tmp_path / "marked"
    folder.mkdir()
    data = samples["marked"]
    (folder / "key.txt").write_text(str(data["key_hex"]) + "\n")
    (folder / "profile.json").write_text(json.dumps(data["profile"]))
    texts = data["texts"]
    assert isinstance(texts, list)
    for number, entry in enumerate(texts):
        (folder / f"{number:02}.txt").write_text(entry["text"], encoding="utf-8", newline="")
    return folder


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
        daemon.stdin.write(LOGIN)
        daemon.stdin.close()
        daemon.stdout.readline()  # says where its control socket is once it is ready
        self.daemons.append(daemon)

    def log_out(self) -> None:
        """End the keyring."""
        while self.daemons:
            daemon = self.daemons.pop()
            daemon.terminate()
            daemon.wait(60)
            daemon.stdout.close()

    def look(self, verb: str) -> tuple[bool, list[tuple[str, str]]]:
        """Look at the service itself, past all of ours: is it locked, what does it hold."""
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
def desktop(home, tmp_path, monkeypatch) -> Iterator[Desktop]:
    # A socket's path must be short, and pytest's folders are not.
    # A desktop with a document portal mounts a folder in there, which nobody can take away.
    with tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as runtime:
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
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", environment["DBUS_SESSION_BUS_ADDRESS"])
        user = Desktop(environment=environment)
        try:
            user.log_in()
            yield user
        finally:
            user.log_out()
            bus.stdin.close()
            bus.wait(60)
            bus.stdout.close()
            for thread in threading.enumerate():
                if thread.name == backends.THREAD:
                    thread.join(60)  # without the bus nothing waits any more
            gc.collect()
