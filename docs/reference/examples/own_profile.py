"""Make a profile whose payload has fields of your own, and a key; try both.

Fields are for places without a register: a recipient in the payload can be forged from collected
answers, and puts personal data into the text. Otherwise take mark_and_verify.py.
"""

from pathlib import Path

import pura

model = pura.load()
profile = pura.Profile.new(
    model,
    bits=28,
    fields=[
        {"name": "newsroom", "bits": 4, "kind": "enumeration", "values": ["city", "sports"]},
        {"name": "author", "bits": 10, "kind": "integer"},
        {"name": "written", "bits": 14, "kind": "date", "epoch": "2020-01-01", "unit": "day"},
    ],
    name="newsroom",
)
Path("newsroom.json").write_text(profile.to_json(), encoding="utf-8")

with pura.SecretKey.generate() as key:  # keep yours: “pura key new” stores one
    made = pura.mark(
        "The match began late because",
        payload={"newsroom": "sports", "author": 7, "written": "2026-11-21"},
        key=key,
        profile=profile,
        model=model,
        tokens=80,
        seed=1,
    )
    audit = pura.verify(made.text, key=key, profile=profile, model=model)
print(audit.to_row())
