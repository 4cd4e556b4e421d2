"""Serve several people at once in a loop of your own: texts come and go (serving.md)."""

from pathlib import Path
from typing import Any

import pura
from pura.embed import MarkingEngine
from pura.register.rows import Recipient
from pura.register.store import Register

model = pura.load()

import torch  # noqa: E402  (after the model's switches are set)

key = pura.SecretKey.from_hex(Path("desk.key").read_text())
profile = pura.Profile.load(Path("house.json"))
series = pura.PayloadSeries.of(key, profile)
# (step of arrival, who, prompt, tokens)
arriving = [
    (0, "ann", "The council met on Tuesday and", 80),
    (3, "bob", "My favourite colour is", 12),
    (9, "cem", "The harbour lies", 16),
]
engine = MarkingEngine()
running: list[dict[str, Any]] = []
answers: dict[str, str] = {}
with Register(Path("register.sqlite3"), create=True) as register, torch.inference_mode():
    step = 0
    while arriving or running:
        while arriving and arriving[0][0] <= step:
            _, who, prompt, tokens = arriving.pop(0)
            # Each answer has a number of its own; its row is on the disk before a token leaves.
            entry = register.draw(series, profile.payload_bits, Recipient(who=who))
            payload = entry.issue.payload
            ids = model.tokenizer(prompt, return_tensors="pt")["input_ids"]
            row = engine.add(key, payload, profile)
            running.append({"who": who, "row": row, "ids": ids, "cache": None, "left": tokens})
        lines = []
        for text in running:  # each has a cache of its own; your stack knows better ways
            out = model.network(text["ids"], past_key_values=text["cache"], use_cache=True)
            text["cache"] = out.past_key_values
            lines.append(out.logits[0, -1])
        drawn = engine.step(torch.stack(lines), [text["row"] for text in running])
        for text, token in zip(running, drawn.tokens.tolist(), strict=True):
            text["ids"] = torch.tensor([[token]])
            text["left"] -= 1
            if not text["left"]:
                answers[text["who"]] = model.tokenizer.decode(
                    engine.tokens(text["row"]), clean_up_tokenization_spaces=False
                )
                engine.remove(text["row"])
        running = [text for text in running if text["left"]]
        step += 1
audit = pura.verify(answers["ann"], key=key, profile=profile, model=model)
with Register(Path("register.sqlite3"), read_only=True) as register:
    bits = audit.payload.bits if audit.payload is not None else None
    found = None if bits is None else register.find(series.mark(pura.Payload(text=bits)))
print(audit.verdict, found.issue.who if found is not None else "nobody")
