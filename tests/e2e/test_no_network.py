"""An audit opens no socket: every interpreter of it refuses to, and the audit does not notice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Read by every Python that starts with this folder on PYTHONPATH, children of children included.
# An audit hook cannot be taken off again, and hears every use that Python code makes of sockets.
WATCH = """
import os, sys

def refuse(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        with open(os.environ["SOCKET_LOG"], "a") as log:
            log.write(f"{event} {arguments[1:]}\\n")
        raise PermissionError(f"a socket: {event}")

sys.addaudithook(refuse)
with open(os.environ["SOCKET_LOG"] + ".seen", "a") as log:
    log.write(f"{os.getpid()}\\n")
"""


@pytest.fixture
def watched(tmp_path, home) -> dict[str, str]:
    """An environment in which no Python can open a socket unseen."""
    folder = tmp_path / "watch"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WATCH)
    environment = {k: v for k, v in os.environ.items() if k != "DBUS_SESSION_BUS_ADDRESS"}
    log = str(tmp_path / "sockets")
    return environment | {
        "PYTHONPATH": str(folder),
        "SOCKET_LOG": log,
        "PURA_HOME": str(home),
        "HF_HUB_OFFLINE": "0",  # the program must see to that itself
    }


def start(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_watch_sees_a_socket(watched):
    done = start(watched, "-c", "import socket; socket.create_connection(('localhost', 9))")
    assert done.returncode != 0
    assert "PermissionError" in done.stderr
    assert "socket." in Path(watched["SOCKET_LOG"]).read_text()


@pytest.mark.model
def test_an_audit_opens_no_socket(watched, marked):
    given = f"--key-file {marked}/key.txt --profile {marked}/profile.json --model small --json"
    done = start(watched, *f"-m pura.cli verify {marked}/00.txt {given}".split())
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["payload_best"]) == 36
    assert Path(watched["SOCKET_LOG"] + ".seen").exists()
    log = Path(watched["SOCKET_LOG"])
    assert not log.exists(), log.read_text()
