"""Let the program of an older version read what today's wrote, and go on with it.

    .venv/bin/python packaging/release/before.py [--models DIR] [REVISION]

Somebody who goes back to the version before must get an answer or a refusal in words, and today's
program must find everything whole afterwards. Today's program makes the files as that of 0.1.0 once
did (``tests/data/v0.1.0/make.py``); the older one comes from the repository's history and runs with
the parts that are installed here. Upgrades are ``tests/old_files``. REVISION: the newest tag;
without one the commit of 0.3.0, which was never tagged.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "release"
UNTAGGED = "8c5b68ac"
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("key", "list"),
    ("profile", "show", "house"),
    ("profile", "list"),
    ("register", "export", "issued.csv"),
    ("caselog", "list"),
    ("caselog", "show", "Letter 17"),
    ("caselog", "verify"),
    ("report", "verify", "report.pdf"),
    ("report", "verify", "signed.pdf"),
    (
        *("verify", "letter.txt", "--profile", "house", "--key", "desk"),
        *("--save", "Letter 17", "--auditor", "A. Example"),
    ),
    ("caselog", "verify"),
)
"""Asked of the older program, in this order; the last audit writes into the case log."""


MAKE = f"""
import runpy
made = runpy.run_path({str(ROOT / "tests/data/v0.1.0/make.py")!r})["main"]
made.__globals__["settings"] = lambda: None  # of the window, whose module has moved since
made.__globals__["REQUEST"]["final"] = False  # 0.1.0 asked for nobody who authorised it
made()
"""


def git(*words: str) -> bytes:
    """Return what git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout


def program(tree: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command of a tree in a folder, on that folder's own settings, keys and cases."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "core"),
        "PURA_HOME": str(folder / "home"),
        "PURA_PASSPHRASE_FILE": str(folder / "passphrase.txt"),
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    return subprocess.run(
        [sys.executable, "-m", "pura.cli", *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def main() -> None:
    """Print a line a question, and end with 1 where an answer is a crash or something is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--models", type=Path, help="folder in which the built-in model is installed"
    )
    parser.add_argument("revision", nargs="?")
    arguments = parser.parse_args()
    models = arguments.models or Path.home() / ".local/share/pura-audit/models"
    tags = git("tag", "--list", "v*", "--sort=-version:refname", "--merged", "HEAD^").split()
    revision = arguments.revision or (tags[0].decode() if tags else UNTAGGED)
    shutil.rmtree(WORK, ignore_errors=True)
    older, folder = WORK / "before", WORK / "files"
    older.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision))) as archive:
        archive.extractall(older, filter="data")
    now = {**os.environ, "PYTHONPATH": str(ROOT / "core")}
    subprocess.run([sys.executable, "-c", MAKE, str(folder), str(models)], env=now, check=True)
    (folder / "home/data/models").symlink_to(models.resolve(), target_is_directory=True)
    broken = ask(older, folder)
    whole = program(ROOT, folder, "caselog", "verify")
    print(f"Today's program, after it: {whole.stdout.strip() or whole.stderr.strip()}")
    if whole.returncode:
        broken.append("the case log, after the older program")
    if broken:
        sys.exit(f"Not as it should be with {revision}: {'; '.join(broken)}")
    print(f"{revision} answers or refuses in words, and leaves everything whole.")


def ask(older: Path, folder: Path) -> list[str]:
    """Ask the older program everything; return the questions that it had no answer to."""
    broken = []
    for words in QUESTIONS:
        done = program(older, folder, *words)
        words_said = (done.stderr or done.stdout).strip().splitlines() or [""]
        print(f"{done.returncode}  {' '.join(words)}: {words_said[0][:90]}", flush=True)
        if done.returncode not in (0, 1, 3) or (done.returncode and "Traceback" in done.stderr):
            broken.append(" ".join(words))
            print(done.stderr[-2000:])
    return broken


if __name__ == "__main__":
    main()
