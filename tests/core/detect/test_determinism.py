"""The same in, the same out; other hardware moves the evidence within a tolerance, nothing else."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pura.detect.options import Options
from pura.detect.together import audit_text
from pura.model import evidence
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.comparison import TOLERANCE, compare_audits
from pura.record.json_io import findings_digest
from pura.report.check import compare
from pura.scheme import Profile, SecretKey

# One worker makes the audits that all of them compare with.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("determinism")]
Run = Callable[[], Audit]


@pytest.fixture(scope="module")
def run(builtin_model: Any, samples: dict[str, Any]) -> Run:
    sample = samples["marked-tbcc"]
    profile = Profile.from_dict(sample["profile"])
    text = sample["texts"][1]["text"]

    def again() -> Audit:
        return audit_text(
            text,
            name="memo",
            model=builtin_model,
            profile=profile,
            keys=[(SecretKey.from_hex(sample["key_hex"]), "Desk")],
            options=Options(),
        )

    return again


@pytest.fixture(scope="module")
def usual(run: Run) -> Audit:
    return run()


def timeless(audit: Audit) -> str:
    """The record without what is of one run alone."""
    steps = tuple(replace(step, seconds=0.0) for step in audit.log)
    return json_io.to_json(replace(audit, id="", created="", log=steps))


@pytest.mark.sampled
def test_the_same_text_gives_the_same_record(run, usual):
    again = run()
    assert again.id != usual.id
    assert timeless(again) == timeless(usual)
    assert findings_digest(again) == findings_digest(usual)
    assert compare(usual, again).key == "repeat.identical"


@pytest.mark.sampled
@pytest.mark.parametrize("how", ["chunks", "tiles"])
def test_other_batches_give_the_same_payload_and_outcome(run, usual, monkeypatch, how):
    tiling = evidence.CPU_TILING
    other = replace(tiling, chunk=48) if how == "chunks" else replace(tiling, rows=40, columns=999)
    monkeypatch.setattr(evidence, "CPU_TILING", other)
    _agree(usual, run())


@pytest.mark.sampled
def test_another_number_of_threads_gives_the_same_payload_and_outcome(run, usual):
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2 if before == 1 else 1)
    try:
        _agree(usual, run())
    finally:
        torch.set_num_threads(before)


@pytest.mark.sampled
def test_other_arithmetic_gives_the_same_payload_and_outcome(usual, run):
    """Without oneDNN torch multiplies with other code, as another processor would."""
    import torch

    before = torch.backends.mkldnn.set_flags(False)
    try:
        _agree(usual, run())
    finally:
        torch.backends.mkldnn.set_flags(*before)


def _agree(first: Audit, second: Audit) -> None:
    assert second.decoded.bits == first.decoded.bits
    assert second.verdict == first.verdict
    assert [bit.bit for bit in second.bits] == [bit.bit for bit in first.bits]
    assert abs(second.evidence.log10_e - first.evidence.log10_e) <= TOLERANCE
    assert compare(first, second).state == "good"
    assert all(line.same for line in compare_audits(first, second))


def test_the_digest_sees_every_finding(usual):
    known = findings_digest(usual)
    llr = usual.steps.llr_nats.copy()
    llr[0, 0] += 1e-12
    for changed in (
        replace(usual, verdict="no-mark"),
        replace(usual, text=(usual.text or "") + " "),
        replace(usual, steps=replace(usual.steps, llr_nats=llr)),
        replace(usual, evidence=replace(usual.evidence, seed=usual.evidence.seed + 1)),
        replace(usual, decoded=replace(usual.decoded, bits=usual.payload.bits[::-1])),
    ):
        assert findings_digest(changed) != known
    for same in (
        replace(usual, id="0" * 32),
        replace(usual, created="2001-01-01T00:00:00+00:00"),
        replace(usual, input=replace(usual.input, name="other.txt")),
    ):
        assert findings_digest(same) == known
