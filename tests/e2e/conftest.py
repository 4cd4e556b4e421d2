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
from typing import Any, NamedTuple

import pytest
from tests.core.programs import lend

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
    lend(models, root / "data" / "models")
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


@pytest.fixture
def screen() -> Iterator[str]:
    """A screen of an X server of its own."""
    reader, writer = os.pipe()
    # The server chooses a free number itself and writes it into the pipe once it listens.
    command = f"Xvfb -displayfd {writer} -screen 0 1440x900x24 -nolisten tcp"
    server = subprocess.Popen(
        command.split(), pass_fds=(writer,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
    try:
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(timeout=30)


STATUS = "org.a11y.Status"
ACCESSIBLE = "org.a11y.atspi.Accessible"
PROPERTIES = "org.freedesktop.DBus.Properties"
STATES = {"checkable": 41, "checked": 4, "focusable": 11, "selected": 23, "showing": 25}
"""Their bits in AT-SPI's two words of states."""


ROOT = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")


class Part(NamedTuple):
    """What a screen reader knows of a part of a program."""

    owner: str
    path: str
    role: str
    name: str
    description: str
    states: frozenset[str]
    depth: int


class Reader:
    """A screen reader: it reads the tree of names, and presses what it finds there."""

    def __init__(self, bus: Any) -> None:
        self._bus = bus

    def _ask(self, name: str, path: str, interface: str, member: str, sign: str, *body: Any) -> Any:
        from jeepney import DBusAddress, new_method_call

        address = DBusAddress(path, bus_name=name, interface=interface)
        reply = self._bus.send_and_get_reply(
            new_method_call(address, member, sign or None, body), timeout=60
        )
        return reply.body

    def _property(self, name: str, path: str, which: str) -> str:
        return str(self._ask(name, path, PROPERTIES, "Get", "ss", ACCESSIBLE, which)[0][1])

    def walk(self, below: tuple[str, str] = ROOT, depth: int = 0) -> Iterator[Part]:
        """Go over all that is on the screen, or what of it is inside one part."""
        (children,) = self._ask(*below, ACCESSIBLE, "GetChildren", "")
        for at in children:
            (role,) = self._ask(*at, ACCESSIBLE, "GetRoleName", "")
            (words,) = self._ask(*at, ACCESSIBLE, "GetState", "")
            held = {state for state, bit in STATES.items() if words[bit // 32] >> bit % 32 & 1}
            if "showing" not in held:
                continue
            name, more = (self._property(*at, which) for which in ("Name", "Description"))
            yield Part(*at, role, name, more, frozenset(held), depth)
            yield from self.walk(at, depth + 1)

    def frames(self) -> list[tuple[str, str]]:
        """Return the windows of all programs."""
        (programs,) = self._ask(*ROOT, ACCESSIBLE, "GetChildren", "")
        return [
            (owner, path)
            for program in programs
            for owner, path in self._ask(*program, ACCESSIBLE, "GetChildren", "")[0]
        ]

    def press(self, words: str) -> None:
        """Press the button of this name."""
        found = next(p for p in self.walk() if "button" in p.role and p.name.startswith(words))
        (done,) = self._ask(*found[:2], "org.a11y.atspi.Action", "DoAction", "i", 0)
        assert done

    def names(self) -> set[str]:
        """Return all names that it could read out."""
        return {part.name for part in self.walk()}


@pytest.fixture
def reader(desktop) -> Iterator[Reader]:
    """A screen reader that was there before the program."""
    from jeepney import DBusAddress, Properties, new_method_call
    from jeepney.io.blocking import open_dbus_connection

    at = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
    with closing(open_dbus_connection(desktop.environment["DBUS_SESSION_BUS_ADDRESS"])) as bus:
        bus.send_and_get_reply(Properties(at.with_interface(STATUS)).set("IsEnabled", "b", True))
        (address,) = bus.send_and_get_reply(new_method_call(at, "GetAddress"), timeout=60).body
        with closing(open_dbus_connection(address)) as tree:
            yield Reader(tree)
