"""A wheel built from the tree works outside it, resources included."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.weekly
@pytest.mark.slow
def test_a_wheel_works_outside_the_tree(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path, ROOT]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run(
        [*install, "--target", site, wheel], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    probe = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "import pura, pura_audit\n"
        f"assert pura.__file__.startswith({str(site)!r}), pura.__file__\n"
        "from pura.base.resources import resource\n"
        "for name in ('vectors', 'samples', 'models.json', 'languages', 'likelihood.json',\n"
        "             'power', 'audit.schema.json', 'policy-default.json', 'ui', 'docs'):\n"
        f"    assert str(resource(name)).startswith({str(site)!r}), name\n"
        "sys.argv = ['pura', 'selftest']\n"
        "from pura.cli.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    vectors = list((ROOT / "tests" / "data" / "vectors").glob("*.json"))
    cage = sys.platform == "linux"
    assert done.stdout.count("OK") == len(vectors) + cage > 1
