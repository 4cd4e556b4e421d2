"""Files that decide how texts are marked: who else can change or read them.

Whoever can write a profile, a policy or a list of deployments chooses how texts are marked, and
whoever can read a key can forge marks. So such a file is refused where other users could.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from pura.base.errors import GenerationError
from pura.base.files import exposed

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

_log = logging.getLogger(__name__)


def refuse_writable(path: Path) -> None:
    """Refuse a file that others can change, or whose folder lets others put another in its place.

    Raises:
        GenerationError: Names the file and the command that closes it.
    """
    if _mode(path) & _OTHERS_WRITE:
        raise GenerationError("serving.exposed", name=path.name, command=exposed(path))
    folder = path.parent
    # In a folder with the sticky bit, such as /tmp, only the owner of a file can replace it.
    if _mode(folder) & _OTHERS_WRITE and not _mode(folder) & stat.S_ISVTX:
        raise GenerationError("serving.exposed", name=folder.name, command=exposed(folder))


def refuse_readable(path: Path) -> None:
    """Refuse a file with a secret that other users can read or change.

    Members of the file's group may read it, as Kubernetes mounts secrets for a group; that is
    logged.

    Raises:
        GenerationError: Names the file and the command that closes it.
    """
    refuse_writable(path)
    mode = _mode(path)
    if mode & stat.S_IROTH:
        raise GenerationError("serving.exposed", name=path.name, command=exposed(path))
    if mode & stat.S_IRGRP:
        _log.warning("the group of a secret file can read it")


def _mode(path: Path) -> int:
    """Return the permission bits of a file; 0 on Windows, whose rights Python cannot read."""
    if os.name == "nt":
        return 0
    try:
        return path.stat().st_mode
    except OSError:
        return 0  # reading the file will say why
