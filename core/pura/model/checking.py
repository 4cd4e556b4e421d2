"""Is an installed model still what it was when it came? Every file is hashed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pura.base.errors import ModelError
from pura.model.installed import RECORD, InstalledModel, file_hash
from pura.model.safety import MAX_JSON_BYTES, inspect_folder


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


def refuse_changed(model: InstalledModel) -> None:
    """Refuse a model whose settings or tokenizer are not what was installed and rehearsed.

    Weights are large and hold numbers only; :func:`verify` hashes them too.

    Raises:
        ModelError: What is missing, changed or new, by name.
    """
    there = {path.name: path for path in _files(model.path) if _is_settings(path.name)}
    known = {name: digest for name, digest in model.files.items() if _is_settings(name)}
    faults = sorted(there.keys() ^ known.keys())
    faults += [
        name
        for name in sorted(there.keys() & known.keys())
        if there[name].stat().st_size > MAX_JSON_BYTES or file_hash(there[name]) != known[name]
    ]
    if faults:
        raise ModelError(
            "model.changed", name=model.name, faults=", ".join(faults), code="model-changed"
        )


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and path.name != RECORD]


def _is_loaded(name: str) -> bool:
    return name.endswith(".safetensors") or _is_settings(name)


def _is_settings(name: str) -> bool:
    return name.endswith((".json", ".model", ".txt", ".jinja"))
