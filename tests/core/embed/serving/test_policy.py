"""The files of gateway and engine: what they state, and who else could change or read them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.core.embed.serving.small_engine import KEY, PROFILE, private, write_policy

from pura.base.errors import GenerationError, PuraError
from pura.embed.serving.deployments import (
    SERVING_VARIABLE,
    ServingConfig,
    serving_config,
)
from pura.embed.serving.policy import (
    GATEWAY_VARIABLE,
    LEAST_TOKENS,
    Customer,
    Policy,
    stated_policy,
)
from pura.keys.epochs import epoch_key
from pura.scheme import Profile
from pura.scheme.fields import parse_layout

LAYOUT = [
    {"name": "customer", "bits": 10, "kind": "integer"},
    {"name": "number", "bits": 26, "kind": "integer"},
]
FIELDS = Profile(payload_bits=36, vocab_size=300, code="tbcc", fields=parse_layout(LAYOUT, 36))
posix = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")


def write_serving(folder: Path, **changes: Any) -> Path:
    private(folder / "house.json", PROFILE.to_json())
    private(folder / "house.key", KEY.to_hex())
    stated = {"deployments": {"house": {"profile": "house.json", "key": "house.key"}}, **changes}
    return private(folder / "serving.json", json.dumps(stated))


# --- the gateway's policy -----------------------------------------------------------------------


def test_what_a_policy_states(tmp_path: Path) -> None:
    policy = Policy.load(write_policy(tmp_path, tickets="tickets", required=False))
    assert (policy.deployment, policy.profile, policy.engine.name) == (
        "house",
        PROFILE,
        "llama.cpp",
    )
    assert policy.models == ("council-7b",)
    assert policy.payload == {"bits": "@number"}
    assert policy.customers == {"north": Customer(who="north"), "south": Customer(who="customer 9")}
    assert (policy.log, policy.tickets) == (tmp_path / "issued", tmp_path / "tickets")
    assert (policy.required, policy.least_tokens, policy.signing) == (False, LEAST_TOKENS, None)
    assert "secret" not in repr(policy.proxy).replace("secret_file", "")


def test_fields_of_a_payload_are_numbered_by_customer(tmp_path: Path) -> None:
    private(tmp_path / "fields.json", FIELDS.to_json())
    policy = Policy.load(
        write_policy(
            tmp_path,
            profile="fields.json",
            payload={"customer": "@customer", "number": "@number"},
            customers={"north": 417, "south": {"who": "s", "number": 9}},
        )
    )
    assert policy.customers == {
        "north": Customer(who="north", number=417),
        "south": Customer(who="s", number=9),
    }


def test_the_model_is_called_like_the_deployment_where_nothing_else_is_said(tmp_path: Path) -> None:
    assert Policy.load(write_policy(tmp_path, models=None)).models == ("house",)


WRONG: dict[str, dict[str, Any]] = {
    "no proxy": {"proxy": None},
    "no customers": {"customers": None},
    "no log": {"log": None},
    "an unknown engine": {"engine": "none"},
    "an entry too many": {"forward": "*"},
    "a payload of other fields": {"payload": {"customer": 1}},
    "a payload without fields": {"payload": {}},
    "a customer without the number": {"payload": {"bits": "@customer"}},
    "a customer of words": {"customers": {"north": "x"}},
    "a customer of truth": {"customers": {"north": True}},
    "a proxy of no address": {"proxy": {"addresses": []}},
    "a proxy of a wrong address": {"proxy": {"addresses": ["everywhere"]}},
    "a short secret": {"proxy": {"addresses": ["unix"], "secret_file": "short"}},
    "a secret that is missing": {"proxy": {"addresses": ["unix"], "secret_file": "missing"}},
    "fewer tokens than none": {"least_tokens": -1},
    "a manifest of nothing": {"manifest": {"certificate": 5}},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_a_file_that_is_not_a_policy(tmp_path: Path, changes: dict[str, Any]) -> None:
    private(tmp_path / "short", "0123456789")
    with pytest.raises(PuraError):
        Policy.load(write_policy(tmp_path, **changes))


def test_a_policy_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    path = write_policy(tmp_path)
    path.write_text(path.read_text().replace("{", '{"required": false, "required": true, ', 1))
    with pytest.raises(GenerationError, match="required"):
        Policy.load(path)


def test_the_policy_is_found_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated_policy.cache_clear()
    monkeypatch.delenv(GATEWAY_VARIABLE, raising=False)
    with pytest.raises(GenerationError) as caught:
        stated_policy()
    assert caught.value.key == "gateway.variable"
    monkeypatch.setenv(GATEWAY_VARIABLE, str(write_policy(tmp_path)))
    assert stated_policy().deployment == "house"
    stated_policy.cache_clear()


# --- the engine's deployments -------------------------------------------------------------------


def test_what_a_file_of_deployments_states(tmp_path: Path) -> None:
    config = ServingConfig.load(write_serving(tmp_path, tickets="tickets"))
    assert (config.required, config.tickets) == (True, tmp_path / "tickets")
    deployments = config.deployments()
    (series,) = deployments.series().values()
    assert (series.key, series.epoch) == (KEY.fingerprint, "")
    assert series.profile == PROFILE.fingerprint
    assert KEY.to_hex() not in repr(deployments)


WEEKLY = PROFILE.with_(key_epochs="week")


@pytest.mark.parametrize("named_by", ["deployment", "profile"])
def test_the_key_of_a_week_is_named_by_its_parent(tmp_path: Path, named_by: str) -> None:
    week = {"profile": "house.json", "key": "house.key", "epoch": "2026-W48"}
    if named_by == "deployment":
        week["parent"] = KEY.fingerprint
    path = write_serving(tmp_path, deployments={"house": week})
    profile = WEEKLY if named_by == "deployment" else WEEKLY.with_(key=KEY.fingerprint)
    private(tmp_path / "house.json", profile.to_json())
    private(tmp_path / "house.key", epoch_key(KEY, "2026-W48").to_hex())
    (series,) = ServingConfig.load(path).deployments().series().values()
    assert (series.key, series.epoch) == (KEY.fingerprint, "2026-W48")


@pytest.mark.parametrize(
    ("profile", "stated"),
    [
        (WEEKLY, {"epoch": "2026-W48"}),
        (WEEKLY, {"parent": "0" * 16}),
        (WEEKLY, {"parent": "0" * 16, "epoch": "2026-11-28"}),
        (PROFILE, {"epoch": "2026-W48"}),
        (PROFILE, {"parent": "0" * 16}),
        (PROFILE, {"parent": "north"}),
    ],
)
def test_an_epoch_goes_with_its_profile(
    tmp_path: Path, profile: Profile, stated: dict[str, str]
) -> None:
    path = write_serving(
        tmp_path, deployments={"house": {"profile": "house.json", "key": "house.key", **stated}}
    )
    private(tmp_path / "house.json", profile.to_json())
    with pytest.raises(GenerationError):
        ServingConfig.load(path).deployments()


@pytest.mark.parametrize(
    "changes",
    [
        {"deployments": {}},
        {"deployments": []},
        {"deployments": {"house": {"profile": "house.json"}}},
        {"deployments": {"house": {"profile": "house.json", "key": "missing"}}},
        {"deployments": {"house": {"profile": "house.key", "key": "house.key"}}},
        {"required": "yes"},
        {"more": 1},
    ],
)
def test_a_file_that_lists_no_deployments(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(PuraError):
        ServingConfig.load(write_serving(tmp_path, **changes)).deployments()


def test_the_deployments_are_found_by_their_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving_config.cache_clear()
    monkeypatch.delenv(SERVING_VARIABLE, raising=False)
    with pytest.raises(GenerationError) as caught:
        serving_config()
    assert caught.value.key == "serving.variable"
    monkeypatch.setenv(SERVING_VARIABLE, str(write_serving(tmp_path)))
    assert list(serving_config().files) == ["house"]
    serving_config.cache_clear()


# --- who else could change or read them ---------------------------------------------------------


def load_gateway(folder: Path) -> None:
    Policy.load(folder / "gateway.json")


def load_engine(folder: Path) -> None:
    ServingConfig.load(folder / "serving.json").deployments()


READERS: list[tuple[Callable[[Path], None], str, bool]] = [
    (load_gateway, "gateway.json", False),
    (load_gateway, "house.json", False),
    (load_gateway, "proxy.secret", True),
    (load_engine, "serving.json", False),
    (load_engine, "house.json", False),
    (load_engine, "house.key", True),
]


@posix
@pytest.mark.parametrize("mode", [0o666, 0o606, 0o660, 0o622, 0o604], ids=oct)
@pytest.mark.parametrize(
    ("load", "name", "secret"), READERS, ids=[f"{f.__name__} {name}" for f, name, _ in READERS]
)
def test_a_file_that_others_could_change_or_a_secret_that_they_could_read(
    tmp_path: Path, load: Callable[[Path], None], name: str, mode: int, *, secret: bool
) -> None:
    write_policy(tmp_path)
    write_serving(tmp_path)
    (tmp_path / name).chmod(mode)
    if mode & 0o022 or (secret and mode & 0o004):
        with pytest.raises(GenerationError) as caught:
            load(tmp_path)
        assert caught.value.key == "serving.exposed"
        assert name in str(caught.value)
        assert "chmod 600" in str(caught.value)
    else:
        load(tmp_path)


@posix
def test_a_folder_in_which_others_could_replace_files(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    write_policy(folder)
    write_serving(folder)
    for load in (load_gateway, load_engine):
        with pytest.raises(GenerationError) as caught:
            load(folder)
        assert caught.value.key == "serving.exposed"
    folder.chmod(0o1777)  # as /tmp: only the owner of a file can replace it
    load_gateway(folder)
    load_engine(folder)


@posix
def test_a_secret_that_its_group_can_read_is_used_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As Kubernetes mounts secrets."""
    path = write_serving(tmp_path)
    (tmp_path / "house.key").chmod(0o640)
    with caplog.at_level("WARNING"):
        ServingConfig.load(path).deployments()
    assert "group" in caplog.text
