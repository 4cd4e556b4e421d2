"""What ordinary handling does to the evidence, and what the restored readings bring back.

Marked texts (the study's cell ``tbcc-36``, study.md §1) are handled as mail programs, word
processors and people do, some of them through files of real formats or several times, and audited
without the prompt: as found alone, and with all readings. *Cost* is the median ratio of the
processor time of both::

    python bench/handling.py --cache DIR [--texts N] [--cell CELL] [--only NAME …]

Programs of others are those of ``bench/held_out.py``; ``.tools/bin`` stands on the PATH for them.
What was audited stands in ``DIR/handling.jsonl`` and is not audited again; ``--texts 0`` prints it.
*Steps kept* needs no audit: the share of a text's tokens
that still follow the same two tokens, as found and in the reading that keeps most of them.
"""

from __future__ import annotations

import argparse
import email.message
import email.policy
import html
import io
import json
import random
import re
import statistics
import string
import sys
import textwrap
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "data"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from make_held_out import TOOLS, put_through

import _common
from _study_generate import generate_cells
from pura.detect.options import Options
from pura.detect.restore.variants import variants_of
from pura.detect.together import audit_text
from pura.detect.verdict.policy import Policy
from pura.documents import read_data
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, SEED, Cell
from pura.model.tokenise import decode, tokenise, usual_spelling

SCANNED = {"m": "rn", "e": "c", "h": "b", "l": "1", "o": "0", "i": "l", "t": "f", "a": "o"}
ROWS_OF_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
Handling = Callable[[str, random.Random], str]
_GAP = re.compile(r"(?<=\S) (?=\S)")
_SENTENCE = re.compile(r"(?<=[.!?]) +")


def _wrap(text: str, column: int) -> str:
    return "\n".join(textwrap.fill(line, column) for line in text.strip().split("\n"))


def typographic(text: str, _: random.Random) -> str:
    text = re.sub(r'(^|[\s(])"', r"\1“", text).replace('"', "”")
    text = re.sub(r"(^|[\s(])'", r"\1‘", text).replace("'", "’")
    return text.replace("--", "—").replace(" - ", " – ").replace("...", "…")


def typing_errors(text: str, rng: random.Random) -> str:
    def err(char: str) -> str:
        if not char.isalpha() or rng.random() >= 0.03:
            return char
        other = rng.choice(string.ascii_lowercase)
        return rng.choice((other, "", char + other))

    return "".join(map(err, text))


def letters_in_disorder(text: str, rng: random.Random) -> str:
    def shaken(word: re.Match[str]) -> str:
        return "".join(rng.sample(word[0], len(word[0]))) if rng.random() < 0.1 else word[0]

    return re.sub(r"\b[a-z]{4,}\b", shaken, text)


def contractions(text: str, _: random.Random) -> str:
    for long, short in (
        ("do not", "don't"),
        ("does not", "doesn't"),
        ("did not", "didn't"),
        ("is not", "isn't"),
        ("are not", "aren't"),
        ("was not", "wasn't"),
        ("cannot", "can't"),
        ("it is", "it's"),
        ("It is", "It's"),
        ("that is", "that's"),
        ("I am", "I'm"),
        ("I have", "I've"),
        ("you are", "you're"),
        ("we are", "we're"),
        ("they are", "they're"),
        ("will not", "won't"),
        ("would not", "wouldn't"),
        ("has not", "hasn't"),
        ("have not", "haven't"),
    ):
        text = re.sub(rf"\b{long}\b", short, text)
    return text


def sentences_dropped(text: str, rng: random.Random) -> str:
    parts = re.split(r"(?<=[.!?])(\s+)", text)
    kept = [
        a + b for a, b in zip(parts[::2], [*parts[1::2], ""], strict=False) if rng.random() >= 0.3
    ]
    return "".join(kept) or text


def by_docx(text: str) -> str:
    import docx

    document, sink = docx.Document(), io.BytesIO()
    for line in text.split("\n"):
        document.add_paragraph(line)
    document.save(sink)
    return read_data(sink.getvalue(), name="x.docx").chosen[0].text


def by_mail(text: str, *, flowed: bool = False) -> str:
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "Memo"
    if flowed:  # RFC 3676: a line that goes on ends in a blank
        lines = [line for part in text.split("\n") for line in _flowed(part)]
        text = "\n".join(lines)
    message.set_content(text, cte="quoted-printable")
    if flowed:
        message.set_param("format", "flowed")
    return read_data(message.as_bytes(), name="x.eml").chosen[0].text


def _flowed(line: str) -> list[str]:
    lines = textwrap.wrap(line, 72) or [""]
    return [*(part + " " for part in lines[:-1]), lines[-1]]


def by_page(text: str) -> str:
    body = "\n".join(
        f"<p>{html.escape(textwrap.fill(line, 72))}</p>"
        for line in text.split("\n")
        if line.strip()
    )
    page = f"<!doctype html><html><body>\n{body}\n</body></html>\n"
    return read_data(page.encode(), name="x.html").chosen[0].text


def by_text(text: str) -> str:
    return (
        read_data(text.replace("\n", "\r\n").encode("cp1252", "replace"), name="x.txt")
        .chosen[0]
        .text
    )


def scanned(text: str, rng: random.Random, share: float) -> str:
    """Exchange letters as scanners do."""
    return "".join(SCANNED.get(c, c) if rng.random() < share else c for c in text)


def slipped(text: str, rng: random.Random, share: float) -> str:
    """Put the key beside a letter into a share of the words of four letters and more."""

    def slip(match: re.Match[str]) -> str:
        word = match[0]
        if rng.random() >= share:
            return word
        place = rng.randrange(1, len(word))
        row = next(row for row in ROWS_OF_KEYS if word[place] in row)
        at = row.index(word[place])
        return (
            word[:place]
            + rng.choice(row[max(0, at - 1) : at] + row[at + 1 : at + 2])
            + word[place + 1 :]
        )

    return re.sub(r"\b[a-z]{4,}\b", slip, text)


def by(tool: str) -> Handling:
    """Return what a program of others does."""
    return lambda text, _: put_through(TOOLS[tool]["command"], text)


def _blanks(text: str, rng: random.Random, share: float, put: str) -> str:
    return _GAP.sub(lambda _: put if rng.random() < share else " ", text)


HANDLINGS: dict[str, Handling] = {
    "as generated": lambda t, _: t,
    "typographic quotes and dashes": typographic,
    "white space collapsed": lambda t, _: " ".join(t.split()),
    "wrapped at 72": lambda t, _: _wrap(t, 72),
    "wrapped at 40": lambda t, _: _wrap(t, 40),
    "wrapped at 76, then at 68": lambda t, _: _wrap(_wrap(t, 76), 68),
    "wrapped at 72, quoted with >": lambda t, _: "\n".join(
        "> " + line for line in _wrap(t, 72).split("\n")
    ),
    "wrapped at 72, paragraphs run together": lambda t, _: textwrap.fill(t, 72),
    "two blanks after sentences": lambda t, _: _SENTENCE.sub("  ", t),
    "justified by blanks (30 % of the gaps)": lambda t, d: _blanks(t, d, 0.3, "  "),
    "tabs for 10 % of the gaps": lambda t, d: _blanks(t, d, 0.1, "\t"),
    "non-breaking blanks, 20 % of the gaps": lambda t, d: _blanks(t, d, 0.2, "\u00a0"),
    "two blanks at every line end": lambda t, _: "\n".join(x + "  " for x in t.split("\n")),
    "all in small letters": lambda t, _: t.lower(),
    "all in capitals": lambda t, _: t.upper(),
    "small letters, wrapped at 72": lambda t, _: _wrap(t.lower(), 72),
    "typing errors, 3 % of the letters": typing_errors,
    "letters in disorder, 10 % of the long words": letters_in_disorder,
    "without punctuation": lambda t, _: re.sub(r"[^\w\s]", "", t),
    "words and signs set apart": lambda t, _: re.sub(r" *([^\w\s]) *", r" \1 ", t),
    "contractions": contractions,
    "commas dropped": lambda t, _: t.replace(",", ""),
    "30 % of the sentences dropped": sentences_dropped,
    "text file, Windows, wrapped at 72": lambda t, _: by_text(_wrap(t, 72)),
    "Word, a paragraph a wrapped line": lambda t, _: by_docx(_wrap(t, 72)),
    "e-mail, quoted-printable, wrapped at 72": lambda t, _: by_mail(_wrap(t, 72)),
    "e-mail, format=flowed": lambda t, _: by_mail(t, flowed=True),
    "web page, wrapped in its source": lambda t, _: by_page(t),
    "pandoc, groff -man -Tascii": by("groff, ASCII"),
    "fmt, pr with heads of pages": by("pr"),
    "groff to PDF, pdftotext": by("pdftotext"),
    "the same, OCR errors in 1 % of the letters": lambda t, d: scanned(
        by("pdftotext")(t, d), d, 0.01
    ),
    "&nbsp; for each space": lambda t, _: t.replace(" ", "&nbsp;"),
    "the same, small letters": lambda t, _: t.lower().replace(" ", "&nbsp;"),
    "no punctuation": lambda t, _: re.sub(r"[^\w\s]", "", t),
    "OCR errors in 3 % of the letters": lambda t, d: scanned(t, d, 0.03),
    "a keyboard slip in 10 % of the long words": lambda t, d: slipped(t, d, 0.1),
    "a keyboard slip in 20 % of the long words": lambda t, d: slipped(t, d, 0.2),
}


def main() -> None:
    """Audit what is missing and print one row a kind of handling."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=32, help="of each handling")
    parser.add_argument("--cell", choices=CELLS, default="tbcc-36")
    parser.add_argument("--only", nargs="*", default=list(HANDLINGS))
    arguments = parser.parse_args()
    _common.print_facts("Handling", SEED)
    model, cache = _common.load_builtin(), Cache(arguments.cache)
    import torch

    torch.set_num_threads(1)
    cell = CELLS[arguments.cell]
    generate_cells(model, cache, [cell.name])
    log = arguments.cache / f"handling.{cell.name}.jsonl"
    rows = [json.loads(x) for x in log.read_text().splitlines()] if log.exists() else []
    known = {(row["handling"], row["text"]) for row in rows}
    written = cache.get(f"texts.{cell.name}")["ids"]
    texts = [decode(model.tokenizer, ids.tolist()) for ids in written]
    texts = texts[: arguments.texts or None]
    kept = {name: _kept(model, texts, name) for name in arguments.only}
    with log.open("a", encoding="utf-8") as sink:
        for number, text in enumerate(texts[: arguments.texts]):
            for name in arguments.only:
                if (name, number) in known:
                    continue
                rows.append(_audit(model, cell, handled(text, name, number), name, number))
                sink.write(json.dumps(rows[-1]) + "\n")
                sink.flush()
    _print(rows, kept)


def handled(text: str, name: str, number: int | str) -> str:
    return HANDLINGS[name](text, random.Random(f"{SEED}/{name}/{number}"))  # noqa: S311


def _kept(model: Any, texts: list[str], name: str) -> tuple[float, float]:
    """Return the median share of steps whose token and context are kept: found, and restored."""

    def spelt(words: Iterable[str]) -> dict[str, str]:
        return usual_spelling(model.tokenizer, words)

    def steps(text: str) -> list[tuple[int, ...]]:
        ids = tokenise(model.tokenizer, text).ids.tolist()
        return list(zip(ids, ids[1:], ids[2:], strict=False))

    found, restored = [], []
    for number, text in enumerate(texts):
        whole = steps(text)
        variants = variants_of(handled(text, name, number), spelt=spelt)
        there = [set(steps(variant.text)) for variant in variants]
        shares = [sum(step in known for step in whole) / len(whole) for known in there]
        found.append(shares[0])
        restored.append(max(shares))
    return statistics.median(found), statistics.median(restored)


def _audit(model: Any, cell: Cell, text: str, name: str, number: int) -> dict[str, Any]:
    audits, seconds = [], []
    for restore in (False, True):
        start = time.process_time()
        found = audit_text(
            text,
            model=model,
            keys=[(cell.key(number), None)],
            profile=cell.profile(model.vocab_size),
            options=Options(policy=replace(Policy(), draws=0), restore=restore),
        )
        seconds.append(time.process_time() - start)
        audits.append(found)
    alone, audit = audits
    named = {mark.payload.bits for mark in audit.finding.marks} - {None}
    return {
        "handling": name,
        "text": number,
        "found": alone.evidence.log10_e,
        "all": audit.evidence.log10_e,
        "right": audit.decoded.bits == cell.payload(number).text,
        "verdict": audit.verdict,
        "named": sorted(named),
        "wrong": sorted(named - {cell.payload(number).text}),
        "cost": seconds[1] / seconds[0],
        "readings": [v.name for v in audit.variants],
        "carried": next(v.name for v in audit.variants if v.shown),
        "cautions": [s.key for s in audit.cautions if s.key.startswith("caution.handled")],
    }


def _print(rows: list[dict[str, Any]], kept: dict[str, tuple[float, float]]) -> None:
    table = []
    for name, (before, after) in kept.items():
        mine = [row for row in rows if row["handling"] == name]
        if not mine:
            continue
        found, all_ = [r["found"] for r in mine], [r["all"] for r in mine]
        table.append(
            [
                name,
                f"{100 * before:.0f} → {100 * after:.0f}",
                str(len(mine)),
                f"{statistics.median(found):.1f} → {statistics.median(all_):.1f}",
                f"{min(found):.1f} → {min(all_):.1f}",
                f"{sum(x >= 6 for x in found)} → {sum(x >= 6 for x in all_)}",
                str(sum(r["right"] and r["verdict"] == "mark" for r in mine)),
                str(sum(bool(r["named"]) and not r["wrong"] for r in mine)),
                str(sum(bool(r["wrong"]) for r in mine)),
                f"{statistics.median(r['cost'] for r in mine):.2f}",
                f"{statistics.mean(len(r['readings']) for r in mine):.1f}",
                str(sum(r["verdict"] == "no-mark" for r in mine)),
                str(sum(bool(r["cautions"]) for r in mine)),
            ]
        )
    _common.print_table(
        [
            "handling",
            "steps kept %",
            "texts",
            "log10 e, median",
            "lowest",
            "e ≥ 10^6",
            "payload read",
            "payload named",
            "named wrong",
            "cost",
            "readings, mean",
            "“no mark”",
            "cautioned",
        ],
        table,
    )


if __name__ == "__main__":
    main()
