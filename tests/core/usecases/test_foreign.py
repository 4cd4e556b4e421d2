"""Marks by others at the desk: looked for with tokens and key, alone, together, beside PURA's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import pura
from pura.base.errors import PuraError
from pura.base.paths import resource
from pura.batch.results import finding_of
from pura.detect.decode.significance import combine
from pura.detect.local.third_party import murmur3, philox
from pura.detect.options import AuditText
from pura.detect.verdict.policy import default_policy
from pura.documents import from_text
from pura.keys import KeyRef
from pura.model.tokenise import decode
from pura.record import json_io
from pura.report.blocks import html_page
from pura.report.build import build_report
from pura.report.request import ReportRequest
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Setup, audit, audit_again, prepared
from pura.usecases.cases import SaveTo, check_log, open_saved, save_audits
from pura.usecases.environment import Environment
from pura.usecases.profiles import create_foreign

VLLM = {"algorithm": "gumbel", "key": 2**63 + 11, "context_width": 4}
SGLANG = {"key": "F00000000000000b", "context_window": 4, "max_probability": 0.9}
SYNTHID = {"ngram_len": 5, "keys": [654, 400, 836, 123, 2**40 + 1], "context_history_size": 1024}
KGW = {"greenlist_ratio": 0.25, "bias": 2.0, "seeding_scheme": "lefthash", "hashing_key": 15485863}


def words_of(model: Any) -> list[int]:
    """Return tokens that are words behind a blank: a text of them falls into the same tokens."""
    pieces = model.tokenizer.convert_ids_to_tokens(list(range(300, 4000)))
    return [i for i, piece in enumerate(pieces, 300) if piece[:1] == "Ġ" and piece[1:].isalpha()]


def chosen(model: Any, draw: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> str:
    """Return 90 words, each of 30 that are equally likely, as a sampler chooses by its numbers."""
    rng, known = np.random.default_rng(1), np.array(words_of(model))
    ids = rng.choice(known, 4).tolist()
    for _ in range(86):
        some = rng.choice(known, 30, replace=False)
        ids.append(int(some[draw(np.array(ids[-4:]), some).argmax()]))
    return decode(model.tokenizer, ids)


@pytest.fixture
def written(small_model: Any) -> str:
    """A text of vLLM's."""
    return chosen(small_model, lambda context, some: philox(VLLM["key"], context[None], some))


@pytest.fixture
def of_sglang(small_model: Any) -> str:
    """A text of SGLang's."""
    key = int(SGLANG["key"], 16)
    halves = [key & 0xFFFFFFFF, key >> 32]
    return chosen(
        small_model, lambda context, some: murmur3([*halves, murmur3(list(context)), some])
    )


@pytest.fixture
def lock(quick: Environment) -> KeyRef:
    """The key that seals."""
    return quick.session_keys.add(SecretKey(bytes(range(7, 39))), "Lock")


@pytest.fixture
def profiles(quick: Environment, lock: KeyRef, tmp_path: Path) -> dict[str, Profile]:
    """A stored profile of each scheme."""
    made = {}
    for name, settings in (("vllm", VLLM), ("sglang", SGLANG), ("synthid", SYNTHID), ("kgw", KGW)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(settings))
        create_foreign(quick, settings=path, key=lock, name=name)
        made[name] = quick.profiles.get(name)
        stored = (quick.paths.profiles / f"{name}.json").read_text()
        assert str(VLLM["key"]) not in stored
        assert SGLANG["key"] not in stored
    return made


def of(text: str) -> AuditText:
    return AuditText(document=from_text(text, name="memo"))


def test_a_text_of_another_server_is_found_without_its_model(quick, profiles, written, loads):
    setup = Setup(keys=(), profile=profiles["vllm"], restore=False)
    with prepared(quick, setup) as ready:
        found, other = (ready.audit(of(one)).audit for one in (written, "The cat sat. " * 60))
    assert loads == []  # no weights
    assert (found.verdict, found.key.label) == ("mark", None)
    assert found.evidence.log10_e > 20
    assert found.tokens.log10_evidence.sum() == pytest.approx(found.evidence.log10_e)
    assert other.evidence.usable < 10  # a context counts once
    assert other.verdict == "insufficient"
    # The record comes back whole, says nothing of the secret, and is a finding like any other.
    text = json_io.to_json(found)
    jsonschema.validate(json.loads(text), json.loads(resource("audit.schema.json").read_text()))
    again = json_io.from_json(text)
    assert json_io.to_json(again) == text
    assert str(VLLM["key"]) not in text
    assert finding_of(found.finding)["payload"] is None
    assert "mark" in found.to_row().values()
    page = html_page(build_report([again], ReportRequest(language="de")).content)
    assert "Gumbel-max" in page
    assert "Nutzlast des Textes" not in page
    # In the case log it is a finding as every other: what comes out says the same when repeated.
    case, _ = save_audits(quick, SaveTo(case="Servers", auditor="Anna"), [found])
    assert [(item.id, item.verdict) for item in case.items] == [(found.id, "mark")]
    kept = open_saved(quick, found.id)
    assert json_io.to_json(kept) == text
    assert audit_again(quick, kept).evidence == found.evidence
    assert {check.state for check in check_log(quick)} <= {"good", "notice"}


def test_a_program_gets_the_same_record(quick, profiles, small_model, written):
    setup = Setup(keys=(), profile=profiles["vllm"], also=(profiles["kgw"],))
    with SecretKey(bytes(range(7, 39))) as key:
        found = pura.verify(
            written,
            key=key,
            profile=profiles["vllm"],
            also=[profiles["kgw"]],
            policy=default_policy(),
            model=small_model,
        )
    wanted = audit(quick, setup, of(written)).audit
    assert (found.evidence, found.schemes) == (wanted.evidence, wanted.schemes)
    assert found.model.context_length == wanted.model.context_length == 0
    # Without any key the one that seals is opened; here nobody has it.
    with pytest.raises(pura.PuraError, check=lambda e: e.code == "key-not-found"):
        pura.verify(written, key=[], profile=profiles["vllm"], model=small_model)


def test_a_model_weighs_the_bets_where_it_is_asked(quick, profiles, written):
    setup = Setup(keys=(), profile=profiles["vllm"], restore=False, weigh=True)
    with prepared(quick, setup) as ready:
        found = ready.audit(of(written)).audit
        # What a model says has nothing to do with the key: no other text gains by it.
        other = ready.audit(of(" ".join(written.split()[::-1]))).audit
    assert found.schemes[0].weighed
    assert found.evidence.log10_e > 20
    assert other.evidence.log10_e < 2
    assert "how probable each token was" in html_page(
        build_report([found], ReportRequest()).content
    )
    text = json_io.to_json(found)
    jsonschema.validate(json.loads(text), json.loads(resource("audit.schema.json").read_text()))
    again = audit_again(quick, json_io.from_json(text)).evidence
    assert again.log10_e == pytest.approx(found.evidence.log10_e)
    # Records of before do not say it, and were not.
    data = json.loads(text)
    del data["schemes"][0]["weighed"]
    assert not json_io.from_dict(data).schemes[0].weighed


def test_several_schemes_count_as_their_mean(
    quick, lock, profiles, written, of_sglang, small_samples
):
    others = tuple(profiles[name] for name in ("synthid", "kgw", "vllm", "sglang"))
    setup = Setup(keys=(lock,), profile=others[0], also=others[1:], restore=False)
    for text, place in ((written, 2), (of_sglang, 3)):
        found = audit(quick, setup, of(text)).audit
        each = [one.log10_e for one in found.schemes]
        assert [one.shown for one in found.schemes] == [at == place for at in range(4)]
        assert found.profile == others[place]
        assert found.evidence.log10_e == pytest.approx(combine(each))
        assert found.evidence.log10_e == pytest.approx(each[place] - np.log10(4))
        assert found.evidence.log10_e > 20
    # Beside PURA's mark: its own texts lose log10 2, and the other's are found as well.
    sample = small_samples["marked-tbcc"]
    ref = quick.session_keys.add(SecretKey.from_hex(sample["key_hex"]), "Desk")
    pura = Setup(keys=(ref,), profile=Profile.from_dict(sample["profile"]), restore=False)
    both = Setup(keys=(ref,), profile=pura.profile, also=(profiles["vllm"],), restore=False)
    text = of(sample["texts"][0]["text"])
    alone, beside = (audit(quick, one, text).audit for one in (pura, both))
    assert beside.decoded.bits == alone.decoded.bits
    assert beside.evidence.log10_e == pytest.approx(alone.evidence.log10_e - np.log10(2), abs=1e-6)
    assert [one.shown for one in beside.schemes] == [True, False]
    theirs = audit(quick, both, of(written)).audit
    assert (theirs.verdict, theirs.profile.scheme) == ("mark", "gumbel-max")
    assert [one.shown for one in theirs.schemes] == [False, True]
    assert audit_again(quick, json_io.from_json(json_io.to_json(theirs))).evidence == pytest.approx(
        theirs.evidence
    )
    assert "Gumbel-max" in html_page(build_report([theirs], ReportRequest()).content)


def test_a_text_that_is_shorter_than_a_context_says_nothing(quick, lock, profiles, small_samples):
    sample = Profile.from_dict(small_samples["marked-tbcc"]["profile"])
    for profile in (profiles["vllm"], sample):
        setup = Setup(keys=(lock,), profile=profile, also=(profiles["synthid"], profiles["sglang"]))
        found = audit(quick, setup, of("Yes.")).audit
        assert (found.verdict, found.evidence.usable) == ("insufficient", 0)
        assert [one.log10_e for one in found.schemes] == [0, 0, 0]


def test_what_does_not_fit_is_refused_in_words(quick, profiles, written, tmp_path):
    other = quick.session_keys.add(SecretKey(bytes(range(32))), "Other")
    with pytest.raises(PuraError, check=lambda e: e.code == "key-mismatch"):
        audit(quick, Setup(keys=(other,), profile=profiles["vllm"]), of(written))
    moved = profiles["vllm"].with_(key=other.fingerprint)  # sealed under another one
    with pytest.raises(PuraError, match="opened"):
        audit(quick, Setup(keys=(), profile=moved), of(written))
    for wrong in (
        {"algorithm": "sbw", "key": 1},
        {"algorithm": "dual_key_gumbel", "key": 1},  # its alpha was another one in other versions
        {"key": -1},
        {"key": "2g"},
        {"key": "12345678901234567"},
        {"key": "2a", "key_b": "2b"},
        {"key_b": "2b", "mixing_probability": 0.5},
        {"ngram_len": 5, "keys": []},
        [1],
    ):
        path = tmp_path / "wrong.json"
        path.write_text(json.dumps(wrong))
        with pytest.raises(PuraError, match="wrong"):
            create_foreign(quick, settings=path, key=other)
    data = profiles["kgw"].to_dict()
    for name, value in (("gamma", 2), ("seeding", "right"), ("context_width", 0), ("sealed", "")):
        with pytest.raises(PuraError, match=name):
            Profile.from_dict(data | {"foreign": data["foreign"] | {name: value}})
