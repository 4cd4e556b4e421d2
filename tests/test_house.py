"""The house itself: arrows, imports, words, links, the binding that must not corrupt references."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(
    p
    for folder in ("core", "app", "bench", "packaging", "tests", "docs", "resources", ".ci")
    for p in (ROOT / folder).rglob("*")
    if p.is_file() and p.suffix in {".py", ".md", ".sh", ".json", ".toml", ".qss", ".ts", ""}
    and "__pycache__" not in p.parts
)  # fmt: skip
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# Built in pieces, or this file would find itself.
MACHINE = [
    "/" + "work/main",
    "/" + "root/",
    "." + "library",
    "/tmp/" + "bash_jobs",
    "../" + "shared",
]
MODULES = sorted((ROOT / "core").rglob("*.py")) + sorted((ROOT / "app").rglob("*.py"))


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


def test_imports_point_one_way() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_core_needs_no_qt_and_the_rooms_of_evidence_no_torch() -> None:
    done = python(
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('PySide6', 'shiboken6', 'pyqtgraph', 'torch',\n"
        "                                  'transformers'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "import pura, pura.scheme, pura.extract, pura.decode.exact, pura.decode.passages\n"
        "import pura.audit.record, pura.audit.json_io, pura.audit.run, pura.cli.__main__\n"
        "assert 'torch' not in sys.modules\n"
    )
    assert done.returncode == 0, done.stderr


def test_qt_does_not_lose_references_to_true() -> None:
    """PySide6 6.12.0 on Python 3.11 drops one a signal, until the process aborts."""
    done = python(
        "import sys\n"
        "from PySide6.QtCore import QObject, Signal\n"
        "class Sender(QObject):\n"
        "    sent = Signal(int)\n"
        "sender = Sender()\n"
        "before = sys.getrefcount(True)\n"
        "for _ in range(300):\n"
        "    sender.sent.emit(1)\n"
        "assert abs(sys.getrefcount(True) - before) < 50\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_names_the_machine_it_was_written_on(path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return  # a picture or a font
    found = [word for word in MACHINE if word in text]
    assert not found


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_inside_the_pages_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target or target.startswith(("#", "mailto:")):
            continue
        file = (path.parent / target.partition("#")[0]).resolve()
        assert file.exists(), f"{path.name} links to {target}, which is not there"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_are_small_and_say_what_they_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert text.count("\n") <= 500, "look for the idea along which this module divides"


def test_constraints_name_every_direct_dependency() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["gui"]]
    wanted += project["optional-dependencies"]["dev"]
    pins = (ROOT / "constraints.txt").read_text().lower().replace("_", "-")
    for requirement in wanted:
        name = re.split(r"[<>=!~\[ ]", requirement)[0].lower().replace("_", "-")
        assert f"\n{name}==" in pins, f"{name} is not pinned in constraints.txt"
