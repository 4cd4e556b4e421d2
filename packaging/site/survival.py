"""Draw what a mark survives, docs/images/what-survives.svg and the German one.

    pura lab run survives --full --output RESULTS
    python packaging/site/survival.py RESULTS

Shares of texts whose mark is found and whose payload is right, with Wilson's 95 % intervals, from
the experiment's rows; and, for docs/how-to/what-survives.md, from the table of the tools of others.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from pura.measure.evaluate import wilson

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILES = {"en": "images/what-survives.svg", "de": "images/what-survives-de.svg"}
TABLE = "how-to/what-survives/tools.csv"
PAGES = {"en": "how-to/what-survives.md", "de": "de/how-to/what-survives.md"}
PICTURES = {"en": "images/survives-tools.svg", "de": "images/survives-tools-de.svg"}
OTHERS = {"en": "all {n} others", "de": "alle {n} anderen"}
COUNTS = ("texts", "found", "payload right", "payload wrong", "called unmarked")
LEGEND = {
    "en": ("mark found", "payload right", "of 100 texts"),
    "de": ("Markierung gefunden", "Nutzlast richtig", "von 100 Texten"),
}
# In the order of the picture.
ROWS = {
    "clean": ("unedited", "unverändert"),
    "sentence-shuffle": ("sentences in another order", "Sätze umgestellt"),
    "case:0.1": ("case of 10 % of the words", "Groß/klein in 10 % der Wörter"),
    "punctuation:1": ("no punctuation", "ohne Satzzeichen"),
    "typos:0.1": ("typing errors, 10 % of the words", "Tippfehler in 10 % der Wörter"),
    "typos:0.3": ("typing errors, 30 % of the words", "Tippfehler in 30 % der Wörter"),
    "copy-paste:0.3": ("30 % foreign sentences", "30 % fremde Sätze"),
    "copy-paste:0.6": ("60 % foreign sentences", "60 % fremde Sätze"),
    "truncate:0.5": ("the first 100 tokens", "die ersten 100 Token"),
    "truncate:0.7": ("the first 60 tokens", "die ersten 60 Token"),
    "delete:0.1": ("10 % deleted", "10 % gelöscht"),
    "delete:0.2": ("20 % deleted", "20 % gelöscht"),
    "substitute:0.1": ("10 % replaced at random", "10 % zufällig ersetzt"),
    "substitute:0.2": ("20 % replaced at random", "20 % zufällig ersetzt"),
    "substitute-plausible:0.1": ("10 % replaced, plausibly", "10 % passend ersetzt"),
    "substitute-plausible:0.2": ("20 % replaced, plausibly", "20 % passend ersetzt"),
    "substitute-plausible:0.3": ("30 % replaced, plausibly", "30 % passend ersetzt"),
    "smoothing:0.28": ("28 % drawn anew by a model", "28 % von einem Modell neu gezogen"),
    "paraphrase": ("rewritten by the small model", "vom kleinen Modell umgeschrieben"),
}
LOOKS = (("#2B6CB0", "o", -0.17), ("#A64A0C", "s", 0.17))


def shares(results: Path) -> dict[str, tuple[int, int, int]]:
    """Return by attack: texts, texts whose mark was found, texts whose payload was right."""
    got: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    table = pq.read_table(results / "survives.parquet")
    for row in table.select(["attack", "found", "exact_match"]).to_pylist():
        got[row["attack"]].append((row["found"], row["exact_match"]))
    return {
        name: (len(some), sum(f for f, _ in some), sum(m for _, m in some))
        for name, some in got.items()
    }


def draw(
    counts: dict[str, tuple[int, int, int]], words: dict[str, str], language: str, file: Path
) -> None:
    """Draw one picture.

    Args:
        counts: Texts, found, right.
        words: What the rows are called, in the order of the picture.
        language: ``en`` or ``de``.
        file: Where it goes.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names = [name for name in words if name in counts]
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "pura", "font.size": 9}):
        figure = Figure(figsize=(6.6, 0.5 + 0.28 * len(names)), layout="constrained")
        axis = figure.subplots()
        *kinds, unit = LEGEND[language]
        for number, (kind, (ink, sign, shift)) in enumerate(zip(kinds, LOOKS, strict=True)):
            for place, name in enumerate(names):
                texts, *hits = counts[name]
                low, high = wilson(hits[number], texts)
                axis.plot([100 * low, 100 * high], [place + shift] * 2, color=ink, linewidth=1.4)
                axis.plot(
                    100 * hits[number] / texts,
                    place + shift,
                    sign,
                    color=ink,
                    markersize=5,
                    label=None if place else kind,
                )
        axis.set_yticks(range(len(names)), [words[name] for name in names])
        axis.set_ylim(len(names) - 0.4, -0.6)
        axis.set_xlim(-2, 102)
        axis.set_xlabel(unit)
        axis.grid(visible=True, axis="x", color="#DFE3E9", linewidth=0.6)
        figure.legend(loc="outside upper right", ncols=2, frameon=False)
        figure.savefig(file, metadata={"Date": None})


def write_tools(docs: Path = DOCS) -> None:
    """Put the table of ``bench/held_out.py`` into its pages: the sums, and a picture.

    Tools after which every payload is right are one row of it.
    """
    with (docs / TABLE).open(encoding="utf-8", newline="") as file:
        counts = {row["tool"]: [int(row[n]) for n in COUNTS] for row in csv.DictReader(file)}
    sums = [sum(column) for column in zip(*counts.values(), strict=True)]
    line = f"| {len(counts)} | {' | '.join(map(str, sums))} |"
    some = {name: (n, found, right) for name, (n, found, right, *_) in counts.items() if right < n}
    order = sorted(some, key=lambda name: (-some[name][2], -some[name][1], name))
    whole = sum(n for name, (n, *_) in counts.items() if name not in some)
    for language, page in PAGES.items():
        text = (docs / page).read_text(encoding="utf-8")
        text = re.sub(r"^\| \d+ \|.*$", line, text, count=1, flags=re.MULTILINE)
        (docs / page).write_text(text, encoding="utf-8", newline="\n")
        others = {"": OTHERS[language].format(n=len(counts) - len(some))}
        words = others | {name: name for name in order}
        draw({**some, "": (whole, whole, whole)}, words, language, docs / PICTURES[language])


if __name__ == "__main__":
    found = shares(Path(sys.argv[1]))
    for place, language in enumerate(FILES):
        draw(
            found, {n: words[place] for n, words in ROWS.items()}, language, DOCS / FILES[language]
        )
    for name, (texts, *hits) in found.items():
        ends = [
            f"{100 * h / texts:.0f} % ({100 * a:.0f}-{100 * b:.0f})"
            for h in hits
            for a, b in [wilson(h, texts)]
        ]
        print(f"{name:26}{texts:4}  {ends[0]:18}{ends[1]}")
