"""Keys in safe hands: the keyring by allow-list, encrypted key files, deployment keys."""

from pura.keys.backends import MAX_ENTRY, SERVICE, Backend, State, exposures, find_backend, words
from pura.keys.entries import MAX_NAME, MAX_NOTE, KeyEntry, KeyRole, Place
from pura.keys.epochs import derive_key
from pura.keys.folder import KeyFolder
from pura.keys.sealed import (
    MIN_PASSPHRASE,
    SUFFIX,
    KeyFile,
    load_key,
    parse_key,
    passphrase_bytes,
    write_key_file,
)
from pura.keys.session import KeyRef, Secret, SessionKeys
from pura.keys.store import KeyStore

__all__ = [
    "MAX_ENTRY",
    "MAX_NAME",
    "MAX_NOTE",
    "MIN_PASSPHRASE",
    "SERVICE",
    "SUFFIX",
    "Backend",
    "KeyEntry",
    "KeyFile",
    "KeyFolder",
    "KeyRef",
    "KeyRole",
    "KeyStore",
    "Place",
    "Secret",
    "SessionKeys",
    "State",
    "derive_key",
    "exposures",
    "find_backend",
    "load_key",
    "parse_key",
    "passphrase_bytes",
    "words",
    "write_key_file",
]
