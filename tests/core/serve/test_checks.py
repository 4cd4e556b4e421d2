"""What each role is answered, and what none is told."""

from __future__ import annotations

import hashlib
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.core.provenance import test_writing as writer
from tests.core.serve.conftest import Start, Token, ask

from pura.record.answers import Role, answer_values
from pura.report.statement import StatementKey, Trust, check_statement, find_statement
from pura.scheme import Profile
from pura.usecases.environment import Environment


def test_the_public_is_told_of_a_mark_or_nothing_and_never_a_number(
    detector: Start, marked: list[str], plain: str
) -> None:
    client = detector()
    found, nothing, short = (ask(client, text) for text in (marked[0], plain, "Too short."))
    assert [one.status_code for one in (found, nothing, short)] == [200] * 3
    assert found.json()["answer"]["verdict"] == "marked"
    assert nothing.json()["answer"] == short.json()["answer"]
    for one in (found, nothing, short):
        shown = one.json()
        assert set(shown) == {"id", "status", "answer"}
        assert set(shown["answer"]) == {"verdict", "headline", "meaning"}
        assert not re.search(r"\d", json.dumps(shown["answer"]))


def test_trusted_askers_get_places_and_released_fields_and_internal_ones_the_record(
    detector: Start, token: Token, marked: list[str]
) -> None:
    client = detector(anyone=False)
    trusted, internal = token(Role.TRUSTED), token(Role.INTERNAL)
    told = ask(client, marked[0], trusted).json()["answer"]
    assert told["verdict"] == "mark"
    assert told["strength"] == "extremely strong"
    assert told["supports"] == "mark"
    [place] = told["marks"][0]["places"]
    assert 0 <= place["start"] < place["end"] <= len(marked[0])
    assert "record" not in told
    # The key of the samples is public, so the answer stays a draft.
    assert told["meaning"].startswith("Draft: ")
    assert "The text or part of it carries the mark" in told["meaning"]
    whole = ask(client, marked[0], internal).json()["answer"]
    assert whole["record"]["schema"] == "pura-audit/1"
    assert whole["record"]["verdict"] == "mark"
    german = client.post(
        "/v1/checks",
        json={"text": marked[0]},
        headers=trusted | {"Accept-Language": "fr;q=0.9, de-AT"},
    )
    assert german.json()["answer"]["strength"] == "äußerst stark"
    assert german.headers["content-language"] == "de"


def test_a_check_belongs_to_its_token(detector: Start, token: Token, plain: str) -> None:
    client = detector()
    one, other = token(Role.TRUSTED, "one"), token(Role.INTERNAL, "other")
    place = f"/v1/checks/{ask(client, plain, one).json()['id']}"
    assert client.get(place, headers=one).status_code == 200
    for headers in (other, {}):
        assert client.get(place, headers=headers).status_code == 404
        assert client.delete(place, headers=headers).status_code == 404
    assert client.delete(place, headers=one).status_code == 204
    assert client.get(place, headers=one).status_code == 404
    assert client.get("/v1/checks/AAAA", headers=one).json()["code"] == "serve-unknown"


def test_the_detector_says_what_it_is(detector: Start) -> None:
    client = detector(contact="desk@example.org")
    shown = client.get("/v1/detector", headers={"Accept-Language": "de"}).json()
    assert shown["contact"] == "desk@example.org"
    assert shown["answers"]["marked"]["headline"] == "Von diesem System markiert"
    bound = shown["false_findings"]
    assert bound["any_of_a_day"] == bound["one"] * bound["questions"]
    assert client.get("/healthz").text == "ok"
    assert client.get("/readyz").text == "ready"
    assert client.get("/metrics").status_code == 403


def test_the_log_holds_lines_of_json_and_no_text(
    detector: Start, token: Token, plain: str, said: io.StringIO
) -> None:
    client = detector()
    ask(client, plain, token(Role.TRUSTED, "City paper"))
    [line] = [json.loads(one) for one in said.getvalue().splitlines()]
    assert (line["event"], line["token"], line["role"]) == ("check", "City paper", "trusted")
    assert line["bytes"] == len(plain.encode())
    assert line["tokens"] > 50


def test_all_that_holders_of_tokens_are_shown_is_signed(
    detector: Start, token: Token, marked: list[str], tmp_path: Path
) -> None:
    """Also when it is fetched again, in another language."""
    key = StatementKey.of(tmp_path / "key")
    client = detector(key=key)
    trust = Trust.read(key.public_pem().encode())
    digest = hashlib.sha256(marked[0].encode()).hexdigest()
    for role in (Role.TRUSTED, Role.INTERNAL):
        headers = token(role)
        asked = ask(client, marked[0], headers)
        place = f"/v1/checks/{asked.json()['id']}"
        again = client.get(place, headers=headers | {"Accept-Language": "de"})
        for told in (asked, again):
            found = check_statement(
                find_statement(told.content), moment=datetime.now(UTC), trust=trust, sha256=digest
            )
            assert found.status == "trusted"
            assert [one.key for one in found.checks if one.name == "copy"] == [
                "statement.copy-same"
            ]
            said, shown = found.statement, told.json()["answer"]
            assert (said.role, said.detector) == (role.value, "House")
            assert said.answer == {name: shown[name] for name in answer_values()}
            assert shown["marks"] != []
            assert bool(said.record) is (role is Role.INTERNAL) is ("record" in shown)
            for part in ("meaning", "marks", "record"):
                forged = told.json()
                forged["answer"].pop(part, None)
                data = json.dumps(forged).encode()
                forgery = check_statement(find_statement(data), moment=datetime.now(UTC))
                assert forgery.status == ("amiss" if part in shown else "signed")
        assert again.json()["answer"]["headline"] != asked.json()["answer"]["headline"]
    assert client.get("/v1/detector").json()["statement_key"] == key.public_pem()
    assert "statement" not in ask(client, marked[0]).json()["answer"]


def test_signed_manifests_are_told_and_the_operators_list_says_whom_to_trust(
    at: Environment,
    detector: Start,
    token: Token,
    small_samples: dict[str, Any],
) -> None:
    sample = small_samples["marked-tbcc"]
    text, payload = sample["texts"][0]["text"], sample["texts"][0]["payload"]
    profile = Profile.from_dict(sample["profile"]).fingerprint
    signed = writer.sign_text(
        text,
        writer.IDENTITY,
        writer.assertions(text, payload, profile, writer.ALGORITHM, now=writer.NOW),
    ).text
    at.paths.trust.parent.mkdir(parents=True, exist_ok=True)
    tokens = {role: token(role) for role in (Role.TRUSTED, Role.INTERNAL)}
    for trusted in (False, True):
        if trusted:
            at.paths.trust.write_bytes(writer.pem(writer.ROOT[1]))
        client = detector()
        for role, headers in tokens.items():
            [told] = ask(client, signed, headers).json()["answer"]["manifests"]
            assert (told["form"], told["state"]) == ("a8", "valid" if trusted else "untrusted")
            # Anybody can sign a guess of a payload; who may not hear it hears no answer to that.
            known = trusted or role is Role.INTERNAL
            assert told["soft_binding"] == ("agrees" if known else "absent")
        assert "manifests" not in ask(client, signed).json()["answer"]
