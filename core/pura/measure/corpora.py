"""Texts and prompts that are here without a network.

The paper takes C4, Essays and OpenGen. Nothing copyrighted is kept with the tool, so these stand
in for them:

* ``manual`` – prose of the Python manual, which every Python carries (for C4, texts of the web);
* ``openings`` – our own first sentences of letters, news, stories and advice (for Essays);
* ``notes`` – what installed libraries say of their functions, in prose (for OpenGen's reference
  prose);
* ``code`` – functions of Python's own library; ``german`` – our own German openings; ``tasks`` –
  our own instructions, for a chat template.

A file may be named instead: lines of plain text, JSON lines or Parquet with a column ``prompt`` or
``text``. With the library ``datasets`` and a network, ``hub:NAME`` takes a data set from there.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from pura.base.errors import InputError
from pura.base.files import read_bounded
from pura.measure.attacks.characters import split_sentences
from pura.measure.cells import GERMAN, STUDY, TASKS

MAX_FILE: Final = 64 << 20
_LEAST_WORDS: Final = 40
_MOST_ODD: Final = 0.02
_COLUMNS: Final = ("prompt", "text")
_NOTED: Final = ("numpy", "numpy.linalg", "scipy.stats")
OPENING_WORDS: Final = 12
"""Words of a text that open another one."""


def _prose(text: str) -> list[str]:
    """Return the paragraphs of a text that are plain prose, each on one line."""
    found = []
    for part in re.split(r"\n\s*\n", text):
        line = " ".join(part.split())
        odd = sum(1 for sign in line if not (sign.isalnum() or sign in " .,;:!?()'\"-"))
        plain = line[:1].isupper() and line[-1:] == "." and "--" not in line
        if plain and len(line.split()) >= _LEAST_WORDS and odd <= _MOST_ODD * len(line):
            found.append(line)
    return found


def _manual() -> list[str]:
    from pydoc_data.topics import topics

    return [p for name in sorted(topics) for p in _prose(topics[name])]


def _notes() -> list[str]:
    from importlib import import_module

    found: dict[str, None] = {}
    for module in map(import_module, _NOTED):
        # Not vars(module): what stands there depends on what else has been imported.
        for name in sorted(module.__all__):
            about = inspect.getdoc(getattr(module, name)) or ""
            found |= dict.fromkeys(_prose(about))
    return list(found)


def _code() -> list[str]:
    import argparse
    import statistics
    import textwrap

    return [
        inspect.getsource(function)
        for module in (statistics, textwrap, argparse, re, json)
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
    ]


_HERE: Final[dict[str, Callable[[], Sequence[str]]]] = {
    "manual": _manual,
    "openings": lambda: STUDY,
    "notes": _notes,
    "code": _code,
    "german": lambda: GERMAN,
    "tasks": lambda: TASKS,
}
DOMAINS: Final = ("manual", "openings", "notes")
"""What stands in for the paper's three data sets, in its order."""


@cache
def corpus(name: str) -> tuple[str, ...]:
    """Return the texts of a corpus.

    Args:
        name: One of those above, a file, or ``hub:NAME`` with ``hub:NAME/CONFIG`` where it has
            several.

    Raises:
        InputError: There is no such corpus, it cannot be read, or it is empty.
    """
    if name in _HERE:
        return tuple(_HERE[name]())
    if name.startswith("hub:"):
        return _from_hub(name.removeprefix("hub:"))
    path = Path(name)
    if not path.is_file():
        raise InputError("lab.corpus", name=name, known=", ".join(_HERE))
    texts = tuple(t for t in _from_file(path) if t.strip())
    if not texts:
        raise InputError("lab.corpus-empty", name=path.name)
    return texts


def prompts_of(name: str) -> tuple[str, ...]:
    """Return what opens texts of a corpus: whole where it holds openings, else first words."""
    texts = corpus(name)
    if name == "code":
        return tuple("\n".join(t.splitlines()[:3]) + "\n" for t in texts)
    if name in ("openings", "german", "tasks"):
        return texts
    return tuple(" ".join(t.split()[:OPENING_WORDS]) for t in texts)


def sentences_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences of more than three words."""
    return tuple(s for t in texts for s in split_sentences(t)[0] if len(s.split()) > 3)


def _from_file(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        try:
            names = pq.read_schema(path).names
            column = next(c for c in _COLUMNS if c in names)
            return [str(t or "") for t in pq.read_table(path, columns=[column])[column].to_pylist()]
        except (OSError, ValueError, StopIteration):
            raise InputError("lab.corpus-empty", name=path.name) from None
    try:
        lines = read_bounded(path, MAX_FILE).decode("utf-8-sig").splitlines()
        if path.suffix not in (".jsonl", ".ndjson"):
            return lines
        rows = [json.loads(line) for line in lines if line.strip()]
        return [str(next(row[c] for c in _COLUMNS if c in row)) for row in rows]
    except (ValueError, TypeError, StopIteration):
        raise InputError("lab.corpus-empty", name=path.name) from None


def _from_hub(name: str) -> tuple[str, ...]:
    try:
        from datasets import load_dataset
    except ImportError:
        raise InputError("extra.missing", name="datasets", extra="datasets") from None
    where, _, config = name.partition("/config=")
    rows = load_dataset(where, config or None, split="train", streaming=True)
    return tuple(str(row["text"]) for row in rows.take(1000))
