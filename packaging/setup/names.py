"""Hold names to what they say; part of ``make check``.

Two things are measured, and neither may become worse than ``names.json`` beside this file says:

* of each package, the share of bound names that are *filler* (``found``, ``one``, ``at``: words
  that tell nothing about the value) and that are *vague* (``data``, ``item``: any value would do);
* the names of types that several modules of the program define.

A bound name is a variable, a parameter, a field of a class, or what ``with``, ``except``,
``match`` or ``:=`` binds. Variables of comprehensions are left out: they live for one expression.
``--update`` writes shares and counts that fell. It never raises one: if a package moves, its row is
moved by hand, and a package without a row starts at the goal.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("names.json")
# Each folder directly below one of these is a package; the files beside them are one as well.
ROOTS = ("core/pura", "core/pura_lab", "app/pura_audit", "tests", "bench", "packaging")
PROGRAM = ROOTS[:3]
"""Where the name of a type is to be unique; tests and tools have stand-ins of their own."""

# What happened to a value does not say what it is.
_PARTICIPLES = """asked begun caught chosen done found given gone got heard held kept known made
meant named put said seen shown taken told wanted"""
_PRONOUNS = """each every mine none one ones other others ours own some such theirs these those what
who whom whose"""
_DEGREES = "least less many more most much whole"
_PREPOSITIONS = "about apart at behind beside by near of on to under"
_ADVERBS = "again alone elsewhere far here never so then there way ways when where why"
# Verbs without an object, and nouns that this project used for nearly everything.
_WORN_OUT = "act acts go look lie place places say tell words"
FILLER = frozenset(
    f"{_PARTICIPLES} {_PRONOUNS} {_DEGREES} {_PREPOSITIONS} {_ADVERBS} {_WORN_OUT}".split()
)
_ANY_VALUE = """content contents data info item items misc obj object objects res result results ret
stuff temp thing things tmp val vals value values var"""
VAGUE = frozenset(_ANY_VALUE.split())
# Percent of the bound names of a package; where a new package starts.
GOALS = {"filler": 1.5, "vague": 4.0}


@dataclass(frozen=True, kw_only=True)
class Shares:
    """How many names of a package say nothing.

    Attributes:
        total: Bound names.
        filler: Of these, how often each filler was bound.
        vague: Of these, how often each vague name was bound.
    """

    total: int
    filler: Counter[str]
    vague: Counter[str]

    def percent(self, kind: str) -> float:
        """Return a share in percent, rounded up to a tenth, as the table holds it."""
        count: Counter[str] = getattr(self, kind)
        return math.ceil(1000 * count.total() / max(1, self.total)) / 10


def plain_name(identifier: str) -> str:
    """Return a name without the marks that tell it from others: ``_found2`` is ``found``."""
    return re.sub(r"\d+$", "", identifier.strip("_")).strip("_").lower()


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, without the targets of comprehensions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.comprehension):
            children.remove(node.target)
        waiting += children


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Yield every bound name of a module, in no order, as often as it is bound."""
    for node in _nodes(tree):
        match node:
            case ast.Name(id=identifier, ctx=ast.Store()):
                yield identifier
            case ast.arg(arg=identifier) if identifier not in ("self", "cls"):
                yield identifier
            case (
                ast.ExceptHandler(name=str(identifier))
                | ast.MatchAs(name=str(identifier))
                | ast.MatchStar(name=str(identifier))
                | ast.MatchMapping(rest=str(identifier))
            ):
                yield identifier
            case _:
                pass


def shares_of(identifiers: Iterable[str]) -> Shares:
    """Count the names of a package."""
    counts = Counter(plain_name(identifier) for identifier in identifiers)
    return Shares(
        total=counts.total(),
        filler=Counter({name: n for name, n in counts.items() if name in FILLER}),
        vague=Counter({name: n for name, n in counts.items() if name in VAGUE}),
    )


def package_of(path: Path) -> str:
    """Return the package of a file below :data:`ROOTS`, as a path from the root of the project."""
    relative = path.relative_to(ROOT)
    root = next(root for root in ROOTS if relative.is_relative_to(root))
    inside = relative.relative_to(root).parts
    return f"{root}/{inside[0]}" if len(inside) > 1 else root


def measured(roots: tuple[str, ...] = ROOTS) -> tuple[dict[str, Shares], dict[str, list[str]]]:
    """Return the shares of every package, and the modules of every repeated name of a type."""
    identifiers: dict[str, list[str]] = defaultdict(list)
    modules: dict[str, list[str]] = defaultdict(list)
    for root in roots:
        for path in sorted((ROOT / root).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            identifiers[package_of(path)] += bound_names(tree)
            for type_name in type_names(tree) if root in PROGRAM else ():
                modules[type_name].append(str(path.relative_to(ROOT)))
    shares = {package: shares_of(bound) for package, bound in sorted(identifiers.items())}
    return shares, {name: paths for name, paths in sorted(modules.items()) if len(paths) > 1}


def type_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the classes and type aliases that a module defines."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield name.lstrip("_")
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                yield name.lstrip("_")
            case _:
                pass


def rises(
    shares: Mapping[str, Shares], types: Mapping[str, list[str]], table: Mapping[str, Mapping]
) -> Iterator[str]:
    """Yield a line for whatever is worse than the table allows."""
    for package, package_shares in shares.items():
        stored = table["percent"].get(package, GOALS)
        for kind in GOALS:
            percent = package_shares.percent(kind)
            if percent > stored[kind]:
                counts: Counter[str] = getattr(package_shares, kind)
                most_frequent = ", ".join(f"{name} {n}" for name, n in counts.most_common(8))
                yield (
                    f"{package}: {percent} % of the names are {kind}, {stored[kind]} % allowed "
                    f"({most_frequent})"
                )
    for name, paths in types.items():
        allowed = table["types"].get(name, 1)
        if len(paths) > allowed:
            yield f"type {name}: defined {len(paths)} times, {allowed} allowed ({', '.join(paths)})"


def lowered(
    shares: Mapping[str, Shares], types: Mapping[str, list[str]], table: Mapping[str, Mapping]
) -> dict[str, dict]:
    """Return the table with what fell; packages and types that are gone leave it."""
    percent = {
        package: {
            kind: min(table["percent"].get(package, GOALS)[kind], package_shares.percent(kind))
            for kind in GOALS
        }
        for package, package_shares in shares.items()
    }
    counts = {
        name: min(table["types"][name], len(paths))
        for name, paths in types.items()
        if name in table["types"]
    }
    return {"percent": percent, "types": counts}


def text_of(table: Mapping[str, Mapping]) -> str:
    """Write the table with a line for each row, so that two changes rarely meet."""

    def rows(section: str) -> str:
        return ",\n".join(
            f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in sorted(table[section].items())
        )

    return f'{{\n "percent": {{\n{rows("percent")}\n }},\n "types": {{\n{rows("types")}\n }}\n}}\n'


def main(arguments: list[str] | None = None) -> int:
    """Compare with the table; return 1 where something rose."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="write what fell into the table")
    parser.add_argument("--list", action="store_true", help="print every package and type")
    options = parser.parse_args(arguments)
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    shares, types = measured()
    if options.list:
        for package, package_shares in shares.items():
            columns = (f"{kind} {package_shares.percent(kind):4.1f} %" for kind in GOALS)
            print(f"{package:26} {package_shares.total:6} names  {'  '.join(columns)}")
        for name, paths in types.items():
            print(f"{name}: {', '.join(paths)}")
    if options.update:
        TABLE.write_text(text_of(lowered(shares, types, table)), encoding="utf-8")
    lines = list(rises(shares, types, table))
    print("\n".join([*lines, f"{len(lines)} packages or types have worse names than before"]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
