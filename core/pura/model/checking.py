"""Is an installed model still what it was when it came? Every file is hashed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pura.base.errors import ModelError
from pura.model.installed import RECORD, InstalledModel, file_hash
from pura.model.safety import inspect_folder


def verify(
    model: InstalledModel,
    progress: Callable[[int, int], None],
    checkpoint: Callable[[], None],
) -> None:
    """Compare a model with its record.

    Args:
        model: The installed model.
        progress: Gets files done and files in all.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        ModelError: What is missing, changed or new, by name; or the folder has become unsafe.
    """
    inspect_folder(model.path)
    there = {path.name for path in _files(model.path)}
    missing = sorted(model.files.keys() - there)
    # Documentation may come and go; whatever a loader could read may not.
    new = sorted(name for name in there - model.files.keys() if _is_loaded(name))
    changed = []
    known = sorted(there & model.files.keys())
    for number, name in enumerate(known):
        progress(number, len(known))
        if file_hash(model.path / name, checkpoint) != model.files[name]:
            changed.append(name)
    progress(len(known), len(known))
    faults = [
        f"{what}: {', '.join(names)}"
        for what, names in (("missing", missing), ("changed", changed), ("new", new))
        if names
    ]
    if faults:
        raise ModelError(
            "model.changed", name=model.name, faults="; ".join(faults), code="model-changed"
        )


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and path.name != RECORD]


def _is_loaded(name: str) -> bool:
    return name.endswith((".safetensors", ".json", ".model", ".txt", ".jinja"))
