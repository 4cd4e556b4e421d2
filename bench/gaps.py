"""How often a text's marked passage is split, where it was edited and where it was not.

``python bench/gaps.py POOL`` audits marked texts (JSON: a list of objects with ``code``, ``key``,
``profile``, ``text``), each as it is and with 16 words in the middle exchanged for those of another
text, and counts how often the finding says that text stands between two passages of one mark.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common
from pura.detect.options import AuditText
from pura.detect.together import audit_documents
from pura.documents import from_text
from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey

WORDS = 16
TOGETHER = 16


def exchanged(text: str, other: str) -> str:
    """Return a text with words in its middle exchanged for those of another one."""
    mine, theirs = text.split(" "), other.split(" ")
    at = len(mine) // 2
    return " ".join([*mine[:at], *theirs[at : at + WORDS], *mine[at + WORDS :]])


def main() -> None:
    """Print the table."""
    pool = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    plain = [one["text"] for one in pool if one["code"] is None]
    _common.print_facts("Text between two passages of one mark", 0)
    model = _common.load_builtin()
    rows = []
    for code in ("spc", "tbcc"):
        texts = [one for one in pool if one["code"] == code]
        for name in ("as written", f"{WORDS} words exchanged"):
            seen: Counter[str] = Counter()
            for start in range(0, len(texts), TOGETHER):
                group = texts[start : start + TOGETHER]
                for found in audits(model, group, name, plain, start):
                    seen["texts"] += 1
                    seen[found.verdict] += 1
                    said = any(one.key == "text.gap-between" for one in found.sentences)
                    seen["gap"] += said
                    seen["split"] += len(found.passages) > 1
            rows.append(
                (f"{code}, {name}", *(str(seen[k]) for k in ("texts", "mark", "split", "gap")))
            )
            _common.print_table(("texts", "audited", "mark found", "split", "gap said"), rows[-1:])
    _common.print_table(("texts", "audited", "mark found", "split", "gap said"), rows)


def audits(
    model: Any, group: list[dict[str, Any]], name: str, plain: list[str], start: int
) -> list[Audit]:
    """Audit some texts that share key and profile."""
    texts = [one["text"] for one in group]
    if name != "as written":
        texts = [exchanged(t, plain[(start + n) % len(plain)]) for n, t in enumerate(texts)]
    found = audit_documents(
        [AuditText(document=from_text(text, name="text")) for text in texts],
        model=model,
        keys=[(SecretKey.from_hex(group[0]["key"]), None)],
        profile=Profile.from_dict(group[0]["profile"]),
    )
    return [one for one in found if isinstance(one, Audit)]


if __name__ == "__main__":
    main()
