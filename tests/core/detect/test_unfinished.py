"""An audit of a long text that is interrupted goes on where it was, and leaves nothing to read."""

import contextlib
import errno
import io
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.core.conftest import auditor
from tests.core.programs import for_owner_alone

from pura.base.errors import Cancelled
from pura.base.progress import Stage
from pura.detect import unfinished as module
from pura.detect.options import Options
from pura.detect.unfinished import Unfinished, unfinished
from pura.detect.verdict.policy import Policy
from pura.keys.sealed import cipher_of
from pura.model import evidence
from pura.model.evidence import Request
from pura.record.audit import Audit
from pura.record.json_io import findings_digest
from pura.scheme import Profile, SecretKey

pytestmark = pytest.mark.model
HUMAN = Path(__file__).resolve().parents[2] / "data" / "human.txt"
KEY, OTHER = SecretKey(bytes(range(32))), SecretKey(bytes(range(1, 33)))
Audited = Callable[..., Audit]
READING = 5


@pytest.fixture(autouse=True)
def of_few_tokens(monkeypatch):
    monkeypatch.setattr(module, "LEAST_TOKENS", 1000)
    monkeypatch.setattr(evidence, "CPU_TILING", replace(evidence.CPU_TILING, chunk=512))


@pytest.fixture(scope="module")
def audited(small_model, small_samples) -> Audited:
    """With a model that reads 512 tokens at once, so that some hundreds make several windows."""
    return auditor(replace(small_model, context_length=512), small_samples)


@pytest.fixture(scope="module")
def texts(small_samples) -> dict[str, str]:
    """Some windows each: one with quotes, one with a mark, one that is read up to its mark."""
    host = HUMAN.read_text(encoding="utf-8").replace("\n%\n", "\n\n")[:6000]
    mark = str(small_samples["marked-tbcc"]["texts"][0]["text"]).strip()
    return {
        "quotes": host.replace(". The ", ".” “The "),
        "marked": f"{host[:3000]}\n\n{mark}\n\n{host[3000:]}",
        "stopped early": f"{host[:3000]}\n\n{mark}\n\n{host[3000:]}",
    }


def interrupted(audit: Callable[..., Audit], share: float) -> None:
    """Audit until a share of the reading is done."""
    done = [0.0]

    def tell(stage: Stage) -> None:
        if stage.number == READING and stage.total:
            done[0] = stage.done / stage.total

    def stop() -> None:
        if done[0] > share:
            raise Cancelled

    with pytest.raises(Cancelled):
        audit(progress=tell, checkpoint=stop)


@pytest.mark.parametrize("name", ["quotes", "marked", "stopped early"])
def test_it_goes_on_where_it_was(name, audited, texts, tmp_path):
    policy = Policy(stop_early=name == "stopped early", draws=0)
    plain, kept = (Options(policy=policy, unfinished=f) for f in (None, tmp_path / "new"))
    whole = audited(texts[name], options=plain)
    begun = []

    def audit(**more) -> Audit:
        return audited(texts[name], options=kept, **more)

    # Once soon after the first window and once later; the second run goes on from the first.
    for share in (0.45, 0.7) if name != "stopped early" else (0.45,):
        interrupted(audit, share)
        (part,) = (tmp_path / "new").glob("*.part")
        begun.append(part.stat().st_size)
        assert for_owner_alone(part)
    assert begun == sorted(begun)
    told: list[int] = []
    again = audit(progress=lambda s: told.append(s.done) if s.number == READING and s.total else 0)
    assert findings_digest(again) == findings_digest(whole)
    assert np.array_equal(again.tokens.lo, whole.tokens.lo)
    assert again.stopped == whole.stopped
    assert list((tmp_path / "new").iterdir()) == []
    assert begun[0] > 0
    assert "had been read before" in again.log[READING - 1].words("en")
    assert min(told) > 0.3 * max(told)  # progress goes on, too
    assert (again.stopped is not None) == (name == "stopped early")


@pytest.fixture
def opened(small_model) -> Callable[..., Any]:
    def opened(folder: Path | None, key: SecretKey = KEY, tokens: int = 2000):
        request = Request(texts=[np.arange(tokens)])
        return unfinished(folder, [request], small_model, [key], Profile.new(small_model))

    return opened


def test_nothing_in_the_file_can_be_read_without_the_key(opened, tmp_path):
    numbers = np.linspace(0, 1, 40).reshape(4, 10)
    with contextlib.suppress(Cancelled), opened(tmp_path) as kept:
        kept.read_with([KEY]).add(b"a" * 16, numbers)
        kept.read_with([KEY, OTHER]).add(b"a" * 16, numbers + 1)
        raise Cancelled
    (part,) = tmp_path.glob("*.part")
    data, name = part.read_bytes(), bytes.fromhex(part.stem)
    for secret in (numbers.tobytes(), numbers[0].tobytes(), b"a" * 16, KEY.fingerprint.encode()):
        assert secret not in data

    def read(key: SecretKey, name: bytes, data: bytes, keys: list[SecretKey]):
        (tmp_path / "copy").write_bytes(data)
        with (tmp_path / "copy").open("r+b") as file:
            kept = Unfinished(file, cipher_of(key, b"pura-unfinished"), name).read_with(keys)
            return kept.find(b"a" * 16), kept.find(b"b" * 16), (tmp_path / "copy").stat().st_size

    found, other, size = read(KEY, name, data, [KEY])
    assert np.array_equal(found, numbers)
    assert (other, size) == (None, len(data))
    # Those of other keys are others; another key, another file and a flipped bit open nothing.
    assert np.array_equal(read(KEY, name, data, [KEY, OTHER])[0], numbers + 1)
    assert read(KEY, name, data, [OTHER])[0] is None
    assert read(OTHER, name, data, [KEY])[0] is None
    assert read(KEY, bytes(16), data, [KEY])[0] is None
    assert read(KEY, name, data[:60] + bytes([data[60] ^ 1]) + data[61:], [KEY])[0] is None
    # What a kill has cut off costs the last record alone.
    found, _, size = read(KEY, name, data[:-1], [KEY])
    assert np.array_equal(found, numbers)
    assert size == len(data) // 2
    assert read(KEY, name, data[:-1], [KEY, OTHER])[0] is None


def test_who_comes_second_begins_anew_and_what_is_old_goes(opened, tmp_path):
    old = tmp_path / "old.part"
    old.write_bytes(b"")
    os.utime(old, (0, time.time() - (module.DAYS + 1) * 86400))

    with opened(tmp_path) as first, opened(tmp_path) as same, opened(tmp_path, OTHER) as another:
        assert not old.exists()
        assert first is not None
        assert same is None
        assert another is not None
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_bytes(b"")
    with (
        opened(tmp_path, tokens=999) as short,
        opened(None) as nowhere,
        opened(tmp_path / "file") as refused,
    ):
        assert (short, nowhere, refused) == (None, None, None)


def test_a_full_disk_costs_only_the_file():
    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(errno.ENOSPC, "full")

    kept = Unfinished(Full(), cipher_of(KEY, b"pura-unfinished"), bytes(16))
    kept.add(b"a" * 16, np.ones((4, 2)))
    kept.add(b"b" * 16, np.ones((4, 2)))
    assert kept.find(b"a" * 16) is None
