"""Turn a GGUF file into a folder of float32 safetensors, once.

Quantised weights are expanded and kept in float32: a 16-bit copy would round them again and move
every interval. The work runs as a child process (``python -m pura.model.convert``) so that it can
be stopped at any moment and a damaged file takes no window down with it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pura.base.errors import ModelError, PuraError
from pura.base.linux import kernel
from pura.model import offline, rehearsal
from pura.model.load import quiet
from pura.model.safety import inspect_gguf

PACKED: Final = "packed as "  # the last line of a conversion that went well
TOLD: Final = "scratch/told"  # beside the target: how far it is, in thousandths
_TOKENIZER, _EXPANDED = 250, 850  # of the work: what the parts took of a small model's conversion


def convert_gguf(source: Path, target: Path) -> None:
    """Write the model in ``source`` to the folder ``target``.

    Args:
        source: A GGUF file.
        target: An existing empty folder.

    Raises:
        ModelError: Damaged, or of an architecture that cannot be expanded.
    """
    try:
        if not packing(source):
            raise ValueError("no tensors")
        _convert(source, target)
    except PuraError:
        raise
    except Exception as error:
        raise ModelError("model.convert", name=source.name, kind=type(error).__name__) from None


def _convert(source: Path, target: Path) -> None:
    import torch
    import transformers

    tell = _teller(target)
    where = {"gguf_file": source.name, "local_files_only": True, "trust_remote_code": False}
    folder = str(source.parent)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **where)
    tell(_TOKENIZER)
    auto: Any = transformers.AutoModelForCausalLM
    # The library expands tensor by tensor, with what it finds under this name when it begins.
    gguf: Any = importlib.import_module("gguf")
    expand, tensors, done = gguf.dequantize, len(gguf.GGUFReader(str(source)).tensors), 0

    def counted(*given: Any) -> Any:
        nonlocal done
        done += 1
        tell(_TOKENIZER + (_EXPANDED - _TOKENIZER) * min(done, tensors) // tensors)
        return expand(*given)

    gguf.dequantize = counted
    try:
        packed, report = auto.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True, **where
        )
    finally:
        gguf.dequantize = expand
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


def _teller(target: Path) -> Callable[[int], None]:
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

    from gguf import GGUFReader

    sizes: Counter[str] = Counter()
    for tensor in GGUFReader(str(source)).tensors:
        sizes[tensor.tensor_type.name] += int(tensor.n_elements)
    return sizes.most_common(1)[0][0] if sizes else ""


def _shut_in(source: Path, target: Path) -> Path:
    """Shut the cage around this process, a file and a folder.

    Returns:
        The file's name in a folder of its own: the libraries look for others beside it.

    Raises:
        ModelError: It is no GGUF file, or the cage cannot be shut.
    """
    inspect_gguf(source)
    offline.prepare()
    # Outside the cage: they load libraries of the system's, which it does not let them reach.
    import gguf  # noqa: F401
    import torch  # noqa: F401
    import transformers

    quiet()
    for name in ("AutoTokenizer", "AutoModelForCausalLM"):
        getattr(transformers, name)  # fetched when first named
    alone, scratch = target.with_name("source"), target.with_name("scratch")
    alone.mkdir()
    scratch.mkdir()
    link = rehearsal.linked_alone(source, alone)
    try:
        rehearsal.shut_in(link, scratch=scratch, writable=[target])
    except OSError:
        raise ModelError("model.rehearsal-start") from None
    return link


def main() -> int:
    """Run as ``python -m pura.model.convert SOURCE TARGET``; the last line of stderr says why."""
    kernel.die_with_parent()
    try:
        source = _shut_in(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
        convert_gguf(source, Path(sys.argv[2]))
        with contextlib.suppress(Exception):  # a detail for the record, nothing depends on it
            sys.stderr.write(f"\n{PACKED}{packing(source)}\n")
    except ModelError as error:
        sys.stderr.write(f"\n{json.dumps(error.packed())}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
