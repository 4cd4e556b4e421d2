"""A stranger's model meets its faults in a child with limits, never here."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import ModelError
from pura.model import folder, trial
from pura.model.device import choose_device
from pura.model.folder import file_hash
from pura.model.load import load_model, load_tokenizer
from pura.model.store import ModelCache, ModelStore
from pura.model.tokenise import decode, tokenise, tokenizer_fingerprint, word_ids

BOMB = r"(a|a)*b|(a+)+$x"


def with_expression(folder: Path, expression: str) -> Path:
    path = folder / "tokenizer.json"
    data = json.loads(path.read_text())
    split = {"Regex": expression}
    bomb = {"type": "Split", "pattern": split, "behavior": "Isolated", "invert": False}
    data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [bomb, data["pre_tokenizer"]]}
    path.write_text(json.dumps(data))
    return folder


@pytest.mark.sampled
def test_an_expression_that_never_ends_is_met_in_the_child(small_folder, tmp_path):
    with_expression(small_folder, BOMB)
    cpu = choose_device("cpu")
    for door in (ModelStore(tmp_path / "store").add, lambda p: ModelCache().get(p, cpu)):
        with pytest.raises(ModelError, check=lambda e: e.key == "model.failed"):
            door(small_folder)


def test_a_panic_of_the_tokenizer_is_an_error_wherever_it_runs(small_folder):
    tokenizer = load_tokenizer(with_expression(small_folder, BOMB))
    assert len(tokenise(tokenizer, "ordinary words")) == 14
    with pytest.raises(ModelError, match="failed on this text"):
        tokenise(tokenizer, "a" * 2000)
    with pytest.raises(ModelError, match="failed on this text"):
        word_ids(tokenizer, ["a" * 2000])

    class Panic(BaseException):
        pass

    class Panicking:
        def __len__(self) -> int:
            return 3

        def __getattr__(self, name: str) -> Any:
            raise Panic(name)

    for ask in (lambda t: decode(t, [1]), tokenizer_fingerprint):
        with pytest.raises(ModelError, match="failed on this text"):
            ask(Panicking())


def test_an_installed_model_whose_settings_changed_is_not_loaded(small_folder, tmp_path):
    model = ModelStore(tmp_path / "store").add(small_folder)
    with_expression(small_folder, "c")
    with pytest.raises(
        ModelError, match=r"tokenizer\.json", check=lambda e: e.code == "model-changed"
    ):
        load_model(model, choose_device("cpu"))


def test_weights_are_hashed_again_only_where_their_file_is_another(
    small_folder, tmp_path, monkeypatch
):
    store = ModelStore(tmp_path / "store")
    own = store.add(small_folder, "own")
    hashed: list[str] = []

    def noted(path: Path, *more: Any) -> str:
        hashed.append(path.name)
        return file_hash(path, *more)

    monkeypatch.setattr(folder, "file_hash", noted)
    device = choose_device("cpu")
    weights = own.path / "model.safetensors"
    load_model(own, device)
    assert weights.name not in hashed  # since it came
    os.utime(weights, ns=(1, 1))
    for times in (1, 1):  # the second load knows it
        load_model(own, device)
        assert hashed.count(weights.name) == times
    size = weights.stat().st_size
    with weights.open("r+b") as file:
        file.seek(size - 1)
        last = file.read(1)
        file.seek(size - 1)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(ModelError, match=r"model\.safetensors") as told:
        load_model(own, device)
    assert told.value.code == "model-changed"
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        store.verify("own")
    (own.path / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        load_model(own, device)


@pytest.mark.parametrize(
    ("fault", "key", "seconds"),
    [
        ("import os; os.abort()", "model.rehearsal", 60),
        ("print('{')", "model.rehearsal", 60),
        ("import time; time.sleep(600)", "model.rehearsal", 1),
        ("import sys; sys.exit(77)", "model.rehearsal-start", 60),
    ],
)
def test_a_child_that_fails_is_one_error(small_folder, monkeypatch, fault, key, seconds):
    def child(_: str) -> Any:
        pipe = subprocess.PIPE
        command = [sys.executable, "-S", "-c", fault]
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
        )

    monkeypatch.setattr(trial, "start_child", child)
    monkeypatch.setattr(trial, "START_SECONDS", seconds)
    (small_folder / "other").touch()  # another folder than any that was rehearsed
    with pytest.raises(ModelError, check=lambda e: e.key == key):
        trial.load_on_trial(small_folder)


def test_a_gguf_file_stands_alone_where_the_system_refuses_links(tmp_path, monkeypatch):
    # Windows lets only developers and administrators make symbolic links; other disks, no names.
    def refused(*_: Any) -> None:
        raise OSError(1314, "A required privilege is not held by the client")

    source = tmp_path / "whole.gguf"
    source.write_bytes(b"GGUF and more")
    for known in ("symlink_to", "hardlink_to", None):
        folder = tmp_path / str(known)
        folder.mkdir()
        name = trial.linked_alone(source, folder)
        assert (name.is_symlink(), name.stat().st_nlink) == {
            "symlink_to": (True, 1),
            "hardlink_to": (False, 2),
            None: (False, 1),
        }[known]
        assert list(folder.iterdir()) == [name]
        assert name.read_bytes() == b"GGUF and more"
        name.unlink()
        if known:
            monkeypatch.setattr(Path, known, refused)
