"""Two publishers share a detector and attack each other: neither speaks for the other's marks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.core.certificates import authority, key_pem, manifest_signer, pem
from tests.core.manifest_stores import FIRST, SECOND
from tests.core.manifest_stores import store as unsigned_store
from tests.core.provenance.test_writing import IDENTITY, TRUST
from tests.core.serve.conftest import OTHER_PROFILE, Start, Token, whole_grant
from tests.core.serve.test_softbinding import ALG, BASE, by_content, published, signed_store

from pura.base.errors import ServeError
from pura.base.identity import Identity, load_identity
from pura.provenance.binding import (
    BindingValue,
    binding_value,
    former_binding_value,
    text_fingerprint,
)
from pura.record.answers import Role
from pura.scheme import Profile
from pura.serve.grants import Grant
from pura.serve.manifests import Repository
from pura.serve.settings import Places, TokenFile
from pura.usecases.environment import Environment

ROOT = Path(__file__).resolve().parents[3]
BITS = 36
MOST = 10
"""So many matches are answered where nobody asks for more."""
OTHERS_KEY = "00112233445566ff"
"""Fingerprint of a key that the detector does not have."""


@pytest.fixture
def profile(small_samples: dict[str, Any]) -> Profile:
    """The profile that both publishers mark with."""
    return Profile.from_dict(small_samples["marked-tbcc"]["profile"])


@pytest.fixture
def payloads(small_samples: dict[str, Any]) -> list[str]:
    """What the marked texts carry: the first is the press', the second is the rival's."""
    return [str(one["payload"]) for one in small_samples["marked-tbcc"]["texts"]]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A publisher at work.

    Attributes:
        client: Asks the detector.
        headers: Carry its token.
    """

    client: TestClient
    headers: dict[str, str]

    def publish(self, store: bytes, *values: str) -> str:
        """Publish a manifest, and bind values to it."""
        return published(self.client, self.headers, store, *values)

    def bind(self, value: str, manifest: str, *, again: bool = False) -> Any:
        """Bind a value, or bind it in place of what it led to."""
        ask = self.client.put if again else self.client.post
        told = {"bindingValue": value, "manifestId": manifest}
        return ask(f"{BASE}/bindings", json=told, headers=self.headers)


def single(profile: Profile, payload: str, *, key: str = "") -> Grant:
    """Return the grant of one payload."""
    number = int(payload, 2)
    return Grant(profile=profile.fingerprint, bits=BITS, first=number, last=number, key=key)


def matches(client: TestClient, value: str, headers: dict[str, str], **asked: Any) -> list[Any]:
    """Look a value up."""
    asked |= {"alg": ALG, "value": value}
    answer = client.get(f"{BASE}/matches/byBinding", params=asked, headers=headers)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["matches"])


def identifiers(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the identifiers of matches."""
    return [str(match["manifestId"]) for match in found]


def fetch(client: TestClient, match: dict[str, Any], headers: dict[str, str]) -> bytes:
    """Fetch what a match names, from the address that it names."""
    base = str(match.get("endpoint", BASE))
    answer = client.get(f"{base}/manifests/{match['manifestId']}", headers=headers)
    assert answer.status_code == 200, answer.text
    return bytes(answer.content)


def other_identity() -> Identity:
    """Return a signer of another authority, which no list names."""
    root = authority("Another Root")
    key, certificate = manifest_signer(root)
    return load_identity(pem(certificate, root[1]), None, now=datetime.now(UTC), key=key_pem(key))


@dataclass(frozen=True, kw_only=True)
class Shared:
    """A detector that two publishers share.

    Attributes:
        client: Asks the detector.
        press: Publishes for the first of the marked texts.
        rival: Publishes for the second, and attacks.
        reader: Header of somebody who looks manifests up.
    """

    client: TestClient
    press: Desk
    rival: Desk
    reader: dict[str, str]


Share = Callable[..., Shared]


@pytest.fixture
def share(detector: Start, token: Token, profile: Profile, payloads: list[str]) -> Share:
    """Start a detector; each publisher may bind the payload of one text, unless told otherwise."""

    def start(press: Sequence[Grant] | None = None, rival: Sequence[Grant] | None = None) -> Shared:
        client = detector(soft_binding=ALG)
        own = [[single(profile, payload)] for payload in payloads]
        press_token = token(Role.PUBLISHER, "press", grants=own[0] if press is None else press)
        rival_token = token(Role.PUBLISHER, "rival", grants=own[1] if rival is None else rival)
        return Shared(
            client=client,
            press=Desk(client=client, headers=press_token),
            rival=Desk(client=client, headers=rival_token),
            reader=token(Role.TRUSTED),
        )

    return start


def test_each_text_leads_to_its_own_publisher_only(
    share: Share, marked: list[str], profile: Profile, payloads: list[str]
) -> None:
    shared = share()
    for desk, store, payload in zip(
        (shared.press, shared.rival),
        (unsigned_store(FIRST), unsigned_store(SECOND)),
        payloads,
        strict=True,
    ):
        desk.publish(store, binding_value(payload, profile.fingerprint))
    for text, manifest in zip(marked, (FIRST, SECOND), strict=True):
        found = by_content(shared.client, text, shared.reader).json()["matches"]
        assert found == [{"manifestId": manifest}]


@pytest.mark.parametrize("again", [False, True])
def test_a_publisher_binds_no_value_of_another(
    share: Share, profile: Profile, payloads: list[str], again: bool
) -> None:
    shared = share()
    manifest = shared.rival.publish(unsigned_store(SECOND))
    press = int(payloads[0], 2)
    refused = [
        binding_value(payloads[0], profile.fingerprint),
        binding_value(f"{int(payloads[1], 2) + 1:0{BITS}b}", profile.fingerprint),
        binding_value(payloads[1], OTHER_PROFILE),
        binding_value("0" + payloads[1], profile.fingerprint),
        binding_value(f"{press:0{BITS + 4}b}", profile.fingerprint),
    ]
    for value in refused:
        answer = shared.rival.bind(value, manifest, again=again)
        assert (answer.status_code, answer.json()["code"]) == (403, "serve-role")
        assert matches(shared.client, value, shared.reader) == []


def test_a_value_without_a_profile_passes_no_grant(share: Share, payloads: list[str]) -> None:
    shared = share()
    manifest = shared.press.publish(unsigned_store(FIRST))
    answer = shared.press.bind(former_binding_value(payloads[0]), manifest)
    assert (answer.status_code, answer.json()["code"]) == (400, "serve-request")


def test_a_token_without_grants_binds_nothing(
    share: Share, profile: Profile, payloads: list[str]
) -> None:
    shared = share(rival=[])
    manifest = shared.rival.publish(unsigned_store(SECOND))
    answer = shared.rival.bind(binding_value(payloads[1], profile.fingerprint), manifest)
    assert answer.status_code == 403


def test_a_taken_back_grant_hides_what_was_bound(
    share: Share, at: Environment, profile: Profile, payloads: list[str]
) -> None:
    shared, value = share(), binding_value(payloads[1], profile.fingerprint)
    shared.rival.publish(unsigned_store(SECOND), value)
    tokens = TokenFile(Places.of(at.paths).tokens)
    assert identifiers(matches(shared.client, value, shared.reader)) == [SECOND]
    tokens.grant("rival", [])
    assert matches(shared.client, value, shared.reader) == []
    tokens.grant("rival", [single(profile, payloads[1])])
    assert identifiers(matches(shared.client, value, shared.reader)) == [SECOND]


def numbered(number: int) -> str:
    """Return one of many identifiers."""
    return f"urn:c2pa:10000000-0000-4000-8000-{number:012d}"


@pytest.mark.parametrize("most", [2, MOST])
@pytest.mark.parametrize("first", ["press", "rival"])
def test_ten_bindings_of_one_value_hide_no_others(
    share: Share, profile: Profile, payloads: list[str], most: int, first: str
) -> None:
    whole = [whole_grant(profile.fingerprint, BITS)]
    shared = share(press=whole, rival=whole)
    value = binding_value(payloads[0], profile.fingerprint)
    if first == "press":
        shared.press.publish(unsigned_store(FIRST), value)
    for number in range(2 * MOST):
        shared.rival.publish(unsigned_store(numbered(number)), value)
    if first == "rival":
        shared.press.publish(unsigned_store(FIRST), value)
    found = matches(shared.client, value, shared.reader, maxResults=most)
    assert FIRST in identifiers(found)[:2]
    own = matches(shared.client, value, shared.press.headers, maxResults=most)
    assert identifiers(own)[0] == FIRST


def test_a_text_shows_others_however_much_one_binds(
    share: Share, marked: list[str], profile: Profile, payloads: list[str]
) -> None:
    whole = [whole_grant(profile.fingerprint, BITS)]
    shared = share(press=whole, rival=whole)
    value = binding_value(payloads[0], profile.fingerprint)
    for number in range(MOST):
        shared.rival.publish(unsigned_store(numbered(number)), value)
    shared.press.publish(signed_store(marked[0], IDENTITY, FIRST), value)
    found = by_content(shared.client, marked[0], shared.reader).json()["matches"]
    assert found[0] == {"manifestId": FIRST, "similarityScore": 100}


def test_an_identifier_is_nobodys_alone(
    share: Share, profile: Profile, payloads: list[str]
) -> None:
    """The rival takes the press' identifier first; the press publishes all the same."""
    shared = share()
    values = [binding_value(payload, profile.fingerprint) for payload in payloads]
    squatted, own = unsigned_store(FIRST), unsigned_store(FIRST, fingerprint="8f" * 32)
    shared.rival.publish(squatted, values[1])
    shared.press.publish(own, values[0])
    for value, store in zip(values, (own, squatted), strict=True):
        (match,) = matches(shared.client, value, shared.reader)
        assert match["manifestId"] == FIRST
        assert fetch(shared.client, match, shared.reader) == store
    # By the bare identifier each publisher gets its own.
    for desk, store in ((shared.press, own), (shared.rival, squatted)):
        assert fetch(shared.client, {"manifestId": FIRST}, desk.headers) == store


def test_a_signed_manifest_goes_before_one_that_squats_its_identifier(
    share: Share, marked: list[str]
) -> None:
    shared = share()
    shared.rival.publish(unsigned_store(FIRST))
    own = signed_store(marked[0], IDENTITY, FIRST)
    shared.press.publish(own)
    assert fetch(shared.client, {"manifestId": FIRST}, shared.reader) == own


def test_a_trusted_signer_goes_before_another(
    share: Share, at: Environment, marked: list[str]
) -> None:
    at.paths.trust.parent.mkdir(parents=True, exist_ok=True)
    at.paths.trust.write_text(TRUST)
    shared = share()
    shared.rival.publish(signed_store(marked[0], other_identity(), FIRST))
    own = signed_store(marked[0], IDENTITY, FIRST)
    shared.press.publish(own)
    assert fetch(shared.client, {"manifestId": FIRST}, shared.reader) == own


def test_nobody_deletes_or_replaces_anothers_manifest(
    share: Share, profile: Profile, payloads: list[str]
) -> None:
    whole = [whole_grant(profile.fingerprint, BITS)]
    shared = share(press=whole, rival=whole)
    value = binding_value(payloads[0], profile.fingerprint)
    own = unsigned_store(FIRST, fingerprint="8f" * 32)
    shared.press.publish(own, value)
    place = f"{BASE}/manifests/{FIRST}"
    assert shared.client.delete(place, headers=shared.rival.headers).status_code == 404
    assert shared.rival.bind(value, FIRST).status_code == 404
    shared.rival.publish(unsigned_store(FIRST))
    assert shared.client.delete(place, headers=shared.rival.headers).status_code == 204
    (match,) = matches(shared.client, value, shared.reader)
    assert fetch(shared.client, match, shared.reader) == own


@pytest.mark.parametrize("form", ["unsigned", "changed"])
def test_a_fingerprint_that_nobody_signed_gives_no_score(
    share: Share, marked: list[str], profile: Profile, payloads: list[str], form: str
) -> None:
    """The rival states the press' text as its own, in a manifest without a valid signature."""
    whole = [whole_grant(profile.fingerprint, BITS)]
    shared = share(press=whole, rival=whole)
    value = binding_value(payloads[0], profile.fingerprint)
    own, other = text_fingerprint(marked[0]), text_fingerprint(marked[1])
    signed = signed_store(marked[1], IDENTITY, SECOND)
    forged = {
        "unsigned": unsigned_store(SECOND, own),
        "changed": signed.replace(other.encode(), own.encode()),
    }[form]
    assert forged != signed
    shared.rival.publish(forged, value)
    shared.press.publish(signed_store(marked[0], IDENTITY, FIRST), value)
    found = by_content(shared.client, marked[0], shared.reader).json()["matches"]
    assert found == [{"manifestId": FIRST, "similarityScore": 100}, {"manifestId": SECOND}]


def test_where_signers_are_listed_others_give_no_score(
    share: Share,
    at: Environment,
    marked: list[str],
    profile: Profile,
    payloads: list[str],
) -> None:
    at.paths.trust.parent.mkdir(parents=True, exist_ok=True)
    at.paths.trust.write_text(TRUST)
    whole = [whole_grant(profile.fingerprint, BITS)]
    shared = share(press=whole, rival=whole)
    value = binding_value(payloads[0], profile.fingerprint)
    shared.rival.publish(signed_store(marked[0], other_identity(), SECOND), value)
    shared.press.publish(signed_store(marked[0], IDENTITY, FIRST), value)
    found = by_content(shared.client, marked[0], shared.reader).json()["matches"]
    assert found == [{"manifestId": FIRST, "similarityScore": 100}, {"manifestId": SECOND}]


def test_a_text_leads_to_publishers_of_its_own_key(
    share: Share,
    sample_key: Any,
    marked: list[str],
    profile: Profile,
    payloads: list[str],
) -> None:
    """Both may bind the payload, each under its own key; the text tells whose it is."""
    shared = share(
        press=[single(profile, payloads[0], key=sample_key.fingerprint)],
        rival=[single(profile, payloads[0], key=OTHERS_KEY)],
    )
    value = binding_value(payloads[0], profile.fingerprint)
    shared.rival.publish(unsigned_store(SECOND), value)
    shared.press.publish(unsigned_store(FIRST), value)
    found = by_content(shared.client, marked[0], shared.reader).json()["matches"]
    assert identifiers(found) == [FIRST]
    # A value names no key, so by itself it may be of either.
    assert sorted(identifiers(matches(shared.client, value, shared.reader))) == [FIRST, SECOND]


LAYERED = Profile.from_dict(
    {
        "scheme": "pura1",
        "code": "tbcc",
        "payload_bits": 16,
        "vocab_size": 49152,
        "fields": [
            {"name": "customer", "bits": 10, "kind": "integer"},
            {"name": "day", "bits": 6, "kind": "integer"},
        ],
    }
)


@pytest.mark.parametrize(
    ("span", "first", "last"),
    [
        ("", 0, 0xFFFF),
        ("0x1a00..0x1aff", 0x1A00, 0x1AFF),
        ("0001101000000000..0x1aff", 0x1A00, 0x1AFF),
        ("customer=400..499", 400 << 6, (500 << 6) - 1),
    ],
)
def test_a_range_is_read(span: str, first: int, last: int) -> None:
    expected = Grant(profile=LAYERED.fingerprint, bits=16, first=first, last=last)
    assert Grant.of_profile(LAYERED, span) == expected


@pytest.mark.parametrize(
    "span",
    [
        "0x1a00",
        "..",
        "0x1a00..",
        "0x1aff..0x1a00",
        "0x1a00..0x10000",
        "customer=400..",
        "customer=499..400",
        "customer=400..1024",
        "day=1..2",
        "nobody=1..2",
        "customer=..=",
    ],
)
def test_what_is_no_range_is_refused(span: str) -> None:
    with pytest.raises(ServeError) as refused:
        Grant.of_profile(LAYERED, span)
    assert refused.value.key == "serve.range"


def test_a_range_of_a_field_admits_its_customers_only() -> None:
    grant = Grant.of_profile(LAYERED, "customer=400..499")
    profile = LAYERED.fingerprint[:8]
    admitted = {
        customer
        for customer in range(1 << 10)
        for day in (0, 63)
        if grant.admits(BindingValue(profile=profile, payload=f"{customer:010b}{day:06b}"))
    }
    assert admitted == set(range(400, 500))


def test_the_epoch_of_a_grant_is_one_of_its_key() -> None:
    granted = Grant.of_profile(LAYERED, key=OTHERS_KEY, epoch="2026-11")
    assert Grant.from_json(asdict(granted)) == granted
    for key, epoch in (("", "2026-11"), (OTHERS_KEY, "November")):
        with pytest.raises(ValueError, match="epoch"):
            Grant.of_profile(LAYERED, key=key, epoch=epoch)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.PUBLISHER])
def test_only_publishers_are_granted_values(at: Environment, role: Role) -> None:
    tokens = TokenFile(Places.of(at.paths).tokens)
    grants = [whole_grant(OTHER_PROFILE, BITS)]
    with pytest.raises(ServeError) as refused:
        tokens.new("desk", role, per_day=1, grants=grants)
    assert refused.value.key == "serve.grant-role"
    tokens.new("desk", role, per_day=1)
    with pytest.raises(ServeError):
        tokens.grant("desk", grants)
    assert tokens.grants_of("desk") == ()


def test_grants_outlive_the_file_and_the_token(at: Environment) -> None:
    path = Places.of(at.paths).tokens
    grants = (whole_grant(OTHER_PROFILE, BITS), Grant.of_profile(LAYERED, key=OTHERS_KEY))
    TokenFile(path).new("press", Role.PUBLISHER, per_day=1, grants=grants)
    assert TokenFile(path).grants_of("press") == grants
    # What was published stays found after its token was revoked, until a new one has the name.
    TokenFile(path).revoke("press")
    assert TokenFile(path).grants_of("press") == grants
    TokenFile(path).new("press", Role.PUBLISHER, per_day=1, grants=grants[:1])
    assert TokenFile(path).grants_of("press") == grants[:1]
    assert TokenFile(path).grants_of("nobody") == ()


V040 = ROOT / "tests/data/v0.4.0"
OLD_VALUE = BindingValue(profile=OTHER_PROFILE[:8], payload="0101")
"""What 0.4.0's store binds: see ``make_manifests.py`` there."""


def old_repository(tmp_path: Path, grants: dict[str, tuple[Grant, ...]]) -> Repository:
    """Open a copy of the store that 0.4.0 wrote, which upgrades it."""
    path = tmp_path / "manifests.sqlite3"
    shutil.copy(V040 / path.name, path)
    return Repository(path, lambda publisher: grants.get(publisher, ()))


def test_a_store_of_0_4_0_keeps_its_manifests_without_fingerprints(tmp_path: Path) -> None:
    grants = dict.fromkeys(("press", "rival"), (whole_grant(OTHER_PROFILE, 4),))
    with old_repository(tmp_path, grants) as repository:
        found = repository.bound_to_values([OLD_VALUE], MOST)
        stores = {match.manifest: repository.store(match.manifest) for match in found}
    assert stores == {FIRST: b"store of the press", SECOND: b"store of the rival"}
    assert [match.fingerprint for match in found] == ["", ""]


def test_what_0_4_0_bound_is_found_under_a_grant_only(tmp_path: Path) -> None:
    with old_repository(tmp_path, {"press": (whole_grant(OTHER_PROFILE, 4),)}) as repository:
        found = repository.bound_to_values([OLD_VALUE], MOST)
    assert [match.manifest for match in found] == [FIRST]


def test_tokens_of_0_4_0_are_read_and_may_bind_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    shutil.copy(V040 / path.name, path)
    tokens = TokenFile(path)
    assert [(token.name, token.grants) for token in tokens.list()] == [
        ("press", ()),
        ("rival", ()),
        ("reader", ()),
    ]
    granted = (whole_grant(OTHER_PROFILE, 4),)
    tokens.grant("press", granted)
    assert (tokens.grants_of("press"), tokens.grants_of("rival")) == (granted, ())
