"""Keys that stand in this project: the list of them is the tree's, and none can be stored."""

import importlib.util
import json
from pathlib import Path

import pytest

from pura.base.errors import KeyStoreError
from pura.base.paths import resource, user_paths
from pura.keys import KeyFile, KeyRole, Place, Secret, write_key_file
from pura.keys.epochs import derive_key as derived
from pura.scheme import SecretKey
from pura.scheme.keys import fingerprint_of
from pura.scheme.public_keys import is_public, pattern_secrets, public_keys
from pura.usecases.environment import Environment
from pura.usecases.keys import create_bundle, derive_key, import_key, open_key_file, take_bundle
from pura.usecases.setup import set_up

ROOT = Path(__file__).resolve().parents[1]
WORDS = b"four words in a row"
SAMPLE = json.loads((ROOT / "tests/data/samples/marked-tbcc.json").read_text())["key_hex"]
CUSTODY = json.loads((ROOT / "tests/data/custody.json").read_text())
PUBLISHED = {
    "sample": SAMPLE,
    "documentation": "46d4d024e9dd57dfd9816951efa14e05b61c6cd475fa4e6e9eaa659599e48923",
    "vector": json.loads((ROOT / "tests/data/vectors/embed-1.json").read_text())["key_hex"],
    "counting": bytes(range(32)).hex(),
    "zeros": "00" * 32,
    "small-number": (7).to_bytes(32, "big").hex(),
    "bench": bytes(range(7, 39)).hex(),
}


def collector():
    """Load the script that makes the list; it is no module of a package."""
    path = ROOT / "packaging" / "setup" / "public_keys.py"
    spec = importlib.util.spec_from_file_location("public_keys_script", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def secret(text: str) -> Secret:
    return Secret(bytearray(text.encode()))


@pytest.fixture
def at(tmp_path) -> Environment:
    return Environment(paths=user_paths(tmp_path / "home"), ask_folder=lambda new: bytearray(WORDS))


def test_the_list_holds_the_keys_of_the_tree_and_no_others():
    listed = json.loads(resource("public-keys.json").read_text(encoding="utf-8"))["keys"]
    assert listed == collector().collected()


def test_keys_that_code_makes_of_constants_are_found():
    source = (
        "a = SecretKey(bytes(range(3, 35)))\n"
        "b = pura.SecretKey.from_hex('5a' * 32)\n"
        "c = SecretKey(b'\\x07' * 32)\n"
        "d = SecretKey(rng.bytes(32))\n"
        "e = SecretKey(bytes([9] * 32))\n"
    )
    found = list(collector().keys_of_code(source))
    assert found == [bytes(range(3, 35)), b"Z" * 32, b"\x07" * 32, b"\x09" * 32]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_key_is_public(name):
    assert is_public(fingerprint_of(bytes.fromhex(PUBLISHED[name])))


def test_a_drawn_key_is_not_public():
    assert not any(is_public(SecretKey.generate().fingerprint) for _ in range(64))


def test_fingerprints_of_patterns_are_those_of_keys():
    for pattern in list(pattern_secrets())[:8]:
        assert SecretKey(pattern).fingerprint in public_keys()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_public_key_is_not_imported(at, name):
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-public"):
        import_key(at, source=secret(PUBLISHED[name]), name="House", place=Place.FILES)
    assert at.keys.list() == ()


def test_a_public_key_is_not_imported_from_an_encrypted_file(at, tmp_path):
    path = tmp_path / "sample.purakey"
    path.write_bytes(
        write_key_file(KeyFile(key=SecretKey.from_hex(SAMPLE), name="House"), bytearray(WORDS))
    )
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-public"):
        import_key(at, source=path, passphrase=Secret(bytearray(WORDS)), place=Place.FILES)
    assert at.keys.list() == ()


def test_what_was_derived_from_a_public_key_is_not_imported(at, tmp_path):
    root = SecretKey.from_hex(SAMPLE)
    child = KeyFile(
        key=derived(root, "press"),
        name="Press",
        role=KeyRole.DERIVED,
        master=root.fingerprint,
        deployment="press",
    )
    path = tmp_path / "press.purakey"
    path.write_bytes(write_key_file(child, bytearray(WORDS)))
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-public"):
        import_key(at, source=path, passphrase=Secret(bytearray(WORDS)), place=Place.FILES)


def test_nothing_is_derived_from_a_public_key_of_an_earlier_store(at):
    at.keys.add("House", SecretKey.from_hex(SAMPLE), place=Place.FILES)
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-public"):
        derive_key(at, master="House", label="press", place=Place.FILES)
    assert [entry.name for entry in at.keys.list()] == ["House"]


def test_a_bundle_does_not_bring_a_public_key(at, tmp_path):
    from pura.scheme import Profile

    at.keys.add("House", SecretKey.from_hex(SAMPLE), place=Place.FILES)
    at.profiles.save("house", Profile(payload_bits=36, vocab_size=1000, code="tbcc"))
    path = tmp_path / "house.purateam"
    words = Secret(bytearray(WORDS))
    create_bundle(at, key="House", profile="house", passphrase=words, path=path)
    other = Environment(
        paths=user_paths(tmp_path / "other"), ask_folder=lambda new: bytearray(WORDS)
    )
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-public"):
        take_bundle(other, path=path, passphrase=Secret(bytearray(WORDS)), place=Place.FILES)
    assert other.keys.list() == ()
    assert list(other.profiles.names()) == []


def test_a_set_up_is_not_made_of_a_public_key(at, tmp_path):
    path = tmp_path / "key.hex"
    path.write_text(SAMPLE)
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-public"):
        set_up(at, name="House", key=path, model="absent")
    assert at.keys.list() == ()


def test_a_public_key_can_be_tried_for_one_run(at, tmp_path):
    path = tmp_path / "key.hex"
    path.write_text(SAMPLE)
    ref = open_key_file(at, path)
    assert is_public(ref.fingerprint)
    assert at.keys.list() == ()
