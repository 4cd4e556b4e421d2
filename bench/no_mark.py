"""Whether a marked text that was handled is called unmarked: counts of "no mark found", by kind.

Marked texts are written under the conditions of every power table that ships and with settings that
differ from their profile's, cut to 150, 200, 300 and 400 tokens, handled as people and programs do,
and audited with the right key::

    python bench/no_mark.py --cache DIR [--texts N] [--kinds N] [--only NAME …] [--under NAME …]

With ``--kinds`` each text is handled in so many kinds only, the next text in the next ones: many
texts at the price of few. What was audited under a build stands in ``DIR/no-mark.BUILD.jsonl`` and
is not audited again; ``--texts 0`` prints it. Human prose under the key of the study's table shows
what the caution costs: there "no mark found" is right.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import quopri
import random
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from false_positives import DATA
from handling import HANDLINGS, Handling
from power_tables import FRENCH, REQUESTS
from pura.base.errors import PuraError
from pura.base.paths import build_hash
from pura.detect.options import AuditText, Options
from pura.detect.together import audit_documents
from pura.detect.verdict.policy import Policy
from pura.documents import from_text
from pura.embed.generate import generate_batch
from pura.measure.attacks.rewrite import model_tools
from pura.measure.attacks.table import attack_text
from pura.measure.cache import Cache
from pura.measure.corpora import STUDY
from pura.model.tokenise import decode
from pura.scheme import Payload, Profile, SecretKey
from pura_lab.proxy import quantise_weights

SEED = 20_261_123
LENGTHS = (150, 200, 300, 400)
TOGETHER = 8  # audits that share a pass of the model
HUMAN = "human prose"
_WORD = re.compile(r"[^\W\d_]+")
_OCR = (("rn", "m"), ("m", "rn"), ("l", "1"), ("I", "l"), ("O", "0"), ("cl", "d"), ("e", "c"))
_ACCENTS = str.maketrans("aeiou", "áéíóú")
_LEET = str.maketrans("aeio", "4310")


@dataclass(frozen=True, kw_only=True)
class Written:
    """How the texts of one table were written.

    Attributes:
        table: The table that speaks of them.
        prompts: What they go on from, or answer.
        chat: They are answers.
        sampling: Temperature and top-p of the generator.
        top_k: Of the generator; the profile never says it.
        weight_bits: The generator's weights are rounded to so many bits; 0 leaves them.
        profile: Temperature and top-p that the profile says; the generator's where absent.
    """

    table: str
    prompts: tuple[str, ...]
    sampling: tuple[float, float] = (1.0, 1.0)
    top_k: int = 0
    weight_bits: int = 0
    chat: bool = False
    profile: tuple[float, float] | None = None


WRITTEN = (
    Written(table="study", prompts=STUDY),
    Written(table="english-plain-t1-p95", prompts=STUDY, sampling=(1.0, 0.95)),
    Written(table="english-chat-t1-p95", prompts=REQUESTS, sampling=(1.0, 0.95), chat=True),
    Written(table="english-chat-t07-p95", prompts=REQUESTS, sampling=(0.7, 0.95), chat=True),
    Written(table="french-plain-t1-p95", prompts=FRENCH, sampling=(1.0, 0.95)),
    Written(table="study, written at 0.7", prompts=STUDY, sampling=(0.7, 1.0), profile=(1.0, 1.0)),
    Written(table="study, written with top-k 50", prompts=STUDY, top_k=50),
    Written(table="study, written with weights of 8 bits", prompts=STUDY, weight_bits=8),
)


def _words(text: str, rng: random.Random, share: float, put: Callable[[str], str]) -> str:
    return _WORD.sub(lambda m: put(m[0]) if rng.random() < share else m[0], text)


def _exchanged(share: float) -> Handling:
    def run(text: str, rng: random.Random) -> str:
        pool = sorted(set(_WORD.findall(" ".join(STUDY))))
        return _words(text, rng, share, lambda _: rng.choice(pool))

    return run


def _swapped(share: float) -> Handling:
    return lambda t, d: _words(t, d, share, lambda w: w[0].swapcase() + w[1:])


def _behind_blanks(sign: str, share: float = 1.0) -> Handling:
    return lambda t, d: re.sub(r" ", lambda _: f" {sign}" if d.random() < share else " ", t)


def _ocr(text: str, rng: random.Random) -> str:
    for found, put in _OCR:
        text = re.sub(re.escape(found), lambda m, p=put: p if rng.random() < 0.06 else m[0], text)
    return text


def _hyphenated(text: str, _: random.Random) -> str:
    lines = []
    for part in text.strip().split("\n"):
        line = ""
        for word in part.split():
            if len(line) + len(word) < 60 or len(word) < 6 or "-" in word:
                if len(line) + len(word) > 66:
                    lines.append(line)
                    line = ""
                line = f"{line} {word}".strip()
            else:
                lines.append(f"{line} {word[: len(word) // 2]}-")
                line = word[len(word) // 2 :]
        lines.append(line)
    return "\n".join(lines)


def _tagged(text: str, rng: random.Random) -> str:
    parts = (f"<p>{html.escape(part)}</p>" for part in text.split("\n") if part.strip())
    return _words("\n".join(parts), rng, 0.03, lambda w: f"<b>{w}</b>" if len(w) > 3 else w)


def _split(text: str, rng: random.Random) -> str:
    def halves(word: str) -> str:
        at = rng.randrange(1, len(word)) if len(word) > 3 else 0
        return f"{word[:at]} {word[at:]}" if at else word

    return _words(text, rng, 0.15, halves)


def _columns(text: str, count: int, gap: str) -> str:
    words = text.split()
    return "\n".join(gap.join(words[n : n + count]) for n in range(0, len(words), count))


def _subtitles(text: str, _: random.Random) -> str:
    return "\n\n".join(
        f"{n}\n00:00:{2 * n % 60:02},000 --> 00:00:{2 * n % 60 + 1:02},500\n{line}"
        for n, line in enumerate(textwrap.wrap(text, 40), start=1)
    )


def _sentences(text: str) -> list[str]:
    return [s for s in re.split(r"(?<=[.!?])\s+", text) if s]


MORE: dict[str, Handling] = {
    "title case": lambda t, _: _WORD.sub(lambda m: m[0].capitalize(), t),
    "first letters of 30 % of the words swapped": _swapped(0.3),
    "first letters of 15 % of the words swapped": _swapped(0.15),
    "a tenth of the words in capitals": lambda t, d: _words(t, d, 0.1, str.upper),
    "** around a fifth of the words": lambda t, d: _words(t, d, 0.2, lambda w: f"**{w}**"),
    "_ around a tenth of the words": lambda t, d: _words(t, d, 0.1, lambda w: f"_{w}_"),
    "a fifth of the words exchanged": _exchanged(0.2),
    "30 % of the words exchanged": _exchanged(0.3),
    "half of the words exchanged": _exchanged(0.5),
    "a tenth of the words left out": lambda t, d: _words(t, d, 0.1, lambda _: ""),
    "noise of a scanner": _ocr,
    "a tenth of the gaps closed": lambda t, d: re.sub(
        " ", lambda _: "" if d.random() < 0.1 else " ", t
    ),
    "15 % of the words split": _split,
    "hyphenated at line ends": _hyphenated,
    "HTML left in": _tagged,
    "HTML entities left in": lambda t, _: t.replace("'", "&#39;").replace(" ", "&nbsp;"),
    "list marks before sentences": lambda t, _: "\n".join(f"- {s}" for s in _sentences(t)),
    "sentences numbered": lambda t, _: "\n".join(
        f"{n}. {s}" for n, s in enumerate(_sentences(t), start=1)
    ),
    "a heading before every paragraph": lambda t, _: re.sub(r"(?m)^(?=\S)", "## Part\n\n", t),
    "lines numbered": lambda t, _: "\n".join(
        f"{n:>3}  {line}" for n, line in enumerate(textwrap.wrap(t, 72), start=1)
    ),
    "accents on a tenth of the words": lambda t, d: _words(
        t, d, 0.1, lambda w: w.translate(_ACCENTS)
    ),
    "figures for letters in 15 % of the words": lambda t, d: _words(
        t, d, 0.15, lambda w: w.translate(_LEET)
    ),
    "U+2063 behind every blank": _behind_blanks("\u2063"),
    "U+FE0F behind every blank": _behind_blanks("\ufe0f"),
    "U+0001 behind every blank": _behind_blanks("\x01"),
    "U+3164 behind every blank": _behind_blanks("\u3164"),
    "U+A66E behind every blank": _behind_blanks("\ua66e"),
    "a face behind a third of the blanks": _behind_blanks("\U0001f642", 0.33),
    "an asterisk behind every blank": _behind_blanks("*"),
    "an asterisk behind a fifth of the blanks": _behind_blanks("*", 0.2),
    "the letter x behind every blank": _behind_blanks("x"),
    "a comma behind every blank": _behind_blanks(","),
    "the figure 1 behind every blank": _behind_blanks("1"),
    "a tab for every blank": lambda t, _: t.replace(" ", "\t"),
    "a tab before each line and for every blank": lambda t, _: "\n".join(
        "\t" + line.replace(" ", "\t") for line in textwrap.wrap(t, 72)
    ),
    "three words a line": lambda t, _: _columns(t, 3, " "),
    "a word a cell, five cells a row": lambda t, _: _columns(t, 5, "\t"),
    "a sentence a cell of a table": lambda t, _: "".join(f"| {s} |\n" for s in _sentences(t)),
    "a string of JSON": lambda t, _: json.dumps(t),
    "quoted-printable left in": lambda t, _: quopri.encodestring(
        t.replace("'", "’").encode()
    ).decode(),
    "subtitles": _subtitles,
    "letters spaced in a tenth of the words": lambda t, d: _words(t, d, 0.1, " ".join),
}
ATTACKED = {
    "slips of the keyboard, 10 % of the words": "typos:0.1",
    "slips of the keyboard, 25 % of the words": "typos:0.25",
    "punctuation left out": "punctuation:1",
    "British and American spelling exchanged": "spelling",
    "letters of no width, 10 %": "zero-width",
    "look-alikes of 10 % of the letters": "homoglyphs",
    "a tenth of the tokens exchanged": "substitute:0.1",
    "a fifth of the tokens exchanged": "substitute:0.2",
    "a fifth of the tokens plausibly exchanged": "substitute-plausible:0.2",
    "sentences in another order": "sentence-shuffle",
}
LEFT_OUT = {
    "wrapped at 76, then at 68",
    "two blanks at every line end",
    "small letters, wrapped at 72",
}
KINDS = (
    *(name for name in HANDLINGS if name not in LEFT_OUT),
    *MORE,
    *ATTACKED,
)


def handled(text: str, kind: str, number: int, tools: Any) -> str:
    """Return a text as a kind of handling leaves it."""
    seed = f"{SEED}/{kind}/{number}"
    if kind in ATTACKED:
        name, _, strength = ATTACKED[kind].partition(":")
        digest = hashlib.sha256(seed.encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest, "little"))
        given = {"rate": float(strength)} if strength else {}
        return attack_text(name, text, rng, tools, **given)[0]
    return {**HANDLINGS, **MORE}[kind](text, random.Random(seed))  # noqa: S311


def key_of(table: str) -> SecretKey:
    """Return the key of a table's texts; it guards nothing."""
    return SecretKey(hashlib.sha256(f"{SEED}/{table}".encode()).digest())


def written(model: Any, cache: Cache, how: Written, count: int) -> list[Any]:
    """Return token ids of marked texts, each as long as its turn says."""
    name = f"no-mark.{how.table.replace(', ', '-').replace(' ', '-')}.{count}"
    if name not in cache:
        temperature, top_p = how.sampling
        rng = np.random.default_rng([SEED, count])
        step = max(1, len(how.prompts) // count)
        generator = quantise_weights(model, how.weight_bits) if how.weight_bits else model
        made = generate_batch(
            generator,
            [how.prompts[(i * step) % len(how.prompts)] for i in range(count)],
            [Payload.from_bits(rng.integers(0, 2, 36)) for _ in range(count)],
            key_of(how.table),
            Profile.new(model).with_(temperature=temperature, top_p=top_p, top_k=how.top_k),
            tokens=max(LENGTHS),
            seed=[int(rng.integers(1 << 62)) for _ in range(count)],
            chat=how.chat,
            ignore_eos=not how.chat,
            batch_size=count,
        )
        cache.put(name, {"ids": [one.ids for one in made]})
    ids = cache.get(name)["ids"]
    return [row[: LENGTHS[i % len(LENGTHS)]] for i, row in enumerate(ids)]


def human(count: int) -> list[str]:
    """Return pieces of human prose, each about as long as its turn says."""
    words = (DATA / "human.txt").read_text(encoding="utf-8").replace("\n%\n", "\n\n").split(" ")
    step = len(words) // count
    return [
        " ".join(words[i * step : i * step + int(LENGTHS[i % len(LENGTHS)] * 0.75)]).strip()
        for i in range(count)
    ]


def main() -> None:
    """Audit what is missing and print how often each kind is called unmarked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=8, help="of each table")
    parser.add_argument("--kinds", type=int, default=len(KINDS), help="in which each is handled")
    parser.add_argument("--only", nargs="*", default=list(KINDS))
    parser.add_argument("--under", nargs="*", default=[how.table for how in WRITTEN])
    arguments = parser.parse_args()
    _common.print_facts("Handled texts that are called unmarked", SEED)
    model, cache = _common.load_builtin(), Cache(arguments.cache)
    log = arguments.cache / f"no-mark.{build_hash()[:12]}.jsonl"
    rows = [json.loads(x) for x in log.read_text().splitlines()] if log.exists() else []
    known = {(row["kind"], row["table"], row["text"]) for row in rows}
    tools = model_tools(model)
    tables = [how for how in WRITTEN if how.table in arguments.under]
    count = arguments.texts
    ids = {how.table: written(model, cache, how, count) for how in tables if count}
    prose = human(24)
    with log.open("a", encoding="utf-8") as sink:
        for number in range(count):
            for how in tables:
                turn = number + WRITTEN.index(how)
                text = decode(model.tokenizer, ids[how.table][number])
                todo = [
                    (kind, number, handled(text, kind, number, tools))
                    for kind in _in_turn(arguments.only, turn, arguments.kinds)
                    if (kind, how.table, number) not in known
                ]
                todo += [
                    (HUMAN, n, prose[n])
                    for n in range(3 * number, min(3 * number + 3, len(prose)))
                    if how.table == "study" and (HUMAN, how.table, n) not in known
                ]
                for row in _audit(model, how, todo):
                    rows.append(row)
                    sink.write(json.dumps(row) + "\n")
                    sink.flush()
    _print(rows)


def _in_turn(kinds: Sequence[str], turn: int, count: int) -> list[str]:
    """Return the kinds of a turn; over the turns all come equally often."""
    return [kinds[(turn * count + i) % len(kinds)] for i in range(min(count, len(kinds)))]


def _audit(model: Any, how: Written, todo: list[tuple[str, int, str]]) -> Iterable[dict[str, Any]]:
    temperature, top_p = how.profile or how.sampling
    profile = Profile.new(model).with_(temperature=temperature, top_p=top_p)
    options = Options(policy=replace(Policy(), draws=0))
    for first in range(0, len(todo), TOGETHER):
        part = todo[first : first + TOGETHER]
        texts = [AuditText(document=from_text(text, name="x")) for _, _, text in part]
        found = audit_documents(
            texts,
            model=model,
            keys=[(key_of(how.table), None)],
            profile=profile,
            options=options,
        )
        for (kind, number, _), audit in zip(part, found, strict=True):
            if isinstance(audit, PuraError):
                raise audit
            yield {
                "kind": kind,
                "table": how.table,
                "text": number,
                "tokens": int(audit.tokens.ids.size),
                "log10_e": audit.evidence.log10_e,
                "verdict": audit.verdict,
                "readings": [v.name for v in audit.variants],
                "cautions": [
                    s.key.removeprefix("caution.")
                    for s in audit.cautions
                    if s.key.startswith(("caution.handled", "caution.hidden"))
                ],
            }


def _print(rows: list[dict[str, Any]]) -> None:
    table = []
    for kind in (*KINDS, HUMAN):
        mine = [row for row in rows if row["kind"] == kind]
        if not mine:
            continue
        verdicts = Counter(row["verdict"] for row in mine)
        by_table = Counter(row["table"] for row in mine if row["verdict"] == "no-mark")
        table.append(
            [
                kind,
                str(len(mine)),
                *(str(verdicts[v]) for v in ("mark", "indication", "insufficient", "no-mark")),
                ", ".join(f"{name} {n}" for name, n in sorted(by_table.items())),
            ]
        )
    _common.print_table(
        ["kind", "texts", "mark", "indication", "insufficient", "“no mark”", "under"], table
    )


if __name__ == "__main__":
    main()
