"""Writes the folder ``home`` with the program of version 0.4.0; it was run once, with that.

``PYTHONPATH=core:app python make_home.py FOLDER`` in a checkout of 0.4.0. Two organisations marked
with a key of their own each; two profiles name no key, and one is a mark of another program. The
window was left with a mixture: the profile of one and the key of the other.
"""

import sys
from pathlib import Path

from pura.base.paths import user_paths
from pura.keys import Place, Secret
from pura.usecases.environment import Environment
from pura.usecases.keys import create_key, unlock_files
from pura.usecases.profiles import create_profile
from pura_audit.platform.settings import SettingsFile

paths = user_paths(sys.argv[1])
environment = Environment(paths=paths)
unlock_files(environment, passphrase=Secret(bytearray(b"passphrase of the test home")))
keys = {
    name: create_key(environment, name=name, place=Place.FILES).key.fingerprint
    for name in ("house", "contoso", "newsroom")
}
for name in ("house", "contoso"):
    create_profile(environment, name=name, vocab_size=49152, key=keys[name])
# These name no key: the one is called like its key, the other could belong to any.
create_profile(environment, name="newsroom", vocab_size=49152, bits=24)
create_profile(environment, name="imported", vocab_size=49152, bits=40)
(Path(paths.profiles) / "damaged.json").write_text("{")
SettingsFile(paths.config).update(profile="house", key=keys["contoso"])
