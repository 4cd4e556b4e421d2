"""A batch from end to end, with a reader that needs no model; killed, it goes on where it was."""

import datetime as dt
import json
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest
from tests.core.stops import stop_after

from pura.base.errors import Cancelled, InputError, RecordError
from pura.base.paths import resource
from pura.batch import journal as journals
from pura.batch.engine import Engine, Read, here, local
from pura.batch.inputs import Inputs
from pura.batch.journal import BatchJournal, work_off
from pura.batch.results import json_schema, merged, read_rows, row_line, row_of, write_rows


def pile(folder: Path, texts: int = 90) -> Inputs:
    """A table in which every tenth text is one that was there before, a file, and a missing one."""
    rows = [{"id": n, "text": f"text {n - n % 10 if n % 10 == 5 else n}"} for n in range(texts)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n{\n")
    (folder / "one.txt").write_text("text 3")
    names = ("rows.jsonl", "one.txt", "none.txt")
    return Inputs(names=tuple(str(folder / name) for name in names))


def counted(fast: Any, seen: list[str]) -> Engine:
    """The engine of this process, which notes what it reads."""
    return here(noted_by(fast, seen))


def noted_by(fast: Any, seen: list[str]) -> Read:
    opened = fast.FastPlan().opened(fast.lend())
    read = opened.__enter__()

    def noted(documents: Any) -> Any:
        seen.extend(document.text for document in documents)
        return read(documents)

    return noted


def test_every_item_is_a_row_in_order_and_no_text_is_read_twice(fast, tmp_path):
    inputs, seen = pile(tmp_path), list[str]()
    out = str(tmp_path / "out.jsonl")
    fast.work(out, tmp_path / "j", inputs, counted(fast, seen))
    rows = list(read_rows(out))
    assert [(r["input"], r["item"]) for r in rows] == [
        *((1, n) for n in range(1, 92)),
        (2, 1),
        (3, 1),
    ]
    assert [r["id"] for r in rows[:3]] == ["0", "1", "2"]
    assert [r["error"] for r in rows if r["error"]] == ["input-damaged", "input-unreadable"]
    assert {r["verdict"] for r in rows if r["error"]} == {"not-examinable"}
    assert sorted(seen) == sorted(set(seen)), "a text is read once"
    assert len(seen) == 81
    assert rows[3]["digest"] == rows[91]["digest"]
    assert rows[3]["log10_e"] == rows[91]["log10_e"]
    schema = json.loads(resource("batch-row.schema.json").read_text())
    assert schema == json_schema()
    check = jsonschema.Draft202012Validator(schema)
    for row in rows:
        check.validate(row)
    # Run again it reads nothing; with one text more it reads that one.
    before = Path(out).read_bytes()
    fast.work(out, tmp_path / "j", inputs, counted(fast, seen))
    assert Path(out).read_bytes() == before
    assert len(seen) == 81
    (tmp_path / "rows.jsonl").write_text(
        '"something new"\n' + (tmp_path / "rows.jsonl").read_text()
    )
    fast.work(out, tmp_path / "j", inputs, counted(fast, seen))
    assert seen[81:] == ["something new"]
    fresh = str(tmp_path / "fresh.jsonl")
    fast.work(fresh, tmp_path / "other", inputs)
    assert Path(out).read_bytes() == Path(fresh).read_bytes()


def test_parquet_and_json_lines_hold_the_same_rows(fast, tmp_path):
    inputs = pile(tmp_path)
    for name in ("out.jsonl", "out.parquet"):
        fast.work(str(tmp_path / name), tmp_path / "j", inputs)
    rows = list(read_rows(str(tmp_path / "out.jsonl")))
    assert list(read_rows(str(tmp_path / "out.parquet"))) == rows
    write_rows(f"file://{tmp_path}/far.parquet", iter(rows), "parquet")
    assert list(read_rows(f"file://{tmp_path}/far.parquet")) == rows
    (tmp_path / "bad.parquet").write_bytes((tmp_path / "out.parquet").read_bytes()[:-9])
    with pytest.raises(RecordError):
        list(read_rows(str(tmp_path / "bad.parquet")))


def test_what_is_no_result_is_refused(tmp_path):
    place = {"input": 1, "item": 1, "piece": 1, "path": "p", "part": "", "verdict": "mark"}
    good = row_of(place, {})
    path = tmp_path / "x.jsonl"
    for name, value in (("item", "1"), ("item", True), ("passages", [[1]]), ("fields", {"a": 1})):
        path.write_text(json.dumps(good | {name: value}) + "\n")
        with pytest.raises(RecordError):
            list(read_rows(str(path)))
    path.write_bytes(row_line(good) + b'{"input": 1')
    with pytest.raises(RecordError):
        list(read_rows(str(path)))


def test_shards_merge_into_what_one_run_gives(fast, tmp_path):
    inputs = pile(tmp_path, texts=300)
    fast.work(str(tmp_path / "whole.jsonl"), tmp_path / "j", inputs)
    names = []
    for number in range(3):
        names.append(str(tmp_path / f"{number}.jsonl"))
        fast.work(names[-1], tmp_path / f"j{number}", replace(inputs, shard=(number, 3)))
    write_rows(str(tmp_path / "merged.jsonl"), merged(names[::-1]), "jsonl")
    assert (tmp_path / "merged.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    with pytest.raises(InputError, match="two of the results"):
        list(merged([names[0], names[0]]))


def test_a_journal_belongs_to_its_settings_and_to_one_program(tmp_path):
    with BatchJournal(tmp_path / "j", {"key": 1}), pytest.raises(InputError, match="in use"):
        BatchJournal(tmp_path / "j", {"key": 1})
    with pytest.raises(InputError, match="another key"):
        BatchJournal(tmp_path / "j", {"key": 2})
    (tmp_path / "bad").write_bytes(b"no database at all, but long enough to be looked at" * 40)
    with pytest.raises(InputError, match="--force"):
        BatchJournal(tmp_path / "bad", {"key": 1})


def test_a_batch_keeps_the_day_on_which_it_began(tmp_path):
    for day in ("2026-01-01", "2026-01-02"):
        with BatchJournal(tmp_path / "j", {"key": 1, "day": day}) as book:
            assert book.day == dt.date(2026, 1, 1)
    with pytest.raises(InputError, match="another key"):
        BatchJournal(tmp_path / "j", {"key": 2, "day": "2026-01-01"})
    # One that an earlier version began names no day: it goes on with one, and keeps that.
    for day in (None, "2026-01-02", "2026-01-03"):
        with BatchJournal(tmp_path / "old", {"key": 1} | ({"day": day} if day else {})) as book:
            assert book.day == (dt.date(2026, 1, 2) if day else None)


def test_frames_are_the_same_after_a_stop_at_any_place(fast, tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "FRAME_TEXTS", 7)
    inputs = pile(tmp_path, texts=150)

    def framed(name: str, stop: int | None) -> list[tuple[str, ...]]:
        read = noted_by(fast, [])
        frames: list[tuple[str, ...]] = []

        def stopping(given: Any, _: Any) -> Any:
            for frame in given:
                if len(frames) == stop:
                    raise KeyboardInterrupt
                frames.append(tuple(text.digest for text in frame))
                yield frame, read([text.document for text in frame])

        with suppress(KeyboardInterrupt):
            fast.work(str(tmp_path / f"{name}.jsonl"), tmp_path / name, inputs, stopping)
        return frames

    whole = framed("whole", None)
    assert {len(frame) for frame in whole[:-1]} == {7}
    for stop in (0, 1, 9, len(whole) - 1):
        first, rest = framed(f"s{stop}", stop), framed(f"s{stop}", None)
        assert first + rest == whole
        assert (tmp_path / f"s{stop}.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_and_started_again_it_gives_the_same_bytes(fast, tmp_path, jobs):
    inputs = pile(tmp_path, texts=400)
    fast.work(str(tmp_path / "whole.jsonl"), tmp_path / "whole", inputs)
    out, random_ = tmp_path / "out.jsonl", random.Random(jobs)
    command = [sys.executable, fast.__file__, out, tmp_path / "j", "0.006", str(jobs)]
    kills = 0
    while not out.exists():
        child = subprocess.Popen([*map(str, command), *inputs.names])
        try:
            child.wait(timeout=0.5 + 0.6 * random_.random() if kills < 4 else 120)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
            kills += 1
    assert kills
    assert not list(tmp_path.glob(".*")), "what was half written is gone"
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_worker_that_dies_costs_a_try_and_not_a_row(fast, tmp_path):
    texts = [f"text {n}" for n in range(70)]
    texts[11] = f"{fast.DEADLY}, once"
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, texts)))
    inputs = Inputs(names=(str(tmp_path / "rows.jsonl"),))
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    out = str(tmp_path / "out.jsonl")
    engine = local(fast.FastPlan(deaths=str(deaths)), fast.lend, 2)
    fast.work(out, tmp_path / "j", inputs, engine)
    assert [row["error"] for row in read_rows(out)] == [None] * 70
    assert len(list(deaths.iterdir())) == 1
    # One that no worker survives is a row with an error; those beside it are read.
    engine = local(fast.FastPlan(), fast.lend, 2)
    alone: list[int] = []
    fast.work(out, tmp_path / "j2", inputs, engine, tell=lambda at: alone.append(at.alone))
    assert alone[-1] == journals.FRAME_TEXTS - 1, "others of its frame are read one by one"
    rows = list(read_rows(out))
    assert [(r["item"], r["error"]) for r in rows if r["error"]] == [(12, "batch-lost")]
    assert len(rows) == 70


def test_who_stops_waits_for_no_worker_that_gets_ready(fast, tmp_path):
    (tmp_path / "one.txt").write_text("text")
    engine = local(fast.FastPlan(opening=600.0), fast.lend, 2)  # longer than a test may take
    inputs = Inputs(names=(str(tmp_path / "one.txt"),))
    with BatchJournal(tmp_path / "j", {}) as book, pytest.raises(Cancelled):
        work_off(inputs, book, engine, checkpoint=stop_after(3))
    assert not running()


def test_keys_reach_workers_through_a_pipe_alone(fast, tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(f"text {n}") for n in range(200)))
    inputs = Inputs(names=(str(tmp_path / "rows.jsonl"),))
    plan = fast.FastPlan(seconds=0.01)
    seen: list[bytes] = []

    def look(_: Any) -> None:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if b"pura.batch.worker" in (process / "cmdline").read_bytes():
                    seen.append((process / "cmdline").read_bytes())
                    seen.append((process / "environ").read_bytes())
            except OSError:
                continue

    out = str(tmp_path / "out.jsonl")
    fast.work(out, tmp_path / "j", inputs, local(plan, fast.lend, 2), tell=look)
    fast.work(str(tmp_path / "here.jsonl"), tmp_path / "j2", inputs)
    # The evidence of this reader is drawn from the keys: so they did arrive.
    assert Path(out).read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert seen
    everything = [*seen, *(path.read_bytes() for path in tmp_path.iterdir())]
    for key in fast.KEYS:
        for form in (key, key.hex().encode(), key.hex().upper().encode()):
            assert not any(form in data for data in everything)
    while running():  # no worker outlives the batch
        time.sleep(0.1)


def running() -> list[Any]:
    """Workers of this process: beside it others may test batches too."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "pura.batch.worker" in process.cmdline():
                found.append(process)
    return found
