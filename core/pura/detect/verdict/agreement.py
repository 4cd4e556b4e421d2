"""Whether a record agrees with itself: each part worked out again from the others.

A record that comes from outside may be anybody's: whoever changes a payload, a number or a word in
it, embeds it anew and signs it, leaves the other parts as they were. What is held against what
stands in reports.md. This finds a record that was edited, not one that was invented
whole; only a fresh audit of the text does that.

Parts that records of earlier versions do not have are not asked for, nor are sentences that this
version does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import PuraError, RecordError
from pura.detect.decode.significance import combine
from pura.detect.verdict.attribution import reason
from pura.detect.verdict.outcome import decide_outcome
from pura.detect.verdict.policy import Policy
from pura.provenance.binding import stated
from pura.record.audit import Audit
from pura.record.evidence import MarkFacts, QuestionFacts
from pura.record.gaps import gap_sentence, gaps_between
from pura.record.marks import bit_evidence
from pura.record.naming import CandidateFacts, Passage, token_share
from pura.scheme import FieldValue, Gate, Payload, Profile, sum_llrs, unpack
from pura.scheme.profile import SCHEME
from pura.words.sentences import Sentence

_ROUNDING: Final = 1e-6
"""By so much at most numbers differ that are worked out in another order."""
_NOT_EXAMINABLE: Final = "not-examinable"


def check_agreement(audit: Audit) -> None:
    """Require that a record agrees with itself.

    Raises:
        RecordError: It does not; the first three parts that do not fit are named.
    """
    found = disagreements(audit)
    if found:
        what = found[:3] if len(found) <= 3 else (*found[:3], phrase("differs.more"))
        raise RecordError("record.differs", what=what, code="record-differs")


def disagreements(audit: Audit) -> tuple[Phrase, ...]:
    """Return what in a record does not fit the rest of it; phrases of the volume ``errors``.

    Args:
        audit: The record.
    """
    found: list[Phrase] = []
    for name, part in _PARTS.items():
        try:
            new = list(part(audit))
        except (ArithmeticError, LookupError, TypeError, ValueError, PuraError):
            new = [phrase(f"differs.{name}")]  # of a shape that no audit writes
        found += [one for one in new if one not in found]
    return tuple(found)


def _tokens(audit: Audit) -> Iterator[Phrase]:
    tokens, steps = audit.tokens, audit.steps
    count = tokens.ids.size
    columns = (
        *(tokens.spans, tokens.entropy_bits, tokens.lo, tokens.hi),
        *(tokens.gate, tokens.log10_evidence, tokens.marked),
    )
    rows = (steps.arity, steps.phase, steps.index, steps.llr_nats)
    whole = all(len(column) == count for column in columns)
    whole = whole and all(len(row) == steps.token.size for row in rows)
    if audit.verdict == _NOT_EXAMINABLE:
        whole = whole and count == 0
    elif audit.stopped is None:
        whole = whole and count == audit.input.tokens
    else:
        whole = whole and count <= audit.input.tokens == audit.stopped.tokens
    carries = np.flatnonzero(tokens.gate == Gate.CARRIES)
    if _pura(audit):
        whole = whole and np.array_equal(carries, steps.token)
    else:
        whole = whole and not steps.token.size
    if not whole or carries.size != audit.evidence.usable:
        yield phrase("differs.tokens")


def _bits(audit: Audit) -> Iterator[Phrase]:
    """Hold the codeword of the payload, the readings and their sums against each other."""
    payload, steps = audit.decoded, audit.steps
    if not _pura(audit) or audit.verdict == _NOT_EXAMINABLE:
        if payload.bits or audit.bits or payload.posterior.size or payload.repaired:
            yield phrase("differs.bits")
        return
    if not payload.bits and any(mark.withheld for mark in audit.marks):
        if audit.bits or payload.posterior.size or payload.repaired:
            yield phrase("differs.bits")
        return
    profile = audit.profile
    sums, readings = sum_llrs(steps.index, steps.arity, steps.llr_nats, profile.codeword_length)
    own = np.array([bit.llr_nats for bit in audit.bits])
    if own.size != sums.size or not np.allclose(own, sums, rtol=1e-9, atol=1e-9):
        yield phrase("differs.sums")
        return
    wanted = bit_evidence(own, readings, Payload(text=payload.bits), profile)
    if audit.bits != wanted or len(payload.bits) != profile.payload_bits:
        yield phrase("differs.bits")
    if payload.repaired != sum(bit.repaired for bit in wanted):
        yield phrase("differs.repaired")
    chances = payload.posterior
    if chances.size != len(payload.bits) or not np.all((chances >= 0) & (chances <= 1)):
        yield phrase("differs.candidates")


def _fields(audit: Audit) -> Iterator[Phrase]:
    named: list[tuple[str, tuple[FieldValue, ...]]] = [
        *((one.bits, one.fields) for one in audit.candidates),
        *((mark.bits, mark.fields) for mark in audit.marks if not mark.withheld),
        *((one.bits, one.fields) for mark in audit.marks for one in mark.candidates),
    ]
    payload = audit.decoded
    if payload.bits:
        named.append((payload.bits, payload.fields))
    for bits, fields in named:
        if unpack(audit.profile.fields, Payload(text=bits)) != fields:
            yield phrase("differs.fields")
            return


def _candidates(audit: Audit) -> Iterator[Phrase]:
    """Hold weights against each other, and the first one against the payload and its bits."""
    listed, payload = audit.candidates, audit.decoded
    fits = all(
        _weights_fit(candidates, audit.profile)
        for candidates in (listed, *(mark.candidates for mark in audit.marks))
    )
    for mark in audit.marks:
        first = _first_of_key(mark.candidates)
        fits = fits and (first is None or first.bits == mark.bits)
    best = _first_of_key(listed)
    if fits and best is not None and audit.decoder == "exact":
        # No payload is more probable than each of its bits, nor less than all of them together.
        least = 1 - float((1 - payload.posterior).sum())
        fits = best.bits == payload.bits
        fits = fits and best.posterior <= float(payload.posterior.min()) + _ROUNDING
        fits = fits and best.posterior >= least - _ROUNDING
    if not fits:
        yield phrase("differs.candidates")


def _first_of_key(listed: Sequence[CandidateFacts]) -> CandidateFacts | None:
    """Return the most probable payload under the mark's own key; None where none is listed."""
    return next((one for one in listed if not one.key), None)


def _weights_fit(listed: Sequence[CandidateFacts], profile: Profile) -> bool:
    weights = [one.posterior for one in listed]
    return (
        all(0 <= weight <= 1 for weight in weights)
        and weights == sorted(weights, reverse=True)
        and math.fsum(weights) <= 1 + _ROUNDING
        and len({(one.key, one.bits) for one in listed}) == len(listed)
        and all(len(one.bits) == profile.payload_bits for one in listed)
    )


def _marks(audit: Audit) -> Iterator[Phrase]:
    marks, payload = audit.marks, audit.decoded
    if audit.verdict != "mark":
        if marks or audit.passages:
            yield phrase("differs.marks")
        return
    stands = [passage for mark in marks for passage in mark.passages]
    if not all(_within(audit, passage) for passage in (*stands, *audit.passages)):
        yield phrase("differs.passages")
    if not marks:
        return
    keys = {key.fingerprint for key in audit.keys}
    fits = all(
        mark.key in keys
        and len(mark.bits) == (0 if mark.withheld else audit.profile.payload_bits)
        and mark.passages
        for mark in marks
    )
    fits = fits and _withheld_by_rule(audit)
    if audit.decoder == "exact":
        fits = fits and any(mark.bits == payload.bits for mark in marks)
    fits = fits and any(mark.passages == audit.passages for mark in marks)
    fits = fits and not _overlapping(marks)
    if not fits or not all(_share_fits(audit, mark) for mark in marks):
        yield phrase("differs.marks")


def _withheld_by_rule(audit: Audit) -> bool:
    """Whether just those payloads are withheld that the record's own policy withholds."""
    policy = Policy.from_dict(audit.policy)
    return all(
        mark.fit is None or mark.withheld == reason(mark, audit.marks, audit.profile, policy)
        for mark in audit.marks
    )


def _within(audit: Audit, passage: Passage) -> bool:
    first, last, spans = passage.first_token, passage.last_token, audit.tokens.spans
    if not 0 <= first <= last < len(spans):
        return False
    if (int(spans[first, 0]), int(spans[last, 1])) != (passage.start, passage.end):
        return False
    if passage.limits is None:
        return True
    start_from, start_to, end_from, end_to = passage.limits
    begins = 0 <= start_from <= passage.start <= start_to
    return begins and end_from <= passage.end <= end_to <= int(spans[-1, 1])


def _overlapping(marks: tuple[MarkFacts, ...]) -> bool:
    for key in {mark.key for mark in marks}:
        own = sorted(
            (one.first_token, one.last_token)
            for mark in marks
            if mark.key == key
            for one in mark.passages
        )
        if any(later[0] <= before[1] for before, later in pairwise(own)):
            return True
    return False


def _share_fits(audit: Audit, mark: MarkFacts) -> bool:
    token = audit.steps.token
    if mark.key != audit.key.fingerprint or not token.size:
        return 0 <= mark.share <= 1
    ranges = [(one.first_token, one.last_token) for one in mark.passages]
    inside = np.zeros(token.size, dtype=bool)
    for first, last in ranges:
        inside |= (token >= first) & (token <= last)
    # Up to 0.3.0 the share of the usable positions.
    shares = token_share(ranges, audit.input.tokens), float(inside.mean())
    return any(math.isclose(mark.share, share, abs_tol=_ROUNDING) for share in shares)


def _counts(audit: Audit) -> Iterator[Phrase]:
    keys = [key.fingerprint for key in audit.keys]
    tried = sum(len(one.keys) for one in audit.schemes) if audit.schemes else len(keys)
    if audit.key.fingerprint not in keys or audit.evidence.keys_tried != tried:
        yield phrase("differs.keys")


def _readings(audit: Audit) -> Iterator[Phrase]:
    """Hold the evidence against the readings and schemes that it is the mean of."""
    if not audit.variants or audit.verdict == _NOT_EXAMINABLE:
        return
    fits = sum(one.shown for one in audit.variants) == 1
    parts = [one.log10_e for one in audit.schemes]
    if not parts and audit.stopped is None and not audit.prompts:
        parts = [one.log10_e for one in audit.variants if one.read]
    total = combine(parts)
    questions = audit.questions
    if questions is not None and not audit.schemes:
        fits = fits and (not parts or _close(total, questions.log10_without))
        total = _with_questions(questions)
        fits = fits and _close(total, audit.evidence.log10_e)
    elif parts:
        fits = fits and _close(total, audit.evidence.log10_e)
    if questions is not None:
        fits = fits and _questions_fit(questions)
    if not fits:
        yield phrase("differs.readings")


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _with_questions(questions: QuestionFacts) -> float:
    """Return log10 of the evidence that readings with and without stored questions make."""
    shares = [
        math.log10(1 - questions.weight) + questions.log10_without,
        *(math.log10(one.weight) + one.log10_e for one in questions.tried if one.counted),
    ]
    return float(np.logaddexp.reduce(np.array(shares) * math.log(10)) / math.log(10))


def _questions_fit(questions: QuestionFacts) -> bool:
    """Whether what is said of stored questions can be said of those that were tried."""
    counted = {one.number for one in questions.tried if one.counted}
    weights = math.fsum(one.weight for one in questions.tried)
    return (
        0 < questions.weight < 1
        and weights <= questions.weight + _ROUNDING
        and {questions.carried, questions.shown} - {None} <= counted
        and (questions.gain is not None or not questions.fits)
    )


def _outcome(audit: Audit) -> Iterator[Phrase]:
    """Apply the record's own policy to its evidence."""
    policy, evidence = _policy(audit), audit.evidence
    if audit.verdict == _NOT_EXAMINABLE:
        if evidence.log10_e or evidence.usable or evidence.p_redraw is not None:
            yield phrase("differs.evidence")
        return
    outcome = decide_outcome(
        evidence.log10_e,
        evidence.usable,
        policy,
        power=evidence.power,
        needed=evidence.needed,
        left_out=audit.input.left_out_share,
    )
    if outcome.verdict != audit.verdict:
        yield phrase("differs.verdict")
    due = outcome.evidence
    fits = (
        _alike(due.p_bound, evidence.p_bound)
        and _alike(due.lr_capped, evidence.lr_capped)
        and (due.scale_word, due.capped) == (evidence.scale_word, evidence.capped)
        and (evidence.p_redraw is None or (0 <= evidence.p_redraw <= 1 and evidence.draws > 0))
    )
    if not fits:
        yield phrase("differs.evidence")


def _register(audit: Audit) -> Iterator[Phrase]:
    register = audit.register
    if register is None:
        return
    weights = [register.none_weight, *(one.posterior for one in register.matches)]
    fits = all(0 <= one <= 1 for one in weights)
    # Of several marks each has an entry of its own; else they share the weight.
    fits = fits and (len(audit.marks) > 1 or math.fsum(weights) <= 1 + _ROUNDING)
    if not fits or audit.verdict != "mark":
        yield phrase("differs.register")


def _provenance(audit: Audit) -> Iterator[Phrase]:
    """Compare the manifests with the marks once more."""
    if audit.provenance or audit.bindings:
        again = stated(audit, audit.provenance)
        if (again.provenance, again.bindings) != (audit.provenance, audit.bindings):
            yield phrase("differs.provenance")


def _sentences(audit: Audit) -> Iterator[Phrase]:
    """Hold what the sentences say against the parts that they speak of."""
    for one in (*audit.sentences, *audit.cautions):
        wanted = _wanted(audit, one)
        for name, value in wanted.items():
            if name in one.values and not _alike(one.values[name], value):
                yield phrase("differs.sentence")
        if one.key.startswith("outcome."):
            said = one.key.removeprefix("outcome.")
            if not (said == audit.verdict or said.startswith(f"{audit.verdict}-")):
                yield phrase("differs.sentence")
        if one.key == "marks.each" and not any(_says(one, mark) for mark in audit.marks):
            yield phrase("differs.sentence")


def _says(sentence: Sentence, mark: MarkFacts) -> bool:
    own: dict[str, str | float] = {
        "key": mark.key,
        "k": len(mark.passages),
        "share": mark.share,
        "payload": mark.bits,
    }
    said = sentence.values
    return all(name not in said or _alike(said[name], value) for name, value in own.items())


def _wanted(audit: Audit, sentence: Sentence) -> Mapping[str, str | int | float]:
    """Return what stands in the blanks of a sentence; only what follows from the record."""
    evidence, key = audit.evidence, sentence.key
    if key.startswith(("outcome.", "evidence.", "note.")):
        return _strength(audit, key)
    match key.removeprefix("caution."):
        case "short":
            return {"tokens": audit.tokens.ids.size}
        case "few-usable":
            return {"n": evidence.usable, "tokens": audit.tokens.ids.size}
        case "erasures":
            return {"k": sum(bit.readings == 0 for bit in audit.bits), "n": len(audit.bits)}
        case "repaired" if len(audit.marks) < 2:
            return {"k": audit.decoded.repaired, "n": len(audit.bits)}
        case "several-keys" | "several-epochs":
            return {"k": evidence.keys_tried}
        case "several-readings":
            return {"k": audit.readings}
        case "several-schemes":
            return {"k": len(audit.schemes)}
        case _:
            return _wanted_of_marks(audit, key)


def _wanted_of_marks(audit: Audit, key: str) -> Mapping[str, str | int | float]:
    match key:
        case "marks.several":
            return {"k": len(audit.marks)}
        case "marks.counted":
            return {"k": len(audit.marks), "more": int(audit.more_marks)}
        case "payload.several" if audit.payload is not None:
            named = audit.payload
            return {"k": named.in_question, "more": int(named.more), "sum": named.weight}
        case "text.gap-between":
            return gap_sentence(gaps_between(mark.passages for mark in audit.named_marks)).values
        case "register.issued" if audit.finding.register_match is not None:
            return {"entry": str(audit.finding.register_match.entry)}
        case "note.questions" if audit.questions is not None:
            facts = audit.questions
            return {"n": facts.stored, "k": len(facts.tried), "w": facts.weight}
        case "question.fits-number" if audit.questions is not None:
            return {"number": str(audit.questions.carried)}
        case "stopped.early" if audit.stopped is not None:
            return {"n": audit.stopped.read, "all": audit.stopped.tokens}
        case _:
            return {}


def _strength(audit: Audit, key: str) -> Mapping[str, str | int | float]:
    evidence, policy = audit.evidence, _policy(audit)
    ratio = evidence.lr_capped
    match key:
        case "outcome.mark":
            said = _said_ratio(audit)
            return {"rule": policy.rule, "one_in": policy.one_in, **said}
        case (
            "outcome.no-mark"
            | "outcome.no-mark-in-a-row"
            | "outcome.insufficient-in-part"
            | "outcome.insufficient-in-part-uncounted"
        ):
            return {"k": evidence.keys_tried, "power": min(evidence.power or 0.0, 0.99)}
        case "outcome.insufficient":
            return {"n": evidence.usable, "nmin": evidence.needed or 0}
        case "outcome.insufficient-rate":
            return {"n": evidence.usable, "power": min(evidence.power or 0.0, 0.99)}
        case key if key.startswith("outcome.insufficient-"):
            return {"n": evidence.usable}
        case "evidence.for-h1" | "evidence.for-h2":
            return _said_ratio(audit)
        case "evidence.neutral":
            return {"lr": ratio}
        case "note.bound":
            return {"p": max(evidence.p_bound, 1 / policy.lr_cap)}
        case "note.n2" if evidence.p_redraw is not None:
            return {"p": evidence.p_redraw, "N": evidence.draws}
        case _:
            return {}


def _said_ratio(audit: Audit) -> dict[str, str | int | float]:
    ratio = audit.evidence.lr_capped
    return {
        "capped": int(audit.evidence.capped),
        "lr": ratio if ratio >= 1 else 1 / ratio,
        "word": audit.evidence.scale_word,
    }


def _pura(audit: Audit) -> bool:
    """Whether the findings are about PURA's own mark; one by others carries no bits."""
    return audit.profile.scheme == SCHEME


def _policy(audit: Audit) -> Policy:
    return Policy.from_dict(audit.policy)


def _alike(said: str | float, value: str | float) -> bool:
    if isinstance(value, str) or isinstance(said, str):
        return said == value
    return math.isclose(said, value, rel_tol=_ROUNDING, abs_tol=1e-300)


_PARTS: Final[Mapping[str, Callable[[Audit], Iterator[Phrase]]]] = {
    "tokens": _tokens,
    "bits": _bits,
    "fields": _fields,
    "candidates": _candidates,
    "marks": _marks,
    "keys": _counts,
    "readings": _readings,
    "verdict": _outcome,
    "register": _register,
    "provenance": _provenance,
    "sentence": _sentences,
}
