"""Functions of the Linux kernel by which a process permanently gives up rights.

They concern privileges, the user, namespaces, debuggers, and the end of the parent; and the system
calls and files that the process may still use. :func:`shut` is a sandbox for libraries that need
threads and a few files: without network, programs and other processes. Parsers of documents run in
a stricter one (:mod:`pura.documents.sandbox`).

The C library of the system is called through ctypes. Existing wrappers need a shared library
(libseccomp) that not every system has and that a packaged program would have to include (decision
013). Except for :func:`die_with_parent`, callers check :data:`sys.platform` first.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_CLONE_NEWNS: Final = 0x0002_0000
_CLONE_NEWUTS: Final = 0x0400_0000
_CLONE_NEWIPC: Final = 0x0800_0000
_CLONE_NEWUSER: Final = 0x1000_0000
_CLONE_NEWNET: Final = 0x4000_0000
_CAPABILITY_VERSION_3: Final = 0x2008_0522
PARENT: Final = "PURA_PARENT"
"""Environment variable with the process identifier of the parent of a child."""
NOBODY: Final = 65534
"""User and group without any files, by convention of the kernel (``overflowuid``)."""


@functools.cache
def libc() -> ctypes.CDLL:
    """Return the C library that this program is linked with."""
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *arguments: int) -> int:
    """Call ``prctl``.

    Raises:
        OSError: The call failed.
    """
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return checked(libc().prctl(option, *(ctypes.c_ulong(a) for a in padded)), f"prctl {option}")


def checked(status: int, call_name: str) -> int:
    """Return the status of a call of the C library, if the call succeeded.

    Raises:
        OSError: The status is -1; the error names the call and the reason.
    """
    if status == -1:
        raise OSError(ctypes.get_errno(), call_name)
    return status


def keep_no_new_privileges() -> None:
    """Prevent programs that are started from now on from gaining rights by set-user-ID files.

    Raises:
        OSError: The kernel does not support this.
    """
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def hide() -> None:
    """Protect this process from debuggers and readers of its memory, and disable core files.

    Administrators still have access.

    Raises:
        OSError: The kernel refused.
    """
    prctl(_PR_SET_DUMPABLE, 0)


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends.

    The parent sets :data:`PARENT` in the environment. Without it, and on systems other than Linux,
    nothing is done. If the parent has already ended, this process exits at once.

    Raises:
        OSError: The kernel refused.
    """
    parent = os.environ.get(PARENT)
    if parent and sys.platform == "linux":
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):
            os._exit(1)


def own_namespaces() -> bool:
    """Move this process into new namespaces, without network and the mounts of others.

    Returns:
        Whether the system allows this; many containers do not.
    """
    flags = _CLONE_NEWNET | _CLONE_NEWNS | _CLONE_NEWIPC | _CLONE_NEWUTS
    if os.geteuid() != 0:
        flags |= _CLONE_NEWUSER
    return bool(libc().unshare(flags) == 0)


def other_user() -> None:
    """Change from the administrator to a user without files, and drop all capabilities.

    Raises:
        OSError: The kernel refused, although another user exists here.
    """
    if os.geteuid() == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        except OSError as error:
            # A container for one user has no other; its "administrator" has no rights outside.
            if error.errno not in (errno.EINVAL, errno.EPERM):
                raise OSError(error.errno, "setresuid") from None
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    checked(libc().capset(header, nothing), "capset")


# System calls of Landlock, with the same numbers on every machine.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
# All rights on files in each version of Landlock; later versions add one or two.
_RIGHTS: Final = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NET: Final = 0b11  # binding and connecting, TCP; from version 4
_SCOPES: Final = 0b11  # abstract sockets and signals to processes outside; from version 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock in this kernel; 0 if it has none."""
    return max(0, int(libc().syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)))


def restrict(*, readable: Sequence[Path] = (), writable: Sequence[Path] = ()) -> int:
    """Give up access to TCP and to all files except those in the given folders.

    Args:
        readable: Files and folders that may still be read and executed.
        writable: Folders with full access, except executing programs.

    Returns:
        The version of Landlock in force; 0 if the kernel has none and nothing was done.

    Raises:
        OSError: The kernel has Landlock and refused.
    """
    landlock_version = version()
    if not landlock_version:
        return 0
    rights = _RIGHTS[min(landlock_version, max(_RIGHTS))]
    ruleset = _Ruleset(
        rights, _NET if landlock_version >= 4 else 0, _SCOPES if landlock_version >= 6 else 0
    )
    size = 8 if landlock_version < 4 else 16 if landlock_version < 6 else 24
    rules = checked(
        libc().syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0), "landlock"
    )
    try:
        for path in readable:
            _allow(rules, path, rights & (_EXECUTE | _READ_FILE | _READ_DIR))
        for path in writable:
            _allow(rules, path, rights & ~_EXECUTE)
        checked(libc().syscall(_RESTRICT_SELF, rules, 0), "landlock")
    finally:
        os.close(rules)
    return landlock_version


def _allow(rules: int, path: Path, rights: int) -> None:
    handle = os.open(path, getattr(os, "O_PATH", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        below = _PathBeneath(rights if path.is_dir() else rights & _OF_FILES, handle)
        checked(libc().syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(below), 0), "landlock")
    finally:
        os.close(handle)


_SET_MODE_FILTER: Final = 1
_ALL_THREADS: Final = 1

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_IF_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_IF_BITS: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_IF_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K

_ALLOW: Final = 0x7FFF_0000
_KILL: Final = 0x8000_0000
_REFUSE: Final = 0x0005_0000 | errno.EPERM
_FOREIGN: Final = 0x4000_0000  # calls of x32 are numbered from here on

# Offsets in struct seccomp_data; both machines are little-endian.
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16


@dataclass(frozen=True, kw_only=True)
class ConditionalCall:
    """A system call that is allowed under a condition.

    Attributes:
        argument: Index of the argument that is tested, from 0.
        bits: The call is refused if any of these bits is set; 0 tests nothing.
        other_than: The call is refused if the argument has another value; None tests nothing.
    """

    argument: int
    bits: int = 0
    other_than: int | None = None


@dataclass(frozen=True)
class _Machine:
    audit: int
    column: int
    seccomp: int


_MACHINES: Final = {
    "x86_64": _Machine(0xC000_003E, 0, 317),
    "aarch64": _Machine(0xC000_00B7, 1, 277),
}
_Numbers = Mapping[str, tuple[int | None, int | None]]
"""Number on x86_64, and on aarch64; None if the machine does not have the call."""

# Calls without effect outside the process: memory, time, random bytes, open pipes, signals, exit.
_OWN_CALLS: Final[_Numbers] = {
    "brk": (12, 214),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "close": (3, 57),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fstat": (5, 80),
    "futex": (202, 98),
    "getpid": (39, 172),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "lseek": (8, 62),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "read": (0, 63),
    "readv": (19, 65),
    "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "sigaltstack": (131, 132),
    "tgkill": (234, 131),
    "time": (201, None),
    "times": (100, 153),
    "write": (1, 64),
    "writev": (20, 66),
}
# Calls that reach other processes, the network, further rights, or the attributes of files.
_REACHING_CALLS: Final[_Numbers] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsetxattr": (190, 7),
    "fsopen": (430, 430),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "lchown": (94, None),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "setgid": (106, 144),
    "setgroups": (116, 159),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setregid": (114, 143),
    "setresgid": (119, 149),
    "setresuid": (117, 147),
    "setreuid": (113, 145),
    "settimeofday": (164, 170),
    "setuid": (105, 146),
    "setxattr": (188, 5),
    "shmat": (30, 196),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
_NUMBERS: Final[_Numbers] = {**_OWN_CALLS, **_REACHING_CALLS}


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("then", ctypes.c_uint8),
        ("otherwise", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction)))


def allow_only_own(conditions: Mapping[str, ConditionalCall]) -> None:
    """Permanently refuse all calls with effects outside the process, in all threads.

    Args:
        conditions: Calls that are allowed under a condition.

    Raises:
        OSError: The kernel has no seccomp, or the machine is not supported.
    """
    machine = _machine()
    calls = [call for call in _OWN_CALLS if call not in conditions]
    steps = [*_head(machine), *_table(machine, calls, conditions, _ALLOW)]
    _enter(machine, [*steps, (_RETURN, 0, 0, _REFUSE)])


def refuse(calls: Sequence[str], conditions: Mapping[str, ConditionalCall]) -> None:
    """Permanently refuse some calls and allow all others, in all threads.

    Args:
        calls: Calls that are always refused.
        conditions: Calls that are refused unless their condition holds.

    Raises:
        OSError: As in :func:`allow_only_own`.
    """
    machine = _machine()
    steps = [*_head(machine), *_table(machine, calls, conditions, _REFUSE)]
    _enter(machine, [*steps, (_RETURN, 0, 0, _ALLOW)])


def refuse_reaching(*, but: Sequence[str] = ()) -> None:
    """Permanently refuse calls that reach other processes, the network or further rights.

    Args:
        but: Calls that are allowed nevertheless.

    Raises:
        OSError: As in :func:`allow_only_own`.
    """
    conditions = {"tgkill": ConditionalCall(argument=0, other_than=os.getpid())}
    refuse([call for call in _REACHING_CALLS if call not in but], conditions)


_Step = tuple[int, int, int, int]


def _machine() -> _Machine:
    try:
        return _MACHINES[os.uname().machine]
    except KeyError:
        raise OSError(errno.ENOSYS, "seccomp") from None


def _head(machine: _Machine) -> Iterator[_Step]:
    yield (_LOAD, 0, 0, _MACHINE)
    yield (_IF_EQUAL, 1, 0, machine.audit)
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _NUMBER)
    yield (_IF_AT_LEAST, 0, 1, _FOREIGN)
    yield (_RETURN, 0, 0, _KILL)


def _table(
    machine: _Machine, calls: Sequence[str], conditions: Mapping[str, ConditionalCall], ending: int
) -> Iterator[_Step]:
    """Yield the filter steps for calls, and for calls with a condition."""
    for call in calls:
        if (number := _NUMBERS[call][machine.column]) is not None:
            yield from ((_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, ending))
    for call, condition in conditions.items():
        if (number := _NUMBERS[call][machine.column]) is not None:
            judged = list(_judged(condition))
            yield from ((_IF_EQUAL, 0, len(judged), number), *judged)


def _judged(condition: ConditionalCall) -> Iterator[_Step]:
    """Yield the filter steps that decide about a call with a condition."""
    yield (_LOAD, 0, 0, _ARGUMENTS + 8 * condition.argument)
    if condition.bits:
        yield (_IF_BITS, 0, 1, condition.bits)
        yield (_RETURN, 0, 0, _REFUSE)
    if condition.other_than is not None:
        yield (_IF_EQUAL, 1, 0, condition.other_than)
        yield (_RETURN, 0, 0, _REFUSE)
    yield (_RETURN, 0, 0, _ALLOW)


def _enter(machine: _Machine, steps: Sequence[_Step]) -> None:
    array = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    program = _Program(len(steps), array)
    status = libc().syscall(machine.seccomp, _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program))
    # A positive status is the identifier of a thread that could not be filtered.
    if checked(status, "seccomp") > 0:
        raise OSError(errno.EBUSY, "seccomp")


def libraries() -> list[Path]:
    """Return the folders of Python and its libraries, which import some modules late."""
    locations = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path)}
    if getattr(sys, "frozen", False):
        locations.add(sys.executable)  # a packaged program contains its modules in its own file
    return [Path(name) for name in sorted(locations) if Path(name).exists()]


def shut(
    *, readable: Sequence[Path], writable: Sequence[Path], memory: int = 0, seconds: int = 0
) -> None:
    """Permanently confine this process on Linux; on other systems only set the limits.

    Args:
        readable: Files and folders that may still be read.
        writable: Folders in which files may be created and changed.
        memory: Bytes of address space in addition to the present ones; 0 sets no limit. Libraries
            for GPUs map far more than they use.
        seconds: Processor time; 0 sets no limit.

    Raises:
        OSError: The system refused something that it should support.
    """
    if sys.platform == "win32":
        return
    import resource

    limits = [(resource.RLIMIT_CORE, 0)]
    limits += [(resource.RLIMIT_CPU, seconds)] if seconds else []
    if sys.platform == "linux":
        if memory:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            limits += [(resource.RLIMIT_AS, pages * os.sysconf("SC_PAGE_SIZE") + memory)]
        own_namespaces()
        keep_no_new_privileges()
        hide()
        restrict(readable=readable, writable=writable)
    for kind, wanted_bound in limits:
        _, ceiling = resource.getrlimit(kind)
        bound = wanted_bound if ceiling == resource.RLIM_INFINITY else min(wanted_bound, ceiling)
        resource.setrlimit(kind, (bound, bound))
    if sys.platform == "linux":
        refuse_reaching()
