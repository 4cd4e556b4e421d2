"""The one reader of JSON, and the one way to open a file that others name."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pura.base.errors import PuraError
from pura.base.files import open_regular, read_bounded
from pura.base.json_text import TwiceError, read_json
from pura.detect.verdict.policy import load_policy
from pura.keys.sealed import load_key
from pura.measure.fitness import read_samples
from pura.model.folder import inspect_folder
from pura.register.issue_log import is_log
from pura.register.table import import_csv
from pura.register.under import IssuedUnder
from pura.scheme import Profile
from pura.usecases.choices import read_candidates


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '[{"b": {"a": 1, "a": 1}}]', "NaN", "[Infinity]", "[-Infinity]", "1e999"],
)
def test_what_two_readers_could_understand_differently_is_refused(text):
    with pytest.raises(ValueError, match=r"^(a|-?Infinity|NaN|a number too large)$"):
        read_json(text)


def test_depth_is_bounded_and_a_name_that_stands_twice_is_named():
    for deep in ("[" * 200 + "]" * 200, "[" * 100_000):
        with pytest.raises(ValueError):  # noqa: PT011 - too deep, or cut short and too deep
            read_json(deep)
    with pytest.raises(TwiceError, match=r"^payload$"):
        read_json('{"payload": 1, "payload": 2}')
    assert read_json(b'\xef\xbb\xbf{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}


def _register(path: Path) -> object:
    profile = Profile(payload_bits=20, vocab_size=100, code="tbcc")
    return import_csv(None, path, IssuedUnder(profile=profile))  # type: ignore[arg-type]


READERS: dict[str, Callable[[Path], object]] = {
    "any": lambda path: read_bounded(path, 100),
    "key": load_key,
    "policy": lambda path: load_policy(path, must_exist=True),
    "profile": Profile.load,
    "prompts": read_candidates,
    "register": _register,
    "samples": read_samples,
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and devices of Unix")
def test_pipes_and_devices_are_refused_at_once(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    for path in (pipe, link, Path("/dev/null")):
        with pytest.raises(OSError, match="not an ordinary file"):
            open_regular(path)
        assert not is_log(path)
        for name, read in READERS.items():
            with pytest.raises(PuraError) as caught:
                read(path)
            words = caught.value.message
            assert "ordinary file" in words or name == "prompts", (name, words)


@pytest.mark.skipif(os.name == "nt", reason="devices of Unix")
def test_a_model_folder_with_a_pipe_or_a_device_is_refused(tmp_path):
    for name in ("config.json", "tokenizer.json", "special_tokens_map.json"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).symlink_to("/dev/zero")
        with pytest.raises(PuraError, check=lambda e: e.key == "model.unsafe"):
            inspect_folder(folder)
