"""Audit every text of a table into another table; what cannot be read is a row too."""

import csv
from pathlib import Path

import pura

COLUMNS = ["id", "verdict", "log10_e", "payload", "error", "message"]

key = pura.SecretKey.from_hex(Path("desk.key").read_text())
with (
    open("texts.csv", newline="", encoding="utf-8") as source,
    open("findings.csv", "w", newline="", encoding="utf-8") as target,
):
    texts = ((row["id"], row["text"]) for row in csv.DictReader(source))
    table = csv.DictWriter(target, COLUMNS, extrasaction="ignore")
    table.writeheader()
    # One text after the other: the table may be longer than the memory is large.
    for result in pura.verify_many(texts, key=key, profile=Path("house.json")):
        table.writerow(result.to_row())
