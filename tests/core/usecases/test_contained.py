"""A fault in one text never costs another its finding, whoever asked and whatever step met it."""

import hashlib
import importlib
import itertools
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import Cancelled, InputError, ModelError, PuraError
from pura.base.progress import never_cancelled
from pura.batch.inputs import Inputs
from pura.batch.results import read_rows
from pura.detect.options import AuditText, Notice
from pura.detect.step_log import STEPS
from pura.detect.unexamined import FAULTS, audit_contained
from pura.documents import from_text
from pura.register.rows import Issue
from pura.register.store import Register
from pura.scheme import Payload, PayloadSeries, SecretKey
from pura.serve import reader
from pura.serve.reader import ReadPlan
from pura.usecases import batch
from pura.usecases.audits import Prepared, Setup, prepared, resolved
from pura.usecases.batch import BatchPlan, run_batch
from pura.usecases.environment import Environment
from pura.usecases.profiles import create_foreign
from pura.words.sentences import fill

SECRET = "words of a text that nobody may read in a log"
Faulty = Callable[[int, str, Exception], Any]
Found = list[tuple[str, bool]]
"""Of each text: the code of its error or its verdict, and whether it was read alone."""


@pytest.fixture
def texts(small_samples: dict[str, Any]) -> list[str]:
    marked = [one["text"] for one in small_samples["marked-tbcc"]["texts"][:2]]
    return [small_samples["plain"]["texts"][0]["text"][:200], marked[0], marked[1][:260]]


@pytest.fixture
def setup(quick: Environment, setup: Setup) -> Setup:
    bits = Payload.from_bits([1] * setup.profile.payload_bits)
    with Register(quick.paths.register, create=True) as register:  # else nothing is step 11
        series = PayloadSeries(key=setup.keys[0].fingerprint, profile=setup.profile.fingerprint)
        register.add(Issue(payload=bits, series=series, who="Anna", when="2026-01-02", model="m"))
    return resolved(quick, replace(setup, ask_register=True))


def told(found: Any) -> tuple[str, bool]:
    """What became of a text that use cases and service speak of."""
    if isinstance(found, PuraError):
        return found.code, False
    return found.audit.verdict, Notice.READ_ALONE in found.notices


def by_batch(ready: Prepared, texts: Sequence[str]) -> Found:
    read = batch.reading(ready, records=False)
    rows = [(found.row, found.alone) for found in read([from_text(text) for text in texts])]
    return [(str(row["error"] or row["verdict"]), alone) for row, alone in rows]


def by_service(ready: Prepared, texts: Sequence[str]) -> Found:
    documents = [from_text(text) for text in texts]
    return [told(one) for one in reader._read(ready, documents, never_cancelled)]


@pytest.fixture
def worker(
    quick: Environment, setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> Callable[[type[Any]], Any]:
    """Opens the plan that workers of a machine and of a cluster carry out, in this process."""
    usual = prepared

    @contextmanager
    def here(environment: Environment, given: Setup) -> Iterator[Prepared]:
        lent = replace(quick, lent_keys=environment.lent_keys)
        with usual(lent, given) as ready:
            yield ready

    monkeypatch.setattr("pura.usecases.batch.prepared", here)

    def opened(kind: type[Any], **more: Any) -> Any:
        plan = kind(paths=quick.paths, device="cpu", dtype="float32", setup=setup, **more)
        with quick.opened_keys(setup.needed_keys) as keys:
            return plan.opened([key.copy_secret() for key, _ in keys])

    return opened


# The command and the window have walks of their own.
SURFACES: dict[str, Callable[[Prepared, Sequence[str]], Found]] = {
    "batch": by_batch,
    "service": by_service,
}


def test_the_others_keep_their_findings_whatever_step_fails(
    quick, setup, texts, faulty, caplog, small_samples
):
    """Both surfaces contain by one function: the steps take turns at them."""
    log = quick.paths.state / FAULTS
    with prepared(quick, setup) as ready:
        usual = {name: read(ready, texts) for name, read in SURFACES.items()}
        assert {tuple(found) for found in usual.values()} == {
            tuple((verdict, False) for verdict, _ in usual["batch"])
        }
        turns = zip(range(1, len(STEPS) + 1), itertools.cycle(SURFACES.items()), strict=False)
        for step, (name, read) in turns:
            met = faulty(step, texts[1], RuntimeError(SECRET))
            with caplog.at_level(logging.ERROR, logger="pura.faults"):
                first, second, third = read(ready, texts)
            assert met.met == 2, (step, name)  # beside the others, and alone
            assert second == ("internal", False), (step, name)
            assert (first, third) == tuple((usual[name][n][0], True) for n in (0, 2))
    said = log.read_text(encoding="utf-8") + caplog.text
    assert said.count("RuntimeError in a group of 3") == 2 * len(STEPS)
    assert "pura.detect." in said
    key = small_samples["marked-tbcc"]["key_hex"]
    assert not any(words in said for words in (SECRET, texts[1][:20], key))


def test_workers_contain_a_fault(quick, worker, texts, faulty):
    """Before texts are read side by side, then, and after; every step has its walk above."""
    documents = [from_text(text) for text in texts]
    for step in (1, 5, len(STEPS)):
        met = faulty(step, texts[1], RuntimeError(SECRET))
        with worker(BatchPlan, records=False) as read:
            rows = read(documents)
        assert [row.row["error"] for row in rows] == [None, "internal", None], step
        assert [row.alone for row in rows] == [True, False, True], step
        with worker(ReadPlan) as read:
            found = [told(one) for one in read(documents)]
        assert found[1] == ("internal", False), step
        assert (found[0][1], found[2][1]) == (True, True), step
        assert met.met == 4, step  # beside the others and alone, in either worker
    said = (quick.paths.state / FAULTS).read_text(encoding="utf-8")
    assert not any(words in said for words in (SECRET, texts[1][:20]))


def test_a_text_that_was_read_alone_says_so_in_its_record(quick, setup, texts, faulty):
    faulty(7, texts[1], ValueError(SECRET))
    with prepared(quick, setup) as ready:
        first, error, _ = ready.audit_many([AuditText(document=from_text(t)) for t in texts])
    assert not isinstance(first, PuraError)
    assert [step.number for step in first.audit.log] == list(range(1, 13))
    step = first.audit.log[0]
    assert "log.alone" in [note.key for note in step.note if not isinstance(note, str)]
    assert isinstance(error, PuraError)
    row = json.dumps(error.to_dict())
    assert error.values["reference"] in row
    assert SECRET not in row
    assert {fill(n, "de") for n in step.note if getattr(n, "key", "") == "log.alone"}


def test_texts_with_marks_by_others_are_read_alone_and_say_so(
    quick, setup, texts, faulty, tmp_path
):
    settings = tmp_path / "vllm.json"
    settings.write_text('{"algorithm": "gumbel", "key": 7, "context_width": 4}')
    create_foreign(quick, settings=settings, key=setup.keys[0], name="vllm")
    theirs = Setup(keys=(), profile=quick.profiles.get("vllm"), restore=False)
    with prepared(quick, theirs) as ready:
        for step in (1, 7, 12):
            faulty(step, texts[1], RuntimeError(SECRET))
            first, error, third = ready.audit_many(
                [AuditText(document=from_text(t)) for t in texts]
            )
            assert isinstance(error, PuraError)
            for one in (first, third):
                assert not isinstance(one, PuraError)
                assert one.notices == (Notice.READ_ALONE,)
                assert "log.alone" in [getattr(note, "key", "") for note in one.audit.log[0].note]


def test_a_row_that_cannot_be_made_costs_no_other_row(quick, setup, texts, monkeypatch):
    usual = batch.packed

    def packed(audit: Any) -> bytes:
        if audit.text == texts[1]:
            raise ValueError(SECRET)
        return usual(audit)

    monkeypatch.setattr(batch, "packed", packed)
    with prepared(quick, setup) as ready:
        rows = batch.reading(ready, records=True)([from_text(text) for text in texts])
    assert [row.row["error"] for row in rows] == [None, "internal", None]
    assert SECRET not in str(rows[1].row)


@pytest.mark.sampled
@pytest.mark.slow
def test_processes_and_actors_contain_a_fault_in_any_step(
    at, quick, setup, texts, each_engine, tmp_path, monkeypatch
):
    """A text for each step, all of them beside two that nothing is wrong with."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    faulty = importlib.import_module("_faulty_plan")
    steps = range(1, len(STEPS) + 1)
    broken = [f"{texts[1]} This one fails at step {step}." for step in steps]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in broken]
    faults = {
        digest: faulty.Fault(step=step, error=RuntimeError(SECRET))
        for step, digest in zip(steps, digests, strict=True)
    }
    monkeypatch.setattr(batch, "BatchPlan", partial(faulty.FaultyPlan, faults=faults))
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(json.dumps(text) for text in (texts[0], *broken, texts[2])))
    out = str(tmp_path / "out.jsonl")
    done = run_batch(
        quick,
        inputs=Inputs(names=(str(lines),)),
        setup=setup,
        output=out,
        engine=each_engine,
        jobs=2,
    )
    assert (done.rows, done.errors) == (14, {"internal": 12})
    assert 1 <= done.alone <= 2  # who shares a group is the workers' to say
    rows = list(read_rows(out))
    assert [row["error"] for row in rows] == [None, *["internal"] * 12, None]
    log = (quick.paths.state / FAULTS).read_text(encoding="utf-8")
    assert not any(words in log + str(rows) for words in (SECRET, "This one fails"))
    for row in rows[1:-1]:
        reference = str(row["message"]).partition("reference ")[2][:8]
        assert f"fault {reference}: RuntimeError in a group of 1, at " in log


def test_what_is_wrong_with_all_of_them_is_said_once_and_a_stop_is_a_stop(tmp_path):
    asked: list[tuple[int, bool]] = []

    def audit(fault: BaseException) -> Any:
        def read(some: Sequence[int], alone: bool) -> list[int | PuraError]:
            asked.append((len(some), alone))
            raise fault

        return read

    for fault in (InputError("file.large", name="a", mebibytes=1), Cancelled()):
        asked.clear()
        with pytest.raises(type(fault)):
            audit_contained([1, 2, 3], audit(fault), folder=tmp_path)
        assert asked == [(3, False)]
    assert not (tmp_path / FAULTS).exists()
    asked.clear()
    found = audit_contained([1, 2], audit(MemoryError()), folder=tmp_path / "not" / "there")
    assert [getattr(one, "code", "") for one in found] == ["model-memory"] * 2
    assert asked == [(2, False), (1, True), (1, True)]
    (tmp_path / "file").touch()  # a log that cannot be written costs no finding
    found = audit_contained([1], audit(KeyError("x")), folder=tmp_path / "file")
    assert [getattr(one, "code", "") for one in found] == ["internal"]


def test_memory_that_does_not_suffice_for_all_may_do_for_each(tmp_path):
    def read(some: Sequence[int], alone: bool) -> list[int | PuraError]:
        if len(some) > 1:
            return [ModelError("model.memory", name="card", code="model-memory")] * len(some)
        return [10 * some[0]]

    assert audit_contained([1, 2], read, folder=tmp_path) == [10, 20]


def test_an_audit_knows_when_its_key_was_created_and_what_was_issued(quick, setup):
    with prepared(quick, setup) as ready:
        use = ready._options.use
        assert (use.created, use.new, use.issued) == (use.today, True, 1)
        assert use.unassigned == 0
    with Register(quick.paths.register) as register:
        bits = setup.profile.payload_bits
        for number, series in enumerate((None, PayloadSeries(key="c" * 16, profile="d" * 16))):
            payload = Payload.from_int(number, bits)
            register.add(Issue(payload=payload, series=series, who="another key's"))
    with prepared(quick, setup) as ready:
        use = ready._options.use
        assert (use.issued, use.unassigned) == (1, 1)
    stranger = replace(quick, lent_keys={setup.keys[0].fingerprint: SecretKey(bytes(32))})
    lent = replace(setup, keys=(replace(setup.keys[0], entry=None),), ask_register=False)
    with prepared(stranger, lent) as ready:
        use = ready._options.use
        assert (use.created, use.new, use.issued) == (None, False, None)
