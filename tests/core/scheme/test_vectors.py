"""The published vectors: order, fingerprint, codeword, schedule and anchors, to the last digit."""

import json

import numpy as np
import pytest

from pura.base.paths import resource
from pura.scheme import Payload, Profile, SecretKey, Step, anchor, encode, ranks, schedule
from pura.scheme.gray import sector_of

EMBED = sorted(p.name for p in resource("vectors").glob("embed-*.json"))
EXTRACT = sorted(p.name for p in resource("vectors").glob("extract-*.json"))
CODES = sorted(p.name for p in resource("vectors").glob("tbcc-*.json"))


def load(name):
    data = json.loads(resource("vectors", name).read_text())
    key = SecretKey.from_hex(data["key_hex"]) if "key_hex" in data else None
    profile = Profile.from_dict(data["profile"]) if "profile" in data else None
    return data, key, profile


def test_there_are_vectors():
    assert (len(EMBED), len(EXTRACT), len(CODES)) == (5, 4, 3)


@pytest.mark.parametrize("name", EMBED)
def test_key(name):
    data, key, profile = load(name)
    assert key.fingerprint == data["key_fingerprint"]
    order = key.vocabulary_order(profile.vocab_size)
    assert order.tolist() == data["order"]
    assert ranks(order)[data["order"]].tolist() == list(range(profile.vocab_size))


@pytest.mark.parametrize("name", EMBED)
def test_codeword(name):
    data, _, profile = load(name)
    codeword = encode(Payload.from_bits(data["payload"]), profile)
    assert codeword.tolist() == data["codeword"]
    assert codeword.size == profile.codeword_length


@pytest.mark.parametrize("name", CODES)
def test_codeword_of_the_convolutional_code(name):
    data, _, _ = load(name)
    profile = Profile(payload_bits=len(data["payload"]), vocab_size=2, code="tbcc")
    assert encode(Payload.from_bits(data["payload"]), profile).tolist() == data["codeword"]


@pytest.mark.parametrize("name", EMBED)
def test_schedule_bits_and_anchors(name):
    data, key, profile = load(name)
    steps = data["steps"]
    result = schedule(
        np.array([s["token"] for s in steps]),
        np.array([s["entropy_bits"] for s in steps]),
        key,
        profile,
    )
    carriers = [s for s in steps if s["arity"]]
    assert carriers
    assert result.token.tolist() == [s["t"] for s in carriers]
    assert result.arity.tolist() == [s["arity"] for s in carriers]
    assert result.phase.tolist() == [s["U"] for s in carriers]
    assert result.index.tolist() == [s["index"] for s in carriers]
    for row, expected in enumerate(carriers):
        arity, index = expected["arity"], expected["index"]
        ring = [data["codeword"][(index + j) % profile.codeword_length] for j in range(arity)]
        assert ring == expected["bits"]
        step = Step(arity, float(result.phase[row]), index, result.gate[0])
        assert anchor(step, sector_of(ring)) == pytest.approx(expected["anchor"], abs=1e-15)


@pytest.mark.parametrize("name", EXTRACT)
def test_schedule_of_the_verifier(name):
    data, key, profile = load(name)
    result = schedule(np.array(data["tokens"]), np.array(data["entropy_bits"]), key, profile)
    columns = (result.token, result.arity, result.phase, result.index)
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    assert rows == [(s["t"], s["arity"], s["U"], s["index"]) for s in data["steps"]]
