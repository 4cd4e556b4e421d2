"""What looks at the evidence cost while a text is read, and what stopping early saves.

    python bench/stopping.py [TOKENS]

Unmarked text, read with and without looks, in turn; then the same with a marked passage in front.
Prints the processor time of whole audits, and ratios measured side by side.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common
from pura.detect.options import Options
from pura.detect.together import audit_text
from pura.detect.verdict.policy import Policy
from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
PLAIN = Policy(draws=0)
EARLY = replace(PLAIN, stop_early=True)


def main() -> None:
    """Measure and print."""
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    _common.print_facts("Looks while a text is read", 0)
    model = _common.load_builtin()
    sample = json.loads((DATA / "samples" / "marked-tbcc.json").read_text(encoding="utf-8"))
    host = (DATA / "human.txt").read_text(encoding="utf-8").replace("\n%\n", "\n\n")
    plain = (host * (1 + 5 * tokens // len(host)))[: 4 * tokens]
    marked = sample["texts"][0]["text"].strip() + "\n\n" + plain

    def audit(text: str, policy: Policy, *, follow: bool = False) -> Audit:
        return audit_text(
            text,
            model=model,
            keys=[(SecretKey.from_hex(sample["key_hex"]), None)],
            profile=Profile.from_dict(sample["profile"]),
            options=Options(policy=policy, follow=follow, restore=False),
        )

    audit(plain[:2000], PLAIN)  # warm
    ways = (("read whole", PLAIN, False), ("followed", PLAIN, True), ("looks", EARLY, False))
    rows = []
    for name, text in (("unmarked", plain), ("marked in front", marked)):
        base = 0.0
        for way, policy, follow in ways:
            begin = time.process_time()  # of this process: others on the machine do not count
            found = audit(text, policy, follow=follow)
            spent = time.process_time() - begin
            base = base or spent
            of = f"{found.tokens.ids.size} of {found.input.tokens}"
            evidence = f"{found.evidence.log10_e:.1f}"
            rows.append((name, way, of, f"{spent:.1f}", f"{spent / base:.2f}", evidence))
    columns = ("text", "way", "tokens read", "CPU s", "ratio", "log10 e")
    _common.print_table(columns, rows)


if __name__ == "__main__":
    main()
