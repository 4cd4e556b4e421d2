"""Files and folders of secrets that are open to others: what that means, and how to mend it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from pura.base.errors import KeyStoreError
from pura.base.files import exposed


def exposures(*paths: Path) -> Iterator[KeyStoreError]:
    """Say of each file and folder whether others get at it, with the command that mends it.

    A pipe, as a shell opens one for a single reading, is open to nobody else.
    """
    for path in paths:
        if path.is_symlink():
            target = path.resolve()
            link, real = shlex.quote(str(path)), shlex.quote(str(target))
            yield KeyStoreError(
                "keystore.link",
                name=str(path),
                target=str(target),
                command=f"rm {link} && mv {real} {link}",
                code="key-exposed",
            )
        if (path.is_file() or path.is_dir()) and (command := exposed(path)):
            yield KeyStoreError(
                "keystore.exposed", name=str(path), command=command, code="key-exposed"
            )
