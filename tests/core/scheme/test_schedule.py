"""Which steps carry bits: the rules one by one, and against a plain second writing of them."""

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.base.errors import Cancelled
from pura.scheme import Gate, Profile, Scheduler, SecretKey, schedule

SECRET = bytes(range(32))
KEY = SecretKey(SECRET)
PROFILE = Profile(payload_bits=12, blocks=3, vocab_size=50)
RICH, POOR = 4.0, 0.5  # entropies above the second threshold and below the first


def run(ids, entropy, profile=PROFILE, **more):
    entropy = np.broadcast_to(np.asarray(entropy, dtype=float), (len(ids),))
    return schedule(np.array(ids, dtype=np.int64), entropy, KEY, profile, **more)


def plainly(ids, entropy, profile):
    """The rules of scheme.md §3 written down a second time, without the code's parts."""
    rows, used = [], set()
    window, n = profile.context_window, profile.codeword_length
    for t, h in enumerate(entropy):
        if t < window:
            continue
        arity = sum(h >= theta for theta in profile.entropy_thresholds_bits)
        context = b"".join(int(x).to_bytes(4, "little") for x in ids[t - window : t])

        def prf(label, context=context):
            digest = blake2b(context, key=SECRET, person=label, digest_size=16).digest()
            return int.from_bytes(digest, "little")

        repeated = context in used
        if arity > 0 or profile.history == "all":
            used.add(context)
        if arity and not repeated:
            rows.append((t, arity, (prf(b"pura1-seed") >> 75) / 2**53, prf(b"pura1-index") % n))
    return rows


def as_rows(result):
    columns = (result.token, result.arity, result.phase, result.index)
    return list(zip(*(c.tolist() for c in columns), strict=True))


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.99, 1.0, 2.0, 3.0, 4.9, 5.0, 9.0])),
        max_size=60,
    ),
    st.integers(1, 4),
    st.sampled_from(["used", "all"]),
)
def test_schedule_is_the_rules_written_plainly(steps, window, history):
    profile = PROFILE.with_(context_window=window, history=history)
    ids, entropy = [s[0] for s in steps], [s[1] for s in steps]
    result = run(ids, np.array(entropy), profile)
    assert as_rows(result) == plainly(ids, entropy, profile)
    assert result.gate.shape == (len(steps),)
    assert np.flatnonzero(result.gate == Gate.CARRIES).tolist() == result.token.tolist()
    assert (result.gate[:window] == Gate.NO_CONTEXT).all()


@pytest.mark.parametrize(
    ("entropy", "arity"),
    [(0.999, 0), (1.0, 1), (2.999, 1), (3.0, 2), (4.999, 2), (5.0, 3), (15.0, 3), (0.0, 0)],
)
def test_thresholds_are_included(entropy, arity):
    result = run([1, 2, 3], entropy)
    assert result.arity.tolist() == ([arity] if arity else [])
    assert result.gate[2] == (Gate.CARRIES if arity else Gate.LOW_ENTROPY)


def test_equal_thresholds_skip_an_arity():
    profile = PROFILE.with_(entropy_thresholds_bits=(2.0, 2.0, 5.0))
    assert run([1, 2, 3], 2.0, profile).arity.tolist() == [2]
    assert run([1, 2, 3], 0.0, PROFILE.with_(entropy_thresholds_bits=(0, 0, 0))).arity[0] == 3


def test_an_entropy_that_is_no_number_carries_nothing():
    assert run([1, 2, 3], np.nan).gate.tolist() == [1, 1, Gate.LOW_ENTROPY]


def test_a_context_carries_once():
    result = run([7, 7, 7, 7, 7], RICH)
    assert result.token.tolist() == [2]
    assert result.gate[3:].tolist() == [Gate.REPEATED_CONTEXT] * 2


def test_a_poor_step_uses_up_its_context_only_under_history_all():
    ids, entropy = [7] * 4, [RICH, RICH, POOR, RICH]
    used = run(ids, entropy)
    assert used.token.tolist() == [3]
    all_ = run(ids, entropy, PROFILE.with_(history="all"))
    assert all_.token.tolist() == []
    assert all_.gate.tolist() == [
        Gate.NO_CONTEXT,
        Gate.NO_CONTEXT,
        Gate.LOW_ENTROPY,
        Gate.REPEATED_CONTEXT,
    ]


def test_history_all_does_not_depend_on_entropies_where_both_carry():
    """What "all" is for: generator and verifier disagree on a gate and stay in step after."""
    ids = [1, 2, 3, 1, 2, 3, 1, 2, 4]
    generator = [RICH] * 9
    verifier = [RICH, RICH, RICH, POOR, RICH, RICH, RICH, RICH, RICH]
    profile = PROFILE.with_(history="all")
    left, right = (as_rows(run(ids, e, profile)) for e in (generator, verifier))
    assert set(right) <= set(left)
    left, right = (as_rows(run(ids, e)) for e in (generator, verifier))
    assert not set(right) <= set(left)


def test_the_context_is_the_tokens_before_never_the_token_itself():
    a, b = run([1, 2, 3], RICH), run([1, 2, 4], RICH)
    assert as_rows(a) == as_rows(b)
    assert as_rows(run([1, 5, 3], RICH)) != as_rows(a)


def test_large_token_ids_do_not_collide():
    a, b = run([1, 256, 0], RICH), run([1, 1, 0], RICH)
    assert as_rows(a) != as_rows(b)
    assert len(run([2**24 - 1, 2**24 - 1, 0], RICH)) == 1


@pytest.mark.parametrize("size", [0, 1, 2])
def test_texts_shorter_than_the_window_carry_nothing(size):
    result = run([1] * size, RICH)
    assert len(result) == 0
    assert (result.phase.dtype, result.token.dtype) == (np.float64, np.int64)
    assert result.gate.tolist() == [Gate.NO_CONTEXT] * size


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="zip"):
        schedule(np.arange(3), np.zeros(2), KEY, PROFILE)


def test_the_walk_can_be_stopped():
    calls = []

    def stop():
        calls.append(1)
        if len(calls) == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        run(range(10_000), RICH, checkpoint=stop)


def test_walk_and_whole_text_are_the_same():
    rng = np.random.default_rng(5)
    ids, entropy = rng.integers(0, 6, 300), rng.uniform(0, 7, 300)
    whole = run(ids.tolist(), entropy)
    walk, seen = Scheduler(KEY, PROFILE), []
    for t, (token, h) in enumerate(zip(ids.tolist(), entropy.tolist(), strict=True)):
        step = walk.step(h)
        assert step.gate == whole.gate[t]
        if step.arity:
            seen.append((t, step.arity, step.phase, step.index))
        walk.push(token)
    assert seen == as_rows(whole)


def test_phases_of_different_contexts_are_uniform():
    """1,000 phases: the largest gap to the uniform law passes 0.062 once in 1,000 keys (KS)."""
    phase = np.sort(run(range(1002), RICH).phase)
    assert phase.size == 1000
    grid = np.arange(1000) / 1000
    assert max(np.abs(phase - grid).max(), np.abs(phase - grid - 0.001).max()) < 0.062
