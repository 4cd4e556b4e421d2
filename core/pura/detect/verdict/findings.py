"""Which sentences an audit says, in which order: the findings and what weakens them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pura.detect.verdict.outcome import Outcome
from pura.detect.verdict.policy import Policy
from pura.record.evidence import (
    EvidenceFacts,
    LimitsFacts,
    MarkFacts,
    PowerFacts,
    PriorFacts,
    QuestionFacts,
    RereadingFacts,
    StopFacts,
)
from pura.record.gaps import Gap, gap_sentence
from pura.record.left_out import LeftOut, left_out_words
from pura.record.naming import (
    WITHHELD,
    NamedPayload,
    RegisterFacts,
    RegisterMatch,
    marks_counted,
    payload_several,
)
from pura.scheme import MarkIdentity
from pura.scheme.foreign import FOREIGN_NAMES
from pura.scheme.profile import SCHEME
from pura.words.sentences import Sentence, scale_word

REFERENCE_TOKENS: Final = 200  # the length for which error rates are usually stated
_SHORT: Final = 150  # a few tokens below the reference make no difference worth a sentence
_WHOLE_TEXT: Final = 0.9  # passages that hold so much of the evidence are not "concentrated"
_MOST_PLACES: Final = 8  # that one sentence names; the views show all
_NEAREST_WEIGHT: Final = 0.01  # an entry with less is not worth a sentence


@dataclass(frozen=True, kw_only=True)
class FindingContext:
    """What else must be known to say the findings rightly.

    Attributes:
        tokens: ``L``.
        key: Fingerprint of the key that the findings are about.
        mark: The mark of a text with one, its payload the most probable; None otherwise.
        decoder: ``exact`` or ``paper``.
        prompt_known: The verifier knew the prompt.
        beginning_known: The profile holds what stands before the prompt at the generator.
        candidates: How many prompts were given; of several, ``prompt_known`` is False.
        candidate: Which of them the shown reading has, from 1; 0 where it has none.
        questions: How stored questions entered the evidence; None without a store.
        verifier: Name or fingerprint of the model that read the text.
        generator: The profile's model fingerprint; None when it names none.
        verifier_fingerprint: Of the model that read the text.
        retokenised: The text's tokens may differ from the generated ones.
        readings: How many readings of the text the evidence is the mean of.
        positions: ``n``, length of the codeword.
        erasures: Codeword positions that no step read.
        repaired: Codeword positions that were repaired.
        gaps: What stands between two passages of one mark, in the order of the text.
        copies: What repeats the text of a passage word for word outside of them, as first and last
            character from 1.
        created: Day on which the oldest key was created, ISO 8601; empty where it is not known.
        new_key: That is the day of the audit.
        issued: Payloads that the register holds for the keys and the profile; None without one.
        unassigned: Payloads of this length in the register of which nobody knows the key.
        unlike: In what the text differs from those of the study: ``signs``, ``language`` or
            nothing; see :func:`~pura.detect.verdict.expect.unlike_study`.
        handled: Signs of handling beyond what was measured, of :mod:`pura.detect.prepared`.
        hidden: Kind and number of characters that show nothing and have no use where they stand.
        left_out: What of the file was not examined.
        examined_words: Words of the file that were.
        epochs: ``FROM..TO`` where the keys are those of a range of epochs.
        scheme: Of the mark that the findings are about.
        schemes: How many schemes were tried.
        prior_unused: The policy gives issued payloads a weight, and there was no register.
        passages: Number of marked passages.
        passage_share: Share of the usable positions inside them.
    """

    tokens: int
    key: str
    mark: MarkIdentity | None = None
    decoder: str = "exact"
    prompt_known: bool = False
    beginning_known: bool = False
    candidates: int = 0
    candidate: int = 0
    questions: QuestionFacts | None = None
    verifier: str
    generator: str | None = None
    verifier_fingerprint: str
    retokenised: bool = False
    readings: int = 1
    positions: int = 0
    erasures: int = 0
    repaired: int = 0
    gaps: tuple[Gap, ...] = ()
    copies: tuple[tuple[int, int], ...] = ()
    created: str = ""
    new_key: bool = False
    issued: int | None = None
    unassigned: int = 0
    unlike: str = ""
    handled: tuple[str, ...] = ()
    hidden: tuple[tuple[str, int], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    examined_words: int = 0
    epochs: str = ""
    scheme: str = SCHEME
    schemes: int = 1
    prior_unused: bool = False
    passages: int = 0
    passage_share: float = 1.0

    @property
    def proxy(self) -> bool:
        """The text was read by another model than the one that the profile names."""
        return self.generator is not None and self.generator != self.verifier_fingerprint


def findings(
    outcome: Outcome,
    policy: Policy,
    circumstances: FindingContext,
    *,
    payload: NamedPayload | None = None,
    power: PowerFacts | None = None,
    prior: PriorFacts | None = None,
    limits: LimitsFacts | None = None,
    questions: QuestionFacts | None = None,
    register: RegisterFacts | None = None,
    marks: Sequence[MarkFacts] = (),
    more_marks: bool = False,
    stopped: StopFacts | None = None,
    again: RereadingFacts | None = None,
) -> tuple[Sentence, ...]:
    """Return the findings in the order in which they are read.

    Sentences about the payload, the register and the passages stand only under the outcome
    "mark": without a mark there is no payload to speak of.

    Args:
        outcome: What the decision rule made of the evidence.
        policy: The decision rule.
        circumstances: What else must be known.
        payload: What may be said of the payload of a text with one mark; None without one, or with
            more.
        power: The table that the power comes from, or None.
        prior: How issued payloads entered the evidence, or None.
        limits: How limits of the payload's fields did, or None.
        questions: How stored questions did, or None.
        register: What the register says, or None when it was not asked.
        marks: The marks of the text; one is not worth a sentence of its own.
        more_marks: There may be more than these.
        stopped: Where reading was stopped early, if it was.
        again: How windows that were read a second time entered the evidence, or None.
    """
    out = [_headline(outcome, policy, circumstances), *_measured(outcome, power)]
    out += _unused(outcome, circumstances)
    out += _strength(outcome, policy)
    if circumstances.scheme != SCHEME:
        named: dict[str, str | int | float] = {"name": FOREIGN_NAMES[circumstances.scheme]}
        out.append(Sentence(key="foreign.scheme", values=named))
    out += _limits(limits, payload)
    out += _prior(prior)
    out += _questions(questions)
    if stopped is not None:
        out.append(_stopped(stopped))
    if outcome.verdict == "mark":
        out += _again(again)
        out += _marks(marks, more=more_marks)
        out += payload_several(payload)
        out += _withheld(marks)
        if register is not None:
            of_one = len(marks) < 2
            out += _register(register, circumstances, payload) if of_one else _register_of(register)
            out += _around_register(register)
        # With several marks each sentence says where its own one stands.
        out += _concentrated(circumstances) if len(marks) < 2 else []
        if circumstances.gaps:
            out.append(gap_sentence(circumstances.gaps))
        if circumstances.copies:
            out.append(_stretches("text.copy", circumstances.copies))
    if circumstances.proxy:
        out.append(
            Sentence(
                key="verifier.proxy",
                values={"proxy": circumstances.verifier, "gen": circumstances.generator or ""},
            )
        )
    out.append(Sentence(key="scope"))
    return tuple(out)


def unexamined_findings(outcome: Outcome) -> tuple[Sentence, ...]:
    """Return the findings where nothing was examined: why, and what would help."""
    reason = outcome.reason or ""
    return (
        Sentence(key="outcome.not-examinable", values={"reason": reason}),
        Sentence(key=reason.replace("reason.", "way-out.")),
        Sentence(key="scope"),
    )


def _stopped(stopped: StopFacts) -> Sentence:
    share = stopped.read / stopped.tokens
    values: dict[str, str | int | float] = {
        "n": stopped.read,
        "all": stopped.tokens,
        "share": share,
    }
    return Sentence(key="stopped.early", values=values)


def _again(again: RereadingFacts | None) -> list[Sentence]:
    """Say that the finding rests on a second reading, where it does."""
    if again is None or again.first_token is None or again.last_token is None:
        return []
    values: dict[str, str | int | float] = {
        "first": again.first_token + 1,
        "last": again.last_token + 1,
        "k": again.windows,
        "w": again.weight,
    }
    return [Sentence(key="reread.found", values=values)]


def _ends(epochs: str) -> dict[str, str]:
    first, _, last = epochs.partition("..")
    return {"first": first, "last": last or first}


def _headline(outcome: Outcome, policy: Policy, circumstances: FindingContext) -> Sentence:
    evidence = outcome.evidence
    match outcome.verdict:
        case "mark":
            values: dict[str, str | int | float] = {
                "rule": policy.rule,
                "one_in": policy.one_in,
                **_ratio(outcome),
            }
            return Sentence(key="outcome.mark", values=values)
        case "no-mark":
            # A share that was measured on some dozen texts is never written as all of them.
            values = {
                "k": evidence.keys_tried,
                "power": min(evidence.power or 0.0, 0.99),
                "n": evidence.usable if evidence.needed is None else evidence.needed,
            }
            return Sentence(key="outcome.no-mark-in-a-row", values=values)
        case "insufficient" if outcome.in_part:
            return _in_part(evidence, circumstances)
        case "insufficient" if evidence.needed is not None and evidence.needed > evidence.usable:
            values = {"n": evidence.usable, "nmin": evidence.needed}
            return Sentence(key="outcome.insufficient", values=values)
        case "insufficient" if evidence.power is not None:
            values = {"n": evidence.usable, "power": min(evidence.power, 0.99)}
            return Sentence(key="outcome.insufficient-rate", values=values)
        case "insufficient":
            why = "handled" if circumstances.handled else "not-measured"
            return Sentence(key=f"outcome.insufficient-{why}", values={"n": evidence.usable})
        case _:
            return Sentence(key="outcome.indication")


def _in_part(evidence: EvidenceFacts, circumstances: FindingContext) -> Sentence:
    """Say that no mark was found in what was examined, and how much of the file that is."""
    values: dict[str, str | int | float] = {
        "k": evidence.keys_tried,
        "power": min(evidence.power or 0.0, 0.99),
        "n": evidence.usable if evidence.needed is None else evidence.needed,
        "words": circumstances.examined_words,
    }
    left_out = left_out_words(circumstances.left_out)
    if left_out is None:
        return Sentence(key="outcome.insufficient-in-part-uncounted", values=values)
    values["left_out"] = left_out
    return Sentence(key="outcome.insufficient-in-part", values=values)


def _ratio(outcome: Outcome) -> dict[str, str | int | float]:
    evidence = outcome.evidence
    lr = evidence.lr_capped if evidence.lr_capped >= 1 else 1 / evidence.lr_capped
    return {"capped": int(evidence.capped), "lr": lr, "word": evidence.scale_word}


def _strength(outcome: Outcome, policy: Policy) -> list[Sentence]:
    """The likelihood ratio with N1, the bound, and the redraw p-value with N2."""
    evidence = outcome.evidence
    out = []
    if outcome.verdict != "mark":  # there the headline holds it
        if evidence.scale_word == scale_word(0.0):
            out.append(Sentence(key="evidence.neutral", values={"lr": evidence.lr_capped}))
        else:
            side = "evidence.for-h1" if evidence.lr_capped >= 1 else "evidence.for-h2"
            out.append(Sentence(key=side, values=_ratio(outcome)))
    out.append(Sentence(key="note.n1"))
    if outcome.verdict in ("mark", "indication"):
        # Beyond the cap the bound is not printed more finely than the ratio.
        p = max(evidence.p_bound, 1 / policy.lr_cap)
        out.append(Sentence(key="note.bound", values={"p": p}))
    if evidence.p_redraw is not None and evidence.draws:
        out.append(
            Sentence(key="note.n2", values={"p": evidence.p_redraw, "N": evidence.draws}),
        )
    return out


def _measured(outcome: Outcome, power: PowerFacts | None) -> list[Sentence]:
    """Whose measurement the outcome rests on, where it is not the one that ships."""
    if power is None or not power.own or outcome.verdict not in ("no-mark", "insufficient"):
        return []
    values: dict[str, str | int | float] = {
        "name": power.name,
        "table": power.table[:16],
        "n": power.texts,
        "date": power.date,
    }
    return [Sentence(key="note.power", values=values)]


def _limits(limits: LimitsFacts | None, payload: NamedPayload | None) -> list[Sentence]:
    """Say that limits were a prior, and what was found outside of them."""
    if limits is None:
        return []
    out = [Sentence(key="note.limits", values={"w": limits.weight})]
    if limits.day:
        out.append(Sentence(key="note.limits-day", values={"date": limits.day}))
    if payload is not None and payload.outside:
        names = ", ".join(payload.outside)
        out.append(Sentence(key="payload.outside", values={"fields": names}))
    return out


def _prior(prior: PriorFacts | None) -> list[Sentence]:
    if prior is None:
        return []
    values: dict[str, str | int | float] = {
        "w": prior.weight,
        "N": prior.entries,
        "ver": prior.version,
        "date": prior.date,
    }
    return [Sentence(key="note.prior-keys", values=values)]


def _questions(questions: QuestionFacts | None) -> list[Sentence]:
    """Say that stored questions took part, and whether the text fits the one that was asked."""
    if questions is None:
        return []
    values: dict[str, str | int | float] = {
        "n": questions.stored,
        "k": len(questions.tried),
        "w": questions.weight,
    }
    out = [Sentence(key="note.questions", values=values)]
    return [*out, *(fit for fit in (questions.fit,) if fit is not None and questions.fits == "yes")]


def _marks(marks: Sequence[MarkFacts], *, more: bool) -> list[Sentence]:
    """Count the marks; each is listed with what may be said of its payload."""
    return [marks_counted(len(marks), more=more)] if len(marks) > 1 else []


def _withheld(marks: Sequence[MarkFacts]) -> list[Sentence]:
    """Say of several marks why they name nobody; of a single one its payload's line says it."""
    if len(marks) < 2:
        return []
    out = []
    for why in WITHHELD:
        count = sum(mark.withheld == why for mark in marks)
        if count:
            out.append(
                Sentence(key=f"payload.withheld-{why}", values={"k": count, "n": len(marks)})
            )
    return out


def _register(
    register: RegisterFacts, circumstances: FindingContext, payload: NamedPayload | None
) -> list[Sentence]:
    if payload is None or not payload.identified:
        return [Sentence(key="register.in-question", values={"ver": register.version})]
    for match in register.matches:
        if match.mark is not None and match.mark == circumstances.mark:
            values = {"key": circumstances.key, **_entry(register, match)}
            return [Sentence(key="register.issued", values=values), _agreement(register)]
    if register.revoked:
        listed = ", ".join(map(str, register.revoked))
        values = {"k": len(register.revoked), "entries": listed, "ver": register.version}
        return [Sentence(key="register.revoked", values=values)]
    out = [Sentence(key="register.none", values={"ver": register.version, "date": register.date})]
    if register.matches and register.matches[0].posterior >= _NEAREST_WEIGHT:
        nearest = _entry(register, register.matches[0])
        out += [Sentence(key="register.closest", values=nearest), _agreement(register)]
    return out


def _agreement(register: RegisterFacts) -> Sentence:
    """Say how easily a misread payload agrees with an entry, or why there is no such number."""
    if register.chance is None:
        return Sentence(key="register.chosen", values={"N": register.entries})
    return Sentence(
        key="register.chance", values={"N": register.entries, "chance": register.chance}
    )


def _around_register(register: RegisterFacts) -> list[Sentence]:
    """Say which entries could not be compared, because nobody knows their key."""
    if not register.unassigned:
        return []
    return [Sentence(key="register.unassigned", values={"n": register.unassigned})]


def _register_of(register: RegisterFacts) -> list[Sentence]:
    """Say what a register shows; the entries stand with the marks."""
    values: dict[str, str | int | float] = {
        "ver": register.version,
        "date": register.date,
        "N": register.entries,
    }
    return [Sentence(key="register.looked-up", values=values)]


def _entry(register: RegisterFacts, match: RegisterMatch) -> dict[str, str | int | float]:
    return {
        "entry": str(match.entry),
        "ver": register.version,
        "date": register.date,
        "N": register.entries,
        "w0": register.prior_none,
        "post": match.posterior,
    }


def _unused(outcome: Outcome, circumstances: FindingContext) -> list[Sentence]:
    """Say that the key has no use on record: no mark was to be expected, whatever the rate."""
    looked_for = outcome.verdict == "no-mark" or outcome.in_part
    unassigned = circumstances.unassigned
    # Entries of unknown key may have been issued under this one.
    unused = circumstances.issued == 0 and not unassigned
    if not looked_for or not (circumstances.new_key or unused):
        return []
    values: dict[str, str | int | float] = {"date": circumstances.created}
    if circumstances.new_key:
        if circumstances.issued:
            values["n"] = circumstances.issued
            return [Sentence(key="unused.new-used", values=values)]
        if unassigned:
            values["n"] = unassigned
            return [Sentence(key="unused.new-issued", values=values)]
        key = "unused.both" if circumstances.issued == 0 else "unused.new"
        return [Sentence(key=key, values=values)]
    if not circumstances.created:
        return [Sentence(key="unused.register")]
    return [Sentence(key="unused.register-since", values=values)]


def _stretches(key: str, found: Sequence[tuple[int, int]]) -> Sentence:
    return Sentence(key=key, values={"k": len(found), "places": _places(found)})


def _concentrated(circumstances: FindingContext) -> list[Sentence]:
    if not circumstances.passages or circumstances.passage_share >= _WHOLE_TEXT:
        return []
    values: dict[str, str | int | float] = {
        "k": circumstances.passages,
        "share": circumstances.passage_share,
    }
    return [Sentence(key="text.concentrated", values=values)]


def cautions(
    outcome: Outcome,
    circumstances: FindingContext,
    register: RegisterFacts | None = None,
) -> tuple[Sentence, ...]:
    """Return what weakens the findings, the weightiest first.

    Args:
        outcome: What the decision rule made of the evidence.
        circumstances: What else must be known.
        register: What the register says, or None when it was not asked.
    """
    evidence = outcome.evidence
    c = circumstances
    few = evidence.needed is not None and evidence.usable < evidence.needed
    decided = outcome.verdict in ("mark", "indication")
    asked = c.questions is not None and c.questions.shown is not None
    unknown = not c.prompt_known and c.candidates < 2 and not asked
    unfit = c.questions is not None and c.questions.fits == "no"
    hidden: list[tuple[bool, str, dict[str, str | int | float]]] = [
        (True, f"hidden-{kind}", {"k": count}) for kind, count in c.hidden
    ]
    # Each row: whether it applies, the sentence, what fills it.
    rows: list[tuple[bool, str, dict[str, str | int | float]]] = [
        (c.tokens < _SHORT, "short", {"tokens": c.tokens, "reference": REFERENCE_TOKENS}),
        (few and decided, "few-usable", {"n": evidence.usable, "tokens": c.tokens}),
        *hidden,
        *((True, f"handled-{sign}", {}) for sign in c.handled),
        # A text unlike those of the study is one reason why no rate holds for it.
        (evidence.power is None and not c.unlike, "unmeasured", {}),
        (c.unlike == "signs", "signs", {}),
        (c.unlike == "language", "language", {}),
        (
            c.proxy,
            "model-differs",
            {"model": c.verifier_fingerprint, "profile": c.generator or ""},
        ),
        (c.generator is None, "model-unknown", {}),
        (unfit, "question-unlike", {}),
        (c.candidates > 1 and not c.candidate, "prompts-none", {"k": c.candidates}),
        (
            c.candidates > 1 and c.candidate > 0,
            "prompts-one",
            {"k": c.candidates, "i": c.candidate},
        ),
        (unknown and not c.beginning_known, "prompt-unknown", {}),
        (unknown and c.beginning_known, "message-unknown", {}),
        (c.retokenised, "retokenised", {}),
        (c.schemes > 1, "several-schemes", {"k": c.schemes}),
        (
            evidence.keys_tried > 1 and not c.epochs and c.schemes < 2,
            "several-keys",
            {"k": evidence.keys_tried},
        ),
        (bool(c.epochs), "several-epochs", {"k": evidence.keys_tried, **_ends(c.epochs)}),
        (c.readings > 1, "several-readings", {"k": c.readings}),
        (c.prior_unused, "prior-unused", {}),
        *_contradicted(register),
        (decided and c.erasures > 0, "erasures", {"k": c.erasures, "n": c.positions}),
        (
            outcome.verdict == "mark" and c.repaired > 0,
            "repaired",
            {"k": c.repaired, "n": c.positions},
        ),
        (decided and c.decoder == "paper", "paper-decoder", {}),
        (outcome.verdict == "mark", "passage-whole", {}),
    ]
    return tuple(
        Sentence(key=f"caution.{name}", values=values) for applies, name, values in rows if applies
    )


def _contradicted(
    register: RegisterFacts | None,
) -> list[tuple[bool, str, dict[str, str | int | float]]]:
    """Return the entries that contradict their own payload or the epoch of their key."""
    matches = () if register is None else register.matches
    return [
        (True, f"register-{kind}", {"entry": str(match.entry)})
        for match in matches
        for kind in match.contradicts
    ]


def _places(stretches: Sequence[tuple[int, int]]) -> str:
    """Write stretches of characters; no more of them than a sentence holds."""
    named = ", ".join(f"{a}\N{EN DASH}{b}" for a, b in stretches[:_MOST_PLACES])
    return f"{named}, …" if len(stretches) > _MOST_PLACES else named
