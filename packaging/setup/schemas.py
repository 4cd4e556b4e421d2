"""Write resources/*.schema.json and the default policy from their types: ``make schemas``.

With ``--check`` nothing is written, and the exit code says whether all are up to date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pura.batch import results as batch_rows
from pura.cli import rows
from pura.detect.verdict import policy
from pura.record import json_io

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "audit": json_io.json_schema,
    "finding": json_io.finding_schema,
    "batch-row": batch_rows.json_schema,
    "policy": policy.json_schema,
    "rows": rows.json_schema,
}


def text_of(schema: dict[str, Any]) -> str:
    """Return a schema or a policy as it stands in its file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def outdated() -> dict[Path, str]:
    """Return the files that are not what their types say, with what belongs there."""
    wanted = {RESOURCES / f"{name}.schema.json": text_of(make()) for name, make in SCHEMAS.items()}
    wanted[RESOURCES / "policy-default.json"] = text_of(policy.Policy().to_dict())
    unknown = set(RESOURCES.glob("*.schema.json")) - wanted.keys()
    if unknown:
        raise SystemExit(f"no type describes {', '.join(sorted(p.name for p in unknown))}")
    return {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main() -> None:
    """Write what is outdated, or only say so."""
    found = outdated()
    for path, text in found.items():
        print(f"{path.name} is outdated" if "--check" in sys.argv else f"{path.name} written")
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    raise SystemExit(bool(found) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
