"""Make the vectors of the evidence over passages: ``python tests/data/make_vectors.py``.

Spliced texts without a model: distributions and unmarked tokens come from a seeded generator,
marked ones from the inverse transform at the anchor. What the chains make of a payload is summed
here by a recursion of its own, one token and one chain at a time, after evidence.md §3; the
rest is what the program said when the vector was made.
"""

import json
import math
from pathlib import Path

import numpy as np

from pura.detect.decode.exact import decide
from pura.detect.decode.likelihood import (
    Intervals,
    default_model,
    edit_probability,
    step_likelihoods,
    window_likelihoods,
)
from pura.embed.engine import entropy_bits, inverse_transform
from pura.scheme import Payload, Profile, Scheduler, SecretKey, anchor, encode, schedule
from pura.scheme.gray import sector_of

FOLDER = Path(__file__).resolve().parent / "vectors"
VOCABULARY = 96


def text(rng, key, profile, parts):
    """Splice a text.

    Args:
        rng: Random generator.
        key: The key.
        profile: The profile.
        parts: Number of tokens and payload of each part; None for an unmarked one. Every tenth
            token or so of a marked part is another than the source would have drawn.

    Returns:
        Token ids, entropies, starts and ends of the intervals.
    """
    order = key.vocabulary_order(profile.vocab_size)
    rank = np.argsort(order)
    walk, ids, entropies, lo, hi = Scheduler(key, profile), [], [], [], []
    for size, payload in parts:
        word = None if payload is None else encode(payload, profile)
        for _ in range(size):
            pi = rng.dirichlet(np.full(profile.vocab_size, rng.choice([0.03, 0.2, 1.0])))
            entropy = entropy_bits(pi)
            step = walk.step(entropy)
            if word is None or not step.arity or rng.random() < 0.1:
                token = int(rng.choice(profile.vocab_size, p=pi))
            else:
                bits = word[(step.index + np.arange(step.arity)) % word.size]
                point = anchor(step, sector_of(bits.tolist()))
                token = int(inverse_transform(pi, order, point))
            start = float(pi[order[: rank[token]]].sum())
            ids.append(token)
            entropies.append(float(entropy))
            lo.append(start)
            hi.append(start + float(pi[token]))
            walk.push(token)
    return np.array(ids), np.array(entropies), np.array(lo), np.array(hi)


def chain_mean(plan, entropy, lo, hi, profile, payload):
    """Return the natural log of ``HMM(c)``, mean over the chains, by a plain recursion."""
    model = default_model()
    members = model.passages.members[False]
    tables = list(dict.fromkeys(point.table for point in members))
    steps = step_likelihoods(
        Intervals.of(plan, entropy, lo, hi, profile, model=model),
        model.grids[False],
        tables=tables,
        passages=True,
    )
    f = window_likelihoods(steps)  # clean, then young: [2T, S, 8]
    word = encode(payload, profile)
    three = [
        4 * word[i] + 2 * word[i - word.size + 1] + word[i - word.size + 2]
        for i in range(word.size)
    ]
    row = {int(t): s for s, t in enumerate(plan.token)}
    enter = 1 / max(model.passages.least_gap, lo.size / model.passages.passages)
    grow, window = 1 / model.passages.young_tokens, profile.context_window
    sums = []
    for point in members:
        leave, at = 1 / point.mean_passage, tables.index(point.table)
        probability = {
            "unmarked": 1 - model.passages.begins_marked,
            "young": 0.0,
            **dict.fromkeys(range(window + 1), 0.0),
            "clean": model.passages.begins_marked,
        }
        total = 0.0
        for t in range(lo.size):
            edited = (
                point.share
                if point.family == "constant"
                else float(
                    edit_probability(point.share, (hi - lo)[t : t + 1], profile.vocab_size)[0]
                )
            )
            clean = young = 1.0
            if t in row:
                s = row[t]
                eta, eta_young = model.passages.residual, model.passages.young_residual
                clean = (1 - eta) * f[at, s, three[plan.index[s]]] + eta
                young = (1 - eta_young) * f[len(tables) + at, s, three[plan.index[s]]] + eta_young
            old, stay = probability, 1 - leave
            grown = old["clean"] + sum(old[d] for d in range(window + 1))
            probability = {
                "unmarked": old["unmarked"] * (1 - enter) + (grown + old["young"]) * leave,
                "young": (old["unmarked"] * enter + old["young"] * stay * (1 - grow)) * young,
                0: grown * stay * edited,
                **{d: old[d - 1] * stay * (1 - edited) for d in range(1, window + 1)},
                "clean": clean
                * (old["young"] * stay * grow + (old[window] + old["clean"]) * stay * (1 - edited)),
            }
            scale = sum(probability.values())
            probability = {state: value / scale for state, value in probability.items()}
            total += math.log(scale)
        sums.append(total)
    return float(np.logaddexp.reduce(sums) - math.log(len(sums)))


def vector(seed, profile, parts):
    """Return one vector as JSON holds it."""
    rng = np.random.default_rng(seed)
    key = SecretKey(bytes(rng.integers(0, 256, 32, dtype=np.uint8)))
    ids, entropy, lo, hi = text(rng, key, profile, parts)
    plan = schedule(ids, entropy, key, profile)
    found = decide(Intervals.of(plan, entropy, lo, hi, profile))
    # Marks by their share in the e-value, the largest first, as `pura selftest` reads them.
    bits = np.array([mark.payload.array for mark in found.marks])
    shares = found.log_ratios(bits, profile) - profile.payload_bits * math.log(2)
    return {
        "key_hex": key.to_hex(),
        "profile": profile.to_dict(),
        "likelihood": default_model().fingerprint,
        "parts": [
            {"tokens": size, "payload": None if payload is None else payload.text}
            for size, payload in parts
        ],
        "tokens": ids.tolist(),
        "entropy_bits": entropy.tolist(),
        "lo": lo.tolist(),
        "hi": hi.tolist(),
        "expected": {
            "steps": len(plan),
            "log_chains": {
                mark.payload.text: chain_mean(plan, entropy, lo, hi, profile, mark.payload)
                for mark in found.marks
            },
            "log_e_whole": found.log_e_whole,
            "log_e_list": found.log_e_list,
            "log_e": found.log_e,
            "marks": [
                {
                    "payload": found.marks[at].payload.text,
                    "log_e": shares[at],
                    "ranges": [list(one) for one in found.marks[at].ranges],
                }
                for at in np.argsort(-shares, kind="stable")
            ],
        },
    }


def main():
    """Write both files."""
    tbcc = Profile(payload_bits=20, vocab_size=VOCABULARY, code="tbcc")
    spc = Profile(payload_bits=16, vocab_size=VOCABULARY, blocks=4)
    first, second = Payload(text="01101001110010101101"), Payload(text="10110100010011100010")
    third = Payload(text="1100101001011100")
    for name, made in (
        ("passages-0", vector(11, tbcc, [(90, None), (150, first), (80, None), (140, second)])),
        ("passages-1", vector(12, spc, [(120, third), (160, None), (100, third)])),
    ):
        path = FOLDER / f"{name}.json"
        path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        expected = made["expected"]
        print(name, expected["log_e_whole"], expected["log_e_list"], expected["marks"])


if __name__ == "__main__":
    main()
