"""A gap analysis against the EU's Code of Practice: each measure, and how far it is met here.

Those who do not sign the Code are reported to be expected to keep one (Guidelines C(2026) 5054,
146 to 148). The program fills in what it saw of its duties; what it cannot see, and what is
planned, the operator states in a file. The annex for regulators is the second part. No legal
advice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Final, Literal, TypeAlias

from pura.base import decoder
from pura.base.catalogue import phrase
from pura.base.decoder import one_of, text
from pura.base.errors import ReportError
from pura.base.json_text import read_json
from pura.report.blocks import (
    Block,
    Content,
    Labels,
    Section,
    bullets,
    compile_pdf,
    note,
    paragraph,
    printable,
    table,
)
from pura.report.regulators import CODE_OF_PRACTICE, AnnexFacts, Duty, annex_content, annex_files

GapState: TypeAlias = Literal["have", "partly", "absent", "not-applicable", "unknown"]
STATES: Final[tuple[GapState, ...]] = ("have", "partly", "absent", "not-applicable", "unknown")
STATED: Final = STATES[:4]
"""What an operator may state of a measure."""
SCHEMA: Final = "pura-gap-analysis/1"
MAX_STATEMENTS_BYTES: Final = 1 << 20
"""Many times what all measures can state."""
MAX_TEXT: Final = 2000
"""Characters of one statement: a paragraph of a printed page."""
STATEMENTS: Final = "gap-analysis.json"
"""The operator's file, as it is attached to the PDF."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure of the Code, as reported.

    Attributes:
        place: Where it stands in the Code, for example ``1.1.2``.
        commitment: Number of the commitment that it belongs to.
        duties: Names of the duties by which the program sees it; none: the operator alone knows.
    """

    place: str
    commitment: int
    duties: tuple[str, ...] = ()


MEASURES: Final = (
    Measure(place="1.1.1", commitment=1, duties=("layers",)),
    Measure(place="1.1.2", commitment=1, duties=("marked",)),
    Measure(place="1.1.3", commitment=1, duties=("logged",)),
    Measure(place="1.2", commitment=1),
    Measure(place="2-access", commitment=2, duties=("detector",)),
    Measure(place="2-result", commitment=2, duties=("technique",)),
    Measure(place="2-people", commitment=2, duties=("plain",)),
    Measure(place="3-effective", commitment=3, duties=("effective",)),
    Measure(place="3-reliable", commitment=3, duties=("reliable",)),
    Measure(place="3-robust", commitment=3, duties=("robust",)),
    Measure(place="3.4", commitment=3, duties=("routed", "told")),
    Measure(place="3.4-c", commitment=3, duties=("signpost",)),
    Measure(place="4", commitment=4, duties=("tested",)),
)
"""The measures of the Code's first section, for providers, as far as reports quote them."""
COMMITMENTS: Final = tuple(sorted({measure.commitment for measure in MEASURES}))
PLACES: Final = tuple(measure.place for measure in MEASURES)


_TEXT: Final = text(phrase("policy.text", least=0, most=MAX_TEXT), 0, MAX_TEXT)


@dataclass(frozen=True, kw_only=True)
class OperatorStatement:
    """What an operator states of a measure.

    Attributes:
        state: How far it is met, where the program cannot see it, or that it does not apply; empty
            leaves it to what the program saw.
        text: The operator's explanation; a measure that does not apply needs one.
        planned: What is planned, and until when.
    """

    state: Annotated[str, one_of("", *STATED)] = ""
    text: Annotated[str, _TEXT] = ""
    planned: Annotated[str, _TEXT] = ""


@dataclass(frozen=True, kw_only=True)
class GapStatements:
    """The operator's file.

    Attributes:
        schema: Its form.
        signed: Whether the Code was signed; None: not stated.
        measures: Statements by the place of their measure, one of :data:`PLACES`.
    """

    schema: Annotated[str, one_of(SCHEMA)] = SCHEMA
    signed: bool | None = None
    measures: Mapping[str, OperatorStatement] = field(default_factory=dict)

    @classmethod
    def from_json(cls, content: bytes) -> GapStatements:
        """Read the file of an operator.

        Raises:
            ReportError: It has another form, names a measure that the Code does not have, or gives
                no reason why one does not apply.
        """
        with decoder.refused_as(ReportError, "gap"):
            statements = decoder.decode(cls, read_json(content), sparse=True)
        for measure, statement in statements.measures.items():
            if measure not in PLACES:
                raise ReportError(
                    "gap.place", place=measure[:80], known=", ".join(PLACES), code="usage"
                )
            if statement.state == "not-applicable" and not statement.text.strip():
                raise ReportError("gap.reason", place=measure, code="usage")
        return statements

    @classmethod
    def blank(cls) -> GapStatements:
        """Return statements with nothing stated of any measure, to be filled in."""
        return cls(measures={place: OperatorStatement() for place in PLACES})

    def to_json(self) -> bytes:
        """Return the file; :meth:`from_json` reads the same statements from it."""
        return (json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n").encode()


@dataclass(frozen=True, kw_only=True)
class GapAnalysis:
    """What a gap analysis is filled from.

    Attributes:
        annex: What the annex for regulators is filled from; its duties are those that count.
        statements: What the operator states.
    """

    annex: AnnexFacts
    statements: GapStatements

    def state_of(self, measure: Measure) -> GapState:
        """Return how far a measure is met.

        The operator's statement counts where a measure does not apply and where the program sees
        nothing; otherwise the least of what the program saw, so that no statement covers a gap.
        """
        stated = self._statement(measure).state
        duty_states = [duty.state for duty in self._duties(measure)]
        if stated == "not-applicable":
            return "not-applicable"
        if duty_states:
            return max(duty_states, key=STATES.index)
        return next((state for state in STATES if state == stated), "unknown")

    def _statement(self, measure: Measure) -> OperatorStatement:
        return self.statements.measures.get(measure.place, OperatorStatement())

    def _duties(self, measure: Measure) -> list[Duty]:
        return [duty for duty in self.annex.duties if duty.id in measure.duties]

    def content(self) -> Content:
        """Return everything that the document says: the analysis, then the annex."""
        language = self.annex.language
        labels = Labels(language, "gap-analysis")
        annex = annex_content(self.annex)
        parts = (
            (labels("about"), self._about(labels)),
            *(
                (labels(f"commitment.{number}"), (self._table(number, labels),))
                for number in COMMITMENTS
            ),
            (
                labels("limits"),
                (bullets([labels(f"limits.{key}") for key in ("read", "seen", "law")]),),
            ),
        )
        sections = [
            Section(number=number, title=title, blocks=blocks)
            for number, (title, blocks) in enumerate(parts, start=1)
        ]
        # The annex keeps its numbers, to which its own sentences refer.
        sections += [
            replace(section, title=labels("annex.section", title=section.title), apart=not index)
            for index, section in enumerate(annex.sections)
        ]
        return Content(
            title=labels("title", code=CODE_OF_PRACTICE),
            language=language,
            paper=annex.paper,
            head=labels("head", date=self.annex.date, profile=self.annex.profile.fingerprint),
            foot=annex.foot,
            page=annex.page,
            draft=labels("draft"),
            date=annex.date,
            sections=tuple(sections),
            end=labels("end"),
            organisation=annex.organisation,
        )

    def _about(self, labels: Labels) -> tuple[Block, ...]:
        counts = Counter(self.state_of(measure) for measure in MEASURES)
        signed = {None: "unknown", True: "yes", False: "no"}[self.statements.signed]
        return (
            paragraph(labels("about.text")),
            labels.facts(
                ("signed", labels(f"signed.{signed}")),
                *(
                    (f"state.{state}", labels("count", count=counts[state]))
                    for state in STATES
                    if counts[state]
                ),
            ),
            note(labels("about.note")),
        )

    def _table(self, commitment: int, labels: Labels) -> Block:
        rows: list[Sequence[str]] = []
        for measure in MEASURES:
            if measure.commitment != commitment:
                continue
            statement = self._statement(measure)
            stated = [statement.text.strip()]
            if statement.planned.strip():
                stated.append(labels("planned", text=statement.planned.strip()))
            rows.append(
                (
                    labels(f"measure.{measure.place}"),
                    labels(f"state.{self.state_of(measure)}"),
                    self._seen(measure, labels),
                    printable(" ".join(filter(None, stated))) or "–",
                )
            )
        head = (labels("measure"), labels("state"), labels("seen"), labels("stated"))
        return table(head, rows, ("left",) * 4, (3.4, 1.5, 4, 3.1))

    def _seen(self, measure: Measure, labels: Labels) -> str:
        """Return what the program saw of a measure, by which check, and the way out."""
        if not measure.duties:
            return labels("seen.operator")
        texts = []
        for duty in self._duties(measure):
            _, _, observation, way_out = map(printable, duty.words(labels.language))
            texts.append(f"{observation} {way_out}".strip() + f" [{duty.id}]")
        return " ".join(texts)


def gap_analysis_pdf(analysis: GapAnalysis) -> bytes:
    """Return the analysis as PDF, with the operator's statements and the annex's files inside.

    Raises:
        ReportError: It could not be set.
    """
    attached = {STATEMENTS: analysis.statements.to_json(), **annex_files(analysis.annex)}
    return compile_pdf(analysis.content(), attached=attached)
