"""Our interface beside the one that C2PA publishes, and what strangers send to both."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
import tests.fuzz.bodies  # noqa: F401  # how manifest stores are sent
from hypothesis import given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    positive_data_acceptance,
    response_schema_conformance,
)
from tests.core.manifest_stores import FIRST, store
from tests.core.serve.conftest import Make, Start, Token
from tests.core.serve.test_softbinding import ALG, BASE, PLAIN, STORE, by_content, published

from pura.provenance.binding import binding_value, text_fingerprint
from pura.record.answers import Role

ROOT = Path(__file__).resolve().parents[3]
WELL_KNOWN = "/.well-known/c2pa-soft-binding-resolution"
REFERENCE = "/matches/byReference"
RECEIPTS = "/manifests/{activeManifestId}/receipts"
METHODS = ("get", "post", "put", "delete")


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    """What is published, with the one fault that is not followed taken out."""
    path = ROOT / "tests/data/c2pa/soft-binding-resolution-2.4.0.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    algorithms = found["components"]["schemas"]["c2pa.softBindingAlgList"]["properties"]
    del algorithms["watermarks"]["items"]["oneOf"]  # each would have to hold a list of them
    return found


def operations(of: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (path, method): route[method]
        for path, route in of["paths"].items()
        for method in METHODS
        if method in route
    }


def resolved(schema: Any, of: dict[str, Any]) -> Any:
    """Return a schema with what it refers to in its place."""
    if isinstance(schema, list):
        return [resolved(one, of) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return resolved(of["components"]["schemas"][name], of)
    return {name: resolved(one, of) for name, one in schema.items()}


def test_every_published_address_is_here(theirs: dict[str, Any], detector: Start) -> None:
    ours = operations(detector(soft_binding=ALG).get("/v1/openapi.json").json())
    for (path, method), operation in operations(theirs).items():
        if path in (RECEIPTS, REFERENCE):  # which are optional: not made, and refused
            continue
        where = path if path == WELL_KNOWN else BASE + path
        mine = ours[where, method]
        wanted = {(one["name"], one["in"]): one for one in operation.get("parameters", ())}
        found = {(one["name"], one["in"]): one for one in mine.get("parameters", ())}
        assert (where, set(found)) == (where, set(wanted))
        for name, one in wanted.items():
            assert (name, one.get("required", False)) == (name, found[name]["required"])
            for fact in ("type", "default", "minimum"):
                if fact in one["schema"]:
                    assert found[name]["schema"][fact] == one["schema"][fact], (where, name)
        body, taken = (o.get("requestBody", {}).get("content", {}) for o in (operation, mine))
        texts = {kind for kind in body if kind.partition("/")[0] in ("text", "application")}
        assert (where, set(taken)) == (where, texts)
        for code, answer in operation["responses"].items():
            if code.startswith("2"):
                content = mine["responses"][code].get("content", {})
                assert (where, set(content)) == (where, set(answer["content"]))


def test_our_answers_fit_what_is_published(
    theirs: dict[str, Any], detector: Start, token: Token, marked: list[str]
) -> None:
    client = detector(soft_binding=ALG)
    trusted, publisher = token(Role.TRUSTED), token(Role.PUBLISHER)
    profile = client.app.state.service.setup.profile.fingerprint
    value = {"alg": ALG, "value": binding_value("0101", profile)}
    made = store(fingerprint=text_fingerprint(marked[0]))
    published(client, publisher, made, value["value"])
    place = f"{BASE}/manifests"
    answers = {
        ("/manifests", "post"): client.post(place, content=made, headers=publisher | STORE),
        ("/matches/byBinding", "get"): client.get(
            f"{BASE}/matches/byBinding", params=value, headers=trusted
        ),
        ("/matches/byBinding", "post"): client.post(
            f"{BASE}/matches/byBinding", json=value, headers=trusted
        ),
        ("/matches/byContent", "post"): by_content(client, marked[0], trusted | PLAIN),
        (WELL_KNOWN, "get"): client.get(WELL_KNOWN),
        **{
            (f"/services/{name}", "get"): client.get(f"{BASE}/services/{name}")
            for name in ("supportedAlgorithms", "status", "capabilities")
        },
    }
    known = operations(theirs)
    for where, answer in answers.items():
        schema = known[where]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json(), resolved(schema, theirs))
    told = answers[WELL_KNOWN, "get"].json()
    assert told["c2paSpecificationVersion"] == theirs["info"]["version"]
    for name in ("capabilitiesEndpoint", "statusEndpoint"):
        assert client.get(told[name]).status_code == 200
    # A receipt is not found, as is published of a repository that makes none.
    assert client.get(f"{place}/{FIRST}/receipts", headers=trusted).status_code == 404


def send(
    document: dict[str, Any], app: Any, headers: dict[str, str], **how: Any
) -> dict[str, set[int]]:
    """Send requests made of a description to the application, and check what it answers.

    Returns:
        Of each operation, the statuses that were answered.
    """
    schema = schemathesis.openapi.from_dict(document)
    schema.app = app
    found: dict[str, set[int]] = {}

    @settings(max_examples=8, deadline=None, derandomize=True, database=None)
    def sent(case: schemathesis.Case) -> None:
        answer = case.call_and_validate(headers=headers, **how)
        found.setdefault(case.operation.label, set()).add(answer.status_code)

    for result in schema.get_all_operations():
        given(case=result.ok().as_strategy())(sent)()
    return found


def test_what_strangers_send_is_answered_as_published(
    theirs: dict[str, Any], made: Make, token: Token
) -> None:
    app, _ = made(soft_binding=ALG)
    document = copy.deepcopy(theirs)
    document["servers"] = [{"url": f"http://testserver{BASE}"}]
    for optional in (RECEIPTS, WELL_KNOWN):
        del document["paths"][optional]
    texts = document["paths"]["/matches/byContent"]["post"]["requestBody"]["content"]
    for kind in [kind for kind in texts if kind.partition("/")[0] not in ("text", "application")]:
        del texts[kind]
    checks = [not_a_server_error, response_schema_conformance, content_type_conformance]
    for role in (Role.TRUSTED, Role.PUBLISHER):
        found = send(document, app, token(role, per_day=10**7), checks=checks)
        assert len(found) == 12
        told = set().union(*found.values())
        assert told <= {200, 204, 400, 403, 404, 422}, role
        assert (200 in found["POST /matches/byContent"]) is (role is Role.TRUSTED)


def test_what_strangers_send_is_answered_as_we_say(made: Make, token: Token) -> None:
    app, _ = made(soft_binding=ALG, public_lookups=True)
    document = app.openapi()
    tagged = {
        path: route
        for path, route in document["paths"].items()
        if any(one.get("tags") == ["soft binding"] for one in route.values())
    }
    # A value may be a string and no base64, a body bytes and no manifest store.
    headers = token(Role.PUBLISHER, per_day=10**7)
    found = send(
        document | {"paths": tagged}, app, headers, excluded_checks=[positive_data_acceptance]
    )
    assert len(found) == 14  # one address more than is published: of stores under one identifier
    assert set().union(*found.values()) <= {200, 204, 400, 403, 404}
    assert found["POST /v1/matches/byReference"] == {403}
