"""What the first tokens of an answer carry, and what a context from the question would add.

Run ``.venv/bin/python bench/short_answers.py``. The contexts of an answer are of its own tokens, so
its first ones carry nothing. Two ways out are compared. A gateway can refuse an answer that may
have a few tokens only. Or a new version of the profile takes the contexts of the first tokens from
the end of the question: then these carry what their entropy allows, but only who knows the
question can read them, and who does not has to try both.

What the second way adds is exact in bits, by the entropies of the first tokens. Its evidence is
that of an answer that is as many tokens longer, which flatters it: later tokens carry as much.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.api import verify
from pura.base.paths import user_paths
from pura.embed.generate import generate_batch
from pura.model.device import choose_device
from pura.model.load import load_model
from pura.model.tokenise import decode
from pura.scheme import Payload, Profile, SecretKey

SEED = 20_261_129
LENGTHS = (2, 3, 4, 8, 16, 24, 32, 48, 64)
# By the bits of the payload, the code that suits it.
CODES: dict[int, dict[str, Any]] = {12: {"code": "spc", "blocks": 4}, 36: {"code": "tbcc"}}
# As many opening words of a paragraph stand for a question.
QUESTION_WORDS = 20
TEXT = Path(__file__).resolve().parents[1] / "tests" / "data" / "human.txt"


def questions(count: int) -> list[str]:
    """Return the openings of as many paragraphs, each once."""
    paragraphs = [line.split() for line in TEXT.read_text(encoding="utf-8").splitlines()]
    long = [words for words in paragraphs if len(words) >= QUESTION_WORDS]
    return [" ".join(words[:QUESTION_WORDS]) for words in long[:count]]


def main() -> None:
    """Print a table for each width of the payload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=40)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="in tokens")
    options = _common.parse(parser, texts=1, lengths=[8])
    _common.print_facts("Short answers", SEED)
    model = load_model(user_paths().models / "smollm2-135m", choose_device("cpu"))
    key = SecretKey(bytes(range(32)))
    prompts = questions(options.texts)
    for bits, code in CODES.items():
        profile = Profile(
            payload_bits=bits,
            **code,
            vocab_size=model.vocab_size,
            model=model.fingerprint,
            tokenizer=model.tokenizer_fingerprint,
        )
        rng = np.random.default_rng(SEED)
        payloads = [
            Payload.from_int(int(n), bits) for n in rng.integers(1 << bits, size=len(prompts))
        ]
        answers = generate_batch(
            model,
            prompts,
            list(payloads),
            key,
            profile,
            tokens=max(options.lengths) + profile.context_window,
            seed=SEED,
            ignore_eos=True,
        )
        thresholds = np.array(profile.entropy_thresholds_bits)
        rows = []
        for length in options.lengths:
            own = [int(answer.arity[:length].sum()) for answer in answers]
            added = [
                int(
                    (
                        answer.entropy_bits[: min(profile.context_window, length), None]
                        >= thresholds
                    ).sum()
                )
                for answer in answers
            ]
            cells = [
                str(length),
                f"{statistics.mean(own):.1f}",
                f"{statistics.mean(own) + statistics.mean(added):.1f}",
            ]
            for tokens in (length, length + profile.context_window):
                audits = [
                    verify(
                        decode(model.tokenizer, answer.ids[:tokens].tolist()),
                        key=key,
                        profile=profile,
                        model=model,
                        ids=answer.ids[:tokens].tolist(),
                        prompt=prompt,
                    )
                    for answer, prompt in zip(answers, prompts, strict=True)
                ]
                evidence = [audit.evidence.log10_e for audit in audits]
                marks = sum(audit.verdict == "mark" for audit in audits)
                right = sum(
                    audit.payload is not None
                    and audit.payload.identified
                    and audit.payload.best == payload.text
                    for audit, payload in zip(audits, payloads, strict=True)
                )
                cells += [f"{statistics.median(evidence):.1f}", f"{marks}", f"{right}"]
            rows.append(cells)
        print(f"{bits} bits, {len(prompts)} answers, context of {profile.context_window} tokens")
        _common.print_table(
            [
                "tokens",
                "bits",
                "bits, question's context",
                "log10 e",
                "marks",
                "named",
                "log10 e, question's",
                "marks",
                "named",
            ],
            rows,
        )


if __name__ == "__main__":
    main()
