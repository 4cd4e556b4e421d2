"""Stored set-ups: chosen whole, checked before an audit, made of the stores of 0.4.0."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pura.base.errors import ProfileError, PuraError
from pura.base.paths import user_paths
from pura.keys import Secret
from pura.usecases.audits import stored_setup
from pura.usecases.environment import Environment
from pura.usecases.keys import create_bundle, create_key, delete_key, take_bundle
from pura.usecases.profiles import create_profile, remove_profile
from pura.usecases.setup import set_up
from pura.usecases.setups import (
    SetupFolder,
    StoredSetup,
    save_setup,
    setup_faults,
    setup_folder,
)

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / "tests/data/v0.4.0/home"


@pytest.fixture
def two(at: Environment) -> Environment:
    """Two organisations, each with a key and a profile of its own; nothing is mixed yet."""
    model = at.models.list()[0].name
    for name in ("house", "contoso"):
        set_up(at, name=name, model=model)
    return at


def fingerprint_of(at: Environment, name: str) -> str:
    """Return the fingerprint of a stored key."""
    return at.stored_key(name).fingerprint


@pytest.mark.parametrize("name", ["house", "contoso"])
def test_a_set_up_is_chosen_whole(two: Environment, name: str) -> None:
    setup = stored_setup(two, name)
    assert [key.fingerprint for key in setup.keys] == [fingerprint_of(two, name)]
    assert setup.profile == two.profiles.get(name)
    assert setup.model == two.models.list()[0].name


def test_parts_are_replaced_one_by_one(two: Environment) -> None:
    other = two.stored_key("contoso")
    with_key = stored_setup(two, "house", keys=(other,))
    assert [key.fingerprint for key in with_key.keys] == [other.fingerprint]
    assert with_key.profile == two.profiles.get("house")
    with_profile = stored_setup(two, "house", profile=two.profiles.get("contoso"))
    assert [key.fingerprint for key in with_profile.keys] == [fingerprint_of(two, "house")]
    assert with_profile.profile == two.profiles.get("contoso")
    assert stored_setup(two, "house", other_model=True).model is None


def test_several_keys_make_one_set_up(two: Environment) -> None:
    keys = tuple(fingerprint_of(two, name) for name in ("house", "contoso"))
    save_setup(two, name="both", profile="house", keys=keys)
    assert [key.fingerprint for key in stored_setup(two, "both").keys] == list(keys)


Spoil = Callable[[Environment], None]


def lose_model(at: Environment) -> None:
    """Name a model that is not installed."""
    setup = setup_folder(at).get("house")
    setup_folder(at).save(replace(setup, model="gone"), replace=True)


def damage_profile(at: Environment) -> None:
    """Write something else over the profile's file."""
    (at.paths.profiles / "house.json").write_text("{")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda at: delete_key(at, name="house"), "key-not-found"),
        (lambda at: remove_profile(at, name="house"), "profile-not-found"),
        (lose_model, "model-missing"),
        (damage_profile, "profile"),
    ],
)
def test_a_missing_part_is_reported_before_the_audit(
    two: Environment, spoil: Spoil, code: str
) -> None:
    setup = setup_folder(two).get("house")
    assert setup_faults(two, setup) == ()
    spoil(two)
    assert code in [fault.code for fault in setup_faults(two, setup_folder(two).get("house"))]
    with pytest.raises(PuraError):
        stored_setup(two, "house")


def test_parts_that_do_not_belong_together_are_refused(two: Environment) -> None:
    other = (fingerprint_of(two, "contoso"),)
    with pytest.raises(ProfileError) as refused:
        save_setup(two, name="mixed", profile="house", keys=other)
    assert refused.value.code == "key-mismatch"
    assert "mixed" not in setup_folder(two).names()
    # A file that says so all the same is reported, and audits nothing.
    mixed = replace(setup_folder(two).get("house"), name="mixed", keys=other)
    setup_folder(two).save(mixed)
    assert [fault.code for fault in setup_faults(two, mixed)] == ["key-mismatch"]
    with pytest.raises(ProfileError):
        stored_setup(two, "mixed")


def test_a_set_up_needs_a_key(two: Environment) -> None:
    with pytest.raises(PuraError) as refused:
        save_setup(two, name="bare", profile="house", keys=())
    assert refused.value.key == "setup.keyless"


def test_another_set_up_of_that_name_stays(two: Environment) -> None:
    before = setup_folder(two).get("house")
    contoso = (fingerprint_of(two, "contoso"),)
    with pytest.raises(ProfileError) as refused:
        save_setup(two, name="house", profile="contoso", keys=contoso)
    assert refused.value.key == "setup.there"
    assert setup_folder(two).get("house") == before
    save_setup(two, name="house", profile="contoso", keys=contoso, replace=True)
    assert setup_folder(two).get("house").profile == "contoso"


@pytest.mark.parametrize("name", ["a/b", "..", "", "\\x"])
def test_a_name_is_no_path(two: Environment, name: str) -> None:
    with pytest.raises(ProfileError):
        save_setup(two, name=name, profile="house", keys=(fingerprint_of(two, "house"),))
    with pytest.raises(ProfileError):
        setup_folder(two).get("../profiles/house")


def test_a_removed_set_up_leaves_its_parts(two: Environment) -> None:
    setup_folder(two).remove("house")
    assert setup_folder(two).names() == ("contoso",)
    assert two.stored_key("house").fingerprint == two.profiles.get("house").key
    with pytest.raises(ProfileError) as refused:
        setup_folder(two).remove("house")
    assert refused.value.key == "setup.none"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema": "pura-stored-setup/9"}', '{"name": "house"}']
)
def test_a_damaged_file_is_refused(two: Environment, content: str) -> None:
    (two.paths.setups / "house.json").write_text(content)
    with pytest.raises(ProfileError) as refused:
        setup_folder(two).get("house")
    assert refused.value.key == "setup.damaged"


def test_a_bundle_is_taken_in_as_a_set_up(two: Environment, tmp_path: Path) -> None:
    path, passphrase = tmp_path / "house.purateam", "a passphrase of the team"
    secret = Secret(bytearray(passphrase.encode()))
    create_bundle(two, key="house", profile="house", passphrase=secret, path=path)
    fingerprint = fingerprint_of(two, "house")
    delete_key(two, name="house")
    remove_profile(two, name="house")
    setup_folder(two).remove("house")
    for _ in range(2):  # once more changes nothing
        take_bundle(two, path=path, passphrase=Secret(bytearray(passphrase.encode())))
        setup = stored_setup(two, "house")
        assert [key.fingerprint for key in setup.keys] == [fingerprint]
        assert setup.profile == two.profiles.get("house")


def test_a_bundle_replaces_no_other_set_up(two: Environment, tmp_path: Path) -> None:
    path, passphrase = tmp_path / "house.purateam", b"a passphrase of the team"
    create_bundle(
        two, key="house", profile="house", passphrase=Secret(bytearray(passphrase)), path=path
    )
    other = (fingerprint_of(two, "contoso"),)
    save_setup(two, name="house", profile="contoso", keys=other, replace=True)
    with pytest.raises(ProfileError) as refused:
        take_bundle(two, path=path, passphrase=Secret(bytearray(passphrase)))
    assert refused.value.key == "setup.there"
    assert setup_folder(two).get("house").keys == other


@pytest.fixture
def former(tmp_path: Path) -> Environment:
    """A copy of a home that 0.4.0 wrote: see ``make_home.py`` beside it."""
    shutil.copytree(HOME, tmp_path / "home")
    return Environment(paths=user_paths(tmp_path / "home"))


def test_stores_of_0_4_0_become_set_ups(former: Environment) -> None:
    setups = setup_folder(former)
    keys = {name: setups.get(name).keys for name in setups.names()}
    named = {
        name: (former.stored_key(name).fingerprint,) for name in ("contoso", "house", "newsroom")
    }
    # Nobody can tell whose key “imported” goes with, so nobody is asked and none is guessed.
    assert keys == named | {"imported": ()}
    assert all(setups.get(name).profile == name for name in setups.names())


def test_a_set_up_without_a_known_key_says_so(former: Environment) -> None:
    with pytest.raises(PuraError) as refused:
        stored_setup(former, "imported")
    assert refused.value.key in ("setup.keyless", "command.no-model")
    keys = [fault.key for fault in setup_faults(former, setup_folder(former).get("imported"))]
    assert "setup.keyless" in keys


def test_the_upgrade_is_made_once(former: Environment) -> None:
    setup_folder(former).remove("house")
    create_key(former, name="later", session=True)
    assert setup_folder(former).names() == ("contoso", "imported", "newsroom")


def test_an_upgrade_that_was_killed_is_made_again(former: Environment) -> None:
    rest = former.paths.setups.with_name(f".{former.paths.setups.name}.1")
    rest.mkdir()
    (rest / "house.json").write_text("{")
    assert setup_folder(former).names() == ("contoso", "house", "imported", "newsroom")


def test_one_key_and_a_profile_without_one_go_together(at: Environment) -> None:
    create_key(at, name="only")
    create_profile(at, name="letters", vocab_size=49152)
    assert setup_folder(at).get("letters").keys == (at.stored_key("only").fingerprint,)


def test_a_file_of_a_set_up_is_as_documented(two: Environment) -> None:
    data = json.loads((two.paths.setups / "house.json").read_text("utf-8"))
    assert data == {
        "schema": "pura-stored-setup/1",
        "name": "house",
        "profile": "house",
        "keys": [fingerprint_of(two, "house")],
        "model": two.models.list()[0].name,
    }
    assert SetupFolder(two.paths.setups).get("house") == StoredSetup(
        name="house", profile="house", keys=tuple(data["keys"]), model=data["model"]
    )


def test_a_renamed_file_is_called_by_its_new_name(two: Environment) -> None:
    (two.paths.setups / "house.json").rename(two.paths.setups / "home.json")
    assert setup_folder(two).get("home").name == "home"
    assert stored_setup(two, "home").profile == two.profiles.get("house")
