"""Statements of a detector: signed, found again in an answer, and changed by somebody."""

import base64
import copy
import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from joserfc import jws
from tests.core.certificates import DAY, packed, self_signed
from tests.core.programs import for_owner_alone
from typer.testing import CliRunner

from pura.base.errors import ReportFileError, ServeError
from pura.base.identity import load_identity
from pura.cli.__main__ import app
from pura.record.answers import digested
from pura.report.statement import (
    SCHEMA,
    Statement,
    StatementCheck,
    StatementKey,
    Trust,
    check_statement,
    find_statement,
    joserfc_key,
)
from pura.words.sentences import headline

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
TEXT = b"The council met on Tuesday."
RECORD = {"schema": "pura-audit/1", "steps": [0.5, 1e-07, 3], "note": None, "empty": {}}
ANSWER: dict[str, Any] = {
    "verdict": "mark",
    "headline": "A mark was found",
    "strength": "very strong",
    "supports": "mark",
    "meaning": "The text or part of it carries the mark of this system.",
    "sha256": hashlib.sha256(TEXT).hexdigest(),
    "created": "2026-11-23T12:00:00Z",
    "policy": {"name": "house", "version": 1, "sha256": "ab" * 32},
    "marks": [
        {
            "places": [{"start": 0, "end": 1480}, {"start": 2000, "end": 2600}],
            "fields": {"user": "17", "model": "3"},
        },
        {"places": [{"start": 3000, "end": 3100}], "fields": {}},
    ],
    "manifests": [
        {
            "form": "a8",
            "state": "valid",
            "signer": "Example Press",
            "signed_at": "2026-11-26T09:30:00+00:00",
            "manifest": "urn:c2pa:1",
            "soft_binding": "agrees",
        }
    ],
    "layers": "Mark and manifest agree.",
}
CONTENT: dict[str, Any] = {
    "schema": SCHEMA,
    "detector": "House",
    "version": "0.4.0",
    "role": "trusted",
    "language": "en",
    "check": {"id": "0Jv2nK1q", "status": "done", "answer": ANSWER},
}
FORMER: dict[str, Any] = {
    "schema": "pura-statement/1",
    "detector": "House",
    "version": "0.3.0",
    "role": "trusted",
    "created": ANSWER["created"],
    "sha256": ANSWER["sha256"],
    "verdict": "mark",
    "headline": asdict(headline("mark", 1)),
    "strength": "very strong",
    "supports": "mark",
    "policy": "ab" * 32,
    "policy_name": "house 1",
}
SAID = Statement.of(CONTENT)


def checked(statement: str, **more: Any) -> StatementCheck:
    return check_statement((statement, None, False), moment=NOW, **more)


def stated(key: StatementKey, *, record: Any = None) -> dict[str, Any]:
    """Return a check as the service shows it."""
    beside = {} if record is None else {"record": record}
    digest = {} if record is None else {"record": digested(record)}
    signed = CONTENT["check"] | {"answer": ANSWER | digest}
    statement = key.sign(CONTENT | {"check": signed})
    return copy.deepcopy(signed | {"answer": ANSWER | beside | {"statement": statement}})


@pytest.fixture
def own(tmp_path: Path) -> StatementKey:
    """The key of a detector, read again as it was made."""
    made = StatementKey.of(tmp_path / "key")
    assert for_owner_alone(tmp_path / "key")
    assert StatementKey.of(tmp_path / "key") == made
    return made


def certified(key: Any) -> tuple[StatementKey, bytes]:
    key, cert = self_signed("Detector Desk", key, now=NOW, until=9 * DAY)
    signer = StatementKey.of_identity(load_identity(packed(key, cert), None, now=NOW))
    return signer, cert.public_bytes(Encoding.PEM)


def test_who_signed_is_told_apart_from_that_nothing_changed(own):
    made = own.sign(CONTENT)
    known = Trust.read(own.public_pem().encode())
    found = checked(made, sha256=ANSWER["sha256"])
    assert (found.status, found.statement) == ("signed", SAID)
    assert checked(made, trust=known, sha256=ANSWER["sha256"]).status == "trusted"
    assert checked(made, trust=known, sha256="0" * 64).status == "amiss"
    _, stranger = certified(ec.generate_private_key(ec.SECP256R1()))
    assert checked(made, trust=Trust.read(stranger)).status == "amiss"


def test_certificates_of_every_kind_sign(own):
    keys = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP384R1()),
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        ed25519.Ed25519PrivateKey.generate(),
    )
    for key in keys:
        signer, cert = certified(key)
        made, trust = signer.sign(CONTENT), Trust.read(cert)
        found = checked(made, trust=trust)
        assert found.status == "trusted", signer.header["alg"]
        assert "Detector Desk" in found.checks[1].text("de")
        late = check_statement((made, None, False), moment=NOW + timedelta(days=20), trust=trust)
        assert [c.key for c in late.checks if c.name == "trust"] == ["trust.expired"]
    with pytest.raises(ServeError):
        certified(ec.generate_private_key(ec.BrainpoolP256R1()))


def test_nothing_of_what_nobody_signed_is_shown(own, tmp_path):
    head, body, signature = own.sign(CONTENT).split(".")
    other = StatementKey.of(tmp_path / "other")

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    plain = {"typ": "pura-statement+jws"}
    jwk = {**own.header["jwk"]}
    secret = base64.urlsafe_b64encode(b"x" * 32).decode().rstrip("=")
    forged = [
        f"{head}.{part({'verdict': 'no-mark'})}.{signature}",
        f"{head}.{body}.{signature[:-4]}AAAA",
        f"{part(plain | {'alg': 'none', 'jwk': jwk})}.{body}.",
        f"{part(plain | {'alg': 'HS256', 'jwk': {'kty': 'oct', 'k': secret}})}.{body}.{signature}",
        f"{part(plain | {'alg': 'Ed25519', 'jwk': other.header['jwk']})}.{body}.{signature}",
        f"{part(plain | {'alg': 'Ed25519', 'jwk': jwk, 'crit': ['b64']})}.{body}.{signature}",
        f"{part(plain | {'alg': 'ES256', 'x5c': []})}.{body}.{signature}",
        f"{part([])}.{body}.{signature}",
        signed(own, json.dumps(CONTENT | {"schema": "pura-statement/9"})),
        signed(own, json.dumps(CONTENT | {"note": 1})),
        signed(own, json.dumps(CONTENT)[:-1] + ', "role": "internal"}'),
        "..",
    ]
    for one in forged:
        found = checked(one)
        assert (found.status, found.statement) == ("amiss", None), one[:60]


def signed(key: StatementKey, content: str) -> str:
    """Return signed bytes that the detector itself would never sign."""
    header = {"typ": "pura-statement+jws", **key.header}
    private = joserfc_key(key.private, key.header["alg"])
    return jws.serialize_compact(header, content, private, algorithms=[key.header["alg"]])


def test_a_statement_is_found_in_an_answer(own, tmp_path):
    check = stated(own)
    answer = check["answer"]
    made = answer["statement"]
    for data in (f"{made}\n", json.dumps(check), json.dumps(answer)):
        found = find_statement(data.encode())
        assert found[0] == made
        assert check_statement(found, moment=NOW).status == "signed"
    for data in (b"", b"{", b"[]", b'{"answer": 3}', b"a.b", b"\xff.a.b", b"{" * 9999):
        with pytest.raises(ReportFileError):
            find_statement(data)
    (tmp_path / "damaged").write_bytes(b"no key")
    with pytest.raises(ServeError):
        StatementKey.of(tmp_path / "damaged")


Path_ = tuple[str | int, ...]


def walked(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Yield the place of everything in a value, containers too."""
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, one in below:
        yield (*at, name)
        yield from walked(one, (*at, name))


def at(value: Any, place: Path_) -> Any:
    for name in place:
        value = value[name]
    return value


def others(value: Any) -> list[Any]:
    """Return values that are not this one, of its own type and of others."""
    near: list[Any] = [None, "", "0", 0, 1, -1, 0.5, True, False, [], {}, 1e300]
    near += [[value], {"a": value}]
    if isinstance(value, str):
        near += [value + " ", value.upper(), value[:-1], value + "\u00ad", value + "\ud800"]
    elif isinstance(value, int | float):
        near += [value + 1, str(value), 2**80]
    elif isinstance(value, list):
        near += [value[::-1], value + value, value[1:], [*value, None]]
    elif isinstance(value, dict):
        near += [value | {"odd": 1}, value | {"": ""}]
    return [one for one in near if json.dumps(one) != json.dumps(value)]


def test_no_value_of_an_answer_can_be_changed_removed_or_added(own):
    """Walks everything in a check; ``statement`` itself is what is checked."""
    check = stated(own, record=RECORD)
    trust = Trust.read(own.public_pem().encode())
    whole = check_statement(find_statement(json.dumps(check).encode()), moment=NOW, trust=trust)
    assert whole.status == "trusted"
    places = [place for place in walked(check) if place[-1] != "statement"]
    assert len(places) > 35
    changed = 0
    for place in places:
        for value in [*others(at(check, place)), ...]:
            made = copy.deepcopy(check)
            if value is ...:  # removed
                del at(made, place[:-1])[place[-1]]
            else:
                at(made, place[:-1])[place[-1]] = value
            changed += 1
            try:
                found = find_statement(json.dumps(made).encode())
            except ReportFileError:
                assert place == ("answer",)  # it holds no statement any more
                continue
            told = check_statement(found, moment=NOW, trust=trust)
            assert told.status == "amiss", (place, value)
            assert told.statement == whole.statement  # what is shown is what was signed
            [copied] = [one for one in told.checks if one.name == "copy"]
            assert str(place[: 1 + (place[0] == "answer")][-1]) in copied.text("en")
    assert changed > 600


def test_what_is_written_otherwise_but_says_the_same_is_without_effect(own):
    check = stated(own, record=RECORD)

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: turned(value[name]) for name in reversed(value)}
        return [turned(one) for one in value] if isinstance(value, list) else value

    texts = [json.dumps(turned(check)), json.dumps(check, indent=3, ensure_ascii=False)]
    texts.append(json.dumps(check).replace('"version": 1,', '"version": 1.0e0,'))
    assert len(set(texts) | {json.dumps(check)}) == 4
    for text in texts:
        found = check_statement(find_statement(text.encode()), moment=NOW)
        assert found.status == "signed"
        assert [one.state for one in found.checks if one.name == "copy"] == ["good"]


def test_a_name_that_stands_twice_is_refused(own):
    """Walks all names: doubled before and after, with the same value and another."""
    check = stated(own)
    for place in walked(check):
        if isinstance(place[-1], int):
            continue
        for value in ("x", at(check, place)):
            mark = "MARK"
            made = copy.deepcopy(check)
            at(made, place[:-1])[mark] = value
            text = json.dumps(made).replace(f'"{mark}"', json.dumps(place[-1]))
            with pytest.raises(ReportFileError, match="twice"):
                find_statement(text.encode())


def test_a_statement_of_the_former_version_says_what_it_does_not_sign(own):
    made = signed(own, json.dumps(FORMER))
    trust = Trust.read(own.public_pem().encode())
    found = checked(made, trust=trust)
    assert found.status == "trusted"
    assert [one.state for one in found.checks if one.name == "copy"] == ["notice"]
    told = found.statement.plain()
    assert (told["headline"], told["marks"]) == ("A mark was found", None)
    assert ("Decision rule", f"house 1, SHA-256 {'ab' * 32}") in found.statement.lines()
    assert "nothing of places" in found.checks[1].text("en")
    answer = ANSWER | {"statement": made}
    beside = find_statement(json.dumps({"id": "x", "status": "done", "answer": answer}).encode())
    refused = check_statement(beside, moment=NOW, trust=trust)
    assert refused.status == "amiss"
    assert "by itself" in refused.checks[1].text("en")
    assert refused.statement == found.statement


def test_a_signature_is_written_in_one_way(own):
    made = own.sign(CONTENT)
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    end = made[:-1] + last[last.index(made[-1]) + 1]  # another letter for the same bytes
    inside = made[:-2] + "!" + made[-2:]
    for one in (end, inside, made + "=", made + ".", made.replace(".", "..", 1)):
        assert checked(one).status == "amiss", one[-8:]


def test_the_command_refuses_an_answer_that_was_changed(own, tmp_path, rows):
    answer, text, key = (tmp_path / name for name in ("a.json", "t.txt", "k.pem"))
    text.write_bytes(TEXT)
    key.write_text(own.public_pem())

    def verify(check: dict[str, Any], *words: object) -> Any:
        answer.write_text(json.dumps(check))
        command = ["serve", "statement", "verify", str(answer), *map(str, words)]
        return CliRunner().invoke(app, command)

    shown = verify(stated(own), "--text", text, "--language", "de")
    assert shown.exit_code == 4
    said = " ".join(shown.output.split())
    assert "Markierung 1: model: 3; user: 17; Zeichen 1 bis 1.480; Zeichen 2.001 bis 2.600" in said
    assert "very strong support for a mark" in said  # in the language that was signed
    assert verify(stated(own), "--text", text, "--trust", key).exit_code == 0
    assert verify(stated(own), "--text", key).exit_code == 1
    [row] = rows(verify(stated(own), "--json").output)
    assert (row["standing"], row["statement"]["sha256"]) == ("signed", ANSWER["sha256"])
    assert row["statement"]["marks"] == ANSWER["marks"]
    forged = stated(own)
    forged["answer"]["marks"][0]["places"][0]["end"] = 90
    forged["answer"]["marks"][0]["fields"]["user"] = "18"
    forged["answer"]["\x1b[2J"] = 1
    refused = verify(forged, "--trust", key)
    said = " ".join(refused.output.split())
    assert refused.exit_code == 1
    assert "answer.marks[0].fields.user, answer.marks[0].places[0].end" in said
    assert "\x1b[2J" not in refused.output
    assert "user: 17" in said
