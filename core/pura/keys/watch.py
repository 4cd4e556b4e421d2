"""Waits for the Secret Service only as long as it lives.

A question of the service to its user may stand open as long as the user likes. But a service that
ends while it is asked, or hangs, never answers, and the library waits for ever. So each request
runs on a thread of its own, and beside it the service is asked whether it is still there; one that
shows a question says so at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final, TypeVar

Result = TypeVar("Result")
_NAME: Final = "org.freedesktop.secrets"
_BUS: Final = "org.freedesktop.DBus"
_GLANCE: Final = 0.2
THREAD: Final = "secret-service"
"""Name of the threads that wait for the service."""
patience: float = 10.0
"""Seconds in which a service that lives says so."""


class ServiceGoneError(Exception):
    """The service ended, or hangs, before it answered."""


def watched(call: Callable[[], Result]) -> Result:
    """Return what a request to the Secret Service gives.

    Raises:
        ServiceGoneError: The service does not answer any more.
        Exception: As the request raises it.
    """
    from jeepney.io.blocking import open_dbus_connection

    answer: list[Result] = []
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            answer.append(call())
        except BaseException as error:
            errors.append(error)

    try:
        connection = open_dbus_connection("SESSION")
    except OSError:
        raise ServiceGoneError from None  # the bus itself
    with closing(connection) as bus:
        # Found before the request: later the name may be another's, started in its place.
        owner = _owner(bus)
        # A request that never comes back must not hold the program up when it ends.
        thread = threading.Thread(target=ask, name=THREAD, daemon=True)
        thread.start()
        thread.join(_GLANCE)
        while thread.is_alive():
            if not _lives(bus, owner):
                raise ServiceGoneError
            thread.join(_GLANCE)
    if errors:
        raise errors[0]
    return answer[0]


def _owner(bus: Any) -> str:
    """Return the address of the service itself; it is started where the bus can do that."""
    _ask(bus, _BUS, "/org/freedesktop/DBus", _BUS, "StartServiceByName", "su", _NAME, 0)
    answer = _ask(bus, _BUS, "/org/freedesktop/DBus", _BUS, "GetNameOwner", "s", _NAME)
    return str(answer[0]) if answer else ""


def _lives(bus: Any, owner: str) -> bool:
    peer = "org.freedesktop.DBus.Peer"
    return bool(owner) and _ask(bus, owner, "/", peer, "Ping", "") is not None


def _ask(
    bus: Any, whom: str, path: str, interface: str, method: str, signature: str, *values: object
) -> tuple[Any, ...] | None:
    """Return what a program on the bus answers; None where it refuses or does not answer."""
    from jeepney import DBusAddress, MessageType, new_method_call

    request = new_method_call(DBusAddress(path, whom, interface), method, signature, values)
    try:
        answer = bus.send_and_get_reply(request, timeout=patience)
    except (TimeoutError, OSError):
        return None
    if answer.header.message_type is MessageType.error:
        return None
    return tuple(answer.body)
