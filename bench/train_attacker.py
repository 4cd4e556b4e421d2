"""Train a model to take marks out of texts, and write it into a folder.

    python bench/train_attacker.py diaa --model smollm2-135m --texts 64 --steps 64 --output DIR
    python bench/train_attacker.py rlcracker --texts 100 --steps 100 --output DIR

The folder is a model like any other: pura lab attack paraphrase TEXT --model DIR.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import _common
from pura.base.paths import user_paths
from pura.measure.attacks.rewrite import ModelWriter, model_tools, rewards
from pura.measure.corpora import LEARNING
from pura.model.store import ModelStore
from pura.scheme import Profile
from pura_lab.attacks.training import (
    learn_preferences,
    learn_rewards,
    preferences,
    strength,
    surrogates,
)


def main() -> None:
    """Train."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("attack", choices=("diaa", "rlcracker"))
    ask.add_argument("--model", default="smollm2-135m")
    ask.add_argument("--texts", type=int, default=64, help="texts under surrogate keys")
    ask.add_argument("--tokens", type=int, default=200, help="of each text")
    ask.add_argument("--tries", type=int, default=8, help="rewritings of each text")
    ask.add_argument("--steps", type=int, default=64)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--output", type=Path, required=True)
    asked = _common.parse(ask, texts=2, tokens=30, tries=2, steps=1)
    known = ModelStore(user_paths().models).get(asked.model)
    model = _common.load_builtin("auto", instead=asked.model, library=True)
    profile = Profile(payload_bits=36, code="tbcc", vocab_size=model.vocab_size)
    prompts = [LEARNING[i % len(LEARNING)] for i in range(asked.texts)]
    texts = surrogates(model, prompts, profile, tokens=asked.tokens, seed=asked.seed)
    tools, writer = model_tools(model), ModelWriter(model)
    if asked.attack == "diaa":
        pairs = preferences(
            texts,
            lambda key, text: strength(model, profile, key, text),
            tools=tools,
            writer=writer,
            tries=asked.tries,
            seed=asked.seed,
        )
        print(f"{len(pairs)} of {len(texts)} texts have a rewriting to prefer and one to avoid")
        learnt, seen = learn_preferences(model, pairs, steps=asked.steps, seed=asked.seed)
    else:
        learnt, seen = learn_rewards(
            model,
            [text for text, _ in texts],
            lambda text, some: rewards(text, some, tools=tools, writer=writer),
            steps=asked.steps,
            group=asked.tries,
            seed=asked.seed,
        )
    print("loss" if asked.attack == "diaa" else "mean reward", *(f"{x:.3f}" for x in seen))
    learnt.network.save_pretrained(asked.output)
    for file in known.path.iterdir():
        if file.name.startswith(("tokenizer", "special_tokens", "chat_template")):
            shutil.copy(file, asked.output)


if __name__ == "__main__":
    main()
