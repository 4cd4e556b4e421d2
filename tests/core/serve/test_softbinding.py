"""From a text to its manifest, as C2PA's Soft Binding Resolution API asks for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.core.serve.conftest import Start, Token

from pura.base.errors import ServeError
from pura.record.answers import Role
from pura.serve.softbinding import Manifests, binding

ALG = "org.example.pura.1"
HERE, THERE = "urn:c2pa:here", "urn:c2pa:there"
BASE = "/v1/softbinding"


def index(folder: Path, bits: str, **changed: Any) -> Path:
    (folder / "letter.c2pa").write_bytes(b"manifest")
    path = folder / "manifests.json"
    entries = [
        {"payload": bits, "manifest": HERE, "file": "letter.c2pa"},
        {"payload": bits, "manifest": THERE, "endpoint": "https://other.example.org/v1"},
        {"payload": "1" * len(bits), "manifest": "urn:c2pa:else", "file": "letter.c2pa"},
    ]
    entries[0] |= changed
    whole = {"schema": "pura-manifests/1", "alg": ALG, "manifests": entries}
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def test_a_value_is_the_payload_as_a_number() -> None:
    assert binding("000110100001") == "AaE="
    assert binding("1" * 9) == "Af8="


def test_a_text_leads_to_the_manifest_of_what_it_carries(
    detector: Start,
    token: Token,
    marked: list[str],
    plain: str,
    small_samples: dict[str, Any],
    tmp_path: Path,
) -> None:
    payload = small_samples["marked-tbcc"]["texts"][0]["payload"]
    client = detector(manifests=Manifests.read(index(tmp_path, payload)))
    trusted = token(Role.TRUSTED)
    plainly = trusted | {"Content-Type": "text/plain; charset=utf-8"}

    def asked(text: str, **how: Any) -> Any:
        return client.post(f"{BASE}/matches/byContent", content=text.encode(), **how)

    shown = asked(marked[0], headers=plainly).json()["matches"]
    assert [one["manifestId"] for one in shown] == [HERE, THERE]
    assert [one.get("endpoint") for one in shown] == [None, "https://other.example.org/v1"]
    assert len(asked(f"{marked[0]}", headers=plainly, params={"maxResults": 1}).json()["matches"])
    assert asked(plain, headers=plainly).json() == {"matches": []}
    other = asked(marked[0], headers=plainly, params={"alg": "com.example.other"})
    assert other.json() == {"matches": []}
    assert asked("x", headers=trusted | {"Content-Type": "image/png"}).status_code == 415
    store = client.get(f"{BASE}/manifests/{HERE}", headers=trusted)
    assert (store.content, store.headers["content-type"]) == (b"manifest", "application/c2pa")
    assert client.get(f"{BASE}/manifests/{THERE}", headers=trusted).status_code == 404


def test_a_value_leads_to_its_manifests(detector: Start, token: Token, tmp_path: Path) -> None:
    client = detector(manifests=Manifests.read(index(tmp_path, "000110100001")))
    trusted, place = token(Role.TRUSTED, per_day=18), f"{BASE}/matches/byBinding"
    named = client.get(f"{BASE}/services/supportedAlgorithms").json()
    assert named == {"watermarks": [{"alg": ALG}], "fingerprints": []}
    asked = {"alg": ALG, "value": "AaE="}
    for found in (
        client.get(place, params=asked, headers=trusted),
        client.post(place, json=asked, headers=trusted),
    ):
        assert [one["manifestId"] for one in found.json()["matches"]] == [HERE, THERE]
    assert client.get(place, params=asked | {"value": "AaI="}, headers=trusted).json() == {
        "matches": []
    }
    broken = client.get(place, params=asked | {"value": "no base64"}, headers=trusted)
    assert broken.status_code == 400
    bytes_ = trusted | {"Content-Type": "application/json"}
    assert client.post(place, content=b"$\xb2", headers=bytes_).status_code == 400
    assert client.get(place, params=asked, headers=trusted).json()["code"] == "serve-budget"


def test_the_public_is_led_nowhere(detector: Start, token: Token, tmp_path: Path) -> None:
    client = detector(manifests=Manifests.read(index(tmp_path, "0001")))
    for headers in ({}, token(Role.PUBLIC)):
        answers = (
            client.get(f"{BASE}/matches/byBinding?alg={ALG}&value=AQ==", headers=headers),
            client.post(f"{BASE}/matches/byContent", content=b"x", headers=headers),
            client.get(f"{BASE}/manifests/{HERE}", headers=headers),
        )
        assert [one.json()["code"] for one in answers] == ["serve-role"] * 3


def test_without_manifests_there_is_no_such_address(detector: Start, token: Token) -> None:
    client = detector()
    place = f"{BASE}/matches/byBinding?alg={ALG}&value=AQ=="
    assert client.get(place, headers=token(Role.TRUSTED)).status_code == 404
    assert client.get(f"{BASE}/services/supportedAlgorithms").status_code == 404


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"payload": "012"}, "manifests[0].payload"),
        ({"file": "../secret"}, "manifests[0].file"),
        ({"endpoint": "https://x.example"}, "manifests[0].file"),
        ({"manifest": ""}, "manifests[0].manifest"),
        ({"other": 1}, "manifests[0].other"),
    ],
)
def test_an_index_that_is_none_is_refused(
    tmp_path: Path, changed: dict[str, Any], where: str
) -> None:
    with pytest.raises(ServeError) as refused:
        Manifests.read(index(tmp_path, "0001", **changed))
    assert where in refused.value.words("en")[0]
