"""Mark what ``generate()`` of transformers writes (serving.md)."""

from pathlib import Path

import pura

model = pura.load()  # reads; the network that writes is your stack's own

from typing import Any  # noqa: E402

from transformers import AutoModelForCausalLM, LogitsProcessorList  # noqa: E402  (offline by pura)

from pura.base.paths import user_paths  # noqa: E402
from pura.embed.processor import PuraLogitsProcessor  # noqa: E402  (imports torch)
from pura.model.store import ModelStore  # noqa: E402

folder = ModelStore(user_paths().models).get(model.name).path
network: Any = AutoModelForCausalLM.from_pretrained(folder)
tokenizer = model.tokenizer
key = pura.SecretKey.from_hex(Path("desk.key").read_text())
profile = pura.Profile.load(Path("house.json"))
inputs = tokenizer(["The council met on Tuesday and"], return_tensors="pt")
processor = PuraLogitsProcessor(
    key,
    pura.Payload.from_int(0x1A127514, profile.payload_bits),
    profile,
    seed=1,
    generation_config=network.generation_config,
)
output = network.generate(
    **inputs, max_new_tokens=80, do_sample=False, logits_processor=LogitsProcessorList([processor])
)
answer = tokenizer.decode(
    output[0, inputs["input_ids"].shape[1] :],
    skip_special_tokens=True,
    clean_up_tokenization_spaces=False,
)
audit = pura.verify(answer, key=key, profile=profile, model=model)
print(audit.verdict, audit.payload.bits if audit.payload else "no payload")
