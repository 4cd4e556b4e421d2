"""The dialogs of models, profiles and fitness: what they show, what they ask for."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication, QLineEdit
from shiboken6 import isValid
from tests.core.detect.verdict.test_power import data_of, entry
from tests.core.programs import lend

from pura.base.errors import ModelError, ProfileError, PuraError
from pura.detect.verdict.power import PowerFile, read_power_file, seal
from pura.measure.corpora import STUDY
from pura.measure.fitness import RULE, ProxyFitness, TextResult, mean, share
from pura.model.device import memory_need
from pura.scheme import Profile
from pura.scheme.foreign import GumbelMark, foreign_settings
from pura.scheme.profile import NOTES
from pura.usecases.environment import Environment
from pura.usecases.profiles import ProfileDone, read_foreign
from pura_audit.jobs.queue import Done, Progress
from pura_audit.session.choices import (
    AuditEngine,
    Inventory,
    KeyChoice,
    ProfileChoice,
    pick_profiles,
)
from pura_audit.stores import models as models_module
from pura_audit.stores import power
from pura_audit.stores import profiles as profiles_module
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.stores.power import PowerDialog, PowerTablesDialog
from pura_audit.stores.profile_editor import ProfileEditor
from pura_audit.stores.profiles import note_words
from pura_audit.workbench import opening


@pytest.fixture
def stocked(window, engine, tbcc, monkeypatch):
    facts = engine.installed("tiny", tbcc.vocab_size, tbcc.tokenizer or "b" * 16)
    room = memory_need(facts.parameters, free=4_000_000_000)
    found = Inventory(
        keys=(KeyChoice(label="Newsroom 2026", fingerprint=engine.key.fingerprint),),
        models=(facts,),
        rooms={facts.name: room},
        profiles=(ProfileChoice(name="internal", profile=tbcc),),
    )
    monkeypatch.setattr(engine, "catalogue", lambda: found)
    window.session.chosen.model = None
    window.session.chosen._catalogued(Done(found))
    return window


@pytest.fixture
def models(stocked) -> Iterator[Any]:
    dialog = opening.show_models(stocked)
    QApplication.processEvents()
    yield dialog
    dialog.close()


def cells(table: Any, row: int = 0) -> list[str]:
    model = table.model()
    return [model.index(row, column).data() for column in range(model.columnCount())]


def test_the_models_are_shown_with_all_that_is_known(models):
    row = cells(models.table)
    assert row[:2] == ["tiny", "TinyForCausalLM"]
    assert row[3] == "540.0 MB"
    assert row[4] == "MIT"
    assert row[6] == "yes"
    assert "135,000,000 parameters as float32" in models.detail.text()


class Noted:
    """Stands for a use case: notes what it is asked, and fails when it is told to."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.requests: list[Any] = []
        self.error: PuraError | None = None

    def __call__(self, _environment: Environment, **asked: Any) -> object:
        told = ("progress", "checkpoint")
        self.requests.append({k: v for k, v in asked.items() if k not in told})
        if self.error is not None:
            raise self.error
        return self.answer


@pytest.fixture
def noted(stocked, monkeypatch) -> Noted:
    use_case = Noted(stocked.session.chosen.catalogue.models[0])
    for name in ("install_model", "add_model", "recheck_model", "remove_model"):
        monkeypatch.setattr(models_module, name, use_case)
    return use_case


def test_buttons_hand_use_cases_over_and_words_tell_the_end(models, noted, qtbot):
    models.buttons["verify"].click()
    assert models.busy
    assert not models.buttons["verify"].isEnabled()
    qtbot.waitUntil(lambda: not models.busy)
    assert noted.requests == [{"name": "tiny"}]
    assert models.words.text() == "“tiny” is what was installed: all 0 files are unchanged."
    noted.error = ModelError("name.none")
    models.buttons["install"].click()
    qtbot.waitUntil(lambda: not models.busy)
    assert models.words.text() == str(noted.error)
    assert not models.bar.isVisible()


def test_the_licence_of_a_model_to_add_reaches_its_record(models, noted, qtbot, tmp_path):
    models.licence.setText("  Apache-2.0 ")
    noted.error = ModelError("name.none")
    models.ask_place("folder").fileSelected.emit(str(tmp_path))
    qtbot.waitUntil(lambda: not models.busy)
    assert noted.requests == [{"path": tmp_path, "copy": False, "licence": "Apache-2.0"}]
    assert models.licence.text().strip() == "Apache-2.0", "typed once more after a failure"
    noted.error = None
    models.buttons["verify"].click()
    qtbot.waitUntil(lambda: not models.busy)
    assert models.licence.text(), "another use case took it"
    models.ask_place("folder").fileSelected.emit(str(tmp_path))
    qtbot.waitUntil(lambda: not models.busy)
    assert models.licence.text() == "", "it would go to the next model"


def test_what_reads_with_the_model_says_that_it_waits_for_the_audits(models, engine, text, qtbot):
    session = models.session
    engine.gate.clear()
    session.texts.add_text(text)
    session.audits.audit()
    qtbot.waitUntil(engine.entered.is_set)
    done: list[str] = []
    models.begin(lambda _: "read", on_result=done.append, queue="model")
    assert models.words.text() == "This begins when the audits are done."
    assert models.stop.isVisible()
    engine.gate.set()
    qtbot.waitUntil(lambda: done == ["read"])
    assert models.words.text() == ""


def test_removing_asks_first_and_the_safe_answer_is_the_default(models, noted, qtbot):
    box = models.ask_remove()
    assert box.defaultButton().text() == "Keep it"
    box.reject()
    assert not models.busy
    box = models.ask_remove()
    box.buttons()[0].click()
    qtbot.waitUntil(lambda: not models.busy)
    assert noted.requests == [{"name": "tiny"}]


def test_what_does_not_belong_together_is_said_before_the_run(stocked, tbcc, qtbot):
    session, header = stocked.session, stocked.header
    session.texts.add_text("a text")
    assert header.audit.isEnabled()
    wrong = tbcc.with_(tokenizer="c" * 16, key="d" * 16)
    session.chosen.choose_profiles([ProfileChoice(name="wrong", profile=wrong)])
    assert not header.audit.isEnabled()
    assert "tokenizer of the model “tiny” is not the one" in header.audit.toolTip()
    assert "belongs to the key dddd" in header.audit.toolTip()
    assert header.setup.property("missing")
    session.chosen.choose_profiles([ProfileChoice(name="internal", profile=tbcc)])
    assert header.audit.isEnabled()
    assert not header.setup.property("missing")


def result(texts: int, found: int) -> ProxyFitness:
    made = tuple(
        TextResult(
            tokens=200,
            usable=150,
            log10_e=50.0 if n < found else 1.0,
            matched=n < found,
            bits_right=1.0,
        )
        for n in range(texts)
    )
    return ProxyFitness(
        model="tiny",
        model_fingerprint="a" * 16,
        profile="b" * 16,
        dtype="float32",
        made_here=True,
        results=made,
        found=share(found, texts),
        matched=share(found, texts),
        evidence=mean([r.log10_e for r in made]),
        evidence_per_100=mean([10.0] * texts),
        bits_right=mean([1.0] * texts),
        kl_bits=mean([0.5] * texts),
        source="large",
        word="good",
        rule=RULE,
    )


def measured_table(found: int) -> PowerFile:
    cold = {"temperature": 0.7, "top_k": 0, "top_p": 0.95}
    counts = {"usable": [20, 1200], "found": [10, found], "texts": [64, 64]}
    one = entry(threshold=6.0, sampling=cold, **counts)
    conditions = {"name": "internal", "date": "2026-11-22", "texts": 64, "models": ["a" * 16]}
    more = [one | {"text_usable": 1400}, one | {"edit": "substitute:0.1", "found": [0, 1]}]
    return seal(data_of(one, *more, conditions=conditions))


def test_power_is_asked_for_as_the_form_says(models, qtbot, monkeypatch):
    sealed = measured_table(64)
    measured, timed = Noted(sealed), Noted(7200.0)
    monkeypatch.setattr(power, "measure_power", measured)
    monkeypatch.setattr(power, "estimate_power", timed)
    models.buttons["power"].click()
    tables = models.findChild(PowerTablesDialog)
    qtbot.waitUntil(lambda: not tables.busy)
    tables.buttons["measure"].click()
    dialog = tables.findChild(PowerDialog)
    dialog.documents.setText("500, many")
    dialog.measure.click()
    assert "whole numbers" in dialog.words.text()
    assert not measured.requests
    dialog.documents.setText(" 500; 1000 ")
    dialog.passages.setText("50")
    dialog.edits.setText("substitute:0.1, delete:0.2")
    dialog.texts.setValue(9)
    dialog.learn.setValue(7)
    dialog.chat.setChecked(True)
    dialog.estimate.click()
    qtbot.waitUntil(lambda: not dialog.busy)
    assert "2.0 h" in dialog.words.text()
    tables.session.environment.power.put(sealed)
    dialog.measure.click()
    qtbot.waitUntil(lambda: bool(tables.rows) and not tables.busy)
    [request] = measured.requests
    plan = request["plan"]
    assert timed.requests == [{"plan": plan, "model": "tiny"}]
    assert (request["model"], request["reader"], plan.texts, plan.learn) == ("tiny", None, 9, 7)
    assert (plan.documents, plan.passages, plan.chat) == ((500, 1000), (50,), True)
    assert [edit.name for edit in plan.edits] == ["substitute:0.1", "delete:0.2"]
    assert plan.prompts == STUDY
    assert sealed.fingerprint[:16] in tables.words.text()
    tables.close()


def test_measured_tables_are_listed_signed_relied_on_and_removed(
    models, qtbot, certificate, tmp_path
):
    sealed = measured_table(64)
    (tmp_path / "table.json").write_bytes(sealed.to_bytes())
    dialog = models.ask_power()

    def settle(words: str) -> None:
        qtbot.waitUntil(lambda: not dialog.busy)  # the first signature imports much
        assert dialog.words.text().startswith(words)

    settle("")
    assert not dialog.none.isHidden()
    assert not dialog.buttons["sign"].isEnabled()
    dialog.ask_file().fileSelected.emit(str(tmp_path / "table.json"))
    settle("The table “internal” was added.")
    assert cells(dialog.table) == ["internal", "22 November 2026", "", "64", "–", "–"]
    assert sealed.fingerprint in dialog.detail.text()
    found = ["1,200 positions", "1,200 positions", "95 %", "64"]
    assert cells(dialog.lines) == ["whole texts", *found]
    assert cells(dialog.lines, 1)[0] == "passages in up to 1,400 positions"
    assert cells(dialog.lines, 2)[:3] == ["edited (substitute:0.1)", "not shown", "not shown"]
    dialog.buttons["rely"].click()
    settle("The policy is now ")
    assert cells(dialog.table)[-1] == "yes"
    assert not dialog.buttons["remove"].isEnabled(), "the policy would find it gone"
    dialog.ask_certificate().fileSelected.emit(str(certificate))
    asked = dialog.findChild(PassphraseDialog)
    asked.first.setText("Grüße 7")
    with qtbot.waitSignal(asked.accepted):
        asked.ok.click()
    settle("The table “internal” is signed as ")
    assert "Reports Desk" in cells(dialog.table)[-2]
    dialog.ask_export().fileSelected.emit(str(tmp_path / "out.json"))
    settle("The table was written to “out.json”.")
    assert read_power_file(tmp_path / "out.json").signature
    dialog.buttons["rely"].click()
    settle("The policy is now ")
    dialog.ask_remove().buttons()[0].click()
    settle("The table was removed.")
    assert not dialog.none.isHidden()
    dialog.close()


def test_a_measurement_says_how_far_it_is(models):
    dialog = models.ask_power().ask_measure()
    dialog._progressed(Progress(step=0, name="texts", done=320, total=12_800, seconds_left=600))
    assert dialog.words.text() == "Writing the texts: 320 of 12,800 tokens, 10 min left"
    dialog._progressed(Progress(step=0, name="counting", done=3, total=64))
    assert dialog.words.text() == "Weighing the evidence: 3 of 64 texts"
    dialog.close()


def test_fitness_is_asked_for_and_shown(models, qtbot, monkeypatch):
    measured = Noted(result(12, 12))
    monkeypatch.setattr(models_module, "measure_fitness", measured)
    dialog = models.ask_fitness()
    assert dialog.table.isHidden()
    dialog.texts.setValue(9)
    dialog.measure.click()
    qtbot.waitUntil(lambda: not dialog.busy)
    [request] = measured.requests
    assert (request["model"], request["texts"], request["samples"]) == ("tiny", 9, None)
    assert "12 reached the evidence of a mark" in dialog.sentence.text()
    assert cells(dialog.table) == ["Texts that reach evidence of 6 (log₁₀)", "100 %", "76 to 100 %"]
    assert cells(dialog.table, 5)[0] == "Divergence from “large” (bits a token)"
    assert "90 %" in dialog.rule.text()
    dialog.close()


@pytest.fixture
def editor(stocked) -> Iterator[ProfileEditor]:
    profiles = opening.show_profiles(stocked)
    dialog = profiles.edit(profiles.selected)
    QApplication.processEvents()
    yield dialog
    if isValid(dialog):
        dialog.close()
    profiles.close()


def test_the_profile_as_it_is_and_what_is_typed_is_checked_and_explained_at_once(editor, tbcc):
    assert editor.profile().fingerprint == tbcc.fingerprint
    assert editor.fault.text() == ""
    assert tbcc.fingerprint in editor.fingerprint.text()
    assert editor.save.isEnabled()
    inputs = editor.inputs
    inputs["temperature"].setText("warm")
    assert "“temperature” is not a number" in editor.fault.text()
    assert not editor.save.isEnabled()
    inputs["temperature"].setText("0,3")
    assert editor.fault.text() == ""
    assert "few tokens can carry bits" in editor.odd.text()
    assert "not measured" in editor.length.text()
    assert "another profile than before" in editor.fingerprint.text()
    inputs["name"].setText("")
    assert "A name is needed" in editor.fault.text()
    inputs["name"].setFocus()
    editor.eventFilter(inputs["code"], QFocusEvent(QEvent.Type.FocusIn))
    assert "parity" in editor.about.text()


def test_fields_are_laid_out_and_must_add_up(editor):
    editor.fields._add()
    assert "add up" in editor.fault.text() or "fields" in editor.fault.text()
    bits = editor.inputs["payload_bits"].value()
    table = editor.fields.table
    table.item(0, 1).setText(str(bits - 4))
    kind = {"name": "Kind", "bits": 4, "kind": "enumeration", "values": ["a", "b"]}
    editor.fields.append(kind | {"limits": ["a", ".."]})
    editor.check()
    assert editor.fault.text() == ""
    assert [f.name for f in editor.profile().fields] == ["Field 1", "Kind"]
    assert editor.profile().fields[1].values == ("a", "b")
    assert editor.profile().fields[1].limits == ("a", "..")
    table.item(1, 4).setText("c")
    assert "“c”" in editor.fault.text()
    editor.fields._drop()
    assert editor.fault.text() != ""


def test_a_new_profile_draws_a_number_for_each_answer_unless_the_recipient_is_chosen(stocked):
    profiles = opening.show_profiles(stocked)
    editor = profiles.edit(None)
    editor.inputs["name"].setText("house")
    uses = editor.inputs["payload_use"]
    assert [uses.itemData(row) for row in range(uses.count())] == ["answer", "recipient"]
    assert editor.profile().payload_use == "answer"
    assert "forged" not in editor.odd.text()
    uses.setCurrentIndex(1)
    assert editor.profile().payload_use == "recipient"
    assert "forged from collected answers" in editor.odd.text()
    uses.setCurrentIndex(0)
    editor.fields._add()
    editor.fields.table.item(0, 1).setText(str(editor.inputs["payload_bits"].value()))
    assert "payload_use" in editor.fault.text(), "a random number has no fields"
    editor.close()
    profiles.close()


@pytest.mark.parametrize(
    ("use", "shown"), [("answer", "the register names"), ("recipient", "forged"), (None, "state")]
)
def test_what_the_payloads_of_a_stored_profile_stand_for_is_shown(
    stocked, engine, tbcc, monkeypatch, use, shown
):
    choice = ProfileChoice(name="house", profile=tbcc.with_(payload_use=use))
    found = replace(stocked.session.chosen.catalogue, profiles=(choice,))
    monkeypatch.setattr(engine, "catalogue", lambda: found)
    stocked.session.chosen._catalogued(Done(found))
    profiles = opening.show_profiles(stocked)
    assert shown in profiles.detail.text()
    editor = profiles.edit(choice)
    assert editor.profile().payload_use == use, "opening it changes nothing"
    editor.close()
    profiles.close()


def test_saving_under_the_same_name_replaces_and_under_another_does_not(editor, qtbot):
    saved: list[tuple[str, Profile, bool]] = []
    editor.wanted.disconnect()
    editor.wanted.connect(lambda *asked: saved.append(asked))
    editor.inputs["note"].setText("A note")
    daily = editor.inputs["key_epochs"]
    assert (daily.currentData(), daily.findData("day")) == (None, 1)
    daily.setCurrentIndex(1)
    editor.save.click()
    [(name, profile, replaces)] = saved
    assert (name, replaces) == ("internal", True)
    assert (profile.note, profile.key_epochs) == ("A note", "day")
    editor.inputs["name"].setText("Another")
    editor.save.click()
    assert (saved[1][0], saved[1][2]) == ("Another", False)


VLLM = {"algorithm": "dual_key_gumbel", "key": 2**63 + 11, "context_width": 3, "alpha": 0.2}
SGLANG = {"key": "F00000000000000b", "key_b": "0x2a", "mixing_probability": 0.3}
SYNTHID = {"ngram_len": 5, "keys": [654, -3, 2**40], "sampling_table_size": 1024}
KGW = {"greenlist_ratio": 0.5, "seeding_scheme": "selfhash", "hashing_key": 7, "context_width": 4}


def test_a_mark_by_others_is_typed_or_taken_from_its_settings_file(
    stocked, tmp_path, monkeypatch, qtbot
):
    profile = stocked.session.chosen.profile.profile
    made = Noted(ProfileDone(profile=profile, name="vllm"))
    monkeypatch.setattr(profiles_module, "create_foreign", made)
    profiles = opening.show_profiles(stocked)
    path, wanted = tmp_path / "vllm.json", list[object]()
    for settings in (VLLM, SGLANG, SYNTHID, KGW):
        path.write_text(json.dumps(settings))
        form = profiles.ask_foreign()
        form.wanted.connect(wanted.append)
        assert not form.ok.isEnabled()
        form.take(path)
        qtbot.waitUntil(lambda form=form: form.ok.isEnabled())
        secret = form.inputs["secret"]
        assert secret.echoMode() == QLineEdit.EchoMode.Password
        made.error = ProfileError("profile.foreign-typed")
        form.ok.click()
        qtbot.waitUntil(lambda form=form: not form.trying)
        assert "is not valid" in form.words.text()
        made.error = None
        form.ok.click()
        # It is deleted when it closes, sooner or later; until then it holds no secret.
        qtbot.waitUntil(lambda form=form: not (isValid(form) and form.isVisible()))
        assert not (isValid(secret) and secret.text())
        # What was shown says the same as the file.
        asked = made.requests[-1]
        assert asked["settings"] == read_foreign(path)
        assert (asked["name"], asked["model"]) == ("vllm", "tiny")
        assert asked["key"].label == "Newsroom 2026"
        assert str(settings) not in repr(wanted[-1])
    for scheme, secret, typed in (
        ("gumbel-max", "42", {"algorithm": "gumbel", "key": 42}),
        ("gumbel-max-murmur3", "0x2A 255", SGLANG | {"key": "2a", "key_b": "fF"}),
    ):
        form = profiles.ask_foreign()
        box = form.inputs["scheme"]
        box.setCurrentIndex(box.findData(scheme))
        form.inputs["name"].setText(scheme)
        form.inputs["secret"].setText(secret)
        form.inputs["mixing"].setText("0,3")
        form.ok.click()
        qtbot.waitUntil(lambda scheme=scheme: made.requests[-1]["name"] == scheme)
        assert made.requests[-1]["settings"] == foreign_settings(typed, None)
    profiles.close()


def test_several_profiles_are_tried_at_once_one_of_them_our_own(
    stocked, engine, tbcc, monkeypatch, qtbot
):
    session, header = stocked.session, stocked.header
    theirs = Profile(
        payload_bits=0,
        scheme="gumbel-max",
        vocab_size=tbcc.vocab_size,
        key=engine.key.fingerprint,
        foreign=GumbelMark(sealed="AA=="),
    )
    other = tbcc.with_(temperature=0.9)
    choices = tuple(
        ProfileChoice(name=name, profile=profile)
        for name, profile in (("vllm", theirs), ("internal", tbcc), ("warm", other))
    )
    found = replace(session.chosen.catalogue, profiles=choices)
    monkeypatch.setattr(engine, "catalogue", lambda: found)
    session.chosen.look_around()
    qtbot.waitUntil(lambda: len(session.chosen.catalogue.profiles) == 3)
    tick = {a.text().split("\t")[0]: a for a in header.profile.actions()}
    tick["vllm"].trigger()
    assert [choice.name for choice in session.chosen.profiles] == ["internal", "vllm"]
    tick["warm"].trigger()  # of our own there is one
    assert [choice.name for choice in session.chosen.profiles] == ["warm", "vllm"]
    assert not tick["internal"].isChecked()
    assert header.profile.title() == "Profile: vllm, warm"
    assert session.settings.current.profile == "warm/vllm"
    session.texts.add_text("A text that is tried against two schemes.")
    header.audit.click()
    qtbot.waitUntil(lambda: bool(engine.setups))
    assert (engine.setups[0].profile, engine.setups[0].also) == (other, (theirs,))
    assert pick_profiles(choices, (), "warm/vllm") == session.chosen.profiles


def test_profiles_are_saved_exported_deleted_and_taken_in(stocked, qtbot, paths, tbcc, tmp_path):
    dialog = opening.show_profiles(stocked)

    def settle(words: str) -> None:
        qtbot.waitUntil(lambda: not dialog.busy)
        assert dialog.words.text().startswith(words)

    dialog.save("One", tbcc, False)
    settle("The profile “One” was saved.")
    dialog.hand_out("One", tmp_path / "out.json")
    settle("The profile “One” was exported.")
    dialog.remove("One")
    settle("The profile “One” was deleted.")
    assert list(paths.profiles.glob("*.json")) == []
    dialog.take_in(tmp_path / "out.json")
    settle("The profile “out” was imported.")
    assert Profile.load(paths.profiles / "out.json") == tbcc
    dialog.close()


def test_a_profile_of_an_older_version_says_so(stocked, qtbot, paths, tbcc, tmp_path):
    old = tmp_path / "old.json"
    old.write_text(json.dumps(tbcc.to_dict()))
    dialog = opening.show_profiles(stocked)
    dialog.take_in(old)
    qtbot.waitUntil(lambda: not dialog.busy)
    assert "version 1" in dialog.words.text()
    (paths.profiles / "by-hand.json").write_text(old.read_text())
    found = {row.name: row for row in AuditEngine(paths).catalogue().profiles}
    assert found["old"].notes == ()
    assert found["by-hand"].notes == ("version-1",)
    stocked.session.chosen._catalogued(Done(Inventory(profiles=tuple(found.values()))))
    names = [row.name for row in dialog.rows]
    dialog.table.selectRow(names.index("by-hand"))
    assert "first form (version 1)" in dialog.detail.text()
    dialog.table.selectRow(names.index("old"))
    assert "version 1" not in dialog.detail.text()
    dialog.close()


def test_every_note_has_words_in_the_window():
    for note in NOTES:
        assert note_words([note]) != note_words([note], imported=True)


def test_the_real_engine_tells_whether_a_model_fits(paths, installed_models, qapp):
    lend(installed_models, paths.models)
    found = AuditEngine(paths).catalogue()
    (model,) = found.models
    assert found.rooms[model.name].fits in (True, False)
    assert model.tokenizer_fingerprint


def test_a_long_name_of_a_file_makes_no_dialog_wider_than_the_screen(window, qtbot):
    for kind in (PowerDialog, models_module.FitnessDialog):
        dialog = kind(window.session, "tiny", window)
        dialog.show()
        dialog._use(Path(f"{'Texts_of_the_council_' * 9}v3.jsonl"))
        QApplication.processEvents()
        assert dialog.minimumSizeHint().width() < 1000, kind
        dialog.reject()
