"""Synthetic texts with their readings, as a generator would write them; engines of a batch."""

import importlib.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pura.measure.evaluate import TextReading
from pura.record.audit import Audit
from pura.scheme import Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of
from pura.usecases.batch import ENGINES


def write_text(profile: Profile, payload: Payload | None, tokens: int, seed: int) -> TextReading:
    """Write a text with random distributions, marked or not, and read it with the same ones."""
    key, rng = SecretKey(bytes(range(32))), np.random.default_rng(seed)
    vocabulary = profile.vocab_size
    order = key.vocabulary_order(vocabulary)
    code = encode(payload, profile).tolist() if payload else []
    walk, rows = Scheduler(key, profile), []
    for _ in range(tokens):
        p = rng.dirichlet(np.full(vocabulary, 0.3))
        entropy = float(-(p * np.log2(np.maximum(p, 1e-300))).sum())
        step = walk.step(entropy)
        bits = [code[(step.index + j) % len(code)] for j in range(step.arity)] if code else []
        point = anchor(step, sector_of(bits)) if bits else rng.random()
        mass = np.cumsum(p[order])
        rank = int(min(np.searchsorted(mass, point, side="right"), vocabulary - 1))
        token = int(order[rank])
        walk.push(token)
        rows.append((token, entropy, p[token], mass[rank] - p[token], mass[rank]))
    ids, entropy_bits, probability, lo, hi = (np.array(c) for c in zip(*rows, strict=True))
    return TextReading(ids=ids, entropy_bits=entropy_bits, probability=probability, lo=lo, hi=hi)


@pytest.fixture
def marked_text():
    return write_text


@pytest.fixture
def cluster() -> None:
    """Where Ray is missing, a person's machine leaves the test out; CI has to have it."""
    if importlib.util.find_spec("ray") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("not installed: the extra “cluster”", pytrace=False)
        pytest.skip("not installed: the extra “cluster”")


@pytest.fixture(
    params=[
        pytest.param(name, marks=() if name == "local" else pytest.mark.weekly) for name in ENGINES
    ]
)
def each_engine(request: pytest.FixtureRequest) -> str:
    """Each engine of a batch."""
    name = str(request.param)
    if name == "ray":
        request.getfixturevalue("cluster")
    return name


def auditor(model: Any, samples: dict[str, Any]) -> Callable[..., Audit]:
    """Audit a text as those of the samples: ``audited(text, profile={…}, options=…)``."""

    from pura.detect.together import audit_text

    def audit(
        text: Any,
        sample: str = "marked-tbcc",
        *,
        profile: dict[str, Any] | None = None,
        key: SecretKey | None = None,
        **more: Any,
    ) -> Audit:
        data = samples[sample]
        return audit_text(
            text,
            model=model,
            keys=[(key or SecretKey.from_hex(data["key_hex"]), None)],
            profile=Profile.from_dict(data["profile"] | (profile or {})),
            **more,
        )

    return audit


@pytest.fixture(scope="session")
def audited(builtin_model, samples) -> Callable[..., Audit]:
    """Audit a text with the built-in model, whose samples are English."""
    return auditor(builtin_model, samples)


@pytest.fixture(scope="session")
def small_audited(small_model, small_samples) -> Callable[..., Audit]:
    """Audit a text with the small model, where words in no order do."""
    return auditor(small_model, small_samples)
