"""The item, the propositions, what the evaluation rests on."""

from __future__ import annotations

from pura.base import numerals
from pura.documents import c2pa
from pura.record.audit import Audit
from pura.record.finding import said
from pura.record.readings import PriorFacts
from pura.report.blocks import Block, bullets, facts, heading, note, paragraph
from pura.report.findings import day, grouped, number
from pura.report.glyphs import printable
from pura.report.labels import Labels
from pura.report.request import ReportRequest
from pura.words.sentences import changed, say, step_name

_CUSTODY = ("source", "received", "custody")
_ALTERNATIVES = ("quoted", "account", "forged", "test", "translation")


def item(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    """Return what was examined."""
    found, notes, language = audit.input, request.item, labels.language
    rows = [
        (labels("file"), found.name),
        *([(labels("format"), found.format)] if found.format else []),
        *([(labels("part"), found.part)] if found.part else []),
        (labels("size"), labels("bytes", n=numerals.count(found.size_bytes, language))),
        (labels("sha"), found.sha256 or "–"),
        *((labels(n), v) for n, v in vars(notes).items() if n in _CUSTODY and v.strip()),
        *(_text_rows(audit, labels) if found.characters else []),
        *([(labels("supplied"), notes.supplied)] if notes.supplied.strip() else []),
    ]
    blocks: list[Block] = [facts([(name, printable(value)) for name, value in rows])]
    blocks += [note(words) for words in said(found.conditions, language)]
    if audit.verdict == "not-examinable":
        blocks.append(_unexamined(audit, labels))
    if notes.supplied.strip():
        blocks.append(note(labels("supplied.note")))
    return blocks


def _unexamined(audit: Audit, labels: Labels) -> Block:
    """Return with what the item was to be examined, and how far that went."""
    means = [
        (labels("worked"), f"{day(audit.created, labels)} ({audit.created})"),
        (labels("keys"), ", ".join(key.fingerprint for key in audit.keys)),
        (labels("profile"), f"{audit.profile.name or ''} {audit.profile.fingerprint}".strip()),
        (labels("model"), f"{audit.model.name} {audit.model.fingerprint}"),
        (labels("program"), f"PURA Audit {audit.versions.get('pura', '')}"),
    ]
    left = next((step for step in audit.log if not step.done), None)
    if left is not None:
        name = f"{left.number} {step_name(left.name, labels.language)}"
        means.append((labels("unexamined.step"), f"{name}: {left.words(labels.language)}"))
    return facts([(name, printable(value)) for name, value in means])


def _text_rows(audit: Audit, labels: Labels) -> list[tuple[str, str]]:
    """Return what is known of the text that was made of the item."""
    found, language = audit.input, labels.language
    return [
        (labels("encoding"), found.encoding),
        (labels("characters"), numerals.count(found.characters, language)),
        (labels("tokens"), numerals.count(found.tokens, language)),
        (labels("usable"), numerals.count(audit.evidence.usable, language)),
    ]


def conditions(audit: Audit, labels: Labels) -> list[str]:
    """Return what was noted of the characters: by the reader, and by restoring them."""
    own = (c2pa.WHOLE, c2pa.INCOMPLETE)  # where they stand is told with the text
    found = [
        changed(t.name, t.count, () if t.name in own else t.note, labels.language)
        for t in audit.input.transforms
    ]
    # A further reading goes on from the one before, so it names the same changes again.
    changes = {change.name: change.count for v in audit.variants for change in v.changes}
    return found + [changed(name, count, (), labels.language) for name, count in changes.items()]


def propositions(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    """Return the pairs of propositions, what they leave out, and what they rest on."""
    language = labels.language
    blocks = [
        heading(labels("pair.source")),
        *(paragraph(words) for words in said(audit.finding.compared, language)),
    ]
    bits = None if audit.payload is None else audit.payload.bits
    if bits is not None:
        blocks += [
            heading(labels("pair.payload")),
            paragraph(say("proposition.h1p", language, payload=grouped(bits))),
            paragraph(say("proposition.h2p", language)),
        ]
    blocks += [
        heading(labels("alternatives")),
        bullets([say(f"alternative.{name}", language) for name in _ALTERNATIVES]),
        heading(labels("conditioning")),
        facts([(name, printable(value)) for name, value in _conditioning(audit, request, labels)]),
        note(say("conditioning.repeat", language)),
    ]
    return blocks


def _conditioning(audit: Audit, request: ReportRequest, labels: Labels) -> list[tuple[str, str]]:
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
    asked = (
        labels("register.not-asked")
        if register is None
        else labels(
            "register.asked",
            version=register.version,
            date=day(register.date, labels),
            n=register.entries,
        )
    )
    rows = [
        (labels("prompt"), prompt),
        (
            labels("normalisation"),
            "; ".join(conditions(audit, labels)) or labels("condition.plain"),
        ),
        (labels("register"), asked),
    ]
    if register is not None:
        rows.append((labels("prior"), number(register.prior_none, 2, labels)))
    if audit.decoded.bits:
        rows.append((labels("payloads"), _payload_weights(audit, labels)))
    if request.item.disclosed.strip():
        rows.append((labels("disclosed"), request.item.disclosed))
    return rows


def _payload_weights(audit: Audit, labels: Labels) -> str:
    """Say what payloads weighed before the text was seen."""
    prior, limits, said = audit.prior, audit.limits, []
    if limits is not None:
        stated = (
            f"{field.name} {', '.join(field.limits)}"
            for field in audit.profile.fields
            if field.limits
        )
        said.append(
            labels(
                "payloads.limits",
                weight=number(limits.weight, 2, labels),
                limits="; ".join(stated),
                share=number(-limits.log10_share, 1, labels),
                alike=number(limits.log10_alike, 1, labels),
            )
        )
    if prior is not None:
        said.append(_issued_weights(prior, labels))
    return " – ".join(said) or labels("payloads.alike")


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
