"""A release without making one, and packages for systems that are not here."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


def script(path: str) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(PACKAGING / path)))


@pytest.fixture
def tree(tmp_path) -> Path:
    """Hold the four files that name the version, ready for a release of 1.2.3."""
    (tmp_path / "core/pura").mkdir(parents=True)
    (tmp_path / "core/pura/version.py").write_text('"""V."""\n\n__version__ = "1.2.3"\n')
    changelog = "# Changelog\n\n## Unreleased\n\n## [1.2.3] - 2026-11-20\n\n### Added\n\n- This.\n"
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\ndate-released: 2026-11-20\n")
    (tmp_path / "packaging/linux").mkdir(parents=True)
    (tmp_path / "packaging/linux/x.metainfo.xml").write_text(
        '<c><releases><release version="1.2.3" date="2026-11-20"/></releases></c>'
    )
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("CHANGELOG.md", "[1.2.3]", "[1.2.2]", "newest heading is not “## [1.2.3]"),
        ("CHANGELOG.md", "2026-11-20", "2999-01-01", "still to come"),
        ("CHANGELOG.md", "Unreleased\n", "Unreleased\n\n- More.\n", "under “Unreleased”"),
        ("CHANGELOG.md", "### Added", "### News", "“News” is none of"),
        ("packaging/linux/x.metainfo.xml", "1.2.3", "1.2.2", "newest release is not 1.2.3"),
        ("packaging/linux/x.metainfo.xml", "11-20", "11-21", "date of 1.2.3"),
        ("CITATION.cff", "1.2.3", "1.2.2", "its version is not 1.2.3"),
        ("CITATION.cff", "11-20", "11-21", "date of 1.2.3"),
    ],
)
def test_a_release_that_does_not_agree_with_itself_is_refused(tree, file, old, new, complaint):
    release = script("release/release.py")
    assert release.disagreements(tree) == []
    path = tree / file
    path.write_text(path.read_text().replace(old, new))
    assert any(complaint in line for line in release.disagreements(tree))


def test_two_builds_are_compared_file_by_file(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    (first / "in").mkdir(parents=True)
    for name in ("same", "in/other", "gone"):
        (first / name).write_text(name)
    (first / "link").symlink_to("same")
    compare = script("release/compare.py")
    shutil.copytree(first, second, symlinks=True)
    assert compare.differences(first, second) == []
    (second / "in/other").write_text("changed")
    (second / "gone").unlink()
    (second / "link").unlink()
    (second / "link").symlink_to("gone")
    assert compare.differences(first, second) == [
        "only in the first: gone",
        "differs: in/other",
        "differs: link",
    ]


@pytest.mark.parametrize(
    ("system", "keyring", "icon"),
    [
        ("linux", "SecretService", None),
        ("darwin", "macOS", "app.icns"),
    ],
)
def test_what_goes_into_the_application_follows_the_system(
    system, keyring, icon, monkeypatch, tmp_path
):
    hooks = SimpleNamespace(
        collect_data_files=lambda name: [(name, name)],
        collect_submodules=lambda name: [name],
        copy_metadata=lambda _name: [],
    )
    for name in ("PyInstaller", "PyInstaller.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("PURA_WHEELS", str(tmp_path))
    monkeypatch.setenv("PURA_ICONS", str(tmp_path))
    made: dict[str, Any] = {"EXE": [], "BUNDLE": []}

    def analysis(scripts: list[str], **given: Any) -> SimpleNamespace:
        made["hidden"] = given["hiddenimports"]
        files = ["torch/bin/protoc", "torch/test/api", "torch/lib/libtorch.so", "pyarrow/include/a"]
        return SimpleNamespace(
            scripts=[(Path(path).stem, path, "") for path in scripts],
            pure=[],
            binaries=[(name, name, "BINARY") for name in files],
            datas=[],
        )

    def collect(*given: Any, **_named: Any) -> str:
        made["files"] = [entry[0] for entry in given[2]]
        return "folder"

    namespace = {
        "SPECPATH": str(PACKAGING),
        "Analysis": analysis,
        "PYZ": lambda pure: pure,
        "EXE": lambda *given, **named: made["EXE"].append((given[1], named)),
        "COLLECT": collect,
        "BUNDLE": lambda *_given, **named: made["BUNDLE"].append(named),
    }
    source = (PACKAGING / "pura-audit.spec").read_text(encoding="utf-8")
    # The list of model classes asks transformers, on every system alike.
    source = source.replace("*causal_language_models(),", "")
    exec(compile(source, "pura-audit.spec", "exec"), namespace)
    assert f"keyring.backends.{keyring}" in made["hidden"]
    assert sum(name.startswith("keyring.backends.") for name in made["hidden"]) <= 2
    assert made["files"] == ["torch/lib/libtorch.so"]
    assert [named["name"] for _, named in made["EXE"]] == ["pura-audit", "pura"]
    for scripts, named in made["EXE"]:
        [started] = [entry[0] for entry in scripts]
        assert (started == "start_command") == named["console"] == (named["name"] == "pura")
        assert named["icon"] == (str(tmp_path / icon) if icon else None)
    assert [named["bundle_identifier"] for named in made["BUNDLE"]] == (
        ["org.puraaudit.Audit"] if system == "darwin" else []
    )


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_workflows_call_what_is_there(path):
    flow = yaml.safe_load(path.read_text(encoding="utf-8"))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] if "steps" in job and "needs" not in job else True
        for step in job["steps"]:
            asked = step.get("run", "").replace("\\", "/")
            for file in re.findall(r"(?:packaging|\.ci)/[\w./-]+", asked):
                assert (ROOT / file).is_file(), file
            for target in re.findall(r"\bmake ([a-z-]+)", asked):
                assert target in targets


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_actions_are_pinned_by_commit_and_images_by_digest(path):
    """A tag can be moved to other code, a commit and a digest cannot."""
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    for job in yaml.safe_load(text)["jobs"].values():
        if "container" in job:
            assert re.fullmatch(r"[\w.:/-]+@sha256:[0-9a-f]{64}", job["container"])


def test_the_container_is_built_on_an_image_named_by_its_digest():
    text = (PACKAGING / "linux/serve/Containerfile").read_text(encoding="utf-8")
    assert re.findall(r"^FROM (?![\w.:/-]+@sha256:[0-9a-f]{64}$)", text, re.MULTILINE) == []


def test_each_python_that_the_project_claims_is_tried_for_each_change():
    flow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    tried = {row["python"] for row in flow["jobs"]["test"]["strategy"]["matrix"]["include"]}
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    claimed = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    assert tried == {f"python{version}" for version in claimed}


def test_the_installer_for_windows_is_told_what_it_asks_for():
    setup = (PACKAGING / "windows/pura-audit.nsi").read_text(encoding="utf-8")
    build = (PACKAGING / "windows/build.sh").read_text(encoding="utf-8")
    asked = set(re.findall(r"\$\{([A-Z]+)\}", setup)) - {"KEY"}
    assert asked == set(re.findall(r'"-D([A-Z]+)=', build)) == {"APP", "FILES", "SETUP", "VERSION"}
    programs = set(re.findall(r"\$INSTDIR\\([\w-]+)\.exe", setup)) - {"uninstall"}
    assert programs == set(re.findall(r'^    \("([\w-]+)", "start_', build, re.MULTILINE))
    # What is written below a key of the registry goes with it.
    written = set(re.findall(r'WriteRegStr SHCTX "([^"]+)"', setup))
    removed = re.findall(r'DeleteRegKey SHCTX "([^"]+)"', setup)
    assert all(any(key.startswith(gone) for gone in removed) for key in written)


def test_the_entitlements_are_a_property_list():
    import plistlib

    granted = plistlib.loads((PACKAGING / "macos/entitlements.plist").read_bytes())
    assert set(granted.values()) == {True}


def test_the_older_program_is_found_in_the_history():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    before = script("release/before.py")
    kind = subprocess.run(
        ["git", "cat-file", "-t", before.UNTAGGED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    shallow = (ROOT / ".git" / "shallow").exists()
    assert shallow or kind.stdout.strip() == "commit"
