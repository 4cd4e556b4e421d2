"""Make ``resources/report/coverage.json``: which characters the report's fonts have pictures of.

Needs fonttools, which nothing else of ours does::

    pip install fonttools && python packaging/report/coverage.py
"""

import json
from pathlib import Path

from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[2] / "resources"
FONTS = [
    ROOT / "ui" / "fonts" / "Inter-Regular.otf",
    *sorted((ROOT / "report/fonts").glob("*.ttf")),
]


def main() -> None:
    """Write the union of all character maps as ranges."""
    codes: set[int] = set()
    for path in FONTS:
        codes |= set(TTFont(path).getBestCmap())
    ranges: list[list[int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    found = {"fonts": [path.name for path in FONTS], "ranges": ranges}
    text = json.dumps(found, separators=(",", ":")) + "\n"
    (ROOT / "report" / "coverage.json").write_text(text, encoding="utf-8")
    print(f"{len(codes)} characters in {len(ranges)} ranges")


if __name__ == "__main__":
    main()
