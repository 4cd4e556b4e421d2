"""What every benchmark needs: machine facts, medians of interleaved runs, tables, memory."""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pura.model import libraries

libraries.prepare()


def parse(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None, /, **small: Any
) -> argparse.Namespace:
    """Parse the command line of a benchmark, which gets ``--small`` beside its own options.

    With ``--small`` a benchmark does everything once with as little as possible. Its numbers then
    say nothing, so a target of time that is missed is printed and is no exit status. What a small
    run leaves in a cache is too little for a full one.

    Args:
        parser: Has the options of the benchmark.
        arguments: The command line; left out: that of the process.
        **small: With ``--small``, what options are that the command line does not give.
    """
    parser.add_argument("--small", action="store_true", help="one short run, to see that it runs")
    given = sys.argv[1:] if arguments is None else arguments
    if "--small" in given:
        parser.set_defaults(**small)
    return parser.parse_args(given)


def machine_facts() -> dict[str, str]:
    """Return what a number is worth nothing without."""
    import torch

    from pura.model.device import choose_device

    facts = {
        "processor": choose_device("cpu").name,
        "cores": str(os.cpu_count()),
        "threads of torch": str(torch.get_num_threads()),
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "unset"),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    facts |= {name: version(name) for name in ("torch", "transformers", "numpy")}
    facts["load before"] = f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"
    facts["GPU"] = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"
    return facts


def print_facts(title: str, seed: int) -> None:
    """Print the head of a benchmark."""
    print(f"\n## {title}")
    for name, value in machine_facts().items():
        print(f"{name}: {value}")
    print(f"seed: {seed}\n", flush=True)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in plain Markdown, numbers to the right."""
    widths = [max(len(str(r[i])) for r in (columns, *rows)) for i in range(len(columns))]
    for number, row in enumerate((columns, *rows)):
        cells = [
            str(c).ljust(w) if i == 0 else str(c).rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        print("| " + " | ".join(cells) + " |")
        if number == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    print(flush=True)


def interleaved(
    ways: Mapping[str, Callable[[], Any]],
    *,
    rounds: int,
    warm_ups: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time several ways in turn, so that a busy moment of the machine meets all of them.

    Returns:
        Seconds of each round by name, warm-ups left out.
    """
    for _ in range(warm_ups):
        for way in ways.values():
            way()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        # The order turns with the rounds: whoever follows a heavy way finds a cold cache.
        names = list(ways)[number % len(ways) :] + list(ways)[: number % len(ways)]
        for name in names:
            start = clock()
            ways[name]()
            times[name].append(clock() - start)
    return times


def median_ratio(times: Mapping[str, Sequence[float]], name: str, base: str) -> float:
    """Return the median over the rounds of ``name`` divided by ``base`` in the same round."""
    return statistics.median(a / b for a, b in zip(times[name], times[base], strict=True))


def write_private(path: Path, content: str) -> Path:
    """Write a file that only its user can read, as engines and gateways ask for."""
    path.touch(mode=0o600)
    path.write_text(content)
    return path


def write_signer(folder: Path) -> dict[str, str]:
    """Write a certificate for manifests, and return the part of a policy that names it."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.core.certificates import authority, key_pem, manifest_signer, pem

    root = authority()
    key, certificate = manifest_signer(root)
    write_private(folder / "signer.pem", pem(certificate, root[1]).decode())
    write_private(folder / "signer.key", key_pem(key).decode())
    return {
        "certificate": "signer.pem",
        "key": "signer.key",
        "soft_binding": "org.example.pura.1",
        "embed": "a8",
        "folder": "manifests",
    }


def peak_memory_bytes() -> int:
    """Return the high-water mark of this process's memory, on Linux."""
    # Not that of getrusage, which counts what the parent held when it started this process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024  # type: ignore[index]


def load_builtin(device: str = "cpu", *, instead: str = "", library: bool = False) -> Any:
    """Load the built-in model from the user's store, or the one of another name.

    With ``library`` it has the network of transformers, which also generates and saves.
    """
    from pura.base.paths import user_paths
    from pura.model.device import choose_device
    from pura.model.load import load_model, wrap
    from pura.model.store import ModelStore

    store = ModelStore(user_paths().models)
    model = store.get(instead) if instead else store.install_builtin()
    found = load_model(model, choose_device(device))
    if not library:
        return found
    return wrap(plain_network(found), found.tokenizer, found.device, name=found.name)


def plain_network(model: Any) -> Any:
    """Load the network of a model as transformers itself does, beside ours."""
    import transformers

    from pura.base.paths import user_paths
    from pura.model.store import ModelStore

    path = ModelStore(user_paths().models).get(model.name).path
    folder, extra = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
    return (
        transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=model.device.torch_dtype, local_files_only=True, **extra
        )
        .eval()
        .to(model.device.torch_device)
    )
