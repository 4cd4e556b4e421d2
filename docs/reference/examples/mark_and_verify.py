"""Write a marked text, and read it back without the prompt."""

from pathlib import Path

import pura

key = pura.SecretKey.from_hex(Path("desk.key").read_text())
profile = pura.Profile.load(Path("house.json"))
model = pura.load()

made = pura.mark(
    "The harbour was quiet when",
    payload={"customer": 417, "issued": "2026-11-21", "release": "1.4"},
    key=key,
    profile=profile,
    model=model,
    tokens=80,
    seed=1,
)
audit = pura.verify(made.text, key=key, profile=profile, model=model)
print(audit.verdict, {field.name: field.text for field in audit.payload.fields})
