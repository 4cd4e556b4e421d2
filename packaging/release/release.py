"""Check everything that a release rests on, build it, and tag it; nothing is ever pushed.

    make release                 (.venv/bin/python packaging/release/release.py [--only-check])

In this order, each ending the release where it fails: the tree is committed and on ``main``;
version, changelog, citation and the software centre's description agree; tests and style; the site
without a warning; today's files in the hands of the version before; packages, proved; list of
parts, checksums and, where PURA_RELEASE_KEY names a key, their signature (``seal.sh``). Then the
tag. PURA_BEFORE_DEB names the package of the version before, from which the upgrade is tried.
``releasing.md`` has the rest.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r"^## (?P<title>.*)$", re.MULTILINE)
SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def version_of(root: Path) -> str:
    """Return the version, from its one source."""
    text = (root / "core" / "pura" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"$', text, re.MULTILINE)
    if found is None:
        sys.exit("core/pura/version.py holds no version of three numbers.")
    return found[1]


def disagreements(root: Path) -> list[str]:
    """Say where version, changelog, citation and the software centres' description differ.

    Args:
        root: The tree.

    Returns:
        A sentence each; empty when a release may go on.
    """
    version = version_of(root)
    wrong = []
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = [match["title"] for match in HEADING.finditer(changelog)]
    dated = [title for title in titles if title != "Unreleased"]
    newest = re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})", dated[0] if dated else "")
    if newest is None or newest[1] != version:
        wrong.append(f"CHANGELOG.md: its newest heading is not “## [{version}] - YYYY-MM-DD”.")
    elif date.fromisoformat(newest[2]) > datetime.now(UTC).date():
        wrong.append(f"CHANGELOG.md: {newest[2]} is still to come.")
    head = changelog.partition("\n## [")[0].partition("## Unreleased")[2].strip()
    if head:
        wrong.append("CHANGELOG.md: lines stand under “Unreleased”; move them below the version.")
    wrong += [
        f"CHANGELOG.md: “{section}” is none of {', '.join(SECTIONS)}."
        for section in re.findall(r"^### (.*)$", changelog, re.MULTILINE)
        if section not in SECTIONS
    ]
    [about] = (root / "packaging" / "linux").glob("*.metainfo.xml")
    release = next(ET.parse(about).getroot().iter("release"))  # noqa: S314 - our own file
    if release.get("version") != version:
        wrong.append(f"{about.name}: its newest release is not {version}.")
    elif newest is not None and release.get("date") != newest[2]:
        wrong.append(f"{about.name}: the date of {version} is not that of CHANGELOG.md.")
    citation = (root / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    if f"version: {version}" not in citation:
        wrong.append(f"CITATION.cff: its version is not {version}.")
    if newest is not None and f"date-released: {newest[2]}" not in citation:
        wrong.append(f"CITATION.cff: the date of {version} is not that of CHANGELOG.md.")
    return wrong


def git(*words: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode().strip()


def step(title: str, *command: str) -> None:
    """Run a step; its failure ends the release."""
    print(f"\n=== {title}", flush=True)
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"The release ends here: {title}.")


def main() -> None:
    """Check, build, tag."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only-check", action="store_true", help="stop before anything is built")
    arguments = parser.parse_args()
    version = version_of(ROOT)
    tag = f"v{version}"
    wrong = disagreements(ROOT)
    if git("status", "--porcelain"):
        wrong.append("The tree holds changes that are not committed.")
    if git("rev-parse", "--abbrev-ref", "HEAD") != "main":
        wrong.append("This is not the branch “main”.")
    if git("tag", "--list", tag):
        wrong.append(f"{tag} is a tag already; raise the version first.")
    if wrong:
        sys.exit("\n".join(("Not ready for a release:", *wrong)))
    print(f"{version}: tree, version, changelog and description agree.", flush=True)
    if arguments.only_check:
        return
    os.environ["SOURCE_DATE_EPOCH"] = git("log", "-1", "--format=%ct")
    python = str(ROOT / ".venv" / "bin" / "python")
    step("tests and style", "make", "test-all")
    step("the site", "make", "site")
    step("files in the hands of the version before", python, "packaging/release/before.py")
    step("packages", "make", "packages")
    if os.geteuid() == 0:
        old = os.environ.get("PURA_BEFORE_DEB", "")
        step(
            "the .deb in a bare root",
            *("packaging/linux/prove-deb.sh", *(("--before", old) if old else ())),
        )
    else:
        print("Left out: packaging/linux/prove-deb.sh takes root. Run it before you publish.")
    step("list of parts (SBOM), checksums, signature", "packaging/release/seal.sh")
    step("tag", "git", "tag", "--annotate", tag, "--message", f"PURA Audit {version}")
    print(
        f"\n{tag} is tagged here, and dist/packages holds what belongs to it. Publish both by hand:"
    )
    print(f"    git push origin {tag}")


if __name__ == "__main__":
    main()
