"""Keys, profiles, the register and models at the desk: the same for the command and the window."""

import json
import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.core.base.test_locks import at_once
from tests.core.programs import lend
from tests.core.stops import stop

from pura.base.errors import (
    Cancelled,
    InputError,
    KeyFormatError,
    KeyStoreError,
    ModelError,
    ProfileError,
    PuraError,
    RegisterError,
)
from pura.base.paths import user_paths
from pura.base.progress import Stage
from pura.detect.verdict.policy import Policy, default_policy, load_policy
from pura.keys import KeyFile, KeyRef, Place, Secret, SessionKeys, write_key_file
from pura.model.store import ModelStore
from pura.register.rows import Issue, Recipient
from pura.register.store import Register
from pura.register.under import IssuedUnder
from pura.scheme import Payload, PayloadSeries, Profile, SecretKey
from pura.usecases import keys, models, profiles, registers
from pura.usecases.environment import Environment

WORDS = b"four words in a row"


def words() -> Secret:
    return Secret(bytearray(WORDS))


def test_a_key_is_made_renamed_exported_deleted_and_taken_in_again(at, tmp_path):
    made = keys.create_key(at, name="Newsroom", note="first")
    assert made.keyring == "", "it lies in an encrypted file"
    renamed = keys.rename_key(at, name="Newsroom", new="Desk")
    assert renamed.key == KeyRef(fingerprint=made.key.fingerprint, label="Desk")
    passphrase = words()
    path = tmp_path / "desk.purakey"
    keys.export_key(at, name="Desk", passphrase=passphrase, path=path)
    assert passphrase.copy() == b"", "the passphrase is overwritten when it has been used"
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "file-exists"):
        keys.export_key(at, name="Desk", passphrase=words(), path=path)
    assert keys.delete_key(at, name="Desk").key == renamed.key
    with pytest.raises(KeyFormatError, check=lambda e: e.code == "key-file-passphrase"):
        keys.import_key(at, source=path)
    back = keys.import_key(at, source=path, passphrase=words())
    assert (back.key, back.entry and back.entry.note) == (renamed.key, "first")


def test_a_typed_key_comes_again_only_where_it_needs_another_passphrase(at):
    file = write_key_file(KeyFile(key=SecretKey.generate(), name="Typed"), bytearray(WORDS))
    typed = Secret(bytearray(file))
    for passphrase in (None, Secret(bytearray(b"four words in a raw"))):
        with pytest.raises(KeyFormatError):
            keys.import_key(at, source=typed, passphrase=passphrase)
        assert typed.copy() == file
    keys.import_key(at, source=typed, passphrase=words())
    assert typed.copy() == b""
    wrong = Secret(bytearray(b"no key"))
    with pytest.raises(KeyFormatError):
        keys.import_key(at, source=wrong)
    assert wrong.copy() == b""


def test_a_key_of_this_run_is_renamed_used_and_forgotten(at):
    made = keys.create_key(at, name="Today", session=True)
    assert made.entry is None
    assert at.keys.list() == ()
    with at.opened_keys([made.key, made.key]) as opened:
        [(key, label)] = opened
        assert (key.fingerprint, label) == (made.key.fingerprint, "Today")
    again = keys.rename_key(at, name="Today", new="Now")
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-exists"):
        keys.create_key(at, name="Now", session=True)
    keys.delete_key(at, name="Now")
    with pytest.raises(KeyFormatError, match="wiped"):
        key.to_hex()
    with pytest.raises(KeyStoreError), at.opened_keys([again.key]):
        pass


def test_fetched_keys_are_wiped_and_those_of_the_run_are_not(at):
    stored = keys.create_key(at, name="Stored").key
    session = at.session_keys.add(SecretKey.generate(), "Session")
    with at.opened_keys([stored, session]) as opened:
        fetched, kept = (key for key, _ in opened)
    with pytest.raises(KeyFormatError, match="wiped"):
        fetched.to_hex()
    assert kept.to_hex()


def test_a_profile_is_made_in_one_way_under_a_lock(at, tmp_path):
    done = profiles.create_profile(at, name="News:2026", bits=24)
    assert done.name == "News-2026"
    stored = at.profiles.get("News-2026")
    [model] = at.models.list()
    assert (stored.payload_bits, stored.code, stored.model) == (24, "tbcc", model.fingerprint)
    with pytest.raises(ProfileError, check=lambda e: e.code == "file-exists"):
        profiles.create_profile(at, name="News:2026")
    output = tmp_path / "taken.json"
    output.write_text("mine")
    with pytest.raises(ProfileError):
        profiles.create_profile(at, name="Other", output=output)
    assert output.read_text() == "mine"
    assert at.profiles.names() == ("News-2026",), "nothing is half done"


def test_two_programs_that_make_one_profile_at_once_make_one(at):
    start = threading.Barrier(4)

    def make(bits: int) -> None:
        start.wait()
        profiles.create_profile(at, name="One", bits=bits, vocab_size=49152)

    outcomes = at_once(*(partial(make, 24 + i) for i in range(4)))
    assert sorted(map(str, outcomes)) == ["None"] + ["file-exists"] * 3


def test_a_folder_that_cannot_be_written_is_an_error_in_words(at):
    at.paths.profiles.parent.mkdir(parents=True, exist_ok=True)
    at.paths.profiles.write_text("a file where the folder should be")
    with pytest.raises(ProfileError, match="cannot be written"):
        profiles.create_profile(at, name="One", vocab_size=49152)


def test_a_register_is_filled_read_and_let_go_of(at, tmp_path, monkeypatch):
    opened: list[Register] = []
    usual = Register.__init__

    def noted(self: Register, *args: Any, **options: Any) -> None:
        usual(self, *args, **options)
        opened.append(self)

    monkeypatch.setattr(Register, "__init__", noted)
    profile = Profile(payload_bits=9, code="tbcc", vocab_size=49152)
    series = PayloadSeries(key="a" * 16, profile=profile.fingerprint)
    under = IssuedUnder(profile=profile, key=series.key)
    table = tmp_path / "issued.csv"
    table.write_text("payload,who\n000000001,A\n000000010,B\n")
    assert registers.import_register(at, path=table, under=under)[:2] == (2, 2)
    mark = series.mark(Payload(text="111111111"))
    registers.add_issue(at, mark=mark, profile=profile, recipient=Recipient(who="C"))
    answer = registers.look_up(at, mark=series.mark(Payload(text="000000010")))
    assert answer.entry.issue.who == "B"
    with registers.open_register(at, must_exist=True) as lent, pytest.raises(RegisterError):
        lent.add(Issue(payload=Payload(text="010101010"), series=series, who="C"))
    assert len(opened) == 4
    for one in opened:
        with pytest.raises(PuraError):
            len(one)  # closed


def test_a_register_that_is_not_there_is_asked_for_only_by_name(at):
    with registers.open_register(at, must_exist=False) as nothing:
        assert nothing is None
    with pytest.raises(RegisterError) as caught, registers.open_register(at, must_exist=True):
        pass
    assert caught.value.code == "register-missing"


def test_a_model_is_held_once_and_let_go_before_it_is_checked(at):
    first = at.model("small")
    assert at.model() is first
    told: list[Stage] = []
    done = models.recheck_model(at, name="small", progress=told.append)
    assert at.held.name is None
    assert {stage.name for stage in told} == {"check"}
    assert "model.safetensors" in done.files


def test_work_on_a_model_stops_when_it_is_asked_to(at):

    with pytest.raises(Cancelled):
        models.recheck_model(at, name="small", checkpoint=stop)
    with pytest.raises(ModelError, check=lambda e: e.code == "model-unknown"):
        models.install_model(at, name="other")


def test_session_keys_never_print():
    key = SecretKey.generate()
    assert key.to_hex() not in repr(SessionKeys({"A": key})) + repr(words())


def test_the_licence_that_is_said_stands_in_the_record(small_models):
    (built_in,) = ModelStore(small_models).list()
    own = Environment(paths=user_paths())  # the installed ones are shared by all tests
    models.add_model(own, path=built_in.path, name="mine", licence="CC-BY-4.0")
    assert own.models.get("mine").licence == "CC-BY-4.0"


def test_fitness_is_measured_on_texts_that_are_made_on_the_spot(
    small_models, small_samples, sample_key
):
    lend(small_models, user_paths().models)
    keys = SessionKeys({"Test": sample_key})
    here = Environment(paths=user_paths(), device="cpu", session_keys=keys)
    steps: list[str] = []
    measured = models.measure_fitness(
        here,
        model="small",
        texts=1,
        tokens=40,
        key=KeyRef(fingerprint=sample_key.fingerprint, label="Test"),
        profile=Profile.from_dict(small_samples["marked-tbcc"]["profile"]),
        progress=lambda stage: steps.append(stage.name),
    )
    assert measured.made_here
    assert len(measured.results) == 1
    assert {"model", "texts", "fitness"} <= set(steps)


def test_a_team_bundle_brings_a_colleague_everything_and_nothing_twice(at, tmp_path):
    profile = Profile(payload_bits=12, code="tbcc", vocab_size=1000)
    name = profiles.save_profile(at, name="House", profile=profile).name
    made = keys.create_key(at, name="Newsroom")
    series = PayloadSeries(key=made.key.fingerprint, profile=profile.fingerprint)
    mark = series.mark(Payload(text="01" * 6))
    for one, who in ((mark, "A"), (replace(mark, key="c" * 16), "a customer of another key")):
        registers.add_issue(at, mark=one, profile=profile, recipient=Recipient(who=who))
    policy = Policy.from_dict(default_policy().to_dict() | {"name": "house", "version": 3})
    policy.save(at.paths.policy)
    path = tmp_path / "team.purateam"
    shown = keys.create_bundle(at, key="Newsroom", profile="House", passphrase=words(), path=path)
    assert shown.key_fingerprint == made.key.fingerprint
    assert (shown.profile, shown.profile_fingerprint) == (name, profile.fingerprint)
    assert (shown.policy, shown.register_rows) == ("house/3", 1)
    for secret in (b"Newsroom", b"House", profile.fingerprint.encode(), b"0101"):
        assert secret not in path.read_bytes()
    with pytest.raises(KeyFormatError, check=lambda e: e.code == "key-file-passphrase"):
        keys.open_bundle(path, Secret(bytearray(b"another passphrase")))
    damaged = tmp_path / "damaged.purateam"
    whole = json.loads(path.read_bytes())
    damaged.write_text(json.dumps(whole | {"content": whole["content"][:-8] + "AAAAAAA="}))
    with pytest.raises(InputError, check=lambda e: e.code == "bundle-damaged"):
        keys.open_bundle(damaged, words())

    paths = user_paths(tmp_path / "colleague")
    there = Environment(paths=paths, device="cpu", ask_folder=lambda _new: bytearray(WORDS))
    for _ in range(2):  # the second time everything is here, and nothing changes
        assert keys.take_bundle(there, path=path, passphrase=words(), place=Place.FILES) == shown
        assert [entry.fingerprint for entry in there.keys.list()] == [made.key.fingerprint]
        assert there.profiles.get("House") == profile
        assert registers.look_up(there, mark=mark).entry.issue.who == "A"
        # What was issued under other keys stays where it is.
        assert registers.look_up(there, mark=replace(mark, key="c" * 16)).entry is None
        assert load_policy(paths.policy) == policy
    default_policy().save(paths.policy)
    with pytest.raises(InputError, check=lambda e: e.code == "policy-here"):
        keys.take_bundle(there, path=path, passphrase=words())
