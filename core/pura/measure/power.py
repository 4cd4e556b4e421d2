"""Measuring power: marked texts are made, read and counted.

Every piece of work goes onto a cache when it is done, so a measurement that was stopped, or killed,
goes on with the next piece. The texts are read as text, tokenised anew, like any text under audit.
Longer texts are put together from readings (:mod:`pura.measure.evaluate`); what stands around a
passage are the other marked texts, which under this text's key are texts without a mark.
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
"""Texts that are written together, and lost together when the computer stops."""
LEAD: Final = 300
"""Tokens before a passage that it is read after."""
_COLUMNS: Final = tuple(f.name for f in fields(TextReading))
_TRIAL_TOKENS: Final = (4, 16)


@dataclass(frozen=True, kw_only=True)
class WritingModel:
    """The model that wrote the texts, as the table names it.

    Attributes:
        name: Its name.
        fingerprint: Of its weights.
        template: SHA-256 of its chat template; empty where it was not used.
        digest: Of the measurement (:meth:`PowerPlan.digest`).
    """

    name: str
    fingerprint: str
    template: str
    digest: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TextEvidence:
    """What came of one marked text.

    Attributes:
        kind: What its words look like (:func:`pura.detect.verdict.expect.kind_of`).
        whole: float64 [C], log10 of the evidence when it is cut to each class of
            :attr:`PowerPlan.classes`; NaN where it has fewer usable positions.
        edited: float64 [E, C], the same after each edit.
        inside: float64 [D, 3], for each of :attr:`PowerPlan.cases` the evidence, the usable
            positions of the passage, those of the longer text; NaN where it could not be made.
    """

    kind: str
    whole: F64
    edited: F64
    inside: F64


def write_texts(
    source: LanguageModel, plan: PowerPlan, cache: Cache, progress: Progress, checkpoint: Checkpoint
) -> WritingModel:
    """Write the texts that are not on the cache yet.

    Raises:
        PolicyError: The profile names another model than the one that writes.
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
        tell = _in_all(progress, first * plan.tokens, len(numbers), count * plan.tokens)
        made = _generated(
            source,
            plan,
            numbers,
            tokens=plan.tokens,
            seed=[int(cell.generator("dice", n, plan.seed).integers(1 << 62)) for n in numbers],
            # A text goes on as long as the model wants: what is forced out of it after its end
            # would be like no text of the organisation.
            ignore_eos=False,
            progress=tell,
            checkpoint=checkpoint,
        )
        texts = [np.frombuffer(one.text.encode("utf-8", "replace"), np.uint8) for one in made]
        cache.put(
            _texts_at(first),
            {
                "text": texts,
                "ids": [one.ids for one in made],
                "entropy_bits": [one.entropy_bits for one in made],
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
    """Return the texts that were written, those to learn from last."""
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
    """Read and weigh what is not on the cache yet.

    Returns:
        What came of every text, and the likelihood table that weighed it.

    Raises:
        PuraError: The reading model does not fit the profile.
        PolicyError: The texts to learn from hold nothing to learn.
    """
    check_fitness(reader, plan.profile, [])
    work = _Reading(reader, plan, source, cache, checkpoint)
    measured, more = range(plan.texts), range(plan.texts, plan.texts + plan.learn)
    steps: list[tuple[str, range, Callable[[int], object]]] = [
        ("reading", range(plan.texts + plan.learn), work.read)
    ]
    if plan.cases:
        steps.append(("reading-inside", measured, work.read_inside))
    steps.append(("counting", measured, work.weigh))
    for name, numbers, step in steps:
        tell = counted(progress, name)
        if name == "counting" and more:
            work.likelihood = work.learnt(more)
        for number in numbers:
            tell(number, len(numbers))
            checkpoint()
            step(number)
        tell(len(numbers), len(numbers))
    return [work.evidence(number) for number in measured], work.likelihood


class _Reading:
    """Reads and weighs one text after the other, each kept on the cache."""

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
        # Another reader must not find the numbers of this one.
        self._mark = f"{reader.fingerprint[:8]}.{reader.device.dtype}"

    @property
    def _weighed(self) -> str:
        """Another likelihood table must not find the numbers of this one."""
        return f"{self._mark}.{self.likelihood.fingerprint[:8]}"

    def learnt(self, numbers: Sequence[int]) -> LikelihoodModel:
        """Return the likelihood table with what some texts teach put in its place.

        Only texts count whose tokens are those that were written: of another tokenisation the
        anchors are not known.

        Raises:
            PolicyError: None of them has a step that carries bits.
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
        own = rounded(learn_table(name, join(parts), base, thresholds))
        return replace(
            base,
            version=f"{base.version}, own",
            provenance=f"{base.provenance} In its place here, learnt of {len(parts)} texts of "
            f"{self._source.name} as read by {self._reader.name}: {name}.",
            tables=tuple(own if table.name == name else table for table in base.tables),
        )

    def read(self, number: int) -> None:
        """Read a text, and what each edit makes of it."""
        name = f"reading.{self._mark}.{number}"
        if name in self._cache:
            return
        edits = self._plan.edits if number < self._plan.texts else ()
        texts = [self._texts[number], *(self._edited(e, number) for e in edits)]
        rows = [self._seen(self._ids(text), number) for text in texts]
        self._cache.put(name, _columns(rows))

    def read_inside(self, number: int) -> None:
        """Read a text behind the beginning of what will stand around it."""
        name = f"behind.{self._mark}.{number}"
        if name in self._cache:
            return
        lead = self._around(number).ids[:LEAD]
        own = self._plain(number).ids
        self._cache.put(name, _columns([self._seen(np.concatenate([lead, own]), number)]))

    def weigh(self, number: int) -> None:
        """Weigh everything that was read of a text."""
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
        """Return what came of a text."""
        stored = self._cache.get(f"evidence.{self._weighed}.{number}")
        return TextEvidence(
            kind=kind_of(self._texts[number]),
            whole=stored["whole"][0],
            edited=stored["edited"][0].reshape(len(self._plan.edits), len(self._plan.classes)),
            inside=stored["inside"][0].reshape(len(self._plan.cases), 3),
        )

    def _inside(self, number: int, tokens: int, marked: int) -> F64:
        own, around = self._plain(number), self._around(number)
        if own.ids.size < marked or around.ids.size < tokens - marked:
            return np.full(3, np.nan)
        document = spliced(
            PlacedText(
                alone=own,
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
        found = finding(document, steps.token, decision, payload)
        return np.array([found.log10_e, found.marked_usable, found.usable])

    def _around(self, number: int) -> TextReading:
        """Return the other texts, from the next one on: a ring that this text is put into."""
        count = self._plan.texts
        others = [(number + k) % count for k in range(1, count)]
        none = self._plain(number).first(0)
        return joined([none, *(self._plain(other) for other in others)])

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
        other = self._texts[(number + 1) % len(self._texts)]
        tools = model_tools(self._reader, foreign=sentences_of([other]))
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
        none = np.zeros(0)
        return TextReading(
            ids=np.zeros(0, np.int64), entropy_bits=none, probability=none, lo=none, hi=none
        )
    seen = read(
        reader,
        ids,
        keys=[key],
        profile=profile,
        # What an audit knows of the beginning when it does not know the prompt.
        prompt_ids=beginning_ids(reader.tokenizer, profile, ""),
        checkpoint=checkpoint,
    )
    return TextReading.of(seen)


def evidence_at(
    reading: TextReading,
    key: SecretKey,
    profile: Profile,
    classes: Sequence[int],
    checkpoint: Checkpoint,
    likelihood: LikelihoodModel | None = None,
) -> F64:
    """Return log10 of the evidence of a text cut after so many usable positions.

    Args:
        reading: Of the whole text; no token's reading looks ahead.
        key: The key.
        profile: The profile.
        classes: Numbers of usable positions.
        checkpoint: Called before each.
        likelihood: The frozen numbers; the shipped ones when absent.

    Returns:
        float64 [C]; NaN where the text has fewer usable positions.
    """
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    out = np.full(len(classes), np.nan)
    for place, usable in enumerate(classes):
        if usable > len(steps):
            break
        checkpoint()
        cut = reading.first(int(steps.token[usable - 1]) + 1)
        part = schedule(cut.ids, cut.entropy_bits, key, profile)
        out[place] = decide(cut, part, profile, prompt_known=False, model=likelihood).log10_e
    return out


def trial_seconds(source: LanguageModel, plan: PowerPlan, checkpoint: Checkpoint) -> float:
    """Return about how many seconds a measurement takes, from a short trial of each part.

    Args:
        source: The model that writes; taken as the one that reads too.
        plan: What would be measured.
        checkpoint: Called often.
    """
    count = min(BATCH, plan.texts)
    small = replace(plan, texts=count, passages=(), documents=(), edits=())
    cell = plan.cell(plan.digest(source))
    spans, ids = [], np.zeros(0, np.int64)
    for tokens in _TRIAL_TOKENS:
        start = time.perf_counter()
        made = _generated(
            source,
            small,
            range(count),
            tokens=tokens,
            seed=plan.seed,
            ignore_eos=True,
            checkpoint=checkpoint,
        )
        ids = np.concatenate([one.ids for one in made])
        spans.append(time.perf_counter() - start)
    few, more = _TRIAL_TOKENS
    step = max(0.0, spans[1] - spans[0]) / (more - few)
    start = time.perf_counter()
    seen = read_as(source, ids, cell.key(0), plan.profile, checkpoint)
    reading = (time.perf_counter() - start) / ids.size
    laps = -(-plan.tokens // ids.size)
    text = joined([seen] * laps)
    # Each lap has tokens of its own: a context counts once only.
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


def _in_all(progress: Progress, done: int, texts: int, total: int) -> Callable[[int, int], None]:
    """Return what tells of the tokens of a batch as part of those of all texts."""

    def tell(tokens: int, _: int) -> None:
        # The batch steps together: each step is a token of every text.
        progress(Stage(name="texts", done=done + tokens * texts, total=total))

    return tell


LEVEL: Final = 0.95
LEAST_TEXTS: Final = 59
"""Texts that a class needs: 59 of 59 are the fewest that show a power of 0.95."""


def make_table(
    plan: PowerPlan,
    source: WritingModel,
    reader: LanguageModel,
    found: Sequence[TextEvidence],
    likelihood: LikelihoodModel,
) -> dict[str, Any]:
    """Return the table as plain JSON values (:mod:`pura.detect.verdict.power`).

    Texts that look unlike most of the others are left out, and how many they were is said: a rate
    is of one kind of text.

    Args:
        plan: What was measured.
        source: The model that wrote.
        reader: The model that read.
        found: What came of every text.
        likelihood: The table that weighed them; one that was learnt goes along.

    Raises:
        PolicyError: The texts are too short for a single class.
    """
    kinds = Counter(one.kind for one in found if one.kind).most_common(1)
    kind = kinds[0][0] if kinds else ""
    kept = [one for one in found if one.kind in ("", kind)]
    entries = whole_entries(plan, np.array([one.whole for one in kept]), "")
    if not entries:
        raise PolicyError("power.too-short")
    for number, edit in enumerate(plan.edits):
        entries += whole_entries(plan, np.array([one.edited[number] for one in kept]), edit.name)
    entries += inside_entries(plan, np.array([one.inside for one in kept]))
    _log.info(
        "a power table of %d texts was made: %d entries, %d texts left out",
        len(kept),
        len(entries),
        len(found) - len(kept),
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
        # What cannot be told from another language must not speak for it.
        "kinds": [kind] if kind in TOLD else [],
        "context_window": profile.context_window,
        "history": profile.history,
        "prefix": profile.prefix,
        "chat_template": profile.chat_template,
        "system_prompt": profile.system_prompt,
        "profile": profile.fingerprint,
        "likelihood": likelihood.fingerprint,
        **({"learnt": plan.learn} if plan.learn else {}),
        "texts": len(kept),
        "left_out": len(found) - len(kept),
        "tokens": plan.tokens,
        "chat": plan.chat,
        "template": source.template,
        "prompts": {"count": len(plan.prompts), "sha256": prompts_digest(plan.prompts)},
        "seed": plan.seed,
        "versions": versions(),
    }
    data = {"schema": TABLE_SCHEMA, "level": LEVEL, "conditions": conditions, "entries": entries}
    return data | ({"likelihood": likelihood.to_dict()} if plan.learn else {})


def whole_entries(plan: PowerPlan, evidence: F64, edit: str) -> list[dict[str, Any]]:
    """Count the texts of each class that reach each threshold.

    Args:
        plan: What was measured.
        evidence: float64 [N, C], NaN where a text has fewer usable positions than the class.
        edit: What was done to the texts; empty for nothing.
    """
    count = len(evidence)
    texts = np.isfinite(evidence).sum(axis=0) if count else np.zeros(0)
    # A class of few texts would say little, and drag down all those below it.
    kept = texts >= _least(count)
    if not kept.any():
        return []
    usable = [u for u, k in zip(plan.classes, kept, strict=True) if k]
    extra = {"edit": edit} if edit else {}
    return [
        power_entry(
            plan.profile, threshold, usable, (evidence >= threshold).sum(axis=0)[kept], texts[kept]
        )
        | extra
        for threshold in THRESHOLDS
    ]


def _least(count: int) -> int:
    """Return how many of so many texts a class needs; too few to show 0.95 show what they can."""
    return LEAST_TEXTS if count >= LEAST_TEXTS else max(1, count - count // 4)


def inside_entries(plan: PowerPlan, inside: F64) -> list[dict[str, Any]]:
    """Count the passages that are found in longer texts.

    A class begins at the most usable positions that a passage of it had, and an entry speaks of
    texts with no more usable positions than the shortest one had: neither flatters. Of the evidence
    the share :data:`~pura.measure.evaluate.READ_WHOLE` counts, since the texts are spliced.

    Args:
        plan: What was measured.
        inside: float64 [N, D, 3], of :attr:`~pura.measure.power.TextEvidence.inside`.
    """
    out: list[dict[str, Any]] = []
    least = _least(len(inside))
    for tokens in sorted(set(plan.documents)):
        places = [i for i, (document, _) in enumerate(plan.cases) if document == tokens]
        groups = [inside[np.isfinite(inside[:, i, 0]), i] for i in places]
        groups = _rising([g for g in groups if len(g) >= least])
        if not groups:
            continue
        usable = [int(group[:, 1].max()) for group in groups]
        text_usable = int(min(group[:, 2].min() for group in groups))
        for threshold in THRESHOLDS:
            found = [int((READ_WHOLE * group[:, 0] >= threshold).sum()) for group in groups]
            entry = power_entry(
                plan.profile, threshold, usable, found, [len(group) for group in groups]
            )
            out.append(entry | {"text_usable": text_usable})
    return out


def _rising(groups: list[F64]) -> list[F64]:
    """Leave out a class that does not begin above the one before it."""
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
    """Return one entry of a power table (``detect.verdict.power``), the prompt being unknown.

    Args:
        profile: Under which the texts were written.
        threshold: log10 of the evidence that counts as found.
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
