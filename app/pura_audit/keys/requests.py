"""What can be asked of a key, and which use case answers."""

from __future__ import annotations

from enum import Enum, auto

from pura.keys import Place
from pura.usecases.environment import Environment
from pura.usecases.keys import (
    CreateKey,
    DeleteKey,
    DeriveKey,
    ExportKey,
    ImportKey,
    KeyDone,
    NoteKey,
    RenameKey,
    create_key,
    delete_key,
    derive_key,
    export_key,
    import_key,
    note_key,
    rename_key,
)


class KeyAct(Enum):
    """The buttons of the dialog."""

    NEW = auto()
    IMPORT = auto()
    DERIVE = auto()
    EXPORT = auto()
    RENAME = auto()
    NOTE = auto()
    DELETE = auto()


KeyRequest = CreateKey | ImportKey | DeriveKey | ExportKey | RenameKey | NoteKey | DeleteKey


def carry_out(environment: Environment, request: KeyRequest) -> KeyDone:
    """Do what is asked."""
    match request:
        case CreateKey():
            return create_key(environment, request)
        case ImportKey():
            return import_key(environment, request)
        case DeriveKey():
            return derive_key(environment, request)
        case ExportKey():
            return export_key(environment, request)
        case RenameKey():
            return rename_key(environment, request)
        case NoteKey():
            return note_key(environment, request)
        case DeleteKey():
            return delete_key(environment, request)


def needs_files(request: KeyRequest) -> bool:
    """Whether the key is to be kept in the folder of encrypted files."""
    match request:
        case CreateKey(place=place) | ImportKey(place=place) | DeriveKey(place=place):
            return place is Place.FILES
        case _:
            return False


def name_in(request: KeyRequest) -> str:
    """Return the name of the stored key that it is about; empty for a key that is not there yet."""
    match request:
        case DeriveKey(master=name):
            return name
        case ExportKey(name=name) | RenameKey(name=name) | NoteKey(name=name):
            return name
        case DeleteKey(name=name):
            return name
        case _:
            return ""
