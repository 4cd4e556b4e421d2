"""One window a user: the second start hands over; strangers and rubbish get nothing."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from pura_audit.platform import single
from pura_audit.platform.single import FirstWindow, hand_over, socket_name

SECOND = (
    "import sys\n"
    "from pathlib import Path\n"
    "from PySide6.QtCore import QCoreApplication\n"
    "from pura_audit.platform.single import hand_over\n"
    "app = QCoreApplication([])\n"
    "sys.exit(0 if hand_over(sys.argv[1], [Path(p) for p in sys.argv[2:]]) else 7)\n"
)


@pytest.fixture
def name(tmp_path: Path) -> str:
    return socket_name(tmp_path)


@pytest.fixture
def first(qapp: Any, name: str) -> Any:
    window = FirstWindow(name)
    assert window.listen()
    yield window
    window.close()


def test_the_files_of_a_second_start_arrive(
    first: FirstWindow, qtbot: Any, name: str, tmp_path: Path
) -> None:
    odd = "-ä \n😀.txt"
    command = [sys.executable, "-c", SECOND, name, str(tmp_path / "a.txt"), odd]
    with qtbot.waitSignal(first.asked, timeout=60_000) as seen:
        child = subprocess.Popen(command, cwd=tmp_path)
    assert seen.args == [[tmp_path / "a.txt", tmp_path / odd]]
    assert child.wait(60) == 0


def test_without_a_first_window_nobody_takes_the_files(qapp: Any, name: str) -> None:
    assert not hand_over(name, [])


def test_a_socket_that_a_crash_left_is_replaced(qapp: Any, name: str) -> None:
    crash = (
        "import os, sys\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "from PySide6.QtNetwork import QLocalServer\n"
        "app = QCoreApplication([])\n"
        "server = QLocalServer()\n"
        "assert server.listen(sys.argv[1])\n"
        "print(server.fullServerName(), flush=True)\n"
        "os._exit(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", crash, name], capture_output=True, text=True, check=False
    )
    left = Path(done.stdout.strip())
    assert left.exists()
    assert not hand_over(name, [])
    window = FirstWindow(name)
    assert window.listen()
    assert not stat.S_IMODE(left.stat().st_mode) & 0o077
    window.close()


@pytest.mark.parametrize(
    "message",
    [
        b"rubbish\n",
        b"\xff\xfe\n",
        b"[]\n",
        b'{"version": 2, "files": []}\n',
        b'{"version": 1, "files": "/etc/passwd"}\n',
        b'{"version": 1, "files": ["relative"]}\n',
        b'{"version": 1, "files": [7]}\n',
        b"[" * 100_000 + b"\n",
        json.dumps({"version": 1, "files": ["/x"] * 1001}).encode() + b"\n",
    ],
    ids=lambda m: repr(m[:24]),
)
def test_what_is_no_message_of_ours_is_dropped(
    first: FirstWindow, qtbot: Any, name: str, message: bytes
) -> None:
    heard: list[object] = []
    first.asked.connect(heard.append)
    socket = QLocalSocket()
    socket.connectToServer(name)
    assert socket.waitForConnected(5000)
    with qtbot.waitSignal(socket.disconnected, timeout=10_000):
        socket.write(message)
    assert heard == []


def test_nobody_fills_the_memory(
    first: FirstWindow, qtbot: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single, "MAX_BYTES", 1000)
    socket = QLocalSocket()
    socket.connectToServer(name)
    assert socket.waitForConnected(5000)
    with qtbot.waitSignal(socket.disconnected, timeout=10_000):
        socket.write(b"x" * 4000)


def test_another_folder_is_another_program(tmp_path: Path) -> None:
    assert socket_name(tmp_path / "a") != socket_name(tmp_path / "b")
    assert str(tmp_path) not in socket_name(tmp_path)
    assert len(QLocalServer().serverName()) == 0


def test_the_window_opens_what_it_is_handed(window: Any, tmp_path: Path, qtbot: Any) -> None:
    path = tmp_path / "late.txt"
    path.write_text("Handed over by a second start.", encoding="utf-8")
    window.showMinimized()
    window.open_for_another_start([path])
    assert not window.isMinimized()
    qtbot.waitUntil(lambda: window.session.current is not None)
    assert window.session.current.name == "late.txt"
    window.open_for_another_start([])
    assert len(window.session.queue.items) == 1
