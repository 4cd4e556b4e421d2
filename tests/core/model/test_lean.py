"""A network imported without the rest of transformers reads like any other, and breaks nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from pura.model import libraries
from pura.model.device import choose_device
from pura.model.load import load_model

_CHILD = """
import json, sys
from pathlib import Path
from pura.model import libraries
from pura.model.device import choose_device
lean.allow()
from pura.model.load import load_model
model = load_model(Path(sys.argv[1]), choose_device("cpu"))
import torch
heavy = ("torch._dynamo", "torch._meta_registrations", "sympy", "scipy", "transformers.loss")
loaded = [name for name in heavy if name in sys.modules]
with torch.inference_mode():
    logits = model.network(torch.arange(9)[None]).logits[0].tolist()

def shape():
    lean.complete()
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


@pytest.mark.slow
def test_a_lean_network_is_the_same_network(small_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(small_folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
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


def test_what_rests_on_the_shapes_runs_once_though_they_are_brought_when_it_is_asked_for() -> None:
    """A tokenizer that only the library knows brings all of it before a network is asked for."""
    lines = (
        "from pura.model import libraries; libraries.allow(); libraries.import_torch()",
        "import torch._prims, sys",
        "own = torch._prims.__spec__.loader",
        "print('torch._meta_registrations' in sys.modules, type(own).__name__)",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "SourceFileLoader"]


def test_a_process_that_is_not_ours_gets_the_whole_library() -> None:
    assert libraries.network_class("llama") is None


def test_every_class_is_one_of_the_library() -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    for model_type, name in libraries.CLASSES.items():
        mapped = AutoModelForCausalLM._model_mapping[type(AutoConfig.for_model(model_type))]
        assert mapped.__name__ == name, model_type


def test_no_class_has_weights_that_are_named_otherwise() -> None:
    from transformers import AutoConfig, AutoModel
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    for model_type, name in libraries.CLASSES.items():
        inner = AutoModel._model_mapping[type(AutoConfig.for_model(model_type))].__name__
        for known in (model_type, name, inner):
            assert get_checkpoint_conversion_mapping(known) is None, known
