"""Sections 6, 9 and 10: the method, the scale and the rule, what is known of their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pura.base import numerals
from pura.record.audit import Audit
from pura.report.blocks import Block, bullets, facts, heading, note, table
from pura.report.findings import day, number
from pura.report.glyphs import printable
from pura.report.labels import Labels
from pura.report.request import ReportRequest
from pura.words.sentences import scale, step_name

_PARTS = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "python", "system")


def method(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    """Return with what and how the item was examined."""
    model, device, found = audit.model, audit.device, audit.evidence
    entries = audit.register.entries if audit.register is not None else 0
    readings = max(1, len(audit.variants)) + len(audit.prompts)
    parts = ", ".join(f"{n} {audit.versions[n]}" for n in _PARTS if n in audit.versions)
    language = labels.language
    rows = [
        (labels("program"), f"PURA Audit {audit.versions.get('pura', '')}"),
        (labels("core"), parts),
        (labels("keys"), ", ".join(k.fingerprint for k in audit.keys)),
        (labels("profile"), f"{audit.profile.name or ''} {audit.profile.fingerprint}".strip()),
        (
            labels("model"),
            (
                f"{model.name}, {model.architecture}, "
                f"{numerals.count(model.parameters, language)}, "
                f"{model.weights}, {model.fingerprint}"
            ),
        ),
        (labels("tokenizer"), model.tokenizer),
        (labels("device"), f"{device.name}, {device.dtype}"),
        (labels("decoder"), audit.decoder if audit.decoded.bits else "–"),
        *_power(audit, labels),
        (labels("seed"), labels("seed.value", seed=str(found.seed), n=found.draws)),
        (labels("counted"), labels("counted.value", k=len(audit.keys), r=readings, n=entries)),
        *_second_reading(audit, labels),
        (labels("worked"), f"{day(audit.created, labels)} ({audit.created})"),
        (labels("deviations"), request.deviations.strip() or labels("none")),
        (labels("external"), request.external.strip() or labels("none")),
    ]
    steps = [
        (
            str(step.number),
            step_name(step.name, language),
            f"{number(step.seconds, 2, labels)} s" if step.done else labels("step.left-out"),
            printable(step.words(language)) or "–",
        )
        for step in audit.log
    ]
    return [
        facts([(name, printable(value)) for name, value in rows]),
        heading(labels("steps")),
        table(
            ("", labels("step"), labels("step.done"), labels("step.note")),
            steps,
            ("right", "left", "right", "left"),
            (0.06, 0.2, 0.14, 0.6),
        ),
    ]


def _power(audit: Audit, labels: Labels) -> list[tuple[str, str]]:
    """Return which table the power comes from, where the record names one."""
    if audit.power is None:
        return []
    whose = [] if audit.power.own else [labels("power.shipped")]
    named = [*whose, *([audit.power.name] if audit.power.name else []), audit.power.table]
    return [(labels("power.table"), ", ".join(named))]


def _second_reading(audit: Audit, labels: Labels) -> list[tuple[str, str]]:
    """Return how many stretches of a long text were read again, and what that added."""
    again = audit.rereading
    if again is None:
        return []
    second = "–" if again.log10_second is None else number(again.log10_second, 1, labels)
    value = labels(
        "reread.value",
        r=again.read,
        k=again.windows,
        n=again.tokens,
        first=number(again.log10_first, 1, labels),
        second=second,
    )
    return [(labels("reread"), value)]


def rule(audits: Sequence[Audit], labels: Labels) -> tuple[Block, ...]:
    """Return the whole scale, and the rule with both of its risks."""
    language = labels.language
    words = "; ".join(f"{row.range}: {row.word}" for row in scale(language))
    blocks = [
        heading(labels("section.scale")),
        note(f"{labels('scale.text')} {words}."),
    ]
    rules: dict[str, list[Audit]] = {}
    for audit in audits:
        rules.setdefault(str(sorted(audit.policy.items())), []).append(audit)
    for under in rules.values():
        policy = under[0].policy
        found, cap = float(str(policy.get("t_found", 6.0))), float(str(policy.get("lr_cap", 1e6)))
        blocks.append(
            facts(
                [
                    (
                        labels("rule.name"),
                        printable(f"{policy.get('name', '')}/{policy.get('version', '')}"),
                    ),
                    (labels("rule.found"), number(found, 1, labels)),
                    (
                        labels("rule.review"),
                        number(float(str(policy.get("t_review", 3.0))), 1, labels),
                    ),
                    (
                        labels("rule.accept"),
                        labels("rule.accept.value", n=numerals.count(int(10**found), language)),
                    ),
                    (labels("rule.reject"), _missed(under, labels)),
                    (labels("rule.cap"), numerals.count(int(cap), language)),
                ]
            )
        )
    blocks.append(note(labels("rule.cap.note")))
    return tuple(blocks)


def _missed(audits: Sequence[Audit], labels: Labels) -> str:
    """Return the complement of the shares that the findings print, so that both add up."""
    # Those are rounded down, to 99 % at most.
    shares = {
        None
        if audit.evidence.power is None
        else 100 - math.floor(100 * min(audit.evidence.power, 0.99) + 1e-9)
        for audit in audits
    }
    known = sorted(share for share in shares if share is not None)
    if not known:
        return labels("power.unknown")
    if len(shares) == 1:
        return labels("rule.reject.value", p=f"{known[0]} %")
    return labels("rule.reject.items", p=f"{known[-1]} %")


def validation(audits: Sequence[Audit], labels: Labels) -> tuple[Block, ...]:
    """Return what was measured of the errors, on which texts, and what was not."""
    measured = all(audit.evidence.power is not None for audit in audits)
    draws = [a.evidence.draws for a in audits if a.evidence.draws]
    own = {a.power.table: a.power for a in audits if a.power is not None and a.power.own}
    shipped = any(a.power is None or not a.power.own for a in audits)
    items = [
        *([labels("validation.power")] if shipped else []),
        *(
            labels(
                "validation.power-own",
                name=printable(table.name),
                n=numerals.count(table.texts, labels.language),
                date=printable(table.date),
            )
            for table in own.values()
        ),
        labels("validation.model", same=labels.yes(measured)),
        labels("validation.fp"),
        labels("validation.known" if shipped else "validation.known-own"),
    ]
    if draws:
        smallest = numerals.chance(1 / (min(draws) + 1), labels.language)
        items.append(labels("validation.mc", r=smallest))
    return (bullets([*items, labels("limits.copy"), labels("limits.privacy")]),)
