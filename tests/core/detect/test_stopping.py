"""Reading stops where the evidence is there; the record says where, and what it still rests on."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pura.base.progress import Stage
from pura.detect.options import Options
from pura.detect.prepared import CHUNK
from pura.detect.together import audit_text
from pura.detect.verdict.policy import Policy
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.json_io import findings_digest
from pura.scheme import Profile, SecretKey
from pura.words.sentences import fill

pytestmark = pytest.mark.model
HUMAN = Path(__file__).resolve().parents[2] / "data" / "human.txt"
Audited = Callable[..., Audit]
POLICY = Policy(stop_early=True)
READ = CHUNK + 1
"""The last token that the model is fed predicts one more."""


@pytest.fixture(scope="module")
def long_text(small_samples) -> str:
    """A marked passage of 200 tokens, and much without a mark behind it."""
    host = HUMAN.read_text(encoding="utf-8").replace("\n%\n", "\n\n")
    return str(small_samples["marked-tbcc"]["texts"][0]["text"]).strip() + "\n\n" + host[:4200]


@pytest.fixture(scope="module")
def stopped(small_audited, long_text) -> Audit:
    return small_audited(long_text, options=Options(policy=POLICY))


def test_reading_stops_where_the_evidence_is_there(stopped, small_samples, long_text):
    at = stopped.stopped
    assert at.read == stopped.tokens.ids.size == READ
    assert at.tokens == stopped.input.tokens > 2 * CHUNK
    assert (at.log10_e, at.unread) == (6.0, 0)
    assert stopped.text == long_text
    assert stopped.verdict == "mark"
    assert stopped.evidence.log10_e >= at.log10_e
    assert stopped.payload.bits == small_samples["marked-tbcc"]["texts"][0]["payload"]
    assert stopped.evidence.p_redraw is None
    assert f"stopped after {READ:,} of {at.tokens:,} tokens" in stopped.log[4].words("en")
    (said,) = (s for s in stopped.sentences if s.key == "stopped.early")
    assert f"{READ} of {at.tokens:,} tokens" in fill(said, "en")
    assert f"bis zum {READ}. von" in fill(said, "de")


def test_the_record_keeps_where_reading_stopped(stopped):
    again = json_io.from_json(json_io.to_json(stopped))
    assert again.stopped == stopped.stopped
    assert json_io.summary(stopped)["stopped"]["read"] == READ
    assert findings_digest(again) == findings_digest(stopped)
    whole = replace(stopped, stopped=None)
    assert "stopped" not in whole.to_dict()
    assert findings_digest(whole) != findings_digest(stopped)


def test_a_text_without_a_mark_is_read_to_its_end(small_model, small_samples):
    text = HUMAN.read_text(encoding="utf-8").replace("\n%\n", "\n\n")[:2500]
    profile = Profile.from_dict(small_samples["plain"]["profile"])
    key = SecretKey(bytes(range(32)))

    def run(policy: Policy) -> Audit:
        options = Options(policy=replace(policy, draws=0))
        return audit_text(
            text, model=small_model, keys=[(key, None)], profile=profile, options=options
        )

    usual, found = run(Policy()), run(POLICY)
    assert found.stopped is None
    assert found.tokens.ids.size == found.input.tokens > CHUNK
    # Chunks change the arithmetic of the model a little, and nothing else.
    assert found.evidence.log10_e == pytest.approx(usual.evidence.log10_e, abs=1e-3)
    np.testing.assert_allclose(found.tokens.lo, usual.tokens.lo, atol=1e-4)


def test_a_reading_that_was_not_begun_counts_as_nothing(small_audited, long_text):
    quoted = long_text[:-3000] + long_text[-3000:].replace('"', "”").replace("'", "’")
    found = small_audited(quoted, options=Options(policy=POLICY))
    assert found.stopped.unread == 1
    assert found.stopped.read == READ
    read, unread = found.variants
    assert (unread.usable, unread.verdict) == (0, "insufficient")
    assert read.log10_e - found.evidence.log10_e == pytest.approx(math.log10(2))


def test_whoever_follows_hears_of_the_evidence(small_audited, long_text):
    told: list[Stage] = []
    options = Options(policy=replace(POLICY, t_found=9.0, lr_cap=1e9), follow=True)
    small_audited(long_text, options=options, progress=told.append)
    (look,) = (stage for stage in told if stage.log10_e is not None)
    assert (look.number, look.name, look.done) == (5, "reading", READ)
    assert look.log10_e > 9
