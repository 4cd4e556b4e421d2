"""The lab's use cases: what is done to texts on purpose, and what it does to their marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import InputError
from pura.base.progress import Checkpoint, Progress, Stage, unstopped, untold
from pura.desk.workplace import Workplace
from pura.keys import KeyRef
from pura.scheme import Payload, Profile

if TYPE_CHECKING:
    from pura.lab.attacks import Stressed, Tools
    from pura.lab.attacks.base import Damage
    from pura.lab.decomposition import BitMargin, BitReadings, Decomposition
    from pura.lab.evaluate import Outcome
    from pura.lab.scores import Score


@dataclass(frozen=True, kw_only=True)
class LabTools:
    """What attacks may use.

    Attributes:
        model: The local model; None takes the usual one.
        foreign: A text by somebody else, for what mixes texts; None takes one that Python brings.
        thesaurus: A file of MyThes; None takes the system's.
        dipper: Folder of DIPPER's model.
        translators: Folders of models that translate, there and back.
    """

    model: str | None = None
    foreign: Path | None = None
    thesaurus: Path | None = None
    dipper: Path | None = None
    translators: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AttackText:
    """Attack one text.

    Attributes:
        attack: Its name.
        text: The text.
        seed: Of all randomness.
        strength: How hard it hits; None takes its default.
        params: Its further parameters.
        tools: What it may use.
    """

    attack: str
    text: str
    seed: int = 1
    strength: float | None = None
    params: Mapping[str, float] = field(default_factory=dict)
    tools: LabTools = field(default_factory=LabTools)


@dataclass(frozen=True, kw_only=True)
class AttackLine:
    """One line of the list of attacks.

    Attributes:
        name: As it is asked for.
        params: Its parameters and what they are unless told otherwise.
        strength: Which of them says how hard it hits.
        rewrites: A model writes the text anew.
    """

    name: str
    params: Mapping[str, float]
    strength: str
    rewrites: bool


@dataclass(frozen=True, kw_only=True)
class DecomposeText:
    """Say what an edit did to the evidence of a text whose payload is known.

    Attributes:
        original: The marked text.
        edited: What became of it.
        payload: What it carries.
        key: What it was marked with.
        profile: How.
        model: The verifier's model; None takes the profile's.
    """

    original: str
    edited: str
    payload: Payload
    key: KeyRef
    profile: Profile
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class Decomposed:
    """The decomposition of one text, by the paper's LLRs and by the exact log ratios.

    Attributes:
        paper: By the paper's.
        exact: By the exact ones; their ``Z`` is on a scale of its own.
        readings: The paper's readings, one by one.
        paper_bits: Each codeword position on its own, by the paper's.
        exact_bits: The same by the exact ones.
        outcome: What both decoders made of the edited text.
    """

    paper: Decomposition
    exact: Decomposition
    readings: BitReadings
    paper_bits: tuple[BitMargin, ...]
    exact_bits: tuple[BitMargin, ...]
    outcome: Outcome


def decompose_text(workplace: Workplace, request: DecomposeText) -> Decomposed:
    """Read an edited text and decompose its evidence; docs/lab.md says what the numbers are.

    Raises:
        PuraError: Key, payload, profile or model cannot be used.
    """
    import numpy as np

    from pura.lab.decomposition import (
        align,
        bit_readings,
        bits_of,
        decompose,
        exact_llrs,
        paper_llrs,
        survived,
    )
    from pura.lab.evaluate import evaluate
    from pura.lab.power.measure import read_as
    from pura.model.tokenise import tokenise
    from pura.scheme import encode, schedule

    profile, code = request.profile, encode(request.payload, request.profile)
    model = workplace.model(request.model, profile=profile)
    before = np.asarray(tokenise(model.tokenizer, request.original).ids)
    after = np.asarray(tokenise(model.tokenizer, request.edited).ids)
    kept = survived(align(before, after), profile.context_window)
    with workplace.opened_keys([request.key]) as [(key, _)]:
        reading = read_as(model, after, key, profile, unstopped)
        steps = schedule(after, reading.entropy_bits, key, profile)
        outcome = evaluate(reading, key, request.payload, profile, prompt_known=False)
    paper = bit_readings(steps, *paper_llrs(reading, steps, profile), code, kept)
    sharp = exact_llrs(reading, steps, profile, prompt_known=False)
    exact = bit_readings(steps, *sharp, code, kept)
    dice = np.random.default_rng(1)
    return Decomposed(
        paper=decompose([paper], dice),
        exact=decompose([exact], dice),
        readings=paper,
        paper_bits=bits_of(paper),
        exact_bits=bits_of(exact),
        outcome=outcome,
    )


@dataclass(frozen=True, kw_only=True)
class StressText:
    """Attack a text whose payload is known, and say what each attack did to its mark.

    Attributes:
        text: The marked text.
        payload: What it carries.
        key: What it was marked with.
        profile: How.
        attack: The attack's name.
        strengths: How hard it hits, one try each; None is its usual strength.
        seed: Of all randomness; every strength begins with it.
        tools: What the attack may use; its model also reads the texts.
    """

    text: str
    payload: Payload
    key: KeyRef
    profile: Profile
    attack: str
    strengths: tuple[float | None, ...] = (None,)
    seed: int = 1
    tools: LabTools = field(default_factory=LabTools)


@dataclass(frozen=True, kw_only=True)
class Try:
    """One attack on the text.

    Attributes:
        strength: How hard it was to hit; None before any attack.
        text: The text after it.
        damage: How hard it did hit; None before any attack.
        found: What the mark came to.
    """

    strength: float | None
    text: str
    damage: Damage | None
    found: Decomposed


def stress_text(
    workplace: Workplace,
    request: StressText,
    *,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> tuple[Try, ...]:
    """Read a text as it is and after each attack; the first of the tries is the text as it is.

    Raises:
        PuraError: Key, payload, profile, model or attack cannot be used, or one lacks something.
    """

    def found(edited: str) -> Decomposed:
        return decompose_text(
            workplace,
            DecomposeText(
                original=request.text,
                edited=edited,
                payload=request.payload,
                key=request.key,
                profile=request.profile,
                model=request.tools.model,
            ),
        )

    def told(number: int) -> None:
        checkpoint()
        progress(Stage(name="tries", done=number, total=len(request.strengths) + 1))

    told(0)
    tries = [Try(strength=None, text=request.text, damage=None, found=found(request.text))]
    for number, strength in enumerate(request.strengths, start=1):
        told(number)
        hit = attack_text(
            workplace,
            AttackText(
                attack=request.attack,
                text=request.text,
                seed=request.seed,
                strength=strength,
                tools=request.tools,
            ),
        )
        checkpoint()
        tries.append(
            Try(strength=strength, text=hit.text, damage=hit.damage, found=found(hit.text))
        )
    told(len(request.strengths) + 1)
    return tuple(tries)


@dataclass(frozen=True, kw_only=True)
class ScoreTexts:
    """Score summaries or translations against references.

    Attributes:
        file: JSON lines.
        reference: The field of the reference.
        systems: The fields of the systems; the others are compared with the last.
        bert: Folder of the model of BERTScore; None leaves that out.
        layer: Which of its layers; None takes the one that bert-score knows.
        seed: Of the bootstrap.
    """

    file: Path
    reference: str = "reference"
    systems: tuple[str, ...] = ("marked", "plain")
    bert: Path | None = None
    layer: int | None = None
    seed: int = 1


def score_texts(request: ScoreTexts) -> tuple[Score, ...]:
    """Score every system, and each but the last against the last.

    Raises:
        PuraError: File or model cannot be used, or a package is not installed.
    """
    from pura.lab.scores import read_texts, score

    texts = read_texts(request.file, request.reference, request.systems)
    return score(texts, bert=request.bert, layer=request.layer, seed=request.seed)


@dataclass(frozen=True, kw_only=True)
class RunExperiment:
    """Run one experiment of the lab.

    Attributes:
        name: Its name.
        output: Folder of rows, table, Parquet and figure; what is there already is not done again.
        texts: Texts a cell; None takes the small number, or the large one with ``full``.
        full: Every cell.
        model: The source; None takes the usual one.
        cache: Folder of texts and readings, which experiments share.
        judge: Another model, which judges how good texts are; None takes one of letters.
    """

    name: str
    output: Path
    texts: int | None = None
    full: bool = False
    model: str | None = None
    cache: Path | None = None
    judge: str | None = None


@dataclass(frozen=True, kw_only=True)
class ExperimentLine:
    """One line of the list of experiments.

    Attributes:
        name: As it is asked for.
        title: For people.
        paper: Its counterpart in the paper.
        cells: Cells at the small scale, and of all.
    """

    name: str
    title: str
    paper: str
    cells: tuple[int, int]


SMALL, LARGE = 16, 128
"""Texts a cell."""


def list_experiments() -> tuple[ExperimentLine, ...]:
    """Return the experiments in the order of the paper."""
    from pura.lab.experiments.base import Scale
    from pura.lab.experiments.table import EXPERIMENTS

    return tuple(
        ExperimentLine(
            name=e.name,
            title=e.title,
            paper=e.paper,
            cells=(len(e.cells(Scale())), len(e.cells(Scale(full=True)))),
        )
        for e in EXPERIMENTS.values()
    )


def run_experiments(
    workplace: Workplace,
    requests: Sequence[RunExperiment],
    *,
    progress: Progress = untold,
    checkpoint: Checkpoint = unstopped,
) -> Iterator[tuple[str, Path]]:
    """Run experiments one after the other; called again after a stop, they go on where they were.

    Yields:
        The table of each in Markdown, and its path; Parquet and figure lie beside it.

    Raises:
        PuraError: There is no such experiment, or the model cannot be used.
        Cancelled: The checkpoint said so; what was done is kept.
    """
    from pura.lab.experiments.base import Scale
    from pura.lab.experiments.bench import Bench
    from pura.lab.experiments.run import run, write_results
    from pura.lab.experiments.table import EXPERIMENTS
    from pura.lab.shelf import Shelf

    for request in requests:
        if request.name not in EXPERIMENTS:
            raise InputError("lab.experiment", name=request.name, known=", ".join(EXPERIMENTS))
    benches: dict[Path, Bench] = {}
    for request in requests:
        cache = request.cache or workplace.paths.measuring / "lab"
        if cache not in benches:
            # Fetched first: a workplace keeps the last one, which all experiments share.
            judge = workplace.model(request.judge) if request.judge else None
            model = workplace.model(request.model)
            benches[cache] = Bench(model, Shelf(cache), checkpoint, judge)
        experiment = EXPERIMENTS[request.name]
        texts = request.texts or (LARGE if request.full else SMALL)
        scale = Scale(texts=texts, full=request.full, judge=request.judge or "")
        results = run(
            experiment,
            benches[cache],
            scale,
            request.output,
            progress=progress,
            checkpoint=checkpoint,
        )
        _, table, _ = write_results(experiment, results, request.output)
        yield table.read_text(encoding="utf-8"), table


def list_attacks() -> tuple[AttackLine, ...]:
    """Return the attacks in the order of the table."""
    from pura.lab.attacks import ATTACKS

    return tuple(
        AttackLine(name=a.name, params=a.params, strength=a.strength, rewrites=a.rewrites)
        for a in ATTACKS.values()
    )


def attack_text(workplace: Workplace, request: AttackText) -> Stressed:
    """Attack a text and measure what that did to it.

    Raises:
        PuraError: There is no such attack, it lacks something, or no model is there.
    """
    from pura.lab.attacks import stress

    tools = lab_tools(workplace, request.tools)
    params = {k: int(v) if float(v).is_integer() else v for k, v in request.params.items()}
    return stress(
        request.attack,
        request.text,
        tools,
        seed=request.seed,
        strength=request.strength,
        **params,
    )


def lab_tools(workplace: Workplace, request: LabTools) -> Tools:
    """Return the tools of attacks, with the model loaded.

    Raises:
        PuraError: The model or a file is not there.
    """
    from pura.lab.attacks.local import model_tools
    from pura.lab.corpora import corpus, sentences_of

    model = workplace.model(request.model)
    texts = corpus("manual" if request.foreign is None else str(request.foreign))
    if request.thesaurus is not None and not request.thesaurus.is_file():
        raise InputError("lab.thesaurus", name=request.thesaurus.name)
    return model_tools(
        model,
        foreign=sentences_of(texts),
        thesaurus=request.thesaurus,
        dipper=request.dipper,
        translators=request.translators,
    )
