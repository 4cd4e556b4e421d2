"""What can be asked of a key, and which use case answers."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TypeAlias

from pura.keys import Place
from pura.usecases.keys import KeyDone, create_key, export_key, import_key


class KeyAct(StrEnum):
    """The buttons of the dialog."""

    NEW = "new"
    IMPORT = "import"
    DERIVE = "derive"
    EXPORT = "export"
    RENAME = "rename"
    NOTE = "note"
    DELETE = "delete"


KeyRequest: TypeAlias = partial[KeyDone]
"""A use case with what it is told; it waits while a passphrase in its way is asked for."""


def needs_files(request: KeyRequest) -> bool:
    """Whether the key is to be kept in the folder of encrypted files."""
    return request.keywords.get("place") is Place.FILES


def needs_passphrase(request: KeyRequest) -> bool:
    """Whether it is an import to which no passphrase was given yet."""
    return request.func is import_key and request.keywords.get("passphrase") is None


def comes_again(request: KeyRequest) -> bool:
    """Whether it can be tried again: the passphrase of an export is overwritten."""
    return request.func is not export_key


def name_in(request: KeyRequest) -> str:
    """Return the name of the stored key that it is about; empty for a key that is not there yet."""
    if request.func in (create_key, import_key):
        return ""
    return str(request.keywords.get("master") or request.keywords.get("name", ""))
