"""What every test gets: a clean user, no keyring, no network, and nothing left running."""

import functools
import gc
import hashlib
import json
import os
import re
import shutil
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before anything imports torch or Qt.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Small models gain nothing from two threads, and lose tenfold on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_ACCESSIBILITY"] = "1"
# Triton decides when it is imported whether its programs run on the processor.
if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")
# The day that sampled tests are drawn by, the same for all workers.
os.environ.setdefault("PURA_TEST_DAY", str(int(time.time() // 86_400)))
# No test may reach the keyring of whoever runs it; the test of a real one starts its own.
os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)

import pytest
from hypothesis import HealthCheck, settings

from pura.base.paths import resource, user_paths
from pura.keys import backends, sealed
from pura.model import libraries, trial
from pura.scheme import Payload, Profile, SecretKey

libraries.prepare()
# A busy machine is no fault of the code.
settings.register_profile(
    "any-machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("any-machine")

DATA = Path(__file__).parent / "data"
collect_ignore = ["engines"]  # they run in the engines' own environments: packaging/weekly.sh
PATIENCE_S = 60  # with what comes on any machine, however busy
BUILTIN = "smollm2-135m"
SMALL = "small"


@pytest.hookimpl(tryfirst=True)  # the plugin that shares tests out reads the groups in its own
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what reads with the model, and put the longest first, so that no worker ends late.

    What reads with the model stays with its file on one worker: audits kept for a file are made
    once. Each third of the sampled tests has its day, and is weekly on the two others.
    """
    for item in items:
        drawn = zlib.crc32(item.nodeid.encode()) + int(os.environ["PURA_TEST_DAY"])
        if item.get_closest_marker("sampled") and drawn % 3:
            item.add_marker(pytest.mark.weekly)
        if "builtin_files" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.model)
            if item.get_closest_marker("slow") is None:
                item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(
        key=lambda item: (
            item.get_closest_marker("slow") is None,
            item.get_closest_marker("model") is None,
        )
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups that the plugin lost would cost minutes, and nobody would see it.

    What has been imported by now stays: no collection of garbage needs to look at it again.
    """
    gc.freeze()
    if getattr(session.config.option, "loadgroup", False):
        for item in session.items:
            if item.get_closest_marker("xdist_group") and "@" not in item.nodeid:
                raise pytest.UsageError(f"{item.nodeid}: pytest-xdist does not know its group")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where a program is missing, a person's machine leaves the test out; CI has to have it."""
    for marker in item.iter_markers("programs"):
        missing = [name for name in marker.args if shutil.which(name) is None]
        if missing:
            words = f"not installed: {', '.join(missing)} (packaging/setup/system.sh --tests)"
            if os.environ.get("CI") == "true":
                pytest.fail(words, pytrace=False)
            pytest.skip(words)


@pytest.fixture(scope="session")
def rows() -> Callable[[str], list[dict[str, Any]]]:
    """Reads what the command wrote with ``--json``; each row is held against its own schema."""
    import jsonschema

    kinds = json.loads(resource("rows.schema.json").read_text(encoding="utf-8"))
    schemas = {
        kind["properties"]["schema"]["const"]: kinds | {"oneOf": [kind]}
        for kind in kinds["$defs"].values()
    }
    for name in ("finding", "audit"):
        schema = json.loads(resource(f"{name}.schema.json").read_text(encoding="utf-8"))
        schemas[schema["properties"]["schema"]["const"]] = schema
    checks = {name: jsonschema.Draft202012Validator(schemas[name]) for name in schemas}

    def read(text: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in text.splitlines()]
        for row in found:
            checks[row["schema"]].validate(row)
        return found

    return read


@pytest.fixture(scope="session")
def builtin_files() -> Path:
    """The built-in model in the user's folder, to be read only; installed when it is missing."""
    from filelock import FileLock

    from pura.model.store import ModelStore

    named = os.environ.get("PURA_TEST_MODELS")
    folder = Path(named) if named else _MODELS
    folder.mkdir(parents=True, exist_ok=True)
    store = ModelStore(folder)
    # Of several workers one installs, the others wait.
    with FileLock(folder.with_name("models-of-the-tests.lock")):
        if all(model.name != BUILTIN for model in store.list()):
            store.install_builtin()
    return folder / BUILTIN


@pytest.fixture
def installed_models(builtin_files, tmp_path_factory) -> Path:
    """A folder of this test alone, with the built-in model; what is added stays in it."""
    from tests.core.programs import lend

    folder = tmp_path_factory.mktemp("models")
    lend(builtin_files, folder / BUILTIN)
    return folder


# Read before the fixture below points every test at a folder of its own.
_MODELS = user_paths().models


@pytest.fixture(scope="session")
def builtin_model(builtin_files):
    """The built-in model on the processor, loaded once."""
    from pura.model.device import choose_device
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    return load_model(ModelStore(builtin_files.parent).get(BUILTIN), choose_device("cpu"))


@pytest.fixture(scope="session")
def small_files(builtin_files, tmp_path_factory) -> Path:
    """A store with one model that costs next to nothing, for tests that need *a* model.

    A Llama of one random layer, 32 wide, with the built-in model's tokenizer. It writes English
    words in no order: many bits of entropy a step, and ids that the text gives back.
    """
    import numpy as np
    from safetensors.numpy import save_file

    from pura.model.store import ModelStore

    folder = tmp_path_factory.mktemp("small") / SMALL
    shutil.copytree(
        builtin_files, folder, ignore=shutil.ignore_patterns("*.safetensors", "pura-model.json")
    )
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    shape = {"hidden_size": 32, "intermediate_size": 32, "head_dim": 16, "num_hidden_layers": 1}
    config |= shape | {"num_attention_heads": 2, "num_key_value_heads": 2}
    config["tie_word_embeddings"] = False
    (folder / "config.json").write_text(json.dumps(config))
    tokens = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    rng = np.random.default_rng(1)
    # One direction of the hidden state is the same for all: along it, whatever is no word is lost.
    embedding = rng.normal(size=(len(tokens), 32))
    embedding[:, 0] = 4.0
    head = rng.normal(scale=0.3, size=embedding.shape)
    head[:, 0] = -20.0
    words = [i for token, i in tokens.items() if re.fullmatch("Ġ[A-Z]?[a-z]+", token)]
    head[words[:4000], 0] = 0.0
    head[[tokens[f"Ġ{word}"] for word in ("the", "of", "and", "to", "in", "is", "that")], 0] = 1.5
    layer = {
        f"layers.0.{name}_proj.weight": rng.normal(scale=0.1, size=(32, 32))
        for name in (
            *("self_attn.q", "self_attn.k", "self_attn.v", "self_attn.o"),
            *("mlp.gate", "mlp.up", "mlp.down"),
        )
    }
    norms = ("layers.0.input_layernorm", "layers.0.post_attention_layernorm", "norm")
    layer |= {f"{name}.weight": np.ones(32) for name in norms}
    weights = {f"model.{name}": value for name, value in layer.items()}
    weights |= {"model.embed_tokens.weight": embedding, "lm_head.weight": head}
    save_file(
        {name: value.astype(np.float32) for name, value in weights.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    store = ModelStore(tmp_path_factory.mktemp("small-models"))
    store.add(folder, SMALL, copy=True)
    return store.folder / SMALL


@pytest.fixture(scope="session")
def small_model(small_files):
    """The small model on the processor, loaded once."""
    from pura.model.device import choose_device
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    return load_model(ModelStore(small_files.parent).get(SMALL), choose_device("cpu"))


@pytest.fixture
def small_models(small_files, tmp_path_factory) -> Path:
    """A folder of this test alone, with the small model; what is added stays in it."""
    from tests.core.programs import lend

    folder = tmp_path_factory.mktemp("models")
    lend(small_files, folder / SMALL)
    return folder


@pytest.fixture
def lent(request, monkeypatch):
    """Whoever loads one of the two models on the processor gets the session's."""
    from pura.model import load as loading
    from pura.model.device import choose_device

    load = loading.load_model
    fixtures = {BUILTIN: "builtin_model", SMALL: "small_model"}

    def lend(source: Any, device: Any) -> Any:
        fixture = fixtures.get(getattr(source, "name", ""))
        if fixture is None or device != choose_device("cpu"):
            return load(source, device)
        return request.getfixturevalue(fixture)

    monkeypatch.setattr(loading, "load_model", lend)


@pytest.fixture(scope="session")
def small_samples(small_model, sample_key) -> dict[str, Any]:
    """What :func:`samples` returns, written by the small model."""
    from pura.embed.generate import generate_batch

    payloads = [Payload.from_int(number, 36) for number in (0x731264FC8, 0x1A127514)]
    prompt = "The city council met on Tuesday evening to discuss"
    found: dict[str, Any] = {}
    for name, code, marks in (
        ("marked", "spc", payloads),
        ("marked-tbcc", "tbcc", payloads),
        ("plain", "tbcc", [None]),
    ):
        profile = Profile.new(small_model, code=code).with_(model=None, tokenizer=None)
        prompts = [prompt] * len(marks)
        texts = generate_batch(
            small_model, prompts, marks, sample_key, profile, tokens=110, seed=len(found)
        )
        found[name] = {
            "key_hex": sample_key.to_hex(),
            "profile": profile.to_dict(),
            "texts": [
                {"prompt": prompt, "text": text.text, "payload": mark and mark.text}
                for text, mark in zip(texts, marks, strict=True)
            ],
        }
    return found


@pytest.fixture
def faulty(monkeypatch) -> Callable[[int, str, Exception], Any]:
    """Has one of the twelve steps fail at one text: ``faulty(7, text, RuntimeError("…"))``."""
    from tests.core.usecases._faulty_plan import Fault, failing

    from pura.detect.step_log import StepLog

    faults: dict[str, Fault] = {}
    monkeypatch.setattr(StepLog, "logged", failing(faults))

    def arrange(step: int, text: str, error: Exception) -> Fault:
        faults.clear()
        fault = Fault(step=step, error=error)
        faults[hashlib.sha256(text.encode()).hexdigest()] = fault
        return fault

    return arrange


@pytest.fixture(scope="session")
def samples() -> dict[str, Any]:
    """The sample texts: ``marked``, ``marked-tbcc`` and ``plain``."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((DATA / "samples").glob("*.json"))
    }


@pytest.fixture(scope="session")
def vectors() -> list[Path]:
    """All vector files."""
    return sorted((DATA / "vectors").glob("*.json"))


@pytest.fixture(scope="session")
def sample_key(samples) -> SecretKey:
    """The key of the sample texts."""
    return SecretKey.from_hex(samples["marked"]["key_hex"])


@pytest.fixture(scope="session", autouse=True)
def cheap_passphrases():
    """What takes half a second and 128 MiB in use takes the least that is allowed in the tests."""
    assert sealed.Cost(log2_n=17, r=8, p=1) == sealed.USUAL
    object.__setattr__(sealed.USUAL, "log2_n", 14)


@pytest.fixture(scope="session", autouse=True)
def rehearsed_once():
    """A folder with the same files is rehearsed once a session: a child takes seconds."""
    real, seen = trial.load_on_trial, set[tuple[str, ...]]()

    def load_on_trial(path: Path, **options: Any) -> None:
        files = [path] if path.is_file() else sorted(f for f in path.iterdir() if f.is_file())
        digests = tuple(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
        if digests not in seen:
            real(path, **options)
            seen.add(digests)

    trial.load_on_trial = load_on_trial


@pytest.fixture(scope="session")
def honest_record() -> Callable[..., Any]:
    """Make a record that agrees with itself, without a mark: ``honest_record(1, text="…")``.

    It is the one of ``v0.1.0`` under a policy that asks for more usable positions, with a second
    key that was tried, of a file with an awkward name.
    """
    from dataclasses import replace

    from tests.core.records import RECORD

    from pura.record.surroundings import KeyFacts
    from pura.words.sentences import Sentence

    base = replace(
        RECORD,
        verdict="insufficient",
        input=replace(RECORD.input, name="a\u202eb.txt"),
        keys=(RECORD.key, KeyFacts(fingerprint="cd" * 8)),
        evidence=replace(RECORD.evidence, needed=100, keys_tried=2),
        policy={**RECORD.policy, "min_usable": 100},
        sentences=(Sentence(key="note.n1"),),
        cautions=(),
        passages=(),
        register=None,
    )

    def make(number: int = 0, **changes: Any) -> Any:
        return replace(base, id=f"{number:032x}", **changes)

    return make


@pytest.fixture(scope="session", autouse=True)
def honest_records_agree():
    """Whatever record an audit of any test makes, of whatever kind, agrees with itself."""
    from pura.detect import unexamined
    from pura.detect.conclusion import Conclusion
    from pura.detect.third_party import ThirdPartyConclusion
    from pura.detect.verdict.agreement import disagreements

    def watch(owner: Any, name: str) -> None:
        make = getattr(owner, name)

        @functools.wraps(make)
        def made(*args: Any, **options: Any) -> Any:
            record = make(*args, **options)
            assert disagreements(record) == (), record.verdict
            return record

        setattr(owner, name, made)

    watch(Conclusion, "record")
    watch(ThirdPartyConclusion, "record")
    watch(unexamined, "unexamined")


@pytest.fixture(autouse=True)
def clean_user(tmp_path_factory, monkeypatch):
    """Point the program at folders of this test alone; its command speaks English at first."""
    monkeypatch.setenv("PURA_HOME", str(tmp_path_factory.mktemp("user")))
    if sys.platform != "linux":  # where no bus has to be known to reach the keyring
        monkeypatch.setattr(backends, "_ALLOWED", {"linux": ()})
    if terminal := sys.modules.get("pura.cli.terminal"):
        terminal._language[:] = ["en"]  # what ``--language`` of a test before has left


@pytest.fixture
def qtbot(qapp, request):
    """pytest-qt's own, with more patience: five seconds are few on a busy machine."""
    from pytestqt.qtbot import QtBot

    bot: Any = QtBot(request)
    for name in ("waitUntil", "waitSignal", "waitSignals", "waitExposed", "waitActive"):
        setattr(bot, name, functools.partial(getattr(bot, name), timeout=1000 * PATIENCE_S))
    return bot


@pytest.fixture(autouse=True)
def nothing_left_running(request) -> Iterator[None]:
    """Fail a test that leaves a thread behind."""
    before = set(threading.enumerate())
    started = _started_qthreads() if "qapp" in request.fixturenames else []
    yield
    left = [t for t in threading.enumerate() if t not in before and not t.daemon and t.is_alive()]
    for thread in left:
        thread.join(timeout=20)
    left = [thread for thread in left if thread.is_alive()]
    assert not left, f"threads left behind: {left}"
    if started:
        from shiboken6 import isValid

        running = [thread for thread in started if isValid(thread) and thread.isRunning()]
        started.clear()
        assert not running, f"Qt threads left behind: {running}"


@pytest.fixture(autouse=True)
def garbage_is_collected(request) -> Iterator[None]:
    """Where a window may be, garbage waits for its collector; elsewhere Python sees to it."""
    if "qapp" in request.fixturenames:
        gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> Path:
    """A PKCS#12 file of "Reports Desk"; its passphrase is "Grüße 7". Its public part: ``.pem``."""
    from tests.core.certificates import packed, pem, self_signed

    key, made = self_signed("Reports Desk")
    path = tmp_path_factory.mktemp("certificate") / "org.p12"
    path.write_bytes(packed(key, made, "Grüße 7".encode()))
    path.with_suffix(".pem").write_bytes(pem(made))
    return path


@functools.cache
def _started_qthreads() -> list[Any]:
    """A list into which every thread of Qt goes from now on when it is started."""
    from PySide6.QtCore import QThread

    started: list[Any] = []
    start = QThread.start

    def note(self: Any, *priority: Any) -> None:
        started.append(self)
        start(self, *priority)

    QThread.start = note  # type: ignore[method-assign]
    return started
