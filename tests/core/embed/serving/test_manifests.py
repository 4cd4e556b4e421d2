"""Both layers in one go: the gateway signs what it had marked, whole or streamed."""

import json
from pathlib import Path
from typing import Any

import c2pa_text
import pytest
from tests.core.certificates import DAY, authority, key_pem, manifest_signer, packed, pem
from tests.core.embed.serving.small_engine import (
    PROFILE,
    REQUESTS,
    Answer,
    Fault,
    SmallEngine,
    ask,
    load_policy,
    misplaced,
    outcomes_in,
    private,
    rows_in,
    tokens_of,
)
from tests.core.provenance.test_writing import verdict

from pura.base.errors import GenerationError, SigningError
from pura.embed.serving import manifests
from pura.embed.serving.gateway import Gateway, GatewayMiddleware
from pura.provenance.binding import binding_value
from pura.provenance.writing import DETACHED, WRAPPER
from pura.scheme import Payload


@pytest.fixture
def signing(tmp_path: Path) -> dict[str, Any]:
    """The part of a policy that has answers signed, with its certificate."""
    key, certificate = manifest_signer(authority())
    (tmp_path / "desk.p12").write_bytes(packed(key, certificate, b"secret words"))
    (tmp_path / "desk.p12").chmod(0o600)
    private(tmp_path / "words", "secret words\n")
    return {
        "certificate": "desk.p12",
        "passphrase_file": "words",
        "soft_binding": "org.example.pura.1",
        "embed": "a8",
        "folder": "manifests",
    }


def answer(
    folder: Path, signing: dict[str, Any], path: str, *, stream: bool, fault: Fault | None = None
) -> Answer:
    """Return the answer of a gateway that signs."""
    gateway = Gateway(load_policy(folder, manifest=signing))
    engine = SmallEngine(gateway.office, "llama.cpp", fault or Fault())
    request = {**REQUESTS[path], "stream": stream}
    return ask(GatewayMiddleware(engine, gateway), request, path=path)


def row_and_manifest(folder: Path, answered: Answer) -> tuple[dict[str, Any], bytes]:
    """Return the row of an answer and the manifest that is kept for it."""
    name = answered.headers[b"x-pura-manifest"].decode()
    (row,) = [row for row in rows_in(folder) if row["manifest"] == name]
    return row, (folder / "manifests" / f"{name.rpartition(':')[2]}.c2pa").read_bytes()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", REQUESTS)
def test_the_manifest_at_the_end_of_an_answer_names_the_drawn_mark(
    tmp_path: Path, signing: dict[str, Any], path: str, *, stream: bool
) -> None:
    answered = answer(tmp_path, signing, path, stream=stream)
    row, store = row_and_manifest(tmp_path, answered)
    wrapped = c2pa_text.find_wrapper_info(answered.text)
    assert wrapped is not None
    assert wrapped[0] == store
    assert binding_value(row["payload"], PROFILE.fingerprint).encode() in store
    assert verdict(answered.text.encode(), WRAPPER)[:3] == ("valid", "valid", "match")
    written = answered.text.partition("\ufeff")[0]  # the wrapper begins with U+FEFF
    assert misplaced(tokens_of(written), Payload(text=row["payload"])) == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_manifest_beside_the_answer_leaves_the_text_as_it_is(
    tmp_path: Path, signing: dict[str, Any], *, stream: bool
) -> None:
    signing["embed"] = DETACHED
    answered = answer(tmp_path, signing, "/v1/completions", stream=stream)
    row, store = row_and_manifest(tmp_path, answered)
    assert misplaced(tokens_of(answered.text), Payload(text=row["payload"])) == []
    assert verdict(answered.text.encode(), DETACHED, store)[:3] == ("valid", "valid", "match")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "fault",
    [
        Fault(replaces=frozenset({7})),
        Fault(redeems=False),
    ],
    ids=["replaced", "not asked"],
)
def test_what_the_marker_did_not_draw_is_never_signed_to_its_end(
    tmp_path: Path, signing: dict[str, Any], fault: Fault, *, stream: bool
) -> None:
    answered = answer(tmp_path, signing, "/v1/completions", stream=stream, fault=fault)
    assert answered.error
    assert list((tmp_path / "manifests").iterdir()) == []


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_cannot_be_signed_does_not_leave_as_if_it_were(
    tmp_path: Path, signing: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, stream: bool
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(manifests, "write_atomic", full)
    answered = answer(tmp_path, signing, "/v1/completions", stream=stream)
    assert answered.error
    (row,) = rows_in(tmp_path)
    assert outcomes_in(tmp_path)[row["payload"]][0] != "delivered"
    assert json.dumps("length").encode() not in answered.body


@pytest.mark.parametrize("name", ["words", "desk.p12"])
def test_a_signing_file_that_others_can_change_stops_the_gateway_when_it_starts(
    tmp_path: Path, signing: dict[str, Any], name: str
) -> None:
    (tmp_path / name).chmod(0o666)
    with pytest.raises(GenerationError) as caught:
        load_policy(tmp_path, manifest=signing)
    assert name in str(caught.value)


@pytest.mark.parametrize("wrong", ["expired", "authority"])
def test_a_certificate_that_is_not_fit_stops_the_gateway_when_it_starts(
    tmp_path: Path, signing: dict[str, Any], wrong: str
) -> None:
    root = authority()
    expired = manifest_signer(root, since=-9 * DAY, until=-DAY)
    key, certificate = expired if wrong == "expired" else root
    (tmp_path / "wrong.pem").write_bytes(pem(certificate))
    (tmp_path / "wrong.key").write_bytes(key_pem(key))
    (tmp_path / "wrong.key").chmod(0o600)
    with pytest.raises(SigningError):
        load_policy(tmp_path, manifest={**signing, "certificate": "wrong.pem", "key": "wrong.key"})
