"""From a text to its manifest, as C2PA's Soft Binding Resolution API asks for it."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.core.manifest_stores import FIRST, SECOND, manifest, store, superbox
from tests.core.provenance.test_writing import GOOD, IDENTITY, verdict
from tests.core.serve.conftest import OTHER_PROFILE, Make, Start, Token, ask

from pura.base.errors import ServeError
from pura.base.identity import Identity
from pura.provenance.binding import (
    binding_value,
    bits_apart,
    former_binding_value,
    text_fingerprint,
)
from pura.provenance.writing import DETACHED, FORMS, assertions, sign_manifest, sign_text
from pura.record.answers import Role
from pura.scheme import Profile
from pura.serve.manifests import Manifests

ALG = "org.example.pura.1"
ROOT = Path(__file__).resolve().parents[3]
HERE, THERE = "urn:c2pa:here", "urn:c2pa:there"
BASE, FORMER = "/v1", "/v1/softbinding"
PLAIN = {"Content-Type": "text/plain; charset=utf-8"}
STORE = {"Content-Type": "application/c2pa"}


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


@pytest.fixture
def payload(small_samples: dict[str, Any]) -> str:
    return str(small_samples["marked-tbcc"]["texts"][0]["payload"])


@pytest.fixture
def profile(small_samples: dict[str, Any]) -> str:
    return Profile.from_dict(small_samples["marked-tbcc"]["profile"]).fingerprint


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["manifestId"] for one in answer.json()["matches"]]


def published(client: Any, who: dict[str, str], store: bytes, *values: str) -> str:
    """Publish a manifest and what leads to it."""
    made = client.post(f"{BASE}/manifests", content=store, headers=who | STORE)
    assert made.status_code == 200, made.text
    name = str(made.json()["manifestId"])
    for value in values:
        told = {"bindingValue": value, "manifestId": name}
        assert client.post(f"{BASE}/bindings", json=told, headers=who).status_code == 204
    return name


def signed_store(text: str, identity: Identity, manifest: str) -> bytes:
    """Return a signed manifest store for a text, with an identifier that its signer chose."""
    stated = assertions(text, "1" * 36, OTHER_PROFILE, ALG, now=datetime.now(UTC))
    return sign_text(text, identity, stated, form=DETACHED, manifest=manifest).store


def by_content(client: Any, text: str, headers: dict[str, str], **asked: Any) -> Any:
    return client.post(
        f"{BASE}/matches/byContent", content=text.encode(), headers=headers | PLAIN, params=asked
    )


def test_a_text_leads_to_the_manifest_of_what_it_carries(
    detector: Start, token: Token, marked: list[str], plain: str, payload: str, tmp_path: Path
) -> None:
    client = detector(manifests=Manifests.read(index(tmp_path, payload)))
    trusted = token(Role.TRUSTED)
    shown = by_content(client, marked[0], trusted)
    assert ids(shown) == [HERE, THERE]
    assert shown.json()["matches"] == [
        {"manifestId": HERE},
        {"manifestId": THERE, "endpoint": "https://other.example.org/v1"},
    ]
    assert ids(by_content(client, marked[0], trusted, maxResults=1)) == [HERE]
    assert ids(by_content(client, plain, trusted)) == []
    assert ids(by_content(client, marked[0], trusted, alg="com.example.other")) == []
    image = trusted | {"Content-Type": "image/png"}
    place = f"{BASE}/matches/byContent"
    assert client.post(place, content=b"x", headers=image).status_code == 415
    for base in (BASE, FORMER):  # where 0.3 had it
        found = client.get(f"{base}/manifests/{HERE}", headers=trusted)
        assert (found.content, found.headers["content-type"]) == (b"manifest", "application/c2pa")
        assert client.get(f"{base}/manifests/{THERE}", headers=trusted).status_code == 404
    alone = client.get(f"{BASE}/manifests/{HERE}?returnActiveManifest=true", headers=trusted)
    assert alone.status_code == 400  # the file of the index is none
    former = client.post(f"{FORMER}/matches/byContent", content=marked[0], headers=trusted | PLAIN)
    assert ids(former) == [HERE, THERE]


def test_a_value_leads_to_its_manifests(
    detector: Start, token: Token, profile: str, tmp_path: Path
) -> None:
    bits = "000110100001"
    client = detector(manifests=Manifests.read(index(tmp_path, bits)))
    trusted, place = token(Role.TRUSTED, per_day=64), f"{BASE}/matches/byBinding"
    named = client.get(f"{BASE}/services/supportedAlgorithms").json()
    assert named == {"watermarks": [{"alg": ALG}], "fingerprints": []}
    for value in (binding_value(bits, profile), former_binding_value(bits), "AAGh"):
        asked = {"alg": ALG, "value": value}
        for found in (
            client.get(place, params=asked, headers=trusted),
            client.post(place, json=asked, headers=trusted),
        ):
            assert (ids(found), value) == ([HERE, THERE], value)
    for value in (
        binding_value(bits, "0123456789abcdef"),  # the same payload under another profile
        binding_value("0" + bits, profile),  # of another width
        "AaI=",
        "oQ==",  # too few bytes for its bits
    ):
        asked = {"alg": ALG, "value": value}
        assert (ids(client.get(place, params=asked, headers=trusted)), value) == ([], value)
    broken = client.get(place, params=asked | {"value": "no base64"}, headers=trusted)
    assert broken.status_code == 400
    bytes_ = trusted | {"Content-Type": "application/json"}
    assert client.post(place, content=b"$\xb2", headers=bytes_).status_code == 400
    while (last := client.get(place, params=asked, headers=trusted)).status_code == 200:
        pass
    assert last.json()["code"] == "serve-budget"


def test_what_is_published_is_found_until_it_is_deleted(
    detector: Start, token: Token, marked: list[str], payload: str, profile: str, tmp_path: Path
) -> None:
    client = detector(manifests=Manifests.read(index(tmp_path, payload)))
    trusted, publisher = token(Role.TRUSTED), token(Role.PUBLISHER)
    value = binding_value(payload, profile)
    stores = {
        name: signed_store(text, IDENTITY, name)
        for name, text in zip((FIRST, SECOND), marked, strict=True)
    }
    published(client, publisher, stores[SECOND], value)
    published(client, publisher, stores[FIRST], value)
    shown = by_content(client, marked[0], trusted).json()["matches"]
    far = max(0, 100 - bits_apart(*map(text_fingerprint, marked)))
    assert shown[0] == {"manifestId": FIRST, "similarityScore": 100}
    assert {"manifestId": SECOND, "similarityScore": far} in shown
    assert len(shown) == 4  # those of the index as well
    assert ids(by_content(client, marked[0], trusted, maxResults=1)) == [FIRST]
    moved = by_content(client, marked[0].replace(" the ", " a "), trusted).json()["matches"]
    assert 0 < moved[0]["similarityScore"] < 100
    fetched = client.get(f"{BASE}/manifests/{FIRST}", headers=trusted)
    assert fetched.content == stores[FIRST]
    for _ in range(2):
        gone = client.delete(f"{BASE}/manifests/{FIRST}", headers=publisher)
    assert gone.status_code == 404
    assert FIRST not in ids(by_content(client, marked[0], trusted))
    assert client.get(f"{BASE}/manifests/{FIRST}", headers=trusted).status_code == 404


def test_a_signed_text_finds_its_own_manifest_and_others_verify_it(
    detector: Start, token: Token, marked: list[str], payload: str, profile: str
) -> None:
    """Our writer's store beside another maker's, and another maker's verifier at the end."""
    client, trusted = detector(soft_binding=ALG), token(Role.TRUSTED)
    publisher, value = token(Role.PUBLISHER), binding_value(payload, profile)
    other = (ROOT / "tests/data/c2pa/c2patxt-0.2.0.c2pa").read_bytes()
    theirs = published(client, publisher, other, value)
    how = {"payload": payload, "profile": profile, "soft_binding": ALG}
    for form in FORMS:
        signed = sign_manifest(marked[0], IDENTITY, form=form, **how)
        assert published(client, publisher, signed.store, value) == signed.manifest
        for text in (signed.text, marked[0]):
            first, *others = by_content(client, text, trusted).json()["matches"]
            assert (form, first) == (form, {"manifestId": signed.manifest, "similarityScore": 100})
            assert others == [{"manifestId": theirs}]
        fetched = client.get(f"{BASE}/manifests/{signed.manifest}", headers=trusted).content
        detached = fetched if form == DETACHED else None
        assert verdict(signed.text.encode(), form, detached) == GOOD
        client.delete(f"{BASE}/manifests/{signed.manifest}", headers=publisher)


def test_a_store_outlives_the_service_and_an_index_is_read_anew(
    made: Make, token: Token, profile: str, tmp_path: Path
) -> None:
    bits, trusted, publisher = "0110", token(Role.TRUSTED), token(Role.PUBLISHER)
    asked = {"alg": ALG, "value": binding_value(bits, profile)}
    with TestClient(made(manifests=Manifests.read(index(tmp_path, bits)))[0]) as client:
        published(client, publisher, store(), asked["value"])
        found = client.get(f"{BASE}/matches/byBinding", params=asked, headers=trusted)
        assert ids(found) == [HERE, FIRST, THERE]  # each publisher in turn, the index first
    with TestClient(made(soft_binding=ALG)[0]) as client:
        found = client.get(f"{BASE}/matches/byBinding", params=asked, headers=trusted)
        assert ids(found) == [FIRST]
        assert client.get(f"{BASE}/manifests/{HERE}", headers=trusted).status_code == 404


def test_the_active_manifest_alone(detector: Start, token: Token) -> None:
    client, publisher = detector(soft_binding=ALG), token(Role.PUBLISHER)
    whole = superbox("c2pa", manifest(SECOND), manifest(FIRST))
    assert published(client, publisher, whole) == FIRST
    place = f"{BASE}/manifests/{FIRST}"
    assert client.get(place, headers=publisher).content == whole
    alone = client.get(f"{place}?returnActiveManifest=true", headers=publisher)
    assert alone.content == superbox("c2pa", manifest(FIRST))
    assert alone.headers["content-type"] == "application/c2pa"
    assert client.get(f"{BASE}/manifests/{SECOND}", headers=publisher).status_code == 404


def test_one_value_leads_to_several_and_is_led_elsewhere(
    detector: Start, token: Token, profile: str
) -> None:
    client = detector(soft_binding=ALG)
    one, other = token(Role.PUBLISHER, "one"), token(Role.PUBLISHER, "two")
    value, second = binding_value("0101", profile), binding_value("0101", "0123456789abcdef")
    looked = token(Role.TRUSTED)

    def found(of: str) -> list[str]:
        asked = {"alg": ALG, "value": of}
        return ids(client.get(f"{BASE}/matches/byBinding", params=asked, headers=looked))

    third = SECOND[:-1] + "3"
    published(client, one, store(FIRST), value)
    published(client, one, store(SECOND), value, value, second)
    published(client, other, store(third), value)
    assert (found(value), found(second)) == ([FIRST, third, SECOND], [SECOND])
    moved = {"bindingValue": value, "manifestId": FIRST}
    assert client.put(f"{BASE}/bindings", json=moved, headers=one).status_code == 204
    assert sorted(found(value)) == [FIRST, third]  # what another publisher bound stays
    # Nobody touches what another published, or what an index names.
    for refused in (
        client.delete(f"{BASE}/manifests/{FIRST}", headers=other),
        client.post(f"{BASE}/bindings", json=moved, headers=other),
        client.put(f"{BASE}/bindings", json=moved, headers=other),
        client.put(
            f"{BASE}/bindings",
            json=moved | {"bindingValue": binding_value("1", profile)},
            headers=one,
        ),
        client.post(f"{BASE}/bindings", json=moved | {"manifestId": "urn:c2pa:no"}, headers=one),
    ):
        assert refused.status_code == 404
    assert sorted(found(value)) == [FIRST, third]


def test_a_full_store_takes_nothing_finds_on_and_takes_again(
    detector: Start, token: Token, profile: str
) -> None:
    client, publisher = detector(soft_binding=ALG), token(Role.PUBLISHER)
    value = binding_value("0101", profile)
    large = superbox("c2pa", manifest(FIRST, ("x", bytes(1 << 20))))
    published(client, publisher, store(FIRST), value)
    published(client, publisher, large)  # the same identifier: in its place

    async def fill() -> None:
        database = client.app.state.repository._db
        [pages] = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")

    client.portal.call(fill)
    full = client.post(
        f"{BASE}/manifests",
        content=superbox("c2pa", manifest(SECOND, ("x", bytes(1 << 20)))),
        headers=publisher | STORE,
    )
    assert (full.status_code, full.json()["code"]) == (507, "disk-full")
    asked = {"alg": ALG, "value": value}
    found = client.get(f"{BASE}/matches/byBinding", params=asked, headers=publisher)
    assert ids(found) == [FIRST]
    assert client.get(f"{BASE}/manifests/{FIRST}", headers=publisher).content == large
    assert client.delete(f"{BASE}/manifests/{FIRST}", headers=publisher).status_code == 204
    published(client, publisher, superbox("c2pa", manifest(SECOND, ("x", bytes(1 << 20)))))
    found = client.get(f"{BASE}/matches/byBinding", params=asked, headers=publisher)
    assert ids(found) == []


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "application/c2pa", 400),
        (b"no store", "application/c2pa", 400),
        (store("../../etc/passwd"), "application/c2pa", 400),
        (store(), "application/octet-stream", 415),
        (superbox("c2pa", manifest(FIRST, ("x", bytes(2 << 20)))), "application/c2pa", 413),
    ],
)
def test_what_is_no_manifest_store_is_not_kept(
    detector: Start, token: Token, content: bytes, kind: str, status: int
) -> None:
    client, publisher = detector(soft_binding=ALG), token(Role.PUBLISHER)
    headers = publisher | {"Content-Type": kind}
    refused = client.post(f"{BASE}/manifests", content=content, headers=headers)
    assert refused.status_code == status
    assert client.get(f"{BASE}/manifests/{FIRST}", headers=publisher).status_code == 404


def test_a_value_without_profile_is_not_bound(detector: Start, token: Token) -> None:
    client, publisher = detector(soft_binding=ALG), token(Role.PUBLISHER)
    published(client, publisher, store())
    for value, code in (("AaE=", 400), ("no base64", 400), ("", 400), ("A" * 2001, 400)):
        told = {"bindingValue": value, "manifestId": FIRST}
        assert client.post(f"{BASE}/bindings", json=told, headers=publisher).status_code == code


def test_each_role_does_what_it_may(
    detector: Start, token: Token, plain: str, profile: str, tmp_path: Path
) -> None:
    client = detector(soft_binding=ALG, anyone=True)
    value = binding_value("0001", profile)
    asked, told = {"alg": ALG, "value": value}, {"bindingValue": value, "manifestId": FIRST}

    def tried(headers: dict[str, str]) -> list[int]:
        where = [
            client.get(f"{BASE}/matches/byBinding", params=asked, headers=headers),
            client.get(f"{BASE}/manifests/{FIRST}", headers=headers),
            by_content(client, plain, headers),
            ask(client, plain, headers),
            client.post(f"{BASE}/manifests", content=store(), headers=headers | STORE),
            client.post(f"{BASE}/bindings", json=told, headers=headers),
            client.delete(f"{BASE}/manifests/{FIRST}", headers=headers),
        ]
        return [one.status_code for one in where]

    assert tried({}) == [403, 403, 403, 200, 403, 403, 403]
    assert tried(token(Role.PUBLIC)) == [403, 403, 403, 200, 403, 403, 403]
    for role in (Role.TRUSTED, Role.INTERNAL):
        assert tried(token(role)) == [200, 404, 200, 200, 403, 403, 403]
    assert tried(token(Role.PUBLISHER)) == [200, 404, 403, 403, 200, 204, 204]


def test_the_public_looks_up_where_it_may(
    detector: Start, token: Token, marked: list[str], plain: str, payload: str, profile: str
) -> None:
    client = detector(soft_binding=ALG, public_lookups=True, protection={"per_day_block": 80})
    published(client, token(Role.PUBLISHER), store(), binding_value(payload, profile))
    told = client.get("/v1/detector").json()
    assert (told["soft_binding"], told["public_lookups"]) == (ALG, True)
    asked = {"alg": ALG, "value": binding_value(payload, profile)}
    for headers in ({}, token(Role.PUBLIC)):
        assert ids(client.get(f"{BASE}/matches/byBinding", params=asked, headers=headers)) == [
            FIRST
        ]
        assert ids(by_content(client, marked[0], headers)) == [FIRST]
        assert ids(by_content(client, plain, headers)) == []
    while (last := client.get(f"{BASE}/manifests/{FIRST}")).status_code == 200:
        assert last.content == store()
    assert last.json()["code"] == "serve-budget"
    trusted = client.get(f"{BASE}/manifests/{FIRST}", headers=token(Role.TRUSTED))
    assert trusted.status_code == 200  # who has a token does not pay for the public


def test_the_public_is_led_only_from_what_it_is_told(
    detector: Start, token: Token, marked: list[str], payload: str, profile: str
) -> None:
    client = detector(soft_binding=ALG, public_lookups=True, protection={"margin": 1e6})
    published(client, token(Role.PUBLISHER), store(), binding_value(payload, profile))
    assert ids(by_content(client, marked[0], {})) == []
    assert ids(by_content(client, marked[0], token(Role.TRUSTED))) == [FIRST]


def test_hints_order_and_find_nothing(
    detector: Start, token: Token, marked: list[str], plain: str, payload: str, profile: str
) -> None:
    client, trusted = detector(soft_binding=ALG), token(Role.TRUSTED)
    other = binding_value("1" * 12, profile)
    published(client, token(Role.PUBLISHER), store(FIRST), binding_value(payload, profile))
    published(
        client, token(Role.PUBLISHER, "b"), store(SECOND), binding_value(payload, profile), other
    )
    assert ids(by_content(client, marked[0], trusted)) == [FIRST, SECOND]
    hint = {"hintAlg": ALG, "hintValue": other}
    assert ids(by_content(client, marked[0], trusted, **hint)) == [SECOND, FIRST]
    assert ids(by_content(client, plain, trusted, **hint)) == []
    for wrong in (
        {"hintAlg": "org.example.other"},
        {"hintValue": other},
        hint | {"hintValue": "x"},
    ):
        refused = by_content(client, marked[0], trusted, **wrong)
        assert (refused.status_code, refused.json()["code"]) == (400, "serve-request")


def test_addresses_are_not_fetched(detector: Start, token: Token) -> None:
    client, trusted = detector(soft_binding=ALG), token(Role.TRUSTED)
    asked = {"referenceUrl": "https://example.org/x", "assetLength": 1}
    refused = client.post(f"{BASE}/matches/byReference", json=asked, headers=trusted)
    assert (refused.status_code, refused.json()["code"]) == (403, "serve-reference")
    assert "queryByReference" not in client.get(f"{BASE}/services/capabilities").text


def test_many_ask_and_publish_at_once(
    detector: Start,
    token: Token,
    marked: list[str],
    plain: str,
    payload: str,
    profile: str,
    gate: threading.Event,
) -> None:
    """Two askers and the public, and a publisher who deletes while their texts are read."""
    client = detector(soft_binding=ALG, public_lookups=True)
    publisher, value = token(Role.PUBLISHER), binding_value(payload, profile)
    for name in (FIRST, SECOND):
        published(client, publisher, store(name, text_fingerprint(marked[0])), value)

    async def waiting() -> int:
        return int(client.app.state.service.pending)

    askers = [token(Role.TRUSTED, "one"), token(Role.INTERNAL, "two"), {}]
    texts = [marked[0], plain, marked[0]]
    with ThreadPoolExecutor(7) as threads:
        asked = [
            threads.submit(by_content, client, text, who)
            for who in askers
            for text in texts[: 3 if who else 1]
        ]
        try:
            while client.portal.call(waiting) < len(asked):
                assert not any(one.done() for one in asked)
            gone = client.delete(f"{BASE}/manifests/{FIRST}", headers=publisher)
            assert gone.status_code == 204
        finally:
            gate.set()
        found = [ids(one.result()) for one in asked]
    assert found == [[SECOND], [], [SECOND], [SECOND], [], [SECOND], [SECOND]]


def test_look_ups_are_counted_by_role_and_not_by_outcome(detector: Start, token: Token) -> None:
    client = detector(soft_binding=ALG)
    published(client, token(Role.PUBLISHER), store())
    counted = client.get("/metrics", headers=token(Role.INTERNAL)).text
    assert 'pura_serve_manifests_total{role="publisher",what="publish"} 1.0' in counted


def test_without_a_soft_binding_there_is_no_such_address(detector: Start, token: Token) -> None:
    client, trusted = detector(), token(Role.TRUSTED)
    for place in (
        f"{BASE}/matches/byBinding?alg={ALG}&value=AQ==",
        f"{BASE}/manifests/{FIRST}",
        f"{BASE}/services/supportedAlgorithms",
        f"{BASE}/services/capabilities",
        f"{BASE}/services/status",
        "/.well-known/c2pa-soft-binding-resolution",
    ):
        assert client.get(place, headers=trusted).status_code == 404
    assert client.get("/v1/detector").json()["soft_binding"] == ""


def test_an_index_for_another_soft_binding_is_refused(made: Make, tmp_path: Path) -> None:
    known = Manifests.read(index(tmp_path, "0001"))
    with pytest.raises(ServeError) as refused:
        made(manifests=known, soft_binding="org.example.other.1")
    assert "alg" in refused.value.words("en")[0]


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"payload": "012"}, "manifests[0].payload"),
        ({"file": "../secret"}, "manifests[0].file"),
        ({"endpoint": "https://x.example"}, "manifests[0].file"),
        ({"manifest": ""}, "manifests[0].manifest"),
        ({"key": "house"}, "manifests[0].key"),
        ({"epoch": "2026-11"}, "manifests[0].epoch"),
        ({"key": "0" * 16, "epoch": "November"}, "manifests[0].epoch"),
        ({"other": 1}, "manifests[0].other"),
    ],
)
def test_an_index_that_is_none_is_refused(
    tmp_path: Path, changed: dict[str, Any], where: str
) -> None:
    with pytest.raises(ServeError) as refused:
        Manifests.read(index(tmp_path, "0001", **changed))
    assert where in refused.value.words("en")[0]
