"""One window a user: a second start hands its files to the first window and ends.

The two meet at a local socket in a folder that only this user may enter, and each asks the system
who the other is before it sends or takes anything. The place follows from the folder of the
window's state, so that another ``--config-dir`` is another program. What arrives is a list of
paths, of limited size; it opens files as a drop does and can do nothing else.

On Windows there is no such folder: the pipe is open to this user alone (Qt sees to that), and
nobody is asked who he is.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket as sockets
import stat
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QDeadlineTimer, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from pura.base.files import make_private

VERSION: Final = 1  # of the message between two starts
# Limits of a message, so that another process cannot fill the memory.
MAX_BYTES: Final = 1 << 20
MAX_FILES: Final = 1000
PATIENCE_MS: Final = 3000  # the first window may be busy drawing
_log = logging.getLogger(__name__)


def meeting_place(state: Path) -> str:
    """Return the address at which windows of this user and this folder meet.

    It lies in the user's run-time folder where the system gives one that is this user's alone
    (``XDG_RUNTIME_DIR``), else in a folder of our own below the state.
    """
    user = os.environ.get("USERNAME", "") if sys.platform == "win32" else str(os.geteuid())
    digest = hashlib.sha256(f"{user}\0{state.absolute()}".encode("utf-8", "surrogateescape"))
    name = f"pura-audit-{digest.hexdigest()[:24]}"
    if sys.platform == "win32":
        return name
    runtime_folder = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime_folder.is_absolute() and _private(runtime_folder):
        return str(runtime_folder / name)
    return str(state.absolute() / "run" / "window")  # addresses are short: 107 bytes on Linux


def _private(folder: Path, *, close: bool = False) -> bool:
    """Return whether a folder belongs to this user and nobody else may enter it.

    Args:
        folder: The folder; a link does not count.
        close: Whether to remove other users' rights first.
    """
    if sys.platform == "win32":
        return True
    try:
        # Looked at and closed through one descriptor: a link is none, and nothing is exchanged.
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            return False
        if close and stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(handle, 0o700)
            status = os.fstat(handle)
        return not stat.S_IMODE(status.st_mode) & 0o077
    except OSError:
        return False
    finally:
        os.close(handle)


def _same_user(socket: QLocalSocket) -> bool:
    """Return whether this user owns the other end, according to the system."""
    if sys.platform == "win32":
        return True
    try:
        with sockets.socket(fileno=os.dup(int(socket.socketDescriptor()))) as end:
            if sys.platform == "linux":
                answer = end.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)
                uid = struct.unpack("=iII", answer)[1]
            else:  # LOCAL_PEERCRED of macOS and the BSDs: struct xucred
                uid = struct.unpack_from("=II", end.getsockopt(0, 1, 76))[1]
    except OSError:
        return False
    if uid != os.geteuid():
        _log.warning("user %d of this computer is at the other end of the window's socket", uid)
        return False
    return True


def hand_over(address: str, files: Sequence[Path]) -> bool:
    """Hand files to a window that already runs.

    Args:
        address: From :func:`meeting_place`.
        files: Files that the second start was to open; may be empty.

    Returns:
        True when a window took them and has come to the front; False when there is none of this
        user's. Nobody else is told of the files.
    """
    if not _private(Path(address).parent):
        return False
    socket = QLocalSocket()
    socket.connectToServer(address)
    if not socket.waitForConnected(PATIENCE_MS):
        return False
    try:
        if not _same_user(socket):
            return False
        socket.write(_message(files))
        end = QDeadlineTimer(PATIENCE_MS)
        answer = b""
        while not answer.endswith(b"\n") and socket.waitForReadyRead(end.remainingTime()):
            answer += bytes(socket.readAll().data())
        # A process of ours that hangs: better a second window than none.
        return answer == b"ok\n"
    finally:
        socket.abort()


def _message(files: Sequence[Path]) -> bytes:
    paths = [str(path.absolute()) for path in files[:MAX_FILES]]
    text = json.dumps({"version": VERSION, "files": paths})
    return text.encode() + b"\n"


class FirstWindow(QObject):
    """Listens for later starts.

    Args:
        address: From :func:`meeting_place`.

    Signals:
        asked: Another start asks the window to come to the front; carries paths to open.
    """

    asked = Signal(list)

    def __init__(self, address: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._place = address
        self._waiting: dict[QLocalSocket, bytearray] = {}
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._welcome)

    def listen(self) -> bool:
        """Start listening, after removing the socket of a crashed window.

        Returns:
            False where there is no folder that is this user's alone, or no socket can be made:
            then every start is a window.
        """
        folder = Path(self._place).parent
        try:
            make_private(folder)
        except OSError as error:
            _log.warning("a second start cannot find this window: %s", error.strerror)
            return False
        if not _private(folder, close=True):
            _log.warning("a second start cannot find this window: others may enter the folder")
            return False
        # Nobody answered at this place (hand_over), so what lies there is dead.
        QLocalServer.removeServer(self._place)
        if not self._server.listen(self._place):
            _log.warning("a second start cannot find this window: %s", self._server.errorString())
            return False
        return True

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _welcome(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            if not _same_user(socket):
                socket.abort()
                socket.deleteLater()
                continue
            self._waiting[socket] = bytearray()
            socket.readyRead.connect(lambda s=socket: self._read(s))
            socket.disconnected.connect(lambda s=socket: self._forget(s))

    def _read(self, socket: QLocalSocket) -> None:
        received = self._waiting.get(socket)
        if received is None:
            return
        received += socket.readAll().data()
        if len(received) > MAX_BYTES:
            socket.abort()
        elif received.endswith(b"\n"):
            files = _parse(bytes(received))
            if files is None:
                socket.abort()
                return
            received.clear()
            socket.write(b"ok\n")
            socket.flush()
            self.asked.emit(files)

    def _forget(self, socket: QLocalSocket) -> None:
        if self._waiting.pop(socket, None) is not None:
            socket.deleteLater()


def _parse(message: bytes) -> list[Path] | None:
    """Return the paths of a message, or None if it is invalid."""
    try:
        document = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("version") != VERSION:
        return None
    files = document.get("files")
    if not isinstance(files, list) or len(files) > MAX_FILES:
        return None
    if not all(isinstance(name, str) and Path(name).is_absolute() for name in files):
        return None
    return [Path(name) for name in files]
