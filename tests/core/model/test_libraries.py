"""Torch and transformers are imported offline; the device is chosen in words."""

import os
import platform

import pytest
import torch
from tests.core.programs import python

from pura.base.errors import DeviceError
from pura.model import libraries
from pura.model.device import choose_device


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _n: "Test GPU")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu():
    device = choose_device()
    assert (device.kind, device.dtype) == ("cpu", "float32")
    assert device.torch_device == torch.device("cpu")
    assert device.torch_dtype == torch.float32
    assert device.name
    assert device.reason in ("device.no-build", "device.no-driver")
    assert choose_device("cpu").reason == "device.asked-cpu"
    for kind in ("cuda", "mps"):
        with pytest.raises(DeviceError) as caught:
            choose_device(kind)
        assert "auto" in caught.value.hint
        assert any(cause in str(caught.value) for cause in ("GPU support.", "or driver.", "none."))


@pytest.mark.usefixtures("no_gpu")
def test_sixteen_bits_need_a_gpu_or_a_processor_that_has_them(monkeypatch):
    for known in ({"avx2"}, {"avx2", "amx_bf16"}):
        monkeypatch.setattr("pura.model.device.instructions", lambda known=known: known)
        for request in ("auto", "cpu"):
            with pytest.raises(DeviceError, match="float16"):
                choose_device(request, "float16")
            if "amx_bf16" in known:
                assert choose_device(request, "bfloat16").torch_dtype == torch.bfloat16
                continue
            with pytest.raises(DeviceError, match="bfloat16"):
                choose_device(request, "bfloat16")


@pytest.mark.usefixtures("cuda")
def test_with_cuda():
    device = choose_device("auto", "bfloat16")
    assert (device.kind, device.name, device.dtype) == ("cuda", "Test GPU", "bfloat16")
    assert device.torch_dtype == torch.bfloat16
    assert choose_device("cuda").reason != device.reason
    assert choose_device("cpu").kind == "cpu"
    with pytest.raises(DeviceError):
        choose_device("mps")


def test_with_an_apple_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device().kind == choose_device("mps", "float16").kind == "mps"


def test_unknown_words_are_refused():
    with pytest.raises(DeviceError, match="'tpu'"):
        choose_device("tpu")
    with pytest.raises(DeviceError, match="'int4'"):
        choose_device("cpu", "int4")


def test_offline_switches_stand_before_torch_and_win_over_the_shell():
    code = (
        "import os, sys; from pura.model import libraries, load, store, evidence, tokenise; "
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules; "
        "libraries.prepare(); import huggingface_hub.constants as c; "
        "print(c.HF_HUB_OFFLINE, os.environ['OMP_WAIT_POLICY'], "
        "os.environ['HF_HUB_DISABLE_TELEMETRY'])"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "0", "OMP_WAIT_POLICY": "ACTIVE"}
    assert python(code, env=environment).split() == ["True", "ACTIVE", "1"]


def test_prepare_turns_a_hub_that_was_imported_before(monkeypatch):
    import huggingface_hub.constants as constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    libraries.prepare()
    assert constants.HF_HUB_OFFLINE is True


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_a_layer_gets_the_memory_of_the_last_one(real_model, monkeypatch):
    resource = pytest.importorskip("resource")
    decoder, rows = real_model.network.model, 2048
    monkeypatch.setattr(decoder, "layers", decoder.layers[:4])

    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        with torch.inference_mode():
            decoder(torch.arange(rows)[None] + 300)
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

    assert min(faults() for _ in range(4)) < rows  # pages that the system cleared; else 16 a row
