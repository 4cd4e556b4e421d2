"""Storage of keys: the system's keyring, encrypted key files, and derived keys."""

from pura.keys.backends import SERVICE as SERVICE
from pura.keys.backends import State as State
from pura.keys.backends import exposures as exposures
from pura.keys.backends import words as words
from pura.keys.entries import MAX_NAME as MAX_NAME
from pura.keys.entries import MAX_NOTE as MAX_NOTE
from pura.keys.entries import KeyEntry as KeyEntry
from pura.keys.entries import KeyRole as KeyRole
from pura.keys.entries import Place as Place
from pura.keys.folder import KeyFolder as KeyFolder
from pura.keys.sealed import MIN_PASSPHRASE as MIN_PASSPHRASE
from pura.keys.sealed import SUFFIX as SUFFIX
from pura.keys.sealed import KeyFile as KeyFile
from pura.keys.sealed import load_key as load_key
from pura.keys.sealed import parse_key as parse_key
from pura.keys.sealed import passphrase_bytes as passphrase_bytes
from pura.keys.sealed import write_key_file as write_key_file
from pura.keys.session import KeyRef as KeyRef
from pura.keys.session import Secret as Secret
from pura.keys.session import SessionKeys as SessionKeys
from pura.keys.store import KeyStore as KeyStore
