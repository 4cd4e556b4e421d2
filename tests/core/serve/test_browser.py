"""The page in a real browser: dropped file, answer, error, and that nothing else is loaded."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.core.serve.conftest import Wire

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
pytestmark = pytest.mark.weekly
if BROWSER is None or importlib.util.find_spec("playwright") is None:
    pytest.skip("not installed: chromium, and playwright for Python", allow_module_level=True)

DROP = """(text) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], "<img src=x onerror=alert(1)>.txt"));
  document.dispatchEvent(new DragEvent("drop", {dataTransfer: carried, cancelable: true}));
}"""


@pytest.fixture
def browser(wire: Callable[..., Wire]) -> Iterator[Callable[..., Any]]:
    """Start a service and open its page: ``browser(settings, **of_the_browser)``."""
    from playwright.sync_api import sync_playwright

    there = wire(
        limits={"at_once_s": 0.0}, protection={"per_day_block": 16}, contact="desk@example.org"
    )
    with sync_playwright() as play:
        # Without a single font, as the other tests want it, Chromium ends.
        around = {k: v for k, v in os.environ.items() if k != "FONTCONFIG_FILE"}
        started = play.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"], env=around
        )

        def opened(**settings: Any) -> Any:
            page = started.new_context(**settings).new_page()
            page.set_default_timeout(120_000)
            page.goto(f"http://127.0.0.1:{there.port}/")
            return page

        yield opened
        started.close()


def seen(page: Any, name: str) -> None:
    """Keep a picture where somebody wants to look at it."""
    if folder := os.environ.get("PURA_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_a_text_goes_in_and_the_answer_comes_out(
    browser: Callable[..., Any], marked: list[str], plain: str
) -> None:
    page = browser(locale="en-US", viewport={"width": 1280, "height": 800})
    asked, faults = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.get_by_label("Was this text marked").fill("Too short.")
    assert page.get_by_text("probably too short").is_visible()
    seen(page, "short")
    page.evaluate(DROP, marked[0])
    page.get_by_role("heading", name="Marked by this system").wait_for()
    assert page.evaluate("document.activeElement.id") == "answer"
    seen(page, "marked")
    page.get_by_role("link", name="Check another text").click()
    page.get_by_label("Was this text marked").fill(plain)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="No statement").first.wait_for()
    assert {url.split("/")[2] for url in asked} == {page.url.split("/")[2]}
    assert [one for one in faults if "favicon" not in one] == []

    bare = browser(
        locale="de-DE",
        java_script_enabled=False,
        color_scheme="dark",
        viewport={"width": 360, "height": 740},
    )
    seen(bare, "phone-dark-form")
    bare.get_by_label("Hat dieses System").fill(marked[1])
    bare.get_by_role("button", name="Prüfen").click()
    bare.get_by_role("heading", name="Von diesem System markiert").wait_for()
    seen(bare, "phone-dark-marked")
    assert bare.evaluate("document.documentElement.scrollWidth") <= 360
    bare.goto(bare.url.rpartition("/answers/")[0])
    bare.get_by_label("Hat dieses System").fill("<b>" + plain[::-1] * 20)
    bare.get_by_role("button", name="Prüfen").click()
    bare.get_by_role("alert").wait_for()
    assert bare.get_by_label("Hat dieses System").input_value().startswith("<b>")
    seen(bare, "phone-dark-spent")
