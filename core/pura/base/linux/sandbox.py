"""A wider cage, for libraries that need threads and a few files: no network, programs or others.

What parses documents stands in a narrower one (:mod:`pura.documents.cage`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pura.base.linux import kernel, seccomp

# Whatever reaches another process, the network, more rights, or what a file is beside its content.
_REFUSED: Final = (
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "chmod",
    "chown",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "execve",
    "execveat",
    "fanotify_init",
    "fchmod",
    "fchmodat",
    "fchown",
    "fchownat",
    "finit_module",
    "fremovexattr",
    "fsetxattr",
    "fsopen",
    "init_module",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "kill",
    "lchown",
    "lremovexattr",
    "lsetxattr",
    "memfd_create",
    "memfd_secret",
    "mknod",
    "mknodat",
    "modify_ldt",
    "mount",
    "move_mount",
    "mq_open",
    "msgget",
    "name_to_handle_at",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "personality",
    "pidfd_getfd",
    "pidfd_open",
    "pidfd_send_signal",
    "pivot_root",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "reboot",
    "removexattr",
    "request_key",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "semget",
    "setdomainname",
    "setgid",
    "setgroups",
    "sethostname",
    "setns",
    "setregid",
    "setresgid",
    "setresuid",
    "setreuid",
    "settimeofday",
    "setuid",
    "setxattr",
    "shmat",
    "shmget",
    "socket",
    "socketpair",
    "swapoff",
    "swapon",
    "syslog",
    "tkill",
    "umount2",
    "unshare",
    "userfaultfd",
    "vhangup",
)


def libraries() -> list[Path]:
    """Return where Python and its libraries lie; they import parts of themselves late."""
    named = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path)}
    if getattr(sys, "frozen", False):
        named.add(sys.executable)  # a packaged program carries its modules in its own file
    return [Path(name) for name in sorted(named) if Path(name).exists()]


def shut(
    *, readable: Sequence[Path], writable: Sequence[Path], memory: int = 0, seconds: int = 0
) -> None:
    """Shut this process in, for good; on Linux only, elsewhere just the limits that there are.

    Args:
        readable: Files and folders that may still be read.
        writable: Folders in which files may be made and changed.
        memory: Bytes of address space beyond what is mapped now; 0 sets no limit. Libraries for
            GPUs map far more than they touch.
        seconds: Of processor time; 0 sets no limit.

    Raises:
        OSError: The system refused something that it should be able to do.
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
        kernel.own_namespaces()
        kernel.keep_no_new_privileges()
        kernel.hide()
        seccomp.restrict(readable=readable, writable=writable)
    for kind, most in limits:
        _, ceiling = resource.getrlimit(kind)
        bound = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
        resource.setrlimit(kind, (bound, bound))
    if sys.platform == "linux":
        own = {"tgkill": seccomp.Unless(argument=0, other_than=os.getpid())}
        seccomp.refuse(_REFUSED, own)
