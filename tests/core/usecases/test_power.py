"""Power of the organisation's own, at the desk: measured, stopped, sealed, relied on, named."""

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.core.detect.verdict.test_power import data_of, entry
from tests.core.stops import stop

from pura.base.errors import Cancelled, InputError, PolicyError, ReportFileError
from pura.base.progress import Stage
from pura.detect.decode.likelihood import default_model
from pura.detect.options import AuditText
from pura.detect.verdict.policy import Policy, load_policy
from pura.detect.verdict.power import seal, shipped_power, statement
from pura.documents import from_text
from pura.keys import KeyRef, Secret
from pura.record import json_io
from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Setup, audit, audit_again
from pura.usecases.environment import Environment
from pura.usecases.measurements import (
    add_power,
    estimate_power,
    export_power,
    list_power,
    measure_power,
    plan_power,
    power_lines,
    rely_on_power,
    remove_power,
    show_power,
    sign_power,
    tables_of,
)
from pura.words.sentences import fill


def made_up(model: Any, **conditions: Any) -> dict[str, Any]:
    """A table that says that the small model's marked texts are always found."""
    always = {"usable": [20], "found": [64], "texts": [64]}
    known = {"name": "Made up", "date": "2026-11-22", "texts": 64, "kinds": ["English"]}
    known |= {"models": [model.fingerprint], "generators": [model.fingerprint]}
    known |= {"dtypes": ["float32"], "likelihood": default_model().fingerprint}
    entries = (entry(threshold=threshold, **always) for threshold in (6.0, 7.0))
    return data_of(*entries, conditions=known | conditions)


def setup_of(at: Environment, profile: Profile) -> Setup:
    with SecretKey.from_hex("5a" * 32) as key:
        known = at.keys.list()
        entry = known[0] if known else at.keys.add("Power", key)
    ref = KeyRef(fingerprint=entry.fingerprint, label="Power")
    return Setup(keys=(ref,), profile=profile, restore=False)


@pytest.mark.sampled
def test_a_small_measurement_from_the_texts_to_the_policy(quick, small_model, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("The harbour authority announced that\n\nBees find their way back by\n")
    plan = plan_power(
        name="Tiny",
        profile=Profile.new(small_model),
        prompts=prompts,
        texts=3,
        learn=2,
        tokens=60,
        passages=(20, 200),
        documents=(80,),
        edits=("substitute:0.2",),
    )
    told: list[Stage] = []
    stop_at = "counting"

    def stopping(stage: Stage) -> None:
        told.append(stage)
        if stage.name == stop_at and stage.done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        measure_power(quick, plan=plan, progress=stopping)
    assert list_power(quick) == ()
    (work,) = quick.paths.measuring.iterdir()
    stored = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    assert {"texts", "reading", "reading-inside", stop_at} <= {stage.name for stage in told}

    stop_at, again = "", []
    sealed = measure_power(quick, plan=plan, progress=again.append)
    assert "texts" not in {stage.name for stage in again}, "nothing is written twice"
    assert len(stored) > 6
    assert not work.exists(), "what was half done is cleared away"
    conditions = sealed.table.conditions
    assert conditions["generators"] == list(sealed.table.models) == [small_model.fingerprint]
    assert conditions["prompts"]["count"] == 2
    learnt = sealed.table.likelihood
    assert learnt.fingerprint == conditions["likelihood"] != default_model().fingerprint
    pairs = zip(learnt.tables, default_model().tables, strict=True)
    changed = [own.name for own, base in pairs if not np.array_equal(own.weights, base.weights)]
    assert changed == ["same-model, prompt unknown"]
    whole = [e for e in sealed.table.entries if not e.edit and not e.text_usable]
    assert {e.sampling for e in whole} == {(1.0, 0, 1.0)}
    assert max(whole[0].texts) <= 3
    # Under another key than the one of its text no evidence would come close to this.
    assert next(e for e in whole if e.threshold == 3.0).found[-1] > 0
    kinds = {(bool(e.edit), bool(e.text_usable)) for e in sealed.table.entries}
    assert kinds >= {(False, False), (True, False)}
    lines = power_lines(sealed.table, 6.0)
    assert all(line.needed(0.8) is None for line in lines), "three texts prove little"

    (found,) = list_power(quick)
    assert (found.sealed, found.relied_on) == (sealed, False)
    version = load_policy(quick.paths.policy).version
    policy = rely_on_power(quick, name="Tiny")
    assert policy == load_policy(quick.paths.policy)
    assert (policy.power_tables, policy.version) == ((sealed.fingerprint,), version + 1)
    with pytest.raises(PolicyError, match="relies on"):
        remove_power(quick, "Tiny")
    assert rely_on_power(quick, name="Tiny", on=False).power_tables == ()
    remove_power(quick, "Tiny")
    assert list_power(quick) == ()


# The command, killed as soon as something is kept.
KILLED = """
import os, signal
from pura.cli.__main__ import main
from pura.measure.cache import Cache
put = Cache.put
def killed(self, *given):
    put(self, *given)
    os.kill(os.getpid(), signal.SIGKILL)
Cache.put = killed
main()
"""


@pytest.mark.weekly
def test_a_measurement_that_was_killed_goes_on_where_it_was(quick, small_model, tmp_path):
    shared = Profile.new(small_model)
    (tmp_path / "profile.json").write_text(shared.to_json())
    work = tmp_path / "work"
    words = "power measure Killed --texts 17 --tokens 20 --documents= --passages= --device cpu"
    killed = subprocess.run(
        [
            *(sys.executable, "-c", KILLED, *words.split()),
            *("--profile", str(tmp_path / "profile.json"), "--folder", str(work)),
        ],
        env=os.environ | {"PURA_HOME": str(quick.paths.data.parent)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    first = work / "texts.0.npz"
    assert list_power(quick) == ()
    kept = first.stat().st_mtime_ns
    plan = plan_power(
        name="Killed",
        profile=shared,
        texts=17,
        tokens=20,
        passages=(),
        documents=(),
    )
    told: list[Stage] = []
    sealed = measure_power(quick, plan=plan, folder=work, progress=told.append)
    assert first.stat().st_mtime_ns == kept
    assert all(stage.done > 16 * 20 for stage in told if stage.name == "texts")
    conditions = sealed.table.conditions
    assert conditions["texts"] + conditions["left_out"] == 17
    again = measure_power(quick, plan=plan, folder=work)
    assert again.data["entries"] == sealed.data["entries"], "kept work gives the same table"


def test_how_long_it_takes_is_estimated_from_a_trial(quick, small_model):
    small = plan_power(name="x", profile=Profile.new(small_model), texts=2, tokens=20)
    small = replace(small, documents=(), passages=())
    seconds = estimate_power(quick, plan=small)
    assert 0 < seconds < estimate_power(quick, plan=replace(small, texts=200, tokens=2000))
    with pytest.raises(Cancelled):
        estimate_power(quick, plan=small, checkpoint=stop)


def test_what_cannot_be_measured_is_said_first(quick, small_model, tmp_path):
    other = Profile.new(small_model).with_(model="f" * 16)
    with pytest.raises(PolicyError, match="another one"):
        measure_power(quick, plan=plan_power(name="x", profile=other, texts=1))
    for data in (b" \n\n", b"\xff\xfe\xfd"):
        (tmp_path / "prompts").write_bytes(data)
        with pytest.raises(InputError, match="no texts that can be read"):
            plan_power(name="x", profile=other, prompts=tmp_path / "prompts")


def test_a_signature_is_checked_wherever_a_table_comes_in(
    quick, small_model, certificate, tmp_path
):
    sealed = seal(made_up(small_model))
    quick.power.put(sealed)
    secret = Secret(bytearray("Grüße 7".encode()))
    found = sign_power(quick, name="Made up", certificate=certificate, passphrase=secret)
    assert (found.signed.subject, found.signed.trusted) == ("Reports Desk", False)
    file = tmp_path / "table.json"
    export_power(quick, sealed.fingerprint[:8], file)
    again = add_power(quick, file, trust=(certificate.with_suffix(".pem"),)).signed
    assert again.trusted

    # The signature of one table put under another.
    other = seal(made_up(small_model, name="Forged"), found.sealed.signature)
    assert statement(other.fingerprint) != statement(sealed.fingerprint)
    file.write_bytes(other.to_bytes())
    with pytest.raises(
        PolicyError,
        match="does not belong to this power table",
        check=lambda e: e.code == "power-forged",
    ):
        add_power(quick, file)
    quick.power.put(other)
    for use in (
        lambda: show_power(quick, "Forged"),
        lambda: audit_tables(quick, other.fingerprint),
    ):
        with pytest.raises(PolicyError, match="does not belong to this power table"):
            use()


def audit_tables(at: Environment, fingerprint: str) -> Any:
    return tables_of(at, Policy(power_tables=(fingerprint,)))


@pytest.fixture
def any_punctuation(monkeypatch):
    """The small model writes no signs, which elsewhere says that they were taken out."""
    monkeypatch.setattr("pura.documents.restore.UNPUNCTUATED", math.inf)


@pytest.mark.usefixtures("any_punctuation")
def test_texts_are_weighed_with_the_likelihood_table_that_the_policy_brings(
    quick, small_model, small_samples
):
    base = default_model()
    own = replace(base, passages=replace(base.passages, residual=0.2))
    data = made_up(small_model, likelihood=own.fingerprint) | {"likelihood": own.to_dict()}
    with pytest.raises(PolicyError, match="“likelihood”"):
        seal(made_up(small_model) | {"likelihood": own.to_dict()})
    quick.power.put(seal(data))
    text = AuditText(document=from_text(small_samples["plain"]["texts"][0]["text"], name="memo"))

    def weighed(temperature: float) -> Audit:
        setup = setup_of(quick, Profile.new(small_model, temperature=temperature))
        return audit(quick, setup, text).audit

    def table_of(found: Audit) -> str:
        return next(step.words("en") for step in found.log if step.name == "decoding")

    before = weighed(1.0)
    assert base.fingerprint in table_of(before)
    rely_on_power(quick, name="Made up")
    found = weighed(1.0)
    assert own.fingerprint in table_of(found)
    assert found.evidence.log10_e != before.evidence.log10_e
    assert found.power is not None, "the power that was measured with it speaks of the text"
    assert audit_again(quick, found).evidence.log10_e == found.evidence.log10_e
    other = weighed(0.7)
    assert base.fingerprint in table_of(other), "it was learnt for another sampling"


@pytest.mark.usefixtures("any_punctuation")
def test_an_audit_rests_on_the_own_table_and_names_it(quick, small_model, small_samples):
    setup = setup_of(quick, Profile.new(small_model))
    words = small_samples["plain"]["texts"][0]["text"]
    text = AuditText(document=from_text(words, name="memo"))
    before = audit(quick, setup, text).audit
    assert (before.verdict, before.power) == ("insufficient", None)
    assert shipped_power()[0].fingerprint not in json_io.to_json(before)

    sealed = seal(made_up(small_model))
    quick.power.put(sealed)
    rely_on_power(quick, name="Made up")
    found = audit(quick, setup, text).audit
    assert found.verdict == "no-mark"
    assert (found.power.table, found.power.own) == (sealed.fingerprint, True)
    assert found.policy["power_tables"] == [sealed.fingerprint]
    said = {s.key: s for s in found.sentences}
    assert "„" not in fill(said["note.power"], "de")
    assert "»Made up«" in fill(said["note.power"], "de")
    assert json_io.from_json(json_io.to_json(found)).power == found.power
    assert found.evidence.log10_e == before.evidence.log10_e, "a table moves no evidence"

    again = audit_again(quick, found)
    assert again.power == found.power
    quick.power.remove("Made up")
    with pytest.raises(PolicyError, match="not on this computer"):
        audit(quick, setup, text)
    with pytest.raises(ReportFileError, check=lambda e: e.code == "repeat-power"):
        audit_again(quick, found)
    rely_on_power(quick, name=sealed.fingerprint[:10], on=False)
    assert audit(quick, setup, text).audit.verdict == "insufficient"
