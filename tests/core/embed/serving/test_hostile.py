"""The table of hostile requests before the gateway's tables, with a small engine behind each.

``packaging/weekly.sh engines`` sends the same table to the engines themselves and to LiteLLM's
proxy.
"""

from pathlib import Path

import pytest
from tests.core.embed.serving.hostile import HOSTILE, Expected, HostileAnswer, HostileRequest
from tests.core.embed.serving.small_engine import (
    CUSTOMER,
    TOKEN,
    SmallEngine,
    ask,
    load_policy,
    misplaced,
    rows_in,
    tokens_of,
)

from pura.embed.serving.gateway import Gateway, GatewayMiddleware
from pura.embed.serving.routes import ENGINES
from pura.scheme import Payload

LENGTH = 60


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("request_", HOSTILE, ids=[request.title for request in HOSTILE])
def test_an_answer_carries_the_payload_of_its_row_or_there_is_none(
    tmp_path: Path, engine: str, request_: HostileRequest
) -> None:
    policy = load_policy(tmp_path, engine=engine, models=["council"])
    gateway = Gateway(policy)
    middleware = GatewayMiddleware(SmallEngine(gateway.office, policy.engine.name), gateway)
    path, _, query = request_.path.partition("?")
    added = [(name.encode(), value.encode()) for name, value in request_.headers]
    got = ask(
        middleware,
        request_.body(LENGTH, "council"),
        path=path,
        query=query.encode(),
        method=request_.method,
        headers=[CUSTOMER, TOKEN, *added],
    )
    answer, rows = HostileAnswer(got.status, got.body), rows_in(tmp_path)
    if request_.expected is Expected.REFUSED or answer.status != 200:
        assert request_.expected is not Expected.ANSWERED
        assert (400 <= answer.status < 500, answer.text, rows) == (True, "", [])
        return
    (row,) = rows
    assert row["who"] == "north"
    assert misplaced(tokens_of(answer.text), Payload(text=row["payload"])) == []


def test_the_table_has_no_request_twice() -> None:
    assert len({request.title for request in HOSTILE}) == len(HOSTILE) >= 60
