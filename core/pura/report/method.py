"""Sections on the item, the basis of the evaluation, the method, the scale and the rule."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pura.base import numerals
from pura.documents import characters
from pura.record.audit import Audit
from pura.record.evidence import PriorFacts
from pura.report.blocks import (
    Block,
    Labels,
    bullets,
    heading,
    note,
    paragraph,
    printable,
    stated,
    table,
)
from pura.report.findings import day, grouped, number
from pura.report.request import ReportRequest
from pura.words.sentences import changed, say, scale, step_name

_CUSTODY = ("source", "received", "custody")
_ALTERNATIVES = ("quoted", "account", "forged", "test", "translation")


def item(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    """Return the description of the examined item."""
    document, notes, language = audit.input, request.item, labels.language
    supplied = stated(notes.supplied)
    form = (document.format, document.encoding, labels("bytes", n=document.size_bytes))
    extent = labels(
        "extent.value", c=document.characters, t=document.tokens, u=audit.evidence.usable
    )
    blocks = [
        labels.facts(
            ("file", document.name),
            ("format", ", ".join(dict.fromkeys(filter(None, form)))),
            ("part", document.part or None),
            ("sha", document.sha256 or "–"),
            *((name, stated(vars(notes)[name])) for name in _CUSTODY),
            ("extent", extent if document.characters else None),
            ("worked", numerals.moment(audit.created, labels.language)),
            ("supplied", supplied),
        )
    ]
    blocks += [note(text) for text in audit.finding.notes(language)]
    if audit.verdict == "not-examinable":
        blocks.append(_unexamined(audit, labels))
    if supplied:
        blocks.append(note(labels("supplied.note")))
    return blocks


def _unexamined(audit: Audit, labels: Labels) -> Block:
    """Return key, profile and model of an item that could not be examined, and the failed step."""
    left = next((step for step in audit.log if not step.done), None)
    reason = None
    if left is not None:
        name = f"{left.number} {step_name(left.name, labels.language)}"
        reason = f"{name}: {left.words(labels.language)}"
    return labels.facts(
        ("keys", _keys(audit)),
        ("profile", audit.finding.profile),
        ("model", f"{audit.model.name} {audit.model.fingerprint}"),
        ("program", _program(audit)),
        ("unexamined.step", reason),
    )


def _keys(audit: Audit) -> str:
    return ", ".join(key.title for key in audit.keys)


def _program(audit: Audit) -> str:
    return f"PURA Audit {audit.versions.get('pura', '')}"


def conditions(audit: Audit, labels: Labels) -> list[str]:
    """Return the changes of characters, made by the reader and by the restored readings."""
    located = (characters.WHOLE, characters.INCOMPLETE)  # their positions are named with the text
    lines = [
        changed(t.name, t.count, () if t.name in located else t.note, labels.language)
        for t in audit.input.transforms
    ]
    # Each reading continues from the one before, so it lists the same changes again.
    changes = {change.name: change.count for v in audit.variants for change in v.changes}
    return lines + [changed(name, count, (), labels.language) for name, count in changes.items()]


def conditioning(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    """Return the basis of the evaluation, the pair of payloads, and what neither covers."""
    language = labels.language
    blocks = [
        _conditions(audit, request, labels),
        note(say("conditioning.repeat", language)),
    ]
    bits = None if audit.payload is None else audit.payload.bits
    if bits is not None:
        blocks += [
            heading(labels("pair.payload")),
            paragraph(say("proposition.h1p", language, payload=grouped(bits))),
            paragraph(say("proposition.h2p", language)),
        ]
    return [
        *blocks,
        heading(labels("alternatives")),
        bullets([say(f"alternative.{name}", language) for name in _ALTERNATIVES]),
    ]


def _conditions(audit: Audit, request: ReportRequest, labels: Labels) -> Block:
    register = audit.register
    if audit.profile.foreign is not None:
        prompt = labels("prompt.needless")
    elif audit.prompts:
        prompt = labels("prompt.candidates", n=len(audit.prompts))
    elif audit.prompt.known:
        prompt = labels("prompt.known", sha=audit.prompt.sha256 or "")
    elif audit.profile.chat_template is not None:
        prompt = labels("prompt.beginning")
    else:
        prompt = labels("prompt.unknown")
    register_text = (
        labels("register.not-asked")
        if register is None
        else labels(
            "register.asked",
            version=register.version,
            date=day(register.date, labels),
            n=register.entries,
        )
    )
    return labels.facts(
        ("keys", audit.finding.keys),
        ("profile", audit.finding.profile),
        ("prompt", prompt),
        ("normalisation", "; ".join(conditions(audit, labels)) or labels("condition.plain")),
        ("register", register_text),
        ("prior", None if register is None else number(register.prior_none, 2, labels)),
        ("payloads", _payload_weights(audit, labels) if audit.decoded.bits else None),
        ("disclosed", stated(request.item.disclosed)),
    )


def _payload_weights(audit: Audit, labels: Labels) -> str:
    """Return the weights of payloads before the text was read."""
    prior, limits, sentences = audit.prior, audit.limits, []
    if limits is not None:
        stated = (
            f"{field.name} {', '.join(field.limits)}"
            for field in audit.profile.fields
            if field.limits
        )
        sentences.append(
            labels(
                "payloads.limits",
                weight=number(limits.weight, 2, labels),
                limits="; ".join(stated),
                share=number(-limits.log10_share, 1, labels),
                alike=number(limits.log10_alike, 1, labels),
            )
        )
    if prior is not None:
        sentences.append(_issued_weights(prior, labels))
    return " – ".join(sentences) or labels("payloads.alike")


def _issued_weights(prior: PriorFacts, labels: Labels) -> str:
    return labels(
        "payloads.issued",
        weight=number(prior.weight, 2, labels),
        n=numerals.count(prior.entries, labels.language),
        version=prior.version,
        digest=prior.digest,
        alike=number(prior.log10_alike, 1, labels),
        issued=number(prior.log10_issued, 1, labels),
    )


_PARTS = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "python", "system")


def method(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    """Return program, key, model and steps of the examination."""
    model, device, evidence = audit.model, audit.device, audit.evidence
    entries = audit.register.entries if audit.register is not None else 0
    readings = audit.readings + len(audit.prompts)
    parts = ", ".join(f"{n} {audit.versions[n]}" for n in _PARTS if n in audit.versions)
    language = labels.language
    parameters = labels("parameters", n=model.parameters)
    model_facts = (model.name, model.architecture, parameters, model.weights, model.fingerprint)
    means = labels.facts(
        ("program", _program(audit)),
        ("core", parts),
        ("keys", _keys(audit)),
        ("profile", audit.finding.profile),
        ("model", ", ".join(model_facts)),
        ("tokenizer", model.tokenizer),
        ("device", f"{device.name}, {device.dtype}"),
        ("decoder", audit.decoder if audit.decoded.bits else "–"),
        ("power.table", _power(audit, labels)),
        ("seed", labels("seed.value", seed=str(evidence.seed), n=evidence.draws)),
        ("counted", labels("counted.value", k=len(audit.keys), r=readings, n=entries)),
        ("reread", _second_reading(audit, labels)),
        ("deviations", request.deviations.strip() or labels("none")),
        ("external", request.external.strip() or labels("none")),
    )
    steps = [
        (
            str(step.number),
            step_name(step.name, language),
            f"{number(step.seconds, 2, labels)} s" if step.done else labels("step.left-out"),
            printable(step.words(language)) or "–",
        )
        for step in audit.log
    ]
    head, sides = (
        ("mark.number", "step", "step.done", "step.note"),
        ("right", "left", "right", "left"),
    )
    log = table([*map(labels, head)], steps, sides, (0.06, 0.2, 0.15, 0.6))
    return [means, heading(labels("steps")), log]


def _power(audit: Audit, labels: Labels) -> str | None:
    """Return the table that the power comes from; None if the record names none."""
    if audit.power is None:
        return None
    origin = [] if audit.power.own else [labels("power.shipped")]
    return ", ".join([*origin, *filter(None, [audit.power.name]), audit.power.table])


def _second_reading(audit: Audit, labels: Labels) -> str | None:
    """Return how many parts of a long text were read again, and what that added."""
    rereading = audit.rereading
    if rereading is None:
        return None
    second = "–" if rereading.log10_second is None else number(rereading.log10_second, 1, labels)
    return labels(
        "reread.value",
        r=rereading.read,
        k=rereading.windows,
        n=rereading.tokens,
        first=number(rereading.log10_first, 1, labels),
        second=second,
    )


def rule(audits: Sequence[Audit], labels: Labels) -> tuple[Block, ...]:
    """Return the complete scale, and the rule with the risks of both errors."""
    language = labels.language
    ranges = "; ".join(f"{row.range}: {row.word}" for row in scale(language))
    blocks = [note(f"{labels('scale.text')} {ranges}.")]
    rules: dict[str, list[Audit]] = {}
    for audit in audits:
        rules.setdefault(str(sorted(audit.policy.items())), []).append(audit)
    for group in rules.values():
        policy = group[0].policy
        threshold, cap = (
            float(str(policy.get("t_found", 6.0))),
            float(str(policy.get("lr_cap", 1e6))),
        )
        review = float(str(policy.get("t_review", 3.0)))
        one_in = numerals.count(int(10**threshold), language)
        blocks.append(
            labels.facts(
                ("rule.name", f"{policy.get('name', '')}/{policy.get('version', '')}"),
                ("rule.found", number(threshold, 1, labels)),
                ("rule.review", number(review, 1, labels)),
                ("rule.accept", labels("rule.accept.value", n=one_in)),
                ("rule.reject", _missed(group, labels)),
                ("rule.cap", numerals.count(int(cap), language)),
            )
        )
    blocks.append(note(labels("rule.cap.note")))
    return tuple(blocks)


def _missed(audits: Sequence[Audit], labels: Labels) -> str:
    """Return the risk of a miss: 100 % minus the share that the findings print."""
    # The printed shares are rounded down, to 99 % at most.
    shares = {
        None
        if audit.evidence.power is None
        else 100 - math.floor(100 * min(audit.evidence.power, 0.99) + 1e-9)
        for audit in audits
    }
    percents = sorted(share for share in shares if share is not None)
    if not percents:
        return labels("power.unknown")
    if len(shares) == 1:
        return labels("rule.reject.value", p=f"{percents[0]} %")
    return labels("rule.reject.items", p=f"{percents[-1]} %")


def validation(audits: Sequence[Audit], labels: Labels) -> tuple[Block, ...]:
    """Return which errors were measured, on which texts, and which were not."""
    measured = all(audit.evidence.power is not None for audit in audits)
    draws = [a.evidence.draws for a in audits if a.evidence.draws]
    own_tables = {a.power.table: a.power for a in audits if a.power is not None and a.power.own}
    shipped = any(a.power is None or not a.power.own for a in audits)
    items = [
        *([labels("validation.power")] if shipped else []),
        *(
            labels(
                "validation.power-own",
                name=printable(table.name),
                n=numerals.count(table.texts, labels.language),
                date=day(table.date, labels) if table.date else "–",
            )
            for table in own_tables.values()
        ),
        labels("validation.model", same=labels("yes" if measured else "no")),
        labels("validation.fp"),
        labels("validation.known" if shipped else "validation.known-own"),
    ]
    if draws:
        smallest = numerals.chance(1 / (min(draws) + 1), labels.language)
        items.append(labels("validation.mc", r=smallest))
    limits = [labels(f"limits.{name}") for name in ("copy", "forgery", "privacy")]
    return (bullets([*items, *limits]),)
