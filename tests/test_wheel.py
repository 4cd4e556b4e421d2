"""Wheels built from the tree work outside it: the tool with its resources, and the lab."""

import os
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from pura.version import __version__

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("with_lab", [False, True], ids=["tool", "tool-and-lab"])
def test_wheels_work_outside_the_tree(tmp_path, with_lab):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path]
    for folder in (ROOT, ROOT / "packaging" / "lab")[: 1 + with_lab]:
        run(*build, folder, cwd=tmp_path)
    wheels = sorted(tmp_path.glob("*.whl"))
    assert [wheel.name.split("-")[0] for wheel in wheels] == ["pura_audit", "pura_lab"][
        : 1 + with_lab
    ]
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run(*install, "--target", site, *wheels, cwd=tmp_path)
    assert (site / "pura_lab").is_dir() is with_lab
    if with_lab:
        [lab] = metadata.distributions(name="pura-lab", path=[str(site)])
        assert lab.requires == [f"pura-audit[lab]=={__version__}"]
        assert lab.version == __version__
    probe = (
        # Without the links to the tree that an editable install leaves.
        f"import sys; sys.path[:0] = [{str(site)!r}, {sysconfig.get_path('purelib')!r}]\n"
        "from importlib.util import find_spec\n"
        "import pura, pura_audit.__main__\n"
        "import pura_audit.workbench.main_window\n"
        f"assert pura.__file__.startswith({str(site)!r}), pura.__file__\n"
        f"assert (find_spec('pura_lab') is None) is {not with_lab}\n"
        "from pura.base.paths import resource\n"
        "for name in ('vectors', 'samples', 'models.json', 'languages', 'likelihood.json',\n"
        "             'power', 'audit.schema.json', 'policy-default.json', 'ui', 'docs'):\n"
        f"    assert str(resource(name)).startswith({str(site)!r}), name\n"
        "from pura.cli.__main__ import main\n"
    )

    def pura(*arguments: str) -> str:
        call = f"sys.argv = {['pura', *arguments]!r}\nmain()\n"
        return run(sys.executable, "-I", "-S", "-c", probe + call, cwd=tmp_path)

    vectors = list((ROOT / "tests" / "data" / "vectors").glob("*.json"))
    sandbox = sys.platform == "linux"
    assert pura("selftest").count("OK") == len(vectors) + sandbox > 1
    assert (" lab " in pura("--help")) is with_lab
