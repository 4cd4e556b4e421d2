"""Every file below some folders, read: what fails, how long it takes, what is read and left out.

Beside it stands what other converters read, where they are installed: pdftotext for PDF, pandoc for
Word, OpenDocument, e-books, web pages, RTF and notebooks, LibreOffice for office documents. The
recall is the share of a converter's words that are in the parts that were read or listed::

    python bench/reading.py FOLDER... [--each N] [--csv FILE] [--office] [--failures]

A file that is neither read nor refused in words ends the run with status 1. Nothing of a file is
printed but its format and, with ``--failures``, its path.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common
from pura.base.errors import InputError
from pura.documents import Extraction, endings, read_data
from pura.record.left_out import left_out_share, left_out_words

Converter = Callable[[Path, str], str]
"""Takes a file and the name of its format, and returns its text."""
FAULTS: Final = frozenset({"input-crash", "reader-forbidden"})
"""Codes of refusals that are faults of ours; any other one says what the file is."""
PATIENCE_S: Final = 60  # with a converter of others
MAX_BYTES: Final = 8 << 20
"""Larger files are passed over: converters of others take minutes for them."""
LIMITS: Final = (0.01, 0.02, 0.03, 0.05, 0.1)
"""Shares of left-out words from which "no mark found" might be forbidden."""
_WORD: Final = re.compile(r"[^\W_]+")


def _output(command: Sequence[str]) -> str:
    """Return what a converter prints; nothing where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def by_pdftotext(path: Path, _format: str) -> str:
    """Return the text of a PDF."""
    return _output(["pdftotext", "-q", "-enc", "UTF-8", str(path), "-"])


def by_pandoc(path: Path, format_name: str) -> str:
    """Return the text of a document."""
    return _output(["pandoc", "-f", format_name, "-t", "plain", "--wrap=none", str(path)])


def by_libreoffice(path: Path, _format: str) -> str:
    """Return the text of a document for a word processor."""
    with tempfile.TemporaryDirectory() as folder:
        profile = f"-env:UserInstallation=file://{folder}/profile"
        convert = ["--headless", "--convert-to", "txt:Text (encoded):UTF8", "--outdir", folder]
        _output(["soffice", profile, *convert, str(path)])
        written = Path(folder) / f"{path.stem}.txt"
        return written.read_text("utf-8-sig", "replace") if written.exists() else ""


CONVERTERS: Final[dict[str, tuple[str, Converter, frozenset[str]]]] = {
    "pdftotext": ("pdftotext", by_pdftotext, frozenset({"pdf"})),
    "pandoc": (
        "pandoc",
        by_pandoc,
        frozenset({"docx", "odt", "epub", "html", "rtf"}),
    ),
    "LibreOffice": ("soffice", by_libreoffice, frozenset({"docx", "odt", "rtf"})),
}
"""Program and function of each converter, and the formats that it reads."""


@dataclass
class Tally:
    """What became of the files of one format.

    Attributes:
        seconds: Of each file that was read.
        words: That are examined.
        left_out: Words that are listed.
        uncounted: Files of which a place could not be counted.
        shares: Share of its words that each examined text leaves out.
        refused: Refusals by their code.
        recalls: Recall of each file that a converter read, by the converter.
    """

    seconds: list[float] = field(default_factory=list)
    words: int = 0
    left_out: int = 0
    uncounted: int = 0
    shares: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    recalls: dict[str, list[float]] = field(default_factory=dict)


def files_below(folders: Sequence[Path], each: int) -> Iterator[Path]:
    """Yield files of known formats, at most so many of each ending and folder, evenly spread."""
    known = frozenset(endings())
    for folder in folders:
        by_ending: dict[str, list[Path]] = {}
        for path in sorted(folder.rglob("*")):
            ending = path.suffix.lower()
            is_file = ending in known and path.is_file() and not path.is_symlink()
            if is_file and 0 < path.stat().st_size <= MAX_BYTES:
                by_ending.setdefault(ending, []).append(path)
        for paths in by_ending.values():
            yield from paths[:: max(1, -(-len(paths) // each))]


def words_of(text: str) -> Counter[str]:
    """Return the words of a text."""
    return Counter(_WORD.findall(text.lower()))


def recall(extraction: Extraction, other: str) -> float | None:
    """Return the share of a converter's words that are read or listed; None where it has none."""
    wanted = words_of(other)
    if not wanted:
        return None
    parts = [document.text for document in extraction.documents if not document.repeats]
    return (wanted & words_of("\n".join(parts))).total() / wanted.total()


def read_into(tallies: dict[str, Tally], path: Path, converters: Sequence[str]) -> str:
    """Read a file into the tally of its format, and return the code of its refusal, if any."""
    started = time.perf_counter()
    try:
        extraction = read_data(path.read_bytes(), name=path.name)
    except InputError as error:
        tallies.setdefault(path.suffix.lower().removeprefix("."), Tally()).refused[error.code] += 1
        return error.code
    tally = tallies.setdefault(extraction.format, Tally())
    tally.seconds.append(time.perf_counter() - started)
    for group in {document.group: document for document in extraction.chosen}.values():
        count = left_out_words(group.left_out)
        tally.uncounted += count is None
        tally.left_out += count or 0
        tally.shares.append(left_out_share(group.left_out, group.examined_words))
    tally.words += sum(document.words for document in extraction.chosen)
    for name in converters:
        _, convert, formats = CONVERTERS[name]
        if extraction.format in formats:
            share = recall(extraction, convert(path, extraction.format))
            if share is not None:
                tally.recalls.setdefault(name, []).append(share)
    return ""


def row_of(name: str, tally: Tally, converters: Sequence[str]) -> list[str]:
    """Return the line of a format in the table."""
    faults = sum(number for code, number in tally.refused.items() if code in FAULTS)
    shown = ", ".join(
        f"{code} {number}" for code, number in sorted(tally.refused.items()) if code not in FAULTS
    )
    recalls = [tally.recalls.get(converter, []) for converter in converters]
    return [
        name,
        str(len(tally.seconds) + tally.refused.total()),
        str(faults),
        shown or "–",
        f"{median(tally.seconds):.2f}" if tally.seconds else "–",
        f"{tally.words:,}",
        f"{tally.left_out:,}",
        str(tally.uncounted),
        *(f"{sum(shares) / len(shares):.3f}" if shares else "–" for shares in recalls),
    ]


def limit_rows(tallies: Mapping[str, Tally]) -> list[list[str]]:
    """Return for each limit how many texts would be answered in part only, by format."""
    return [
        [f"{limit:.0%}"]
        + [
            f"{sum(share > limit for share in tally.shares)} of {len(tally.shares)}"
            for _, tally in sorted(tallies.items())
        ]
        for limit in LIMITS
    ]


def main() -> int:
    """Print one row a format, and what each limit of left-out words would forbid."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--each", type=int, default=100, help="files of an ending in a folder")
    parser.add_argument("--csv", type=Path, help="write the table there as well")
    parser.add_argument("--office", action="store_true", help="compare LibreOffice, which is slow")
    parser.add_argument("--failures", action="store_true", help="name the files that are refused")
    arguments = _common.parse(parser, each=1)
    _common.print_facts("Reading", 0)
    converters = [
        name
        for name, (program, _, _) in CONVERTERS.items()
        if shutil.which(program) and (name != "LibreOffice" or arguments.office)
    ]
    tallies: dict[str, Tally] = {}
    for path in files_below(arguments.folders, arguments.each):
        code = read_into(tallies, path, converters)
        if code and (arguments.failures or code in FAULTS):
            print(f"{code}  {path}", flush=True)
    columns = [
        "format",
        "files",
        "faults",
        "refused",
        "median s",
        "words read",
        "words left out",
        "files uncounted",
        *(f"recall of {name}" for name in converters),
    ]
    rows = [row_of(name, tally, converters) for name, tally in sorted(tallies.items())]
    _common.print_table(columns, rows)
    _common.print_table(["texts above", *sorted(tallies)], limit_rows(tallies))
    if arguments.csv is not None:
        with arguments.csv.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    faults = sum(t.refused[code] for t in tallies.values() for code in FAULTS)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
