"""Which marks name nobody: those of texts that were put together without the key."""

from dataclasses import replace

import pytest

from pura.detect.verdict.attribution import withhold
from pura.detect.verdict.policy import Policy
from pura.record.evidence import FitFacts, MarkFacts
from pura.record.naming import PIECES, UNFIT, CandidateFacts, Passage
from pura.scheme import Profile

ANSWER = Profile(payload_bits=4, vocab_size=9, code="spc", blocks=1, payload_use="answer")
RECIPIENT = replace(ANSWER, payload_use="recipient")
UNKNOWN = replace(ANSWER, payload_use=None)
GOOD = FitFacts(log10_ratio=2.0, log10_per_step=0.3, steps=200)


def passage(first: int, last: int) -> Passage:
    return Passage(first_token=first, last_token=last, start=first, end=last + 1)


def mark(*passages: Passage, bits: str = "0101", fit: FitFacts | None = GOOD) -> MarkFacts:
    listed = (CandidateFacts(bits=bits, posterior=1.0),)
    return MarkFacts(
        key="a" * 16, bits=bits, fields=(), passages=passages, share=0.5, candidates=listed, fit=fit
    )


WHOLE = mark(passage(0, 299))


@pytest.mark.parametrize("profile", [ANSWER, RECIPIENT, UNKNOWN])
def test_a_text_that_was_written_keeps_its_name(profile):
    assert withhold([WHOLE], profile, Policy()) == (WHOLE,)
    assert withhold([replace(WHOLE, fit=None)], profile, Policy())[0].bits  # of 0.4.0
    assert withhold([], profile, Policy()) == ()


@pytest.mark.parametrize(
    "fit",
    [
        FitFacts(log10_ratio=-0.1, log10_per_step=0.3, steps=200),
        FitFacts(log10_ratio=2.0, log10_per_step=0.03, steps=200),
    ],
)
def test_a_poor_fit_names_nobody_where_a_payload_is_used_again(fit):
    poor = replace(WHOLE, fit=fit)
    assert withhold([poor], ANSWER, Policy()) == (poor,)
    for profile in (RECIPIENT, UNKNOWN):
        (held,) = withhold([poor], profile, Policy())
        assert (held.withheld, held.bits, held.fields, held.candidates) == (UNFIT, "", (), ())
        assert (held.fit, held.passages, held.share) == (fit, poor.passages, poor.share)
        lenient = Policy(name_ratio=-1.0, name_per_step=0.0)
        assert withhold([poor], profile, lenient) == (poor,)


@pytest.mark.parametrize("profile", [ANSWER, RECIPIENT, UNKNOWN])
def test_pieces_of_several_texts_name_nobody(profile):
    short = mark(passage(0, 29), passage(60, 89), passage(120, 149))
    assert withhold([short], profile, Policy())[0].withheld == PIECES
    one = mark(passage(0, 79), passage(160, 239))
    other = mark(passage(80, 159), bits="1111")
    held = withhold([one, other], profile, Policy())
    assert [m.withheld for m in held] == [PIECES, PIECES]


@pytest.mark.parametrize("profile", [ANSWER, RECIPIENT, UNKNOWN])
def test_quotations_beside_each_other_and_edits_keep_their_names(profile):
    quoted = [mark(passage(0, 59)), mark(passage(70, 129), bits="1111")]
    assert withhold(quoted, profile, Policy()) == tuple(quoted)
    edited = mark(passage(0, 69), passage(90, 159))
    assert withhold([edited], profile, Policy()) == (edited,)
