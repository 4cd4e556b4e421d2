"""What is identified is right: the posterior of payloads and fields on a few dozen short texts.

The study measures it on texts of a model (``bench/calibration.py``); these are synthetic.
"""

import numpy as np

from pura.decode import decide
from pura.record.naming import IDENTIFIED, CandidateFacts, name_payload
from pura.scheme import Payload
from pura.scheme.fields import parse_layout, unpack

TEXTS = 24
LAYOUT = parse_layout(
    [
        {"name": "customer", "bits": 16, "kind": "integer"},
        {"name": "issued", "bits": 14, "kind": "integer"},
        {"name": "release", "bits": 6, "kind": "integer"},
    ],
    36,
)


def test_the_posterior_is_no_surer_than_the_payload_is_right(text_maker, profile):
    said, fields = [], []
    for number in range(TEXTS):
        rng = np.random.default_rng((20_261_123, number))
        truth = Payload.from_bits(rng.integers(0, 2, 36))
        tokens = 40 + 7 * number
        marked = rng.random(tokens) >= 0.1 * (number % 3)
        text = text_maker(rng, profile, tokens, truth, marked=marked)
        listed = [
            CandidateFacts(
                bits=c.payload.text, posterior=c.posterior, fields=unpack(LAYOUT, c.payload)
            )
            for c in decide(text.seen(profile), candidates=32).candidates
        ]
        named = name_payload(listed[0].bits, listed[0].fields, listed, IDENTIFIED)
        said.append((named.posterior, named.identified, named.best == truth.text))
        fields += [
            (field.posterior, field.identified, field.value.raw == value.raw)
            for field, value in zip(named.fields, unpack(LAYOUT, truth), strict=True)
        ]
    for rows in (said, fields):
        posterior, identified, right = (np.array(column) for column in zip(*rows, strict=True))
        assert identified.sum() >= TEXTS // 8
        assert (~identified).sum() >= TEXTS // 8
        # One in a hundred may be wrong, and three standard deviations more.
        allowed = (1 - IDENTIFIED) * identified.sum()
        assert (identified & ~right).sum() <= allowed + 3 * np.sqrt(allowed)
        # Three standard deviations of what is right if the posteriors are exact.
        spread = 3 * np.sqrt((posterior * (1 - posterior)).sum())
        assert right.sum() >= posterior.sum() - spread
    # Fields may be certain while the payload is not.
    assert sum(f[1] for f in fields) > len(LAYOUT) * sum(s[1] for s in said)
