"""What is done to models and profiles from their dialogs. Runs in the model thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.paths import Paths
from pura.profiles.store import ProfileFolder
from pura.scheme import Profile
from pura_audit.jobs.messages import Chore, KeyChoice, Progress
from pura_audit.platform.i18n import number, translate
from pura_audit.platform.version_words import imported_words

if TYPE_CHECKING:
    from pura.lab.fitness.measure import ProxyFitness
    from pura.model.load import LanguageModel
    from pura.scheme import SecretKey

Report = Callable[[Progress], None]
Checkpoint = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class StoreChore(Chore):
    """Something to do to a model or a profile.

    Attributes:
        kind: ``add-model``, ``install-model``, ``verify-model``, ``remove-model``,
            ``save-profile``, ``remove-profile``, ``import-profile`` or ``export-profile``.
        copy: A folder of a model is copied into the store.
        profile: The profile to store.
        replace: It may take the place of one of the same name.
        licence: Of a model's weights, for the list; "" when nobody knows.
    """

    copy: bool = False
    profile: Profile | None = None
    replace: bool = False
    licence: str = ""


@dataclass(frozen=True, kw_only=True)
class FitnessChore(Chore):
    """Measure how good a proxy a model is.

    Attributes:
        kind: Always ``fitness``.
        name: Of the model.
        path: Samples to read; None lets texts be made.
        key: The key that marks them.
        profile: What they are marked with.
        source: Name of the generating model, or "".
        texts: How many texts are made.
        tokens: Of each.
    """

    kind: str = "fitness"
    key: KeyChoice
    profile: Profile
    source: str = ""
    texts: int = 12
    tokens: int = 200


def do_store_chore(
    chore: StoreChore, paths: Paths, progress: Report, checkpoint: Checkpoint
) -> str | None:
    """Do it, and say what was done.

    Raises:
        PuraError: It did not work, in words.
        Cancelled: The user stopped it.
    """
    if chore.kind.endswith("-model"):
        return _model(chore, paths, progress, checkpoint)
    folder = ProfileFolder(paths.profiles)
    match chore.kind:
        case "save-profile" if chore.profile is not None:
            name = folder.save(chore.name, chore.profile, replace=chore.replace)
            return _said(translate("Profiles", "The profile “%1” was saved."), name)
        case "import-profile" if chore.path is not None:
            name, notes = folder.take_in(chore.path, chore.name or None)
            said = _said(translate("Profiles", "The profile “%1” was imported."), name)
            return " ".join((said, *imported_words(notes)))
        case "export-profile" if chore.path is not None:
            folder.hand_out(chore.name, chore.path)
            return _said(translate("Profiles", "The profile “%1” was exported."), chore.name)
        case "remove-profile":
            folder.remove(chore.name)
            return _said(translate("Profiles", "The profile “%1” was deleted."), chore.name)
    raise ValueError(chore.kind)


def _model(chore: StoreChore, paths: Paths, progress: Report, checkpoint: Checkpoint) -> str | None:
    from pura.model import offline

    offline.prepare()
    from pura.model.store import ModelStore

    store = ModelStore(paths.models)

    def report(done: int, total: int) -> None:
        progress(Progress(step=5, name="install", done=done, total=total))

    match chore.kind:
        case "install-model":
            name = store.install_builtin(report, checkpoint).name
            return _said(translate("Models", "The model “%1” is installed."), name)
        case "add-model" if chore.path is not None:
            name = store.add(
                chore.path,
                chore.name or None,
                copy=chore.copy,
                licence=chore.licence,
                progress=report,
                checkpoint=checkpoint,
            ).name
            return _said(translate("Models", "The model “%1” is installed."), name)
        case "verify-model":
            found = store.verify(chore.name, report, checkpoint)
            words = translate("Models", "“%1” is what was installed: all %2 files are unchanged.")
            return _said(words, chore.name).replace("%2", number(len(found.files)))
        case "remove-model":
            store.remove(chore.name)
            return _said(translate("Models", "The model “%1” was removed."), chore.name)
    raise ValueError(chore.kind)


def _said(words: str, name: str) -> str:
    return words.replace("%1", name)


def measure_fitness(
    chore: FitnessChore,
    key: SecretKey,
    load: Callable[[str], LanguageModel],
    progress: Report,
    checkpoint: Checkpoint,
) -> ProxyFitness:
    """Measure a model; the texts are made first, where none were given.

    Args:
        chore: What is wanted.
        key: The key.
        load: Gives a model by its name; only one is held, so that the source goes before the
            model comes, unless the divergence needs both.
        progress: Told of texts.
        checkpoint: Called often.
    """
    from pura.lab.fitness.measure import measure
    from pura.lab.fitness.samples import make_samples, read_samples

    def report(name: str) -> Callable[[int, int], None]:
        return lambda done, total: progress(Progress(step=5, name=name, done=done, total=total))

    progress(Progress(step=0, name="model"))
    source = load(chore.source) if chore.source and chore.source != chore.name else None
    if chore.path is not None:
        samples = read_samples(Path(chore.path))
    else:
        samples = make_samples(
            source or load(chore.name),
            chore.profile,
            key,
            texts=chore.texts,
            tokens=chore.tokens,
            progress=report("texts"),
            checkpoint=checkpoint,
        )
    model = load(chore.name)
    return measure(
        model,
        samples,
        chore.profile,
        key,
        source=source,
        made_here=chore.path is None,
        progress=report("fitness"),
        checkpoint=checkpoint,
    )
