"""What a text's evidence is alone and beside other texts: rounding only.

``python bench/company.py`` audits texts of the samples, and pieces of them that are so short that
their evidence lies about the threshold, each alone and three times in random company. It prints
the largest difference of log10 e and how many verdicts differ (evidence.md §4, "Rounding").
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.base.errors import PuraError
from pura.detect.options import AuditText
from pura.detect.together import audit_documents
from pura.documents import from_text
from pura.scheme import Profile, SecretKey

SEED = 20
ROUNDS = 3
WORDS = (25, 35, 45, 60, 90)
SAMPLES = Path(__file__).resolve().parent.parent / "tests/data/samples"


def pieces(texts: Sequence[str]) -> list[str]:
    """Return texts, and the beginnings of them."""
    cut = [" ".join(text.split(" ")[:words]) for text in texts for words in WORDS]
    return [*texts, *cut]


def audited(model: Any, sample: dict[str, Any], texts: Sequence[str]) -> list[tuple[float, str]]:
    """Return log10 e and verdict of texts that are read side by side."""
    found = audit_documents(
        [AuditText(document=from_text(text, name="text")) for text in texts],
        model=model,
        keys=[(SecretKey.from_hex(sample["key_hex"]), None)],
        profile=Profile.from_dict(sample["profile"]),
    )
    audits = [one for one in found if not isinstance(one, PuraError)]
    if len(audits) < len(texts):
        raise next(one for one in found if isinstance(one, PuraError))
    return [(one.evidence.log10_e, one.verdict) for one in audits]


def main() -> None:
    """Print the table."""
    _common.print_facts("Evidence alone and in company", SEED)
    model = _common.load_builtin()
    plain = json.loads((SAMPLES / "plain.json").read_text(encoding="utf-8"))["texts"]
    rng = np.random.default_rng(SEED)
    rows = []
    for name in ("marked", "marked-tbcc"):
        sample = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))
        texts = pieces([one["text"] for one in (*sample["texts"], *plain)])
        alone = [audited(model, sample, [text])[0] for text in texts]
        ways: dict[str, list[tuple[float, str]]] = {}
        for number in range(ROUNDS):
            order = rng.permutation(len(texts)).tolist()
            found: list[tuple[float, str]] = [(np.nan, "")] * len(texts)
            while order:
                group = [order.pop() for _ in range(min(len(order), int(rng.integers(2, 17))))]
                for place, one in zip(
                    group, audited(model, sample, [texts[at] for at in group]), strict=True
                ):
                    found[place] = one
            ways[f"in company, {number + 1}"] = found
        for way, found in ways.items():
            apart = np.abs([b[0] - a[0] for a, b in zip(alone, found, strict=True)])
            near = np.array([abs(one[0] - 6) < 1 for one in alone])
            rows.append(
                (
                    f"{name}, {way}",
                    str(len(texts)),
                    f"{np.median(apart):.1e}",
                    f"{apart.max():.1e}",
                    str(int(near.sum())),
                    str(sum(a[1] != b[1] for a, b in zip(alone, found, strict=True))),
                )
            )
    columns = ("way", "texts", "median", "largest", "within 1 of the threshold", "other verdicts")
    _common.print_table(columns, rows)


if __name__ == "__main__":
    main()
