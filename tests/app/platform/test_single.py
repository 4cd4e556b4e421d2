"""One window a user: the second start hands over; strangers and rubbish get nothing."""

import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket

from pura_audit import application
from pura_audit.platform import single
from pura_audit.platform.single import FirstWindow, hand_over, meeting_place

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes another user, which takes root")
SECOND = (
    "import sys\n"
    "from pathlib import Path\n"
    "from PySide6.QtCore import QCoreApplication\n"
    "from pura_audit.platform.single import hand_over\n"
    "app = QCoreApplication([])\n"
    "sys.exit(0 if hand_over(sys.argv[1], [Path(p) for p in sys.argv[2:]]) else 7)\n"
)


@pytest.fixture(autouse=True)
def without_a_session(monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)


@pytest.fixture
def place(tmp_path) -> str:
    return meeting_place(tmp_path)


@pytest.fixture
def first(qapp, place):
    window = FirstWindow(place)
    assert window.listen()
    yield window
    window.close()


def test_the_files_of_a_second_start_arrive(first, qtbot, place, tmp_path):
    odd = "-ä \n😀.txt"
    command = [sys.executable, "-c", SECOND, place, str(tmp_path / "a.txt"), odd]
    with qtbot.waitSignal(first.asked) as seen:
        child = subprocess.Popen(command, cwd=tmp_path)
    assert seen.args == [[tmp_path / "a.txt", tmp_path / odd]]
    assert child.wait(60) == 0


def test_without_a_first_window_nobody_takes_the_files(qapp, place):
    assert not hand_over(place, [])


def test_a_socket_that_a_crash_left_is_replaced(qapp, place):
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
    Path(place).parent.mkdir(mode=0o700)
    done = subprocess.run(
        [sys.executable, "-c", crash, place], capture_output=True, text=True, check=False
    )
    left = Path(done.stdout.strip())
    assert left.exists()
    assert not hand_over(place, [])
    window = FirstWindow(place)
    assert window.listen()
    assert not stat.S_IMODE(left.stat().st_mode) & 0o077
    window.close()


NO_MESSAGES = (
    b"rubbish\n",
    b"\xff\xfe\n",
    b"[]\n",
    b'{"version": 2, "files": []}\n',
    b'{"version": 1, "files": "/etc/passwd"}\n',
    b'{"version": 1, "files": ["relative"]}\n',
    b'{"version": 1, "files": [7]}\n',
    b"[" * 100_000 + b"\n",
    json.dumps({"version": 1, "files": ["/x"] * 1001}).encode() + b"\n",
    b"x" * (single.MAX_BYTES + 1),  # nobody fills the memory
)


def test_what_is_no_message_of_ours_is_dropped(first, qtbot, place):
    heard: list[object] = []
    first.asked.connect(heard.append)
    for message in NO_MESSAGES:
        socket = QLocalSocket()
        socket.connectToServer(place)
        assert socket.waitForConnected(5000)
        with qtbot.waitSignal(socket.disconnected):
            socket.write(message)
        assert heard == [], message[:24]


def test_another_folder_is_another_program(tmp_path, monkeypatch):
    assert meeting_place(tmp_path / "a") != meeting_place(tmp_path / "b")
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    places = [Path(meeting_place(tmp_path / folder)) for folder in ("a", "b")]
    assert {path.parent for path in places} == {runtime}
    assert places[0] != places[1]


def test_a_run_time_folder_that_others_may_enter_is_not_used(tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(own, target_is_directory=True)
    wide = tmp_path / "wide"
    wide.mkdir()
    wide.chmod(0o711)
    offered = [str(wide), str(tmp_path / "link"), str(tmp_path / "gone"), "relative", ""]
    if os.geteuid() == 0:
        theirs = tmp_path / "theirs"
        theirs.mkdir(mode=0o700)
        os.chown(theirs, NOBODY, NOBODY)
        offered.append(str(theirs))
    for folder in offered:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        assert meeting_place(tmp_path) == str(tmp_path / "run" / "window"), folder


def test_our_own_folder_is_closed_to_others(qapp, place, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o777)
    assert not hand_over(place, [])
    window = FirstWindow(place)
    assert window.listen()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    window.close()


def test_a_link_in_the_place_of_our_folder_is_said_and_the_window_opens(window, place, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (tmp_path / "run").symlink_to(elsewhere, target_is_directory=True)
    first = application.meet(window, place)
    assert list(elsewhere.iterdir()) == []
    assert window.isVisible()
    assert str(tmp_path / "run") in window.status.words.text()
    first.close()


# Takes the place as root, becomes somebody else, and writes down what it is told.
STRANGER = (
    "import os, socket, sys\n"
    "server = socket.socket(socket.AF_UNIX)\n"
    "server.bind(sys.argv[1])\n"
    "os.setgid(int(sys.argv[2]))\n"
    "os.setuid(int(sys.argv[2]))\n"
    "server.listen()\n"
    "print('ready', flush=True)\n"
    "end, _ = server.accept()\n"
    "end.settimeout(60)\n"
    "heard = end.recv(65536)\n"
    "print(heard, flush=True)\n"
)

# Becomes somebody else, and asks the window to open a file.
CALLER = (
    "import os, socket, sys\n"
    "os.setgid(int(sys.argv[2]))\n"
    "os.setuid(int(sys.argv[2]))\n"
    "end = socket.socket(socket.AF_UNIX)\n"
    "end.settimeout(60)\n"
    "end.connect(sys.argv[1])\n"
    "try:\n"
    '    end.sendall(b\'{"version": 1, "files": ["/etc/passwd"]}\\n\')\n'
    "    print(end.recv(100), flush=True)\n"
    "except (BrokenPipeError, ConnectionResetError):\n"
    "    print(b'', flush=True)\n"
)


@as_root
def test_a_stranger_at_the_place_is_told_nothing(qapp, place, tmp_path):
    Path(place).parent.mkdir(mode=0o700)
    command = [sys.executable, "-c", STRANGER, place, str(NOBODY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        assert not hand_over(place, [tmp_path / "secret.txt"])
        assert child.stdout.read() == "b''\n"
    window = FirstWindow(place)
    assert window.listen()  # the place is ours again
    window.close()


@as_root
def test_a_stranger_who_comes_in_opens_nothing(qapp, qtbot):
    with tempfile.TemporaryDirectory() as public:
        place = Path(meeting_place(Path(public)))
        first = FirstWindow(str(place))
        assert first.listen()
        heard: list[object] = []
        first.asked.connect(heard.append)
        # Every door stands open, as on a computer whose folders are badly kept.
        for path in (Path(public), place.parent, place):
            path.chmod(0o777)
        command = [sys.executable, "-c", CALLER, str(place), str(NOBODY)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            qtbot.waitUntil(lambda: child.poll() is not None)
            assert child.stdout.read() == "b''\n"
        assert heard == []
        first.close()


def test_the_window_opens_what_it_is_handed(window, tmp_path, qtbot):
    path = tmp_path / "late.txt"
    path.write_text("Handed over by a second start.", encoding="utf-8")
    window.showMinimized()
    window.open_for_another_start([path])
    assert not window.isMinimized()
    qtbot.waitUntil(lambda: window.session.texts.current is not None)
    assert window.session.texts.current.name == "late.txt"
    window.open_for_another_start([])
    assert len(window.session.texts.queue.items) == 1
