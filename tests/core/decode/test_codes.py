"""Every code of a profile is a linear code that its trellis decodes: walks the registry."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pura.decode.trellis import codeword_windows, make_trellis
from pura.scheme import Payload, Profile, encode
from pura.scheme.codeword import encode_rows
from pura.scheme.profile import CODES

BITS = 9  # few enough that all payloads can be tried


def profile_of(code: str) -> Profile:
    blocks = 3 if code == "spc" else None
    return Profile(payload_bits=BITS, blocks=blocks, code=code, vocab_size=64)


def faults_of(code: str, make: Callable[[Profile], Any] = make_trellis) -> list[str]:
    """Say what is wrong with a code: its words, or what its trellis makes of them."""
    profile, rng, faults = profile_of(code), np.random.default_rng(7), list[str]()
    every = np.array(list(itertools.product((0, 1), repeat=BITS)), dtype=np.uint8)
    words = encode_rows(every, profile)
    if words.shape[1] != profile.codeword_length or len(np.unique(words, axis=0)) < len(every):
        faults.append("words")
    a, b = rng.integers(0, len(every), (2, 40))
    if not np.array_equal(encode_rows(every[a] ^ every[b], profile), words[a] ^ words[b]):
        faults.append("linear")
    if any(not np.array_equal(encode(Payload.from_bits(every[n]), profile), words[n]) for n in a):
        faults.append("one by one")
    walk = make(profile)
    for _ in range(5):
        phi = rng.normal(0, 2, (profile.codeword_length, 8))
        read = np.stack([codeword_windows(word) for word in words])
        score = phi[np.arange(phi.shape[0]), read].sum(axis=1)
        best, value = walk.k_best(phi, 1)[0]
        if not np.array_equal(best, every[score.argmax()]) or not np.isclose(value, score.max()):
            faults.append("best")
        # log_sum is the log of the sum, or of the mean, over all payloads.
        whole = np.log(np.exp(score - score.max()).sum()) + score.max()
        if not np.isclose(walk.log_sum(phi[None])[0], whole):
            faults.append("sum")
    return faults


@pytest.mark.parametrize("code", CODES)
def test_the_code_is_linear_and_its_trellis_knows_all_its_words(code: str) -> None:
    assert faults_of(code) == []


class Wrong:
    """A trellis that is off: its sum by a third, or its best walk by one place."""

    def __init__(self, profile: Profile, fault: str) -> None:
        self._right, self._fault = make_trellis(profile), fault

    def k_best(self, phi: Any, k: int) -> Any:
        return self._right.k_best(phi, k + 1)[self._fault == "best" :]

    def log_sum(self, phi: Any) -> Any:
        return self._right.log_sum(phi) + (0.3 if self._fault == "sum" else 0.0)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("fault", ["best", "sum"])
def test_a_wrong_trellis_is_seen(code: str, fault: str) -> None:
    assert set(faults_of(code, lambda profile: Wrong(profile, fault))) == {fault}
