"""Stage 1 of the study, second half: attack the texts and read them with each verifier."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pura.measure.attacks.base import Attacked, Tools, edit_rate, splice
from pura.measure.attacks.rewrite import model_tools
from pura.measure.attacks.table import attack_ids
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, SEED, Cell, sentences_of
from pura.model.evidence import read
from pura.model.tokenise import tokenise
from pura_lab.design import ATTACKED, DROPPED, NOISE, Condition, ReadingJob
from pura_lab.proxy import drop_layers, perturb_weights

HUMAN = Path(__file__).resolve().parent.parent / "tests" / "data" / "human.txt"


def human_texts() -> list[str]:
    """Return the excerpts by people."""
    return [t.strip() for t in HUMAN.read_text(encoding="utf-8").split("\n%\n")]


class Reader:
    """Loads what the jobs need, when they need it.

    Args:
        model: The source model.
        cache: Where texts are and readings go.
    """

    def __init__(self, model: Any, cache: Cache) -> None:
        self._source = model
        self._proxies: dict[str, Any] = {}
        self._cache = cache

    def run(self, jobs: Iterable[ReadingJob]) -> int:
        """Do the jobs whose texts are there and whose readings are not; return how many."""
        done = 0
        for job in jobs:
            if job.reading in self._cache or f"texts.{job.cell}" not in self._cache:
                continue
            if not self._cache.claim(job.reading):
                continue
            start = time.perf_counter()
            self.attack(CELLS[job.cell], job.attack)
            self.read(CELLS[job.cell], job)
            print(f"read {job.reading} in {time.perf_counter() - start:.0f} s", flush=True)
            done += 1
        return done

    def attack(self, cell: Cell, name: str) -> None:
        """Attack a cell's texts, unless that has been done."""
        if f"attacked.{cell.name}.{name}" in self._cache:
            return
        rows = []
        for number, ids in enumerate(self._cache.get(f"texts.{cell.name}")["ids"]):
            rng = cell.generator(f"attack {name}", number)
            if name == "splice":
                rows.append(self.spliced(ids, number, rng))
            else:
                rows.append(self.attacked(ATTACKED[name], ids, rng))
        self._cache.put(
            f"attacked.{cell.name}.{name}",
            {
                "ids": [r.ids for r in rows],
                "origin": [np.zeros(0, int) if r.origin is None else r.origin for r in rows],
                "rate": [np.array([r.rate]) for r in rows],
            },
        )

    def attacked(self, condition: Condition, ids: Any, rng: np.random.Generator) -> Attacked:
        """Attack one text; through text and back where the condition says so."""
        tools = self.tools()
        out = attack_ids(condition.attack, ids, rng, tools, **condition.params)
        if not condition.via_text:
            return out
        assert tools.decode is not None
        assert tools.tokenise is not None
        again = tools.tokenise(tools.decode(out.ids))
        return Attacked(ids=again, origin=None, rate=edit_rate(ids, again))

    def spliced(self, ids: Any, number: int, rng: np.random.Generator) -> Attacked:
        """Paste a text into 400 plain tokens: by the model for even numbers, by a person else."""
        if number % 2:
            novel = human_texts()[number // 2 % 18] + "\n" + human_texts()[(number // 2 + 7) % 18]
            host = tokenise(self._source.tokenizer, novel).ids[:400]
        else:
            host = self._cache.get("texts.plain")["ids"][number // 2]
        return splice(ids, rng, host=host)

    def tools(self) -> Tools:
        """Return what attacks need."""
        return model_tools(self._source, foreign=sentences_of(human_texts()))

    def read(self, cell: Cell, job: ReadingJob) -> None:
        """Read one cell's attacked texts and put the readings on the cache."""
        model = self.model_of(job.verifier)
        profile = cell.profile(model.vocab_size)
        prompts = self._cache.get(f"texts.{cell.name}")["prompt_ids"]
        rows = []
        for number, ids in enumerate(self._cache.get(job.attacked)["ids"][: job.texts]):
            rows.append(
                read(
                    model,
                    ids,
                    keys=[cell.key(number)],
                    profile=profile,
                    prompt_ids=prompts[number].tolist() if "prompt" in job.verifier else None,
                )
            )
        self._cache.put(
            job.reading,
            {
                "ids": [r.ids for r in rows],
                "entropy_bits": [r.entropy_bits for r in rows],
                "probability": [r.probability for r in rows],
                "lo": [r.lo[0] for r in rows],
                "hi": [r.hi[0] for r in rows],
            },
        )

    def model_of(self, verifier: str) -> Any:
        """Return a verifier's model; proxies are made on first use."""
        kind = verifier.removesuffix("-prompt")
        if kind not in ("proxy", "noise"):
            return self._source
        if kind not in self._proxies:
            self._proxies[kind] = make_proxy(self._source, kind)
        return self._proxies[kind]


def make_proxy(source: Any, kind: str) -> Any:
    """Return the proxy that lacks layers, or the one with noise on its weights."""
    if kind == "proxy":
        return drop_layers(source, DROPPED)
    return perturb_weights(source, NOISE, np.random.default_rng(SEED))
