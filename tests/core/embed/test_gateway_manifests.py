"""Both layers in one go: the gateway signs what it had marked, whole or streamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import c2pa_text
import pytest
from tests.core.certificates import DAY, authority, key_pem, manifest_signer, packed, pem
from tests.core.embed.test_gateway import asked, changed, policy, rows
from tests.core.provenance.test_writing import verdict

from pura.base.errors import SigningError
from pura.embed.serving import manifests
from pura.embed.serving.gateway import Gateway, GatewayMiddleware, Policy
from pura.provenance.binding import binding_value
from pura.provenance.writing import DETACHED, WRAPPER

__all__ = ["policy"]  # a fixture
NORTH = (b"x-pura-customer", b"north")
WORDS = ["The bridge ", "stays closed – ", "Cafe\u0301 ", "☺️", " and all.\n"]
TEXT = "".join(WORDS)
CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}}]}
PLAIN = {"choices": [{"index": 0, "text": TEXT, "finish_reason": "length"}]}


@pytest.fixture
def signing(policy: Path) -> dict[str, Any]:
    key, certificate = manifest_signer(authority())
    (policy.parent / "desk.p12").write_bytes(packed(key, certificate, b"secret words"))
    (policy.parent / "words").write_text("secret words\n")
    return {
        "certificate": "desk.p12",
        "passphrase_file": "words",
        "soft_binding": "org.example.pura.1",
        "embed": "a8",
        "folder": "manifests",
    }


def engine(*bodies: bytes, kind: str = "application/json", status: int = 200) -> Any:
    """An engine that answers with these pieces."""

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        assert b"accept-encoding" not in dict(scope["headers"])
        await receive()
        headers = [(b"content-type", kind.encode()), (b"content-length", b"7")]
        if kind != "application/json":
            del headers[1]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for at, body in enumerate(bodies):
            more = at + 1 < len(bodies)
            await send({"type": "http.response.body", "body": body, "more_body": more})

    return answer


def answered(
    policy: Path, app: Any, signing: dict[str, Any], body: dict[str, Any] | None = None, **more: Any
) -> tuple[int, dict[bytes, bytes], bytes]:
    gateway = Gateway(changed(policy, manifest=signing))
    request = json.dumps(body or {"prompt": "ab"}).encode()
    packing = (b"accept-encoding", b"gzip")
    start, *rest = asked(GatewayMiddleware(app, gateway), request, NORTH, packing, **more)
    assert not rest[-1].get("more_body")
    return start["status"], dict(start["headers"]), b"".join(one["body"] for one in rest)


def events(*bodies: dict[str, Any], line: str = "\n") -> bytes:
    said = [f"data: {json.dumps(body)}{line}{line}" for body in bodies]
    return "".join([*said, f"data: [DONE]{line}{line}"]).encode()


def parts(name: str) -> list[dict[str, Any]]:
    """The parts of a streamed answer; the last word comes together with its end."""
    made: list[dict[str, Any]] = [{"choices": [{"delta": {"role": "assistant"}}]}]
    for at, word in enumerate(WORDS):
        last = "stop" if at + 1 == len(WORDS) else None
        held = {"delta": {"content": word}} if name == "delta" else {"text": word}
        made.append({"choices": [{**held, "finish_reason": last}]})
    return [*made[name != "delta" :], {"choices": [], "usage": {"total_tokens": 9}}]


def heard(stream: bytes) -> str:
    """What a client of a stream reads."""
    text = ""
    for event in stream.decode().replace("\r\n", "\n").split("\n\n"):
        data = event.removeprefix("data: ")
        for choice in json.loads(data)["choices"] if data not in ("", "[DONE]") else ():
            text += choice.get("text", choice.get("delta", {}).get("content", ""))
    return text


def check(policy: Path, text: str, headers: dict[bytes, bytes]) -> bytes:
    """A text is signed for its row; returns the manifest that is kept."""
    named = headers[b"x-pura-manifest"].decode()
    (row,) = [one for one in rows(policy) if one["manifest"] == named]
    (kept,) = (policy.parent / "manifests").glob(f"{row['manifest'].rpartition(':')[2]}.c2pa")
    store = kept.read_bytes()
    profile = Policy.load(policy).profile.fingerprint
    assert binding_value(row["payload"], profile).encode() in store
    if text != TEXT:
        assert text.startswith(TEXT)
        assert verdict(text.encode(), WRAPPER)[:3] == ("valid", "valid", "match")
        found = c2pa_text.find_wrapper_info(text)
        assert found is not None
        assert found[0] == store
    else:
        assert verdict(text.encode(), DETACHED, store)[:3] == ("valid", "valid", "match")
    return store


@pytest.mark.parametrize("embed", ["a8", "none"])
def test_an_answer_is_signed_whole_and_streamed(
    policy: Path, signing: dict[str, Any], embed: str
) -> None:
    signing["embed"] = embed
    for body in (CHAT, PLAIN):
        status, headers, data = answered(policy, engine(json.dumps(body).encode()), signing)
        assert status == 200
        assert int(headers[b"content-length"]) == len(data)
        (choice,) = json.loads(data)["choices"]
        text = choice.get("text") or choice["message"]["content"]
        assert (text == TEXT) is (embed == "none")
        check(policy, text, headers)
    for name, line in (("delta", "\n"), ("text", "\r\n")):
        whole = events(*parts(name), line=line)
        pieces = [whole[at : at + 50] for at in range(0, len(whole), 50)]
        app = engine(*pieces, kind="text/event-stream; charset=utf-8")
        status, headers, data = answered(policy, app, signing)
        assert data.rstrip().endswith(b"data: [DONE]")
        assert (heard(data) == TEXT) is (embed == "none")
        check(policy, heard(data), headers)


def test_each_answer_has_a_manifest_of_its_own(policy: Path, signing: dict[str, Any]) -> None:
    app = engine(json.dumps(PLAIN).encode())
    stores = set()
    for _ in range(3):
        _, headers, data = answered(policy, app, signing)
        stores.add(check(policy, json.loads(data)["choices"][0]["text"], headers))
    assert len(stores) == len({row["manifest"] for row in rows(policy)}) == 3


def test_what_holds_no_text_passes_as_it_is(policy: Path, signing: dict[str, Any]) -> None:
    call = {"choices": [{"message": {"content": None, "tool_calls": [1]}}]}
    status, _, data = answered(policy, engine(json.dumps(call).encode()), signing)
    assert (status, json.loads(data)) == (200, call)
    for app, status in (
        (engine(b'{"error": 1}', status=400), 400),
        (engine(b"<html>", kind="text/html"), 200),
    ):
        found = answered(policy, app, signing)
        assert (found[0], found[2]) in ((status, b'{"error": 1}'), (status, b"<html>"))
    assert list((policy.parent / "manifests").iterdir()) == []


def test_what_cannot_have_one_manifest_is_refused_before_its_row(
    policy: Path, signing: dict[str, Any]
) -> None:
    app = engine(b"{}")
    for body in ({"n": 2}, {"best_of": 3}, {"prompt": ["a", "b"]}):
        assert answered(policy, app, signing, body)[0] == 400
    assert answered(policy, app, signing, path="/v1/responses")[0] == 400
    assert rows(policy) == []
    for body in ({"n": 1}, {"prompt": ["a"]}, {"prompt": [1, 2]}):
        assert answered(policy, engine(b"{}"), signing, body)[0] == 200


def test_an_answer_that_cannot_be_signed_does_not_leave_as_if_it_were(
    policy: Path, signing: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(manifests, "write_atomic", full)
    status, _, data = answered(policy, engine(json.dumps(CHAT).encode()), signing)
    assert (status, json.loads(data)["error"]["code"]) == (500, 500)
    stream = engine(events(*parts("delta")), kind="text/event-stream")
    _, _, data = answered(policy, stream, signing)
    assert b'"error"' in data
    assert heard(data.replace(b'"error"', b'"choices": [], "error"')) == TEXT[: -len(WORDS[-1])]


def test_a_certificate_that_is_not_fit_stops_the_gateway_when_it_starts(
    policy: Path, signing: dict[str, Any]
) -> None:
    root = authority()
    key, old = manifest_signer(root, since=-9 * DAY, until=-DAY)
    (policy.parent / "old.pem").write_bytes(pem(old))
    (policy.parent / "old.key").write_bytes(key_pem(key))
    with pytest.raises(SigningError) as caught:
        changed(policy, manifest={**signing, "certificate": "old.pem", "key": "old.key"})
    assert caught.value.code == "signing-expired"
    (policy.parent / "root.pem").write_bytes(pem(root[1]))
    (policy.parent / "root.key").write_bytes(key_pem(root[0]))
    with pytest.raises(SigningError, match="authority"):
        changed(policy, manifest={**signing, "certificate": "root.pem", "key": "root.key"})
