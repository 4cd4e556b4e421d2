"""Write the SHA-256 of every pinned part beside its pin: packaging/setup/hashes.txt.

    .venv/bin/python packaging/setup/hashes.py

pip itself says, without installing, which file it would take for each line of constraints.txt, and
what its digest is. That is the wheel that the indexes here offer for this system and this Python,
so the file holds for Linux on x86-64 with Python 3.11, where the pins were tested. torch is
left out: which build of it fits is the machine's affair (README, "Platforms"), and its indexes
name their files differently. rouge-score comes as source only (decision 002); nothing that
`make install` takes needs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(__file__).with_name("hashes.txt")
LEFT_OUT = ("torch", "rouge-score")
HEAD = """\
# SHA-256 of the pinned parts, as packaging/setup/hashes.py writes them: the wheels for Linux on
# x86-64 with Python 3.11. torch and rouge-score are left out. Used by PURA_REQUIRE_HASHES=1 make
# install.
"""


def plain(name: str) -> str:
    """Return a part's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    """Ask pip, write the file."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    wanted = [pin for pin in pins if "==" in pin and plain(pin.split("==")[0]) not in LEFT_OUT]
    with tempfile.TemporaryDirectory() as folder:
        asked, report = Path(folder, "asked.txt"), Path(folder, "report.json")
        asked.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        command += ["--no-deps", "--only-binary", ":all:", "--quiet", "--report", str(report)]
        subprocess.run([*command, "-r", str(asked)], check=True)
        said = json.loads(report.read_text(encoding="utf-8"))["install"]
    lines = [
        f"{part['metadata']['name']}=={part['metadata']['version']}"
        f" --hash=sha256:{part['download_info']['archive_info']['hashes']['sha256']}\n"
        for part in said
    ]
    TARGET.write_text(HEAD + "".join(sorted(lines, key=str.lower)), encoding="utf-8")


if __name__ == "__main__":
    main()
