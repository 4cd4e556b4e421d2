"""What a mark survives of the programs of others: page, table, pictures and pins agree."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


@pytest.fixture
def survival(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "packaging" / "site"))
    import survival

    return survival


def test_pages_and_pictures_are_those_of_the_table(survival, tmp_path):
    made = (*survival.PAGES.values(), *survival.PICTURES.values())
    for name in (survival.TABLE, *made):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DOCS / name, tmp_path / name)
    survival.write_tools(tmp_path)
    for name in made:
        assert (tmp_path / name).read_bytes() == (DOCS / name).read_bytes(), name


def test_every_tool_is_pinned_and_in_the_table_and_names_no_other_wrong_payload(survival):
    tools = json.loads((ROOT / "tests/data/tools.json").read_text(encoding="utf-8"))
    with (DOCS / survival.TABLE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    named = [row["tool"] for row in rows]
    assert named == [name for name in tools if name in named]
    assert len(named) > 20
    packages = {package for tool in tools.values() for package in tool["packages"]}
    assert len({package for package in packages if not package.startswith("debian:")}) > 20
    for row in rows:
        name, tool = row["tool"], tools[row["tool"]]
        assert int(row["texts"]) >= 4, name
        wrong = str(len(tool.get("known_wrong", ())))
        assert (row["payload wrong"], row["called unmarked"]) == (wrong, "0"), name
        named = [f"{p.partition(':')[2]} {version}" for p, version in tool["packages"].items()]
        assert row["packages"] == "; ".join(named), name
        assert all(re.fullmatch(r"(pypi|npm|debian):\S+", p) for p in tool["packages"]), name
