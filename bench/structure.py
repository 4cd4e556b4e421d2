"""Draw the modules of each package as squares whose areas are their lines of code.

    .venv/bin/python bench/structure.py [COMMIT] > structure.svg

Without a commit the checkout is drawn.
"""

import argparse
import html
import math
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from _common import parse

ROOTS = ("core/pura", "core/pura_lab", "app/pura_audit")
UNIT = 0.55  # pixels of a side for the root of a line
WIDTH, LEFT, GAP = 620, 150, 2


def sources(commit: str | None) -> dict[str, str]:
    """Return the modules by path."""
    if commit is None:
        return {str(p): p.read_text("utf-8") for root in ROOTS for p in Path(root).rglob("*.py")}
    names = _git("ls-tree", "-r", "--name-only", commit, *ROOTS).split()
    return {n: _git("show", f"{commit}:{n}") for n in names if n.endswith(".py")}


def _git(*command: str) -> str:
    return subprocess.run(("git", *command), capture_output=True, text=True, check=True).stdout


def drawn(modules: dict[str, str]) -> str:
    """Return the picture: a row for each package, its largest module first."""
    packages: dict[str, list[int]] = defaultdict(list)
    for name, text in modules.items():
        root = next(root for root in ROOTS if name.startswith(f"{root}/"))
        inside = Path(name).relative_to(root).parts
        package = f"{Path(root).name}.{inside[0]}" if len(inside) > 1 else Path(root).name
        packages[package].append(sum(bool(line.strip()) for line in text.splitlines()))
    parts, top = [], 8.0
    for package in sorted(packages):
        sides = [UNIT * math.sqrt(lines) for lines in sorted(packages[package], reverse=True)]
        x, y, high = float(LEFT), top, 0.0
        parts.append(f'<text x="4" y="{top + 12:.0f}">{html.escape(package)}</text>')
        for side in sides:
            if x + side > WIDTH:
                x, y, high = float(LEFT), y + high + GAP, 0.0
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}"/>')
            x, high = x + side + GAP, max(high, side)
        top = max(y + high, top + 14) + 6
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top:.0f}" '
        'font-family="sans-serif" font-size="11" fill="#2B5FA8">'
        f'<rect width="100%" height="100%" fill="#FFFFFF"/>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit", nargs="?")
    sys.stdout.write(drawn(sources(parse(parser).commit)))
