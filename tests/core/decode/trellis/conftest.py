"""Slow and simple answers, written apart from the trellis: every payload, one by one."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from pura.scheme import Payload, Profile, encode


@dataclass(frozen=True)
class Everything:
    """All payloads of a code and what they score."""

    payloads: np.ndarray  # [C, L]
    scores: np.ndarray  # [C]

    @property
    def ranked(self):
        return np.sort(self.scores)[::-1]

    @property
    def log_sum(self):
        peak = self.scores.max()
        if peak == -np.inf:
            return -np.inf
        return peak + np.log(np.exp(self.scores - peak).sum())

    @property
    def posteriors(self):
        weight = np.exp(self.scores - self.scores.max())
        return weight @ self.payloads / weight.sum()


_CODEBOOKS = {}


def _codebook(profile):
    key = (profile.code, profile.payload_bits, profile.block_count)
    if key not in _CODEBOOKS:
        payloads = list(itertools.product("01", repeat=profile.payload_bits))
        words = [encode(Payload(text="".join(bits)), profile) for bits in payloads]
        _CODEBOOKS[key] = np.array(payloads, dtype=np.uint8), np.array(words, dtype=np.int64)
    return _CODEBOOKS[key]


def enumerate_all(profile, phi):
    payloads, words = _codebook(profile)
    n = words.shape[1]
    scores = np.zeros(len(words))
    for i in range(n):
        window = 4 * words[:, i] + 2 * words[:, (i + 1) % n] + words[:, (i + 2) % n]
        scores += phi[i, window]
    return Everything(payloads, scores)


@pytest.fixture(scope="session")
def everything():
    return enumerate_all


@pytest.fixture(scope="session")
def make_profile():
    def make(payload_bits, blocks=None):
        code = "tbcc" if blocks is None else "spc"
        return Profile(payload_bits=payload_bits, blocks=blocks, code=code, vocab_size=50)

    return make
