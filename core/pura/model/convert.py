"""Conversion of a GGUF file to a folder of float32 safetensors.

Quantised weights are expanded and kept in float32: a 16-bit copy would round them again and move
every interval. The work runs as a child process (``python -m pura.model.convert``) so that it can
be stopped at any moment and a damaged file takes no window down with it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pura.base import linux
from pura.base.errors import ModelError, PuraError
from pura.model import libraries, trial
from pura.model.load import quiet
from pura.model.suitability import metadata_of, refuse_unknown_gguf

PACKED: Final = "packed as "  # begins the last line of a successful conversion
PROGRESS_FILE: Final = "scratch/told"  # beside the target; holds the progress in thousandths
_TOKENIZER, _EXPANDED = 400, 850  # thousandths of the work, measured on a small model
_REPLACED_FUNCTIONS: Final = ("GGUFReader", "dequantize", "get_tensor_name_map")
SetProgress = Callable[[int], None]


def convert_gguf(source: Path, target: Path) -> str:
    """Write the model in ``source`` to the folder ``target``.

    Args:
        source: A GGUF file.
        target: An existing empty folder.

    Returns:
        The format in which most of its weights were packed.

    Raises:
        ModelError: The file is damaged, or its architecture cannot be expanded.
    """
    try:
        with _watched(_teller(target)) as set_progress:
            refuse_unknown_gguf(metadata_of(source))
            packed = packing(source)
            if not packed:
                raise ValueError("no tensors")
            _convert(source, target, set_progress)
        return packed
    except PuraError:
        raise
    except Exception:
        raise ModelError("model.file-damaged", name=source.name) from None


@contextlib.contextmanager
def _watched(set_progress: SetProgress) -> Iterator[SetProgress]:
    """Make the GGUF library read a file once, and report each weight that it expands.

    Transformers opens the file four times, each time reading the vocabulary entry by entry, and
    makes the table of weight names again for every layer; the results never differ. It looks these
    functions up in the library when it begins, so they are replaced there meanwhile.
    """
    library: Any = importlib.import_module("gguf")
    originals = {name: getattr(library, name) for name in _REPLACED_FUNCTIONS}
    readers: dict[str, Any] = {}
    expanded = 0

    def read(path: str) -> Any:
        if path not in readers:
            readers[path] = originals["GGUFReader"](path)
        return readers[path]

    def expand(*arguments: Any) -> Any:
        nonlocal expanded
        expanded += 1
        total = max(expanded, *(len(reader.tensors) for reader in readers.values()))
        set_progress(_TOKENIZER + (_EXPANDED - _TOKENIZER) * expanded // total)
        return originals["dequantize"](*arguments)

    library.GGUFReader, library.dequantize = read, expand
    library.get_tensor_name_map = functools.cache(library.get_tensor_name_map)
    try:
        yield set_progress
    finally:
        for name, original in originals.items():
            setattr(library, name, original)


def _convert(source: Path, target: Path, set_progress: SetProgress) -> None:
    import torch
    import transformers

    options = {"gguf_file": source.name, "local_files_only": True, "trust_remote_code": False}
    folder = str(source.parent)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
    set_progress(_TOKENIZER)
    auto: Any = transformers.AutoModelForCausalLM
    packed, report = auto.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True, **options
    )
    set_progress(_EXPANDED)
    # The library fills what the file lacks with random numbers.
    if report["missing_keys"] or report["mismatched_keys"]:
        raise ModelError("model.weights-missing", code="model-damaged")
    config = packed.config
    # A network that remembers it was quantised refuses to be saved; its weights are plain now.
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = type(packed)(config)
    plain.load_state_dict(packed.state_dict())
    plain.tie_weights()
    plain.to(torch.float32).save_pretrained(target)
    tokenizer.save_pretrained(target)


def _teller(target: Path) -> SetProgress:
    """Return a function that writes the progress to the file that the parent process reads."""
    file = target.parent / PROGRESS_FILE

    def tell(thousandths: int) -> None:
        if file.parent.is_dir():
            file.write_text(str(thousandths))

    return tell


def told(shop: Path) -> int:
    """Return the progress of the conversion in a folder, in thousandths; 0 at first."""
    try:
        return min(1000, int((shop / PROGRESS_FILE).read_text()))
    except (OSError, ValueError):
        return 0


def packing(source: Path) -> str:
    """Return the format of most of a GGUF file's weights, e.g. ``Q4_K`` or ``F16``."""
    from collections import Counter

    import gguf

    sizes: Counter[str] = Counter()
    for tensor in gguf.GGUFReader(str(source)).tensors:
        sizes[tensor.tensor_type.name] += int(tensor.n_elements)
    return sizes.most_common(1)[0][0] if sizes else ""


def _shut_in(source: Path, target: Path) -> Path:
    """Enter the sandbox with access to one file and one folder.

    Returns:
        A link to the file in an otherwise empty folder: the libraries look for files beside it.

    Raises:
        ModelError: The file is not GGUF, or the sandbox cannot be entered.
    """
    metadata_of(source)
    libraries.prepare()
    # Imported outside the sandbox: they load system libraries that it does not let them reach.
    import gguf  # noqa: F401
    import torch  # noqa: F401
    import transformers

    quiet()
    for name in ("AutoTokenizer", "AutoModelForCausalLM"):
        getattr(transformers, name)  # transformers imports these on first access
    source_folder, scratch = target.with_name("source"), target.with_name("scratch")
    source_folder.mkdir()
    scratch.mkdir()
    link = trial.linked_alone(source, source_folder)
    try:
        trial.enter_sandbox(link, scratch=scratch, writable=[target])
    except OSError:
        raise ModelError("model.rehearsal-start") from None
    return link


def main() -> int:
    """Run as ``python -m pura.model.convert SOURCE TARGET``; stderr ends with the outcome."""
    linux.die_with_parent()
    try:
        source = _shut_in(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
        packed = convert_gguf(source, Path(sys.argv[2]))
        sys.stderr.write(f"\n{PACKED}{packed}\n")
    except ModelError as error:
        sys.stderr.write(f"\n{json.dumps(error.packed())}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
