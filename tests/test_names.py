"""The check of names: what it counts, and that it only ever gets stricter."""

import ast
import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "packaging" / "setup" / "names.py"


@pytest.fixture(scope="module")
def names() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("names_check", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        # Its dataclass looks its module up.
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def table() -> dict[str, dict]:
    return {
        "percent": {"core/pura/audit": {"filler": 20.0, "vague": 5.0}},
        "types": {"Row": 2, "Gone": 3},
    }


def shares(names: ModuleType, source: str):
    return names.shares_of(names.bound_names(ast.parse(source)))


def test_no_package_has_worse_names_than_its_row_says(names):
    stored = json.loads(names.TABLE.read_text(encoding="utf-8"))
    assert list(names.rises(*names.measured(), stored)) == []


def test_the_stored_table_is_as_the_script_writes_it(names):
    text = names.TABLE.read_text(encoding="utf-8")
    assert names.text_of(json.loads(text)) == text


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "found: int = 1",
        "_found2 = 1",
        "FOUND = 1",
        "for found in (): pass",
        "def f(found): pass",
        "def f(*, found=1): pass",
        "f = lambda found: 0",
        "with a as found: pass",
        "try: pass\nexcept E as found: pass",
        "match a:\n  case [found]: pass",
        "match a:\n  case [*found]: pass",
        "match a:\n  case {**found}: pass",
        "match a:\n  case 1 as found: pass",
        "(found := 1)",
        "class A:\n  found: int",
        "a, found = 1, 2",
    ],
)
def test_every_way_to_bind_a_name_is_counted(names, source):
    assert shares(names, source).filler == Counter(found=1)


@pytest.mark.parametrize(
    "source", ["a.found = 1", "a['found'] = 1", "print(found)", "[found for found in ()]"]
)
def test_attributes_uses_and_comprehensions_are_not_counted(names, source):
    assert not shares(names, source).filler


def test_shares_are_rounded_up_to_a_tenth_of_a_percent(names):
    source = "found = data = " + " = ".join(f"row{letter}" for letter in "abcdefgh")
    assert shares(names, source).percent("filler") == 11.2
    assert shares(names, source).percent("vague") == 11.2
    assert shares(names, "").percent("filler") == 0


@pytest.mark.parametrize(
    ("package", "source", "expected"),
    [
        ("core/pura/audit", "found = a = b = c = d = 1", []),
        ("core/pura/audit", "found = a = b = c = 1", ["25.0 % of the names are filler, 20.0 %"]),
        ("core/pura/audit", "data = a = b = 1", ["33.4 % of the names are vague, 5.0 %"]),
        ("core/pura/new", "found = a = b = c = d = 1", ["20.0 % of the names are filler, 1.5 %"]),
    ],
)
def test_a_share_above_the_row_or_the_goal_of_a_new_package_is_reported(
    names, table, package, source, expected
):
    lines = list(names.rises({package: shares(names, source)}, {}, table))
    assert len(lines) == len(expected)
    assert all(text in line for text, line in zip(expected, lines, strict=True))


def test_a_type_that_gets_a_namesake_is_reported(names, table):
    types = {"Row": ["a.py", "b.py", "c.py"], "Fresh": ["a.py", "b.py"]}
    assert [line.partition(",")[0] for line in names.rises({}, types, table)] == [
        "type Row: defined 3 times",
        "type Fresh: defined 2 times",
    ]
    assert not list(names.rises({}, {"Row": ["a.py", "b.py"]}, table))


def test_classes_and_aliases_are_types_whether_private_or_not(names):
    source = "class A: pass\nclass _B: pass\nC: TypeAlias = int\nd: int = 1\ndef e(): pass"
    assert list(names.type_names(ast.parse(source))) == ["A", "B", "C"]


def test_an_update_lowers_and_never_raises(names, table):
    better = {"core/pura/audit": shares(names, "found = " + " = ".join("abcdefghij"))}
    worse = {"core/pura/audit": shares(names, "found = data = 1")}
    types = {"Row": ["a.py", "b.py", "c.py"], "Fresh": ["a.py", "b.py"]}
    assert names.lowered(better, types, table) == {
        "percent": {"core/pura/audit": {"filler": 10.0, "vague": 0.0}},
        "types": {"Row": 2},
    }
    assert names.lowered(worse, types, table)["percent"] == table["percent"]
