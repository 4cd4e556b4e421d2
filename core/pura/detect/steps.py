"""The twelve steps of an audit, one under the other. A reader of the program begins here.

Each step has the number and name that the record's log and architecture.md give it. The functions
are about one text. Where a step needs the model, it yields what is to be read and is sent the
readings, so that :mod:`pura.detect.together` reads many texts in one pass; there, too, the error of
one text is kept from the others.
"""

from __future__ import annotations

from collections.abc import Generator

from pura.detect.basis import AuditBasis
from pura.detect.conclusion import Conclusion, decide, find_marks, select_reading, strength_of
from pura.detect.decoding import (
    TextDecoding,
    decode_readings,
    decode_windows,
    intervals_of_readings,
    note_reading,
    trials_of,
)
from pura.detect.fitness import check_fitness, check_language, check_power_tables, check_tokenizer
from pura.detect.key_reading import weigh
from pura.detect.options import AuditText
from pura.detect.pooling import TextPooling
from pura.detect.prepared import prepare
from pura.detect.question_readings import read_after_questions
from pura.detect.readings import ReadingRequest, Readings
from pura.detect.step_log import StepLog, characters_noted, input_noted, rule_noted
from pura.detect.third_party import (
    ThirdPartyAudit,
    ThirdPartyConclusion,
    ThirdPartyEvidence,
    probabilities,
    try_marks,
)
from pura.record.audit import Audit
from pura.record.evidence import SchemeFacts
from pura.words.sentences import sentence


def detect(basis: AuditBasis, text: AuditText) -> Generator[ReadingRequest, Readings, Audit]:
    """Look for PURA's mark in a text.

    Args:
        basis: Model, keys, profile and options.
        text: The text, with what is known of it.

    Yields:
        What the model is to read: once all of the text, windows of a long one again, and the text
        after stored questions.

    Returns:
        The record.

    Raises:
        PuraError: The text cannot be examined; the log of the text says at which step.
    """
    options, profile, document = basis.options, basis.profile, text.document
    log = StepLog(reports=text.log, progress=basis.progress, checkpoint=basis.checkpoint)
    check_power_tables(options)
    with log.step(1) as note:  # input: the file's bytes and their digest
        note += input_noted(document, alone=text.alone)
    with log.step(2) as note:  # text: its encoding and its characters
        note.append(characters_noted(document))
    with log.step(3) as note:  # tokens: of each form of the text, and of what stood before it
        prepared = prepare(basis, text, log, note)
    with log.step(4):  # fitness: model, profile, keys and language belong together
        check_language(document.examined_text, options.policy)
        check_fitness(basis.model, profile, [key for key, _ in basis.keys])
    answer = yield prepared.reading_request()
    with log.logged(5, answer.seconds) as note:  # reading: the probability of every token
        readings = answer.all()
        stopped, handled = note_reading(prepared, readings, note)
    trials = trials_of(prepared, readings)
    with log.step(6) as note:  # schedule: which tokens carry which bits, for each key
        seen = intervals_of_readings(prepared, readings, trials, note)
    with log.step(7) as note:  # local evidence: what each token says about its bits
        local = [weigh(intervals) for intervals in seen]
        note.append(sentence("log.kernel", name=profile.kernel))
    with log.step(8) as note:  # decoding: payloads and evidence, from all tokens together
        each, prior = decode_readings(prepared, readings, trials, seen, local, note)
    decoded = TextDecoding(
        prepared=prepared, trials=each, prior=prior, stopped=stopped, handled=handled
    )
    if (windows := decoded.windows) is not None:
        answer = yield windows.reading_request(basis.beginning)
        with log.resumed(answer.seconds) as note:
            decoded = decode_windows(decoded, windows, answer, note)
    decoded = yield from read_after_questions(decoded, log)
    with log.step(9) as note:  # significance: the evidence over all keys, readings and windows
        strength = strength_of(decoded)
        note.append(strength.note)
    # The verdict is fixed here, before anything is looked up in the register.
    pooling = TextPooling(decoded=decoded)
    selected = select_reading(decoded, pooling)
    outcome = decide(decoded, strength.log10_e, selected.trial)
    with log.step(10) as note:  # passages: where each mark stands
        marks = find_marks(decoded, pooling, selected, outcome)
        note.append(sentence("log.passages", n=sum(len(one.mark.ranges) for one in marks)))
    conclusion = Conclusion.of(pooling, selected, strength, outcome, marks)
    register = conclusion.ask_register(log)  # step 11, candidates and register: after a mark only
    with log.step(12) as note:  # verdict: its sentences
        said = conclusion.findings(register)
        note.append(rule_noted(options.policy, outcome))
    return conclusion.record(register, said)


def gather_third_party(audit: ThirdPartyAudit) -> ThirdPartyEvidence:
    """Gather the evidence of third-party marks in a text: the steps up to the eighth.

    Raises:
        PuraError: The text cannot be examined.
    """
    text, log, document = audit.text, audit.log, audit.text.document
    with log.step(1) as note:  # input
        note += input_noted(document, alone=text.alone)
    with log.step(2) as note:  # text
        note.append(characters_noted(document))
    with log.step(3) as note:  # tokens
        variants, tokens = audit.tokenise(note)
    with log.step(4):  # fitness
        check_language(document.examined_text, audit.options.policy)
        for mark in audit.marks:
            check_tokenizer(audit.model, mark.profile, [mark.key.fingerprint])
    probability = probabilities(audit, tokens)  # step 5, reading: only where a model weighs bets
    log.skip(6, "log.foreign-schedule")
    with log.step(7) as note:  # local evidence
        trials = try_marks(audit, tokens, probability, note)
    log.skip(8, "log.foreign-payload")
    return ThirdPartyEvidence.of(audit, variants, tokens, trials)


def conclude_third_party(
    evidence: ThirdPartyEvidence, other_schemes: tuple[SchemeFacts, ...] = ()
) -> Audit:
    """Conclude on third-party marks: the steps from the ninth on.

    Args:
        evidence: What the first steps gathered.
        other_schemes: What other schemes say of the same text; they count in the mean.
    """
    log, policy = evidence.resumed_log(), evidence.audit.options.policy
    with log.step(9) as note:  # significance: the mean over keys, readings and schemes
        conclusion = ThirdPartyConclusion.of(evidence, other_schemes)
        note.append(sentence("log.foreign-mean"))
    log.skip(10, "log.foreign-passages")
    log.skip(11, "log.foreign-register")
    with log.step(12) as note:  # verdict
        said = conclusion.findings()
        note.append(rule_noted(policy, conclusion.outcome))
    return conclusion.record(said)
