"""Records for the tests of the window: invented, and made to agree with a real profile."""

import re
from dataclasses import replace

import numpy as np
from tests.core.records import RECORD, of_organisation

from pura.detect.decode.paper import decode
from pura.detect.local.evidence import local_evidence
from pura.detect.unexamined import IntendedSetup, unexamined
from pura.detect.verdict.policy import default_policy
from pura.record.audit import Audit, Sentence
from pura.record.evidence import BitEvidence, PayloadFacts, StepEvidence, TokenEvidence
from pura.record.naming import CandidateFacts, Passage, RegisterFacts, RegisterMatch
from pura.record.surroundings import InputFacts, KeyFacts
from pura.scheme import Payload, Profile, SecretKey, pack, parse_layout, schedule, unpack
from pura.usecases.audits import Audited, UnreadFile

LAYOUT = parse_layout(
    [
        {"name": "customer", "bits": 16, "kind": "integer"},
        {"name": "issued", "bits": 14, "kind": "date", "epoch": "2020-01-01", "unit": "day"},
        {"name": "release", "bits": 6, "kind": "version", "parts": [2, 4]},
    ],
    36,
)


def make_audit(text: str, profile: Profile, key: SecretKey, *, verdict: str = "mark") -> Audit:
    """Build a record: real schedule, local evidence and decoding over invented intervals."""
    rng = np.random.default_rng(7)
    spans = np.array([m.span() for m in re.finditer(r"\s*\S+|\s+$", text)], dtype=np.int64)
    size = len(spans)
    ids = rng.integers(0, profile.vocab_size, size)
    entropy = rng.uniform(0.5, 8.0, size)
    lo = rng.uniform(0, 0.9, size)
    hi = lo + rng.uniform(0.001, 0.1, size)
    plan = schedule(ids, entropy, key, profile)
    local = local_evidence(plan, lo, hi, profile)
    per_token = np.zeros(size)
    per_token[plan.token] = rng.normal(0.3, 0.6, len(plan))
    if profile.code == "spc":
        found = decode(plan, local, profile)
        bits = _bits(found.llr_nats, found.readings, found.codeword, profile)
        payload = "".join(map(str, found.payload.array))
    else:
        n = profile.codeword_length
        bits = _bits(rng.normal(0, 20, n), rng.integers(0, 4, n), rng.integers(0, 2, n), profile)
        payload = "01" * (profile.payload_bits // 2)
    mark = verdict == "mark"
    outcome = Sentence(key="outcome.insufficient-not-measured", values={"n": len(plan)})
    held = KeyFacts(fingerprint=key.fingerprint, label="Test")
    whole = Passage(first_token=0, last_token=size - 1, start=0, end=len(text))
    weighed = ((payload, 0.995), (payload[::-1], 0.005))
    audit = replace(
        RECORD,
        id="0" * 32,
        input=InputFacts(
            name="memo.txt",
            sha256="0" * 64,
            size_bytes=len(text.encode()),
            characters=len(text),
            tokens=size,
        ),
        text=text,
        key=held,
        keys=(held,),
        profile=profile,
        model=replace(
            RECORD.model, name="tiny", fingerprint="a" * 16, vocab_size=profile.vocab_size
        ),
        tokens=TokenEvidence(
            ids=ids,
            spans=spans,
            entropy_bits=entropy,
            lo=lo,
            hi=hi,
            gate=plan.gate,
            log10_evidence=per_token,
            marked=np.ones(size),
        ),
        steps=StepEvidence(
            token=plan.token,
            arity=plan.arity,
            phase=plan.phase,
            index=plan.index,
            llr_nats=local.llr_nats,
        ),
        bits=bits,
        decoded=PayloadFacts(bits=payload, posterior=np.ones(len(payload)), repaired=1),
        candidates=tuple(CandidateFacts(bits=word, posterior=w) for word, w in weighed),
        evidence=replace(
            RECORD.evidence,
            log10_e=12.0 if mark else 0.1,
            scale_word="extremely strong" if mark else "no useful support either way",
            power=None,
            usable=len(plan),
            needed=None,
            lr_capped=1e6 if mark else 1.2,
            capped=mark,
        ),
        verdict=verdict,
        sentences=(RECORD.sentences[0] if mark else outcome, Sentence(key="note.n1")),
        cautions=(Sentence(key="caution.prompt-unknown"),),
        passages=(whole,) if mark else (),
        variants=(),
        register=None,
        policy={"t_found": 6.0},
    )
    return of_organisation(audit)


def make_unexamined(item: UnreadFile, profile: Profile, key: SecretKey) -> Audited:
    """Build the record of a file that no text could be made of."""
    like = make_audit("a text", profile, key)
    found = replace(
        like.input, name=item.name, sha256=item.sha256, size_bytes=item.size_bytes, tokens=0
    )
    means = IntendedSetup(
        keys=like.keys,
        profile=profile,
        model=like.model,
        device=like.device,
        policy=default_policy(),
        decoder="exact",
    )
    audit = unexamined(found, item.error, means, ())
    return Audited(audit=audit, error=item.error)


def _bits(
    llr: np.ndarray, readings: np.ndarray, word: np.ndarray, profile: Profile
) -> tuple[BitEvidence, ...]:
    size = profile.payload_bits // profile.block_count + 1
    return tuple(
        BitEvidence(
            position=i,
            llr_nats=float(llr[i]),
            readings=int(readings[i]),
            bit=int(word[i]),
            repaired=bool(readings[i]) and int(llr[i] >= 0) != int(word[i]),
            parity=profile.code == "spc" and i % size == size - 1,
            weak=bool(abs(llr[i]) < 2),
        )
        for i in range(len(llr))
    )


def candidate(customer: int, weight: float, day: str = "2026-11-21") -> CandidateFacts:
    """Return a payload of :data:`LAYOUT` with the weight that it has."""
    payload = pack(LAYOUT, {"customer": customer, "issued": day, "release": "1.4"})
    fields = unpack(LAYOUT, Payload(text=payload.text))
    return CandidateFacts(bits=payload.text, posterior=weight, fields=fields)


def laid_out(audit: Audit, *found: CandidateFacts) -> Audit:
    """Return a record whose payloads have fields; the first candidate is what was decoded."""
    best = found[0]
    return replace(
        audit,
        profile=audit.profile.with_(payload_bits=36, code="tbcc", blocks=None, fields=LAYOUT),
        decoded=replace(audit.decoded, bits=best.bits, fields=best.fields),
        candidates=found,
    )


def issued(audit: Audit, payload: str, who: str = "Ada") -> Audit:
    """Return a record with the entry of a payload in the register; without one for no payload."""
    match = RegisterMatch(
        entry=12,
        key=audit.key.fingerprint,
        profile=audit.profile.fingerprint,
        payload=payload,
        who=who,
        when="",
        model="",
        posterior=0.9,
    )
    register = RegisterFacts(
        version="0a1b-1",
        date="2026-11-21T00:00:00+00:00",
        entries=1,
        matches=(match,) if payload else (),
        none_weight=0.1,
        prior_none=0.1,
        chance=1e-9,
    )
    return replace(audit, register=register)
