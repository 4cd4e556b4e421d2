"""The vectors of the evidence over passages: recomputed, and a changed one is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from pura.base.paths import resource
from pura.usecases.doctor import check_file


@pytest.fixture
def vector() -> dict[str, Any]:
    text = resource("vectors", "passages-0.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def problem(vector: dict[str, Any], folder: Path) -> str:
    path = folder / "passages-9.json"
    path.write_text(json.dumps(vector), encoding="utf-8")
    found = check_file(path)
    return "" if found is None else found.message


def test_a_spliced_text_is_weighed_as_the_vector_says(vector, tmp_path):
    assert problem(vector, tmp_path) == ""
    parts, start, places = vector["parts"], 0, {}
    for part in parts:
        places[part["payload"]] = (start, start + part["tokens"] - 1)
        start += part["tokens"]
    for mark in vector["expected"]["marks"]:
        ((first, last),) = mark["ranges"]
        truth = places[mark["payload"]]
        assert abs(first - truth[0]) <= 25  # made text is read too well where a mark begins
        assert abs(last - truth[1]) <= 15


@pytest.mark.parametrize(
    ("path", "by", "words"),
    [
        (("expected", "log_e_list"), 1e-5, "log_e_list"),
        (("expected", "log_e_whole"), 1e-5, "log_e_whole"),
        (("expected", "log_chains", "01101001110010101101"), 1e-5, "log_chains 0110"),
        (("expected", "marks", 1, "ranges", 0, 0), 1, "marks[1] ranges"),
        (("expected", "steps"), 1, "steps"),
        (("lo", 120), 1e-4, "log_e"),
    ],
)
def test_a_changed_value_is_told(vector, tmp_path, path, by, words):
    at: Any = vector
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] += by
    assert problem(vector, tmp_path).startswith(words)


def test_another_likelihood_table_is_told(vector, tmp_path):
    vector["likelihood"] = "0" * 16
    assert "likelihood" in problem(vector, tmp_path)
