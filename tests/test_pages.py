"""The pages that are made from the program are what it makes."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAKER = ROOT / "packaging" / "site" / "troubleshooting.py"


@pytest.fixture(scope="module")
def maker():
    return runpy.run_path(str(MAKER))


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_of_errors_is_what_the_code_makes(maker, language):
    path = maker["PAGES"][language]
    assert path.read_text(encoding="utf-8") == maker["page"](language), f"run {MAKER.name}"


def test_every_code_of_an_error_has_a_section(maker):
    sources = [p for f in ("core/pura", "app/pura_audit") for p in (ROOT / f).rglob("*.py")]
    codes = {
        code
        for path in sources
        for code in re.findall(r'[ (]code="([a-z-]+)"', path.read_text(encoding="utf-8"))
    } - {"tbcc", "spc"}
    assert len(codes) > 90
    assert codes <= {*maker["by_code"](), *maker["WINDOW"]}
