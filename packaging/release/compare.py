"""List what differs between two builds of the same tree.

    python packaging/release/compare.py FIRST SECOND

Two folders of the built application (``dist/linux/pura-audit``). Names files that stand in one
only, and those whose bytes differ; ends with 1 when there are any.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file by its path in the folder; of a link, where it leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def differences(first: Path, second: Path) -> list[str]:
    """Return a line a file that is not the same in both."""
    left, right = digests(first), digests(second)
    lines = [f"only in the first: {name}" for name in sorted(left.keys() - right.keys())]
    lines += [f"only in the second: {name}" for name in sorted(right.keys() - left.keys())]
    both = sorted(left.keys() & right.keys())
    return lines + [f"differs: {name}" for name in both if left[name] != right[name]]


def main() -> None:
    """Compare."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = differences(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(lines) or "The same, byte for byte.")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
