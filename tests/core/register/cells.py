"""Marks that a careless look-up takes for one another, registers that hold some, and a reader.

The eight marks carry the same bits: two keys, two epochs, two profiles with different fields. A
*door* is a way by which a mark becomes a name: it takes a mark and a register, and returns the
recipients that it shows. Whatever the register holds, a door may show the recipient of the mark
that it was asked for, and nobody else.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Final

from tests.app.records import make_audit

from pura.base.paths import Paths, user_paths
from pura.detect.record_facts import key_facts
from pura.keys.epochs import epoch_key
from pura.record.audit import Audit
from pura.record.evidence import MarkFacts
from pura.record.naming import CandidateFacts, Passage, RegisterFacts
from pura.register.rows import Issue
from pura.register.store import Register
from pura.scheme import Field, MarkIdentity, Payload, PayloadSeries, Profile, SecretKey, unpack
from pura.usecases.environment import Environment

PAYLOAD: Final = Payload.from_int(417 << 20 | 5, 36)
KEYS: Final = tuple(SecretKey(sha256(name).digest()) for name in (b"newsroom", b"archive"))
"""Not public: a finding with a public key is a draft, and no store takes one."""
EPOCHS: Final = ("2026-10", "2026-11")
_LAYOUTS: Final = (
    ("Desk", (("customer", 16), ("request", 20))),
    ("House", (("account", 20), ("serial", 16))),
)
_RECIPIENTS: Final = (
    *("Aurelia", "Bertil", "Corwin", "Dagny", "Evander", "Fenella", "Gudrun", "Halvard"),
)
STRANGER: Final = "Isolde"
"""Somebody to whom none of the marks was issued."""
TEXT: Final = "The council met again on Tuesday, and the desk wrote down what was said there. " * 4


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A mark, and to whom it was issued where a register holds it.

    Attributes:
        key: The key that texts are marked with: that of the epoch.
        root: The key that it was derived from.
        profile: The profile.
        who: The recipient.
    """

    key: SecretKey
    root: SecretKey
    profile: Profile
    who: str

    @property
    def mark(self) -> MarkIdentity:
        """The mark."""
        return PayloadSeries.of(self.key, self.profile).mark(PAYLOAD)

    @property
    def epoch(self) -> str:
        """The epoch of its key."""
        return self.mark.epoch


def cells_of(like: Profile) -> tuple[Cell, ...]:
    """Return the eight marks, under profiles like one but for their layouts."""
    profiles = [
        like.with_(
            name=name,
            key_epochs="month",
            payload_use="recipient",
            fields=tuple(Field(name=field, bits=bits, kind="integer") for field, bits in layout),
        )
        for name, layout in _LAYOUTS
    ]
    cells = zip(product(KEYS, EPOCHS, profiles), _RECIPIENTS, strict=True)
    return tuple(
        Cell(key=epoch_key(root, epoch), root=root, profile=profile, who=who)
        for (root, epoch, profile), who in cells
    )


CELLS: Final = cells_of(Profile(payload_bits=36, vocab_size=1000, code="tbcc"))
PROFILES: Final = tuple(dict.fromkeys(cell.profile for cell in CELLS))


@dataclass(frozen=True, kw_only=True)
class Home:
    """The folders of a user whose register holds some of the marks.

    Attributes:
        held: Which.
        folder: Where they are; the register of a door that writes is a copy.
    """

    held: tuple[Cell, ...]
    folder: Path

    @property
    def paths(self) -> Paths:
        """The folders."""
        return user_paths(self.folder)

    @property
    def environment(self) -> Environment:
        """The environment of the actions."""
        return Environment(paths=self.paths, device="cpu")

    def register(self) -> Register:
        """Open the register for reading."""
        return Register(self.paths.register, read_only=True)

    def copied(self, folder: Path) -> Home:
        """Return the same in a folder of its own, to be written to."""
        shutil.copytree(self.folder, folder)
        return replace(self, folder=folder)

    def facts(self) -> RegisterFacts:
        """Return what a record holds of a register that was asked for every mark there is.

        So a record's outputs have each entry at hand, and must not take that of another mark.
        """
        with self.register() as register:
            asked = [register.entries_of([(c.mark, 0.995)], 0.1, c.profile) for c in CELLS]
        return replace(
            asked[0],
            matches=tuple(match for facts in asked for match in facts.matches),
            none_weight=0.0,
        )


Shows = Callable[[Cell, Home, Path], set[str]]


@dataclass(frozen=True, kw_only=True)
class Door:
    """A way by which a mark becomes a name.

    Attributes:
        shows: Takes the mark that is asked for, a home that holds some, and an empty folder;
            returns the recipients that are shown.
        names: It names recipients; one that does not may show none at all.
    """

    shows: Shows
    names: bool = True


def named_in(text: object) -> set[str]:
    """Return the recipients that stand in a text or in a value that has one."""
    words = str(text)
    return {who for who in _RECIPIENTS if who in words}


def home_of(held: tuple[Cell, ...], folder: Path) -> Home:
    """Make a home whose register holds some marks."""
    home = Home(held=held, folder=folder)
    with Register(home.paths.register, create=True) as register:
        register.add_many(
            (row, Issue(payload=PAYLOAD, series=cell.mark.series, who=cell.who))
            for row, cell in enumerate(held, start=1)
        )
    return home


def homes(folder: Path) -> list[Home]:
    """Return homes whose registers hold each mark alone, all of them, and none."""
    kinds: list[tuple[Cell, ...]] = [*((cell,) for cell in CELLS), CELLS, ()]
    return [home_of(held, folder / str(number)) for number, held in enumerate(kinds)]


def strays(
    door: Door, homes: Sequence[Home], folder: Path, marks: Sequence[Cell] = CELLS
) -> list[tuple[str, str, set[str]]]:
    """Ask a door for every mark at every home; return what it shows and should not, or hides.

    Returns:
        The mark that was asked for, by its recipient; what the register holds, likewise; and what
        was shown, where that is not the recipient of the mark that was asked for.
    """
    found = []
    for number, (home, asked) in enumerate(product(homes, marks)):
        alone = folder / str(number)
        alone.mkdir()
        shown = door.shows(asked, home, alone)
        wanted = {asked.who} if door.names and asked in home.held else set()
        if shown != wanted:
            found.append((asked.who, ", ".join(cell.who for cell in home.held), shown))
    return found


# Records


@cache
def _unasked(cell: Cell) -> Audit:
    """Return a record of a text with the mark of a cell, whose register was not asked."""
    fields = unpack(cell.profile.fields, PAYLOAD)
    own = key_facts(cell.key, "Newsroom")
    audit = make_audit(TEXT, cell.profile, cell.key)
    bits = PAYLOAD.text
    return replace(
        audit,
        key=own,
        keys=(own, *(key_facts(other, "Archive") for other in _marking_keys() - {cell.key})),
        decoded=replace(audit.decoded, bits=bits, fields=fields),
        candidates=(
            CandidateFacts(bits=bits, posterior=0.995, fields=fields),
            # The same bits under another key are another mark, which somebody else may have.
            *(
                CandidateFacts(bits=bits, posterior=0.001, fields=fields, key=other.fingerprint)
                for other in _marking_keys() - {cell.key}
            ),
        ),
    )


def _marking_keys() -> set[SecretKey]:
    return {cell.key for cell in CELLS}


def record_of(asked: Cell, home: Home) -> Audit:
    """Return the record of a text with one mark; the register was asked."""
    return replace(_unasked(asked), register=home.facts())


def record_of_several(asked: Cell, home: Home) -> Audit:
    """Return the record of a text in which all keys of a profile marked a passage with one payload.

    The passages stand in the order of the cells; :func:`place_of` says which is the cell's own.
    """
    audit = record_of(asked, home)
    together = [cell for cell in CELLS if cell.profile == asked.profile]
    size = audit.tokens.ids.size // len(together)
    marks = []
    for number, cell in enumerate(together):
        first, last = number * size, (number + 1) * size - 1
        start, end = int(audit.tokens.spans[first, 0]), int(audit.tokens.spans[last, 1])
        marks.append(
            MarkFacts(
                key=cell.key.fingerprint,
                bits=PAYLOAD.text,
                fields=audit.decoded.fields,
                passages=(Passage(first_token=first, last_token=last, start=start, end=end),),
                share=1 / len(together),
                candidates=(
                    CandidateFacts(bits=PAYLOAD.text, posterior=0.995, fields=audit.decoded.fields),
                ),
                own_log10_e=12.0,
            )
        )
    return replace(audit, marks=tuple(marks), passages=marks[0].passages)


def place_of(asked: Cell) -> int:
    """Return the place of a cell's mark among those of :func:`record_of_several`."""
    return [cell for cell in CELLS if cell.profile == asked.profile].index(asked)


# Who reads names

_NAMES: Final = {
    *("Register", "RegisterEntry", "RegisterFacts", "RegisterMatch", "MarkLookup", "IssuedRows"),
    *("look_up", "select_issued", "open_register"),
}
_ATTRIBUTES: Final = {
    *("who", "register_match", "entries_of", "holds_same_row", "bound_to_marks"),
    *("bound_to_values", "named_marks"),
}
_COLUMNS: Final = ("who", "register_who")


def readers(package: Path) -> set[str]:
    """Return the functions that can turn a mark into a name, found in the source.

    That is whoever opens or takes a register, handles what it returns, or reads the attribute or
    column that holds a recipient.

    Args:
        package: Folder of the package.

    Returns:
        ``package.module:Class.function``; a module's own lines are ``package.module:``.
    """
    found: set[str] = set()
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {f"{module}:{owner}" for owner, node in _owned(tree, ()) if _reads(node)}
    return found


def _owned(node: ast.AST, owner: tuple[str, ...]) -> Iterator[tuple[str, ast.AST]]:
    """Yield all nodes below one, each with the class and function that it stands in."""
    for child in ast.iter_child_nodes(node):
        inside = owner
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = (*owner, child.name)
        yield ".".join(inside), child
        yield from _owned(child, inside)


def _reads(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return name in _NAMES
        case ast.Attribute(attr=name):
            return name in _ATTRIBUTES | _NAMES
        case ast.Constant(value=str(text)):
            return text in _COLUMNS or "chain.who" in text
    return False


def unlisted(package: Path, *listed: Mapping[str, object]) -> tuple[set[str], set[str]]:
    """Compare the readers of a package with those that are listed.

    Args:
        package: Folder of the package.
        listed: Readers, or whole modules and packages where the name has no colon.

    Returns:
        The readers that no list has, and what is listed and reads nothing.
    """
    there = readers(package)
    names = {name for each in listed for name in each}

    def covers(name: str, reader: str) -> bool:
        return reader == name or (":" not in name and reader.startswith((f"{name}:", f"{name}.")))

    new = {reader for reader in there if not any(covers(name, reader) for name in names)}
    gone = {name for name in names if not any(covers(name, reader) for reader in there)}
    return new, gone


def without_doors(listed: Mapping[str, Iterable[str]], doors: Iterable[str]) -> dict[str, set[str]]:
    """Return the readers that are listed beside a door that does not exist, with its name."""
    known = set(doors)
    return {name: lost for name, beside in listed.items() if (lost := set(beside) - known)}
