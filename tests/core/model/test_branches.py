"""What is read beside a text gives the numbers of a pass over the whole."""

import numpy as np
import pytest

from pura.model.branches import BranchReader
from pura.model.evidence import log_probabilities

IDS = np.random.default_rng(7).integers(0, 40_000, 24).tolist()


@pytest.mark.model
def test_branches_give_the_numbers_of_a_whole_pass(small_model):
    assert BranchReader.works(small_model)
    reader = BranchReader(small_model)
    reader.feed(IDS[:6])
    last = reader.feed(IDS[6:16])
    other = [101, 102, 103]
    beside = reader.beside([(4, IDS[4:9]), (16, other), (0, IDS[:2])])
    assert [len(states) for states in beside] == [5, 3, 2]
    # What stood beside leaves nothing behind; what is taken back neither.
    reader.take_back(12)
    behind = reader.feed(IDS[12:])
    whole = log_probabilities(small_model, IDS)
    apart = log_probabilities(small_model, [*IDS[:16], *other])
    for states, expected in (
        (last, whole([*range(6, 16)])),
        (beside[0], whole([*range(4, 9)])),
        (beside[1], apart([16, 17, 18])),
        (beside[2], whole([0, 1])),
        (behind, whole([*range(12, 24)])),
    ):
        found = reader.log_probabilities(states).numpy()
        assert np.abs(found - expected.numpy()).max() < 1e-4
    assert reader.read == len(IDS)
