"""What can be said of the package without building it; ``make package`` proves the rest."""

import ast
import configparser
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pura.base.paths import resource
from pura.scheme import SecretKey
from pura.version import __version__
from pura_audit.tools import packaged_check

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
FOLDER = PACKAGING / "linux"


@pytest.mark.parametrize("script", sorted(PACKAGING.glob("*/*.sh")), ids=lambda p: p.name)
def test_the_scripts_are_sound_shell_and_may_be_run(script):
    assert script.stat().st_mode & 0o111
    shell = "bash" if script.read_text().startswith("#!/usr/bin/env bash") else "sh"
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_desktop_entry_names_the_program_and_its_icon():
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment, method-assign]
    entry.read(FOLDER / "pura-audit.desktop", encoding="utf-8")
    section = entry["Desktop Entry"]
    assert section["Type"] == "Application"
    assert section["Exec"].split()[0] == section["Icon"] == section["StartupWMClass"]
    assert section["Categories"].endswith(";")
    assert section["MimeType"].endswith(";")
    assert resource("ui", "icons", "app.svg").is_file()


def test_what_a_software_centre_shows_agrees_with_the_rest():
    [path] = FOLDER.glob("*.metainfo.xml")
    about = ET.parse(path).getroot()
    assert f"{about.findtext('id')}.metainfo.xml" == path.name
    assert about.findtext("launchable") == "pura-audit.desktop"
    releases = [release.get("version") for release in about.iter("release")]
    assert releases[0] == __version__, "the newest release stands first"
    both = [node.get("{http://www.w3.org/XML/1998/namespace}lang") for node in about.iter("li")]
    assert both.count(None) == both.count("de")
    assert f'APP_ID = "{about.findtext("id")}"\n' in (PACKAGING / "build.py").read_text()


def test_every_start_script_can_be_its_own_child_first():
    for name in ("start_window.py", "start_command.py"):
        guarded = ast.parse((PACKAGING / name).read_text(encoding="utf-8")).body[-1]
        assert isinstance(guarded, ast.If)
        assert ast.unparse(guarded.body[0]) == "run_as_child(sys.argv)"


def test_the_package_can_show_that_its_keyrings_are_there():
    done = subprocess.run(
        [sys.executable, "-m", "pura_audit.tools.packaged_check", "keyrings"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "SecretService" in done.stdout


def test_the_sample_is_written_as_files_for_the_command(tmp_path):
    packaged_check.write_sample(tmp_path)
    assert (tmp_path / "text.txt").stat().st_size > 300
    assert SecretKey.from_hex((tmp_path / "key.txt").read_text()).fingerprint


def test_install_and_remove_leave_nothing_behind(tmp_path):
    app = tmp_path / "built"
    share = app / "share"
    for name in (
        "applications/pura-audit.desktop",
        "icons/hicolor/scalable/apps/pura-audit.svg",
        "metainfo/org.puraaudit.Audit.metainfo.xml",
        "bash-completion/completions/pura",
        "man/de/man1/pura-key.1",
    ):
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).write_text(f"{name}\n")
    shutil.copy(FOLDER / "pura-audit.desktop", share / "applications")
    shutil.copy(FOLDER / "install.sh", app)
    for name in ("pura", "pura-audit"):
        (app / name).write_text(f"#!/bin/sh\necho {name}\n")
        (app / name).chmod(0o755)
    prefix = tmp_path / "a prefix"

    def run(*command: str | Path) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    one_file = tmp_path / "pura-audit.run"
    with tarfile.open(tmp_path / "folder.tar.gz", "w:gz") as folder:
        folder.add(app, arcname="pura-audit")
    start = (FOLDER / "unpack.sh").read_bytes()
    one_file.write_bytes(start + (tmp_path / "folder.tar.gz").read_bytes())
    run("sh", one_file, "--prefix", prefix)
    run(app / "install.sh", "--prefix", prefix)  # installing again replaces
    assert run(prefix / "bin/pura") == "pura\n"
    desktop = (prefix / "share/applications/pura-audit.desktop").read_text(encoding="utf-8")
    assert f'Exec="{prefix}/lib/pura-audit/pura-audit" %F' in desktop
    assert (prefix / "share/man/de/man1/pura-key.1").is_file()
    assert (prefix / "share/metainfo/org.puraaudit.Audit.metainfo.xml").is_file()
    mine = prefix / "share/man/man1/other.1"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("of another program\n")
    run("sh", one_file, "--prefix", prefix, "--remove")
    assert mine.is_file()
    mine.unlink()
    left = [p for p in prefix.rglob("*") if not p.is_dir()]
    # A cache of the desktop's own, where its program is there.
    assert [p for p in left if p.name != "mimeinfo.cache"] == []
