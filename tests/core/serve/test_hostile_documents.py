"""Every hostile document of the corpus through the service: refused as the program refuses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.core.documents import test_hostile_corpus as corpus

from pura.base.errors import InputError
from pura.record.answers import Role

pytestmark = pytest.mark.weekly

READS = {"refused", "text_of", "read_data"}
# The corpus's own tests, collected again here; those about files on a disk are none of a service.
globals().update(
    {
        name: test
        for name, test in vars(corpus).items()
        if name.startswith("test_") and READS & set(test.__code__.co_names)
    }
)


@pytest.fixture(autouse=True)
def _through_the_service(
    detector: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ask the service about whatever a test reads, and read it after that."""
    client, header = detector(limits={"at_once_s": 0.0}), token(Role.INTERNAL)
    read = corpus.read_data

    def asked(data: bytes, *, name: str, **more: Any) -> Any:
        told = client.post("/v1/checks", files={"file": (name, data)}, headers=header)
        shown = told.json()
        assert client.get("/healthz").text == "ok"
        try:
            found = read(data, name=name, **more)
        except InputError as error:
            refused = (told.status_code in (413, 422), shown["code"], bool(shown["title"]))
            assert refused == (True, error.code, True)  # noqa: PT017 - the test goes on with it
            raise
        if told.status_code in (200, 202):
            assert client.delete(told.headers["location"], headers=header).status_code == 204
        else:
            assert shown["code"] in ("input-part", "serve-large")
        return found

    monkeypatch.setattr(corpus, "read_data", asked)
