"""Outcomes and findings: bounds, cap and floor, the order of sentences, both languages."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.base.numerals import LANGUAGES
from pura.detect.unexamined import REASONS
from pura.detect.verdict.findings import FindingContext, cautions, findings, unexamined_findings
from pura.detect.verdict.outcome import VERDICTS, bound, decide_outcome, not_examinable
from pura.detect.verdict.policy import Policy
from pura.record.evidence import MarkFacts, PowerFacts, PriorFacts
from pura.record.finding import answer_of
from pura.record.gaps import Gap
from pura.record.left_out import LeftOut, LeftOutKind, left_out_share
from pura.record.naming import CandidateFacts, Passage, RegisterFacts, RegisterMatch, name_payload
from pura.scheme import MarkIdentity, Payload
from pura.words.sentences import fill, forbidden, out_of_order

POLICY = Policy()
PAYLOAD = "0110" * 9
WHOLE = "caution.passage-whole"


def decide(log10_e, usable=100, power=0.99, policy=POLICY, needed=None):
    return decide_outcome(log10_e, usable, policy, power=power, needed=needed)


def circumstances(**changes):
    facts = {"tokens": 300, "key": "ab" * 8, "mark": MARK, "positions": 108}
    facts |= {"verifier": "smollm2", "verifier_fingerprint": "a" * 16, "generator": "a" * 16}
    return FindingContext(**(facts | {"prompt_known": True} | changes))


def named(*weights):
    """What may be said of PAYLOAD, the strongest of payloads with these weights."""
    bits = [PAYLOAD, *(format(i, "036b") for i in range(1, len(weights)))][: len(weights)]
    listed = [CandidateFacts(bits=b, posterior=w) for b, w in zip(bits, weights, strict=True)]
    return name_payload(PAYLOAD, (), listed, POLICY.single_weight)


MARK = MarkIdentity(key="ab" * 8, profile="cd" * 8, payload=Payload(text=PAYLOAD))


def register(payload=PAYLOAD, posterior=0.9998, chance=3 / 2**36, **facts):
    match = RegisterMatch(
        entry=17,
        key=MARK.key,
        profile=MARK.profile,
        payload=payload,
        who="x",
        when="2026-01-02",
        model="m",
        posterior=posterior,
    )
    return RegisterFacts(
        version="0a1b2c3d4e5f6071-3",
        date="2026-03-14T10:00:00+00:00",
        entries=3,
        matches=(match,),
        none_weight=1 - posterior,
        prior_none=0.1,
        chance=chance,
        **facts,
    )


def said(outcome, keys=1, p_redraw=None, draws=0, circ=None, **more):
    outcome = outcome.tested(keys_tried=keys, p_redraw=p_redraw, draws=draws)
    return findings(outcome, POLICY, circ or circumstances(), **more)


def keys_of(sentences):
    return [s.key for s in sentences]


# ------------------------------------------------------------------------- the decision rule


@pytest.mark.parametrize(
    ("log10_e", "power", "verdict"),
    [
        (6.0, None, "mark"),
        (4000.0, 0.1, "mark"),
        (math.nextafter(6, 0), 0.99, "indication"),
        (3.0, None, "indication"),
        (math.nextafter(3, 0), 0.95, "no-mark"),
        (0.0, 0.95, "no-mark"),
        (-300.0, 1.0, "no-mark"),
        (-math.inf, 1.0, "no-mark"),
        (2.9, math.nextafter(0.95, 0), "insufficient"),
        (-5.0, 0.0, "insufficient"),
        (0.0, None, "insufficient"),
    ],
)
def test_bounds_are_included_below_and_excluded_above(log10_e, power, verdict):
    assert decide(log10_e, power=power).verdict == verdict


def test_too_few_usable_positions_decide_nothing():
    for log10_e in (-3.0, 0.0, 4.0, 50.0):
        out = decide(log10_e, usable=POLICY.min_usable - 1, power=1.0)
        assert out.verdict == "insufficient"
        assert out.evidence.needed == POLICY.min_usable
    assert decide(50.0, usable=POLICY.min_usable).verdict == "mark"
    assert decide(50.0, usable=3, needed=80).evidence.needed == 80


def test_thresholds_come_from_the_policy():
    strict = Policy(t_found=8, t_review=5, power_needed=0.99)
    assert decide(7.9, policy=strict).verdict == "indication"
    assert decide(4.9, policy=strict, power=0.98).verdict == "insufficient"
    assert decide(8.0, policy=strict).verdict == "mark"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_no_outcome_rests_on_what_is_not_a_number(bad):
    with pytest.raises(ValueError, match="not a number"):
        decide(bad)


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1])
def test_no_outcome_rests_on_a_power_that_is_no_share(bad):
    with pytest.raises(ValueError, match="power"):
        decide(0.0, power=bad)


# --------------------------------------------------------------------------- cap, floor, word


@pytest.mark.parametrize(
    ("log10_e", "lr", "capped", "word"),
    [
        (4000.0, 1e6, True, "extremely strong"),
        (6.0, 1e6, False, "extremely strong"),
        (5.0, 1e5, False, "very strong"),
        (3.0, 1e3, False, "strong"),
        (0.0, 1.0, False, "no useful support either way"),
        (0.2, 10**0.2, False, "no useful support either way"),
        (-0.5, 10**-0.5, False, "weak"),
        (-1.0, 0.1, False, "moderate"),
        (-2.0, 0.01, False, "moderate"),
        (-50.0, 0.01, True, "moderate"),
        (-math.inf, 0.01, True, "moderate"),
    ],
)
def test_cap_for_h1_and_floor_for_h2(log10_e, lr, capped, word):
    out = decide(log10_e)
    assert out.evidence.lr_capped == pytest.approx(lr)
    assert (out.evidence.capped, out.evidence.scale_word) == (capped, word)


@given(st.floats(-1e4, 1e4), st.floats(1e4, 1e9))
def test_the_reported_ratio_never_passes_the_cap(log10_e, cap):
    out = decide(log10_e, policy=Policy(lr_cap=cap))
    assert 0.01 * (1 - 1e-12) <= out.evidence.lr_capped <= cap
    assert 0 < out.evidence.p_bound <= 1


def test_a_low_cap_also_holds_for_the_word():
    assert decide(9.0, policy=Policy(lr_cap=1e4)).evidence.scale_word == "very strong"


def test_the_bound_is_never_zero_and_never_too_small():
    assert bound(0.0) == bound(-3.0) == bound(-math.inf) == 1.0
    assert bound(2.0) == pytest.approx(0.01)
    assert 0 < bound(5000.0) <= bound(400.0) <= bound(308.5) <= bound(300.0)


def test_facts_carry_everything_over():
    facts = decide(7.0, needed=60).tested(keys_tried=3, p_redraw=0.001, draws=999, seed=5).evidence
    assert (facts.keys_tried, facts.p_redraw, facts.draws, facts.seed) == (3, 0.001, 999, 5)
    assert (facts.log10_e, facts.usable, facts.power, facts.needed) == (7.0, 100, 0.99, 60)
    assert (facts.lr_capped, facts.capped) == (1e6, True)


# ------------------------------------------------------------------------------- findings


def test_a_mark_in_full():
    out = said(
        decide(110.0),
        p_redraw=0.001,
        draws=999,
        circ=circumstances(generator="b" * 16, passages=2, passage_share=0.4),
        payload=named(0.6, 0.3, 0.095),
        register=register(),
    )
    assert keys_of(out) == [
        "outcome.mark",
        "note.n1",
        "note.bound",
        "note.n2",
        "payload.several",
        "register.in-question",
        "text.concentrated",
        "verifier.proxy",
        "scope",
    ]
    text = fill(out[0], "en")
    assert "at least 1,000,000 times" in text
    assert "extremely strong support" in text
    assert "1 in 1,000,000" in fill(out[2], "en")
    assert "1 in 1,000 (999 control draws)" in fill(out[3], "en")
    assert "In question remain 3 payloads" in fill(out[4], "en")
    assert "17" not in fill(out[5], "en")
    sure = said(decide(110.0), payload=named(0.991, 0.009), register=register())
    assert "payload.several" not in keys_of(sure)
    entry = next(s for s in sure if s.key == "register.issued")
    assert "register entry 17" in fill(entry, "en")


def test_without_a_mark_nothing_is_said_of_payload_register_or_passages(subtests):
    evidence = (5.9, 3.0, 2.0, 0.5, 0.0, -0.2, -0.5, -1.5, -40.0, -math.inf)
    for log10_e, power, usable in itertools.product(evidence, (None, 0.3, 0.99), (3, 100)):
        out = said(
            decide(log10_e, power=power, usable=usable),
            p_redraw=0.2,
            draws=99,
            circ=circumstances(passages=1, passage_share=0.2),
            payload=named(0.5, 0.5),
            register=register(),
        )
        with subtests.test(log10_e=log10_e, power=power, usable=usable):
            assert out_of_order(out) == []
            keys = keys_of(out)
            assert not [k for k in keys if k.startswith(("register", "payload", "text."))]
            assert keys[-1] == "scope"


def test_the_ratio_is_said_for_the_right_side():
    def second(log10_e):
        return said(decide(log10_e))[1]

    assert second(4.6).key == "evidence.for-h1"
    assert "are 30,000 times more probable if H1" in fill(second(4.6), "en")
    assert second(0.1).key == second(-0.3).key == "evidence.neutral"
    assert second(-1.7).key == "evidence.for-h2"
    assert "are 50 times more probable if H2" in fill(second(-1.7), "en")
    assert "at least 100 times more probable if H2" in fill(second(-9.0), "en")
    assert "moderate support for H2" in fill(second(-9.0), "en")


def test_no_mark_says_power_and_keys():
    text = fill(said(decide(0.0, power=0.975, needed=80), 3)[0], "en")
    assert "with the 3 keys listed. About 97 %" in text
    assert "at least 80 usable positions in a row" in text
    whole = fill(said(decide(0.0, usable=90, power=0.975))[0], "en")
    assert "at least 90 usable positions in a row" in whole


def mark(bits, passages=1):
    where = Passage(first_token=3, last_token=90, start=10, end=300)
    return MarkFacts(key="ab" * 8, bits=bits, fields=(), passages=(where,) * passages, share=0.25)


def test_one_mark_needs_no_sentence_of_its_own_and_several_are_counted():
    out = decide(20.0)
    one = findings(out, POLICY, circumstances(), marks=[mark("01")])
    assert not [k for k in keys_of(one) if k.startswith("marks")]
    circ = circumstances(passages=1, passage_share=0.4)
    two = findings(
        out, POLICY, circ, marks=[mark("01"), mark("10", passages=2)], register=register()
    )
    # What is said of each stands with it, so no sentence here names a payload or an entry.
    keys = [k for k in keys_of(two) if k.startswith(("marks", "text", "register", "payload"))]
    assert keys == ["marks.counted", "register.looked-up"]
    assert out_of_order(two) == []
    assert "carries 2 marks" in fill(two[keys_of(two).index("marks.counted")], "en")
    more = findings(out, POLICY, circ, marks=[mark("01"), mark("10")], more_marks=True)
    assert "at least 2 marks" in fill(more[keys_of(more).index("marks.counted")], "en")


def test_with_every_mark_it_is_said_that_words_are_not_vouched_for():
    out = decide(20.0)
    assert keys_of(cautions(out, circumstances())) == [WHOLE]
    for log10_e in (4.0, 0.0):
        assert WHOLE not in keys_of(cautions(decide(log10_e), circumstances()))


def test_what_stands_between_two_passages_of_a_mark_is_said():
    many = tuple(
        Gap(after_from=922 + at, after_to=935 + at, before_from=1187 + at, before_to=1313 + at)
        for at in range(0, 30_000, 1_000)
    )
    said = findings(decide(20.0), POLICY, circumstances(gaps=many))
    words = fill(said[keys_of(said).index("text.gap-between")], "en")
    assert "30 stretches, somewhere between characters 922–935 and 1,187–1,313; " in words
    assert "…" in words
    for log10_e in (4.0, 0.0):
        assert "text.gap-between" not in keys_of(
            findings(decide(log10_e), POLICY, circumstances(gaps=many))
        )


def test_too_little_says_how_much_is_needed_or_that_nobody_knows():
    some = said(decide(0.0, usable=30, power=0.2, needed=80))[0]
    assert "30 usable positions, about 80 are needed" in fill(some, "en")
    unknown = said(decide(0.0, usable=30, power=None))[0]
    assert "has not been measured" in fill(unknown, "en")
    short = said(decide(0.0, usable=300, power=0.9, needed=None))[0]
    for language, words in (("en", "about 90 %"), ("de", "etwa 90 %")):
        shown = fill(short, language).replace("\N{NO-BREAK SPACE}", " ")
        assert words in shown
        assert "power measure" not in shown  # it was measured, and is too low


def test_the_register_is_said_with_its_odds():
    sure = named(1.0)
    out = said(decide(20.0), payload=sure, register=register(payload="1" * 36, posterior=0.7))
    assert "register.none" in keys_of(out)
    assert "register.closest" in keys_of(out)
    assert "register.issued" not in keys_of(out)
    other = register(payload="1" * 36, posterior=0.001)
    faint = said(decide(20.0), payload=sure, register=other)
    assert "register.closest" not in keys_of(faint)


@pytest.mark.parametrize("change", [{"key": "ef" * 8}, {"epoch": "2026-11"}, {"profile": "01" * 8}])
def test_an_entry_of_another_mark_with_the_same_payload_is_not_named(change):
    """What 0.4.0 did: the customer of one key was named for a text of another."""
    other = circumstances(mark=replace(MARK, **change))
    out = said(decide(20.0), payload=named(1.0), register=register(), circ=other)
    assert "register.none" in keys_of(out)
    assert "register.issued" not in keys_of(out)


@pytest.mark.parametrize(
    ("chance", "key"), [(3 / 2**36, "register.chance"), (None, "register.chosen")]
)
def test_the_chance_of_agreement_is_said_of_random_numbers_only(chance, key):
    out = said(decide(20.0), payload=named(1.0), register=register(chance=chance))
    assert [k for k in keys_of(out) if k in ("register.chance", "register.chosen")] == [key]


def test_what_was_revoked_and_what_was_not_compared_is_said():
    facts = register(payload="1" * 36, posterior=0.0, revoked=(4, 9), unassigned=7)
    out = said(decide(20.0), payload=named(1.0), register=facts)
    keys = [k for k in keys_of(out) if k.startswith("register.")]
    assert keys == ["register.revoked", "register.unassigned"]
    assert out_of_order(out) == []
    (revoked,) = (s for s in out if s.key == "register.revoked")
    assert "4, 9" in fill(revoked, "en")


@pytest.mark.parametrize("kind", ["when-epoch", "when-field", "epoch-field", "model-field"])
def test_an_entry_that_contradicts_itself_is_a_caution(kind):
    facts = register()
    facts = replace(facts, matches=(replace(facts.matches[0], contradicts=(kind,)),))
    weak = cautions(decide(20.0), circumstances(), facts)
    assert f"caution.register-{kind}" in keys_of(weak)


@pytest.mark.parametrize("log10_e", [20.0, 4.0, 0.0])
def test_a_register_as_prior_is_said_with_why_it_is_sound(log10_e):
    prior = PriorFacts(
        version="0a1b2c3d4e5f6071-1000",
        digest="0a" * 32,
        date="2026-03-14T10:00:00+00:00",
        entries=1000,
        weight=0.5,
        log10_alike=log10_e - 7,
        log10_issued=log10_e,
    )
    out = said(decide(log10_e), prior=prior)
    assert keys_of(out).count("note.prior-keys") == 1
    assert out_of_order(out) == []
    (sentence,) = (s for s in out if s.key == "note.prior-keys")
    words = fill(sentence, "en")
    assert "register 0a1b2c3d4e5f6071-1000" in words
    assert "1,000" in words
    assert "14. März 2026" in fill(sentence, "de")
    assert "note.prior-keys" not in keys_of(said(decide(log10_e)))


def test_whose_measurement_an_outcome_rests_on_is_said():
    own = PowerFacts(table="0a" * 32, name="Chat, German", own=True, texts=64, date="2026-11-22")
    missed = decide(0.0, power=0.96, needed=40)
    out = said(missed, power=own)
    assert keys_of(out)[:2] == ["outcome.no-mark-in-a-row", "note.power"]
    assert out_of_order(out) == []
    words = fill(out[1], "en"), fill(out[1], "de")
    assert all("Chat, German" in w and "0a0a0a0a0a0a0a0a" in w and "64" in w for w in words)
    assert "22. November 2026" in words[1]
    for outcome, power in (
        (missed, None),
        (missed, replace(own, own=False)),
        (decide(20.0), own),
    ):
        assert "note.power" not in keys_of(said(outcome, power=power))


def test_a_register_that_the_policy_wants_and_nobody_gave_is_a_caution():
    out = decide(8.0)
    assert "caution.prior-unused" in keys_of(cautions(out, circumstances(prior_unused=True)))
    assert "caution.prior-unused" not in keys_of(cautions(out, circumstances()))


def test_many_faint_candidates_are_counted_too():
    out = said(decide(20.0), payload=named(*[1e-5] * 8))
    several = next(s for s in out if s.key == "payload.several")
    assert several.values["k"] == 8
    assert "In question remain at least 8 payloads" in fill(several, "en")


@pytest.mark.parametrize("reason", sorted(set(REASONS.values())))
def test_not_examinable_gives_its_reason_its_way_out_and_no_number(reason):
    sentences = unexamined_findings(not_examinable(reason, POLICY))
    way_out = reason.replace("reason", "way-out")
    assert keys_of(sentences) == ["outcome.not-examinable", way_out, "scope"]
    for language in LANGUAGES:
        for sentence in sentences[:2]:
            assert forbidden(fill(sentence, language), language) == []


def test_an_unknown_reason_is_refused():
    for bad in ("reason.moon", "scope", ""):
        with pytest.raises(ValueError, match="no such reason"):
            not_examinable(bad, POLICY)


# -------------------------------------------------------------------------------- cautions


def test_nothing_weakens_a_long_text_read_well():
    out = decide(100.0)
    assert keys_of(cautions(out, circumstances())) == [WHOLE]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"tokens": 149}, "caution.short"),
        ({"prompt_known": False}, "caution.prompt-unknown"),
        ({"generator": "b" * 16}, "caution.model-differs"),
        ({"generator": None}, "caution.model-unknown"),
        ({"retokenised": True}, "caution.retokenised"),
        ({"erasures": 3}, "caution.erasures"),
        ({"repaired": 1}, "caution.repaired"),
        ({"decoder": "paper"}, "caution.paper-decoder"),
        ({"unlike": "signs"}, "caution.signs"),
        ({"epochs": "2026-11"}, "caution.several-epochs"),
        ({"unlike": "language"}, "caution.language"),
    ],
)
def test_each_caution_by_itself(changes, key):
    out = decide(100.0)
    assert keys_of(cautions(out, circumstances(**changes))) == [key, WHOLE]


def test_cautions_from_the_evidence():
    few = decide(8.0, usable=20, needed=60)
    assert keys_of(cautions(few.tested(keys_tried=2), circumstances())) == [
        "caution.few-usable",
        "caution.several-keys",
        WHOLE,
    ]
    unmeasured = decide(8.0, power=None)
    assert keys_of(cautions(unmeasured, circumstances())) == ["caution.unmeasured", WHOLE]
    # The language is the reason why no rate is stated.
    other = circumstances(unlike="language")
    assert keys_of(cautions(unmeasured, other)) == ["caution.language", WHOLE]


@given(
    st.floats(-1e3, 1e3),
    st.integers(0, 500),
    st.none() | st.floats(0, 1),
    st.none() | st.integers(1, 500),
    st.integers(1, 40),
    st.none() | st.floats(1e-5, 1),
    st.booleans(),
    st.lists(st.floats(0, 1), max_size=5),
)
def test_whatever_happens_the_sentences_fill_and_pass_the_linter(
    log10_e, usable, power, needed, keys, p_redraw, odd, weights
):
    out = decide(log10_e, usable=usable, power=power, needed=needed)
    out = out.tested(keys_tried=keys, p_redraw=p_redraw, draws=999 if p_redraw else 0)
    circ = circumstances(
        generator=None if odd else "b" * 16,
        tokens=usable,
        prompt_known=odd,
        erasures=usable % 3,
        repaired=usable % 2,
        unlike=("", "signs", "language")[usable % 3],
        passages=usable % 4,
        passage_share=0.5,
    )
    ranked = named(*sorted((w / (sum(weights) + 1e-12) for w in weights), reverse=True))
    sentences = findings(out, POLICY, circ, payload=ranked, register=register() if odd else None)
    assert out.verdict in VERDICTS
    assert out_of_order(sentences) == []
    for sentence in (*sentences, *cautions(out, circ)):
        for language in LANGUAGES:
            assert forbidden(fill(sentence, language), language) == []


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"created": "2026-11-24", "new_key": True}, ("created on", "same day")),
        ({"created": "2026-11-24", "new_key": True, "issued": 0}, ("created on", "holds no")),
        (
            {"created": "2026-11-24", "new_key": True, "issued": 0, "unassigned": 3},
            ("created on", "same day", "holds 3 payloads"),
        ),
        (
            {"created": "2026-11-24", "new_key": True, "issued": 3},
            ("created on", "3 payloads were issued"),
        ),
        ({"issued": 0, "unassigned": 3}, ()),
        ({"issued": 0}, ("holds no payload", "not known")),
        ({"created": "2026-01-02", "issued": 0}, ("created on", "holds no payload")),
        ({"created": "2026-01-02", "issued": 3}, ()),
        ({}, ()),
    ],
)
def test_a_key_without_use_is_said_before_what_no_mark_would_mean(known, words):
    none = decide(0.0, usable=300, power=0.99)
    assert none.verdict == "no-mark"
    said = findings(none, POLICY, circumstances(**known))
    unused = [one for one in said if one.key.startswith("unused.")]
    assert len(unused) == bool(words)
    shown = {"capped": False, "lr": 1.0, "keys": "k", "config": "c"}
    answer, _ = answer_of(none.verdict, said, **shown)
    assert [one.key for one in answer] == [*(one.key for one in unused), said[0].key]
    for one in unused:
        assert all(word in fill(one, "en") for word in words)
        assert fill(one, "de")
    # Where something was found, or nothing can be said, it is not the key that matters.
    for other in (decide(20.0), decide(0.0, usable=30, power=0.2, needed=80)):
        keys = keys_of(findings(other, POLICY, circumstances(**known)))
        assert not [key for key in keys if key.startswith("unused.")]


COMMENTS = LeftOut(kind=LeftOutKind.COMMENT, words=60, part="comments")
LOCKED = LeftOut(kind=LeftOutKind.ENCRYPTED, words=None)


@pytest.mark.parametrize(
    ("left_out", "verdict", "in_part"),
    [(0.0, "no-mark", False), (0.03, "no-mark", False), (0.031, "insufficient", True)],
)
def test_words_left_out_forbid_no_mark(left_out, verdict, in_part):
    outcome = decide_outcome(-2.0, 100, POLICY, power=0.99, left_out=left_out)
    assert (outcome.verdict, outcome.in_part) == (verdict, in_part)


@pytest.mark.parametrize(
    ("log10_e", "usable", "power", "verdict"),
    [
        (7.0, 100, 0.99, "mark"),
        (4.0, 100, 0.99, "indication"),
        (0.0, 100, 0.5, "insufficient"),
        (0.0, 3, 0.99, "insufficient"),
    ],
)
def test_words_left_out_change_no_other_outcome(log10_e, usable, power, verdict):
    outcome = decide_outcome(log10_e, usable, POLICY, power=power, left_out=1.0)
    assert (outcome.verdict, outcome.in_part) == (verdict, False)


@pytest.mark.parametrize(
    ("entries", "key"),
    [
        ((COMMENTS,), "outcome.insufficient-in-part"),
        ((COMMENTS, LOCKED), "outcome.insufficient-in-part-uncounted"),
    ],
)
def test_the_outcome_says_how_much_was_examined(entries, key):
    share = left_out_share(entries, 240)
    outcome = decide_outcome(-2.0, 100, POLICY, power=0.99, left_out=share)
    around = circumstances(left_out=entries, examined_words=240)
    first, *_ = said(outcome, circ=around)
    assert first.key == key
    assert (first.values["words"], first.values.get("left_out", 60)) == (240, 60)


def test_a_key_without_use_is_said_of_a_part_as_well():
    outcome = decide_outcome(-2.0, 100, POLICY, power=0.99, left_out=1.0)
    around = circumstances(left_out=(LOCKED,), created="2026-11-28", new_key=True)
    assert "unused.new" in {one.key for one in said(outcome, circ=around)}
