"""How much there is to read: code by room, classes, long parameter lists, words by page.

Lines of code are those that hold a token: no blanks, comments or docstrings. ``make size`` runs it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("core/pura", "core/pura_lab", "app/pura_audit")
MANY = 8
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


def _rooms(package: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield each room with its files; files beside the rooms stand under the package's name."""
    yield package.name, sorted(package.glob("*.py"))
    for folder in sorted(p for p in package.iterdir() if (p / "__init__.py").is_file()):
        yield f"{package.name}.{folder.name}", sorted(folder.rglob("*.py"))


def _total(files: list[Path]) -> Size:
    return sum((size_of(p.read_text(encoding="utf-8")) for p in files), Size())


def _row(name: str, size: Size) -> None:
    print(f"{name:28}{size.lines:>8,}{size.classes:>9}{size.long_lists:>17}")


def main() -> None:
    """Print the tables."""
    print(f"{'room':28}{'code':>8}{'classes':>9}{f'> {MANY} parameters':>17}")
    everything = Size()
    for name in PACKAGES:
        for room, files in _rooms(ROOT / name):
            size = _total(files)
            everything += size
            _row(room, size)
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
