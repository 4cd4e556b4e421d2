"""Where things live: the one place that knows folders.

``PURA_HOME`` (or ``--config-dir``) moves everything below one folder, which is what tests and
portable installations use. Otherwise the platform's own folders are used.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
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
    def policy(self) -> Path:
        """The organisation's policy file."""
        return self.config / "policy.json"


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
