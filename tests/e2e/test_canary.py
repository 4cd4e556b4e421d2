"""A canary: a known key goes through everything, and is then looked for in everything written."""

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from tests.core.programs import lend

from pura.scheme import SecretKey

pytestmark = [pytest.mark.model, pytest.mark.slow]

KEY = sha256(b"the canary of the tests").digest()
Run = Callable[..., subprocess.CompletedProcess[str]]
PASSPHRASE = "canaries sing in the coal mine"

# The real window, with the log at its loudest: it takes the key in, audits with it, raises in a
# slot, and at last dies the hard way.
WINDOW = """
import os, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from pura.keys import passphrase_bytes
from pura.scheme import Profile
from pura_audit import application
from pura.usecases import keys as desk
from pura.keys import Place, Secret
from pura_audit.session.queue_model import ItemState

home, profile, text = map(Path, sys.argv[1:4])
secret, passphrase = os.read(0, 4096).decode().splitlines()
kept = []
make = application.make_window

def made(*args, **named):
    window = make(*args, **named)
    kept.append(window)
    QTimer.singleShot(0, step)
    return window

def step():
    try:
        next(walk)
    except StopIteration:
        return
    QTimer.singleShot(50, step)

def steps():
    [window] = kept
    session = window.session
    while session.chosen.catalogue is None:
        yield
    at = session.environment
    typed = Secret(bytearray(secret.encode()))
    wrong = Secret(passphrase_bytes("a wrong one, long enough"))
    right = Secret(passphrase_bytes(passphrase))
    for work in (
        lambda _: desk.import_key(
            at, name="Passing", source=typed, session=True),
        lambda _: desk.unlock_files(at, passphrase=wrong),
        lambda _: desk.unlock_files(at, passphrase=right),
        lambda _: desk.derive_key(
            at, master="Renamed", label="window", place=Place.FILES),
    ):
        session.do(work, lambda _: None, window)
        yield
        while session.jobs.stores.busy:
            yield
    session.chosen.look_around()
    labels = {"Passing", "Renamed", "Renamed/window"}
    while not labels <= {k.label for k in session.chosen.catalogue.keys}:
        yield
    session.chosen.choose_keys(session.chosen.catalogue.keys)
    assert labels <= {k.label for k in session.chosen.keys}
    while session.chosen.model is None or session.chosen.profile is None:
        yield
    session.texts.add_paths([text])
    item = session.texts.queue.items[-1]
    while item.state is ItemState.LOADING:
        yield
    session.audits.audit([item])
    while item.state not in (ItemState.DONE, ItemState.FAILED):
        yield
    assert item.state is ItemState.DONE, item.failure
    print("audited", item.audit.verdict, item.audit.evidence.keys_tried, flush=True)
    print(repr(session.chosen.keys), repr(session.environment.session_keys), flush=True)
    QTimer.singleShot(0, lambda: 1 / 0)
    for _ in range(4):
        yield
    import faulthandler
    faulthandler._sigsegv()

application.make_window = made
walk = steps()
sys.exit(application.run(["--log-level", "debug", "--config-dir", str(home)]))
"""

# The command, dying in the middle of an audit with the key in its hands.
CRASH = """
import sys
from pura.detect import steps
class Dead(BaseException):  # an exception would be contained
    pass
def broken(prepared, *others):
    raise Dead(f"provoked with {prepared.basis.keys!r}")
steps.decode_readings = broken
from pura.cli.__main__ import main
sys.argv[0] = "pura"
main()
"""


def forms() -> dict[str, bytes]:
    """Every written form of the key that is looked for; half of it is as bad as all."""
    found = {"the passphrase": PASSPHRASE.encode()}
    for name, part in (("all", KEY), ("first half", KEY[:16]), ("second half", KEY[16:])):
        found |= {
            f"{name}, raw": part,
            f"{name}, hex": part.hex().encode(),
            f"{name}, HEX": part.hex().upper().encode(),
            f"{name}, repr": repr(part)[2:-1].encode(),
            f"{name}, numbers": ", ".join(map(str, part)).encode(),
            f"{name}, spaced": part.hex(" ").encode(),
        }
    for name, coded in (
        ("base64", base64.b64encode(KEY)),
        ("URL-safe", base64.urlsafe_b64encode(KEY)),
        ("base64 of hex", base64.b64encode(KEY.hex().encode())),
    ):
        found[name] = coded.rstrip(b"=")[:-2]
    return found


def sightings(root: Path) -> list[str]:
    seen = []
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and "models" not in path.parts:
            data = path.read_bytes()
            seen += [f"{path.name}: {name}" for name, form in forms().items() if form in data]
    return seen


@dataclass(kw_only=True)
class Machine:
    """Runs things as a user with a home of their own; remembers all that they said.

    The command runs in this process, which has the model; what dies is a process of its own.
    """

    root: Path
    command: Run
    environment: dict[str, str]
    said: list[bytes] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.root / "home"

    def python(self, *words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
        environment = {k: v for k, v in os.environ.items() if k != "DBUS_SESSION_BUS_ADDRESS"}
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            env=environment | self.environment,
            input=stdin.encode(),
            capture_output=True,
            timeout=280,
            check=False,
            cwd=self.home,
        )
        self.said += [done.stdout, done.stderr]
        return done

    def pura(self, command: str, stdin: str = "", rc: int = 0) -> str:
        """Run a command as it is typed in the user's folder."""
        done = self.command(*command.split(), stdin=stdin)
        self.said += [done.stdout.encode(), done.stderr.encode()]
        assert done.returncode == rc, done.stderr
        return done.stdout


@pytest.fixture
def machine(tmp_path, small_models, pura, monkeypatch) -> Machine:
    root = tmp_path / "machine"
    for name in ("home/pura/data", "home/pura/config/profiles", "tmp", "secret"):
        (root / name).mkdir(parents=True)
    lend(small_models, root / "home" / "pura" / "data" / "models")
    # The two things that the user keeps elsewhere: not part of what is searched.
    (root / "secret" / "passphrase").write_text(PASSPHRASE)
    (root / "secret" / "key").write_text(KEY.hex())
    environment = {
        "HOME": str(root / "home"),
        "PURA_HOME": str(root / "home" / "pura"),
        "COLUMNS": "200",
        "XDG_CONFIG_HOME": str(root / "home" / ".config"),
        "TMPDIR": str(root / "tmp"),
        "XDG_CACHE_HOME": str(root / "home" / ".cache"),
        "QT_QPA_PLATFORM": "offscreen",
        "PURA_PASSPHRASE_FILE": str(root / "secret" / "passphrase"),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", environment["TMPDIR"])
    monkeypatch.chdir(root / "home")
    return Machine(root=root, command=pura, environment=environment)


def test_the_search_finds_every_form(tmp_path):
    for number, form in enumerate(forms().values()):
        (tmp_path / str(number)).write_bytes(b"around " + form + b" around")
    found = {line.partition(": ")[2] for line in sightings(tmp_path)}
    assert found == set(forms())


def test_a_key_leaves_no_trace(machine):
    home, pura = machine.home, machine.pura
    key, lock = "--profile canary --key Renamed", "--passphrase-file ../secret/passphrase"
    with SecretKey(KEY) as canary:
        fingerprint = canary.fingerprint
    # Create and keep, in every way that takes the secret in.
    assert fingerprint in pura("key import Canary", stdin=KEY.hex())
    pura("key rename Canary Renamed")
    pura("key note Renamed sings")
    pura(f"key export Renamed -o copy.purakey --yes {lock}")
    assert (home / "copy.purakey").exists()
    pura(f"key import Twice --file copy.purakey {lock}", rc=1)
    pura("key import Damaged", stdin=KEY.hex()[:-1], rc=1)
    pura("key import Damaged", stdin=KEY.hex()[:-1] + "g", rc=1)
    pura("key derive Renamed desk")
    assert "can be read" in pura("key state --check")
    pura("key list --json")
    # Mark and verify, in words and as the whole record.
    profile = home / "pura" / "config" / "profiles" / "canary.json"
    pura(f"profile new --bits 24 -o {profile}")
    pura(
        f"generate {key} --payload 010110100111100010101101 --tokens 60 --prompt Museums"
        " -o text.txt --ids ids.json"
    )
    record = pura(f"verify text.txt {key} --key Renamed/desk --json --full")
    (home / "record.json").write_text(record)
    # A PDF is compressed; what it carries stands beside it in plain form.
    report = "--pdf found.pdf --json-file found.json"
    assert fingerprint in pura(f"verify text.txt {key} --language de --explain {report}")
    pura("report build found.json --pdf again.pdf --html report.html --tables tables")
    assert fingerprint in (home / "report.html").read_text(encoding="utf-8")
    file = "--profile canary --key-file ../secret/key"
    pura(f"verify text.txt {file} --json --save Coal --auditor Anna")
    # The case log compresses records; what it holds is said here in full.
    [case] = [json.loads(row) for row in pura("caselog list --json").splitlines()]
    assert fingerprint in pura(f"caselog show Coal {case['audits'][0]['id']} --json")
    assert fingerprint in pura("caselog show Coal --json")
    pura("caselog export Coal coal.puracase")
    pura(f"verify missing.txt {key}", rc=1)
    # Crash with the key in hand.
    text = home / "text.txt"
    crashed = machine.python("-c", CRASH, "verify", text, *key.split())
    assert crashed.returncode != 0
    assert b"Dead" in crashed.stderr
    assert fingerprint.encode() in crashed.stderr, "what the crash quotes is the fingerprint"
    # The window: an exception in a slot, then a fatal signal.
    done = machine.python(
        "-c", WINDOW, home / "pura", profile, text, stdin=f"{KEY.hex()}\n{PASSPHRASE}"
    )
    assert b"audited" in done.stdout, done.stderr.decode()
    assert done.returncode == -11, done.stderr.decode()
    pura("key remove Renamed/window --yes")
    pura("key remove Renamed", stdin="n\n", rc=1)
    pura("key remove Renamed --yes")
    # Everything that was said, and every file that was written.
    (home / "said").write_bytes(b"\n".join(machine.said))
    logs = {path.name for path in home.rglob("*.log")}
    assert {"pura-audit.log", "crash.log"} <= logs
    assert b"ZeroDivisionError" in next(home.rglob("pura-audit.log")).read_bytes()
    assert sightings(home) == []
    assert sightings(machine.root / "tmp") == []
