"""Name, version, licence and licence texts of every package that the program came with.

Packages for distributions carry them as a file, the window shows them in About.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

RULE: Final = "=" * 48
_BUILDING: Final = {"pip", "setuptools", "pyinstaller", "pyinstaller-hooks-contrib", "hatchling"}
_SECTIONS: Final = ("LICENSE", "LICENCE", "COPYING", "NOTICE")


def notices() -> Iterator[str]:
    """Yield one section a package, sorted by name; what only builds the program is left out."""
    every = {d.metadata["Name"]: d for d in metadata.distributions()}
    for name in sorted(every, key=str.lower):
        if name.lower() not in _BUILDING:
            head = f"{name} {every[name].version}: {_licence(every[name])}"
            yield "\n".join((RULE, head, RULE, *_texts(every[name])))


def _licence(distribution: metadata.Distribution) -> str:
    """What a package says of its licence, in a line."""

    def lines(field: str) -> list[str]:
        return distribution.metadata.get_all(field) or []

    classified = [line for line in lines("Classifier") if line.startswith("License ::")]
    of_classes = "; ".join(line.rpartition(" :: ")[2] for line in classified)
    named = "".join(lines("License-Expression")) or of_classes or "".join(lines("License"))
    return named.strip().splitlines()[0][:100] if named.strip() else "see below"


def _texts(distribution: metadata.Distribution) -> Iterator[str]:
    """The licence files that a package carries."""
    for file in distribution.files or ():
        inside = any(part.endswith(".dist-info") for part in file.parts)
        path = Path(str(file.locate()))
        # A package of the system may list files that its packagers left out.
        if inside and file.name.upper().startswith(_SECTIONS) and path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace").strip() + "\n"
