"""How good a proxy a model is: measured on real marked texts, judged by the printed rule."""

import json
from typing import Any

import numpy as np
import pytest
from tests.core.stops import stop

from pura.base.errors import Cancelled, GenerationError, InputError, ProfileError
from pura.measure.fitness import (
    MAX_SAMPLES,
    FitnessSample,
    make_samples,
    mean,
    measure,
    plain_sentence,
    read_samples,
    share,
    word_for,
)
from pura.scheme import Payload, Profile


def test_shares_and_means_have_their_intervals():
    from scipy import stats

    half = share(5, 10)
    assert (half.low, half.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert share(10, 10).high == pytest.approx(1.0)
    assert share(0, 10).low == 0.0
    for count in (2, 3, 9, 12, 40, 500):
        values = np.random.default_rng(count).normal(5, 2, count)
        found = mean(values.tolist())
        low, high = stats.t.interval(0.95, count - 1, values.mean(), stats.sem(values))
        assert (found.low, found.high) == pytest.approx((low, high), abs=2e-3)
    assert mean([0.5]).low is None
    assert mean([0.9, 1.0], 0.0, 1.0).high == 1.0


@pytest.mark.parametrize(
    ("found", "matched", "texts", "word"),
    [
        (0.9, 0.8, 10, "good"),
        (0.89, 1.0, 100, "usable"),
        (1.0, 0.79, 100, "usable"),
        (0.5, 0.0, 8, "usable"),
        (0.49, 0.4, 8, "poor"),
        (1.0, 1.0, 7, "undecided"),
    ],
)
def test_the_word_follows_the_rule(found, matched, texts, word):
    assert word_for(found, matched, texts) == word


def test_samples_are_read_line_by_line(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text('{"text": "Ein Text.", "payload": "0110"}\n\n{"text": "b", "payload": "1"}\n')
    first, second = read_samples(path)
    assert first == FitnessSample(text="Ein Text.", payload=Payload(text="0110"))
    assert second.text == "b"


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"text": "a"}',
        '{"text": 1, "payload": "01"}',
        '{"text": "a", "payload": "2"}',
        '{"text": " ", "payload": "01"}',
        '{"text": "a", "payload": ""}',
        "[" * 100_000,
    ],
)
def test_a_line_that_does_not_fit_is_named_and_not_quoted(tmp_path, line):
    path = tmp_path / "samples.jsonl"
    path.write_text('{"text": "fine", "payload": "01"}\n' + line)
    with pytest.raises(InputError, match="Sample 2") as caught:
        read_samples(path)
    assert "fine" not in str(caught.value)


def test_too_many_samples_are_refused(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text('{"text": "a", "payload": "01"}\n' * (MAX_SAMPLES + 1))
    with pytest.raises(InputError, match="can be taken"):
        read_samples(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_samples(tmp_path / "none.jsonl")


def given(samples: dict[str, Any], count: int) -> tuple[Profile, list[FitnessSample]]:
    data = samples["marked-tbcc"]
    return Profile.from_dict(data["profile"]), [
        FitnessSample(text=t["text"], payload=Payload(text=t["payload"]))
        for t in data["texts"][:count]
    ]


@pytest.mark.weekly
def test_the_generating_model_reads_its_own_samples(builtin_model, samples, sample_key):
    profile, marked = given(samples, 2)
    said: list[tuple[int, int]] = []
    found = measure(
        builtin_model,
        marked,
        profile,
        sample_key,
        source=builtin_model,
        progress=lambda *n: said.append(n),
    )
    assert found.matched.value == 1.0
    assert found.evidence.value > 6
    assert found.kl_bits.value == pytest.approx(0, abs=1e-9)
    assert found.word == "undecided"
    assert said == [(0, 2), (1, 2), (2, 2)]
    words = plain_sentence(found)
    assert "of 2 marked texts (handed over), 2 reached" in words
    again = json.loads(json.dumps(found.to_dict()))
    assert again["dtype"] == "float32"
    assert samples["marked"]["key_hex"] not in json.dumps(again)


def test_the_wrong_payload_is_not_matched(builtin_model, samples, sample_key):
    profile, marked = given(samples, 1)
    flipped = "".join("10"[int(bit)] for bit in marked[0].payload.text)
    wrong = [FitnessSample(text=marked[0].text, payload=Payload(text=flipped))]
    found = measure(builtin_model, wrong, profile, sample_key)
    assert found.matched.value == 0.0
    assert found.bits_right.value == 0.0
    assert found.kl_bits is None


def test_what_does_not_fit_is_found_before_any_reading(builtin_model, samples, sample_key):
    profile, marked = given(samples, 1)
    with pytest.raises(InputError, match="no marked text"):
        measure(builtin_model, [], profile, sample_key)
    with pytest.raises(InputError, match="payload of 3 bits"):
        measure(
            builtin_model,
            [FitnessSample(text="a", payload=Payload(text="010"))],
            profile,
            sample_key,
        )
    with pytest.raises(ProfileError, match="tokenizer"):
        measure(builtin_model, marked, profile.with_(tokenizer="0" * 16), sample_key)

    with pytest.raises(Cancelled):
        measure(builtin_model, marked, profile, sample_key, checkpoint=stop)


def test_texts_made_on_the_spot_are_marked(small_model, samples, sample_key):
    profile, _ = given(samples, 0)
    made = make_samples(small_model, profile, sample_key, texts=1, tokens=50)
    few = [make_samples(small_model, profile, sample_key, texts=1, tokens=4) for _ in range(2)]
    assert few[0] == few[1]
    found = measure(small_model, made, profile, sample_key, made_here=True)
    assert "made by this model itself" in plain_sentence(found)
    assert found.evidence.value > 2  # seed 1: far above; an unmarked text stays below with 99 %
    with pytest.raises(GenerationError):
        make_samples(small_model, profile, sample_key, texts=0)
