"""What the set-up scripts do on machines that this one is not: others' tools stand in by name."""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETUP = ROOT / "packaging" / "setup"
SCRIPT = SETUP / "system.sh"
INSTALL = "noninteractive: -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends"
LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"


class Machine:
    """A folder of commands that answer as another machine's would, and a log of installations."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.bin.mkdir()
        self.log = root / "log"
        self.log.touch()
        for name in ("sh", "env", "dirname", "tr", "xargs", "sed", "head", "true", "cat", "echo"):
            self.borrow(name)
        self.command("id", "echo 1000")
        self.command("python3", "exit 0")  # answers the question for version and venv with yes
        self.command("dpkg-query", "exit 1")
        self.command("apt-cache", 'echo "Package: $3"')
        self.command("apt-get", f'echo "$DEBIAN_FRONTEND: $*" >> {self.log}')
        self.command("sleep", f'echo "sleep $*" >> {self.log}')

    def borrow(self, name: str) -> None:
        [found] = [p for p in (Path("/usr/bin") / name, Path("/bin") / name) if p.exists()][:1]
        (self.bin / name).symlink_to(found)

    def command(self, name: str, body: str) -> None:
        file = self.bin / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def lacks(self, *packages: str) -> None:
        """Let root ask: all packages are there but these."""
        self.command("id", "echo 0")
        missing = "|".join(packages)
        self.command("dpkg-query", f'case "$3" in {missing}) exit 1;; esac; echo installed')

    def set_up(self, *arguments: str, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", script, *arguments],
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
def machine(tmp_path) -> Machine:
    """A machine with Python, without any of Qt's libraries, whose user may not become root."""
    return Machine(tmp_path)


def test_nothing_happens_when_nothing_is_missing(machine):
    machine.command("dpkg-query", "echo installed")
    done = machine.set_up("--tests")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.installations == []


def test_without_root_it_prints_the_command_and_stops(machine):
    done = machine.set_up()
    assert done.returncode == 1
    [command] = [line.strip() for line in done.stderr.splitlines() if "apt-get" in line]
    assert command.startswith("sudo apt-get install --no-install-recommends libglib2.0-0 libegl1")
    assert "|" not in command
    assert "xvfb" not in command
    assert machine.installations == []


def test_sudo_that_asks_for_a_password_is_not_used(machine):
    machine.command("sudo", 'case "$*" in "-n true") exit 1;; esac; echo "asked"; exit 0')
    done = machine.set_up("--tests")
    assert done.returncode == 1
    assert "gnome-keyring" in done.stderr
    assert machine.installations == []


def test_as_root_it_installs_only_what_is_missing(machine):
    machine.lacks("xvfb", "libegl1")
    done = machine.set_up("--tests")
    assert done.returncode == 0, done.stderr
    assert machine.installations == [": update -qq", f"{INSTALL} libegl1 xvfb"]


def test_it_goes_through_sudo_that_asks_nothing(machine):
    machine.lacks("xvfb")
    machine.command("id", "echo 1000")
    machine.command("sudo", 'shift; exec "$@"')
    assert machine.set_up("--tests").returncode == 0
    assert machine.installations[-1] == f"{INSTALL} xvfb"


def test_renamed_packages_are_chosen_by_what_is_offered(machine):
    """A name that is purely virtual is shown as nothing, with exit code 0."""
    machine.lacks("libglib2*")
    machine.command("apt-cache", 'case "$3" in *t64) echo "Package: $3";; esac')
    assert machine.set_up().returncode == 0
    assert machine.installations[-1] == f"{INSTALL} libglib2.0-0t64"


@pytest.mark.parametrize(
    ("version", "package"),
    [
        ("3.11.2-1+b1", "python3-venv"),
        ("3.12.3-0ubuntu2", "python3-venv"),
        ("3.10.6-1~22.04", "python3.11-venv"),
    ],
)
def test_a_missing_python_comes_in_a_version_that_serves(machine, version, package):
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


def test_elsewhere_than_on_debian_it_says_so_and_goes_on(machine):
    (machine.bin / "dpkg-query").unlink()
    done = machine.set_up()
    assert done.returncode == 0
    assert "not Debian or Ubuntu" in done.stderr


def test_it_waits_for_whoever_updates_a_new_machine(machine):
    machine.lacks("xvfb")
    machine.command(
        "apt-get",
        f'echo "$*" >> {machine.log}\n'
        f'[ "$1" != update ] || [ -e {machine.bin}/freed ] || {{ echo "{LOCKED}" >&2; exit 100; }}',
    )
    machine.command("sleep", f'echo "sleep $1" >> {machine.log}; touch {machine.bin}/freed')
    machine.borrow("touch")
    done = machine.set_up("--tests")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Waiting for it, up to 10 minutes.") == 1
    assert machine.installations[:3] == ["update -qq", "sleep 5", "update -qq"]
    assert machine.installations[3].endswith("xvfb")


@pytest.mark.parametrize(
    ("trouble", "installations"),
    [(LOCKED, ["sleep 5"] * 120), ("E: The repository is not signed.", [])],
)
def test_only_a_lock_is_waited_for_and_not_for_ever(machine, trouble, installations):
    machine.command("id", "echo 0")
    machine.command("apt-get", f'echo "{trouble}" >&2; exit 100')
    done = machine.set_up()
    assert done.returncode != 0
    assert machine.installations == installations
    assert trouble in done.stderr


@pytest.mark.skipif(not Path("/usr/bin/apt-get").exists(), reason="not Debian or Ubuntu")
def test_the_real_apt_complains_in_the_words_that_are_waited_on(machine, tmp_path):
    lists = tmp_path / "apt" / "lists"
    (lists / "partial").mkdir(parents=True)
    (tmp_path / "sources").touch()
    settings = tmp_path / "apt.conf"
    settings.write_text(
        f'Dir::State "{tmp_path}/apt";\nDir::Cache "{tmp_path}/apt";\n'
        f'Dir::Etc::SourceList "{tmp_path}/sources";\nDir::Etc::SourceParts "/dev/null";\n'
    )
    machine.lacks("xvfb")
    machine.command(
        "apt-get",
        f'echo "$*" >> {machine.log}\ncase "$1" in update) '
        f'APT_CONFIG={settings} exec /usr/bin/apt-get "$@" ;; esac',
    )
    with (lists / "lock").open("w") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        machine.command("sleep", f'echo "sleep $1" >> {machine.log}; exit 1')
        done = machine.set_up("--tests")
    assert "Waiting for it" in done.stdout, done.stderr
    assert machine.installations == ["update -qq", "sleep 5"]
    machine.command("sleep", "exit 1")
    assert machine.set_up("--tests").returncode == 0


PINNED = "-c constraints.txt -e .[gui,dev,batch,lab,serve,provenance,notebook]"


@pytest.mark.parametrize(
    ("pip", "uv", "installed_by"),
    [
        ("exit 0", "exit 0", ["pip uv", "uv all"]),
        ('case "$*" in *" uv") exit 1;; esac', "exit 0", ["pip uv", "pip all"]),
        ("exit 0", "exit 2", ["pip uv", "uv all", "pip all"]),
    ],
)
def test_uv_makes_the_environment_and_pip_where_it_cannot(machine, tmp_path, pip, uv, installed_by):
    tree, made = tmp_path / "tree", tmp_path / "made"
    (tree / "packaging" / "setup").mkdir(parents=True)
    made.mkdir()
    for name in ("venv.sh", "uv.sh", "python.sh"):
        shutil.copy(SETUP / name, tree / "packaging" / "setup")
    for name in ("pyproject.toml", "constraints.txt"):
        (tree / name).touch()
    for name in ("cksum", "cut", "mkdir", "cp", "tac"):
        machine.borrow(name)
    settings = (
        'case "$*" in *"config get global.index-url") echo a-mirror; exit 0;;'
        ' *"config get global.extra-index-url") echo another;; *" config "*) exit 1;; esac'
    )
    bodies = {"python": f'{settings}\necho "pip $*" >> {machine.log}\n{pip}'}
    bodies["uv"] = f'echo "uv $UV_DEFAULT_INDEX $UV_INDEX $*" >> {machine.log}\n{uv}'
    for name, body in bodies.items():
        (made / name).write_text(f"#!/bin/sh\n{body}\n")
        (made / name).chmod(0o755)
    machine.command(
        "python3",
        f'case "$*" in "-m venv"*) mkdir -p .venv/bin; cp {made}/* .venv/bin;; esac',
    )
    done = machine.set_up(script=tree / "packaging" / "setup" / "venv.sh")
    assert done.returncode == 0, done.stderr
    by = {"pip uv": "-c constraints.txt uv", "pip all": PINNED, "uv all": PINNED}
    installs = [line for line in machine.installations if "install" in line]
    assert len(installs) == len(installed_by)
    for line, which in zip(installs, installed_by, strict=True):
        assert line.startswith(which.split()[0])
        assert line.endswith(by[which])
        assert which != "uv all" or line.startswith("uv a-mirror another pip install")
    assert ("pip installs" in done.stdout) == ("pip all" in installed_by)
    assert (tree / ".venv" / "installed").exists()


def test_building_the_application_takes_binutils_and_the_shared_library(machine):
    machine.command("id", "echo 0")
    machine.command("python3", 'case "$*" in *" --shared") exit 1;; esac')
    machine.command("dpkg-query", 'case "$3" in binutils) exit 1;; esac; echo installed')
    machine.command("apt-cache", 'echo "Version: 3.12.3-1"')
    done = machine.set_up("--package")
    assert done.returncode == 0, done.stderr
    assert machine.installations[-1] == f"{INSTALL} python3-venv libpython3.12 binutils"


def test_a_python_without_its_shared_library_is_told_before_the_work(machine):
    machine.command(
        "python3",
        'case "$*" in *" --shared") exit 1;; *"print("*) echo 3.12;; esac',
    )
    done = machine.set_up("--shared", script=SETUP / "python.sh")
    assert (done.returncode, done.stdout) == (1, "")
    assert "shared library" in done.stderr
    assert "apt-get install libpython3.12" in done.stderr


def test_the_python_that_runs_the_tests_is_judged_by_what_it_can_load():
    """Asked of real interpreters: this one by the script, and by looking for the file."""
    [name, folder] = sysconfig.get_config_vars("INSTSONAME", "LIBDIR")
    done = subprocess.run(
        [SETUP / "python.sh", "--shared"],
        env={**os.environ, "PYTHON": sys._base_executable},  # type: ignore[attr-defined]
        capture_output=True,
        text=True,
        check=False,
    )
    if name.endswith(".a"):
        assert done.stdout.strip() != sys._base_executable  # type: ignore[attr-defined]
    elif (Path(folder) / name).exists():
        assert done.stdout.strip() == sys._base_executable  # type: ignore[attr-defined]
