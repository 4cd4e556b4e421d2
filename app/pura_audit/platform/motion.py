"""The desktop's setting for reduced motion."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSettings
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusVariant

_PORTAL: Final = ("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
_SETTINGS: Final = "org.freedesktop.portal.Settings"
# What stands for “keep still”, by namespace and key; GNOME's own, and the one of all desktops.
_WISHES: Final = (
    ("org.gnome.desktop.interface", "enable-animations", False),
    ("org.freedesktop.appearance", "reduced-motion", 1),
)
_WAIT_MS: Final = 300  # for an answer of the portal
_CLIENT_AREA_ANIMATION: Final = 0x1042  # SPI_GETCLIENTAREAANIMATION
_MAC: Final = Path("Library") / "Preferences" / "com.apple.universalaccess.plist"


@lru_cache(maxsize=1)
def still() -> bool:
    """Return whether animations are to be avoided; the desktop is asked once."""
    if sys.platform == "win32":
        moves = ctypes.c_int(1)
        ctypes.windll.user32.SystemParametersInfoW(
            _CLIENT_AREA_ANIMATION, 0, ctypes.byref(moves), 0
        )
        return not moves.value
    if sys.platform == "darwin":
        wishes = QSettings(str(Path.home() / _MAC), QSettings.Format.NativeFormat)
        return bool(wishes.value("reduceMotion", False, bool))
    return any(_asked(space, key) == wish for space, key, wish in _WISHES)


def _asked(space: str, key: str) -> object:
    """Return a setting from the desktop portal; None if there is no portal."""
    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return None
    call = QDBusMessage.createMethodCall(*_PORTAL, _SETTINGS, "Read")
    call.setArguments([space, key])
    answer: object = next(iter(bus.call(call, timeout=_WAIT_MS).arguments()), None)
    while isinstance(answer, QDBusVariant):  # the method wraps its answer twice
        answer = answer.variant()
    return answer
