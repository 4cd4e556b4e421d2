"""The house itself, where the linters do not look: words, links, pins, the binding of Qt."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
# Everything that a clone holds, without what is made in it.
MADE = {
    ".venv",
    ".engines",
    ".tools",
    ".git",
    "demo-output",
    "build",
    "dist",
    "node_modules",
    "__pycache__",
}
TEXTS = {".py", ".md", ".sh", ".json", ".toml", ".txt", ".yaml", ".qss", ".ts", ".svg", ".typ", ""}


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in MADE:
            continue
        if path.is_dir():
            if not path.name.endswith("_cache"):
                yield from _files(path)
        elif path.suffix in TEXTS:
            yield path


SOURCES = [p for p in _files(ROOT) if ".hypothesis" not in p.parts]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# Built in pieces, or this file would find itself.
MACHINE = [
    "/" + "work/",
    "/" + "root/",
    "/" + "opt/",
    "." + "library",
    "bash_" + "jobs",
    "../" + "shared",
    "pypi." + "org",
    "python" + "hosted",
    "debian." + "org",
    "host." + "internal",
]


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


def test_the_core_needs_no_qt_and_the_rooms_of_evidence_no_torch():
    done = python(
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('PySide6', 'shiboken6', 'pyqtgraph', 'torch',\n"
        "                                  'transformers'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "import pura, pura.scheme, pura.detect.local\n"
        "import pura.detect.decode.exact, pura.detect.decode.chain\n"
        "import pura.record.audit, pura.record.json_io, pura.detect.together, pura.cli.__main__\n"
        "import pura.usecases.audits\n"
        "late = {'torch', 'cryptography', 'scipy'} & set(sys.modules)\n"
        "assert not late, late\n"
    )
    assert done.returncode == 0, done.stderr


def test_licences_are_those_that_the_readme_names():
    """Qt's libraries are files beside the program; no tracked file is as large as weights are."""
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")[:200]
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    qt = metadata.distribution("PySide6-Essentials")
    assert "LGPL-3.0" in qt.metadata["License"]
    assert any("libQt6Core.so" in str(file) or "Qt6Core.dll" in str(file) for file in qt.files)
    assert max(path.stat().st_size for path in SOURCES) < 10_000_000


def test_qt_does_not_lose_references_to_true():
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


def test_no_file_names_the_machine_it_was_written_on():
    naming = []
    for path in SOURCES:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or a font
        naming += [f"{path}: {word}" for word in MACHINE if word in text]
    assert not naming


def test_links_inside_the_pages_lead_somewhere():
    broken = []
    for path in PAGES:
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" in target or target.startswith(("#", "mailto:")):
                continue
            if not (path.parent / target.partition("#")[0]).resolve().exists():
                broken.append(f"{path.name} links to {target}")
    assert not broken


def test_prose_of_the_pages_is_wrapped_at_100_columns():
    """Tables, code, headings and HTML are left; so is a picture or a link that has its own line."""
    parser = MarkdownIt("commonmark").enable("table")
    alone = re.compile(r"!?\[[^\]]*\]\([^()\s]*\)")
    too_long = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = text.split("\n")
        for token in parser.parse(text):
            if token.type != "paragraph_open" or token.map is None:
                continue
            too_long += [
                f"{page.relative_to(ROOT)}:{number + 1}"
                for number in range(*token.map)
                if len(lines[number]) > 100 and not alone.fullmatch(lines[number].strip())
            ]
    assert too_long == []


def test_every_decision_has_its_line_in_the_index():
    folder = ROOT / "docs" / "how-it-works" / "decisions"
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    listed = [match[1] for line in lines if (match := re.match(r"\| \[\d{3}\]\((.+?)\) \|", line))]
    assert listed == sorted(p.name for p in folder.glob("[0-9]*.md") if p.name[:3] != "000")


def test_every_page_is_reached_from_the_readme():
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        links = re.findall(r"\]\(([^)#\s]+\.md)", page.read_text(encoding="utf-8"))
        waiting += [(page.parent / link).resolve() for link in links if "://" not in link]
    assert set(PAGES) <= seen


def test_the_tour_names_files_functions_and_classes_that_are_there():
    page = (ROOT / "docs" / "how-it-works" / "tour.md").read_text(encoding="utf-8")
    stops = page.split("\n## ")[1:6]
    assert [stop.split(".")[0] for stop in stops] == ["1", "2", "3", "4", "5"]
    for stop in stops:
        paths = re.findall(r"`((?:core|app)/[\w/]+(?:\.py)?)`", stop)
        assert paths
        missing = [path for path in paths if not (ROOT / path).exists()]
        assert not missing
        source = "\n".join(
            (ROOT / path).read_text(encoding="utf-8") for path in paths if path.endswith(".py")
        )
        identifiers = re.findall(r"`(?:[A-Z]\w+\.)?([A-Za-z_]\w+)`", stop)
        gone = [name for name in identifiers if not re.search(rf"\b{name}\b", source)]
        assert not gone
    drawn = (ROOT / "docs" / "images" / "tour.svg").read_text(encoding="utf-8")
    for path in re.findall(r">([\w/]+\.py)<", drawn):
        roots = [ROOT / root / path for root in ("core/pura", "app/pura_audit")]
        assert any(root.exists() for root in roots), path


def test_constraints_name_every_direct_dependency():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(one for extra in extras for one in extra)]
    pins = (ROOT / "constraints.txt").read_text().lower().replace("_", "-")
    for requirement in wanted:
        name = re.split(r"[<>=!~\[ ]", requirement)[0].lower().replace("_", "-")
        assert f"\n{name}==" in pins, f"{name} is not pinned in constraints.txt"
    # Beside every pin stands its file's digest; of torch each machine has a build of its own, and
    # rouge-score has no wheel.
    digests = (ROOT / "packaging" / "setup" / "hashes.txt").read_text().lower().replace("_", "-")
    held = re.findall(r"^(\S+==\S+) --hash=sha256:[0-9a-f]{64}$", digests, re.MULTILINE)
    assert set(re.findall(r"^\S+==\S+", pins, re.MULTILINE)) - set(held) <= set(
        re.findall(r"^(?:torch|rouge-score)==\S+", pins, re.MULTILINE)
    )


def test_make_knows_every_target_that_the_pages_name():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    on_pages = {
        target
        for page in PAGES
        for target in re.findall(
            r"^ {4}make ([a-z-]+)|`make ([a-z-]+)`", page.read_text("utf-8"), flags=re.MULTILINE
        )
        for target in target
        if target
    }
    assert {"demo", "test", "install"} <= on_pages
    assert on_pages <= targets
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for target in on_pages:
        assert f"make {target} " in listed


def test_the_makefile_has_what_is_used_daily_and_no_more():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+)[a-z -]*:", makefile, flags=re.MULTILINE))
    assert len(targets) <= 16
    [phony] = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)$", makefile, flags=re.MULTILINE)
    assert set(phony.replace("\\\n", " ").split()) == targets


@pytest.mark.parametrize("script", ["packaging/weekly.sh", "bench/run.sh"])
def test_a_script_of_commands_explains_those_that_pages_and_workflows_name(script):
    done = subprocess.run(["sh", script], cwd=ROOT, capture_output=True, text=True, check=True)
    offered = set(re.findall(rf"^ *{script} ([a-z]+)", done.stdout, flags=re.MULTILINE))
    source = (ROOT / script).read_text(encoding="utf-8")
    assert offered == set(re.findall(r"^    ([a-z]+)\)$", source, flags=re.MULTILINE))
    callers = [*PAGES, *(ROOT / ".github").rglob("*.yml"), *(ROOT / "tests").rglob("*.py")]
    mentioned = {
        command
        for path in callers
        for command in re.findall(rf"{script} ([a-z]+)", path.read_text(encoding="utf-8"))
    }
    assert mentioned <= offered | {"help"}
    refused = subprocess.run(["sh", script, "no"], cwd=ROOT, capture_output=True, check=False)
    assert refused.returncode == 2


def test_resources_are_found_from_the_tree():
    from pura.base.paths import resource

    for name in ("vectors", "samples", "models.json", "languages", "audit.schema.json"):
        assert resource(name).exists(), name
