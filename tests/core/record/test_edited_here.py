"""Where steps speak against the payload in a cluster, the place is named; nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from pura.record.evidence import StepEvidence
from pura.record.marks import BEGINNING, edited_here
from pura.record.naming import Passage
from pura.scheme import Payload, Profile, encode

PROFILE = Profile(payload_bits=36, vocab_size=1000, code="tbcc")
BITS = "0110" * 9
SIZE = 150


def steps(wrong: range = range(0), strength: float = 5.0) -> StepEvidence:
    """Steps that read what the codeword says, but for some that read the opposite."""
    codeword = encode(Payload(text=BITS), PROFILE)
    token = np.arange(SIZE)
    index = (7 * token) % codeword.size
    place = (index[:, None] + np.arange(3)) % codeword.size
    llrs = np.where(codeword[place] == 1, strength, -strength)
    llrs[list(wrong)] *= -1
    llrs[:, 2] = np.nan  # two bits a step
    return StepEvidence(
        token=token, arity=np.full(SIZE, 2), phase=np.zeros(SIZE), index=index, llr_nats=llrs
    )


def passage(first: int = 0, last: int = SIZE - 1) -> Passage:
    return Passage(first_token=first, last_token=last, start=10 * first, end=10 * last + 10)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (range(0), ()),
        (range(70, 78), ((70, 77),)),
        (range(70, 72), ()),  # too few to say
        (range(10), ()),  # the beginning of a passage is read with less context
        (range(BEGINNING, BEGINNING + 8), ((BEGINNING, BEGINNING + 7),)),
        ((*range(60, 68), *range(120, 128)), ((60, 67), (120, 127))),
    ],
)
def test_a_cluster_is_named(wrong, found) -> None:
    assert edited_here(steps(wrong), BITS, [passage()], PROFILE) == found


def test_weak_readings_say_nothing_and_other_text_is_not_looked_at() -> None:
    assert edited_here(steps(range(70, 78), strength=0.3), BITS, [passage()], PROFILE) == ()
    assert edited_here(steps(range(70, 78)), BITS, [passage(90)], PROFILE) == ()
    assert edited_here(StepEvidence.none(), BITS, [passage()], PROFILE) == ()


def test_each_passage_is_looked_at_by_itself() -> None:
    both = [passage(0, 60), passage(80, 149)]
    wrong = (*range(40, 48), *range(60, 80), *range(130, 138))
    assert edited_here(steps(wrong), BITS, both, PROFILE) == ((40, 47), (130, 137))
