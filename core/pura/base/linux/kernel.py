"""One process's standing: privileges, user, namespaces, who looks into it, whose end it shares.

The system's C library is asked through ctypes. Nothing here works on another system than Linux;
callers ask :data:`sys.platform` first, but for :func:`die_with_parent`.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_GET_DUMPABLE: Final = 3
_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_CLONE_NEWNS: Final = 0x0002_0000
_CLONE_NEWUTS: Final = 0x0400_0000
_CLONE_NEWIPC: Final = 0x0800_0000
_CLONE_NEWUSER: Final = 0x1000_0000
_CLONE_NEWNET: Final = 0x4000_0000
_CAPABILITY_VERSION_3: Final = 0x2008_0522
PARENT: Final = "PURA_PARENT"
"""Name of the environment variable in which a child is told the number of its parent."""
NOBODY: Final = 65534
"""The user and group that own nothing, by the kernel's own convention (``overflowuid``)."""


class NotConfinedError(OSError):
    """The kernel did not take a power that had to go."""


@functools.cache
def libc() -> ctypes.CDLL:
    """Return the C library that this program is linked with."""
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *arguments: int) -> int:
    """Call ``prctl``.

    Raises:
        NotConfinedError: It failed.
    """
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return checked(libc().prctl(option, *(ctypes.c_ulong(a) for a in padded)), f"prctl {option}")


def checked(result: int, what: str) -> int:
    """Return the result of a call of the C library.

    Raises:
        NotConfinedError: It is -1; the error says which call failed, and how.
    """
    if result == -1:
        raise NotConfinedError(ctypes.get_errno(), what)
    return result


def keep_no_new_privileges() -> None:
    """See to it that no program started from here on gains rights by its file.

    Raises:
        NotConfinedError: The kernel does not know this.
    """
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def hide() -> None:
    """Close this process to debuggers and to readers of its memory, and let it leave no core file.

    Whoever has the powers of an administrator still gets in.

    Raises:
        NotConfinedError: The kernel refused.
    """
    prctl(_PR_SET_DUMPABLE, 0)


def is_hidden() -> bool:
    """Tell whether :func:`hide` holds in this process."""
    return prctl(_PR_GET_DUMPABLE) != 1


def die_with_parent() -> None:
    """Be killed when the program that started this one ends, however it ends.

    That program says its number in the environment (:data:`PARENT`); without it, and on another
    system than Linux, nothing is done.
    When it has already ended, this process leaves at once.

    Raises:
        NotConfinedError: The kernel refused.
    """
    parent = os.environ.get(PARENT)
    if parent and sys.platform == "linux":
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):
            os._exit(1)


def own_namespaces() -> bool:
    """Move into namespaces of its own: without network, mounts and names of anybody else.

    Returns:
        False where the system does not allow it, as many containers do not.
    """
    wanted = _CLONE_NEWNET | _CLONE_NEWNS | _CLONE_NEWIPC | _CLONE_NEWUTS
    if os.geteuid() != 0:
        wanted |= _CLONE_NEWUSER
    return bool(libc().unshare(wanted) == 0)


def other_user() -> None:
    """Become nobody where this process is an administrator's, and give all capabilities back.

    Raises:
        NotConfinedError: The kernel refused, and not because it knows no other user here.
    """
    if os.geteuid() == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        except OSError as error:
            # A container for one user has no other; that "administrator" is none outside.
            if error.errno not in (errno.EINVAL, errno.EPERM):
                raise NotConfinedError(error.errno, "setresuid") from None
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    checked(libc().capset(header, nothing), "capset")
