"""Ollama's store of models, laid out as Ollama's files are described; Ollama itself is not here."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import GenerationError
from pura.embed.serving.ollama import STORE_VARIABLE, find_model, main, store_folder

WEIGHTS = b"GGUF and then the weights"


def layer(store: Path, kind: str, content: bytes) -> dict[str, Any]:
    """Write a blob, and return the layer that names it."""
    digest = hashlib.sha256(content).hexdigest()
    blob = store / "blobs" / f"sha256-{digest}"
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(content)
    media = f"application/vnd.ollama.image.{kind}"
    return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}


def write_model(store: Path, path: str, *layers: dict[str, Any]) -> Path:
    """Write the manifest of a model, and return it."""
    manifest = store / "manifests" / path
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": list(layers)}))
    return manifest


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one model of Ollama's library, and one of another host."""
    write_model(
        tmp_path,
        "registry.ollama.ai/library/council/latest",
        layer(tmp_path, "model", WEIGHTS),
        layer(tmp_path, "system", b" Be brief.\n"),
        layer(tmp_path, "params", b'{"stop": ["<end>", "</s>", "", 5], "temperature": 0.1}'),
        layer(tmp_path, "license", b"Apache-2.0"),
    )
    write_model(tmp_path, "example.org/town/mayor/7b-q4", layer(tmp_path, "model", WEIGHTS))
    return tmp_path


def refusal(name: str, store: Path) -> str:
    with pytest.raises(GenerationError) as caught:
        find_model(name, store)
    return caught.value.key


@pytest.mark.parametrize("name", ["council", "council:latest", "library/council"])
def test_a_model_is_found_by_each_of_its_names(store: Path, name: str) -> None:
    model = find_model(name, store)
    assert model.weights.read_bytes() == WEIGHTS
    assert model.name == (name if ":" in name else f"{name}:latest")
    assert model.digest == hashlib.sha256(WEIGHTS).hexdigest()
    assert (model.size, model.system, model.stop) == (len(WEIGHTS), "Be brief.", ("<end>", "</s>"))


def test_a_model_of_another_host(store: Path) -> None:
    model = find_model("example.org/town/mayor:7b-q4", store)
    assert (model.name, model.system, model.stop) == ("example.org/town/mayor:7b-q4", "", ())


@pytest.mark.parametrize(
    "name",
    [
        *("mayor", "council:7b", "", ":", "council:", "a/b/c/d:e", "../library/council"),
        *(
            "library/../library/council",
            "council:../latest",
            "/etc/passwd",
            "council\n",
            "coun cil",
        ),
    ],
)
def test_a_name_that_is_not_in_the_store_or_leads_out_of_it(store: Path, name: str) -> None:
    if name == "council:":  # an empty tag is the usual one
        assert find_model(name, store).weights
    else:
        assert refusal(name, store) == "ollama.no-model"


@pytest.mark.parametrize("beside", ["adapter", "projector", "messages"])
def test_a_model_that_is_more_than_its_weights_is_refused(store: Path, beside: str) -> None:
    layers = [layer(store, "model", WEIGHTS), layer(store, beside, b"more")]
    write_model(store, "registry.ollama.ai/library/more/latest", *layers)
    assert refusal("more", store) == "ollama.beside"


def damaged(store: Path, kind: str) -> None:
    """Damage the first model."""
    manifest = store / "manifests" / "registry.ollama.ai" / "library" / "council" / "latest"
    stated = json.loads(manifest.read_text())
    weights = store / "blobs" / stated["layers"][0]["digest"].replace(":", "-")
    match kind:
        case "cut weights":
            weights.write_bytes(WEIGHTS[:-1])
        case "no weights":
            weights.unlink()
        case "another format":
            weights.write_bytes(WEIGHTS.replace(b"GGUF", b"GGML"))
        case "no layer of weights":
            manifest.write_text(json.dumps({**stated, "layers": stated["layers"][1:]}))
        case "a digest that leads out":
            stated["layers"][0]["digest"] = "sha256:../../etc/passwd"
            manifest.write_text(json.dumps(stated))
        case "no layers":
            manifest.write_text("{}")
        case "no JSON":
            manifest.write_text("{")
        case "settings of no object":
            stated["layers"][2] = layer(store, "params", b"[]")
            manifest.write_text(json.dumps(stated))


@pytest.mark.parametrize(
    "kind",
    [
        *("cut weights", "no weights", "another format", "no layer of weights"),
        *("a digest that leads out", "no layers", "no JSON", "settings of no object"),
    ],
)
def test_a_damaged_store_is_refused(store: Path, kind: str) -> None:
    damaged(store, kind)
    assert refusal("council", store) == "ollama.damaged"


def test_the_store_is_where_the_variable_says(
    store: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE_VARIABLE, str(store))
    assert store_folder() == store
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path_factory.mktemp("empty")))
    with pytest.raises(GenerationError) as caught:
        store_folder()
    assert caught.value.key == "ollama.no-store"


def test_the_command_prints_where_the_weights_are(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(STORE_VARIABLE, str(store))
    monkeypatch.setattr("sys.argv", ["ollama", "council"])
    main()
    assert Path(capsys.readouterr().out.strip()).read_bytes() == WEIGHTS
    monkeypatch.setattr("sys.argv", ["ollama", "mayor"])
    with pytest.raises(SystemExit):
        main()
