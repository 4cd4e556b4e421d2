"""The numbers, the figures, the bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pura.base import numerals
from pura.record.audit import Audit
from pura.record.course import course
from pura.record.evidence import BitEvidence
from pura.record.marks import bits_of
from pura.record.naming import CandidateFacts, evidence_ratio, limits_words, value_words, whom_words
from pura.record.titles import titled
from pura.report import figures
from pura.report.blocks import Block, Labels, bullets, heading, note, paragraph, printable, table
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentences import change_name, say, scale

_PRIORS = (0.1, 0.5, 0.9)
LISTED: Final = 8
"""Candidates that are listed at most; the record holds all that carry weight."""
LEAST_LISTED: Final = 3
"""Candidates that are listed of a payload that is identified."""
_CHARTS: Final = 4  # marks whose bits are drawn
_PROMPTS = 5  # candidate prompts that are named; the record holds all


def findings(audit: Audit, labels: Labels) -> list[Block]:
    """Return what the evaluation rests on."""
    if audit.verdict == "not-examinable":
        return [paragraph(labels("unexamined"))]
    blocks = [_numbers(audit, labels), note(labels("bound.note"))]
    if audit.evidence.p_redraw is not None:
        values = {"p": audit.evidence.p_redraw, "N": audit.evidence.draws}
        blocks.append(note(say("note.n2", labels.language, **values)))
    blocks += _figures(audit, labels)
    if audit.profile.foreign is None:  # others have neither payload nor passages
        blocks += _passages(audit, labels)
    return blocks


def details(audit: Audit, labels: Labels) -> list[Block]:
    """Return what was measured besides: readings, schemes, payloads, register, bits."""
    if audit.verdict == "not-examinable":
        return []
    blocks = [*_variants(audit, labels), *_questions(audit, labels), *_schemes(audit, labels)]
    if audit.profile.foreign is None:
        blocks += [*_candidates(audit, labels), *_bits(audit, labels)]
    return blocks


def ratio(audit: Audit, labels: Labels) -> str:
    """Return the reported likelihood ratio, capped; a dash for an item that was not examined."""
    if audit.verdict == "not-examinable":
        return "–"
    evidence = audit.evidence
    words = numerals.ratio(evidence.lr_capped, labels.language)
    if not evidence.capped:
        return words
    # Capped from above, the true one is larger; kept from falling lower, it is smaller.
    return labels("lr.least" if evidence.lr_capped >= 1 else "lr.most", lr=words)


def support(audit: Audit, labels: Labels) -> tuple[str, str]:
    """Return the key of the row's name, and the word of the scale."""
    rows = scale(labels.language)
    size = audit.evidence.log10_e
    here = max(i for i, row in enumerate(rows) if abs(size) >= row.low)
    if size < 0:  # never beyond “moderate” for H2: H1 allows editing
        return "word.h2", rows[min(here, 2)].word
    return "word", rows[here].word


def grouped(bits: str) -> str:
    """Return bits in groups of four."""
    return " ".join(bits[i : i + 4] for i in range(0, len(bits), 4))


def day(text: str, labels: Labels) -> str:
    """Return a date in the language's own way."""
    return numerals.date(text[:10], labels.language)


def number(value: float, digits: int, labels: Labels) -> str:
    """Return a number with a proper minus sign and the language's decimal mark."""
    return numerals.pointed(f"{value:.{digits}f}", labels.language)


def _numbers(audit: Audit, labels: Labels) -> Block:
    found = audit.evidence
    language = labels.language
    redrawn = power = None
    if found.p_redraw is not None:
        chance = numerals.chance(found.p_redraw, language)
        redrawn = labels("p.n", p=chance, n=found.draws, seed=str(found.seed))
    if found.power is not None:
        power = f"{numerals.percent(min(found.power, 0.99), language)} %"
    return labels.facts(
        ("l", number(found.log10_e, 1, labels)),
        # No smaller than the cap allows: beyond it chance is not what matters.
        (
            "bound",
            numerals.chance(min(1.0, max(found.p_bound, 1 / max(1.0, audit.lr_cap))), language),
        ),
        ("p", redrawn),
        ("power", power or labels("power.unknown")),
    )


def _figures(audit: Audit, labels: Labels) -> list[Block]:
    if audit.tokens.ids.size == 0:
        return []
    values = course(audit)
    return [
        Block(
            kind="figure",
            svg=figures.course_chart(audit, labels),
            text=labels("figure.course" if audit.decoded.bits else "figure.course-foreign"),
            alt=labels(
                "alt.course",
                first=number(float(values[0]), 1, labels),
                last=number(float(values[-1]), 1, labels),
                n=audit.tokens.ids.size,
                t=number(figures.threshold(audit), 1, labels),
            ),
        )
    ]


def strip(audit: Audit, labels: Labels) -> Block:
    """Return the scale with the place of a finding on it."""
    rows = scale(labels.language)
    return Block(
        kind="figure",
        svg=figures.scale_strip(audit, labels),
        alt=labels(
            "alt.scale",
            first=rows[0].word,
            last=rows[-1].word,
            word=support(audit, labels)[1],
            t=number(figures.threshold(audit), 1, labels),
        ),
    )


def _variants(audit: Audit, labels: Labels) -> list[Block]:
    if len(audit.variants) + len(audit.prompts) + len(audit.keys) <= 2:
        return []
    rows = []
    for one in audit.variants:
        undone = (f"{change_name(c.name, labels.language)} ({c.count})" for c in one.changes)
        counts = (numerals.count(n, labels.language) for n in (one.tokens, one.usable))
        log10_e = number(one.log10_e, 1, labels) if one.read else "–"
        name = _marked(_variant_name(one.name, labels), one.shown, labels)
        rows.append((name, *counts, log10_e, printable(", ".join(undone)) or "–"))
    read = [(one.log10_e, one) for one in audit.prompts if one.log10_e is not None]
    for weighed, prompt in sorted(read, key=lambda pair: -pair[0])[:_PROMPTS]:
        count, sha = len(audit.prompts), prompt.sha256[:16]
        tokens = numerals.count(audit.variants[0].tokens, labels.language)
        name = labels("variant.prompt", i=prompt.number, n=count, sha=sha)
        name = _marked(name, prompt.shown, labels)
        rows.append((name, tokens, "–", number(weighed, 1, labels), "–"))
    head = (*map(labels, ("variant.name", "tokens", "usable")), "L", labels("variant.undone"))
    sides = ("left", "right", "right", "right", "left")
    return [heading(labels("runs")), table(head, rows, sides, (0.26, 0.1, 0.16, 0.1, 0.38))]


def _questions(audit: Audit, labels: Labels) -> list[Block]:
    """Return after which stored questions the text was read; their words are in no report."""
    facts = audit.questions
    if facts is None:
        return []
    language = labels.language
    totals = labels(
        "questions.stored",
        n=numerals.count(facts.stored, language),
        w=number(facts.weight, 2, labels),
        l=number(facts.log10_without, 1, labels),
    )
    blocks = [heading(labels("questions")), paragraph(totals)]
    rows = []
    for reading in facts.tried:
        name = _marked(str(reading.number), reading.number == facts.shown, labels)
        by = labels(f"questions.by-{reading.by}")
        counts = (numerals.count(n, language) for n in (reading.same, reading.tokens))
        until = numerals.date(reading.until, language)
        rows.append(
            (name, by, *counts, f"{reading.weight:.2g}", number(reading.log10_e, 1, labels), until)
        )
    if rows:
        names = ("number", "by", "same")
        head = (*(labels(f"questions.{name}") for name in names), labels("tokens"))
        head += (labels("weight"), "L", labels("questions.until"))
        sides = ("left", "left", *("right",) * 4, "left")
        blocks.append(table(head, rows, sides, (0.2, 0.16, 0.12, 0.1, 0.12, 0.1, 0.2)))
    return blocks


def _schemes(audit: Audit, labels: Labels) -> list[Block]:
    """Return the schemes that were tried, where there were several."""
    if len(audit.schemes) < 2:
        return []
    rows = []
    for one in audit.schemes:
        name = _marked(FOREIGN_NAMES.get(one.profile.scheme, "PURA"), one.shown, labels)
        named = titled(one.profile.name, one.profile.fingerprint)
        evidence = number(one.log10_e, 1, labels)
        rows.append((name, printable(named), ", ".join(one.keys), evidence))
    head = (labels("scheme"), labels("profile"), labels("keys"), "L")
    sides = ("left", "left", "left", "right")
    return [heading(labels("schemes")), table(head, rows, sides, (0.26, 0.3, 0.32, 0.12))]


def _marked(name: str, shown: bool, labels: Labels) -> str:
    return printable(f"{name} ({labels('variant.shown')})" if shown else name)


def _variant_name(name: str, labels: Labels) -> str:
    own = ("found", "restored", "layout", "case", "ids")
    return labels(f"variant.{name}") if name in own else name


def _candidates(audit: Audit, labels: Labels) -> list[Block]:
    """Return the payloads that the evidence leaves in question, of each mark that has any."""
    blocks = [heading(labels("candidates"))]
    marks = audit.finding.marks
    if audit.verdict != "mark":
        return [*blocks, paragraph(labels("candidates.none"))]
    if len(marks) > 1 and all(mark.payload.identified for mark in marks):
        return [*blocks, paragraph(labels("candidates.sure")), *_register(audit, labels)]
    for mark in marks:
        if len(marks) > 1 and mark.payload.identified:
            continue
        if len(marks) > 1:
            blocks.append(heading(labels("mark.n", n=mark.number)))
        most = max(LEAST_LISTED, min(LISTED, mark.payload.in_question))
        blocks.append(_candidate_table(audit, mark.candidates[:most], labels))
    return [*blocks, *_register(audit, labels)]


def _candidate_table(audit: Audit, candidates: Sequence[CandidateFacts], labels: Labels) -> Block:
    rows = []
    for one in candidates:
        values = (f"{f.name} {value_words(audit.profile, f, labels.language)}" for f in one.fields)
        weight = numerals.weight(one.posterior, labels.language)
        other = audit.other_key_title(one)
        payload = grouped(one.bits) + (f" · {printable(other)}" if other else "")
        rows.append((payload, printable(" · ".join(values)) or "–", weight))
    head = (labels("candidate"), labels("payload.fields"), labels("weight"))
    return table(head, rows, ("left", "left", "right"), (0.45, 0.42, 0.13))


def _register(audit: Audit, labels: Labels) -> list[Block]:
    """Weights of the entries under three prior weights of “not in the register”."""
    register = audit.register
    if register is None or audit.finding.register_match is None:
        return []
    head = (labels("entry"), *(labels("weights.prior", w=number(p, 1, labels)) for p in _PRIORS))
    rows = [
        (
            str(match.entry),
            *(
                _weight(match.posterior, register.prior_none, register.none_weight, p, labels)
                for p in _PRIORS
            ),
        )
        for match in register.matches
    ]
    return [
        heading(labels("weights.register")),
        table(head, rows, ("left", "right", "right", "right"), (1, 1, 1, 1)),
    ]


def _weight(posterior: float, prior: float, none: float, wanted: float, labels: Labels) -> str:
    """Reweigh a posterior for another prior of “not in the register” (Bayes' rule in odds)."""
    if prior in (0.0, 1.0):
        return numerals.weight(posterior, labels.language)
    inside = (1.0 - wanted) / (1.0 - prior)
    outside = wanted / prior
    total = inside * (1.0 - none) + outside * none
    return numerals.weight(posterior * inside / total if total else 0.0, labels.language)


def _passages(audit: Audit, labels: Labels) -> list[Block]:
    """Return where the marks stand; of several, what may be said of each."""
    blocks = [heading(labels("passages"))]
    places: dict[int, list[str]] = {}
    for mark, p in audit.finding.passages:
        place = printable(audit.finding.place(p, labels.language))
        tokens = labels("from-to", a=p.first_token + 1, b=p.last_token + 1)
        limits = limits_words(p, labels.language, level=False)
        words = f"{place}, {tokens}; {limits}" if limits else f"{place}, {tokens}"
        places.setdefault(mark + 1, []).append(words)
    if not places:
        return [*blocks, paragraph(labels("passages.none"))]
    if len(audit.finding.marks) < 2:
        blocks.append(bullets([place for each in places.values() for place in each]))
    else:
        blocks.append(_marks(audit, places, labels))
    limited = any(p.limits is not None for _, p in audit.finding.passages)
    return [*blocks, note(labels("margin"))] if limited else blocks


def _marks(audit: Audit, places: Mapping[int, Sequence[str]], labels: Labels) -> Block:
    """Return what may be said of each of several marks."""
    marks = audit.finding.marks
    language, cap = labels.language, audit.lr_cap
    keys = len(audit.finding.marking_keys) > 1
    rows = []
    for mark in marks:
        bits = bits_of(audit, mark.number - 1)
        own = mark.key == audit.key.fingerprint
        payload = whom_words(audit.profile, mark.payload, grouped(mark.payload.best), language)
        rows.append(
            (
                str(mark.number),
                printable(payload + (f" · {mark.key_title}" if keys else "")),
                "; ".join(places.get(mark.number, ())) or "–",
                "–" if mark.share is None else numerals.share(mark.share, language),
                str(sum(bit.repaired for bit in bits)) if own else "–",
                evidence_ratio(mark, language, cap) or "–",
            )
        )
    head = ("mark.number", "payload", "passages.where", "mark.share", "mark.repaired", "summary.lr")
    sides = ("left", "left", "left", "right", "right", "right")
    return table([*map(labels, head)], rows, sides, (0.05, 0.16, 0.48, 0.07, 0.11, 0.13))


def _bits(audit: Audit, labels: Labels) -> list[Block]:
    """Return the bits as a chart; of several marks those of which the payload is in question."""
    marks = audit.finding.marks
    if len(marks) < 2:
        return [
            heading(labels("bits")),
            _chart(bits_of(audit, None), labels),
            note(labels("bits.inside")),
        ]
    open_ = [m for m in marks if not m.payload.identified and m.key == audit.key.fingerprint]
    blocks = []
    for mark in open_[:_CHARTS]:
        blocks.append(heading(f"{labels('bits')}: {labels('mark.n', n=mark.number)}"))
        blocks.append(_chart(bits_of(audit, mark.number - 1), labels))
    return [*blocks, note(labels("bits.inside"))]


def _chart(bits: Sequence[BitEvidence], labels: Labels) -> Block:
    return Block(
        kind="figure",
        svg=figures.bits_chart(bits, labels),
        text=labels("figure.bits"),
        alt=labels(
            "alt.bits",
            n=len(bits),
            repaired=sum(b.repaired for b in bits),
            unread=sum(b.readings == 0 for b in bits),
            weak=sum(b.weak for b in bits),
        ),
    )
