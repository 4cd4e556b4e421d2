"""Turn a GGUF file into a folder of float32 safetensors, once.

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

PACKED: Final = "packed as "  # the last line of a conversion that went well
TOLD: Final = "scratch/told"  # beside the target: how far it is, in thousandths
_TOKENIZER, _EXPANDED = 400, 850  # of the work: what the parts took of a small model's conversion
_TAKEN: Final = ("GGUFReader", "dequantize", "get_tensor_name_map")
Tell = Callable[[int], None]


def convert_gguf(source: Path, target: Path) -> str:
    """Write the model in ``source`` to the folder ``target``.

    Args:
        source: A GGUF file.
        target: An existing empty folder.

    Returns:
        How most of its weights were packed.

    Raises:
        ModelError: Damaged, or of an architecture that cannot be expanded.
    """
    try:
        with _watched(_teller(target)) as tell:
            refuse_unknown_gguf(metadata_of(source))
            packed = packing(source)
            if not packed:
                raise ValueError("no tensors")
            _convert(source, target, tell)
        return packed
    except PuraError:
        raise
    except Exception:
        raise ModelError("model.file-damaged", name=source.name) from None


@contextlib.contextmanager
def _watched(tell: Tell) -> Iterator[Tell]:
    """Let the GGUF library read a file once, and tell of each weight that it expands.

    Transformers opens the file four times, each time reading all words of its vocabulary one by
    one, and makes the table of weights' names anew for every layer; both say the same each time.
    It takes these functions from the library when it begins, so what stands there then is called.
    """
    library: Any = importlib.import_module("gguf")
    kept = {name: getattr(library, name) for name in _TAKEN}
    readers: dict[str, Any] = {}
    done = 0

    def read(path: str) -> Any:
        if path not in readers:
            readers[path] = kept["GGUFReader"](path)
        return readers[path]

    def expand(*given: Any) -> Any:
        nonlocal done
        done += 1
        every = max(done, *(len(reader.tensors) for reader in readers.values()))
        tell(_TOKENIZER + (_EXPANDED - _TOKENIZER) * done // every)
        return kept["dequantize"](*given)

    library.GGUFReader, library.dequantize = read, expand
    library.get_tensor_name_map = functools.cache(library.get_tensor_name_map)
    try:
        yield tell
    finally:
        for name, own in kept.items():
            setattr(library, name, own)


def _convert(source: Path, target: Path, tell: Tell) -> None:
    import torch
    import transformers

    where = {"gguf_file": source.name, "local_files_only": True, "trust_remote_code": False}
    folder = str(source.parent)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **where)
    tell(_TOKENIZER)
    auto: Any = transformers.AutoModelForCausalLM
    packed, report = auto.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True, **where
    )
    tell(_EXPANDED)
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


def _teller(target: Path) -> Tell:
    """Return what writes down how far it is, where whoever waits looks for it."""
    file = target.parent / TOLD

    def tell(thousandths: int) -> None:
        if file.parent.is_dir():
            file.write_text(str(thousandths))

    return tell


def told(shop: Path) -> int:
    """Return how far the conversion in a folder is, in thousandths; 0 while nothing was told."""
    try:
        return min(1000, int((shop / TOLD).read_text()))
    except (OSError, ValueError):
        return 0


def packing(source: Path) -> str:
    """Return how most of a GGUF file's weights are packed, e.g. ``Q4_K`` or ``F16``."""
    from collections import Counter

    import gguf

    sizes: Counter[str] = Counter()
    for tensor in gguf.GGUFReader(str(source)).tensors:
        sizes[tensor.tensor_type.name] += int(tensor.n_elements)
    return sizes.most_common(1)[0][0] if sizes else ""


def _shut_in(source: Path, target: Path) -> Path:
    """Put this process into the sandbox, with a file and a folder.

    Returns:
        The file's name in a folder of its own: the libraries look for others beside it.

    Raises:
        ModelError: It is no GGUF file, or the sandbox cannot be entered.
    """
    metadata_of(source)
    libraries.prepare()
    # Outside the sandbox: they load libraries of the system's, which it does not let them reach.
    import gguf  # noqa: F401
    import torch  # noqa: F401
    import transformers

    quiet()
    for name in ("AutoTokenizer", "AutoModelForCausalLM"):
        getattr(transformers, name)  # fetched when first named
    alone, scratch = target.with_name("source"), target.with_name("scratch")
    alone.mkdir()
    scratch.mkdir()
    link = trial.linked_alone(source, alone)
    try:
        trial.enter_sandbox(link, scratch=scratch, writable=[target])
    except OSError:
        raise ModelError("model.rehearsal-start") from None
    return link


def main() -> int:
    """Run as ``python -m pura.model.convert SOURCE TARGET``; the last line of stderr says why."""
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
