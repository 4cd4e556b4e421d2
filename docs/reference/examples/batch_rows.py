"""Go through the result of a batch, and open the whole record of every text that is marked."""

from pathlib import Path

from pura.batch.results import read_rows, record_of

# Made by: pura batch run letter.txt … --profile … --key-file … -o found.jsonl --records records
for row in read_rows("found.jsonl"):
    name = Path(row["path"]).name
    if row["error"] is not None:
        print(name, row["error"])
        continue
    audit = record_of(row, Path("records")) if row["verdict"] == "mark" else None
    steps = "" if audit is None else f"{sum(step.done for step in audit.log)} steps"
    print(name, row["verdict"], row["payload"], steps)
