"""The stored profiles: one JSON file each in the user's folder, whole or not there at all."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pura.base.errors import ProfileError
from pura.base.files import file_lock, write_atomic
from pura.scheme import Profile

_PATIENCE: Final = 10.0
_NAME: Final = re.compile(r"[^\W_][\w .()+-]{0,79}")


class ProfileFolder:
    """The profiles of one folder.

    Args:
        folder: Usually ``user_paths().profiles``; made when the first one is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, sound or not."""
        found = self.folder.glob("*.json") if self.folder.is_dir() else ()
        return tuple(sorted(path.stem for path in found if not path.name.startswith(".")))

    def get(self, name: str) -> Profile:
        """Return a stored profile.

        Raises:
            ProfileError: There is none of that name, or it is damaged.
        """
        return Profile.load(self._there(name))

    def save(self, name: str, profile: Profile, *, replace: bool = False) -> str:
        """Store a profile; returns the name that its file got.

        Args:
            name: For people; what cannot stand in a file's name becomes a dash.
            profile: The profile.
            replace: Whether one of that name may be replaced.

        Raises:
            ProfileError: The name is taken or empty, or the folder cannot be written.
        """
        stem = clean_name(name)
        path = self.folder / f"{stem}.json"
        try:
            # Between the look and the writing no other program may store one of that name.
            lock = file_lock(self.folder / ".lock", _PATIENCE)
            lock.acquire()
        except OSError as error:
            raise _unwritable(path, error) from None
        try:
            if path.exists() and not replace:
                raise ProfileError("file.there", name=stem, code="file-exists")
            _write(path, profile)
        finally:
            lock.release()
        return stem

    def remove(self, name: str) -> None:
        """Delete a stored profile.

        Raises:
            ProfileError: There is none of that name, or it cannot be deleted.
        """
        path = self._there(name)
        try:
            path.unlink()
        except OSError:
            raise ProfileError("file.delete", name=name) from None

    def take_in(self, path: Path, name: str | None = None) -> tuple[str, tuple[str, ...]]:
        """Import a profile file in any version that can be read.

        Returns:
            Its name here, and what was done to read it, as :meth:`Profile.load_noted` tells.

        Raises:
            ProfileError: Not a profile, or the name is taken.
        """
        profile, notes = Profile.load_noted(path)
        return self.save(name or profile.name or path.stem, profile), notes

    def hand_out(self, name: str, path: Path) -> None:
        """Export a profile to a file, in the present version.

        Raises:
            ProfileError: There is none of that name, it is damaged, or the file cannot be written.
        """
        _write(path, self.get(name))

    def _there(self, name: str) -> Path:
        path = self.folder / f"{name}.json"
        if not _NAME.fullmatch(name) or not path.is_file():
            raise ProfileError("command.profile", name=name, code="profile-not-found")
        return path


def clean_name(name: str) -> str:
    """Return a name that can be a file's.

    Raises:
        ProfileError: Nothing is left of it.
    """
    stem = re.sub(r"[^\w .()+-]+", "-", name.strip())[:80].strip(" .-_")
    if not _NAME.fullmatch(stem):
        raise ProfileError("name.none")
    return stem


def refuse_path(name: str | None) -> None:
    """Refuse a path that somebody typed for a name, rather than make another name of it.

    Raises:
        ProfileError: It holds a slash.
    """
    if name is not None and ("/" in name or "\\" in name):
        raise ProfileError("name.path", name=name)


def _write(path: Path, profile: Profile) -> None:
    try:
        write_atomic(path, profile.to_json().encode())
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> ProfileError:
    return ProfileError("file.write", name=path.name, why=error.errno or 0)
