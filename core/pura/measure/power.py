"""Measuring power: marked texts are written, read and counted.

Every finished piece of work is stored in a cache, so an interrupted measurement resumes with the
next piece. The texts are read as text and tokenised again, like any text under audit. Longer texts
are assembled from readings (:mod:`pura.measure.evaluate`). A passage is surrounded by the other
marked texts, which carry no mark under the key of this text.
"""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.errors import PolicyError
from pura.base.json_text import sha256
from pura.base.progress import Checkpoint, Progress, Stage, counted
from pura.detect.decode.likelihood import LikelihoodModel, default_model
from pura.detect.fitness import check_fitness
from pura.detect.record_facts import versions
from pura.detect.verdict.expect import TOLD, kind_of
from pura.detect.verdict.power import TABLE_SCHEMA
from pura.measure.attacks.rewrite import model_tools
from pura.measure.attacks.table import attack_text
from pura.measure.cache import Cache
from pura.measure.corpora import sentences_of
from pura.measure.evaluate import (
    PLACES,
    READ_WHOLE,
    PlacedText,
    TextReading,
    decide,
    finding,
    joined,
    spliced,
)
from pura.measure.learn import join, known_steps, learn_table, rounded
from pura.measure.power_plan import THRESHOLDS, Edit, PowerPlan, prompts_digest
from pura.scheme import F64, I64, Profile, SecretKey, schedule

if TYPE_CHECKING:
    from pura.embed.generate import Generated
    from pura.model.load import LanguageModel
    from pura.scheme import Profile

_log = logging.getLogger(__name__)


BATCH: Final = 16
"""Texts that are written and stored together."""
LEAD: Final = 300
"""Tokens before a passage that are read as its context."""
_COLUMNS: Final = tuple(f.name for f in fields(TextReading))
_TRIAL_TOKENS: Final = (4, 16)  # lengths of the trial texts of a time estimate


@dataclass(frozen=True, kw_only=True)
class WritingModel:
    """The model that wrote the texts, as it is named in the table.

    Attributes:
        name: Name of the model.
        fingerprint: Fingerprint of its weights.
        template: SHA-256 of its chat template; empty if that was not used.
        digest: Identifier of the measurement (:meth:`PowerPlan.digest`).
    """

    name: str
    fingerprint: str
    template: str
    digest: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TextEvidence:
    """The evidence in one marked text.

    Attributes:
        kind: Kind of text (:func:`pura.detect.verdict.expect.kind_of`).
        whole: float64 [C], log10 of the evidence of the text cut to each class of
            :attr:`PowerPlan.classes`; NaN if it has fewer usable positions.
        edited: float64 [E, C], the same after each edit.
        inside: float64 [D, 3], for each of :attr:`PowerPlan.cases` the evidence and the usable
            positions of the passage and of the longer text; NaN if the text is too short.
    """

    kind: str
    whole: F64
    edited: F64
    inside: F64


def write_texts(
    source: LanguageModel, plan: PowerPlan, cache: Cache, progress: Progress, checkpoint: Checkpoint
) -> WritingModel:
    """Write the texts that are not in the cache yet.

    Raises:
        PolicyError: The profile names another model than the writing one.
        PuraError: Profile and model do not fit, or the texts are too long for the model.
    """
    profile = plan.profile
    if profile.model not in (None, source.fingerprint):
        raise PolicyError("power.generator", model=profile.model or "", name=source.name)
    digest = plan.digest(source)
    cell = plan.cell(digest)
    count = plan.texts + plan.learn
    for first in range(0, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        if _texts_at(first) in cache:
            continue
        report = _in_all(progress, first * plan.tokens, len(numbers), count * plan.tokens)
        generated = _generated(
            source,
            plan,
            numbers,
            tokens=plan.tokens,
            seed=[int(cell.generator("dice", n, plan.seed).integers(1 << 62)) for n in numbers],
            # A text ends where the model ends it: text forced out of it afterwards would be
            # unlike the texts of the organisation.
            ignore_eos=False,
            progress=report,
            checkpoint=checkpoint,
        )
        texts = [
            np.frombuffer(text.text.encode("utf-8", "replace"), np.uint8) for text in generated
        ]
        cache.put(
            _texts_at(first),
            {
                "text": texts,
                "ids": [text.ids for text in generated],
                "entropy_bits": [text.entropy_bits for text in generated],
            },
        )
    template = str(getattr(source.tokenizer, "chat_template", "")) if plan.chat else ""
    return WritingModel(
        name=source.name,
        fingerprint=source.fingerprint,
        template=sha256(template.encode()) if template else "",
        digest=digest,
    )


def texts_of(plan: PowerPlan, cache: Cache) -> list[str]:
    """Return the written texts, those for learning last."""
    return [row.tobytes().decode("utf-8") for row in _written_column(plan, cache, "text")]


def _written_column(plan: PowerPlan, cache: Cache, name: str) -> list[Any]:
    starts = range(0, plan.texts + plan.learn, BATCH)
    return [row for first in starts for row in cache.get(_texts_at(first))[name]]


def read_texts(
    reader: LanguageModel,
    plan: PowerPlan,
    source: WritingModel,
    cache: Cache,
    progress: Progress,
    checkpoint: Checkpoint,
) -> tuple[list[TextEvidence], LikelihoodModel]:
    """Read and weigh the texts that are not in the cache yet.

    Returns:
        The evidence of every text, and the likelihood table used.

    Raises:
        PuraError: The reading model does not fit the profile.
        PolicyError: The texts for learning contain no step with bits.
    """
    check_fitness(reader, plan.profile, [])
    work = _Reading(reader, plan, source, cache, checkpoint)
    measured, learning_numbers = range(plan.texts), range(plan.texts, plan.texts + plan.learn)
    steps: list[tuple[str, range, Callable[[int], object]]] = [
        ("reading", range(plan.texts + plan.learn), work.read)
    ]
    if plan.cases:
        steps.append(("reading-inside", measured, work.read_inside))
    steps.append(("counting", measured, work.weigh))
    for name, numbers, step in steps:
        report = counted(progress, name)
        if name == "counting" and learning_numbers:
            work.likelihood = work.learnt(learning_numbers)
        for number in numbers:
            report(number, len(numbers))
            checkpoint()
            step(number)
        report(len(numbers), len(numbers))
    return [work.evidence(number) for number in measured], work.likelihood


class _Reading:
    """Reads and weighs one text after the other, and stores the results in the cache."""

    def __init__(
        self,
        reader: LanguageModel,
        plan: PowerPlan,
        source: WritingModel,
        cache: Cache,
        checkpoint: Checkpoint,
    ) -> None:
        self._reader, self._plan, self._cache = reader, plan, cache
        self._checkpoint = checkpoint
        self._cell = plan.cell(source.digest)
        self._texts = texts_of(plan, cache)
        self._source = source
        self.likelihood = default_model()
        # Results of different reading models must not be mixed.
        self._mark = f"{reader.fingerprint[:8]}.{reader.device.dtype}"

    @property
    def _weighed(self) -> str:
        """Part of the cache names that separates results of different likelihood tables."""
        return f"{self._mark}.{self.likelihood.fingerprint[:8]}"

    def learnt(self, numbers: Sequence[int]) -> LikelihoodModel:
        """Return the likelihood model with one table replaced by a learnt one.

        Only texts with unchanged tokens count: after another tokenisation the anchors are
        unknown.

        Raises:
            PolicyError: None of the texts has a step that carries bits.
        """
        ids = _written_column(self._plan, self._cache, "ids")
        entropies = _written_column(self._plan, self._cache, "entropy_bits")
        parts = [
            known_steps(
                reading.ids,
                entropies[number],
                self._key(number),
                self._cell.payload(number, self._plan.seed),
                self._plan.profile,
                entropy_bits=reading.entropy_bits,
                lo=reading.lo,
                hi=reading.hi,
            )
            for number in numbers
            for reading in [self._plain(number)]
            if np.array_equal(reading.ids, ids[number])
        ]
        if not any((part.arity > 0).any() for part in parts):
            raise PolicyError("power.too-short")
        base = default_model()
        same = self._reader.fingerprint == self._source.fingerprint
        name = f"{'same-model' if same else 'proxy'}, prompt unknown"
        thresholds = self._plan.profile.entropy_thresholds_bits
        learnt_table = rounded(learn_table(name, join(parts), base, thresholds))
        return replace(
            base,
            version=f"{base.version}, own",
            provenance=f"{base.provenance} In its place here, learnt of {len(parts)} texts of "
            f"{self._source.name} as read by {self._reader.name}: {name}.",
            tables=tuple(learnt_table if table.name == name else table for table in base.tables),
        )

    def read(self, number: int) -> None:
        """Read a text, and the text after each edit."""
        name = f"reading.{self._mark}.{number}"
        if name in self._cache:
            return
        edits = self._plan.edits if number < self._plan.texts else ()
        texts = [self._texts[number], *(self._edited(e, number) for e in edits)]
        rows = [self._seen(self._ids(text), number) for text in texts]
        self._cache.put(name, _columns(rows))

    def read_inside(self, number: int) -> None:
        """Read a text after the beginning of its surrounding text."""
        name = f"behind.{self._mark}.{number}"
        if name in self._cache:
            return
        lead = self._around(number).ids[:LEAD]
        ids = self._plain(number).ids
        self._cache.put(name, _columns([self._seen(np.concatenate([lead, ids]), number)]))

    def weigh(self, number: int) -> None:
        """Weigh all readings of a text."""
        name = f"evidence.{self._weighed}.{number}"
        if name in self._cache:
            return
        plan, key = self._plan, self._key(number)
        rows = [
            evidence_at(reading, key, plan.profile, plan.classes, self._checkpoint, self.likelihood)
            for reading in self._rows(f"reading.{self._mark}.{number}")
        ]
        inside = [self._inside(number, *case) for case in plan.cases]
        self._cache.put(
            name,
            {
                "whole": [rows[0]],
                "edited": [np.concatenate([np.zeros(0), *rows[1:]])],
                "inside": [np.concatenate([np.zeros(0), *inside])],
            },
        )

    def evidence(self, number: int) -> TextEvidence:
        """Return the evidence in a text."""
        stored = self._cache.get(f"evidence.{self._weighed}.{number}")
        return TextEvidence(
            kind=kind_of(self._texts[number]),
            whole=stored["whole"][0],
            edited=stored["edited"][0].reshape(len(self._plan.edits), len(self._plan.classes)),
            inside=stored["inside"][0].reshape(len(self._plan.cases), 3),
        )

    def _inside(self, number: int, tokens: int, marked: int) -> F64:
        plain, around = self._plain(number), self._around(number)
        if plain.ids.size < marked or around.ids.size < tokens - marked:
            return np.full(3, np.nan)
        document = spliced(
            PlacedText(
                alone=plain,
                behind=self._rows(f"behind.{self._mark}.{number}")[0],
                lead=min(LEAD, around.ids.size),
            ),
            around,
            marked=marked,
            tokens=tokens,
            place=PLACES[number % len(PLACES)],
        )
        profile = self._plan.profile
        reading = document.reading
        steps = schedule(
            reading.ids,
            reading.entropy_bits,
            self._key(number),
            profile,
            checkpoint=self._checkpoint,
        )
        decision = decide(reading, steps, profile, prompt_known=False, model=self.likelihood)
        payload = self._cell.payload(number, self._plan.seed)
        passage = finding(document, steps.token, decision, payload)
        return np.array([passage.log10_e, passage.marked_usable, passage.usable])

    def _around(self, number: int) -> TextReading:
        """Return the other texts in a ring, from the next one on, to surround this text."""
        count = self._plan.texts
        numbers = [(number + k) % count for k in range(1, count)]
        empty = self._plain(number).first(0)
        return joined([empty, *(self._plain(text_number) for text_number in numbers)])

    def _plain(self, number: int) -> TextReading:
        return self._rows(f"reading.{self._mark}.{number}")[0]

    def _rows(self, name: str) -> list[TextReading]:
        columns = self._cache.get(name)
        count = len(columns["ids"])
        return [
            TextReading(**{column: columns[column][i] for column in _COLUMNS}) for i in range(count)
        ]

    def _seen(self, ids: I64, number: int) -> TextReading:
        return read_as(self._reader, ids, self._key(number), self._plan.profile, self._checkpoint)

    def _ids(self, text: str) -> I64:
        from pura.model.tokenise import tokenise

        return np.asarray(tokenise(self._reader.tokenizer, text).ids)

    def _key(self, number: int) -> SecretKey:
        return self._cell.key(number, self._plan.seed)

    def _edited(self, edit: Edit, number: int) -> str:
        text = self._texts[number]
        if not text.strip():
            return text
        rng = self._cell.generator(f"edit {edit.name}", number, self._plan.seed)
        next_text = self._texts[(number + 1) % len(self._texts)]
        tools = model_tools(self._reader, foreign=sentences_of([next_text]))
        return attack_text(edit.attack, text, rng, tools, **edit.params)[0]


def read_as(
    reader: LanguageModel,
    ids: I64,
    key: SecretKey,
    profile: Profile,
    checkpoint: Checkpoint,
) -> TextReading:
    """Read tokens under one key; no tokens give an empty reading."""
    from pura.model.evidence import read
    from pura.model.tokenise import beginning_ids

    if not ids.size:
        empty = np.zeros(0)
        return TextReading(
            ids=np.zeros(0, np.int64), entropy_bits=empty, probability=empty, lo=empty, hi=empty
        )
    reading = read(
        reader,
        ids,
        keys=[key],
        profile=profile,
        # The known beginning of an audit without a prompt.
        prompt_ids=beginning_ids(reader.tokenizer, profile, ""),
        checkpoint=checkpoint,
    )
    return TextReading.of(reading)


def evidence_at(
    reading: TextReading,
    key: SecretKey,
    profile: Profile,
    classes: Sequence[int],
    checkpoint: Checkpoint,
    likelihood: LikelihoodModel | None = None,
) -> F64:
    """Return log10 of the evidence of a text cut after numbers of usable positions.

    Args:
        reading: Reading of the complete text; a token's reading does not depend on later ones.
        key: The key.
        profile: The profile.
        classes: Numbers of usable positions.
        checkpoint: Called before each.
        likelihood: The likelihood model; None for the shipped one.

    Returns:
        float64 [C]; NaN if the text has fewer usable positions.
    """
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    out = np.full(len(classes), np.nan)
    for index, usable in enumerate(classes):
        if usable > len(steps):
            break
        checkpoint()
        cut = reading.first(int(steps.token[usable - 1]) + 1)
        part = schedule(cut.ids, cut.entropy_bits, key, profile)
        out[index] = decide(cut, part, profile, prompt_known=False, model=likelihood).log10_e
    return out


def trial_seconds(source: LanguageModel, plan: PowerPlan, checkpoint: Checkpoint) -> float:
    """Return an estimate of the seconds of a measurement, from a short trial of each part.

    Args:
        source: The writing model, which is assumed to read as well.
        plan: The planned measurement.
        checkpoint: Called often.
    """
    count = min(BATCH, plan.texts)
    small = replace(plan, texts=count, passages=(), documents=(), edits=())
    cell = plan.cell(plan.digest(source))
    spans, ids = [], np.zeros(0, np.int64)
    for tokens in _TRIAL_TOKENS:
        start = time.perf_counter()
        generated = _generated(
            source,
            small,
            range(count),
            tokens=tokens,
            seed=plan.seed,
            ignore_eos=True,
            checkpoint=checkpoint,
        )
        ids = np.concatenate([generated_text.ids for generated_text in generated])
        spans.append(time.perf_counter() - start)
    short, long = _TRIAL_TOKENS
    step = max(0.0, spans[1] - spans[0]) / (long - short)
    start = time.perf_counter()
    lap = read_as(source, ids, cell.key(0), plan.profile, checkpoint)
    reading = (time.perf_counter() - start) / ids.size
    laps = -(-plan.tokens // ids.size)
    text = joined([lap] * laps)
    # Each lap gets different tokens, since a repeated context counts only once.
    shift = np.repeat(np.arange(laps), ids.size) * plan.profile.vocab_size
    text = replace(text, ids=text.ids + shift).first(plan.tokens)
    steps = schedule(text.ids, text.entropy_bits, cell.key(0), plan.profile)
    start = time.perf_counter()
    decide(text, steps, plan.profile, prompt_known=False)
    weighing = time.perf_counter() - start
    batches = -(-(plan.texts + plan.learn) // BATCH)
    passes = plan.tokens * (1 + len(plan.edits)) + (LEAD + plan.tokens if plan.cases else 0)
    passes += plan.tokens * plan.learn // plan.texts
    texts = len(plan.classes) / 2 * (1 + len(plan.edits))
    longer = sum(tokens for tokens, _ in plan.cases) / plan.tokens
    return batches * (spans[0] + step * plan.tokens) + plan.texts * (
        passes * reading + (texts + longer) * weighing
    )


def _generated(
    source: LanguageModel, plan: PowerPlan, numbers: Sequence[int], **settings: Any
) -> list[Generated]:
    """Return texts with the prompts, payloads and keys of their numbers."""
    from pura.embed.generate import generate_batch

    cell = plan.cell(plan.digest(source))
    return generate_batch(
        source,
        [plan.prompt(n) for n in numbers],
        [cell.payload(n, plan.seed) for n in numbers],
        [cell.key(n, plan.seed) for n in numbers],
        plan.profile,
        chat=plan.chat,
        batch_size=BATCH,
        **settings,
    )


def _columns(rows: Sequence[TextReading]) -> dict[str, list[Any]]:
    return {column: [getattr(row, column) for row in rows] for column in _COLUMNS}


def _texts_at(first: int) -> str:
    return f"texts.{first}"


def _in_all(
    progress: Progress, tokens_before: int, texts: int, total: int
) -> Callable[[int, int], None]:
    """Return a function that reports the tokens of a batch as part of those of all texts."""

    def tell(tokens: int, _: int) -> None:
        # Each step of the batch adds a token to every text.
        progress(Stage(name="texts", done=tokens_before + tokens * texts, total=total))

    return tell


LEVEL: Final = 0.95
LEAST_TEXTS: Final = 59
"""Texts that a class needs: 59 of 59 is the smallest sample that shows a power of 0.95."""


def make_table(
    plan: PowerPlan,
    source: WritingModel,
    reader: LanguageModel,
    evidence: Sequence[TextEvidence],
    likelihood: LikelihoodModel,
) -> dict[str, Any]:
    """Return the table as plain JSON values (:mod:`pura.detect.verdict.power`).

    A rate holds for one kind of text, so texts of other kinds than the most frequent one are left
    out, and their number is recorded.

    Args:
        plan: Settings of the measurement.
        source: The writing model.
        reader: The reading model.
        evidence: The evidence of every text.
        likelihood: The likelihood model used; a learnt one is included in the table.

    Raises:
        PolicyError: The texts are too short for a single class.
    """
    kinds = Counter(text.kind for text in evidence if text.kind).most_common(1)
    kind = kinds[0][0] if kinds else ""
    texts = [text for text in evidence if text.kind in ("", kind)]
    entries = whole_entries(plan, np.array([text.whole for text in texts]), "")
    if not entries:
        raise PolicyError("power.too-short")
    for number, edit in enumerate(plan.edits):
        entries += whole_entries(plan, np.array([text.edited[number] for text in texts]), edit.name)
    entries += inside_entries(plan, np.array([text.inside for text in texts]))
    _log.info(
        "a power table of %d texts was made: %d entries, %d texts left out",
        len(texts),
        len(entries),
        len(evidence) - len(texts),
    )
    profile = plan.profile
    conditions = {
        "name": plan.name,
        "source": "Marked texts with a key and a payload each, cut after the given number of "
        "usable positions, or passages in longer texts; read as text.",
        "date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}",
        "models": [reader.fingerprint],
        "generators": [source.fingerprint],
        "names": {"generator": source.name, "reader": reader.name},
        "dtypes": [reader.device.dtype],
        "device": reader.device.name,
        # A kind that cannot be told from another language must not stand for it.
        "kinds": [kind] if kind in TOLD else [],
        "context_window": profile.context_window,
        "history": profile.history,
        "prefix": profile.prefix,
        "chat_template": profile.chat_template,
        "system_prompt": profile.system_prompt,
        "profile": profile.fingerprint,
        "likelihood": likelihood.fingerprint,
        **({"learnt": plan.learn} if plan.learn else {}),
        "texts": len(texts),
        "left_out": len(evidence) - len(texts),
        "tokens": plan.tokens,
        "chat": plan.chat,
        "template": source.template,
        "prompts": {"count": len(plan.prompts), "sha256": prompts_digest(plan.prompts)},
        "seed": plan.seed,
        "versions": versions(),
    }
    table = {"schema": TABLE_SCHEMA, "level": LEVEL, "conditions": conditions, "entries": entries}
    return table | ({"likelihood": likelihood.to_dict()} if plan.learn else {})


def whole_entries(plan: PowerPlan, evidence: F64, edit: str) -> list[dict[str, Any]]:
    """Count the texts of each class that reach each threshold.

    Args:
        plan: Settings of the measurement.
        evidence: float64 [N, C], NaN if a text has fewer usable positions than the class.
        edit: Edit of the texts; empty for none.
    """
    count = len(evidence)
    texts = np.isfinite(evidence).sum(axis=0) if count else np.zeros(0)
    # A class of few texts is uncertain, and would lower all those below it.
    enough = texts >= _least(count)
    if not enough.any():
        return []
    usable = [u for u, k in zip(plan.classes, enough, strict=True) if k]
    extra = {"edit": edit} if edit else {}
    return [
        power_entry(
            plan.profile,
            threshold,
            usable,
            (evidence >= threshold).sum(axis=0)[enough],
            texts[enough],
        )
        | extra
        for threshold in THRESHOLDS
    ]


def _least(count: int) -> int:
    """Return how many texts of ``count`` a class needs; fewer if these cannot show 0.95."""
    return LEAST_TEXTS if count >= LEAST_TEXTS else max(1, count - count // 4)


def inside_entries(plan: PowerPlan, inside: F64) -> list[dict[str, Any]]:
    """Count the passages that are found in longer texts.

    The choice is conservative: a class begins at the largest number of usable positions of its
    passages, and an entry applies to texts with at most as many usable positions as the shortest
    one. As the texts are spliced, only the share :data:`~pura.measure.evaluate.READ_WHOLE` of the
    evidence counts.

    Args:
        plan: Settings of the measurement.
        inside: float64 [N, D, 3], of :attr:`~pura.measure.power.TextEvidence.inside`.
    """
    out: list[dict[str, Any]] = []
    needed = _least(len(inside))
    for tokens in sorted(set(plan.documents)):
        cases = [i for i, (document, _) in enumerate(plan.cases) if document == tokens]
        groups = [inside[np.isfinite(inside[:, i, 0]), i] for i in cases]
        groups = _rising([g for g in groups if len(g) >= needed])
        if not groups:
            continue
        usable = [int(group[:, 1].max()) for group in groups]
        text_usable = int(min(group[:, 2].min() for group in groups))
        for threshold in THRESHOLDS:
            counts = [int((READ_WHOLE * group[:, 0] >= threshold).sum()) for group in groups]
            entry = power_entry(
                plan.profile, threshold, usable, counts, [len(group) for group in groups]
            )
            out.append(entry | {"text_usable": text_usable})
    return out


def _rising(groups: list[F64]) -> list[F64]:
    """Drop classes that do not begin above the one before."""
    out: list[F64] = []
    for group in groups:
        if group[:, 1].max() > (out[-1][:, 1].max() if out else 0):
            out.append(group)
    return out


def power_entry(
    profile: Profile,
    threshold: float,
    usable: Sequence[int],
    found: Iterable[Any],
    texts: Iterable[Any],
) -> dict[str, Any]:
    """Return one entry of a power table (``detect.verdict.power``) for an unknown prompt.

    Args:
        profile: Profile of the texts.
        threshold: log10 of the evidence from which a mark counts as found.
        usable: Lower ends of the classes of usable positions.
        found: Texts of each class that reached the threshold.
        texts: Texts of each class.
    """
    return {
        "code": profile.code,
        "payload_bits": profile.payload_bits,
        "threshold": threshold,
        "prompt": False,
        "sampling": {
            "temperature": profile.temperature,
            "top_k": profile.top_k,
            "top_p": profile.top_p,
        },
        "entropy_thresholds_bits": list(profile.entropy_thresholds_bits),
        "usable": list(usable),
        "found": [int(x) for x in found],
        "texts": [int(x) for x in texts],
    }
