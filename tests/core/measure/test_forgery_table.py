"""The table of forgeries: cells that were run again take the place of their rows, others stay."""

import csv
import importlib
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "docs" / "how-it-works" / "study" / "forgery.csv"


@pytest.fixture
def forgery(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("forgery")


@pytest.fixture
def table(tmp_path):
    return Path(shutil.copy(TABLE, tmp_path / "forgery.csv"))


def namings(forgery, count, named):
    return [
        forgery.Naming(mark=True, before=True, named=number < named, pieces=False)
        for number in range(count)
    ]


def rows_of(table):
    return table.read_text(encoding="utf-8").splitlines()


def test_a_run_of_no_cell_leaves_the_table_as_it_is(forgery, table):
    forgery.write({}, table)
    assert rows_of(table) == rows_of(TABLE)


def test_a_cell_that_was_run_replaces_its_own_row_alone(forgery, table):
    cell = next(one for one in forgery.cells() if one.part == "composed")
    forgery.write({cell: namings(forgery, 40, named=3)}, table)
    changed = set(rows_of(table)) - set(rows_of(TABLE))
    assert changed == {forgery.row(cell, namings(forgery, 40, named=3))}
    assert len(rows_of(table)) == len(rows_of(TABLE))


def test_fewer_texts_than_the_table_holds_replace_nothing(forgery, table):
    cell = next(one for one in forgery.cells() if one.part == "composed")
    forgery.write({cell: namings(forgery, 2, named=2)}, table)
    assert rows_of(table) == rows_of(TABLE)


def test_a_cell_that_the_table_lacks_stands_where_the_study_puts_it(forgery, table):
    """The order of rows is that of the study, whichever cells were run."""
    cells = [forgery.row(cell, []).rsplit(",", forgery.COUNTS)[0] for cell in forgery.every_cell()]
    lacking = rows_of(table)
    lacking.remove(dropped := lacking[100])
    table.write_text("\n".join(lacking) + "\n", encoding="utf-8")
    name = dropped.rsplit(",", forgery.COUNTS)[0]
    cell = list(forgery.every_cell())[cells.index(name)]
    forgery.write({cell: namings(forgery, 20, named=0)}, table)
    assert rows_of(table)[100] == forgery.row(cell, namings(forgery, 20, named=0))


def test_a_row_that_is_of_no_cell_is_not_dropped_in_silence(forgery, table):
    with table.open("a", encoding="utf-8") as file:
        file.write("replay,spc,9,answer,320,24 answers greedy,20,0,0,0,0\n")
    with pytest.raises(ValueError, match="rows of no cell"):
        forgery.write({}, table)


def forged_texts(use):
    """Texts of the three ways of forging that are counted together, and how many name somebody.

    Greedy texts make no sense, so the pages count them apart.
    """
    rows = [
        row
        for row in csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())
        if row["part"] in ("replay", "accounts", "composed") and row["use"] == use
    ]
    rows = [row for row in rows if not row["what"].endswith("greedy")]
    return tuple(sum(int(row[name]) for row in rows) for name in ("texts", "named_before", "named"))


@pytest.mark.parametrize(
    ("page", "thousands", "of"),
    [("docs/how-to/forgery.md", ",", "of"), ("docs/de/how-to/forgery.md", ".", "von")],
)
def test_the_pages_say_what_the_table_says(page, thousands, of):
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    texts, before, named = forged_texts("recipient")
    count = f"{texts:,}".replace(",", thousands)
    assert f"**{named} {of} {count}**" in text
    assert f"{before} {of} {count}" in text
    answers = f"{forged_texts('answer')[0]:,}".replace(",", thousands)
    assert f"{of.title()} {answers} " in text


def test_the_decision_and_the_proof_say_what_the_table_says():
    decision = (ROOT / "docs/how-it-works/decisions/076-names-withheld.md").read_text("utf-8")
    assert f"of {forged_texts('answer')[0]:,} texts one named somebody" in decision
    assert forged_texts("answer")[2] == 1
