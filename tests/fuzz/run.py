"""Fuzz one target, or all of them one after another, guided by the lines that inputs reach.

    tests/fuzz/run.sh --seconds 600             # all targets share the time
    tests/fuzz/run.sh --only reader-html case   # these alone

Each target runs in a process of its own. New inputs that reach new lines go to ``build/fuzz``; the
seeds in ``tests/fuzz/corpus`` stay as they are. A fault ends its target, its input is kept beside
them, and the exit status says so. The script beside this one brings Atheris.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORPUS = HERE / "corpus"
MOST_BYTES = 1 << 16
SLOW_S, MEMORY_MB = 20, 3000


def child(name: str, options: list[str]) -> None:
    """Fuzz a target in this process; never returns."""
    import atheris

    os.environ["PURA_HOME"] = str(ROOT / "build" / "fuzz" / "home")
    sys.path.insert(0, str(HERE))
    parts = ["pura", "olefile", "email", "zipfile", "json", "csv", "pyhanko", "asn1crypto", "gguf"]
    with atheris.instrument_imports(include=parts):
        import targets

        target = targets.targets()[name]()

    atheris.Setup([name, *options], lambda data: targets.tried(target, bytes(data)))
    atheris.Fuzz()


def fuzzed(name: str, seconds: int) -> tuple[int, int]:
    """Run a target for a while; return the inputs that it got, and its exit status."""
    place = ROOT / "build" / "fuzz" / name
    place.mkdir(parents=True, exist_ok=True)
    seeds = CORPUS / name
    options = [str(place), *([str(seeds)] if seeds.is_dir() else [])]
    options += [f"-max_total_time={seconds}", f"-max_len={MOST_BYTES}", f"-timeout={SLOW_S}"]
    options += [f"-rss_limit_mb={MEMORY_MB}", "-print_final_stats=1"]
    options += [f"-artifact_prefix={ROOT / 'build' / 'fuzz'}/{name}-"]
    done = subprocess.run(
        [sys.executable, __file__, "--child", name, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    (ROOT / "build" / "fuzz" / f"{name}.log").write_text(done.stderr)
    count = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    return int(count[1]) if count else 0, done.returncode


def main() -> int:
    """Fuzz what was asked for."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3:])
    sys.path.insert(0, str(HERE))
    import targets

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together")
    parser.add_argument("--only", nargs="+", default=sorted(targets.targets()), metavar="TARGET")
    asked = parser.parse_args()
    faults, total = [], 0
    for name in asked.only:
        count, status = fuzzed(name, max(1, asked.seconds // len(asked.only)))
        total += count
        print(f"{name:16} {count:9} inputs{'' if status == 0 else '  FAULT'}", flush=True)
        faults += [name] * (status != 0)
    print(f"{'all':16} {total:9} inputs; faults: {', '.join(faults) or 'none'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
