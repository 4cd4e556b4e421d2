"""Keys in safe hands: the keyring by allow-list, encrypted key files, deployment keys."""

from pura.audit.keys.backends import MAX_ENTRY, SERVICE, Backend, find_backend
from pura.audit.keys.derive import derive_key
from pura.audit.keys.entries import MAX_NAME, MAX_NOTE, KeyEntry, Place, Role
from pura.audit.keys.faults import State, words
from pura.audit.keys.folder import KeyFolder
from pura.audit.keys.keyfile import KeyFile, load_key, parse_key, write_key_file
from pura.audit.keys.sealed import MIN_PASSPHRASE, SUFFIX, passphrase_bytes
from pura.audit.keys.store import KeyStore, Standing
from pura.audit.keys.usage import Usage, find_usage, sentences

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
    "KeyStore",
    "Place",
    "Role",
    "Standing",
    "State",
    "Usage",
    "derive_key",
    "find_backend",
    "find_usage",
    "load_key",
    "parse_key",
    "passphrase_bytes",
    "sentences",
    "words",
    "write_key_file",
]
