"""An annex for regulators: what a deployment can show under Article 50(2) of the EU AI Act.

It is filled from the profile, the policy, the power tables that fit both, and the state of each
duty. Every number names its source, and the sources are attached to the PDF. It is no legal advice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from pura.base import numerals
from pura.base.catalogue import Phrase, catalogue
from pura.base.json_text import canonical
from pura.detect.verdict.policy import Policy
from pura.detect.verdict.power import PowerEntry, PowerTable
from pura.report.blocks import (
    Block,
    Content,
    Labels,
    Section,
    bullets,
    compile_pdf,
    heading,
    note,
    paragraph,
    printable,
    table,
)
from pura.scheme import Profile
from pura.version import __version__

# Amendment, guidelines and code are cited from reports about them, not from the originals.
CODE_OF_PRACTICE: Final = "Code of Practice on Transparency of AI-Generated Content"
_SOURCES_DATE: Final = "2026-11-26"
_REQUIREMENTS: Final = (
    ("marked", "3"),
    ("detectable", "4"),
    ("effective", "5"),
    ("robust", "6"),
    ("interoperable", "8"),
    ("feasible", "7"),
)
_LIMITS: Final = ("short", "rewritten", "absence", "media", "people", "key", "forgery", "others")
# Bullets are texts of the annex itself ("own", "interop") or the observed state of a duty.
_INTEROP: Final = (
    ("interop", ("open", "records", "key", "c2pa")),
    ("duty", ("detector", "layers")),
)
_OWN_DETECTOR: Final = (
    ("own", ("none", "open")),
    ("duty", ("detector", "effective", "robust", "layers", "routed")),
    ("own", ("until",)),
)

DutyState: TypeAlias = Literal["have", "partly", "absent"]


@dataclass(frozen=True, kw_only=True)
class Duty:
    """A duty, and how far a deployment meets it.

    Attributes:
        id: Name for programs; its text in the volume ``duties`` states the requirement.
        source: Where the requirement comes from.
        state: How far it is met.
        seen: The observed state, and the next step.
    """

    id: str
    source: Phrase
    state: DutyState
    seen: Phrase

    def words(self, language: str) -> tuple[str, str, str, str]:
        """Return requirement, source, observed state, and next step, which may be empty."""
        texts = catalogue("duties")
        hint = texts[self.seen.key].hint
        way_on = texts.fill(hint, language, self.seen.values) if hint else ""
        source, observation = (
            texts.fill(part.key, language, part.values) for part in (self.source, self.seen)
        )
        return texts.fill(self.id, language, {}), source, observation, way_on


@dataclass(frozen=True, kw_only=True)
class AnnexFacts:
    """The facts that fill the annex.

    Attributes:
        profile: Profile with which texts are marked.
        policy: The rule that findings follow.
        own: Power tables that the policy names, in its order.
        shipped: Power tables of the program; they count if none of ``own`` fits.
        date: Date of the annex, ``YYYY-MM-DD``.
        language: ``en`` or ``de``.
        paper: ``a4`` or ``us-letter``.
        detector: Address of the public detector; empty if there is none.
        duties: Every duty, with its state.
    """

    profile: Profile
    policy: Policy
    own: tuple[PowerTable, ...]
    shipped: tuple[PowerTable, ...]
    date: str
    language: str = "en"
    paper: str = "a4"
    detector: str = ""
    duties: tuple[Duty, ...]

    @property
    def tables(self) -> tuple[PowerTable, ...]:
        """The tables that apply to this profile: own ones or, if none fits, shipped ones."""
        for tables in (self.own, self.shipped):
            fitting = tuple(t for t in tables if entries_of(t, self.profile, self.policy.t_found))
            if fitting:
                return fitting
        return ()


def entries_of(table: PowerTable, profile: Profile, threshold: float) -> tuple[PowerEntry, ...]:
    """Return the closest entry of each kind for a profile, those of edited texts too.

    Args:
        table: The power table.
        profile: Profile with which texts are marked; it must name the writing model.
        threshold: log10 of the evidence from which a mark counts as found.
    """
    writers = table.conditions.get("generators", table.models)
    if profile.model not in writers or not table.suits(profile, ""):
        return ()
    fitting = [e for e in table.entries if e.speaks_of(profile, threshold)]
    closest: dict[tuple[str, int, bool], PowerEntry] = {}
    for entry in sorted(fitting, key=lambda e: (e.payload_bits, e.threshold)):
        closest.setdefault((entry.edit, entry.text_usable, entry.prompt), entry)
    return tuple(closest[kind] for kind in sorted(closest))


def regulators_annex(facts: AnnexFacts) -> bytes:
    """Return the annex as PDF, with profile, policy and tables inside.

    Raises:
        ReportError: The PDF could not be made.
    """
    return compile_pdf(annex_content(facts), attached=annex_files(facts))


def annex_files(facts: AnnexFacts) -> dict[str, bytes]:
    """Return the files inside the PDF: profile, policy, and the conditions of the tables."""
    return {
        "profile.json": canonical(facts.profile.to_dict()),
        "policy.json": canonical(facts.policy.to_dict()),
        "tables.json": json.dumps(
            [
                {"name": t.name, "sha256": t.fingerprint, **_plain(t.conditions)}
                for t in facts.tables
            ],
            ensure_ascii=False,
            indent=1,
        ).encode(),
    }


def annex_content(facts: AnnexFacts) -> Content:
    """Return the content of the annex."""
    labels = Labels(facts.language, "annex")
    parts = (
        ("about", _overview(facts, labels)),
        ("asked", _requirements(facts, labels)),
        ("marking", _marking(facts, labels)),
        ("bound", _bound(facts, labels)),
        ("power", _power(facts, labels)),
        ("edits", _edits(facts, labels)),
        ("limits", (bullets([labels(f"limits.{key}") for key in _LIMITS]),)),
        ("interop", (bullets(_bullet_texts(_INTEROP, facts, labels)),)),
        ("duties", _duties(facts, labels)),
        (
            "own",
            (paragraph(labels("own.text")), bullets(_bullet_texts(_OWN_DETECTOR, facts, labels))),
        ),
        ("sources", _sources(labels)),
    )
    year, month, day = (int(part) for part in facts.date.split("-"))
    return Content(
        title=labels("title"),
        language=facts.language,
        paper=facts.paper,
        head=labels(
            "head", date=facts.date, profile=facts.profile.fingerprint, rule=_rule(facts.policy)
        ),
        foot=f"PURA Audit {__version__}",
        page=labels("page", n="{n}", of="{of}"),
        draft=labels("draft"),
        date=(year, month, day),
        sections=tuple(
            Section(number=number, title=labels(key), blocks=blocks)
            for number, (key, blocks) in enumerate(parts, start=1)
        ),
        end=labels("end"),
        organisation=printable(facts.policy.organisation),
    )


def _overview(facts: AnnexFacts, labels: Labels) -> tuple[Block, ...]:
    address = facts.detector.rstrip("/") or None
    return (
        paragraph(labels("about.text")),
        labels.facts(
            ("organisation", facts.policy.organisation or labels("not-given")),
            ("date", numerals.date(facts.date, facts.language)),
            ("program", f"PURA Audit {__version__}"),
            ("profile", f"{facts.profile.name or ''} {facts.profile.fingerprint}".strip()),
            ("policy", _rule(facts.policy)),
            ("detector", address),
            ("detector.terms", f"{address}/v1/detector" if address else None),
        ),
    )


def _bullet_texts(
    parts: Sequence[tuple[str, Sequence[str]]], facts: AnnexFacts, labels: Labels
) -> list[str]:
    observations = {duty.id: printable(duty.words(facts.language)[2]) for duty in facts.duties}
    return [
        observations[key] if part == "duty" else labels(f"{part}.{key}", date=_SOURCES_DATE)
        for part, keys in parts
        for key in keys
    ]


def _duties(facts: AnnexFacts, labels: Labels) -> tuple[Block, ...]:
    rows = []
    for duty in facts.duties:
        requirement, source, observation, way_on = map(printable, duty.words(facts.language))
        state = catalogue("duties").fill(f"state.{duty.state}", facts.language, {})
        rows.append((f"{requirement} ({source})", state, f"{observation} {way_on}".strip()))
    head = (labels("duties.asked"), labels("duties.state"), labels("duties.seen"))
    return (
        paragraph(labels("duties.text")),
        table(head, rows, ("left", "left", "left"), (5, 1.4, 5)),
        note(labels("duties.note")),
    )


def _requirements(facts: AnnexFacts, labels: Labels) -> tuple[Block, ...]:
    rows = [
        (
            labels(f"asked.{key}"),
            labels(f"asked.{key}.shown", bits=facts.profile.payload_bits),
            section,
        )
        for key, section in _REQUIREMENTS
    ]
    head = (labels("asked.point"), labels("asked.shown"), labels("asked.section"))
    return (
        table(head, rows, ("left", "left", "left"), (4, 5, 1.4)),
        note(labels("asked.note")),
    )


def _marking(facts: AnnexFacts, labels: Labels) -> tuple[Block, ...]:
    profile = facts.profile
    low, middle, high = (f"{bits:g}" for bits in profile.entropy_thresholds_bits)
    sampling = labels(
        "marking.sampling.value",
        t=f"{profile.temperature:g}",
        k=str(profile.top_k),
        p=f"{profile.top_p:g}",
    )
    names = ", ".join(field.name for field in profile.fields)
    return (
        paragraph(labels("marking.text")),
        labels.facts(
            ("marking.code", f"{profile.code}, {profile.payload_bits}"),
            ("marking.fields", names or None),
            ("marking.gate", labels("marking.gate.value", one=low, two=middle, three=high)),
            ("marking.sampling", sampling),
            ("marking.model", profile.model or labels("not-given")),
        ),
        note(labels("marking.source", fingerprint=profile.fingerprint)),
    )


def _bound(facts: AnnexFacts, labels: Labels) -> tuple[Block, ...]:
    policy = facts.policy
    one_in = int(10.0**policy.t_found * (1 + 1e-12))
    text = labels("bound.text", t=f"{policy.t_found:g}", one_in=one_in, cap=policy.lr_cap)
    blocks = [paragraph(text)]
    if policy.yearly_volume:
        false = f"{policy.yearly_volume * 10.0**-policy.t_found:.2g}"
        blocks.append(paragraph(labels("bound.volume", n=policy.yearly_volume, false=false)))
    return (*blocks, note(labels("bound.source", rule=_rule(policy))))


def _power(facts: AnnexFacts, labels: Labels) -> tuple[Block, ...]:
    if not facts.tables:
        return (paragraph(labels("power.none")),)
    blocks = [paragraph(labels("power.text"))]
    for power_table in facts.tables:
        blocks += _table_facts(power_table, facts, labels)
        for entry in entries_of(power_table, facts.profile, facts.policy.t_found):
            if not entry.edit:
                inside = entry.text_usable
                title = labels("power.inside", n=inside) if inside else labels("power.whole")
                blocks += _entry(title, entry, labels)
    return tuple(blocks)


def _edits(facts: AnnexFacts, labels: Labels) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for power_table in facts.tables:
        for entry in entries_of(power_table, facts.profile, facts.policy.t_found):
            if entry.edit:
                blocks += _entry(labels("edits.edit", edit=entry.edit), entry, labels)
    return tuple(blocks) or (paragraph(labels("edits.none")),)


def _table_facts(power_table: PowerTable, facts: AnnexFacts, labels: Labels) -> list[Block]:
    conditions = power_table.conditions
    name = printable(power_table.name) or labels("power.study")
    title = labels("power.own" if power_table in facts.own else "power.shipped", name=name)
    date = conditions.get("date")
    largest = max(max(entry.texts) for entry in power_table.entries)
    texts = int(conditions.get("texts", largest))
    return [
        heading(title),
        labels.facts(
            ("date", numerals.date(date, facts.language) if date else labels("power.undated")),
            ("power.texts", numerals.count(texts, facts.language)),
            ("power.kinds", ", ".join(conditions.get("kinds", ["English"]))),
            ("power.fingerprint", power_table.fingerprint),
        ),
    ]


def _entry(title: str, entry: PowerEntry, labels: Labels) -> list[Block]:
    prompt = labels("power.known" if entry.prompt else "power.unknown")
    conditions = labels(
        "power.conditions", bits=entry.payload_bits, t=f"{entry.threshold:g}", prompt=prompt
    )
    rows = [
        (
            numerals.count(low, labels.language),
            labels("power.of", found=detected, texts=texts),
            f"{math.floor(100 * limit + 1e-9)} %",  # never rounded up
        )
        for low, detected, texts, limit in zip(
            entry.usable, entry.found, entry.texts, entry.limits, strict=True
        )
    ]
    head = (labels("power.from"), labels("power.found"), labels("power.limit"))
    return [
        heading(title),
        note(conditions),
        table(head, rows, ("right", "right", "right"), (1, 1, 1)),
    ]


def _sources(labels: Labels) -> tuple[Block, ...]:
    return (
        bullets(
            [
                labels("sources.law"),
                labels("sources.amendment"),
                labels("sources.guidelines"),
                labels("sources.practice", title=CODE_OF_PRACTICE),
                labels("sources.docs", version=__version__),
            ]
        ),
        note(labels("sources.note", date=_SOURCES_DATE)),
    )


def _rule(policy: Policy) -> str:
    return f"{policy.name}/{policy.version}"


def _plain(conditions: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in conditions.items() if key != "name"}
