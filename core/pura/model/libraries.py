"""How torch and transformers are imported: offline, and without what reading never touches.

The libraries that load models reach for a network by default, so they are told not to, in the one
way that they all honour: the environment, before their import (:func:`prepare`).

``import transformers`` reads the source of every model it knows, and one network of it brings the
compiler of torch, its distributed tensors, SciPy's optimisers and SymPy: three times what torch
itself costs, for parts that reading a text never touches; torch itself writes down at every start
what shape comes out of each operation, for the compiler. Whoever owns the process, as the command
does, may ask for less (:func:`import_torch`, :func:`network_class`); a library inside another
program never does.

What is left out is not lost: the packages are entered without running their own first lines, which
run when somebody asks them for a name; torch's modules are replaced for the length of the import
only. Where a version of the libraries needs more than this leaves, everything is taken back and
the plain import does it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

# The networks that are taken straight from their own module; any other comes by the library's
# own table, which has to be complete to be asked.
CLASSES: Final = {
    "gemma2": "Gemma2ForCausalLM",
    "gemma3_text": "Gemma3ForCausalLM",
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "olmo2": "Olmo2ForCausalLM",
    "phi3": "Phi3ForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "smollm3": "SmolLM3ForCausalLM",
}
_HOMES: Final = {"gemma3_text": "gemma3"}
_NAMES: Final = "_checkpoint_conversion_mapping_cache"
_SHAPES: Final = "torch._meta_registrations"
_RESTS: Final = frozenset(
    f"torch.{name}" for name in ("_dynamo", "_inductor", "_prims", "_refs", "_decomp")
)
_allowed: list[bool] = []


def allow() -> None:
    """Allow it for this process, which is ours alone."""
    _allowed[:] = [True]


def import_torch() -> None:
    """Import torch; where it is allowed, without the shapes of operations that nobody computes."""
    if not _allowed or "torch" in sys.modules:
        importlib.import_module("torch")
        return
    _stand_in(_SHAPES, __getattr__=_shape)
    with _uncollected():
        torch = importlib.import_module("torch")
    if "__getattr__" in vars(sys.modules[_SHAPES]):
        del sys.modules[_SHAPES]
    vars(torch).pop(_SHAPES.rpartition(".")[2], None)
    sys.meta_path.insert(0, _Watch())


def complete() -> None:
    """Import what :func:`import_torch` left out: on a device, and for networks of any kind."""
    importlib.import_module(_SHAPES)


class _Watch(MetaPathFinder):
    """Brings the shapes before anything of torch is imported that rests on them."""

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Find nothing itself, but what came with the shapes: its lines may not run twice."""
        if fullname not in _RESTS:
            return None
        sys.meta_path.remove(self)
        complete()
        came = sys.modules.get(fullname)
        if came is None or came.__spec__ is None:
            return None
        # Whoever asked gets this specification, whatever is returned here.
        came.__spec__.loader = _There(came, came.__spec__.loader)
        return came.__spec__


class _There(Loader):
    """Gives a module that is there already, once."""

    def __init__(self, module: ModuleType, loader: Any) -> None:
        self._module, self._loader = module, loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return it."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Leave it as it is, with the loader that it came with."""
        assert module.__spec__ is not None
        module.__spec__.loader = self._loader


def _shape(name: str) -> Any:
    """Stand for a name of torch's module of shapes, which is imported if anybody asks."""
    if name.startswith("__"):
        raise AttributeError(name)
    del sys.modules[_SHAPES]
    return getattr(importlib.import_module(_SHAPES), name)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no circles among objects meanwhile: what an import makes stays."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def network_class(model_type: object) -> Any | None:
    """Return the class of a network, or None where the library has to find it.

    Args:
        model_type: As a config names it.
    """
    if not _allowed or model_type not in CLASSES:
        return None
    home = _HOMES.get(str(model_type), str(model_type))
    name = f"transformers.models.{home}.modeling_{home}"
    if "transformers" not in sys.modules:
        before = set(sys.modules)
        try:
            with _uncollected(), _less():
                importlib.import_module(name)
        except Exception:  # another version: what it brings is not known here
            _take_back(before)
            return None
    return getattr(importlib.import_module(name), CLASSES[str(model_type)])


class _Bare(ModuleType):
    """A package that was entered without running its own first lines; they run when asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        inner = f"{self.__name__}.{name}"
        if importlib.util.find_spec(inner) is not None:
            return importlib.import_module(inner)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
            importlib.import_module(self.__name__)
        return getattr(sys.modules[self.__name__], name)


class TransformGetItemToIndex:
    """Stands for torch's class of this name and asks it when it is used."""

    def __init__(self) -> None:
        self._torch: Any = None

    def __enter__(self) -> Any:
        from torch._dynamo import _trace_wrapped_higher_order_op as home

        self._torch = home.TransformGetItemToIndex()
        return self._torch.__enter__()

    def __exit__(self, *error: object) -> Any:
        return self._torch.__exit__(*error)


@contextlib.contextmanager
def _less() -> Iterator[None]:
    """Keep away, while transformers is imported, what a network needs for training or compiling."""
    import torch.compiler
    import torch.distributed

    _enter("transformers", version=importlib.metadata.version("transformers"))
    _enter("transformers.models")
    dynamo = _stand_in("torch._dynamo", __getattr__=lambda _: _unchanged)
    wrapped = f"{dynamo}._trace_wrapped_higher_order_op"
    names = [
        dynamo,
        _stand_in(wrapped, TransformGetItemToIndex=TransformGetItemToIndex),
        _stand_in("transformers.loss"),
        _stand_in("transformers.loss.loss_utils", LOSS_MAPPING={}),
    ]
    # Lends the library to itself a second time, read anew.
    utils: Any = importlib.import_module("transformers.utils")
    again = utils.direct_transformers_import
    utils.direct_transformers_import = lambda *_, **__: sys.modules["transformers"]
    disable, available = torch.compiler.disable, torch.distributed.is_available
    torch.compiler.disable = _unchanged  # type: ignore[assignment]
    torch.distributed.is_available = lambda: False
    try:
        yield
    finally:
        torch.compiler.disable, torch.distributed.is_available = disable, available
        utils.direct_transformers_import = again
        for name in names:
            del sys.modules[name]


@contextlib.contextmanager
def unfilled() -> Iterator[None]:
    """Lay out a network of these classes without filling it: its weights come from a file.

    On the device without memory torch would fill by rules written in Python, whose import brings
    its compiler; the few small vectors that a network counts out itself stand in memory instead.
    Nor is it made out how weights of all other networks, and of networks of old, are named.
    """
    import torch

    names = vars(importlib.import_module("transformers.conversion_mapping"))
    known = names.get(_NAMES)

    kinds: tuple[Any, ...] = (torch.nn.Linear, torch.nn.Embedding)
    fills = [kind.reset_parameters for kind in kinds]
    arange = torch.arange

    def in_memory(*numbers: Any, device: Any = None, **settings: Any) -> Any:
        return arange(*numbers, device="cpu" if device is None else device, **settings)

    torch.arange = in_memory
    names[_NAMES] = {"legacy": []}
    for kind in kinds:
        kind.reset_parameters = lambda _: None
    try:
        with _uncollected():
            yield
    finally:
        names[_NAMES] = known
        torch.arange = arange
        for kind, fill in zip(kinds, fills, strict=True):
            kind.reset_parameters = fill


def _unchanged(function: Any = None, **_: object) -> Any:
    """Stand for a decorator that tells the compiler something: it leaves a function as it is."""
    return function if function is not None else lambda inner: inner


def _enter(name: str, version: str = "") -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    package = importlib.util.module_from_spec(spec)
    package.__class__ = _Bare
    if version:
        package.__dict__["__version__"] = version
    sys.modules[name] = package
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, package)


def _stand_in(name: str, **names: object) -> str:
    module = ModuleType(name)
    module.__path__ = []
    vars(module).update(names)
    sys.modules[name] = module
    return name


def _take_back(before: set[str]) -> None:
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "transformers":
            del sys.modules[name]


# Forced: a setting of the user's shell must not open the door again.
_FORCED: Final = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "DO_NOT_TRACK": "1",
}
# Defaults: whoever sets them otherwise has a reason.
_DEFAULTS: Final = {
    # Spinning OpenMP threads fight other processes for the cores; waiting ones do not.
    "OMP_WAIT_POLICY": "PASSIVE",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}


def switches() -> Mapping[str, str]:
    """Return the switches that are forced, with what they are set to."""
    return _FORCED


def prepare() -> None:
    """Set the switches; call it before anything imports torch or transformers.

    Calling it again is harmless. When the hub client was imported earlier by somebody else, its
    own copy of the switch is turned as well.
    """
    os.environ.update(_FORCED)
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    constants = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        constants.HF_HUB_OFFLINE = True  # type: ignore[attr-defined]
