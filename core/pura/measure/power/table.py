"""From what came of the texts to the table: counts a class, and under which conditions."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.audit.steps import versions
from pura.base.errors import PolicyError
from pura.decode import LikelihoodModel
from pura.measure.evaluate import READ_WHOLE
from pura.measure.power.measure import TextEvidence, WritingModel
from pura.measure.power.plan import THRESHOLDS, PowerPlan, prompts_digest
from pura.verdict.expect import TOLD
from pura.verdict.power import TABLE_SCHEMA

if TYPE_CHECKING:
    from pura.model.load import LanguageModel
    from pura.scheme import Profile

F64 = npt.NDArray[np.float64]

LEVEL: Final = 0.95
LEAST_TEXTS: Final = 59
"""Texts that a class needs: 59 of 59 are the fewest that show a power of 0.95."""


def make_table(
    plan: PowerPlan,
    source: WritingModel,
    reader: LanguageModel,
    found: Sequence[TextEvidence],
    likelihood: LikelihoodModel,
) -> dict[str, Any]:
    """Return the table as plain JSON values (:mod:`pura.verdict.power`).

    Texts that look unlike most of the others are left out, and how many they were is said: a rate
    is of one kind of text.

    Args:
        plan: What was measured.
        source: The model that wrote.
        reader: The model that read.
        found: What came of every text.
        likelihood: The table that weighed them; one that was learnt goes along.

    Raises:
        PolicyError: The texts are too short for a single class.
    """
    kinds = Counter(one.kind for one in found if one.kind).most_common(1)
    kind = kinds[0][0] if kinds else ""
    kept = [one for one in found if one.kind in ("", kind)]
    entries = whole_entries(plan, np.array([one.whole for one in kept]), "")
    if not entries:
        raise PolicyError("power.too-short")
    for number, edit in enumerate(plan.edits):
        entries += whole_entries(plan, np.array([one.edited[number] for one in kept]), edit.name)
    entries += inside_entries(plan, np.array([one.inside for one in kept]))
    profile = plan.profile
    conditions = {
        "name": plan.name,
        "source": "Marked texts with a key and a payload each, cut after the given number of "
        "usable positions, or passages in longer texts; read as text.",
        "date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}",
        "models": [reader.fingerprint],
        "generators": [source.fingerprint],
        "names": {"generator": source.name, "reader": reader.name},
        "dtypes": [reader.device.dtype],
        "device": reader.device.name,
        # What cannot be told from another language must not speak for it.
        "kinds": [kind] if kind in TOLD else [],
        "context_window": profile.context_window,
        "history": profile.history,
        "prefix": profile.prefix,
        "chat_template": profile.chat_template,
        "system_prompt": profile.system_prompt,
        "profile": profile.fingerprint,
        "likelihood": likelihood.fingerprint,
        **({"learnt": plan.learn} if plan.learn else {}),
        "texts": len(kept),
        "left_out": len(found) - len(kept),
        "tokens": plan.tokens,
        "chat": plan.chat,
        "template": source.template,
        "prompts": {"count": len(plan.prompts), "sha256": prompts_digest(plan.prompts)},
        "seed": plan.seed,
        "versions": versions(),
    }
    data = {"schema": TABLE_SCHEMA, "level": LEVEL, "conditions": conditions, "entries": entries}
    return data | ({"likelihood": likelihood.to_dict()} if plan.learn else {})


def whole_entries(plan: PowerPlan, evidence: F64, edit: str) -> list[dict[str, Any]]:
    """Count the texts of each class that reach each threshold.

    Args:
        plan: What was measured.
        evidence: float64 [N, C], NaN where a text has fewer usable positions than the class.
        edit: What was done to the texts; empty for nothing.
    """
    count = len(evidence)
    texts = np.isfinite(evidence).sum(axis=0) if count else np.zeros(0)
    # A class of few texts would say little, and drag down all those below it.
    kept = texts >= _least(count)
    if not kept.any():
        return []
    usable = [u for u, k in zip(plan.classes, kept, strict=True) if k]
    extra = {"edit": edit} if edit else {}
    return [
        power_entry(
            plan.profile, threshold, usable, (evidence >= threshold).sum(axis=0)[kept], texts[kept]
        )
        | extra
        for threshold in THRESHOLDS
    ]


def _least(count: int) -> int:
    """Return how many of so many texts a class needs; too few to show 0.95 show what they can."""
    return LEAST_TEXTS if count >= LEAST_TEXTS else max(1, count - count // 4)


def inside_entries(plan: PowerPlan, inside: F64) -> list[dict[str, Any]]:
    """Count the passages that are found in longer texts.

    A class begins at the most usable positions that a passage of it had, and an entry speaks of
    texts with no more usable positions than the shortest one had: neither flatters. Of the evidence
    the share :data:`~pura.measure.evaluate.READ_WHOLE` counts, since the texts are spliced.

    Args:
        plan: What was measured.
        inside: float64 [N, D, 3], of :attr:`~pura.measure.power.measure.TextEvidence.inside`.
    """
    out: list[dict[str, Any]] = []
    least = _least(len(inside))
    for tokens in sorted(set(plan.documents)):
        places = [i for i, (document, _) in enumerate(plan.cases) if document == tokens]
        groups = [inside[np.isfinite(inside[:, i, 0]), i] for i in places]
        groups = _rising([g for g in groups if len(g) >= least])
        if not groups:
            continue
        usable = [int(group[:, 1].max()) for group in groups]
        text_usable = int(min(group[:, 2].min() for group in groups))
        for threshold in THRESHOLDS:
            found = [int((READ_WHOLE * group[:, 0] >= threshold).sum()) for group in groups]
            entry = power_entry(
                plan.profile, threshold, usable, found, [len(group) for group in groups]
            )
            out.append(entry | {"text_usable": text_usable})
    return out


def _rising(groups: list[F64]) -> list[F64]:
    """Leave out a class that does not begin above the one before it."""
    out: list[F64] = []
    for group in groups:
        if group[:, 1].max() > (out[-1][:, 1].max() if out else 0):
            out.append(group)
    return out


def power_entry(
    profile: Profile,
    threshold: float,
    usable: Sequence[int],
    found: Iterable[Any],
    texts: Iterable[Any],
) -> dict[str, Any]:
    """Return one entry of a power table (:mod:`pura.verdict.power`), the prompt being unknown.

    Args:
        profile: Under which the texts were written.
        threshold: log10 of the evidence that counts as found.
        usable: Lower ends of the classes of usable positions.
        found: Texts of each class that reached the threshold.
        texts: Texts of each class.
    """
    return {
        "code": profile.code,
        "payload_bits": profile.payload_bits,
        "threshold": threshold,
        "prompt": False,
        "sampling": {
            "temperature": profile.temperature,
            "top_k": profile.top_k,
            "top_p": profile.top_p,
        },
        "entropy_thresholds_bits": list(profile.entropy_thresholds_bits),
        "usable": list(usable),
        "found": [int(x) for x in found],
        "texts": [int(x) for x in texts],
    }
