"""The frozen numbers: they load, come back, and damage is named."""

import copy
import json

import numpy as np
import pytest

from pura.decode.likelihood import LikelihoodError, LikelihoodModel, default_model


def test_shipped_model_is_sound():
    model = default_model()
    assert all(len(grid) <= 12 for grid in model.grids.values())
    for table in model.tables:
        np.testing.assert_allclose(table.weights.sum(axis=1) + table.uniform, 1.0, atol=1e-6)
    assert "study" in model.provenance


def test_round_trip_keeps_every_number():
    model = default_model()
    again = LikelihoodModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.to_dict() == model.to_dict()
    assert again.fingerprint == model.fingerprint


def test_bins_change_at_the_edges():
    model = default_model()
    edges = model.position_edges
    assert model.bins(np.array([0, edges[0] - 1, edges[0], 10**6])).tolist() == [
        0,
        0,
        1,
        edges.size,
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("blur_widths", 0), 0.0),
        (("blur_widths", 0), 0.7),
        (("position_edges",), [20, 8, 50, 100]),
        (("tables", 0, "uniform", 0), 0.9),
        (("tables", 0, "weights", 0, 0), -0.1),
        (("tables", 0, "entropy_noise_bits", 0), float("nan")),
        (("tables", 1, "name"), "same-model, prompt unknown"),
        (("grids", "prompt-known"), []),
        (("grids", "prompt-known", 0, "family"), "guess"),
        (("grids", "prompt-known", 0, "share"), 1.0),
        (("grids", "prompt-known", 0, "table"), "nobody"),
        (("passages", "least_gap"), 0.5),
        (("passages", "begins_marked"), 1.0),
        (("passages", "members", "prompt-known"), []),
        (("passages", "members", "prompt-unknown", 0, "table"), "nobody"),
        (("passages", "members", "prompt-unknown", 0, "share"), 0.0),
        (("tables",), 5),
    ],
)
def test_damage_is_refused(path, value):
    data = copy.deepcopy(default_model().to_dict())
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(LikelihoodError):
        LikelihoodModel.from_dict(data)


def test_missing_file_is_one_clear_error(tmp_path):
    with pytest.raises(LikelihoodError, match="cannot be read"):
        LikelihoodModel.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(LikelihoodError, match="cannot be read"):
        LikelihoodModel.load(tmp_path / "bad.json")
