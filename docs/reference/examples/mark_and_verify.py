"""Write a marked text for somebody, and read back from the register whom it was written for."""

from pathlib import Path

import pura
from pura.base.paths import user_paths
from pura.register.rows import Recipient
from pura.register.store import Register

key = pura.SecretKey.from_hex(Path("desk.key").read_text())
model = pura.load()
profile = pura.Profile.new(model, name="letters")  # one number for each answer
series = pura.PayloadSeries.of(key, profile)

# The number is drawn at random and used once; its row is on the disk before the text is written.
with Register(user_paths().register, create=True) as register:
    entry = register.draw(series, profile.payload_bits, Recipient(who="City paper"))
made = pura.mark(
    "The harbour was quiet when",
    payload=entry.issue.payload,
    key=key,
    profile=profile,
    model=model,
    tokens=120,
    seed=1,
)
audit = pura.verify(made.text, key=key, profile=profile, model=model, register=True)
match = audit.finding.register_match  # None where nobody is named
print(audit.verdict, match.who if match else "nobody")
