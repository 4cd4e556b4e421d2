"""The study's parts on synthetic texts: cells, shelf, evaluation. No model."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.core.programs import python

from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, CLEAN, LEARN, LEARNING, MAIN, STUDY, Cell
from pura.measure.evaluate import TextReading, evaluate, summarise, wilson
from pura.scheme import Payload, Profile, SecretKey
from pura_lab.design import ATTACKED, TRUNCATED, VERIFIERS, jobs

VOCABULARY = 256
KEY = SecretKey(bytes(range(32)))
Writer = Callable[..., TextReading]


def profile_of(code: str, bits: int) -> Profile:
    return Cell(name="x", code=code, payload_bits=bits).profile(VOCABULARY)


@pytest.mark.parametrize(("code", "bits"), [("spc", 12), ("spc", 36), ("tbcc", 36)])
def test_both_decoders_find_the_payload_of_an_unedited_text(marked_text, code, bits):
    profile, payload = profile_of(code, bits), Payload.from_int(2222 % (1 << bits), bits)
    reading = marked_text(profile, payload, 160, seed=3)
    out = evaluate(reading, KEY, payload, profile, prompt_known=False)
    assert out.paper_match
    assert out.exact_match
    assert out.paper_bits == out.exact_bits == 1.0
    assert out.log10_e > 20
    assert 100 < out.usable <= 158


def test_a_wrong_truth_is_counted_as_wrong(marked_text):
    profile, payload = profile_of("spc", 12), Payload.from_int(0b101100111000, 12)
    reading = marked_text(profile, payload, 160, seed=4)
    flipped = Payload.from_bits(payload.array ^ np.array([1] * 3 + [0] * 9, dtype=np.uint8))
    out = evaluate(reading, KEY, flipped, profile, prompt_known=False)
    assert not out.paper_match
    assert not out.exact_match
    assert out.exact_bits == pytest.approx(0.75)
    # The evidence never looks at the truth.
    assert out.log10_e == evaluate(reading, KEY, payload, profile, prompt_known=False).log10_e


def test_a_foreign_key_finds_nothing(marked_text):
    profile, payload = profile_of("tbcc", 36), Payload.from_int(7, 36)
    reading = marked_text(profile, payload, 160, seed=5)
    for number in range(2):
        other = SecretKey(bytes([number]) * 32)
        # P(e >= 1000) <= 0.001 for each of the two keys.
        assert evaluate(reading, other, payload, profile, prompt_known=False).log10_e < 3


def test_a_prefix_of_a_text_has_the_prefix_of_its_reading(marked_text):
    profile, payload = profile_of("tbcc", 36), Payload.from_int(99, 36)
    whole, short = (marked_text(profile, payload, n, seed=6) for n in (120, 60))
    cut = whole.first(60)
    for name, array in vars(short).items():
        np.testing.assert_array_equal(vars(cut)[name], array)


def test_summary_counts_pairs(marked_text):
    profile, payload = profile_of("spc", 12), Payload.from_int(1234, 12)
    good = evaluate(
        marked_text(profile, payload, 160, seed=7), KEY, payload, profile, prompt_known=False
    )
    rows = [good] * 3 + [type(good)(**{**vars(good), "paper_match": False, "log10_e": 1.0})]
    line = summarise(rows)
    assert (line.texts, line.paper_match, line.exact_match) == (4, 3, 4)
    assert (line.only_paper, line.only_exact, line.found) == (0, 1, 3)


def test_wilson_against_published_values():
    # Newcombe 1998, Statistics in Medicine 17, table I, method 3: 81/263, 15/148, 0/20, 1/29.
    for successes, trials, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_prompts_are_distinct_and_the_lists_disjoint():
    both = [*STUDY, *LEARNING]
    assert len(set(both)) == len(both)
    assert len(STUDY) >= 64


def test_cells_share_no_randomness():
    keys = {cell.key(i).fingerprint for cell in CELLS.values() for i in range(cell.texts)}
    assert len(keys) == sum(cell.texts for cell in CELLS.values())
    assert MAIN[0].key(0) == MAIN[0].key(0)
    assert MAIN[0].key(0) != MAIN[0].key(0, seed=1)
    assert len({cell.name for cell in (LEARN, *MAIN, *CLEAN)}) == 3 + len(CLEAN)
    assert not set(LEARN.prompts()) & set(MAIN[0].prompts())
    assert len(set(MAIN[0].prompts())) == MAIN[0].texts == 64


def test_jobs_name_what_exists_and_cover_the_attacks_and_verifiers():
    listed = jobs()
    assert len({job.reading for job in listed}) == len(listed)
    for job in listed:
        assert job.cell in CELLS
        assert job.verifier in VERIFIERS
        assert job.attack in {*ATTACKED, "splice"}
    required = ("clean", "sub10", "sub20", "ins10", "ins20", "del10", "del20", "shuffle", "paste")
    names = {(job.cell, job.attack, job.verifier) for job in listed}
    for verifier in ("blind", "prompt", "proxy"):
        assert {(c.name, a, verifier) for c in MAIN for a in required} <= names
    assert set(TRUNCATED.values()) == {100, 60}


def test_shelf_gives_back_what_was_put(tmp_path):
    cache = Cache(tmp_path / "new")
    rows = [np.arange(3), np.zeros(0, dtype=np.int64), np.arange(5)]
    wide = [np.arange(6.0).reshape(2, 3), np.ones((2, 1))]
    cache.put("a.b", {"ids": rows, "lo": wide})
    assert "a.b" in cache
    assert "a" not in cache
    assert cache.names() == ["a.b"]
    back = cache.get("a.b")
    for column, expected in (("ids", rows), ("lo", wide)):
        for got, want in zip(back[column], expected, strict=True):
            np.testing.assert_array_equal(got, want)
    assert not list((tmp_path / "new").glob("*.part"))


def test_a_claim_is_for_one_process_that_lives(tmp_path):
    claim = (
        "from pathlib import Path; from pura.measure.cache import Cache\n"
        f"print(Cache(Path({str(tmp_path)!r})).claim('work'))"
    )
    assert python(claim).strip() == "True"  # and it ended
    cache = Cache(tmp_path)
    assert cache.claim("work")
    assert not cache.claim("work")
    assert python(claim).strip() == "False"
    cache.put("work", {"x": [np.arange(2)]})
    assert not Cache(tmp_path).claim("work")
    assert not cache.claim("work")
