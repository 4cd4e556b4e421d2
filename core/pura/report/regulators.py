"""An annex for regulators: what a deployment can show under Article 50(2) of the EU AI Act.

Filled from the profile, the policy, the power tables that fit both, and what was seen of each duty;
every number names where it comes from, and these sources lie inside the PDF. No legal advice.
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

# Amendment, guidelines and code are known from reports about them; nobody read the originals.
CODE_OF_PRACTICE: Final = "Code of Practice on Transparency of AI-Generated Content"
_KNOWN: Final = "2026-11-26"
_ASKED: Final = (
    ("marked", "3"),
    ("detectable", "4"),
    ("effective", "5"),
    ("robust", "6"),
    ("interoperable", "8"),
    ("feasible", "7"),
)
_LIMITS: Final = ("short", "rewritten", "absence", "media", "people", "key", "forgery", "others")
# Bullets are the annex's own texts, or what was seen of a duty.
_INTEROP: Final = (
    ("interop", ("open", "records", "key", "c2pa")),
    ("duty", ("detector", "layers")),
)
_OWN: Final = (
    ("own", ("none", "open")),
    ("duty", ("detector", "effective", "robust", "layers", "routed")),
    ("own", ("until",)),
)

DutyState: TypeAlias = Literal["have", "partly", "absent"]


@dataclass(frozen=True, kw_only=True)
class Duty:
    """A duty, and how a deployment stands to it.

    Attributes:
        id: Its name, for programs; its text in the volume ``duties`` says what is asked.
        source: Where it is asked, as reported.
        state: How far it is met, as seen.
        seen: What was seen, and the way on.
    """

    id: str
    source: Phrase
    state: DutyState
    seen: Phrase

    def words(self, language: str) -> tuple[str, str, str, str]:
        """Return what is asked, where, what was seen, and the way on, which may be empty."""
        texts = catalogue("duties")
        hint = texts[self.seen.key].hint
        way_on = texts.fill(hint, language, self.seen.values) if hint else ""
        source, seen = (
            texts.fill(one.key, language, one.values) for one in (self.source, self.seen)
        )
        return texts.fill(self.id, language, {}), source, seen, way_on


@dataclass(frozen=True, kw_only=True)
class AnnexFacts:
    """What the annex is filled from.

    Attributes:
        profile: What texts are marked with.
        policy: The rule that findings follow.
        own: The tables that the policy names, in its order.
        shipped: Those that ship with the program; they count where no own one fits.
        date: Of the annex, ``YYYY-MM-DD``.
        language: ``en`` or ``de``.
        paper: ``a4`` or ``us-letter``.
        detector: Address of the detector that others may ask; empty where there is none.
        duties: Every duty, as it was looked at.
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
        """The tables that speak of this profile: own ones, or else shipped ones."""
        for tables in (self.own, self.shipped):
            fitting = tuple(t for t in tables if entries_of(t, self.profile, self.policy.t_found))
            if fitting:
                return fitting
        return ()


def entries_of(table: PowerTable, profile: Profile, threshold: float) -> tuple[PowerEntry, ...]:
    """Return what a table says of a profile: the closest entry of each kind, edited texts too.

    Args:
        table: The table.
        profile: What texts are marked with; it must name the writing model.
        threshold: log10 of the evidence that counts as found.
    """
    writers = table.conditions.get("generators", table.models)
    if profile.model not in writers or not table.suits(profile, ""):
        return ()
    fitting = [e for e in table.entries if e.speaks_of(profile, threshold)]
    closest: dict[tuple[str, int, bool], PowerEntry] = {}
    for entry in sorted(fitting, key=lambda e: (e.payload_bits, e.threshold)):
        closest.setdefault((entry.edit, entry.text_usable, entry.prompt), entry)
    return tuple(closest[kind] for kind in sorted(closest))


def regulators_annex(of: AnnexFacts) -> bytes:
    """Return the annex as PDF, with profile, policy and tables inside.

    Raises:
        ReportError: It could not be set.
    """
    return compile_pdf(annex_content(of), attached=annex_files(of))


def annex_files(of: AnnexFacts) -> dict[str, bytes]:
    """Return the files inside the PDF: profile, policy, and what the tables say of themselves."""
    return {
        "profile.json": canonical(of.profile.to_dict()),
        "policy.json": canonical(of.policy.to_dict()),
        "tables.json": json.dumps(
            [{"name": t.name, "sha256": t.fingerprint, **_plain(t.conditions)} for t in of.tables],
            ensure_ascii=False,
            indent=1,
        ).encode(),
    }


def annex_content(of: AnnexFacts) -> Content:
    """Return everything that the annex says."""
    say = Labels(of.language, "annex")
    parts = (
        ("about", _about(of, say)),
        ("asked", _asked(of, say)),
        ("marking", _marking(of, say)),
        ("bound", _bound(of, say)),
        ("power", _power(of, say)),
        ("edits", _edits(of, say)),
        ("limits", (bullets([say(f"limits.{key}") for key in _LIMITS]),)),
        ("interop", (bullets(_said(_INTEROP, of, say)),)),
        ("duties", _duties(of, say)),
        ("own", (paragraph(say("own.text")), bullets(_said(_OWN, of, say)))),
        ("sources", _sources(say)),
    )
    year, month, day = (int(part) for part in of.date.split("-"))
    return Content(
        title=say("title"),
        language=of.language,
        paper=of.paper,
        head=say("head", date=of.date, profile=of.profile.fingerprint, rule=_rule(of.policy)),
        foot=f"PURA Audit {__version__}",
        page=say("page", n="{n}", of="{of}"),
        draft=say("draft"),
        date=(year, month, day),
        sections=tuple(
            Section(number=number, title=say(key), blocks=blocks)
            for number, (key, blocks) in enumerate(parts, start=1)
        ),
        end=say("end"),
        organisation=printable(of.policy.organisation),
    )


def _about(of: AnnexFacts, say: Labels) -> tuple[Block, ...]:
    address = of.detector.rstrip("/") or None
    return (
        paragraph(say("about.text")),
        say.facts(
            ("organisation", of.policy.organisation or say("not-given")),
            ("date", numerals.date(of.date, of.language)),
            ("program", f"PURA Audit {__version__}"),
            ("profile", f"{of.profile.name or ''} {of.profile.fingerprint}".strip()),
            ("policy", _rule(of.policy)),
            ("detector", address),
            ("detector.terms", f"{address}/v1/detector" if address else None),
        ),
    )


def _said(parts: Sequence[tuple[str, Sequence[str]]], of: AnnexFacts, say: Labels) -> list[str]:
    seen = {duty.id: printable(duty.words(of.language)[2]) for duty in of.duties}
    return [
        seen[key] if part == "duty" else say(f"{part}.{key}", date=_KNOWN)
        for part, keys in parts
        for key in keys
    ]


def _duties(of: AnnexFacts, say: Labels) -> tuple[Block, ...]:
    rows = []
    for duty in of.duties:
        asked, source, seen, way_on = map(printable, duty.words(of.language))
        state = catalogue("duties").fill(f"state.{duty.state}", of.language, {})
        rows.append((f"{asked} ({source})", state, f"{seen} {way_on}".strip()))
    head = (say("duties.asked"), say("duties.state"), say("duties.seen"))
    return (
        paragraph(say("duties.text")),
        table(head, rows, ("left", "left", "left"), (5, 1.4, 5)),
        note(say("duties.note")),
    )


def _asked(of: AnnexFacts, say: Labels) -> tuple[Block, ...]:
    rows = [
        (say(f"asked.{key}"), say(f"asked.{key}.shown", bits=of.profile.payload_bits), section)
        for key, section in _ASKED
    ]
    head = (say("asked.point"), say("asked.shown"), say("asked.section"))
    return (
        table(head, rows, ("left", "left", "left"), (4, 5, 1.4)),
        note(say("asked.note")),
    )


def _marking(of: AnnexFacts, say: Labels) -> tuple[Block, ...]:
    profile = of.profile
    one, two, three = (f"{bits:g}" for bits in profile.entropy_thresholds_bits)
    sampling = say(
        "marking.sampling.value",
        t=f"{profile.temperature:g}",
        k=str(profile.top_k),
        p=f"{profile.top_p:g}",
    )
    names = ", ".join(field.name for field in profile.fields)
    return (
        paragraph(say("marking.text")),
        say.facts(
            ("marking.code", f"{profile.code}, {profile.payload_bits}"),
            ("marking.fields", names or None),
            ("marking.gate", say("marking.gate.value", one=one, two=two, three=three)),
            ("marking.sampling", sampling),
            ("marking.model", profile.model or say("not-given")),
        ),
        note(say("marking.source", fingerprint=profile.fingerprint)),
    )


def _bound(of: AnnexFacts, say: Labels) -> tuple[Block, ...]:
    policy = of.policy
    one_in = int(10.0**policy.t_found * (1 + 1e-12))
    text = say("bound.text", t=f"{policy.t_found:g}", one_in=one_in, cap=policy.lr_cap)
    blocks = [paragraph(text)]
    if policy.yearly_volume:
        false = f"{policy.yearly_volume * 10.0**-policy.t_found:.2g}"
        blocks.append(paragraph(say("bound.volume", n=policy.yearly_volume, false=false)))
    return (*blocks, note(say("bound.source", rule=_rule(policy))))


def _power(of: AnnexFacts, say: Labels) -> tuple[Block, ...]:
    if not of.tables:
        return (paragraph(say("power.none")),)
    blocks = [paragraph(say("power.text"))]
    for found in of.tables:
        blocks += _of_table(found, of, say)
        for entry in entries_of(found, of.profile, of.policy.t_found):
            if not entry.edit:
                inside = entry.text_usable
                what = say("power.inside", n=inside) if inside else say("power.whole")
                blocks += _entry(what, entry, say)
    return tuple(blocks)


def _edits(of: AnnexFacts, say: Labels) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for found in of.tables:
        for entry in entries_of(found, of.profile, of.policy.t_found):
            if entry.edit:
                blocks += _entry(say("edits.edit", edit=entry.edit), entry, say)
    return tuple(blocks) or (paragraph(say("edits.none")),)


def _of_table(found: PowerTable, of: AnnexFacts, say: Labels) -> list[Block]:
    conditions = found.conditions
    name = printable(found.name) or say("power.study")
    title = say("power.own" if found in of.own else "power.shipped", name=name)
    date = conditions.get("date")
    most = max(max(entry.texts) for entry in found.entries)
    texts = int(conditions.get("texts", most))
    return [
        heading(title),
        say.facts(
            ("date", numerals.date(date, of.language) if date else say("power.undated")),
            ("power.texts", numerals.count(texts, of.language)),
            ("power.kinds", ", ".join(conditions.get("kinds", ["English"]))),
            ("power.fingerprint", found.fingerprint),
        ),
    ]


def _entry(what: str, entry: PowerEntry, say: Labels) -> list[Block]:
    prompt = say("power.known" if entry.prompt else "power.unknown")
    conditions = say(
        "power.conditions", bits=entry.payload_bits, t=f"{entry.threshold:g}", prompt=prompt
    )
    rows = [
        (
            numerals.count(low, say.language),
            say("power.of", found=found, texts=texts),
            f"{math.floor(100 * limit + 1e-9)} %",  # never rounded up
        )
        for low, found, texts, limit in zip(
            entry.usable, entry.found, entry.texts, entry.limits, strict=True
        )
    ]
    head = (say("power.from"), say("power.found"), say("power.limit"))
    return [
        heading(what),
        note(conditions),
        table(head, rows, ("right", "right", "right"), (1, 1, 1)),
    ]


def _sources(say: Labels) -> tuple[Block, ...]:
    return (
        bullets(
            [
                say("sources.law"),
                say("sources.amendment"),
                say("sources.guidelines"),
                say("sources.practice", title=CODE_OF_PRACTICE),
                say("sources.docs", version=__version__),
            ]
        ),
        note(say("sources.note", date=_KNOWN)),
    )


def _rule(policy: Policy) -> str:
    return f"{policy.name}/{policy.version}"


def _plain(conditions: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in conditions.items() if key != "name"}
