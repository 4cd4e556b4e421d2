"""The quick way through the linear domain against the slow one through the log domain."""

import numpy as np
import pytest

from pura.decode import trellis
from pura.decode.trellis import _safe_log_sum, best_starts, make_trellis, state_posteriors

ALL = np.arange(256)


def windows_of(profile, scale, seed=0, ruled_out=0.0):
    rng = np.random.default_rng(seed)
    trellis = make_trellis(profile)
    phi = scale * rng.standard_normal((trellis.codeword_length, 8))
    phi[rng.random(phi.shape) < ruled_out] = -np.inf
    return trellis.windows(phi[None])[0]


@pytest.mark.parametrize("bits", [9, 12, 13, 14, 15, 36])
@pytest.mark.parametrize(("scale", "ruled_out"), [(0.1, 0.0), (3.0, 0.0), (30.0, 0.0), (3.0, 0.1)])
def test_both_domains_agree(make_profile, bits, scale, ruled_out):
    windows = windows_of(make_profile(bits), scale, seed=bits, ruled_out=ruled_out)
    slow = np.logaddexp.reduce(trellis.closings(windows, ALL, np.logaddexp))
    chain = trellis.make_bridges(windows[None])[0]
    quick = trellis.log_return(chain)
    assert quick >= chain.floor
    assert quick == pytest.approx(slow, rel=1e-12)
    assert _safe_log_sum(windows) == pytest.approx(slow, rel=1e-12)
    states = state_posteriors(windows, ALL)
    posteriors = trellis.bit_posteriors(chain)
    np.testing.assert_allclose(posteriors, states[:, 1::2].sum(axis=1), rtol=0, atol=1e-11)


def test_where_underflow_can_be_felt_the_chain_says_so():
    """Two laps of the ring are free, one lap is not: 1500 nats are more than a float64 holds."""
    oldest, newest = np.arange(512) >> 8, np.arange(512) & 1
    windows = np.tile(np.where(oldest == newest, 0.0, -1500.0), (16, 1))
    windows[0] = np.where(oldest == newest, -1500.0, 0.0)
    chain = trellis.make_bridges(windows[None])[0]
    assert trellis.log_return(chain) < chain.floor
    assert trellis.bit_posteriors(chain) is None
    # Seven pairs of bits are free, the eighth pays once whichever of its four values it has.
    assert _safe_log_sum(windows) == pytest.approx(9 * np.log(2.0) - 1500.0, rel=1e-13)


def test_bounds_of_the_starts_hold_and_prune(make_profile):
    windows = windows_of(make_profile(36), 1.0)
    for plus in (np.maximum, np.logaddexp):
        _, bound = trellis.free_futures(windows, plus)
        closing = trellis.closings(windows, ALL, plus)
        assert (closing <= bound + 1e-9).all()
    best = trellis.closings(windows, ALL, np.maximum)
    assert best_starts(windows, 3).tolist() == np.argsort(-best)[:3].tolist()


@pytest.mark.parametrize("plus", [np.maximum, np.logaddexp])
def test_forward_and_backward_meet_everywhere(make_profile, plus):
    windows = windows_of(make_profile(9, 3), 2.0)
    starts = np.arange(8)
    homes = trellis.closings(windows, starts, plus)
    past = trellis.pasts(windows, starts, plus)
    future = trellis.futures(windows, starts, plus)
    for t in range(windows.shape[0] + 1):
        np.testing.assert_allclose(plus.reduce(past[t] + future[t], axis=0), homes, rtol=1e-12)
