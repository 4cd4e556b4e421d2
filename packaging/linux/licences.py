"""Print the name, version, licence and licence texts of every package in this environment."""

from __future__ import annotations

from importlib import metadata

RULE = "=" * 78
NOT_SHIPPED = {"pip", "setuptools", "pyinstaller", "pyinstaller-hooks-contrib", "hatchling"}


def licence(distribution: metadata.Distribution) -> str:
    """Return what a package says of its licence, in a line."""
    facts = distribution.metadata
    classified = [
        line.rpartition(" :: ")[2]
        for line in facts.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    said = facts.get("License-Expression") or "; ".join(classified) or facts.get("License") or ""
    return said.strip().splitlines()[0][:100] if said.strip() else "see below"


def texts(distribution: metadata.Distribution) -> list[str]:
    """Return the licence files that a package carries."""
    found = []
    for file in distribution.files or ():
        inside = any(part.endswith(".dist-info") for part in file.parts)
        name = file.name.upper()
        if inside and name.startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE")):
            path = file.locate()
            found.append(path.read_text(encoding="utf-8", errors="replace"))
    return found


def main() -> None:
    """Print one section a package, sorted by name."""
    print("PURA Audit is under the Apache License 2.0. It carries these packages:")
    every = {d.metadata["Name"]: d for d in metadata.distributions()}
    for name in sorted(every, key=str.lower):
        if name.lower() in NOT_SHIPPED:
            continue
        distribution = every[name]
        print(f"\n{RULE}\n{name} {distribution.version}: {licence(distribution)}\n{RULE}")
        for text in texts(distribution):
            print(text.strip(), end="\n\n")


if __name__ == "__main__":
    main()
