"""What is done to texts on purpose, and what it does to their marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import InputError
from pura.base.progress import Checkpoint, Progress, Stage, unstopped, untold
from pura.keys import KeyRef
from pura.scheme import Payload, Profile
from pura.usecases.environment import Environment

if TYPE_CHECKING:
    from pura.measure.attacks import Stressed, Tools
    from pura.measure.attacks.base import Damage
    from pura.measure.decomposition import BitMargin, BitReadings, Decomposition
    from pura.measure.evaluate import MeasuredText


@dataclass(frozen=True, kw_only=True)
class AttackTools:
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
    tools: AttackTools = field(default_factory=AttackTools)


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
    outcome: MeasuredText


def decompose_text(environment: Environment, request: DecomposeText) -> Decomposed:
    """Read an edited text and decompose its evidence; docs/lab.md says what the numbers are.

    Raises:
        PuraError: Key, payload, profile or model cannot be used.
    """
    import numpy as np

    from pura.measure.decomposition import (
        align,
        bit_readings,
        bits_of,
        decompose,
        exact_llrs,
        paper_llrs,
        survived,
    )
    from pura.measure.evaluate import evaluate
    from pura.measure.power.measure import read_as
    from pura.model.tokenise import tokenise
    from pura.scheme import encode, schedule

    profile, code = request.profile, encode(request.payload, request.profile)
    model = environment.model(request.model, profile=profile)
    before = np.asarray(tokenise(model.tokenizer, request.original).ids)
    after = np.asarray(tokenise(model.tokenizer, request.edited).ids)
    kept = survived(align(before, after), profile.context_window)
    with environment.opened_keys([request.key]) as [(key, _)]:
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
    tools: AttackTools = field(default_factory=AttackTools)


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
    environment: Environment,
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
            environment,
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
            environment,
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


def list_attacks() -> tuple[AttackLine, ...]:
    """Return the attacks in the order of the table."""
    from pura.measure.attacks import ATTACKS

    return tuple(
        AttackLine(name=a.name, params=a.params, strength=a.strength, rewrites=a.rewrites)
        for a in ATTACKS.values()
    )


def attack_text(environment: Environment, request: AttackText) -> Stressed:
    """Attack a text and measure what that did to it.

    Raises:
        PuraError: There is no such attack, it lacks something, or no model is there.
    """
    from pura.measure.attacks import stress

    tools = attack_tools(environment, request.tools)
    params = {k: int(v) if float(v).is_integer() else v for k, v in request.params.items()}
    return stress(
        request.attack,
        request.text,
        tools,
        seed=request.seed,
        strength=request.strength,
        **params,
    )


def attack_tools(environment: Environment, request: AttackTools) -> Tools:
    """Return the tools of attacks, with the model loaded.

    Raises:
        PuraError: The model or a file is not there.
    """
    from pura.measure.attacks.local import model_tools
    from pura.measure.corpora import corpus, sentences_of

    model = environment.model(request.model)
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
