"""Versions of the profile file: older ones are read, newer ones refused in words.

Version 1 had no number and could leave out whatever had its default. Version 2 says its number,
and spells every setting out. Version 3 may hold what stands before the text at the generator,
version 4 that keys are those of a day, a week or a month, version 5 may be of a mark by others,
version 6 may have limits of its fields; a profile without that is still written as an earlier
version, which earlier programs read. The number belongs to the file and not to the profile: all
versions of one profile have the same fingerprint.
"""

from __future__ import annotations

from typing import Any, Final

from pura.base.catalogue import phrase
from pura.base.errors import ProfileError, unusable

VERSION: Final = 6
FIELD: Final = "version"
_SINCE: Final = {"chat_template": 3, "system_prompt": 3, "key_epochs": 4, "foreign": 5}
_LIMITS_SINCE: Final = 6
NOTES: Final = ("version-1",)
"""What may have been done to a file, by key; window and command line say it in their words."""


def migrate(data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a profile file's entries in the present form, and what was done: keys of NOTES.

    Raises:
        ProfileError: Written by a newer program, or with a number that is none.
    """
    if FIELD not in data:
        return dict(data), ("version-1",)
    version = data[FIELD]
    if type(version) is not int or version < 1:
        raise unusable(ProfileError, "profile", phrase("what.unfit"), FIELD)
    if version > VERSION:
        raise ProfileError("profile.newer", version=version, known=VERSION, code="profile-newer")
    return {name: value for name, value in data.items() if name != FIELD}, ()


def least_version(data: dict[str, Any]) -> int:
    """Return the version as which a profile's entries are written: the least that holds them."""
    if any("limits" in field for field in data.get("fields", ())):
        return _LIMITS_SINCE
    return max((since for name, since in _SINCE.items() if name in data), default=2)
