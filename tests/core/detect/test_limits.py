"""A real text whose profile states limits of its payload's fields, and one that lies outside."""

import datetime as dt
import json
from typing import Any

import pytest

from pura.base.errors import ProfileError
from pura.detect.options import Options
from pura.record import json_io
from pura.record.audit import Audit
from pura.words.sentences import fill

pytestmark = pytest.mark.model


def layout(bits: str, *, customers: str) -> list[dict[str, Any]]:
    return [
        {"name": "customer", "bits": 16, "kind": "integer", "limits": [customers]},
        {"name": "day", "bits": 14, "kind": "date", "limits": ["2020-01-01..today", bits]},
        {"name": "release", "bits": 6, "kind": "version", "parts": [2, 4]},
    ]


@pytest.fixture(scope="module")
def read(small_audited, small_samples) -> Any:
    text = small_samples["marked-tbcc"]["texts"][0]["text"]

    def audit(*, options: Options | None = None, **more: Any) -> Audit:
        return small_audited(text, profile={"payload_use": "recipient", **more}, options=options)

    return audit


def test_limits_are_a_prior_and_what_is_outside_is_said(read, small_samples):
    bits = small_samples["marked-tbcc"]["texts"][0]["payload"]
    customer = int(bits[:16], 2)
    day = (dt.date(2020, 1, 1) + dt.timedelta(days=int(bits[16:30], 2))).isoformat()
    alone = read(fields=[one | {"limits": []} for one in layout(day, customers="..")])
    within = read(fields=layout(day, customers=f"{customer}..{customer + 99}"))
    outside = read(fields=layout(day, customers=f"{customer + 1}.."))
    assert alone.limits is None
    assert alone.profile.fingerprint == within.profile.fingerprint == outside.profile.fingerprint
    assert within.profile.fields[1].limits[0] == f"2020-01-01..{within.limits.day}"
    assert [one.key for one in within.sentences].count("note.limits-day") == 1
    share = within.limits.log10_share
    assert within.evidence.log10_e - alone.evidence.log10_e == pytest.approx(-share, abs=0.2)
    assert within.limits.log10_alike == pytest.approx(alone.evidence.log10_e, abs=0.05)
    assert outside.evidence.log10_e - alone.evidence.log10_e == pytest.approx(-2, abs=0.2)
    for audit in (alone, within, outside):
        assert audit.payload.bits == bits
        named = ["customer"] if audit is outside else []
        assert audit.to_dict().get("limits", {}).get("weight") == (None if audit is alone else 0.01)
        row = json_io.summary(audit)
        assert row["fields_outside"] == row["marks"][0]["fields_outside"] == named
        for language, words in (("en", "outside the limits"), ("de", "außerhalb der Grenzen")):
            said = [fill(one, language) for one in audit.finding.qualifications]
            assert any(words in one for one in said) == bool(named)
            lines = [one for mark in audit.finding.mark_lines(language) for one in mark]
            assert any(words in one for one in lines) == bool(named)
        assert json_io.from_json(json.dumps(audit.to_dict())).profile == audit.profile


def test_the_day_is_part_of_the_rule(read):
    days = [dt.date(2026, 1, day) for day in (1, 1, 2)]
    fields = layout("2020-01-01", customers="..")
    first, again, later = (read(fields=fields, options=Options(day=day)) for day in days)
    assert [one.limits.day for one in (first, again, later)] == [day.isoformat() for day in days]
    assert first.evidence == again.evidence
    assert first.limits.log10_share < later.limits.log10_share


def test_limits_that_admit_nothing_on_that_day_are_refused_before_a_text_is_read(read):
    (_, day, _) = layout("2020-01-01", customers="..")
    fields = [{"name": "rest", "bits": 22, "kind": "integer"}, day | {"limits": ["..today"]}]
    with pytest.raises(ProfileError, match="allow at least one value"):
        read(fields=fields, options=Options(day=dt.date(2019, 12, 31)))
