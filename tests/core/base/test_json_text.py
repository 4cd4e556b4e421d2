"""JSON text written in pieces is the text that json.dumps writes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pura.base import json_text
from pura.record import evidence


def test_pieces_join_to_what_json_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "PIECE", 8)
    monkeypatch.setattr(evidence, "PIECE", 8)
    rng = np.random.default_rng(3)
    holes = np.where(rng.random((3, 21)) < 0.3, np.nan, rng.normal(size=(3, 21)))
    arrays = [holes, holes.T, np.arange(42).reshape(21, 2), np.zeros(0), np.float64(2.5)]
    for array in arrays:
        plain = evidence.encode(array)
        assert np.array_equal(np.array(plain, dtype=float), array, equal_nan=True)
    values = [
        {},
        [],
        (),
        {"a": [], "ü": {"b": [[1, 2]] * 19, "c": [{"d": None}] * 9}},
        [[0.1, 1e300, -0.0]] * 5 + [list(range(30))],
        ['\U0001f600\ud800\n"\\é' * 7, ["€" * 9, 2] * 9],
        [evidence.encode(array) for array in arrays],
        "x",
        3,
    ]
    for value in values:
        assert json_text.json_text(value) == json.dumps(value, ensure_ascii=False), value
    with pytest.raises(ValueError, match="float"):
        json_text.json_text([float("nan")])
