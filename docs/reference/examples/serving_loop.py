"""Serve several people at once in a loop of your own: texts come and go (serving.md)."""

from pathlib import Path

import pura
from pura.embed import MarkingEngine
from pura.register.issue_log import IssueLog
from pura.register.rows import Issue

model = pura.load()

import torch  # noqa: E402  (after the model's switches are set)

key = pura.SecretKey.from_hex(Path("desk.key").read_text())
profile = pura.Profile.load(Path("house.json"))
# (step of arrival, who, payload, prompt, tokens)
arriving = [
    (0, "ann", 0x1A127514, "The council met on Tuesday and", 80),
    (3, "bob", 0x2B3, "My favourite colour is", 12),
    (9, "cem", 0x3C4, "The harbour lies", 16),
]
engine, running, answers = MarkingEngine(), [], {}
with IssueLog(Path("issued")) as log, torch.inference_mode():
    step = 0
    while arriving or running:
        while arriving and arriving[0][0] <= step:
            _, who, number, prompt, tokens = arriving.pop(0)
            payload = pura.Payload.from_int(number, profile.payload_bits)
            log.add(Issue(payload=payload, who=who))
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
print(audit.verdict, audit.payload.bits)
