"""The record that 0.1.0 wrote of a marked text, as it is read today."""

from pathlib import Path

from pura.record import json_io

_PATH = Path(__file__).parents[1] / "data" / "v0.1.0" / "record.json"
RECORD = json_io.from_json(_PATH.read_text(encoding="utf-8"))
