"""What the set-up scripts do on machines that this one is not: others' tools stand in by name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "packaging" / "setup" / "system.sh"


class Machine:
    """A folder of commands that answer as another machine's would, and a log of installations."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.bin.mkdir()
        self.log = root / "log"
        self.log.touch()
        for name in ("sh", "env", "dirname", "tr", "xargs", "sed", "head", "true", "cat", "echo"):
            [found] = [p for p in (Path("/usr/bin") / name, Path("/bin") / name) if p.exists()][:1]
            (self.bin / name).symlink_to(found)
        self.command("id", "echo 1000")
        self.command("python3", "exit 0")  # answers the question for version and venv with yes
        self.command("dpkg-query", "exit 1")
        self.command("apt-cache", 'echo "Package: $3"')
        self.command("apt-get", f'echo "$DEBIAN_FRONTEND: $*" >> {self.log}')

    def command(self, name: str, body: str) -> None:
        file = self.bin / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def set_up(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", SCRIPT, *arguments],
            env={"PATH": str(self.bin), "HOME": os.environ.get("HOME", "/")},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    @property
    def installations(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with Python, without any of Qt's libraries, whose user may not become root."""
    return Machine(tmp_path)


def test_nothing_happens_when_nothing_is_missing(machine: Machine) -> None:
    machine.command("dpkg-query", "echo installed")
    done = machine.set_up("--tests")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.installations == []


def test_without_root_it_prints_the_command_and_stops(machine: Machine) -> None:
    done = machine.set_up()
    assert done.returncode == 1
    [command] = [line.strip() for line in done.stderr.splitlines() if "apt-get" in line]
    assert command.startswith("sudo apt-get install --no-install-recommends libglib2.0-0 libegl1")
    assert "|" not in command
    assert "xvfb" not in command
    assert machine.installations == []


def test_sudo_that_asks_for_a_password_is_not_used(machine: Machine) -> None:
    machine.command("sudo", 'case "$*" in "-n true") exit 1;; esac; echo "asked"; exit 0')
    done = machine.set_up("--tests")
    assert done.returncode == 1
    assert "gnome-keyring" in done.stderr
    assert machine.installations == []


def test_as_root_it_installs_only_what_is_missing(machine: Machine) -> None:
    machine.command("id", "echo 0")
    machine.command("dpkg-query", 'case "$3" in xvfb|libegl1) exit 1;; esac; echo installed')
    done = machine.set_up("--tests")
    assert done.returncode == 0, done.stderr
    assert machine.installations == [
        ": update -qq",
        "noninteractive: install -y -qq --no-install-recommends libegl1 xvfb",
    ]


def test_it_goes_through_sudo_that_asks_nothing(machine: Machine) -> None:
    machine.command("sudo", 'shift; exec "$@"')
    machine.command("dpkg-query", 'case "$3" in xvfb) exit 1;; esac; echo installed')
    assert machine.set_up("--tests").returncode == 0
    assert machine.installations[-1].endswith("--no-install-recommends xvfb")


def test_renamed_packages_are_chosen_by_what_is_offered(machine: Machine) -> None:
    """A name that is purely virtual is shown as nothing, with exit code 0."""
    machine.command("id", "echo 0")
    machine.command("dpkg-query", 'case "$3" in libglib2*) exit 1;; esac; echo installed')
    machine.command("apt-cache", 'case "$3" in *t64) echo "Package: $3";; esac')
    assert machine.set_up().returncode == 0
    assert machine.installations[-1].endswith("--no-install-recommends libglib2.0-0t64")


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("3.11.2-1+b1", "python3-venv"),
        ("3.12.3-0ubuntu2", "python3-venv"),
        ("3.10.6-1~22.04", "python3.11-venv"),
    ],
)
def test_a_missing_python_comes_in_a_version_that_serves(
    machine: Machine, version: str, package: str
) -> None:
    machine.command("id", "echo 0")
    machine.command("python3", "exit 1")
    machine.command("dpkg-query", "echo installed")
    machine.command(
        "apt-cache",
        f'case "$3" in python3) echo "Version: {version}";;'
        ' python3.13-venv|python3.12-venv) ;; *) echo "Package: $3";; esac',
    )
    done = machine.set_up()
    assert done.returncode == 0, done.stderr
    assert machine.installations[-1].endswith(f"--no-install-recommends {package}")


def test_elsewhere_than_on_debian_it_says_so_and_goes_on(machine: Machine) -> None:
    (machine.bin / "dpkg-query").unlink()
    done = machine.set_up()
    assert done.returncode == 0
    assert "not Debian or Ubuntu" in done.stderr
