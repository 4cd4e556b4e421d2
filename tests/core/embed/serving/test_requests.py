"""Requests as a gateway rebuilds them: known routes, known fields, each checked."""

import json
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.embed.serving.small_engine import REQUESTS, TICKET_FIELDS

from pura.embed.serving.requests import (
    AnswerForm,
    EngineRoutes,
    Reason,
    RequestRefusedError,
    Route,
    checked_fields,
    rebuild,
)
from pura.embed.serving.routes import ENGINES
from pura.embed.serving.routes.litellm import ROUTES as LITELLM
from pura.embed.serving.tickets import TICKET

LEAST = 16
WRITING = [
    pytest.param(engine, route, id=f"{engine.name} {route.path}")
    for engine in ENGINES.values()
    for route in engine.routes
    if route.answer is not None
]
# What a client may think that names a mark, in any engine.
MARKS = ("pura", "pura_payload", "pura_profile", "pura_ticket", *TICKET_FIELDS.values())


def rebuilt(route: Route, body: Any) -> dict[str, Any]:
    return rebuild(route, body, ("council-7b", "council"), LEAST).body


def refusal(route: Route, body: Any) -> RequestRefusedError:
    with pytest.raises(RequestRefusedError) as caught:
        rebuilt(route, body)
    return caught.value


def base(route: Route) -> dict[str, Any]:
    return dict(REQUESTS[route.path])


# --- the tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("engine", "route"), WRITING)
def test_an_honest_request_is_carried_over(engine: EngineRoutes, route: Route) -> None:
    body = base(route)
    assert rebuilt(route, body) == {**body, "model": "council-7b"}
    assert rebuilt(route, {**body, "model": "council"})["model"] == "council"


@pytest.mark.parametrize(("engine", "route"), WRITING)
def test_no_field_of_a_table_is_two_things(engine: EngineRoutes, route: Route) -> None:
    assert route.fields is not None
    assert not route.fields.keys() & route.refused.keys()
    (carrier,) = engine.ticket("t")
    assert carrier in route.refused
    assert carrier not in route.fields
    assert not engine.fixed.keys() & {name for name, f in route.fields.items() if f.carried}


@pytest.mark.parametrize(("engine", "route"), WRITING)
def test_a_field_that_is_listed_as_refused_is_refused_with_its_reason(
    engine: EngineRoutes, route: Route
) -> None:
    for name, reason in route.refused.items():
        error = refusal(route, {**base(route), name: {}})
        assert error.key == "gateway.field"
        assert error.values == {"name": name, "why": reason.phrase}
        assert name not in rebuilt(route, {**base(route), name: None})


@pytest.mark.parametrize("name", ["a_new_field", "", *MARKS])
@pytest.mark.parametrize(("engine", "route"), WRITING)
def test_a_field_in_no_list_is_refused(engine: EngineRoutes, route: Route, name: str) -> None:
    assert refusal(route, {**base(route), name: {"x": 1}}).key == "gateway.field"


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_a_path_is_known_whole_and_with_its_method(engine: EngineRoutes) -> None:
    for route in engine.routes:
        assert engine.find(route.method, route.path) is route
        other = "POST" if route.method == "GET" else "GET"
        for method, path in (
            (other, route.path),
            (route.method, f"{route.path}x"),
            (route.method, f"/x{route.path}"),
            (route.method.lower(), route.path),
        ):
            with pytest.raises(RequestRefusedError) as caught:
                engine.find(method, path)
            assert caught.value.status == 404


def test_litellms_names_of_calls_have_the_same_checks() -> None:
    assert {route.answer for route in LITELLM.values()} == {
        AnswerForm.COMPLETION,
        AnswerForm.CHAT,
    }
    for route in LITELLM.values():
        assert checked_fields(route, base(route)) == base(route)


# --- values -------------------------------------------------------------------------------------

NEUTRAL = {
    "echo": (False, True),
    "suffix": ("", "and then"),
    "n": (1, 2),
    "logit_bias": ({}, {"5": 100}),
    "frequency_penalty": (0.0, 0.5),
    "presence_penalty": (0, 0.5),
    "logprobs": (False, 5),
}


@pytest.mark.parametrize("field", NEUTRAL)
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_only_a_neutral_value_is_accepted_and_it_is_not_passed_on(
    engine: EngineRoutes, field: str
) -> None:
    route = engine.find("POST", "/v1/completions")
    neutral, other = NEUTRAL[field]
    assert field not in rebuilt(route, {**base(route), field: neutral})
    assert field not in rebuilt(route, {**base(route), field: None})
    assert refusal(route, {**base(route), field: other}).values["name"] == field


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("field", ["temperature", "top_p", "top_k", "min_p", "seed", "user"])
def test_what_the_profile_rules_is_not_passed_on(engine: EngineRoutes, field: str) -> None:
    route = engine.find("POST", "/v1/completions")
    value = "me" if field == "user" else 0
    assert field not in rebuilt(route, {**base(route), field: value})
    assert refusal(route, {**base(route), field: [value]}).values["name"] == field


@pytest.mark.parametrize(
    "messages",
    [
        [],
        {},
        [{"role": "user"}, {"role": "assistant", "content": "It began"}],
        [{"role": "assistant", "content": "It began"}],
        [{"role": "user", "content": "a", "prefix": True}],
        [{"role": "oracle", "content": "a"}],
        [{"content": "a"}],
        [{"role": "user", "content": [{"type": "file", "file": {}}]}],
        [{"role": "user", "content": 5}],
        ["a"],
    ],
)
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_a_conversation_that_is_refused(engine: EngineRoutes, messages: Any) -> None:
    route = engine.find("POST", "/v1/chat/completions")
    assert str(refusal(route, {"messages": messages}).values["name"]).startswith("messages")


def test_a_conversation_may_end_with_a_tool_and_list_its_parts() -> None:
    route = ENGINES["vllm"].find("POST", "/v1/chat/completions")
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What time is it?"}]},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "content": "noon", "tool_call_id": "a"},
    ]
    assert rebuilt(route, {"messages": messages})["messages"] == messages


@pytest.mark.parametrize("prompt", [["a", "b"], [[1, 2]], [1, "a"], [], {}, 5, [-1], [True]])
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_a_prompt_that_is_refused(engine: EngineRoutes, prompt: Any) -> None:
    route = engine.find("POST", "/v1/completions")
    if prompt == [[1, 2]]:  # a list of one prompt is that prompt
        assert rebuilt(route, {"prompt": prompt})["prompt"] == [1, 2]
    else:
        assert str(refusal(route, {"prompt": prompt}).values["name"]).startswith("prompt")


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/v1/completions", {"max_tokens": LEAST - 1}),
        ("/v1/completions", {"max_tokens": 0}),
        ("/v1/chat/completions", {"max_tokens": 2}),
        ("/v1/chat/completions", {"max_completion_tokens": 2}),
        ("/v1/chat/completions", {"max_tokens": 100, "max_completion_tokens": 2}),
        ("/api/generate", {"options": {"num_predict": 2}}),
        ("/api/chat", {"options": {"num_predict": 0}}),
    ],
)
def test_an_answer_that_could_carry_no_mark_is_refused(path: str, limit: dict[str, Any]) -> None:
    route = ENGINES["llama.cpp"].find("POST", path)
    assert refusal(route, {**REQUESTS[path], **limit}).key == "gateway.short"


@pytest.mark.parametrize("predict", [-1, -2, LEAST])
def test_ollamas_answer_without_a_limit_is_accepted(predict: int) -> None:
    route = ENGINES["llama.cpp"].find("POST", "/api/generate")
    body = rebuilt(route, {"prompt": "a", "options": {"num_predict": predict, "num_ctx": 4096}})
    assert body["options"] == {"num_predict": predict}


@pytest.mark.parametrize("model", ["other", "", "x" * 10_000, 5, None])
def test_a_model_that_is_not_served_is_refused(model: Any) -> None:
    """So no client's own words become a column of the register."""
    route = ENGINES["vllm"].find("POST", "/v1/completions")
    if model is None:
        assert rebuilt(route, {"prompt": "a", "model": None})["model"] == "council-7b"
    else:
        assert refusal(route, {"prompt": "a", "model": model}).status in (400, 404)


def test_every_reason_has_words_in_each_language() -> None:
    for reason in Reason:
        error = RequestRefusedError("gateway.field", name="x", why=reason.phrase)
        for language in ("en", "de"):
            happened, way_out = error.words(language)
            assert "{" not in happened
            assert way_out


# --- anything -----------------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = sorted(
    {name for e in ENGINES.values() for r in e.routes for name in {**(r.fields or {}), **r.refused}}
)
BODIES = st.dictionaries(
    st.sampled_from([*NAMES, *MARKS]) | st.text(string.printable, max_size=12), JSON, max_size=6
)


@settings(max_examples=400, deadline=None)
@given(
    case=st.sampled_from([parameter.values for parameter in WRITING]),
    changes=BODIES,
    keeps_base=st.booleans(),
)
def test_whatever_a_body_holds_it_is_refused_or_rebuilt_of_known_fields(
    case: tuple[EngineRoutes, Route], changes: dict[str, Any], *, keeps_base: bool
) -> None:
    engine, route = case
    body = {**(base(route) if keeps_base else {}), **changes}
    try:
        request = rebuild(route, body, ("council-7b",), LEAST)
    except RequestRefusedError as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert refused.status in (400, 404)
        assert str(refused)
        return
    assert route.fields is not None
    assert set(request.body) <= {n for n, f in route.fields.items() if f.carried}
    assert set(request.body).isdisjoint([*MARKS, *route.refused])
    assert request.body["model"] == "council-7b"
    assert set(route.needed) <= set(request.body)
    # What was rebuilt is accepted again, and is then the same: nothing was guessed.
    again = {**request.body, "stream": request.stream}
    assert rebuild(route, again, ("council-7b",), LEAST).body == again
    sent = {**request.body, **engine.fixed, **engine.ticket("t")}
    assert _named(json.loads(json.dumps(sent)), TICKET) == ["t"]


def _named(value: Any, name: str) -> list[Any]:
    """Return what stands under a name anywhere in JSON."""
    if isinstance(value, dict):
        own = [value[name]] if name in value else []
        return own + [one for part in value.values() for one in _named(part, name)]
    if isinstance(value, list):
        return [one for part in value for one in _named(part, name)]
    return []


@given(body=JSON)
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    route = ENGINES["vllm"].find("POST", "/v1/completions")
    if not isinstance(body, dict):
        assert refusal(route, body).key == "gateway.no-object"
