"""The page of the package and the notebook: every block runs, one after the other."""

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.core.programs import lend

import pura
from pura.base.paths import user_paths

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reference" / "api.md"
NOTEBOOK = DOCS / "start" / "notebook.ipynb"


@pytest.fixture
def desk(tmp_path, small_models, small_samples, small_model, lent, monkeypatch) -> Path:
    """A folder with what page and notebook ask for, and the small model among the user's."""
    sample = small_samples["marked-tbcc"]
    lend(small_models, user_paths().models)
    (tmp_path / "newsroom.key").write_text(sample["key_hex"])
    profile = pura.Profile.from_dict(sample["profile"]).with_(model=small_model.fingerprint)
    profile.save(tmp_path / "house.json")
    (tmp_path / "letters").mkdir()
    for name in ("letter.txt", "letters/a.txt"):
        (tmp_path / name).write_text(sample["texts"][0]["text"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(blocks: list[str]) -> str:
    """Run blocks of Python in one namespace; return what they print."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with redirect_stdout(io.StringIO()) as printed:
        for block in blocks:
            exec(compile(block, "page", "exec"), names)
    return printed.getvalue()


def test_every_block_of_the_page_runs(desk):
    page = PAGE.read_text(encoding="utf-8")
    printed = run(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    lines = printed.splitlines()
    assert lines[0].startswith("mark True ")
    assert "a True None" in lines
    assert any(line.startswith("b False ") for line in lines)
    assert "['mark']" in lines
    assert (desk / "course.png").stat().st_size > 5000
    assert "input-unreadable" in lines


def test_the_page_has_an_example_for_each_function_and_ten_recipes():
    page = PAGE.read_text(encoding="utf-8")
    examples, _, rest = page.partition("## Recipes")
    recipes, _, reference = rest.partition("## Functions")
    assert len(re.findall(r"^### ", recipes, re.MULTILINE)) == 10
    for name in pura.__all__:
        if name.startswith("_"):
            continue
        listed = f":: pura.{name}\n" in reference
        assert listed or name in ("MarkIdentity", "PayloadSeries"), name
        if name.islower() and name != "sign_manifest":
            assert f"pura.{name}(" in examples, name
        assert "Raises:" in (getattr(pura, name).__doc__ or "") or not name.islower(), name
        assert "Examples:" in (getattr(pura, name).__doc__ or "") or not name.islower(), name


def test_the_notebook_runs_and_holds_nothing_that_was_printed(desk):
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert book["nbformat"] == 4
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert len(cells) >= 6
    # The last line of a cell is shown by a notebook; it is a value here too.
    run(["".join(cell["source"]) for cell in cells])
    kinds = [cell["cell_type"] for cell in book["cells"]]
    assert kinds[0] == "markdown"
