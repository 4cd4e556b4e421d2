"""A batch at the desk, with a model: rows, records, register, choice, and who reads."""

import json
import pickle
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import InputError, KeyFormatError, RecordError
from pura.batch.inputs import Inputs
from pura.batch.results import read_rows, record_of
from pura.detect.options import AuditText
from pura.documents import from_text
from pura.register.rows import Issue
from pura.register.store import Register
from pura.scheme import Payload, PayloadSeries
from pura.usecases import batch
from pura.usecases.audits import Setup, audit, prepared, resolved
from pura.usecases.batch import BatchPlan, merge_batch, run_batch, summary_of
from pura.usecases.environment import Environment


@pytest.fixture
def setup(setup: Setup) -> Setup:
    return replace(setup, ask_register=True)


@pytest.fixture
def texts(small_samples: dict[str, Any]) -> list[str]:
    marked = [t["text"][:500] for t in small_samples["marked-tbcc"]["texts"][:2]]
    return [*marked, small_samples["plain"]["texts"][0]["text"][:120], marked[0], " "]


def test_rows_say_what_records_say_and_lead_to_them(quick, setup, texts, tmp_path, small_samples):
    first = small_samples["marked-tbcc"]["texts"][0]
    bits = Payload.from_bits([int(bit) for bit in first["payload"]])
    with Register(quick.paths.register, create=True) as register:
        series = PayloadSeries(key=setup.keys[0].fingerprint, profile=setup.profile.fingerprint)
        register.add(Issue(payload=bits, series=series, who="Anna", when="2026-01-02", model="m"))
    table, out = tmp_path / "t.jsonl", str(tmp_path / "out.jsonl")
    table.write_text("\n".join(json.dumps({"id": n, "text": t}) for n, t in enumerate(texts)))
    run = partial(
        run_batch,
        quick,
        inputs=Inputs(names=(str(table),)),
        setup=setup,
        output=out,
        records=tmp_path / "records",
        fdr=0.05,
    )
    told: list[int] = []
    done = run(tell=lambda status: told.append(status.found))
    assert (done.rows, done.found, done.chosen) == (5, 3, 3)
    assert done.outcomes == {"mark": 3, "not-measured": 1, "not-examinable": 1}
    assert done.errors == {"input-empty": 1}
    assert told == [3]
    rows = list(read_rows(out))
    assert [row["chosen"] for row in rows] == [True, True, False, True, False]
    assert [row["id"] for row in rows] == ["0", "1", "2", "3", "4"]
    assert (rows[0]["register_entry"], rows[0]["register_who"]) == (1, "Anna")
    whole = audit(quick, setup, AuditText(document=from_text(texts[0]))).audit
    for row in (rows[0], rows[3]):
        assert row["payload"] == whole.payload.bits == first["payload"]
        assert row["log10_e"] == pytest.approx(whole.evidence.log10_e, abs=1e-3)
        assert row["passages"] == [[p.start, p.end] for p in whole.marks[0].passages]
        assert 0.5 < (row["share"] or 0) <= 1
    opened = record_of(rows[3], tmp_path / "records")
    assert opened.evidence.log10_e == rows[3]["log10_e"]
    assert opened.text == texts[0]
    assert record_of(rows[4], tmp_path / "records") is None
    with pytest.raises(RecordError, match="another finding"):
        record_of(rows[0] | {"profile": "0" * 16}, tmp_path / "records")
    # Again it reads nothing, and needs no model; other settings do not touch what is done.
    assert run().found == 0
    with pytest.raises(InputError, match="--force"):
        run(setup=replace(setup, decoder="paper"))
    Path(f"{out}.journal").unlink()
    with pytest.raises(InputError, match="already"):
        run()
    assert Counter(summary_of(out).outcomes) == done.outcomes
    merged = merge_batch(str(tmp_path / "merged.jsonl"), [out], fdr=0.05)
    assert merged.chosen == 3
    assert (tmp_path / "merged.jsonl").read_bytes() == Path(out).read_bytes()


def test_a_worker_elsewhere_finds_the_same(quick, setup, texts, monkeypatch):
    setup = replace(setup, ask_register=False)
    plan = BatchPlan(
        paths=quick.paths,
        device="cpu",
        dtype="float32",
        setup=resolved(quick, setup),
        records=False,
    )
    arrived = pickle.loads(pickle.dumps(plan))
    model = quick.model(None, profile=setup.profile)
    monkeypatch.setattr(Environment, "model", lambda *_, **__: model)
    with quick.opened_keys(setup.keys) as [(key, _)]:
        secret = key.copy_secret()
        with arrived.opened([secret]) as read:
            [found] = read([from_text(texts[2])])
        assert not secret, "what came is overwritten"
        with prepared(quick, setup, late=True) as ready:
            [here] = batch.reading(ready, records=False)([from_text(texts[2])])
        with (
            pytest.raises(InputError, match="No worker process"),
            arrived.opened([bytearray(b"x" * 32)]),
        ):
            pass
    assert found.row == here.row
    with pytest.raises(KeyFormatError), arrived.opened([bytearray(3)]):
        pass
