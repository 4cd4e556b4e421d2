"""Key, model and profile that are made together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import KeyStoreError, ProfileError
from pura.keys import Secret
from pura.keys.sealed import SUFFIX
from pura.scheme.fields import Field
from pura.usecases import setup
from pura.usecases.environment import Environment
from pura.usecases.keys import create_key, delete_key, export_key
from pura.usecases.setup import TEMPLATES, set_up


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_set_up_is_a_key_and_a_profile_that_names_it_and_the_model(
    at: Environment, template: str
) -> None:
    fields = [Field(name=name, bits=bits, kind=kind) for name, bits, kind in TEMPLATES[template]]
    done = set_up(at, name="Our assistant", fields=fields, model=at.models.list()[0].name)
    [key] = at.keys.list()
    stored = at.profiles.get("Our assistant")
    assert (key.name, stored.key) == ("Our assistant", key.fingerprint)
    assert stored == done.profile
    assert stored.model == at.models.list()[0].fingerprint
    assert [field.name for field in stored.fields] == [name for name, *_ in TEMPLATES[template]]
    assert stored.payload_bits == (sum(field.bits for field in fields) or 36)
    with pytest.raises(ProfileError):
        set_up(at, name="Our assistant", model=at.models.list()[0].name)
    assert len(at.keys.list()) == 1


def test_a_key_that_is_here_or_in_a_file_is_used(at: Environment, tmp_path: Path) -> None:
    model = at.models.list()[0].name
    here = create_key(at, name="Newsroom")
    assert set_up(at, name="One", model=model, key=here.key).profile.key == here.key.fingerprint
    file = tmp_path / f"theirs{SUFFIX}"
    words = Secret(bytearray(b"four words in a row"))
    export_key(at, name="Newsroom", passphrase=Secret(words.copy()), path=file)
    with pytest.raises(KeyStoreError):  # it is here already, under another name
        set_up(at, name="Two", model=model, key=file, passphrase=Secret(words.copy()))
    delete_key(at, name="Newsroom")
    two = set_up(at, name="Two", model=model, key=file, passphrase=words)
    assert two.profile.key == here.key.fingerprint
    assert at.profiles.names() == ("One", "Two")


def test_nothing_is_left_of_a_set_up_whose_profile_cannot_be_made(
    at: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[Any] = []

    def install(environment: Environment, **_: Any) -> Any:
        installed.append(environment)
        return environment.models.list()[0]

    monkeypatch.setattr(setup, "install_model", install)
    with pytest.raises(ProfileError):
        set_up(at, name="Ours", bits=3)
    assert installed == [at]
    assert not at.keys.list()
    assert set_up(at, name="Ours").name == "Ours"
