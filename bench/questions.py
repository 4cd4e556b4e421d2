"""What stored questions are worth: how often the right one is found, and what it adds.

``.venv/bin/python bench/questions.py STAGE --source QUESTIONS.txt --cache FOLDER``, a question a
line. The stages:

* ``write``: answers of the built-in model to the first questions, through its chat template, each
  marked with a payload of its own, kept in the cache;
* ``find``: a store of all questions of the source (``--stored`` of them): is the right one among
  the eight that an answer leads to, how long does a look-up take, how large is the file, and how
  long does keeping a question take;
* ``read``: each answer, cut to several lengths, audited with nothing known, with the store, and
  with every tenth word exchanged; marks, payloads, seconds;
* ``fit``: how much likelier the payload of an answer is after its question, and after another one;
* ``foreign``: the same answers under keys that did not write them, with rows that name these keys:
  the mean of e and how many reach the threshold;
* ``table``: what the cache holds.

The source is somebody else's and does not belong to this repository: 49,716 questions of
OpenTriviaQA (github.com/uberspot/OpenTriviaQA, commit dd31530, CC BY-SA 4.0) and, behind them, the
inputs of the T0 training tasks in github.com/yizhongw/self-instruct (commit 0b26cca), which
make a store of 100,000.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.detect.decode.evidence_sums import payload_ratios, sum_evidence
from pura.detect.key_reading import intervals_of
from pura.detect.options import AuditText, Options
from pura.detect.question_readings import BY_NUMBER, FITS, OWN_PAYLOAD, rank_shares
from pura.detect.together import audit_text
from pura.detect.windows import QUESTIONS
from pura.documents import from_text
from pura.embed.generate import generate_batch
from pura.measure.corpora import prompts_of
from pura.model.evidence import read
from pura.model.tokenise import beginning_ids, decode, tokenise
from pura.questions.store import AnsweredQuestion, QuestionStore
from pura.scheme import Payload, PayloadSeries, Profile, SecretKey, contexts_before

SEED = 20_261_129
KEY = SecretKey(bytes(range(32)))
STORE_KEY = SecretKey(bytes(range(1, 33)))
LENGTHS = (30, 60, 100, 200, 400)
TEMPERATURES = (0.7, 1.0)
WORDS = 100  # of an answer, where the aim is stated for so many
TEMPLATE = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
)


def profile_of(model: Any, temperature: float) -> Profile:
    """Return a chat profile; temperature 0.7 comes with top-p 0.95, as services set it."""
    return Profile(
        payload_bits=36,
        code="tbcc",
        vocab_size=model.vocab_size,
        model=model.fingerprint,
        tokenizer=model.tokenizer_fingerprint,
        temperature=temperature,
        top_p=0.95 if temperature < 1 else 1.0,
        chat_template=TEMPLATE,
    )


def questions_of(source: Path | None, count: int) -> list[str]:
    """Return questions, each once; without a source our own tasks, which are few."""
    if source is None:
        return list(prompts_of("tasks")[:count])
    lines = source.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))[:count]


def asked_of(questions: list[str], count: int) -> list[int]:
    """Return which questions are answered: drawn from the first half, the others stand around."""
    rng = np.random.default_rng(SEED)
    pool = rng.permutation(max(count, len(questions) // 2))
    return sorted(int(n) for n in pool[:count])


def payload_of(number: int) -> Payload:
    """Return the payload of the answer to a question."""
    return Payload.from_int(int(np.random.default_rng([SEED, number]).integers(1 << 36)), 36)


def answers_in(cache: Path, temperature: float) -> list[dict[str, Any]]:
    """Return the answers that were written."""
    lines = (cache / f"answers-{temperature}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write(options: argparse.Namespace, model: Any) -> None:
    """Write marked answers, some at a time, for each temperature."""
    questions = questions_of(options.source, options.stored)
    numbers = asked_of(questions, options.texts)
    for temperature in options.temperatures:
        profile = profile_of(model, temperature)
        path = options.cache / f"answers-{temperature}.jsonl"
        first_unwritten = len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0
        for first in range(first_unwritten, len(numbers), options.batch):
            batch = numbers[first : first + options.batch]
            answers = generate_batch(
                model,
                [questions[n] for n in batch],
                [payload_of(n) for n in batch],
                KEY,
                profile,
                tokens=max(options.lengths),
                seed=[SEED + n for n in batch],
            )
            with path.open("a", encoding="utf-8") as file:
                for number, answer in zip(batch, answers, strict=True):
                    row = {"number": number, "ids": answer.ids.tolist(), "text": answer.text}
                    row["entropy"] = round(float(answer.entropy_bits.mean()), 3)
                    file.write(json.dumps(row) + "\n")
            print(f"T {temperature}: {first + len(batch)} of {len(numbers)} answers", flush=True)


def store_of(
    options: argparse.Namespace, model: Any, temperature: float, *, key: SecretKey = KEY
) -> QuestionStore:
    """Return the store of all questions; made where the cache has none."""
    profile = profile_of(model, temperature)
    series = PayloadSeries.of(key, profile)
    path = options.cache / f"store-{temperature}-{options.stored}-{key.fingerprint}.sqlite3"
    if path.exists():
        return QuestionStore(path, STORE_KEY)
    questions = questions_of(options.source, options.stored)
    store = QuestionStore(path, STORE_KEY, create=True, days=366)
    spent, start = 0.0, time.perf_counter()
    for first in range(0, len(questions), 64):
        batch = [
            AnsweredQuestion(
                mark=series.mark(payload_of(first + n)),
                ids=np.array(beginning_ids(model.tokenizer, profile, text), dtype=np.int64),
                texts=(text,),
                recipient=f"customer {(first + n) % 500}",
            )
            for n, text in enumerate(questions[first : first + 64])
        ]
        began = time.process_time()
        store.keep_many(batch)
        spent += time.process_time() - began
    seconds = time.perf_counter() - start
    size = path.stat().st_size / 2**20
    print(
        f"{len(questions)} questions kept: {1000 * spent / len(questions):.2f} ms of processor time"
        f" each, {seconds:.0f} s with tokenising; {size:.0f} MiB",
        flush=True,
    )
    return store


def find(options: argparse.Namespace, model: Any) -> None:
    """Is the right question among those that an answer leads to?"""
    rows = []
    for temperature in options.temperatures:
        profile = profile_of(model, temperature)
        series = [PayloadSeries.of(KEY, profile)]
        with store_of(options, model, temperature) as store:
            for length in (25, 50, WORDS, 1000):
                ranks, seconds = [], []
                for answer in answers_in(options.cache, temperature):
                    if length < 1000 and len(answer["text"].split()) < length:
                        continue
                    text = " ".join(answer["text"].split()[:length])
                    start = time.process_time()
                    matches = store.likely(text, series)
                    seconds.append(time.process_time() - start)
                    distinct = list(dict.fromkeys(one.ids.tobytes() for one in matches))
                    right = next(
                        (
                            distinct.index(one.ids.tobytes()) + 1
                            for one in matches
                            if one.mark.payload == payload_of(answer["number"])
                        ),
                        0,
                    )
                    ranks.append(right)
                if not ranks:
                    continue
                count = len(ranks)
                rows.append(
                    [
                        f"{temperature}",
                        f"{len(store):,}",
                        "all" if length == 1000 else f"{length}",
                        f"{count}",
                        *(f"{sum(0 < r <= most for r in ranks) / count:.2f}" for most in (1, 8)),
                        f"{1000 * statistics.median(seconds):.1f}",
                        f"{1000 * max(seconds):.1f}",
                    ]
                )
    print(f"memory: {_common.peak_memory_bytes() / 2**20:.0f} MiB at most\n")
    head = ["T", "stored", "words", "answers", "first", "among 8", "ms", "ms, most"]
    _common.print_table(head, rows)


def exchanged(text: str, rng: np.random.Generator) -> str:
    """Exchange every tenth word for one of the text's own, so that all of them are words."""
    words = text.split(" ")
    for index in rng.permutation(len(words))[: len(words) // 10]:
        words[index] = words[int(rng.integers(len(words)))]
    return " ".join(words)


def read_answers(options: argparse.Namespace, model: Any) -> None:
    """Audit answers of several lengths, with nothing known and with the store."""
    path = options.cache / f"audits-{options.stored}.jsonl"
    audited = set()
    if path.exists():
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        audited = {(r["T"], r["tokens"], r["edit"], r["number"]) for r in rows}
    for temperature in options.temperatures:
        profile = profile_of(model, temperature)
        with store_of(options, model, temperature) as store, path.open("a") as file:
            for tokens, edit, answer in _cells(options, temperature):
                number = answer["number"]
                if (temperature, tokens, edit, number) in audited:
                    continue
                text = decode(model.tokenizer, answer["ids"][:tokens])
                if edit:
                    text = exchanged(text, np.random.default_rng([SEED, number]))
                row: dict[str, Any] = {"T": temperature, "tokens": tokens, "edit": edit}
                row |= {"number": number}
                for name, questions in (("plain", None), ("stored", store)):
                    start = time.process_time()
                    audit = audit_text(
                        AuditText(document=from_text(text)),
                        model=model,
                        keys=[(KEY, None)],
                        profile=profile,
                        options=Options(questions=questions),
                    )
                    payload = audit.payload if audit.verdict == "mark" else None
                    row[name] = {
                        "log10_e": round(audit.evidence.log10_e, 2),
                        "mark": audit.verdict == "mark",
                        "named": bool(payload and payload.identified),
                        "right": bool(payload and payload.best == payload_of(number).text),
                        "seconds": round(time.process_time() - start, 3),
                    }
                    if audit.questions is not None:
                        row["tried"] = len(audit.questions.tried)
                        row["fits"] = audit.questions.fits
                        row["gain"] = audit.questions.gain
                file.write(json.dumps(row) + "\n")
                file.flush()


def _cells(
    options: argparse.Namespace, temperature: float
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield lengths, edits and answers; edits at one length only."""
    for answer in answers_in(options.cache, temperature):
        for tokens in options.lengths:
            if len(answer["ids"]) >= tokens:
                yield tokens, 0, answer
                if tokens == options.edited:
                    yield tokens, 1, answer


def foreign(options: argparse.Namespace, model: Any) -> None:
    """Read answers under foreign keys, after the right question, which names these keys."""
    e: list[float] = []
    temperature = options.temperatures[0]
    profile = profile_of(model, temperature)
    questions = questions_of(options.source, options.stored)
    keys = [SecretKey(np.random.default_rng([SEED, 7, n]).bytes(32)) for n in range(options.keys)]
    first = (1 - BY_NUMBER) * rank_shares(1)[0]
    for answer in answers_in(options.cache, temperature)[: options.foreign_texts]:
        ids = tokenise(model.tokenizer, answer["text"]).ids[: options.edited]
        plain = list(beginning_ids(model.tokenizer, profile, ""))
        question_ids = list(beginning_ids(model.tokenizer, profile, questions[answer["number"]]))
        readings = [
            read(model, ids, keys=keys, profile=profile, prompt_ids=before)
            for before in (plain, question_ids)
        ]
        for n, key in enumerate(keys):
            intervals = [
                intervals_of(
                    reading,
                    n,
                    key,
                    profile,
                    lambda: None,
                    prompt_known=known,
                    before=contexts_before([ids], [before], profile),
                )
                for reading, before, known in zip(
                    readings, (plain, question_ids), (False, True), strict=True
                )
            ]
            payload_log_e = payload_ratios(intervals[1], payload_of(n).array[None])[0]
            logs = [
                np.log(1 - QUESTIONS) + sum_evidence(intervals[0], one_of_many=True).log_e,
                np.log(QUESTIONS * first * OWN_PAYLOAD) + payload_log_e,
            ]
            e.append(float(np.logaddexp.reduce(logs)) / np.log(10))
    values = np.array(e)
    mean = float(np.mean(10 ** np.minimum(values, 6)))
    reached = [int((values >= level).sum()) for level in (1, 2, 3, 6)]
    print(f"{values.size:,} pairs of a text and a foreign key: mean e {mean:.3f},")
    print(f"10 is reached {reached[0]} times, 100 {reached[1]}, 1,000 {reached[2]},")
    print(f"the threshold {reached[3]}; the largest log10 e is {values.max():.2f}")


def fit(options: argparse.Namespace, model: Any) -> None:
    """How much likelier is an answer's payload after its question, and after another one?"""
    questions = questions_of(options.source, options.stored)
    rows = []
    for temperature in options.temperatures:
        profile = profile_of(model, temperature)
        answers = answers_in(options.cache, temperature)
        for tokens in options.lengths:
            gains: dict[str, list[float]] = {"its own": [], "another": []}
            for answer, next_answer in zip(answers, [*answers[1:], answers[0]], strict=True):
                ids = np.array(answer["ids"][:tokens])
                if ids.size < tokens:
                    continue
                candidates = ["", questions[answer["number"]], questions[next_answer["number"]]]
                logs = []
                for question in candidates:
                    before = list(beginning_ids(model.tokenizer, profile, question))
                    intervals = intervals_of(
                        read(model, ids, keys=[KEY], profile=profile, prompt_ids=before),
                        0,
                        KEY,
                        profile,
                        lambda: None,
                        prompt_known=bool(question),
                        before=contexts_before([ids], [before], profile),
                    )
                    bits = payload_of(answer["number"]).array[None]
                    logs.append(float(payload_ratios(intervals, bits)[0]) / np.log(10))
                gains["its own"].append(logs[1] - logs[0])
                gains["another"].append(logs[2] - logs[0])
            for name, values in gains.items():
                if values:
                    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
                    count = len(values)
                    rows.append(
                        [
                            f"{temperature}",
                            f"{tokens}",
                            name,
                            f"{count}",
                            *(f"{value:.1f}" for value in (low, middle, high)),
                            f"{sum(value >= FITS for value in values)}",
                            f"{sum(value <= 0 for value in values)}",
                        ]
                    )
    head = ["T", "tokens", "question", "texts", "5 %", "median", "95 %", "fits", "does not"]
    _common.print_table(head, rows)


def table(options: argparse.Namespace) -> None:
    """Print what the audits gave."""
    path = options.cache / f"audits-{options.stored}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    out = []
    for cell in sorted({(r["T"], r["edit"], r["tokens"]) for r in rows}):
        cell_rows = [r for r in rows if (r["T"], r["edit"], r["tokens"]) == cell]
        line = [f"{cell[0]}", "every tenth word" if cell[1] else "none", f"{cell[2]}"]
        line.append(f"{len(cell_rows)}")
        for name in ("plain", "stored"):
            outcomes = [r[name] for r in cell_rows]
            line += [
                f"{statistics.median(s['log10_e'] for s in outcomes):.1f}",
                f"{sum(s['mark'] for s in outcomes)}",
                f"{sum(s['named'] and s['right'] for s in outcomes)}",
                f"{sum(s['named'] and not s['right'] for s in outcomes)}",
            ]
        fits = [r.get("fits", "") for r in cell_rows]
        line += [f"{fits.count('yes')}", f"{fits.count('no')}"]
        cost = statistics.median(r["stored"]["seconds"] / r["plain"]["seconds"] for r in cell_rows)
        out.append([*line, f"{cost:.2f}"])
    names = ["log10 e", "found", "right", "wrong"]
    head = ["T", "edit", "tokens", "texts", *names, *(f"{n}, stored" for n in names)]
    _common.print_table([*head, "fits", "does not", "cost"], out)


def main() -> None:
    """Run one stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    stages = ("write", "find", "read", "fit", "foreign", "table", "all")
    parser.add_argument("stage", choices=stages)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=48)
    parser.add_argument("--stored", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="in tokens")
    parser.add_argument("--edited", type=int, default=200, help="length of edited texts")
    parser.add_argument("--temperatures", type=float, nargs="+", default=TEMPERATURES)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--foreign-texts", type=int, default=25)
    options = _common.parse(
        parser,
        texts=2,
        stored=12,
        lengths=[30],
        edited=30,
        temperatures=[1.0],
        keys=2,
        foreign_texts=1,
    )
    options.cache.mkdir(parents=True, exist_ok=True)
    _common.print_facts("Stored questions", SEED)
    model = None if options.stage == "table" else _common.load_builtin()
    if options.stage in ("write", "all"):
        write(options, model)
    if options.stage in ("find", "all"):
        find(options, model)
    if options.stage in ("read", "all"):
        read_answers(options, model)
    if options.stage in ("fit", "all"):
        fit(options, model)
    if options.stage in ("foreign", "all"):
        foreign(options, model)
    if options.stage in ("table", "all"):
        table(options)


if __name__ == "__main__":
    main()
