"""What can be said of the package without building it; ``make package`` proves the rest."""

from __future__ import annotations

import ast
import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pura.base.resources import resource
from pura.scheme import SecretKey
from pura_audit.tools import packaged_check

FOLDER = Path(__file__).resolve().parents[2] / "packaging" / "linux"


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.sh")), ids=lambda p: p.name)
def test_the_scripts_are_sound_shell_and_may_be_run(script: Path) -> None:
    assert script.stat().st_mode & 0o111
    done = subprocess.run(["sh", "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_desktop_entry_names_the_program_and_its_icon() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment, method-assign]
    entry.read(FOLDER / "pura-audit.desktop", encoding="utf-8")
    section = entry["Desktop Entry"]
    assert section["Type"] == "Application"
    assert section["Exec"].split()[0] == section["Icon"] == section["StartupWMClass"]
    assert section["Categories"].endswith(";")
    assert section["MimeType"].endswith(";")
    assert resource("ui", "icons", "app.svg").is_file()


def test_every_start_script_can_be_its_own_child_first() -> None:
    for name in ("start_window.py", "start_command.py"):
        guarded = ast.parse((FOLDER / name).read_text(encoding="utf-8")).body[-1]
        assert isinstance(guarded, ast.If)
        assert ast.unparse(guarded.body[0]) == "run_as_child(sys.argv)"


def test_the_package_can_show_that_its_keyrings_are_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pura_audit.tools.packaged_check", "keyrings"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "SecretService" in done.stdout


def test_the_sample_is_written_as_files_for_the_command(tmp_path: Path) -> None:
    packaged_check.write_sample(tmp_path)
    assert (tmp_path / "text.txt").stat().st_size > 300
    assert SecretKey.from_hex((tmp_path / "key.txt").read_text()).fingerprint


def test_install_and_remove_leave_nothing_behind(tmp_path: Path) -> None:
    app = tmp_path / "built"
    places = [app / "share/applications", app / "share/icons/hicolor/scalable/apps"]
    for place in places:
        place.mkdir(parents=True)
    shutil.copy(FOLDER / "install.sh", app)
    shutil.copy(FOLDER / "pura-audit.desktop", places[0])
    shutil.copy(resource("ui", "icons", "app.svg"), places[1] / "pura-audit.svg")
    for name in ("pura", "pura-audit"):
        (app / name).write_text(f"#!/bin/sh\necho {name}\n")
        (app / name).chmod(0o755)
    for manual in ("share/man/man1", "share/man/de/man1"):
        (app / manual).mkdir(parents=True)
        (app / manual / "pura-key.1").write_text(".TH PURA\n")
    prefix = tmp_path / "a prefix"

    def run(*command: str | Path) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    for _ in range(2):  # installing again replaces
        run(app / "install.sh", "--prefix", prefix)
    assert run(prefix / "bin/pura") == "pura\n"
    desktop = (prefix / "share/applications/pura-audit.desktop").read_text(encoding="utf-8")
    assert f'Exec="{prefix}/lib/pura-audit/pura-audit" %F' in desktop
    assert (prefix / "share/man/de/man1/pura-key.1").is_file()
    run(app / "install.sh", "--prefix", prefix, "--remove")
    assert not [p for p in prefix.rglob("*") if not p.is_dir()]
