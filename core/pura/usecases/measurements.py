"""What is measured on texts: power of an organisation's own, and what attacks do to a mark."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pura.base.errors import InputError, PolicyError
from pura.base.files import read_bounded, refuse_taken, write_or_refuse
from pura.base.numerals import visible
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.detect.verdict.policy import Policy, load_policy
from pura.detect.verdict.power import (
    SHORT,
    PowerEntry,
    PowerFile,
    PowerTable,
    read_power_file,
    seal,
    statement,
)
from pura.keys import KeyRef, Secret
from pura.measure import DOCUMENTS, LEARNT, PASSAGES, TEXTS, TOKENS
from pura.scheme import Payload, Profile, encode, schedule
from pura.usecases.environment import Environment
from pura.usecases.keys import open_identity, trusted_roots

if TYPE_CHECKING:
    from pura.measure.attacks.base import Tools
    from pura.measure.attacks.table import Attack, Stressed
    from pura.measure.decomposition import BitMargin, BitReadings, Decomposition
    from pura.measure.evaluate import MeasuredText
    from pura.measure.power_plan import PowerPlan
    from pura.report.signing import SignatureWord


MAX_PROMPTS: Final = 1 << 22
SHARES: Final = (0.8, 0.95)
"""Shares of texts found that people are shown the length for."""


@dataclass(frozen=True, kw_only=True)
class PowerFound:
    """A table, as people are told of it.

    Attributes:
        sealed: The table with its seal.
        signed: What its signature says; None where nobody signed.
        relied_on: The user's policy names it.
    """

    sealed: PowerFile
    signed: SignatureWord | None
    relied_on: bool


def power_lines(table: PowerTable, threshold: float) -> tuple[PowerEntry, ...]:
    """Return what a table says at the lowest threshold that is at least the asked one.

    Args:
        table: The table.
        threshold: log10 of the evidence that counts as found.
    """
    above = [entry for entry in table.entries if entry.threshold >= threshold]
    lowest = min((entry.threshold for entry in above), default=threshold)
    return tuple(entry for entry in above if entry.threshold == lowest)


def plan_power(
    *,
    name: str,
    profile: Profile,
    prompts: Path | None = None,
    chat: bool = False,
    texts: int = TEXTS.usual,
    learn: int = LEARNT.usual,
    tokens: int = TOKENS.usual,
    passages: tuple[int, ...] = PASSAGES,
    documents: tuple[int, ...] = DOCUMENTS,
    edits: tuple[str, ...] = (),
    seed: int = 1,
) -> PowerPlan:
    """Return what is to be measured: how often marked texts of an organisation's kind are found.

    Args:
        name: What the table is called.
        profile: What the texts are marked with; its key does not matter, each text has its own.
        prompts: Text file with a prompt a line; None takes those of the study.
        chat: Put the prompts into the model's chat template.
        texts: How many marked texts.
        learn: How many more, of which a likelihood table of one's own is learnt first; 0: none.
        tokens: Length of each, at most.
        passages: Lengths of passages that are looked for in longer texts, in tokens.
        documents: Lengths of those texts, in tokens; empty measures whole texts only.
        edits: Edits measured too, such as ``substitute:0.1``; see :mod:`pura.measure.attacks`.
        seed: Of everything that is drawn.

    Raises:
        PolicyError: Numbers out of range, or an unknown edit.
        InputError: The prompts cannot be read.
    """
    from pura.measure.power_plan import PowerPlan, parse_edit

    own = {} if prompts is None else {"prompts": _prompts(prompts)}
    return PowerPlan(
        name=visible(name.strip()),
        profile=profile.with_(key=None),
        chat=chat,
        texts=texts,
        learn=learn,
        tokens=tokens,
        passages=tuple(p for p in passages if p <= tokens),
        documents=documents,
        edits=tuple(parse_edit(edit) for edit in edits),
        seed=seed,
        **own,
    )


def measure_power(
    environment: Environment,
    *,
    plan: PowerPlan,
    model: str | None = None,
    reader: str | None = None,
    folder: Path | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> PowerFile:
    """Measure, seal and store a table; a measurement that was stopped goes on where it was.

    Only one model is held, so the writing one goes before another reading one comes.

    Args:
        environment: Whose models and tables.
        plan: What is measured, see :func:`plan_power`.
        model: Name of the model that writes, or the path of a local one; None takes the only one.
        reader: Name of the model that reads; None takes the one that writes.
        folder: Where half-done work is kept; None takes a folder of the user's, which is removed
            when the table is there.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: Model or profile cannot be used, or do not belong together.
        Cancelled: The checkpoint said so; what was done is kept for the next call.
    """
    from pura.measure.cache import Cache
    from pura.measure.power import make_table, read_texts, write_texts

    progress(Stage(name="model"))
    source = environment.model(model, profile=plan.profile)
    kept = folder or environment.paths.measuring / plan.digest(source)[:SHORT]
    cache = Cache(kept)
    wrote = write_texts(source, plan, cache, progress, checkpoint)
    reads = environment.model(reader) if reader else source
    found, likelihood = read_texts(reads, plan, wrote, cache, progress, checkpoint)
    sealed = seal(make_table(plan, wrote, reads, found, likelihood))
    environment.power.put(sealed)
    if folder is None:
        shutil.rmtree(kept, ignore_errors=True)
    return sealed


def estimate_power(
    environment: Environment,
    *,
    plan: PowerPlan,
    model: str | None = None,
    checkpoint: Checkpoint = never_cancelled,
) -> float:
    """Return about how many seconds a measurement takes here, from a short trial of each part.

    Raises:
        PuraError: As :func:`measure_power`.
    """
    from pura.measure.power import trial_seconds

    return trial_seconds(environment.model(model, profile=plan.profile), plan, checkpoint)


def _prompts(path: Path) -> tuple[str, ...]:
    try:
        text = read_bounded(path, MAX_PROMPTS).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("lab.corpus-empty", name=path.name) from None
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not lines:
        raise InputError("lab.corpus-empty", name=path.name)
    return lines


def list_power(environment: Environment) -> tuple[PowerFound, ...]:
    """Return the stored tables; a damaged or forged one is left out here and refused when used.

    Raises:
        PolicyError: The policy cannot be read.
    """
    policy = load_policy(environment.paths.policy)
    found = []
    for path in environment.power.paths():
        try:
            sealed = read_power_file(path)
            signed = _check(sealed, ())
        except PolicyError:
            continue
        relied_on = sealed.fingerprint in policy.power_tables
        found.append(PowerFound(sealed=sealed, signed=signed, relied_on=relied_on))
    return tuple(found)


def show_power(environment: Environment, name: str, *, trust: tuple[Path, ...] = ()) -> PowerFound:
    """Return a table and what its signature says.

    Args:
        environment: Whose tables.
        name: A file, the beginning of a fingerprint, or a name.
        trust: Files with trusted certificates.

    Raises:
        PolicyError: There is no such table, or it is damaged or forged.
    """
    path = Path(name)
    sealed = read_power_file(path) if path.is_file() else environment.power.get(name)
    policy = load_policy(environment.paths.policy)
    return PowerFound(
        sealed=sealed,
        signed=_check(sealed, trust),
        relied_on=sealed.fingerprint in policy.power_tables,
    )


def add_power(environment: Environment, path: Path, *, trust: tuple[Path, ...] = ()) -> PowerFound:
    """Take in a table that was measured elsewhere.

    Raises:
        PolicyError: It is no such file, or was altered or forged.
    """
    found = show_power(environment, str(path), trust=trust)
    environment.power.put(found.sealed)
    return found


def export_power(environment: Environment, name: str, path: Path, *, replace: bool = False) -> None:
    """Write a stored table to a file.

    Raises:
        PolicyError: There is none, or the file is there or cannot be written.
    """
    refuse_taken(path, PolicyError, replace=replace)
    write_or_refuse(path, environment.power.get(name).to_bytes(), PolicyError)


def sign_power(
    environment: Environment, *, name: str, certificate: Path, passphrase: Secret
) -> PowerFound:
    """Sign a stored table; a former signature is replaced.

    Args:
        environment: Whose.
        name: The beginning of its fingerprint, or its name.
        certificate: PKCS#12 file.
        passphrase: Its passphrase; overwritten when it has been used.

    Raises:
        PolicyError: There is no such table.
        SigningError: The certificate cannot be used.
    """
    from pura.report.signing import sign_detached

    sealed = environment.power.get(name)
    identity = open_identity(certificate, passphrase, PolicyError)
    signed = seal(sealed.data, sign_detached(statement(sealed.fingerprint), identity))
    path = environment.power.put(signed)
    return show_power(environment, str(path))


def rely_on_power(environment: Environment, *, name: str, on: bool = True) -> Policy:
    """Change the user's policy; returns it. Its version counts up.

    Args:
        environment: Whose.
        name: The beginning of its fingerprint, or its name.
        on: Which of the two.

    Raises:
        PolicyError: There is no such table, or the policy cannot be read or written.
    """
    policy = load_policy(environment.paths.policy)
    if on:
        named = (*policy.power_tables, environment.power.get(name).fingerprint)
    else:
        gone = _named(environment, policy, name)
        named = tuple(name for name in policy.power_tables if name != gone)
    named = tuple(dict.fromkeys(named))
    if named == policy.power_tables:
        return policy
    changed = Policy.from_dict(
        policy.to_dict() | {"power_tables": list(named), "version": policy.version + 1}
    )
    changed.save(environment.paths.policy)
    return changed


def remove_power(environment: Environment, name: str) -> None:
    """Delete a stored table.

    Raises:
        PolicyError: There is none, the user's policy relies on it, or it cannot be deleted.
    """
    path = environment.power.find(name)
    policy = load_policy(environment.paths.policy)
    if any(named.startswith(path.stem) for named in policy.power_tables):
        raise PolicyError("power.in-use", name=path.stem, code="power-in-use")
    environment.power.remove(path.stem)


def tables_of(environment: Environment, policy: Policy) -> tuple[PowerTable, ...]:
    """Return the tables that a policy names, in its order.

    Raises:
        PolicyError: One is not here (``power-absent``), was altered, or has a forged signature.
    """
    found = [environment.power.get(name) for name in policy.power_tables]
    for sealed in found:
        _check(sealed, ())
    return tuple(sealed.table for sealed in found)


def _named(environment: Environment, policy: Policy, name: str) -> str:
    """Return the fingerprint in the policy that a name means; its file may be gone."""
    found = [one for one in policy.power_tables if name and one.startswith(name.lower())]
    return found[0] if len(found) == 1 else environment.power.get(name).fingerprint


def _check(sealed: PowerFile, trust: tuple[Path, ...]) -> SignatureWord | None:
    """Refuse a table whose signature is not of it."""
    if sealed.signature is None:
        return None
    from pura.report.signing import check_detached

    roots = trusted_roots(trust, PolicyError)
    now = datetime.now(UTC)
    signed = check_detached(sealed.signature, statement(sealed.fingerprint), roots, now)
    if not signed.intact:
        raise PolicyError("power.forged", code="power-forged")
    return signed


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

    lab.md says what the numbers are.

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


def list_attacks() -> tuple[Attack, ...]:
    """Return the attacks in the order of the table."""
    from pura.measure.attacks.table import ATTACKS

    return tuple(ATTACKS.values())


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
