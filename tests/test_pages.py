"""The pages of the site that are made from the program."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "packaging" / "site"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SITE))
        import reference

        reference.write(folder)
    return folder


def test_every_code_of_an_error_has_a_section(pages):
    sources = [p for f in ("core/pura", "app/pura_audit") for p in (ROOT / f).rglob("*.py")]
    codes = {
        code
        for path in sources
        for code in re.findall(r'[ (]code="([a-z-]+)"', path.read_text(encoding="utf-8"))
    } - {"tbcc", "spc"}
    assert len(codes) > 90
    for folder in (pages / "reference", pages / "de" / "reference"):
        made = (folder / "errors.md").read_text(encoding="utf-8")
        assert codes <= set(re.findall(r"^## `([a-z-]+)`$", made, re.MULTILINE))


def test_commands_settings_and_rows_have_their_pages_in_both_languages(pages):
    rows = (pages / "reference" / "schemas.md").read_text(encoding="utf-8")
    assert "* `verdict`" in rows
    for language, word in (("", "Audit"), ("de", "Texte")):
        folder = pages / language / "reference"
        commands = (folder / "commands.md").read_text(encoding="utf-8")
        assert "## `pura report verify`" in commands
        assert word in commands
        assert "* `t_found` = `6" in (folder / "settings.md").read_text(encoding="utf-8")
