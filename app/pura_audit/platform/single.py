"""One window a user: a second start hands its files to the first and leaves.

The two meet at a local socket that only this user may open. Its name follows from the folder of
the window's state, so that another ``--config-dir`` is another program. What arrives is a list of
paths, of limited size; it opens files as a drop does and can do nothing else.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QDeadlineTimer, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

VERSION: Final = 1
MAX_BYTES: Final = 1 << 20
MAX_FILES: Final = 1000
PATIENCE_MS: Final = 3000  # the first window may be busy drawing
_log = logging.getLogger(__name__)


def socket_name(state: Path) -> str:
    """Return the name at which windows of this user and this folder meet."""
    user = os.environ.get("USERNAME", "") if os.name == "nt" else str(os.getuid())
    digest = hashlib.sha256(f"{user}\0{state.absolute()}".encode("utf-8", "surrogateescape"))
    return f"pura-audit-{digest.hexdigest()[:24]}"


def hand_over(name: str, files: Sequence[Path]) -> bool:
    """Give files to a window that runs already.

    Args:
        name: From :func:`socket_name`.
        files: What the second start was asked to open; may be empty.

    Returns:
        True when a window took them and has come to the front; False when there is none.
    """
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(PATIENCE_MS):
        return False
    try:
        socket.write(_message(files))
        end = QDeadlineTimer(PATIENCE_MS)
        answer = b""
        while not answer.endswith(b"\n") and socket.waitForReadyRead(end.remainingTime()):
            answer += bytes(socket.readAll().data())
        # A process of ours that hangs, or somebody else's: better a second window than none.
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
        name: From :func:`socket_name`.

    Signals:
        asked: Paths to open, perhaps none; the window comes to the front.
    """

    asked = Signal(list)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._waiting: dict[QLocalSocket, bytearray] = {}
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._welcome)

    def listen(self) -> bool:
        """Begin; a socket that a crashed window left behind is removed first.

        Returns:
            False where the system offers no local sockets: then every start is a window.
        """
        # Nobody answered at this name (hand_over), so what lies there is dead.
        QLocalServer.removeServer(self._name)
        if not self._server.listen(self._name):
            _log.warning("a second start cannot find this window: %s", self._server.errorString())
            return False
        return True

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _welcome(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            self._waiting[socket] = bytearray()
            socket.readyRead.connect(lambda s=socket: self._read(s))
            socket.disconnected.connect(lambda s=socket: self._forget(s))

    def _read(self, socket: QLocalSocket) -> None:
        heard = self._waiting.get(socket)
        if heard is None:
            return
        heard += socket.readAll().data()
        if len(heard) > MAX_BYTES:
            socket.abort()
        elif heard.endswith(b"\n"):
            files = _parse(bytes(heard))
            if files is None:
                socket.abort()
                return
            heard.clear()
            socket.write(b"ok\n")
            socket.flush()
            self.asked.emit(files)

    def _forget(self, socket: QLocalSocket) -> None:
        if self._waiting.pop(socket, None) is not None:
            socket.deleteLater()


def _parse(message: bytes) -> list[Path] | None:
    """Return the paths, or None for anything that is no message of ours."""
    try:
        data = json.loads(message)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        return None
    files = data.get("files")
    if not isinstance(files, list) or len(files) > MAX_FILES:
        return None
    if not all(isinstance(name, str) and Path(name).is_absolute() for name in files):
        return None
    return [Path(name) for name in files]
