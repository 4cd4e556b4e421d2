"""What a measurement of power counts, on evidence that is made up."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from pura.base.errors import PolicyError
from pura.detect.decode.likelihood import default_model
from pura.detect.verdict.power import PowerQuery, lower_limit, parse_power, shipped_power
from pura.measure.corpora import STUDY
from pura.measure.power import (
    LEAST_TEXTS,
    TextEvidence,
    WritingModel,
    inside_entries,
    make_table,
    whole_entries,
)
from pura.measure.power_plan import THRESHOLDS, PowerPlan, parse_edit
from pura.scheme import Profile

PROFILE = Profile(
    payload_bits=36, vocab_size=100, code="tbcc", temperature=0.7, top_p=0.95, model="1" * 16
)
PLAN = PowerPlan(name="Ours", profile=PROFILE, texts=64, tokens=60)
PASSAGES = replace(PLAN, passages=(20, 40), documents=(100,))
NAN = np.nan


@dataclass(frozen=True)
class Device:
    dtype: str = "float32"
    name: str = "a processor"


@dataclass(frozen=True)
class Reader:
    name: str = "small"
    fingerprint: str = "1" * 16
    device: Device = Device()


SOURCE = WritingModel(name="small", fingerprint="1" * 16, template="", digest="2" * 64)


def evidence(kind: str, *values: float, plan: PowerPlan = PLAN) -> TextEvidence:
    whole = np.full(len(plan.classes), NAN)
    whole[: len(values)] = values
    return TextEvidence(
        kind=kind,
        whole=whole,
        edited=np.full((len(plan.edits), len(plan.classes)), NAN),
        inside=np.full((len(plan.cases), 3), NAN),
    )


def at(entries: list[dict[str, Any]], threshold: float) -> dict[str, Any]:
    (found,) = (entry for entry in entries if entry["threshold"] == threshold)
    return found


def test_a_text_counts_once_in_each_class_that_it_reaches():
    rows = np.full((64, len(PLAN.classes)), NAN)
    rows[:, :4] = [0.0, 4.0, 6.0, 9.5]
    rows[:10, 2] = 5.9
    rows[:3, 3] = NAN  # shorter texts
    entry = at(whole_entries(PLAN, rows, ""), 6.0)
    assert entry["usable"] == [5, 10, 15, 20]
    assert entry["found"] == [0, 0, 54, 61]
    assert entry["texts"] == [64, 64, 64, 61]
    assert at(whole_entries(PLAN, rows, ""), 9.0)["found"] == [0, 0, 0, 61]
    assert [e["threshold"] for e in whole_entries(PLAN, rows, "")] == list(THRESHOLDS)


def test_a_class_of_few_texts_is_left_out():
    rows = np.full((64, len(PLAN.classes)), NAN)
    rows[:, 0] = 1.0
    rows[:LEAST_TEXTS, 1] = 9.0
    rows[: LEAST_TEXTS - 1, 2] = 9.0
    assert at(whole_entries(PLAN, rows, ""), 6.0)["usable"] == [5, 10]
    assert whole_entries(PLAN, np.full((64, len(PLAN.classes)), NAN), "") == []
    few = whole_entries(PLAN, rows[:3], "")
    assert at(few, 6.0)["texts"] == [3, 3, 3], "a small measurement says little, but says it"


def test_passages_flatter_neither_in_length_nor_in_the_text_around():
    inside = np.full((64, 2, 3), NAN)
    rng = np.random.default_rng(1)
    for case, (evidence_, usable) in enumerate(((4.0, 15), (8.0, 30))):
        inside[:, case, 0] = evidence_
        inside[:, case, 1] = rng.integers(usable - 5, usable + 1, 64)
        inside[0, case, 1] = usable
        inside[:, case, 2] = rng.integers(80, 95, 64)
    inside[5, 1, 2] = 71
    entry = at(inside_entries(PASSAGES, inside), 6.0)
    assert (entry["usable"], entry["found"], entry["texts"]) == ([15, 30], [0, 64], [64, 64])
    assert entry["text_usable"] == 71
    # The texts are put together from parts: four fifths of their evidence count.
    assert at(inside_entries(PASSAGES, inside), 6.603)["found"] == [0, 0]
    inside[:6, 1] = NAN  # too few texts with the longer passage
    assert at(inside_entries(PASSAGES, inside), 6.0)["usable"] == [15]
    inside[:] = NAN
    assert inside_entries(PASSAGES, inside) == []


def test_a_table_speaks_of_what_was_measured_and_of_nothing_else():
    found = [evidence("German", *([9.0] * 6)) for _ in range(62)]
    found += [evidence("", *([9.0] * 6)), evidence("English", *([0.0] * 6))]
    table = parse_power(make_table(PLAN, SOURCE, Reader(), found, default_model()))  # type: ignore[arg-type]
    assert (table.conditions["texts"], table.conditions["left_out"]) == (63, 1)
    asked = PowerQuery(
        profile=PROFILE,
        usable=40,
        threshold=6.0,
        prompt_known=False,
        reader="1" * 16,
        dtype="float32",
        kind="German",
        likelihood=table.conditions["likelihood"],
    )
    power, needed = table.run(asked, 0.95)
    assert power == pytest.approx(lower_limit(63, 63))
    assert needed == 40
    for other in (
        {"kind": "English"},
        {"dtype": "bfloat16"},
        {"likelihood": "0" * 16},
        {"profile": PROFILE.with_(temperature=1.0)},
        {"profile": PROFILE.with_(top_p=1.0)},
        {"profile": PROFILE.with_(history="all")},
    ):
        assert table.run(replace(asked, **other), 0.95) == (None, None)  # type: ignore[arg-type]
    assert shipped_power()[0].run(asked, 0.95) == (None, None)


def test_a_language_that_cannot_be_told_from_others_speaks_for_none():
    for kind, kinds in (("French", ["French"]), ("signs", ["signs"]), ("another language", [])):
        found = [evidence(kind, 9.0)] * 64
        table = make_table(PLAN, SOURCE, Reader(), found, default_model())  # type: ignore[arg-type]
        assert table["conditions"]["kinds"] == kinds


def test_texts_that_are_too_short_make_no_table():
    with pytest.raises(PolicyError, match="hold too little") as caught:
        make_table(PLAN, SOURCE, Reader(), [evidence("")] * 3, default_model())  # type: ignore[arg-type]
    assert "zu wenig her" in caught.value.words("de")[0]


def test_edits_are_read_by_name_and_rate():
    edit = parse_edit("substitute:0.2")
    assert (edit.name, edit.params) == ("substitute:0.2", {"rate": 0.2})
    assert parse_edit("copy-paste:0.3").params == {"share": 0.3}
    assert parse_edit("sentence-shuffle").params == {}
    for bad in ("", "nothing", "substitute:", "substitute:x", "substitute:1", "truncate", "splice"):
        with pytest.raises(PolicyError, match="not known here"):
            parse_edit(bad)
    with pytest.raises(PolicyError, match="not known here"):
        parse_edit("sentence-shuffle:0.5")


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "x" * 81},
        {"texts": 0},
        {"tokens": 19},
        {"passages": (61,)},
        {"documents": (60,)},
        {"documents": (100_001,)},
    ],
)
def test_a_setting_out_of_range_is_named(bad):
    with pytest.raises(PolicyError, match=next(iter(bad))):
        replace(PLAN, **bad)


def test_prompts_are_spread_and_name_the_measurement():
    assert len({PLAN.prompt(n) for n in range(64)}) == 64
    few = replace(PLAN, prompts=("a", "b"))
    assert [few.prompt(n) for n in range(4)] == ["a", "b", "a", "b"]
    assert PLAN.prompt(0) == STUDY[0]
    reader: Any = Reader()
    assert few.digest(reader) != PLAN.digest(reader) == replace(PLAN, name="x").digest(reader)
