"""Torch and transformers are imported offline and in part; the device is chosen in words."""

import json
import os

import pytest
import torch
from tests.core.programs import python

from pura.base.errors import DeviceError
from pura.model import libraries
from pura.model.device import choose_device
from pura.model.load import load_model

_CHILD = """
import json, sys
from pathlib import Path
from pura.model import libraries
from pura.model.device import choose_device
libraries.allow()
from pura.model.load import load_model
model = load_model(Path(sys.argv[1]), choose_device("cpu"))
import torch
heavy = ("torch._dynamo", "torch._meta_registrations", "sympy", "scipy", "transformers.loss")
loaded = [name for name in heavy if name in sys.modules]
with torch.inference_mode():
    logits = model.network(torch.arange(9)[None]).logits[0].tolist()

def shape():
    libraries.complete()
    return torch.linalg.svdvals(torch.ones(3, 2, device="meta")).shape

import transformers
from transformers import conversion_mapping
from transformers.utils import direct_transformers_import
print(json.dumps({
    "loaded": loaded,
    "logits": logits,
    "kind": type(model.network).__name__,
    "weights": sorted(name for name, _ in model.network.named_parameters()),
    "whole": transformers.AutoConfig.from_pretrained(sys.argv[1]).model_type,
    "template": transformers.LlamaConfig().model_type,
    "back": [torch.distributed.is_available(), torch.compiler.disable.__module__,
             torch.arange.__module__, direct_transformers_import.__name__],
    "dynamo": bool(torch._dynamo.utils),
    "names": conversion_mapping.get_checkpoint_conversion_mapping("mixtral") is not None,
    "shape": list(shape()),
    "linear": float(torch.nn.Linear(2, 2).weight.detach().abs().sum()) > 0,
}))
"""


@pytest.mark.sampled
@pytest.mark.slow
def test_a_lean_network_is_the_same_network(small_folder):
    found = json.loads(python(_CHILD, small_folder))
    model = load_model(small_folder, choose_device("cpu"))
    with torch.inference_mode():
        logits = model.network(torch.arange(9)[None]).logits[0].tolist()
    assert found["loaded"] == []
    assert found["logits"] == logits
    assert found["kind"] == type(model.network).__name__
    assert found["weights"] == sorted(name for name, _ in model.network.named_parameters())
    # What was left out is there for whoever asks, and nothing stays replaced.
    assert (found["whole"], found["template"]) == ("llama", "llama")
    own = [torch.distributed.is_available(), torch.compiler.disable.__module__]
    assert found["back"] == [*own, torch.arange.__module__, "direct_transformers_import"]
    assert found["dynamo"]
    assert found["linear"]
    assert found["names"]
    assert found["shape"] == [2]


def test_what_rests_on_the_shapes_runs_once_though_they_are_brought_when_it_is_asked_for():
    """A tokenizer that only the library knows brings all of it before a network is asked for."""
    lines = (
        "from pura.model import libraries; libraries.allow(); libraries.import_torch()",
        "import torch._prims, sys",
        "own = torch._prims.__spec__.loader",
        "print('torch._meta_registrations' in sys.modules, type(own).__name__)",
    )
    assert python("\n".join(lines)).split() == ["True", "SourceFileLoader"]


def test_a_process_that_is_not_ours_gets_the_whole_library():
    assert libraries.network_class("llama") is None


def test_every_class_is_one_of_the_library():
    from transformers import AutoConfig, AutoModelForCausalLM

    for model_type, name in libraries.CLASSES.items():
        mapped = AutoModelForCausalLM._model_mapping[type(AutoConfig.for_model(model_type))]
        assert mapped.__name__ == name, model_type


def test_no_class_has_weights_that_are_named_otherwise():
    from transformers import AutoConfig, AutoModel
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    for model_type, name in libraries.CLASSES.items():
        inner = AutoModel._model_mapping[type(AutoConfig.for_model(model_type))].__name__
        for known in (model_type, name, inner):
            assert get_checkpoint_conversion_mapping(known) is None, known


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
