"""Custody of models: resumed copies, hashes on demand, room in memory, one model at a time."""

import gc
import json
import os
import shutil
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.core.programs import python
from tests.core.stops import stop, stop_after

from pura.base.errors import Cancelled, ModelError
from pura.base.paths import user_paths
from pura.model import device, folder
from pura.model.device import Device, free_memory, memory_need
from pura.model.folder import cache_for, copied_bytes, copy_files, sweep
from pura.model.store import ModelCache, ModelStore
from pura.scheme import Profile
from pura.usecases.environment import Environment


@pytest.fixture
def shop(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "store")


def silent(*_: int) -> None:
    return None


# Copies


@pytest.fixture
def interrupted(
    tmp_path: Path, small_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """A file of weights, and the folder of its copy, which was stopped after five blocks."""
    file, cache = small_folder / "model.safetensors", cache_for(tmp_path, small_folder, "x")
    monkeypatch.setattr(folder, "_BLOCK", 1 << 10)
    with pytest.raises(Cancelled):
        copy_files([file], cache, silent, stop_after(5))
    return file, cache


def test_an_interrupted_copy_goes_on_in_the_middle_of_a_file(interrupted):
    file, cache = interrupted
    assert copied_bytes(cache, [file]) == 5 << 10
    said: list[tuple[int, int]] = []
    made = copy_files([file], cache, lambda *n: said.append(n), lambda: None)
    size = file.stat().st_size
    assert said[0] == (5 << 10, size)
    assert said[-1] == (size, size)
    assert (made / file.name).read_bytes() == file.read_bytes()


def test_a_source_that_changed_is_copied_afresh(interrupted):
    file, cache = interrupted
    data = b"new!" + file.read_bytes()[4:]
    file.write_bytes(data)
    assert copied_bytes(cache, [file]) == 0
    made = copy_files([file], cache, silent, lambda: None)
    assert (made / file.name).read_bytes() == data


def test_a_taken_over_part_that_differs_is_found(interrupted):
    file, cache = interrupted
    with (cache / "model" / file.name).open("r+b") as part:
        part.write(b"oops")
    with pytest.raises(ModelError, match="writing to this model folder"):
        copy_files([file], cache, silent, lambda: None)
    assert not cache.exists()


def test_forgotten_copies_are_swept_after_a_week(tmp_path, interrupted):
    _, cache = interrupted
    now = cache.stat().st_mtime
    sweep(tmp_path, now + 6 * 86_400)
    assert cache.exists()
    sweep(tmp_path, now + 8 * 86_400)
    assert not cache.exists()


# Hashes on demand


@pytest.mark.parametrize("copy", [True, False])
def test_a_sound_model_passes_the_check(shop, small_folder, copy):
    shop.add(small_folder, copy=copy)
    said: list[tuple[int, int]] = []
    model = shop.verify("small", lambda *n: said.append(n))
    assert model.name == "small"
    assert said[-1][0] == said[-1][1] == len(model.files)


@pytest.mark.parametrize(
    ("harm", "word"),
    [
        (lambda f: flip(f / "model.safetensors"), "changed: model.safetensors"),
        (lambda f: flip(f / "tokenizer.json", at=-2, to=b" "), "changed: tokenizer.json"),
        (lambda f: (f / "generation_config.json").unlink(), "missing: generation_config.json"),
        (lambda f: (f / "added_tokens.json").write_text("{}"), "new: added_tokens.json"),
        (lambda f: (f / "x.pkl").write_bytes(b"x"), "run code"),
        (lambda f: (f / "modeling.py").write_text("x"), "run code"),
    ],
)
def test_every_change_of_a_model_is_found_and_named(shop, small_folder, harm, word):
    shop.add(small_folder)
    harm(small_folder)
    with pytest.raises(ModelError, match=word):
        shop.verify("small")


def flip(path: Path, at: int = -1, to: bytes | None = None) -> None:
    data = bytearray(path.read_bytes())
    data[at] = to[0] if to else data[at] ^ 1
    path.write_bytes(data)


def test_a_check_can_be_stopped(shop, small_folder):
    shop.add(small_folder)

    with pytest.raises(Cancelled):
        shop.verify("small", checkpoint=stop)


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(shop, small_folder, cpu):
    """The wrong tokenizer: its ids would point past the model's last row."""
    from pura.model.load import load_model

    tokenizer = json.loads((small_folder / "tokenizer.json").read_text())
    size = len(tokenizer["model"]["vocab"])
    tokenizer["model"]["vocab"] |= {f"word{i}": size + i for i in range(64)}
    (small_folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelError, match="the model only"):
        load_model(small_folder, cpu)
    with pytest.raises(ModelError, match="do not belong together"):
        shop.add(small_folder)
    assert shop.list() == ()


# Memory


def test_whether_a_model_fits_is_said_with_the_numbers():
    good = memory_need(135_000_000, free=8_000_000_000)
    assert good.fits
    assert "135,000,000 parameters as float32" in good.words("en")
    bad = memory_need(7_000_000_000, free=8_000_000_000)
    assert bad.fits is False
    assert "but only 8.0 GB" in bad.words("en")
    gpu = memory_need(7_000_000_000, free=8_000_000_000, place="gpu")
    assert "aber nur 8.0 GB Speicher der Grafikkarte" in gpu.words("de")
    half = memory_need(7_000_000_000, "bfloat16", free=None)
    assert half.fits is None
    assert half.need_bytes - device.WORKING_BYTES == pytest.approx(
        (bad.need_bytes - device.WORKING_BYTES) / 2, abs=1
    )


def test_free_memory_is_a_number_of_this_machine():
    free = free_memory()
    assert free is not None
    assert 1 << 24 < free < 1 << 50


def test_a_container_may_get_less(tmp_path):
    table = tmp_path / "meminfo"
    table.write_text("MemTotal: 9 kB\nMemAvailable:  1000 kB\n")
    assert device._linux(table, tmp_path) == 1_024_000
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    assert device._linux(table, tmp_path) == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert device._linux(table, tmp_path) == 1_024_000


def test_a_model_is_loaded_once_for_a_device_and_format(shop, small_folder, cpu):
    loaded: list[tuple[Any, Device]] = []

    def load(source: Any, device: Device) -> Any:
        assert held.name is None, "two models in memory at once"
        loaded.append((source, device))
        return type("Model", (), {"name": source.name})()

    held = ModelCache(load)
    one, two = shop.add(small_folder, "one"), shop.add(small_folder, "two")
    assert held.get(one, cpu) is held.get(one, cpu)
    held.get(one, replace(cpu, dtype="bfloat16"))
    held.get(two, cpu)
    assert held.name == "two"
    held.get(one, cpu)
    assert len(loaded) == 4
    held.drop()
    assert held.name is None


_SWITCH = """
import os, sys
from pathlib import Path
from pura.model import libraries
libraries.prepare()
from pura.model.device import choose_device
from pura.model.store import ModelCache
from pura.model.store import ModelStore
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
held, cpu = ModelCache(), choose_device("cpu")
small = ModelStore(Path(sys.argv[1])).get("small")
large = ModelStore(Path(sys.argv[2])).get("smollm2-135m")
held.get(small, cpu)
before = resident()
weights = sum(p.numel() * 4 for p in held.get(large, cpu).network.parameters())
for p in held.get(large, cpu).network.parameters():
    p.data = p.data.clone()  # out of the mapped file, as on a device of its own
during = resident()
held.get(small, cpu)
print(before, during, resident(), weights)
"""


@pytest.mark.sampled
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_switching_models_frees_the_memory_of_the_first(shop, small_folder, installed_models):
    shop.add(small_folder)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    said = python(_SWITCH, shop.folder, installed_models, env=environment)
    before, during, after, weights = map(int, said.split())
    assert during - before > 0.8 * weights
    assert after - before < 0.25 * weights


def test_a_model_that_refers_to_itself_is_gone_after_it_was_dropped(shop, small_folder, cpu):
    """Loading sets what it brought apart from the garbage collector; dropping looks again."""

    class Knot:
        def __init__(self, name: str) -> None:
            self.name, self.me = name, self

    def load(source: Any, _device: Device) -> Any:
        assert gc.get_threshold()[0] == 0
        if source.name == "two":
            raise ModelError("name.none")
        return Knot(source.name)

    held = ModelCache(load)
    one, two = shop.add(small_folder, "one"), shop.add(small_folder, "two")
    seen = weakref.ref(held.get(one, cpu))
    assert gc.get_threshold()[0]
    assert gc.get_freeze_count()
    with pytest.raises(ModelError):
        held.get(two, cpu)
    assert gc.get_threshold()[0]
    assert seen() is None
    assert held.name is None
    held.get(one, cpu)
    held.drop()
    assert gc.get_freeze_count() == 0


def test_the_model_that_the_profile_names_is_taken(small_folder, tmp_path):
    at = Environment(
        paths=user_paths(), device="cpu", held=ModelCache(lambda source, _device: source)
    )
    other = Path(shutil.copytree(small_folder, tmp_path / "other"))
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 32}))
    one, two = at.models.add(small_folder, "one"), at.models.add(other, "two")
    profile = Profile(payload_bits=36, code="tbcc", vocab_size=97)
    for model in (one, two):
        assert at.model(profile=profile.with_(model=model.fingerprint)).name == model.name
    assert at.model("one", profile=profile.with_(model=two.fingerprint)).name == "one"
    for names_none in (profile, profile.with_(model="0" * 16), None):
        with pytest.raises(ModelError, check=lambda e: e.code == "model-ambiguous"):
            at.model(profile=names_none)
