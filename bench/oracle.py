"""An attacker without a key asks a detector until a mark is gone, or until a text has one.

``python bench/oracle.py FILE`` prints the tables of docs/study.md §15. The service is asked
over its own interface, in this process. The attacker has the model that wrote the texts, which is
more than most have, and swaps tokens by what that model finds likely in their place. Told numbers,
it climbs: a swap of four tokens stays where it moved the evidence the right way. Told "marked" or
"no statement", it has no slope: to remove a mark it swaps more and more tokens until the answer
turns, then takes back what the answer lets it; to make one it swaps and asks.

Protections are switched on one after another. What the auditors' detector says of the last text is
read beside, without counting as a question.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from starlette.testclient import TestClient

import _common
from pura.base.paths import user_paths
from pura.embed.generate import generate_batch
from pura.keys import KeyRef
from pura.measure.attacks import substitute_plausible
from pura.measure.attacks.local import logits_of
from pura.model.tokenise import decode, tokenise
from pura.scheme import Payload, Profile, SecretKey
from pura.serve.app import create_app
from pura.serve.log import Log
from pura.serve.reader import Reader
from pura.serve.roles import Role
from pura.serve.settings import Limits, Places, Protection, Settings
from pura.serve.tokens import TokenFile
from pura.usecases.audits import Setup
from pura.usecases.environment import Environment

SEED = 31
TOKENS = 240
CLIMB = 4
STEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PIECES = 8
NONE = Protection(
    margin=0.0, wobble=0.0, memory_days=0, per_day_public=0, per_day_block=0, resemblance=0.5
)
WAYS = {
    "numbers": NONE,
    "words only": NONE,
    "and a threshold of its own": replace(NONE, margin=1.0, wobble=1.0),
    "and a memory": replace(NONE, margin=1.0, wobble=1.0, memory_days=30),
    "and ten questions a day": replace(Protection(), per_day_block=10, per_day_public=0),
}
"""Each protection beside those above it; ``numbers`` is what an internal token is told."""
PROMPTS = (
    "The city council met on Tuesday evening to discuss",
    "Researchers at the university have found that",
    "The history of the railway in this part of the country",
    "When the storm reached the coast, the first thing that",
    "A good garden begins with the soil, and",
    "The company announced on Monday that it would",
    "In the second half of the century, painters",
    "Most people who move to the mountains say",
)


@dataclass
class Asked:
    """What one attack came to.

    Attributes:
        questions: Asked in all.
        turned: Question at which the answer was the attacker's first; 0: never.
        changed: Share of the words changed in the best text.
        log10_e: What the evidence of that text is.
        refused: The budget ended the attack.
    """

    questions: int = 0
    turned: int = 0
    changed: float = 0.0
    log10_e: float = 0.0
    refused: bool = False


class SpentError(Exception):
    """No more questions are taken."""


class Attacker:
    """Swaps tokens of one text and asks.

    Args:
        text: The text.
        tools: The model.
        ask: Asks the service: evidence, or whether it is marked.
        rng: Randomness.
        most: Questions that it is willing to ask.
    """

    def __init__(
        self, text: str, model: Any, ask: Callable[[str], float], rng: Any, most: int
    ) -> None:
        self._model, self._ask, self._most = model, ask, most
        self._text = text
        self.ids = np.asarray(tokenise(model.tokenizer, text).ids)
        logits = logits_of(model, self.ids)
        whole = substitute_plausible(self.ids, rng, rate=1.0, logits=logits)
        self._swap = np.asarray(whole.ids)
        self._order = 1 + rng.permutation(self.ids.size - 1)
        self.done = Asked()
        self.best = text

    def text_of(self, places: Sequence[int]) -> str:
        """Return the text with these tokens swapped."""
        ids = self.ids.copy()
        ids[list(places)] = self._swap[list(places)]
        return decode(self._model.tokenizer, ids.tolist())

    def asked(self, text: str) -> float:
        """Ask."""
        if self.done.questions >= self._most:
            raise SpentError
        self.done.questions += 1
        return self._ask(text)

    def climb(self, *, up: bool, until: float) -> None:
        """Keep swaps that move the evidence the right way, until it is there."""
        sign = 1.0 if up else -1.0
        kept: list[int] = []
        now = self.asked(self._text)
        for start in range(0, self._order.size, CLIMB):
            tried = [*kept, *self._order[start : start + CLIMB].tolist()]
            text = self.text_of(tried)
            found = self.asked(text)
            if sign * (found - now) > 0:
                kept, now, self.best = tried, found, text
            if sign * (now - until) >= 0:
                self.done.turned = self.done.questions
                return

    def remove(self) -> None:
        """Swap more and more until the answer turns; then take back what the answer lets."""
        size = self._order.size
        kept: list[int] = []
        for share in STEPS:
            kept = self._order[: round(size * share)].tolist()
            text = self.text_of(kept)
            if self.asked(text) == 0:
                self.done.turned = self.done.questions
                self.best = text
                break
        else:
            return
        for piece in np.array_split(np.asarray(kept), PIECES):
            tried = [at for at in kept if at not in set(piece.tolist())]
            text = self.text_of(tried)
            if self.asked(text) == 0:
                kept, self.best = tried, text

    def make(self) -> None:
        """Swap a few tokens at a time and ask, with nothing that says whether it is nearer."""
        for start in range(0, self._order.size, CLIMB):
            text = self.text_of(self._order[: start + CLIMB].tolist())
            if self.asked(text) == 1:
                self.done.turned, self.best = self.done.questions, text
                return

    def finish(self, read: Callable[[str], float]) -> Asked:
        """Return what it came to."""
        before, after = self._text.split(), self.best.split()
        kept = sum(
            block.size
            for block in difflib.SequenceMatcher(
                None, before, after, autojunk=False
            ).get_matching_blocks()
        )
        self.done.changed = 1 - kept / max(len(before), 1)
        self.done.log10_e = read(self.best)
        return self.done


def run(way: str, client: TestClient, header: dict[str, str], work: Any) -> Asked:
    """Let one attacker loose on one text."""
    text, model, kind, seed, most = work

    def read(asked: str) -> float:
        told = client.post("/v1/checks", json={"text": asked}, headers=header)
        return float(told.json()["answer"]["record"]["evidence"]["log10_e"])

    def answer(asked: str) -> float:
        told = client.post("/v1/checks", json={"text": asked})
        if told.status_code == 429:
            attacker.done.refused = True
            attacker.done.questions -= 1
            raise SpentError
        return float(told.json()["answer"]["verdict"] == "marked")

    rng = np.random.default_rng([SEED, seed])
    numbers = way == "numbers"
    attacker = Attacker(text, model, read if numbers else answer, rng, most)
    try:
        if numbers:
            attacker.climb(up=kind == "make", until=6.0)
        elif kind == "make":
            attacker.make()
        else:
            attacker.remove()
    except SpentError:
        pass
    return attacker.finish(read)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=4)
    parser.add_argument("--most", type=int, default=60, help="questions of one attack")
    parser.add_argument("output", type=Path, help="attacks that ended; called again, it goes on")
    chosen = parser.parse_args()
    done = {}
    if chosen.output.exists():
        for line in chosen.output.read_text().splitlines():
            kind, number, way, one = json.loads(line)
            done[kind, number, way] = Asked(**one)
    _common.print_facts("An attacker asks a detector", SEED)
    key = SecretKey(bytes(range(32)))
    home = user_paths()
    at = Environment(paths=home, device="cpu", lent_keys={key.fingerprint: key})
    model = at.model("smollm2-135m")
    profile = Profile.new(model, code="tbcc").with_(model=None, tokenizer=None)
    prompts = PROMPTS[: chosen.texts]
    payloads = [Payload.from_int(0x731264FC8 + n, 36) for n in range(len(prompts))]
    texts = {
        kind: [
            one.text
            for one in generate_batch(
                model,
                prompts,
                payloads if kind == "remove" else [None] * len(prompts),
                key,
                profile,
                tokens=TOKENS,
                seed=SEED,
                ignore_eos=True,
            )
        ]
        for kind in ("remove", "make")
    }
    found: dict[tuple[str, str], list[Asked]] = {}
    setup = Setup(keys=(KeyRef(fingerprint=key.fingerprint),), profile=profile)
    limits = Limits(at_once_s=600.0)
    with Reader(
        replace(at, lent_model=model), setup, text_s=600.0, long_characters=10**6
    ) as reader:
        for kind, number, way in product(texts, range(len(prompts)), WAYS):
            if kind == "make" and way not in ("numbers", "words only"):
                continue  # without a slope there is nothing for the others to protect
            one = done.get((kind, number, way))
            if one is None:
                with tempfile.TemporaryDirectory() as folder:
                    there = replace(at, paths=user_paths(folder))
                    header = token_of(there)
                    settings = Settings(anyone=True, protection=WAYS[way], limits=limits)
                    app = create_app(there, reader, settings, log=Log(io.StringIO()))
                    with TestClient(app, client=("192.0.2.7", 1)) as client:
                        most = chosen.most if kind == "remove" else chosen.most // 2
                        work = (texts[kind][number], model, kind, number, most)
                        one = run(way, client, header, work)
                with chosen.output.open("a") as file:
                    file.write(json.dumps([kind, number, way, vars(one)]) + "\n")
            found.setdefault((kind, way), []).append(one)
    table(found)


def token_of(at: Environment) -> dict[str, str]:
    """Make a token for what is read beside."""
    made = TokenFile(Places.of(at.paths).tokens).new("bench", Role.INTERNAL, per_day=10**6)
    return {"Authorization": f"Bearer {made}"}


def table(found: dict[tuple[str, str], list[Asked]]) -> None:
    """Print what came of the attacks."""
    for kind in ("remove", "make"):
        rows = []
        for (what, way), all_of in found.items():
            if what != kind:
                continue
            turned = [one for one in all_of if one.turned]
            rows.append(
                [
                    way,
                    f"{len(turned)} of {len(all_of)}",
                    middle([one.turned for one in turned]),
                    middle([one.questions for one in all_of]),
                    middle([100 * one.changed for one in turned]),
                    middle([one.log10_e for one in all_of]),
                    f"{sum(one.log10_e >= 6 for one in all_of)} of {len(all_of)}",
                ]
            )
        print(f"\n### {kind} a mark\n")
        _common.print_table(
            (
                "told",
                "answer turned",
                "at question",
                "questions",
                "words changed, %",
                "log10 e after",
                "auditors find it after",
            ),
            rows,
        )


def middle(values: Sequence[float]) -> str:
    """Return the median in words."""
    return f"{statistics.median(values):.0f}" if values else "–"


if __name__ == "__main__":
    main()
