"""An attacker without a key asks a detector until a mark is gone, or until a text has one.

``python bench/oracle.py FILE`` prints the tables of study.md §15. The service is asked
over its own interface, in this process. The attacker has the model that wrote the texts, which is
more than most have (``--proxy``: one that lacks a fifth of its layers), and swaps tokens by what
that model finds likely in their place. Told numbers,
it climbs: a swap of a few tokens stays where it moved the evidence the right way; told its strength
in words, it keeps what does not lower it. Told "marked" or "no statement", it has no slope: to
remove a mark it swaps more and more tokens until the answer turns, then takes back what the answer
lets it; to make one it asks about variants, half of whose tokens are swapped.

Protections are switched on one after another. What the auditors' detector says of texts is read
beside, without counting as a question. A text that was read once is not read again.
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
from pura.measure.attacks.base import substitute_plausible
from pura.measure.attacks.rewrite import logits_of
from pura.model.tokenise import decode, tokenise
from pura.record.answers import Role
from pura.scheme import Payload, Profile, SecretKey
from pura.serve.app import create_app
from pura.serve.reader import Found, Reader, Work
from pura.serve.service import Log
from pura.serve.settings import Limits, Places, Protection, Settings, TokenFile
from pura.usecases.audits import Setup
from pura.usecases.environment import Environment
from pura.words.sentences import scale
from pura_lab.experiments.bench import DROPPED
from pura_lab.proxy import drop_layers

SEED = 31
TOKENS = 220
CLIMB = {"remove": 4, "make": 8}
VARIED = 0.5
VARIANTS = 12
STEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PIECES = 8
NONE = Protection(margin=0.0, per_day_public=0, per_day_block=0)
FULL = replace(NONE, margin=1.0)
WAYS = {
    "remove": {
        "numbers": NONE,
        "words only": NONE,
        "and a threshold of its own": FULL,
    },
    "make": {
        "words only": NONE,
        "and a threshold of its own": FULL,
        "strength in words": NONE,
        "numbers": NONE,
    },
}
"""Each protection beside those above it; ``numbers`` is what an internal token is told, ``strength
in words`` a trusted one."""
CLIMBS = ("strength in words", "numbers")
PROMPTS = (
    "The city council met on Tuesday evening to discuss",
    "Researchers at the university have found that",
    "The history of the railway in this part of the country",
    "When the storm reached the coast, the first thing that",
    "A good garden begins with the soil, and",
    "The company announced on Monday that it would",
    "In the second half of the century, painters",
    "Most people who move to the mountains say",
    "The first thing a visitor to the harbour notices is",
    "After the election the new mayor promised",
    "Bread has been baked in this village since",
    "The team lost its third match in a row, and the coach",
    "Bees are among the most important insects because",
    "My grandfather kept a small shop where",
    "The patient was asked to describe when the pain",
    "For anyone who wants to learn to paint with water colours,",
)


@dataclass
class Asked:
    """What one attack came to.

    Attributes:
        questions: Asked in all.
        turned: Question at which the answer was the attacker's first; 0: never.
        changed: Share of the words changed in the best text.
        log10_e: What the evidence of that text is; of texts without a slope the highest.
    """

    questions: int = 0
    turned: int = 0
    changed: float = 0.0
    log10_e: float = 0.0


class Attacker:
    """Swaps tokens of one text and asks.

    Args:
        text: The text.
        model: The model.
        ask: Asks the service: the higher, the more of a mark is said to be there.
        rng: Randomness.
    """

    def __init__(self, text: str, model: Any, ask: Callable[[str], float], rng: Any) -> None:
        self._model, self._ask, self._rng = model, ask, rng
        self._text = text
        self.ids = np.asarray(tokenise(model.tokenizer, text).ids)
        self._logits = logits_of(model, self.ids)
        self._swap = self._swapped(1.0)
        self._order = 1 + rng.permutation(self.ids.size - 1)
        self.done = Asked()
        self.best = text
        self.tried: list[str] = []

    def _swapped(self, rate: float) -> Any:
        return np.asarray(
            substitute_plausible(self.ids, self._rng, rate=rate, logits=self._logits).ids
        )

    def text_of(self, places: Sequence[int]) -> str:
        """Return the text with these tokens swapped."""
        ids = self.ids.copy()
        ids[list(places)] = self._swap[list(places)]
        return decode(self._model.tokenizer, ids.tolist())

    def asked(self, text: str) -> float:
        """Ask."""
        told = self._ask(text)
        self.done.questions += 1
        return told

    def climb(self, *, up: bool, until: float, flat: bool) -> None:
        """Keep swaps that move the answer the right way, until it is there.

        Args:
            up: Towards a mark.
            until: Where it wants to be.
            flat: Keeps swaps that leave the answer as it was.
        """
        sign = 1.0 if up else -1.0
        kept: list[int] = []
        now = self.asked(self._text)
        group = CLIMB["make" if up else "remove"]
        for start in range(0, self._order.size, group):
            tried = [*kept, *self._order[start : start + group].tolist()]
            text = self.text_of(tried)
            found = self.asked(text)
            if sign * (found - now) > 0 or (flat and found == now):
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
        """Ask about variants, with nothing that says which is nearer."""
        for _ in range(VARIANTS):
            text = decode(self._model.tokenizer, self._swapped(VARIED).tolist())
            found = self.asked(text)
            self.tried.append(text)
            if found == 1:
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
        self.done.log10_e = max(read(text) for text in (self.tried or [self.best]))
        return self.done


class Remembering(Reader):
    """Reads each text once, which takes no answer and no question away."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.found: dict[str, Found] = {}

    def put(self, work: Work) -> None:
        """Have a text read, or say what was found before."""
        text, told = work.document.text, work.done
        if text in self.found:
            told(self.found[text])
            return

        def done(found: Found) -> None:
            self.found[text] = found
            told(found)

        super().put(replace(work, done=done))


def run(way: str, client: TestClient, tokens: dict[Role, dict[str, str]], work: Any) -> Asked:
    """Let one attacker loose on one text."""
    text, model, kind, seed = work
    ladder = [row.word for row in scale("en")]

    def told(asked: str, role: Role) -> Any:
        answer = client.post("/v1/checks", json={"text": asked}, headers=tokens[role])
        return answer.json()["answer"]

    def read(asked: str) -> float:
        return float(told(asked, Role.INTERNAL)["record"]["evidence"]["log10_e"])

    def strength(asked: str) -> float:
        answer = told(asked, Role.TRUSTED)
        step = ladder.index(answer["strength"])
        return float(step if answer["supports"] == "mark" else -step)

    def answer(asked: str) -> float:
        told = client.post("/v1/checks", json={"text": asked})
        return float(told.json()["answer"]["verdict"] == "marked")

    rng = np.random.default_rng([SEED, seed])
    ask = {"numbers": read, "strength in words": strength}.get(way, answer)
    attacker = Attacker(text, model, ask, rng)
    if way in CLIMBS:
        until = 6.0 if way == "numbers" else len(ladder) - 1.0
        attacker.climb(up=kind == "make", until=until, flat=way != "numbers")
    elif kind == "make":
        attacker.make()
    else:
        attacker.remove()
    return attacker.finish(read)


def written(
    path: Path, model: Any, key: SecretKey, profile: Profile, count: int, tokens: int
) -> dict[str, list[str]]:
    """Return the texts, written once."""
    if path.exists():
        return dict(json.loads(path.read_text()))
    payloads = [Payload.from_int(0x731264FC8 + n, 36) for n in range(count)]
    texts = {
        kind: [
            one.text
            for one in generate_batch(
                model,
                PROMPTS[:count],
                payloads if kind == "remove" else [None] * count,
                key,
                profile,
                tokens=tokens,
                seed=SEED,
                ignore_eos=True,
            )
        ]
        for kind in WAYS
    }
    path.write_text(json.dumps(texts))
    return texts


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=len(PROMPTS))
    parser.add_argument("--way", action="append", help="only what is told this way")
    parser.add_argument("--proxy", action="store_true", help="the attacker has another model")
    parser.add_argument("output", type=Path, help="attacks that ended; called again, it goes on")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of a text")
    chosen = _common.parse(parser, texts=1, way=["words only"], tokens=60)
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
    path, count = chosen.output.with_suffix(".texts.json"), len(PROMPTS)
    count = chosen.texts if chosen.small else count
    texts = written(path, model, key, profile, count, chosen.tokens)
    swapper = drop_layers(model, DROPPED) if chosen.proxy else model
    found: dict[tuple[str, str], list[Asked]] = {}
    setup = Setup(keys=(KeyRef(fingerprint=key.fingerprint),), profile=profile)
    limits = Limits(at_once_s=600.0)
    numbers = range(chosen.texts)
    # Whoever stops it has as many of each as there was time for.
    plan = [
        (kind, number, way)
        for stage, number in product((False, True), numbers)
        for kind, ways in WAYS.items()
        for way in ways
        if (way in CLIMBS) == stage and way in (chosen.way or ways)
    ]
    before = None
    with Remembering(
        replace(at, lent_model=model), setup, text_s=600.0, long_characters=10**6
    ) as reader:
        for kind, number, way in plan:
            if (kind, number) != before:
                reader.found.clear()
                before = kind, number
            one = done.get((kind, number, way))
            if one is None:
                with tempfile.TemporaryDirectory() as folder:
                    there = replace(at, paths=user_paths(folder))
                    tokens = tokens_of(there)
                    settings = Settings(anyone=True, protection=WAYS[kind][way], limits=limits)
                    app = create_app(there, reader, settings, log=Log(io.StringIO()))
                    with TestClient(app, "http://localhost", client=("192.0.2.7", 1)) as client:
                        one = run(way, client, tokens, (texts[kind][number], swapper, kind, number))
                with chosen.output.open("a") as file:
                    file.write(json.dumps([kind, number, way, vars(one)]) + "\n")
            found.setdefault((kind, way), []).append(one)
    table(found)


def tokens_of(at: Environment) -> dict[Role, dict[str, str]]:
    """Make tokens for what is read beside, and for whoever is told more."""
    kept = TokenFile(Places.of(at.paths).tokens)
    return {
        role: {"Authorization": f"Bearer {kept.new(role.value, role, per_day=10**6)}"}
        for role in (Role.TRUSTED, Role.INTERNAL)
    }


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
