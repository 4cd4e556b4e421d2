"""Workers of a real Ray cluster: two nodes on this machine; and keys sealed on their way there."""

import base64
import json
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.programs import ended

from pura.base.errors import InputError
from pura.batch.engine import Receiver, seal
from pura.batch.inputs import Inputs
from pura.batch.results import read_rows


def test_only_the_process_that_a_key_was_sealed_for_opens_it():
    here, other = Receiver(), Receiver()
    keys = [bytes(range(32)), bytes(32)]
    given = [bytearray(key) for key in keys]
    sealed = seal(here.public, given)
    assert not any(given), "they are overwritten once they are sealed"
    assert keys[0] not in sealed
    assert here.open(sealed) == keys
    assert seal(here.public, [bytearray(keys[0])]) != seal(here.public, [bytearray(keys[0])])
    for wrong in (sealed[:-1], sealed[:40] + bytes([sealed[40] ^ 1]) + sealed[41:], b"", bytes(80)):
        with pytest.raises(InputError, match="cannot open the keys"):
            here.open(wrong)
    with pytest.raises(InputError):
        other.open(sealed)
    with pytest.raises(TypeError):
        pickle.dumps(here)


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a path that is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="r"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_nodes_give_the_same_rows_and_no_log_holds_a_key(fast, tmp_path, short, cluster):
    texts = [f"text {n}" for n in range(150)]
    texts[70] = f"{fast.DEADLY}, once"
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, texts)))
    script = Path(fast.__file__).with_name("_fast_cluster.py")
    words = (tmp_path, "2", "0.02", "2", tmp_path / "rows.jsonl")
    environment = os.environ | {"RAY_TEMP": str(short)}
    done = ended(sys.executable, script, *words, env=environment, timeout=800)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 nodes, 150 texts" in done.stdout
    assert len(list((tmp_path / "deaths").iterdir())) == 1, "an actor was killed"
    rows = list(read_rows(str(tmp_path / "out.jsonl")))
    assert [row["error"] for row in rows] == [None] * 150
    plan = fast.FastPlan(deaths=str(tmp_path / "deaths"))
    inputs = Inputs(names=(str(tmp_path / "rows.jsonl"),))
    fast.work(str(tmp_path / "here.jsonl"), tmp_path / "j", inputs, plan=plan)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    # The evidence is drawn from the keys, so they arrived; and nothing that was written holds them.
    said = [done.stdout.encode(), done.stderr.encode()]
    logs = [path for path in short.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name.startswith("raylet") for path in logs)
    for key in fast.KEYS:
        forms = (key, key.hex().encode(), repr(key)[2:-1].encode(), base64.b64encode(key)[:-4])
        for data in (*said, *(path.read_bytes() for path in logs)):
            assert not any(form in data for form in forms)
