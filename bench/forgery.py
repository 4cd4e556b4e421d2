"""Whether somebody without the key can make a text that is attributed to somebody else.

Attackers collect answers of a service and put texts of their own together from them, or question it
as customers (``_forgery_attacks.py``). Each text is audited as any other, by the model that wrote
the answers, without the prompt. Beside them stand texts that the service wrote, as they are and
edited: these must keep their name. Documentation: ``docs/how-it-works/forgery.md``::

    python bench/forgery.py --cache DIR [--only PART …] [--setting NAME …] [--cell PATTERN …]
    [--write]

What was written and audited stays in the cache and is not done again. ``--write`` puts the rows of
the cells that were run into the table of the documentation; the rows of other cells stay as they
are there, so a single cell can be run again without the cache of the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache as once
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from _forgery_attacks import Forged, composed, mosaic, replay, three_accounts
from _forgery_audits import Audits, Naming, Question, naming_of
from _forgery_texts import (
    SIZES,
    SMALL_SIZES,
    WINDOWS,
    Answer,
    Setting,
    Sizes,
    collected,
    document,
    edited,
    genuine,
    genuine_cell,
    randomness,
    settings,
)
from _study_read import human_texts
from pura.measure.cache import Cache

TEXTS: Final = 20
"""Forged texts of a cell, unless ``--texts`` says otherwise."""

COLLECTED: Final = (24, 64, 128, 256)
LENGTHS: Final = (120, 320)
GENUINE_LENGTHS: Final = (120, 320)
EDITS: Final = (0, 10, 20)
"""Words replaced in genuine texts, percent."""
QUOTES: Final = (30, 60, 100, 150)
"""Tokens that a genuine document quotes of each answer."""
QUOTED: Final = 4
"""Answers that a genuine document quotes."""
WORDS_BETWEEN: Final = (0, 40)
PIECES: Final = (15, 30, 60)
PEOPLE: Final = (3, 12)

SMALL: Final = (
    "genuine.spc-w2-recipient.120.10",
    "documents.tbcc-w2-answer.60.40",
    "forged.replay-readable.tbcc-w2-recipient.120.24-*",
    "forged.accounts.spc-w2-recipient.120.0-3-*",
    "forged.composed.spc-w4-answer.120.0-2-*",
    "forged.pieces.tbcc-w2-answer.320.64-0-15-3",
)
"""A cell of each part."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Texts that were forged alike.

    Attributes:
        part: Which part of the study it belongs to.
        setting: How the service marks.
        tokens: Length of the texts.
        answers: Answers that the attacker has; 0 where he asks for what he needs.
        manner: What he gives up for a stronger mark, of ``MANNERS``.
        request: Tokens that he asks for at a time; 0 where he collects.
        piece: Tokens of a piece of which the texts are put together; 0 where they are written.
        people: Whose answers these pieces are.
    """

    part: str
    setting: Setting
    tokens: int
    answers: int = 0
    manner: str = ""
    request: int = 0
    piece: int = 0
    people: int = 0

    @property
    def name(self) -> str:
        """Name in the cache. Texts of a cell that are there count, however many they are."""
        counts = (self.answers, self.request, self.piece, self.people)
        how = "-".join(filter(None, (self.part, self.manner)))
        return f"forged.{how}.{self.setting.name}.{self.tokens}.{'-'.join(map(str, counts))}"

    def write(self, model: Any, answers: Callable[[int], list[Answer]], texts: int) -> list[Forged]:
        """Forge the texts of the cell."""
        match self.part:
            case "replay":
                collected_answers = answers(self.answers)
                return replay(
                    model, self.setting, collected_answers, texts, self.tokens, self.manner
                )
            case "accounts":
                return three_accounts(model, self.setting, texts, self.tokens, self.request)
            case "composed":
                return composed(model, self.setting, texts, self.tokens, self.request)
            case _:
                return mosaic(
                    self.setting,
                    answers(self.answers),
                    texts,
                    self.tokens,
                    self.piece,
                    self.people,
                )


def cells() -> Iterator[Cell]:
    """Yield the cells of all attacks, the most important first."""
    yield from replayed("readable", settings(), LENGTHS)
    for setting in settings():
        yield from asked_for(setting)
    narrow = [one for one in settings() if one.context_window == min(WINDOWS)]
    yield from replayed("greedy", narrow, LENGTHS[-1:])
    for setting in settings():
        if setting.use == "answer":
            yield from pieced(setting)


def replayed(manner: str, used: Iterable[Setting], lengths: Sequence[int]) -> Iterator[Cell]:
    """Yield the cells of attackers who walk a table of collected answers."""
    for setting in used:
        for count in COLLECTED:
            for tokens in lengths:
                yield Cell(
                    part="replay", setting=setting, tokens=tokens, answers=count, manner=manner
                )


def asked_for(setting: Setting) -> Iterator[Cell]:
    """Yield the cells of attackers who ask for a few tokens at a time."""
    # An answer as long as a context and a token more is the shortest that shows anything.
    for request in sorted({2, 3, setting.context_window + 1}):
        for tokens in LENGTHS:
            yield Cell(part="accounts", setting=setting, tokens=tokens, request=request)
    for request in (2, 3):
        for tokens in LENGTHS:
            yield Cell(part="composed", setting=setting, tokens=tokens, request=request)


def pieced(setting: Setting) -> Iterator[Cell]:
    """Yield the cells of texts that are put together from pieces."""
    for piece in PIECES:
        for people in PEOPLE:
            yield Cell(
                part="pieces",
                setting=setting,
                tokens=max(LENGTHS),
                answers=64,
                piece=piece,
                people=people,
            )


@dataclass(frozen=True, kw_only=True)
class GenuineCell:
    """Texts that the service wrote to one person each, as they are or edited.

    Attributes:
        setting: How the service marks.
        tokens: Length of the texts before they were edited.
        edit: Words replaced, percent.
    """

    setting: Setting
    tokens: int
    edit: int
    part: str = "genuine"

    @property
    def name(self) -> str:
        """Name in the tables."""
        return f"genuine.{self.setting.name}.{self.tokens}.{self.edit}"

    def questions(self, model: Callable[[], Any], cache: Cache, sizes: Sizes) -> list[Question]:
        """Return the texts with what they are audited with."""
        profile = self.setting.profile(model())
        longest = min(max(GENUINE_LENGTHS), sizes.most_tokens)
        cell = genuine_cell(self.setting, sizes.genuine, longest)
        questions = []
        for text in genuine(model(), cache, cell, profile, sizes):
            written = model().tokenizer.decode(text.ids[: self.tokens].tolist())
            rng = cell.generator(f"edit {self.tokens} {self.edit}", text.number)
            questions.append(
                Question(text=edited(written, self.edit, rng), key=text.key, profile=profile)
            )
        return questions


@dataclass(frozen=True, kw_only=True)
class DocumentCell:
    """Documents in which somebody quotes several answers.

    Attributes:
        setting: How the service marks.
        quote: Tokens quoted of each answer.
        words_between: Words of the person who quotes, between the quotes.
    """

    setting: Setting
    quote: int
    words_between: int
    part: str = "documents"

    @property
    def name(self) -> str:
        """Name in the tables."""
        return f"documents.{self.setting.name}.{self.quote}.{self.words_between}"

    def questions(self, model: Callable[[], Any], cache: Cache, sizes: Sizes) -> list[Question]:
        """Return the documents with what they are audited with."""
        answers = collected(model(), cache, self.setting, sizes.documents * QUOTED, sizes)
        profile, human, questions = self.setting.profile(model()), human_texts(), []
        for number in range(sizes.documents):
            quoted = answers[number * QUOTED : (number + 1) * QUOTED]
            text = document(
                [model().tokenizer.decode(a.ids[: self.quote].tolist()).strip() for a in quoted],
                words_between=self.words_between,
                human=human,
                rng=randomness(self.name, number),
            )
            questions.append(Question(text=text, key=self.setting.key, profile=profile))
        return questions


def kept_cells() -> Iterator[GenuineCell | DocumentCell]:
    """Yield the cells of texts whose marks are to keep their names."""
    for setting in settings():
        if setting.use == "recipient":
            for edit in sorted(EDITS, key=lambda edit: edit != EDITS[1]):
                for tokens in GENUINE_LENGTHS:
                    yield GenuineCell(setting=setting, tokens=tokens, edit=edit)
    for setting in settings():
        if setting.use == "answer" and setting.context_window == min(WINDOWS):
            for quote in QUOTES:
                for words in WORDS_BETWEEN:
                    yield DocumentCell(setting=setting, quote=quote, words_between=words)


def every_cell() -> Iterator[Cell | GenuineCell | DocumentCell]:
    """Yield the cells of the study in the order of the table."""
    yield from kept_cells()
    yield from cells()


def forged(
    model: Callable[[], Any], cache: Cache, cell: Cell, count: int, sizes: Sizes
) -> list[Forged]:
    """Return the texts of a cell, and forge them if there are fewer; none that is not wanted."""
    if not count and cell.name not in cache:
        return []
    if cell.name not in cache or len(cache.get(cell.name)["ids"]) < count:
        start = time.perf_counter()

        def answers(wanted: int) -> list[Answer]:
            some = min(wanted, sizes.most_answers)
            return collected(model(), cache, cell.setting, some, sizes)

        shortened = replace(cell, tokens=min(cell.tokens, sizes.most_tokens))
        texts = shortened.write(model(), answers, count)
        columns = {
            "ids": [text.ids for text in texts],
            "counts": [np.array([text.copied, text.requests]) for text in texts],
        }
        cache.put(cell.name, columns)
        print(f"forged {cell.name} in {time.perf_counter() - start:.0f} s", flush=True)
    stored = cache.get(cell.name)
    return [
        Forged(ids=ids, copied=int(copied), requests=float(requests))
        for ids, (copied, requests) in zip(stored["ids"], stored["counts"], strict=True)
    ]


def main() -> None:
    """Forge, audit and print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--setting", nargs="*", default=[])
    parser.add_argument(
        "--cell",
        nargs="*",
        default=[],
        help="names of cells, with wildcards, as “forged.replay-greedy.*”",
    )
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--stored", action="store_true", help="forge and audit nothing more")
    parser.add_argument("--write", action="store_true", help="write the table of the documentation")
    args = _common.parse(parser, texts=1, cell=SMALL)
    sizes = SMALL_SIZES if args.small else SIZES
    cache, model = Cache(args.cache), once(_common.load_builtin)
    audits = Audits(args.cache)
    found: dict[Cell | GenuineCell | DocumentCell, list[Naming]] = {}
    for cell in every_cell():
        if args.only and cell.part not in args.only:
            continue
        if args.setting and cell.setting.name not in args.setting:
            continue
        if args.cell and not any(fnmatchcase(cell.name, pattern) for pattern in args.cell):
            continue
        if isinstance(cell, Cell):
            texts = forged(model, cache, cell, 0 if args.stored else args.texts, sizes)
            profile, decode = cell.setting.profile(model()), model().tokenizer.decode
            questions = [
                Question(text=decode(t.ids.tolist()), key=cell.setting.key, profile=profile)
                for t in texts
            ]
        else:
            questions = cell.questions(model, cache, sizes)
        if args.stored:
            questions = [one for one in questions if one in audits]
        records = audits.of(questions, model, cell.name)
        found[cell] = [naming_of(one, cell.setting.use) for one in records]
        print(row(cell, found[cell]), flush=True)
    if args.small and args.write:
        parser.error("--write takes a study of its full size")
    if args.write:
        write(found)


HEAD: Final = "part,code,window,use,tokens,what,texts,marks,named_before,named,in_pieces"


def row(cell: Cell | GenuineCell | DocumentCell, found: Sequence[Naming]) -> str:
    """Return the line of the table of a cell."""
    match cell:
        case Cell():
            tokens = cell.tokens
            what = {
                "replay": f"{cell.answers} answers {cell.manner}",
                "pieces": f"{cell.piece} tokens of {cell.people} people",
            }.get(cell.part, f"{cell.request} tokens at a time")
        case GenuineCell():
            tokens, what = cell.tokens, f"{cell.edit} % of the words exchanged"
        case DocumentCell():
            tokens, what = cell.quote, f"{QUOTED} quotations {cell.words_between} words apart"
    setting = cell.setting
    counts = [
        len(found),
        *(sum(getattr(one, name) for one in found) for name in ("mark", "before", "named")),
        sum(one.pieces for one in found),
    ]
    of_cell = (cell.part, setting.code, setting.context_window, setting.use, tokens, what)
    return ",".join(map(str, (*of_cell, *counts)))


TABLE: Final = (
    Path(__file__).resolve().parents[1] / "docs" / "how-it-works" / "study" / "forgery.csv"
)
COUNTS: Final = 5
"""Columns at the end of a row that are counts; those before them say which cell it is."""


def write(
    found: dict[Cell | GenuineCell | DocumentCell, list[Naming]], table: Path = TABLE
) -> None:
    """Put the rows of the cells that were run into a table, in the order of ``every_cell``.

    Cells that have no texts here, or fewer than the table's row, keep the row that is there.
    """
    stored = {_cell_of(line): line for line in table.read_text(encoding="utf-8").splitlines()[1:]}
    lines = [HEAD]
    for cell in every_cell():
        fresh = row(cell, found.get(cell, []))
        old = stored.pop(_cell_of(fresh), "")
        if found.get(cell) and not (old and _texts(fresh) < _texts(old)):
            lines.append(fresh)
        elif old:
            lines.append(old)
    if stored:
        raise ValueError(f"rows of no cell: {sorted(stored)}")
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell_of(line: str) -> str:
    return line.rsplit(",", COUNTS)[0]


def _texts(line: str) -> int:
    return int(line.split(",")[-COUNTS])


if __name__ == "__main__":
    main()
