"""Payload fields: packing and unpacking undo each other, and what does not fit is refused."""

import datetime as dt
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.base.errors import PayloadError, ProfileError
from pura.scheme import Payload, Profile, pack, parse_layout, unpack

NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12)
ISSUE = [
    {"name": "model", "bits": 4, "kind": "enumeration", "values": ["alpha", "beta", "gamma"]},
    {"name": "user", "bits": 12, "kind": "integer", "offset": 1000},
    {"name": "day", "bits": 12, "kind": "date", "epoch": "2025-01-01", "unit": "day"},
    {"name": "release", "bits": 8, "kind": "version", "parts": [3, 5]},
]
LAYOUT = parse_layout(ISSUE, 36)
VALUES = {"model": "beta", "user": 1234, "day": "2026-03-14", "release": "2.11"}


def one(kind, bits=8, **more):
    return parse_layout([{"name": "x", "bits": bits, "kind": kind, **more}], bits)


def text_of(layout, raw):
    return unpack(layout, Payload.from_int(raw, layout[0].bits))[0]


def number_of(layout, value):
    return int(pack(layout, {"x": value}))


# ------------------------------------------------------------------------- there and back


@st.composite
def entries(draw):
    """One field of any kind, as it stands in a profile."""
    kind = draw(st.sampled_from(["integer", "enumeration", "date", "version"]))
    bits = draw(st.integers(1, 64))
    entry = {"kind": kind, "bits": bits}
    if kind == "integer":
        entry["offset"] = draw(st.integers(-(2**70), 2**70))
    elif kind == "enumeration":
        most = min(12, 2**bits)
        entry["values"] = draw(st.lists(NAMES, min_size=1, max_size=most, unique=True))
    elif kind == "date":
        epoch = draw(st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)))  # noqa: DTZ001
        minutes = draw(st.none() | st.integers(-14 * 60, 14 * 60))
        if minutes is not None:
            epoch = epoch.replace(tzinfo=dt.timezone(dt.timedelta(minutes=minutes)))
        entry["epoch"] = draw(
            st.sampled_from([epoch.date().isoformat(), epoch.isoformat(timespec="seconds")])
        )
        entry["unit"] = draw(st.sampled_from(["second", "minute", "hour", "day", "week"]))
    else:
        cuts = sorted(draw(st.sets(st.integers(1, bits - 1), max_size=4))) if bits > 1 else []
        ends = [0, *cuts, bits]
        entry["parts"] = [b - a for a, b in itertools.pairwise(ends)]
    return entry


@st.composite
def layouts(draw):
    rows = draw(st.lists(entries(), min_size=1, max_size=5))
    return [{"name": f"f{i}", **row} for i, row in enumerate(rows)]


@given(layouts(), st.data())
def test_what_is_known_packs_back_to_the_same_bits(rows, data):
    total = sum(row["bits"] for row in rows)
    layout = parse_layout(rows, total)
    payload = Payload.from_int(data.draw(st.integers(0, 2**total - 1)), total)
    said = unpack(layout, payload)
    assert "".join(format(v.raw, f"0{f.bits}b") for v, f in zip(said, layout, strict=True)) == (
        payload.text
    )
    assert all(v.text for v in said)
    if all(v.known for v in said):
        assert pack(layout, {v.name: v.text for v in said}) == payload


@given(layouts())
def test_a_layout_survives_the_profile(rows):
    total = sum(row["bits"] for row in rows)
    layout = parse_layout(rows, total)
    assert parse_layout([field.to_dict() for field in layout], total) == layout
    profile = Profile(payload_bits=total, vocab_size=10, blocks=1, fields=layout)
    assert Profile.from_json(profile.to_json()) == profile
    assert Profile.from_json(profile.to_json()).fingerprint == profile.fingerprint


def test_an_issue_in_words():
    payload = pack(LAYOUT, VALUES)
    assert len(payload) == 36
    assert {v.name: v.text for v in unpack(LAYOUT, payload)} == {
        k: str(v) for k, v in VALUES.items()
    }
    assert payload.text == "0001" + format(234, "012b") + format(437, "012b") + "01001011"


def test_without_a_layout_nothing_is_said():
    assert parse_layout([], 36) == ()
    assert unpack((), Payload.from_int(5, 36)) == ()


# --------------------------------------------------------------------------- single kinds


def test_integers():
    layout = one("integer", offset=-10)
    assert number_of(layout, "-10") == 0
    assert number_of(layout, "+245") == 255
    assert text_of(layout, 0).text == "-10"


def test_enumerations_keep_unknown_numbers_apart():
    layout = one("enumeration", bits=2, values=["a", "b"])
    assert number_of(layout, "b") == 1
    assert [text_of(layout, raw).known for raw in range(4)] == [True, True, False, False]
    assert text_of(layout, 3).text == "#3"


@pytest.mark.parametrize(
    ("unit", "value", "raw"),
    [
        ("day", "2025-01-01", 0),
        ("day", "2025-01-02T23:59", 1),
        ("week", "2025-01-14", 1),
        ("hour", "2025-01-01T02:30", 2),
        ("hour", "2025-01-01T02:30+02:00", 0),
        ("minute", "2025-01-01T01:00:59.999999", 60),
        ("second", dt.datetime(2025, 1, 1, 0, 0, 7, tzinfo=dt.UTC), 7),
        ("day", dt.date(2025, 2, 1), 31),
    ],
)
def test_dates(unit, value, raw):
    assert number_of(one("date", epoch="2025-01-01", unit=unit), value) == raw


def test_dates_say_as_much_as_their_unit():
    assert text_of(one("date", epoch="2025-01-01"), 31).text == "2025-02-01"
    hour = one("date", epoch="2025-01-01", unit="hour")
    assert text_of(hour, 25).text == "2025-01-02T01:00:00+00:00"


@pytest.mark.parametrize("zone", ["-05:00", "+09:30", "+00:00"])
def test_a_day_counted_from_elsewhere_reads_back_as_itself(zone):
    layout = one("date", epoch=f"2025-01-01T00:00:00{zone}", unit="day")
    for raw in (0, 1, 255):
        assert number_of(layout, text_of(layout, raw).text) == raw


NOT_NUMBERS = ("", "1.0", 1.0, "1_0", " 1", "١", "0x1", None, True, "9" * 5000)
NOT_VERSIONS = ("4.0", "1.64", "1", "1.2.3", "-1.0", "1.+2", "1. 2", "", ".", "1.", "v1.2", 1.5e9)


@pytest.mark.parametrize(
    ("layout", "bad", "said"),
    [
        (one("integer", bits=40), NOT_NUMBERS, "integer"),
        (one("integer", offset=-10), (-11, 246, 2**80), "“x”"),
        (one("enumeration", bits=2, values=["a", "b"]), ("c", "A", "", 0, None), "enumeration"),
        (one("date"), ("14.03.2026", "", "soon", "2026-02-30", 20, None), "date"),
        (one("version", parts=[2, 6]), NOT_VERSIONS, "version"),
    ],
    ids=["integer", "range", "enumeration", "date", "version"],
)
def test_what_is_no_such_value_is_refused(layout, bad, said):
    for value in bad:
        with pytest.raises(PayloadError, match=said):
            pack(layout, {"x": value})


def test_dates_before_the_epoch_and_after_the_last():
    layout = one("date", epoch="2025-01-01")
    with pytest.raises(PayloadError, match="before the first") as caught:
        pack(layout, {"x": "2024-12-31"})
    assert "later" in caught.value.hint
    assert number_of(layout, "2025-09-13") == 255
    with pytest.raises(PayloadError, match="8 bits"):
        pack(layout, {"x": "2025-09-14"})


def test_dates_beyond_the_calendar_are_not_known():
    said = text_of(one("date", bits=64, unit="week"), 2**64 - 1)
    assert (said.known, said.text) == (False, f"#{2**64 - 1}")
    assert not text_of(one("date", bits=32, unit="day"), 2**32 - 1).known


def test_seconds_far_from_the_epoch_are_exact():
    layout = one("date", bits=40, epoch="0001-01-01", unit="second")
    assert text_of(layout, number_of(layout, "9999-12-31T23:59:58.999999")).text == (
        "9999-12-31T23:59:58+00:00"
    )


def test_versions():
    layout = one("version", parts=[2, 6])
    assert number_of(layout, "3.63") == 255
    assert text_of(layout, 64 + 7).text == "1.7"


# ------------------------------------------------------------------------------ bad input


def test_missing_and_unknown_values_are_named():
    with pytest.raises(PayloadError, match="“day” has no value"):
        pack(LAYOUT, {k: v for k, v in VALUES.items() if k != "day"})
    with pytest.raises(PayloadError, match="“colour” is not known") as caught:
        pack(LAYOUT, VALUES | {"colour": "red"})
    assert "model, user, day, release" in caught.value.hint


@pytest.mark.parametrize("bits", [1, 35, 37, 4096])
def test_a_payload_of_another_length_is_refused(bits):
    with pytest.raises(PayloadError, match="36"):
        unpack(LAYOUT, Payload.from_int(0, bits))


@pytest.mark.parametrize("total", [35, 37, 1])
def test_widths_that_do_not_add_up_are_refused(total):
    with pytest.raises(ProfileError, match=f"take 36 bits; the payload has {total}"):
        parse_layout(ISSUE, total)
    with pytest.raises(ProfileError, match="fields"):
        Profile(payload_bits=total, vocab_size=10, blocks=1, fields=LAYOUT)


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("x", "number 1"),
        ({}, "number 1"),
        ({"name": "", "bits": 8, "kind": "integer"}, "number 1"),
        ({"name": "  ", "bits": 8, "kind": "integer"}, "number 1"),
        ({"name": "a\nb", "bits": 8, "kind": "integer"}, "number 1"),
        ({"name": "\ud800", "bits": 8, "kind": "integer"}, "number 1"),
        ({"name": 5, "bits": 8, "kind": "integer"}, "number 1"),
        ({"name": "x", "kind": "integer"}, "“bits”"),
        ({"name": "x", "bits": 8}, "“kind”"),
        ({"name": "x", "bits": 8, "kind": "colour"}, "unknown kind"),
        ({"name": "x", "bits": 8, "kind": ["integer"]}, "unknown kind"),
        ({"name": "x", "bits": 0, "kind": "integer"}, "1 to 64"),
        ({"name": "x", "bits": 65, "kind": "integer"}, "1 to 64"),
        ({"name": "x", "bits": 8.0, "kind": "integer"}, "1 to 64"),
        ({"name": "x", "bits": True, "kind": "integer"}, "1 to 64"),
        ({"name": "x", "bits": 8, "kind": "integer", "unit": "day"}, "“unit”"),
        ({"name": "x", "bits": 8, "kind": "integer", "offset": 1.5}, "“offset”"),
        ({"name": "x", "bits": 8, "kind": "integer", "offset": True}, "“offset”"),
        ({"name": "x", "bits": 8, "kind": "enumeration"}, "“values”"),
        ({"name": "x", "bits": 8, "kind": "enumeration", "values": []}, "“values”"),
        ({"name": "x", "bits": 8, "kind": "enumeration", "values": ["a", 1]}, "“values”"),
        ({"name": "x", "bits": 8, "kind": "enumeration", "values": ["a", ""]}, "“values”"),
        ({"name": "x", "bits": 8, "kind": "enumeration", "values": ["\ud800"]}, "“values”"),
        ({"name": "x", "bits": 8, "kind": "enumeration", "values": ["a", "a"]}, "different names"),
        (
            {"name": "x", "bits": 1, "kind": "enumeration", "values": ["a", "b", "c"]},
            "no more than its bits",
        ),
        ({"name": "x", "bits": 8, "kind": "enumeration", "values": "abc"}, "“values”"),
        ({"name": "x", "bits": 8, "kind": "date", "unit": "month"}, "unknown unit"),
        ({"name": "x", "bits": 8, "kind": "date", "unit": ["day"]}, "“unit”"),
        ({"name": "x", "bits": 8, "kind": "date", "epoch": "soon"}, "ISO 8601"),
        ({"name": "x", "bits": 8, "kind": "date", "epoch": 2020}, "“epoch”"),
        (
            {"name": "x", "bits": 8, "kind": "date", "epoch": "2020-01-01T00:00:00.5"},
            "whole seconds",
        ),
        ({"name": "x", "bits": 8, "kind": "date", "epoch": "0001-01-01T00:00+14:00"}, "ISO 8601"),
        ({"name": "x", "bits": 8, "kind": "version"}, "“parts”"),
        ({"name": "x", "bits": 8, "kind": "version", "parts": [4, 3]}, "“parts”"),
        ({"name": "x", "bits": 8, "kind": "version", "parts": [8, 0]}, "“parts”"),
        ({"name": "x", "bits": 8, "kind": "version", "parts": [9, -1]}, "“parts”"),
        ({"name": "x", "bits": 8, "kind": "version", "parts": [4, "4"]}, "“parts”"),
    ],
)
def test_a_damaged_field_is_named(entry, what):
    with pytest.raises(ProfileError, match=what):
        parse_layout([entry], 8)


def test_a_field_that_stands_twice_is_named():
    twice = [{"name": "x", "bits": 4, "kind": "integer"}] * 2
    with pytest.raises(ProfileError, match=r"“x”.*twice"):
        parse_layout(twice, 8)


@pytest.mark.parametrize("bad", [None, "x", {}, 3])
def test_a_layout_is_a_list(bad):
    with pytest.raises(ProfileError, match="not a list"):
        parse_layout(bad, 8)


@pytest.mark.parametrize(
    ("field", "limits", "ranges"),
    [
        ({"kind": "integer", "bits": 8, "offset": 10}, ["..59", "100"], ((0, 49), (90, 90))),
        ({"kind": "integer", "bits": 8}, ["1..3", "4..6", "5"], ((1, 6),)),
        ({"kind": "enumeration", "bits": 4, "values": ["a", "b", "c"]}, [".."], ((0, 2),)),
        (
            {"kind": "enumeration", "bits": 4, "values": ["a", "b", "c"]},
            ["a", "c"],
            ((0, 0), (2, 2)),
        ),
        ({"kind": "date", "bits": 12, "epoch": "2024-01-01"}, ["2024-01-03..today"], ((2, 366),)),
        ({"kind": "date", "bits": 8, "epoch": "2024-01-01"}, ["..today"], ((0, 255),)),
        (
            {"kind": "date", "bits": 16, "epoch": "2024-01-01", "unit": "hour"},
            ["2024-01-02..2024-01-02"],
            ((24, 47),),
        ),
        (
            {"kind": "version", "bits": 6, "parts": [2, 4]},
            ["1.0..1.3", "2.1"],
            ((16, 19), (33, 33)),
        ),
    ],
)
def test_limits_are_numbers_that_are_stored(field, limits, ranges):
    (one,) = parse_layout([{"name": "f", "limits": limits} | field], field["bits"])
    assert one.on(dt.date(2025, 1, 1)).ranges == ranges
    assert parse_layout([one.to_dict()], field["bits"]) == (one,)
    assert [one.on(dt.date(2025, 1, 1)).admits(n) for n in (ranges[0][0], ranges[-1][1] + 1)] == [
        True,
        False,
    ]


@pytest.mark.parametrize("limit", ["x", "5..3", "1..2..3", "", "today", "300..400", 7])
def test_what_is_no_limit_is_refused(limit):
    with pytest.raises(ProfileError, match="“f”"):
        parse_layout([{"name": "f", "bits": 8, "kind": "integer", "limits": [limit]}], 8)


def test_limits_are_no_part_of_the_fingerprint_and_need_a_new_file():
    plain = {"name": "f", "bits": 36, "kind": "integer"}
    without = Profile.new(vocab_size=9, fields=[plain], payload_use=None)
    limited = without.with_(fields=parse_layout([plain | {"limits": ["..9"]}], 36))
    assert without.fingerprint == limited.fingerprint
    assert (without.limited, limited.limited) == (False, True)
    assert '"version": 2' in without.to_json()
    assert '"version": 6' in limited.to_json()
    assert Profile.from_json(limited.to_json()) == limited
