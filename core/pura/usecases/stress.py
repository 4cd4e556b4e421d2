"""What is done to texts on purpose, and what it does to their marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import InputError
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.keys import KeyRef
from pura.scheme import Payload, Profile
from pura.usecases.environment import Environment

if TYPE_CHECKING:
    from pura.measure.attacks.base import Damage, Tools
    from pura.measure.attacks.table import Stressed
    from pura.measure.decomposition import BitMargin, BitReadings, Decomposition
    from pura.measure.evaluate import MeasuredText


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


def decompose_text(
    environment: Environment,
    *,
    original: str,
    edited: str,
    payload: Payload,
    key: KeyRef,
    profile: Profile,
    model: str | None = None,
) -> Decomposed:
    """Say what an edit did to the evidence of a text whose payload is known.

    docs/lab.md says what the numbers are.

    Args:
        environment: Whose keys and models.
        original: The marked text.
        edited: What became of it.
        payload: What it carries.
        key: What it was marked with.
        profile: How.
        model: The verifier's model; None takes the profile's.

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
    from pura.measure.power import read_as
    from pura.model.tokenise import tokenise
    from pura.scheme import encode, schedule

    code = encode(payload, profile)
    reader = environment.model(model, profile=profile)
    before = np.asarray(tokenise(reader.tokenizer, original).ids)
    after = np.asarray(tokenise(reader.tokenizer, edited).ids)
    kept = survived(align(before, after), profile.context_window)
    with environment.opened_keys([key]) as [(secret, _)]:
        reading = read_as(reader, after, secret, profile, never_cancelled)
        steps = schedule(after, reading.entropy_bits, secret, profile)
        outcome = evaluate(reading, secret, payload, profile, prompt_known=False)
    paper = bit_readings(steps, *paper_llrs(reading, steps, profile), code, kept)
    sharp = exact_llrs(reading, steps, profile, prompt_known=False)
    exact = bit_readings(steps, *sharp, code, kept)
    rng = np.random.default_rng(1)
    return Decomposed(
        paper=decompose([paper], rng),
        exact=decompose([exact], rng),
        readings=paper,
        paper_bits=bits_of(paper),
        exact_bits=bits_of(exact),
        outcome=outcome,
    )


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
    *,
    text: str,
    payload: Payload,
    key: KeyRef,
    profile: Profile,
    attack: str,
    strengths: tuple[float | None, ...] = (None,),
    seed: int = 1,
    model: str | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[Try, ...]:
    """Attack a text whose payload is known, and say what each attack did to its mark.

    Args:
        environment: Whose keys and models.
        text: The marked text.
        payload: What it carries.
        key: What it was marked with.
        profile: How.
        attack: The attack's name.
        strengths: How hard it hits, one try each; None is its usual strength.
        seed: Of all randomness; every strength begins with it.
        model: What attacks and reads; None takes the usual one.
        progress: Told before each try.
        checkpoint: Asked before each.

    Returns:
        The tries; the first is the text as it is.

    Raises:
        PuraError: Key, payload, profile, model or attack cannot be used, or one lacks something.
    """

    def found(edited: str) -> Decomposed:
        return decompose_text(
            environment,
            original=text,
            edited=edited,
            payload=payload,
            key=key,
            profile=profile,
            model=model,
        )

    def told(number: int) -> None:
        checkpoint()
        progress(Stage(name="tries", done=number, total=len(strengths) + 1))

    told(0)
    tries = [Try(strength=None, text=text, damage=None, found=found(text))]
    tools = attack_tools(environment, model=model)
    for number, strength in enumerate(strengths, start=1):
        told(number)
        hit = attack_text(tools, attack=attack, text=text, seed=seed, strength=strength)
        checkpoint()
        tries.append(
            Try(strength=strength, text=hit.text, damage=hit.damage, found=found(hit.text))
        )
    told(len(strengths) + 1)
    return tuple(tries)


def list_attacks() -> tuple[AttackLine, ...]:
    """Return the attacks in the order of the table."""
    from pura.measure.attacks.table import ATTACKS

    return tuple(
        AttackLine(name=a.name, params=a.params, strength=a.strength, rewrites=a.rewrites)
        for a in ATTACKS.values()
    )


def attack_text(
    tools: Tools,
    *,
    attack: str,
    text: str,
    seed: int = 1,
    strength: float | None = None,
    params: Mapping[str, float] | None = None,
) -> Stressed:
    """Attack a text and measure what that did to it.

    Args:
        tools: What the attack may use, see :func:`attack_tools`.
        attack: Its name.
        text: The text.
        seed: Of all randomness.
        strength: How hard it hits; None takes its default.
        params: Its further parameters.

    Raises:
        PuraError: There is no such attack, or it lacks something.
    """
    from pura.measure.attacks.table import stress

    given = {k: int(v) if float(v).is_integer() else v for k, v in (params or {}).items()}
    return stress(attack, text, tools, seed=seed, strength=strength, **given)


def attack_tools(
    environment: Environment,
    *,
    model: str | None = None,
    foreign: Path | None = None,
    thesaurus: Path | None = None,
    dipper: Path | None = None,
    translators: tuple[Path, ...] = (),
) -> Tools:
    """Return what attacks may use, with the model loaded.

    Args:
        environment: Whose models.
        model: The local model; None takes the usual one.
        foreign: A text by somebody else, for what mixes texts; None takes one that Python brings.
        thesaurus: A file of MyThes; None takes the system's.
        dipper: Folder of DIPPER's model.
        translators: Folders of models that translate, there and back.

    Raises:
        PuraError: The model or a file is not there.
    """
    from pura.measure.attacks.rewrite import model_tools
    from pura.measure.corpora import corpus, sentences_of

    loaded = environment.model(model)
    texts = corpus("manual" if foreign is None else str(foreign))
    if thesaurus is not None and not thesaurus.is_file():
        raise InputError("lab.thesaurus", name=thesaurus.name)
    return model_tools(
        loaded,
        foreign=sentences_of(texts),
        thesaurus=thesaurus,
        dipper=dipper,
        translators=translators,
    )
