"""The page for people, as a browser without script gets it."""

from __future__ import annotations

import html
import re
from typing import Any

from tests.core.serve.conftest import Start

from pura.base.paths import resource
from pura.record.answers import Role
from pura_audit.theme.theme import DARK, LIGHT

HOSTILE = "</textarea></title><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7 * 7 }}"
PARTS = ("background", "card", "line", "text", "muted", "accent", "accent_soft")
PARTS += ("on_accent", "against", "found")


def post(client: Any, text: str = "", file: tuple[str, bytes] | None = None, **more: Any) -> Any:
    return client.post("/", files={"text": (None, text), "file": file or ("", b"")}, **more)


def test_an_answer_is_one_form_away(detector: Start, marked: list[str], plain: str) -> None:
    client = detector()
    page = client.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|\son\w+=|<script>|https?://", page.text)
    found = post(client, marked[0])
    assert re.fullmatch(r".*/answers/[\w-]{32}", str(found.url))
    assert 'class="answer marked"' in found.text
    assert 'class="answer no-statement"' in post(client, plain).text
    lines = marked[0].replace(". ", ".\n").encode()
    assert 'class="answer marked"' in post(client, file=("letter.txt", lines)).text
    german = client.get("/", headers={"Accept-Language": "de"}).text
    assert '<html lang="de">' in german
    assert "Prüfen</button>" in german


def test_what_strangers_write_is_text(detector: Start, marked: list[str]) -> None:
    client = detector(limits={"characters": dict.fromkeys(Role, 50)}, name=HOSTILE, contact=HOSTILE)
    for page in (
        post(client, HOSTILE + "x" * 60),
        post(client, file=(f"{HOSTILE}.pdf", b"%PDF-1.7 broken")),
        post(client, file=(f"{HOSTILE}.docx", b"PK\3\4")),
        client.get("/answers/%3Cscript%3E%22"),
    ):
        assert page.status_code >= 400
        assert page.headers["content-type"].startswith("text/html")
        assert not re.search("<script>|<img", page.text)
        assert 'role="alert"' in page.text
        assert "{{ 7 * 7 }}" in page.text
    again = post(client, HOSTILE + "x" * 60).text
    [kept] = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", again, re.DOTALL)
    assert html.unescape(kept) == HOSTILE + "x" * 60


def test_errors_stand_where_the_answer_would(detector: Start, plain: str) -> None:
    client = detector(protection={"per_day_block": 1})
    post(client, plain)
    spent = post(client, f"{plain} More.", headers={"Accept-Language": "de"})
    assert spent.status_code == 429
    assert int(spent.headers["retry-after"]) > 0
    assert 'role="alert"' in spent.text
    assert plain.split()[0] in spent.text
    assert post(client).status_code == 400
    assert client.post("/", data={"text": "x"}).status_code == 415


def test_whoever_needs_a_token_is_told_and_not_asked(detector: Start) -> None:
    page = detector(anyone=False).get("/")
    assert page.status_code == 401
    assert "<form" not in page.text


def test_its_colours_are_those_of_the_window() -> None:
    sheet = resource("serve", "page.css").read_text(encoding="utf-8")
    found = [dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in sheet.split("@media")[:2]]
    for colours, tokens in zip(found, (LIGHT, DARK), strict=True):
        assert colours == {n.replace("_", "-"): getattr(tokens, n) for n in PARTS}


def test_a_form_that_another_site_filled_in_is_not_taken(detector: Start, plain: str) -> None:
    client = detector()
    elsewhere = post(client, plain, headers={"Sec-Fetch-Site": "cross-site"})
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (403, "serve-elsewhere")
    assert post(client, plain, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
