"""Profiles: stored, migrated, and compared with model and key before a run."""

import json
from pathlib import Path

import pytest

from pura.base.catalogue import catalogue
from pura.base.errors import ProfileError
from pura.detect.fitness import mismatches
from pura.scheme import Profile
from pura.scheme.profile import NOTES, VERSION, ProfileFolder, clean_name, migrate


def profile(**changes: object) -> Profile:
    values = {"payload_bits": 36, "code": "tbcc", "vocab_size": 100, "tokenizer": "a" * 16}
    return Profile.from_dict({"scheme": "pura1"} | values | changes)


@pytest.fixture
def folder(tmp_path: Path) -> ProfileFolder:
    return ProfileFolder(tmp_path / "profiles")


def test_what_is_stored_comes_back(folder, tmp_path):
    assert folder.names() == ()
    one = profile(name="Newsroom 2026", note="Für alle")
    assert folder.save("Newsroom 2026", one) == "Newsroom 2026"
    assert folder.get("Newsroom 2026") == one
    with pytest.raises(ProfileError, match="already"):
        folder.save("Newsroom 2026", one)
    other = one.with_(payload_bits=40)
    folder.save("Newsroom 2026", other, replace=True)
    assert folder.get("Newsroom 2026") == other
    folder.hand_out("Newsroom 2026", tmp_path / "out.json")
    assert ProfileFolder(tmp_path / "else").take_in(tmp_path / "out.json") == (
        "Newsroom 2026",
        (),
    )
    folder.remove("Newsroom 2026")
    assert folder.names() == ()


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "none"])
def test_no_name_leads_out_of_the_folder(folder, name):
    (folder.folder.parent / "x.json").write_text(profile().to_json())
    folder.save("there", profile())
    for act in (folder.get, folder.remove):
        with pytest.raises(ProfileError, match="or stored profile"):
            act(name)
    assert "/" not in clean_name(name + "z")
    with pytest.raises(ProfileError, match="A name is needed"):
        clean_name(" /// ")


def test_the_file_says_its_version_and_the_fingerprint_does_not(folder):
    one = profile()
    data = json.loads(one.to_json())
    assert data["version"] == 2
    old = {name: value for name, value in data.items() if name != "version"}
    assert Profile.from_dict(old) == Profile.from_dict(data) == one
    assert Profile.from_dict(old).fingerprint == one.fingerprint
    assert "version" not in one.to_dict()
    folder.folder.mkdir()
    (folder.folder / "old.json").write_text(json.dumps(old))
    folder.save("old", folder.get("old"), replace=True)
    assert json.loads((folder.folder / "old.json").read_text())["version"] == 2


def test_a_file_of_the_first_version_is_read_with_a_note():
    data, notes = migrate({"scheme": "pura1", "payload_bits": 36, "vocab_size": 9, "blocks": 4})
    assert notes == ("version-1",)
    assert set(notes) <= set(NOTES)
    assert "version 1" in catalogue("command")[f"note.{notes[0]}"].texts["en"]
    assert Profile.from_dict(data).code == "spc"  # the default then and now
    assert migrate(json.loads(profile().to_json()))[1] == ()


@pytest.mark.parametrize("version", [VERSION + 1, 1 << 70])
def test_a_newer_file_is_refused_with_the_way_out(version):
    data = json.loads(profile().to_json()) | {"version": version, "unheard": 1}
    with pytest.raises(ProfileError, match="newer program") as caught:
        Profile.from_dict(data)
    assert caught.value.code == "profile-newer"
    assert "Update" in caught.value.hint


@pytest.mark.parametrize("version", ["2", 0, -1, True, 2.0, None])
def test_a_version_that_is_none_is_refused(version):
    with pytest.raises(ProfileError, match="version"):
        Profile.from_dict(json.loads(profile().to_json()) | {"version": version})


def test_mismatches_are_found_without_loading_anything():
    facts = {"model": "m", "vocab_size": 100, "tokenizer": "a" * 16, "keys": ["b" * 16]}
    assert mismatches(profile(), **facts) == ()
    assert mismatches(profile(key="b" * 16), **facts) == ()
    assert mismatches(profile(key="c" * 16), **facts | {"keys": []}) == ()
    assert [e.code for e in mismatches(profile(vocab_size=99, key="c" * 16), **facts)] == [
        "tokenizer-mismatch",
        "key-mismatch",
    ]
    (found,) = mismatches(profile(tokenizer="c" * 16), **facts)
    assert "“m”" in found.message
    assert found.hint
