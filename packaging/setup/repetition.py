"""Find stretches of code that stand in more than one place; part of ``make check``.

Repetition is a fault by itself: two copies drift apart. Nothing else about the size of the code is
limited (docs/how-it-works/decisions/093).
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("core/pura", "core/pura_lab", "app/pura_audit")
STRETCH = 6
"""Lines that make a stretch: shorter ones are idioms, such as the fields of a call."""
ALLOWED = 11
"""Stretches that stood in two places when this check began; may fall, never rise."""


def _silent_lines(tree: ast.AST) -> set[int]:
    """Return the numbers of lines that hold docstrings or imports."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def code_lines(path: Path) -> list[tuple[int, str]]:
    """Return the numbered lines of a file without blanks, comments, docstrings and imports."""
    source = path.read_text(encoding="utf-8")
    silent = _silent_lines(ast.parse(source))
    return [
        (number, line.strip())
        for number, line in enumerate(source.splitlines(), start=1)
        if number not in silent and line.strip() and not line.strip().startswith("#")
    ]


def repeated_stretches(files: list[Path]) -> Iterator[str]:
    """Yield a line for each stretch that stands in a second place; a longer one counts once."""
    places: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    sources = [code_lines(path) for path in files]
    for file_index, lines in enumerate(sources):
        for start in range(len(lines) - STRETCH + 1):
            stretch = tuple(text for _, text in lines[start : start + STRETCH])
            places[stretch].append((file_index, start))
    counted: set[tuple[int, int]] = set()
    for first, *others in places.values():
        for file_index, start in others:
            # The next line of a longer stretch is not a further one.
            if (file_index, start - 1) not in counted:
                yield f"{_location(files, sources, first)} ~ " + _location(
                    files, sources, (file_index, start)
                )
            counted.add((file_index, start))


def _location(
    files: list[Path], sources: list[list[tuple[int, str]]], place: tuple[int, int]
) -> str:
    file_index, start = place
    return f"{files[file_index].relative_to(ROOT)}:{sources[file_index][start][0]}"


def main() -> int:
    """Print the repeated stretches; return 1 where there are more than are allowed."""
    files = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
    rows = list(repeated_stretches(files))
    for row in rows:
        print(row)
    print(f"{len(rows)} repeated stretches of {STRETCH} lines, {ALLOWED} allowed")
    return int(len(rows) > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
