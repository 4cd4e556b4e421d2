"""Audit one file and say what was found."""

from pathlib import Path

import pura

key = pura.SecretKey.load("desk.key")
audit = pura.verify(Path("letter.txt"), key=key, profile=Path("house.json"))

print(audit.verdict, round(audit.evidence.log10_e, 1))
if audit.payload is not None:  # None without a mark, and where there are several
    for field in audit.payload.fields:
        print(f"{field.name}: {field.text}")
Path("letter.html").write_text(audit.to_html(), encoding="utf-8")
