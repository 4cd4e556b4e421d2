"""Rows that contradict their payload or the epoch of their key."""

import pytest
from tests.core.register.issues import HOUSE, PROFILE, issue, series_of

from pura.base.errors import RegisterError
from pura.register.contradictions import contradictions, refuse_contradictions
from pura.scheme import Field, PayloadSeries, pack

DATED = PROFILE.with_(
    payload_bits=20,
    blocks=2,
    fields=(
        Field(name="customer", bits=6, kind="integer"),
        Field(name="issued", bits=12, kind="date", epoch="2026-01-01", unit="day"),
        Field(name="model", bits=2, kind="enumeration", values=("house-7b", "house-70b", "tiny")),
    ),
)


def dated(day="2026-11-05", model="house-7b", epoch="", **about):
    payload = pack(DATED.fields, {"customer": 7, "issued": day, "model": model})
    series = PayloadSeries(key=HOUSE, epoch=epoch, profile=DATED.fingerprint)
    row = issue(0, bits=20, series=series, **about)
    return row.of(series.mark(payload), row.recipient)


def kinds(row, profile=DATED):
    return [one.kind for one in contradictions(row, profile)]


@pytest.mark.parametrize(
    "row",
    [
        dated(),
        dated(when="2026-11-05"),
        dated(when="2026-11-04"),  # the same moment, farther west
        dated(when="2026-11-06"),
        dated(when="2026-11-05T23:30:00+00:00"),
        dated(when="2026-11"),
        dated(when="2026-W45"),
        dated(when="last autumn"),  # nobody can say
        dated(epoch="2026-11"),
        dated(epoch="2026-11-05"),
        dated(epoch="2026-W45", when="2026-11-05"),
        dated(model="tiny", when="2026-11-05"),
        dated(model="tiny"),
        dated(day="2026-11-01", epoch="2026-10"),  # it was October elsewhere
    ],
)
def test_what_can_be_true_together_is_no_contradiction(row):
    assert kinds(row) == []
    refuse_contradictions(row, DATED)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (dated(when="2026-11-08"), ["when-field"]),
        (dated(when="2026-10-31"), ["when-field"]),
        (dated(when="2026-12"), ["when-field"]),
        (dated(when="2026-11-05T12:00:00+00:00", epoch="2026-12"), ["when-epoch", "epoch-field"]),
        (dated(epoch="2026-09"), ["epoch-field"]),
        (dated(when="2025-11-05", epoch="2025-11"), ["when-field", "epoch-field"]),
        (dated(when="2026-09-05", epoch="2026-11"), ["when-epoch", "when-field"]),
    ],
)
def test_times_that_exclude_each_other_are_one(row, expected):
    assert kinds(row) == expected
    with pytest.raises(RegisterError) as refused:
        refuse_contradictions(row, DATED)
    assert refused.value.values["what"].key == f"register.{expected[0]}"


def test_without_the_profile_times_and_epochs_are_compared_alone():
    assert kinds(dated(when="2026-11-08"), None) == []
    row = issue(1, when="2026-09-05", series=series_of(PROFILE, epoch="2026-11"))
    assert kinds(row, None) == ["when-epoch"]


def issued_for(model, field):
    row = dated(model=field)
    return row.of(row.mark, issue(0, model=model).recipient)


@pytest.mark.parametrize(
    ("model", "field", "expected"),
    [
        ("house-7b", "house-7b", []),
        ("HOUSE-7B", "house-7b", []),
        ("", "house-7b", []),
        ("smollm2-135m", "house-7b", []),  # not a name of the field: nobody can say
        ("house-70b", "house-7b", ["model-field"]),
    ],
)
def test_another_model_of_the_field_is_one(model, field, expected):
    assert kinds(issued_for(model, field)) == expected
