"""Licences of every package that the program came with, and the sample that ships with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from pura.base.paths import resource
from pura.scheme import Profile, SecretKey

RULE: Final = "=" * 48
_BUILDING: Final = {"pip", "setuptools", "pyinstaller", "pyinstaller-hooks-contrib", "hatchling"}
_SECTIONS: Final = ("LICENSE", "LICENCE", "COPYING", "NOTICE")


def notices() -> Iterator[str]:
    """Yield one section for each package, sorted by name, without build tools."""
    distributions = {d.metadata["Name"]: d for d in metadata.distributions()}
    for name in sorted(distributions, key=str.lower):
        if name.lower() not in _BUILDING:
            head = f"{name} {distributions[name].version}: {_licence(distributions[name])}"
            yield "\n".join((RULE, head, RULE, *_texts(distributions[name])))


def _licence(distribution: metadata.Distribution) -> str:
    """Return the licence of a package in one line."""

    def lines(field: str) -> list[str]:
        return distribution.metadata.get_all(field) or []

    classified = [line for line in lines("Classifier") if line.startswith("License ::")]
    of_classes = "; ".join(line.rpartition(" :: ")[2] for line in classified)
    licence = "".join(lines("License-Expression")) or of_classes or "".join(lines("License"))
    return licence.strip().splitlines()[0][:100] if licence.strip() else "see below"


def _texts(distribution: metadata.Distribution) -> Iterator[str]:
    """Return the texts of a package's licence files."""
    for file in distribution.files or ():
        inside = any(part.endswith(".dist-info") for part in file.parts)
        path = Path(str(file.locate()))
        # A package of the system may list files that its packagers left out.
        if inside and file.name.upper().startswith(_SECTIONS) and path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace").strip() + "\n"


LABEL = "Sample key (public)"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample text.

    Attributes:
        text: Marked text of the built-in model.
        profile: Its profile.
        key: Its key. Hazard: it is public, so it proves nothing about any text but a sample.
    """

    text: str
    profile: Profile
    key: SecretKey


@cache
def sample() -> Sample:
    """Read the sample."""
    document = json.loads(resource("samples", "marked-tbcc.json").read_text(encoding="utf-8"))
    profile = Profile.from_dict(document["profile"]).with_(name="Sample profile")
    return Sample(
        text=document["texts"][0]["text"],
        profile=profile,
        key=SecretKey.from_hex(document["key_hex"]),
    )
