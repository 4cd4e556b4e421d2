"""How much there is to read, held against a budget: code, files, classes, repetition, words.

Lines of code are those that hold a token: no blanks, comments or docstrings. ``make size`` runs it
and fails where a number lies above ``budget.json``; who must raise one does so in a commit of its
own that says why.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("core/pura", "core/pura_lab", "app/pura_audit")
MANY = 8
REPEATED = 6  # lines that stand in two places
BUDGET = Path(__file__).with_name("budget.json")
_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass
class Size:
    """What one or many files hold."""

    lines: int = 0
    classes: int = 0
    long_lists: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(
            self.lines + other.lines,
            self.classes + other.classes,
            self.long_lists + other.long_lists,
        )


def _docstring_lines(tree: ast.AST) -> set[int]:
    """Return the lines of strings that stand alone: docstrings, of attributes too."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def size_of(text: str) -> Size:
    """Return the size of one source."""
    tree = ast.parse(text)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    found = Size(len(lines - _docstring_lines(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.classes += 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            first = (given.posonlyargs + given.args)[:1]
            found.long_lists += count - any(a.arg in ("self", "cls") for a in first) > MANY
    return found


def _packages(package: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield each subpackage with its files; those beside stand under the package's name."""
    yield package.name, sorted(package.glob("*.py"))
    for folder in sorted(p for p in package.iterdir() if (p / "__init__.py").is_file()):
        yield f"{package.name}.{folder.name}", sorted(folder.rglob("*.py"))


def _total(files: list[Path]) -> Size:
    return sum((size_of(p.read_text(encoding="utf-8")) for p in files), Size())


def _row(name: str, size: Size) -> None:
    print(f"{name:28}{size.lines:>8,}{size.classes:>9}{size.long_lists:>17}")


def repeated(files: list[Path]) -> int:
    """Return how many stretches of :data:`REPEATED` lines and more stand in more than one place.

    Blanks, comments and imports do not count, and a stretch is counted once for each further place.
    """
    places: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for number, path in enumerate(files):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lines = path.read_text(encoding="utf-8").splitlines()
        silent = _docstring_lines(tree) | {
            line
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        told = [
            line.strip()
            for at, line in enumerate(lines, start=1)
            if at not in silent and line.strip() and not line.strip().startswith("#")
        ]
        for at in range(len(told) - REPEATED + 1):
            places[tuple(told[at : at + REPEATED])].append((number, at))
    count, taken = 0, set()
    for found in places.values():
        for number, at in found[1:]:
            # The next line of a longer stretch is no further one.
            count += (number, at - 1) not in taken
            taken.add((number, at))
    return count


def numbers() -> dict[str, int]:
    """Return what the budget limits."""
    files = [p for name in PACKAGES for p in sorted((ROOT / name).rglob("*.py"))]
    code, tests = _total(files), _total(sorted((ROOT / "tests").rglob("*.py")))
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return {
        "lines of core and app": code.lines,
        "files of core and app": len(files),
        "classes of core and app": code.classes,
        "lines of tests": tests.lines,
        "words of documentation": sum(len(p.read_text(encoding="utf-8").split()) for p in pages),
        f"repeated stretches of {REPEATED} lines": repeated(files),
    }


def check() -> int:
    """Print each number beside its budget; 1 where one lies above."""
    budget = json.loads(BUDGET.read_text(encoding="utf-8"))
    found = numbers()
    print(f"\n{'':44}{'now':>8}{'budget':>10}")
    for name, value in found.items():
        print(f"{name:44}{value:>8,}{budget[name]:>10,}{'  over' * (value > budget[name])}")
    return int(any(value > budget[name] for name, value in found.items()))


def main() -> None:
    """Print the tables."""
    print(f"{'package':28}{'code':>8}{'classes':>9}{f'> {MANY} parameters':>17}")
    everything = Size()
    for name in PACKAGES:
        for package, files in _packages(ROOT / name):
            size = _total(files)
            everything += size
            _row(package, size)
    print(
        f"{'core + app':28}{everything.lines:>8,}{everything.classes:>9}{everything.long_lists:>17}"
    )
    for name in ("tests", "bench", "packaging"):
        _row(name, _total(sorted((ROOT / name).rglob("*.py"))))
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    words = {p.relative_to(ROOT): len(p.read_text(encoding="utf-8").split()) for p in pages}
    print(f"\n{'page':44}{'words':>8}")
    for page, count in sorted(words.items(), key=lambda item: -item[1]):
        print(f"{page!s:44}{count:>8,}")
    print(f"{'all pages':44}{sum(words.values()):>8,}")


if __name__ == "__main__":
    main()
    sys.exit(check())
