"""Where things live: the user's folders and the files that ship with the program.

The digest that names this build is worked out here too.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

_APP = "pura-audit"


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Folders of one user.

    Attributes:
        data: Models and other things that were fetched or made (large).
        config: Settings, profiles, policy.
        state: Logs and crash files.
    """

    data: Path
    config: Path
    state: Path

    @property
    def models(self) -> Path:
        """Installed models, one folder each."""
        return self.data / "models"

    @property
    def profiles(self) -> Path:
        """Profiles by name, one JSON file each."""
        return self.config / "profiles"

    @property
    def setups(self) -> Path:
        """Set-ups by name, one JSON file each."""
        return self.config / "setups"

    @property
    def power(self) -> Path:
        """Power tables that were measured here or taken in, one sealed file each."""
        return self.config / "power"

    @property
    def measuring(self) -> Path:
        """Measurements of power that are not finished, a folder each."""
        return self.data / "measuring"

    @property
    def register(self) -> Path:
        """The register of issued payloads (SQLite)."""
        return self.data / "register.sqlite3"

    @property
    def questions(self) -> Path:
        """The question store (SQLite), where one was begun."""
        return self.data / "questions.sqlite3"

    @property
    def caselog(self) -> Path:
        """The case log (SQLite)."""
        return self.data / "cases.sqlite3"

    @property
    def workstation(self) -> Path:
        """The random identifier of this installation, as the case log names it."""
        return self.config / "workstation"

    @property
    def worker(self) -> Path:
        """Who works here: the name that was given once, and its identifier in the case log."""
        return self.config / "worker.json"

    @property
    def deposit(self) -> Path:
        """Where heads of the case log are laid down each time it is written to."""
        return self.config / "deposit.json"

    @property
    def detector(self) -> Path:
        """What the detector that others may ask said of itself when it was last started."""
        return self.data / "detector.json"

    @property
    def unfinished(self) -> Path:
        """Sealed numbers of long texts whose audit has not ended, a file each."""
        return self.state / "unfinished"

    @property
    def policy(self) -> Path:
        """The organisation's policy file."""
        return self.config / "policy.json"

    @property
    def trust(self) -> Path:
        """The certificates whose signed manifests are trusted (PEM)."""
        return self.config / "trust.pem"


def user_paths(home: str | os.PathLike[str] | None = None) -> Paths:
    """Return the folders in use.

    Args:
        home: Put everything below this folder; defaults to ``PURA_HOME`` when that is set.
    """
    root = home if home is not None else os.environ.get("PURA_HOME")
    if root:
        base = Path(root)
        return Paths(data=base / "data", config=base / "config", state=base / "state")
    return Paths(
        data=Path(platformdirs.user_data_dir(_APP, appauthor=False)),
        config=Path(platformdirs.user_config_dir(_APP, appauthor=False)),
        state=Path(platformdirs.user_state_dir(_APP, appauthor=False)),
    )


_PACKAGE = Path(__file__).resolve().parents[1]
_TREE = _PACKAGE.parent.parent
# A wheel and a frozen build carry one folder inside the package; in a checkout the files stand in
# resources/, and the test vectors and sample texts, which ship too, in tests/data/.
_PLACES = (_PACKAGE / "_resources", _TREE / "resources", _TREE / "tests" / "data")


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder.

    Args:
        *parts: Path below ``resources/``, one part each.

    Raises:
        FileNotFoundError: The file is not part of this installation.
    """
    # The pages of the user guide stand in docs/ of a checkout, like tests/data/ not in resources/.
    places = (*_PLACES, _TREE) if parts[:1] == ("docs",) else _PLACES
    for place in places:
        path = place.joinpath(*parts)
        if path.exists():
            return path
    raise FileNotFoundError("/".join(("resources", *parts)))


@cache
def build_hash() -> str:
    """Return the SHA-256 over the program's code, 64 hex digits.

    Of a package it is that of the executable, which holds the code; else that of the library's
    source files with their names, in order.
    """
    if getattr(sys, "frozen", False):
        return hashlib.sha256(Path(sys.executable).read_bytes()).hexdigest()
    root = Path(__file__).resolve().parents[1]
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        whole.update(path.relative_to(root).as_posix().encode() + b"\0")
        # The same build, whatever a checkout makes of the ends of lines.
        code = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(hashlib.sha256(code).digest())
    return whole.hexdigest()
