"""What a mark survives of the programs of others: a row a tool, for docs/how-to/what-survives.md.

    packaging/setup/tools.sh
    python bench/held_out.py [--texts N] [--only TOOL …]

The tools of ``tests/data/tools.json``, in the versions pinned there, each in its own environment
below ``.tools``. The built-in model writes the texts under a held-out key and goes on from held-out
openings; every tool gets the same texts. What was read stands in ``.tools/held_out.jsonl`` and is
not read again. With ``--write`` the table and its pictures are written into ``docs``.

Ends with 1 where a payload is named that is not the text's, unless the tool has the text under
``known_wrong``, or where a marked text is called unmarked;
with ``CI`` set, also where a tool is not there or has another version. How often marks are found is
reported only.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packaging" / "site"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "data"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import make_held_out
import numpy as np
import survival

import _common
import pura
from pura.embed.generate import generate_batch

PLACE = Path(__file__).resolve().parents[1] / ".tools"
SEED = 20_261_126
HEAD = ("tool", "packages", *survival.COUNTS, "median log10 e", "edited")
SEPARATOR = {"pypi": "==", "npm": "@", "debian": "="}


def main() -> None:
    """Read what is missing, print the table, and say what must not be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=8, help="for each tool")
    parser.add_argument("--only", nargs="*", default=list(make_held_out.TOOLS))
    parser.add_argument("--write", action="store_true", help="table and pictures, into docs")
    parser.add_argument("--packages", choices=SEPARATOR, help="only print what a registry has")
    parser.add_argument("--log", type=Path, default=PLACE / "held_out.jsonl", help="what was read")
    asked = _common.parse(parser, texts=1, only=["fmt"])
    if asked.packages:
        print("\n".join(pins(asked.packages)))
        return
    folders = [PLACE / "bin", PLACE / "node_modules" / ".bin"]
    os.environ["PATH"] = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    os.environ["NODE_PATH"] = str(PLACE / "node_modules")
    _common.print_facts("What a mark survives of the programs of others", SEED)
    rows, amiss = read(asked.only, asked.texts, asked.log)
    _common.print_table(HEAD, rows)
    if asked.write:
        table = survival.DOCS / survival.TABLE
        with table.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
        survival.write_tools()
    if amiss:
        sys.exit("\n".join(amiss))


def pins(registry: str) -> list[str]:
    """Return the packages of a registry as its client takes them; Debian's release pins its own."""
    named = {p: v for tool in make_held_out.TOOLS.values() for p, v in tool["packages"].items()}
    mark = SEPARATOR[registry] if registry != "debian" else ""
    return sorted(
        name.partition(":")[2] + (mark and mark + version)
        for name, version in named.items()
        if name.startswith(f"{registry}:")
    )


def read(tools: list[str], count: int, log: Path) -> tuple[list[list[str]], list[str]]:
    """Return the rows of tools, and what must not be."""
    known = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    model, key = _common.load_builtin(), make_held_out.key("marked")
    profile = pura.Profile.new(model)
    originals = written(model, profile, key, count)
    rows, amiss = [], []
    with log.open("a", encoding="utf-8") as sink:
        for name in tools:
            versions, wrong = installed(name)
            mine = [row for row in known if row["tool"] == name and row["text"] < count]
            if wrong:
                print(f"{name}: {wrong}", file=sys.stderr)
                if os.environ.get("CI"):
                    amiss.append(f"{name}: {wrong}")
            if not versions:
                continue
            for row in audited(name, originals, {row["text"] for row in mine}, model, profile, key):
                mine.append(row)
                sink.write(json.dumps(row) + "\n")
                sink.flush()
            rows.append(cells(name, versions, mine))
            allowed = make_held_out.TOOLS[name].get("known_wrong", [])
            bad = [row["text"] for row in mine if row["wrong"] and row["text"] not in allowed]
            bad += [row["text"] for row in mine if row["verdict"] == "no-mark"]
            amiss += (f"{name}: {row}" for row in mine if row["text"] in bad)
    return rows, amiss


def written(model: Any, profile: Any, key: Any, count: int) -> list[tuple[str, str]]:
    """Return marked texts, each with its payload: the same first ones for every number of them."""
    rng = np.random.default_rng(SEED)
    payloads = [pura.Payload.from_bits(rng.integers(0, 2, 36)) for _ in range(count)]
    texts = generate_batch(
        model,
        [make_held_out.OPENINGS[n % len(make_held_out.OPENINGS)] for n in range(count)],
        payloads,
        key,
        profile,
        tokens=make_held_out.TOKENS,
        seed=[SEED + n for n in range(count)],
        ignore_eos=True,
    )
    return [(one.text, payload.text) for one, payload in zip(texts, payloads, strict=True)]


def installed(tool: str) -> tuple[str, str]:
    """Return the packages of a tool with their versions, and what is wrong with them."""
    found, wrong = [], ""
    for package, pinned in make_held_out.TOOLS[tool]["packages"].items():
        try:
            version = make_held_out.version(package)
        except (OSError, subprocess.CalledProcessError):
            return "", f"not installed: {package}"
        found.append(f"{package.partition(':')[2]} {version}")
        if version != pinned and not package.startswith("debian:"):
            wrong = f"{package} is {version}, not {pinned}"
    return "; ".join(found), wrong


def audited(
    tool: str, originals: list[tuple[str, str]], known: set[int], model: Any, profile: Any, key: Any
) -> list[dict[str, Any]]:
    """Put the texts that are not known through a tool and read them side by side."""
    command = make_held_out.TOOLS[tool]["command"]
    new = {
        n: make_held_out.put_through(command, text)
        for n, (text, _) in enumerate(originals)
        if n not in known
    }
    rows = []
    for result in pura.verify_many(new, key=key, profile=profile, model=model):
        if result.audit is None:
            raise SystemExit(f"{tool}, text {result.id}: {result.error}")
        text, payload = originals[result.id]
        finding = result.audit.finding
        named = {mark.payload.bits for mark in finding.marks} - {None}
        rows.append(
            {
                "tool": tool,
                "text": result.id,
                "verdict": finding.verdict,
                "log10_e": round(finding.log10_e, 3),
                "right": named == {payload},
                "wrong": sorted(named - {payload}),
                "handling": list(finding.handling),
                "readings": finding.readings,
                "edited": round(make_held_out.edited(model, text, new[result.id]), 3),
            }
        )
    return rows


def cells(tool: str, versions: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return the row of a table."""
    counts = (
        len(rows),
        sum(row["verdict"] == "mark" for row in rows),
        sum(row["right"] for row in rows),
        sum(bool(row["wrong"]) for row in rows),
        sum(row["verdict"] == "no-mark" for row in rows),
    )
    middle = statistics.median(row["log10_e"] for row in rows)
    edited = statistics.median(row["edited"] for row in rows)
    return [tool, versions, *map(str, counts), f"{middle:.1f}", f"{edited:.2f}"]


if __name__ == "__main__":
    main()
