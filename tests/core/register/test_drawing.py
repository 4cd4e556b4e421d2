"""Numbers that are drawn: uniform, never twice, across processes that are killed."""

import collections
import multiprocessing
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.register.issues import SERIES

from pura.base.errors import RegisterError
from pura.register import drawing
from pura.register.drawing import draw_number
from pura.register.rows import Recipient
from pura.register.store import Register
from pura.register.verification import verify

DRAWS = """
import sys
import time
from pathlib import Path
from pura.register.rows import Recipient
from pura.register.store import Register
from pura.scheme import PayloadSeries

series = PayloadSeries(key="a" * 16, profile="c" * 16)
with Register(Path(sys.argv[1]), create=True, timeout=60.0) as register:
    for _ in range(400):
        entry = register.draw(series, 12, Recipient(who="customer"))
        print(int(entry.issue.payload), flush=True)  # the answer may leave now
        time.sleep(0.002)
time.sleep(60)
"""


def draw(bits, issued, source):
    return draw_number(
        bits, issued.__contains__, lambda: iter(sorted(issued)), randbelow=source.randrange
    )


@given(st.sets(st.integers(0, 63), max_size=63), st.integers(0, 2**32))
def test_a_number_is_never_drawn_twice_and_always_found(issued, seed):
    number = draw(6, issued, random.Random(seed))
    assert 0 <= number < 64
    assert number not in issued


def test_all_numbers_are_drawn_and_then_none(subtests):
    issued, source = set(), random.Random(1)
    for _ in range(256):
        issued.add(draw(8, issued, source))
    assert issued == set(range(256))
    with pytest.raises(RegisterError) as refused:
        draw(8, issued, source)
    assert refused.value.key == "register.used-up"


@pytest.mark.parametrize("tries", [0, drawing.TRIES])
def test_every_free_number_is_equally_probable(monkeypatch, tries):
    """Both ways of drawing: again until a free one comes, and by rank among the free ones."""
    monkeypatch.setattr(drawing, "TRIES", tries)
    issued, source = {0, 1, 5, 6, 7, 12}, random.Random(7)
    draws = 20_000
    counts = collections.Counter(draw(4, issued, source) for _ in range(draws))
    assert set(counts) == set(range(16)) - issued
    expected = draws / 10
    chi_squared = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_squared < 33.7  # 9 degrees of freedom: above it in 1 of 10,000 runs


def test_drawing_asks_once_where_few_numbers_are_issued():
    """What makes time constant: 10^8 numbers of 36 bits are one in seven hundred."""
    asked = []

    def taken(number):
        asked.append(number)
        return False

    def issued():
        raise AssertionError("the numbers are not listed")

    draw_number(36, taken, issued)
    assert len(asked) == 1


def test_processes_that_are_killed_draw_no_number_twice(tmp_path):
    """Three at once, on numbers so few that each would meet another's by chance."""
    path = tmp_path / "register.sqlite3"
    answered = []
    for _ in range(3):
        command = [sys.executable, "-P", "-c", DRAWS, str(path)]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        for process in processes:
            answered += [int(process.stdout.readline()) for _ in range(20)]
        time.sleep(0.05)
        for process in processes:
            process.send_signal(signal.SIGKILL)
            answered += [int(line) for line in process.stdout.read().split("\n")[:-1]]
            process.wait()
            process.stdout.close()
    assert len(set(answered)) == len(answered) >= 180
    with Register(path, read_only=True) as register:
        stored = [int(entry.issue.payload) for entry in register.entries()]
        assert set(answered) <= set(stored)
        assert len(set(stored)) == len(stored)
        assert verify(register).sound


def _draw_some(path, count):
    with Register(Path(path), timeout=60.0) as register:
        entries = register.draw_many(SERIES, 36, [Recipient(who="x")] * count)
        return [int(entry.issue.payload) for entry in entries]


def test_a_register_restored_from_a_backup_goes_on_without_a_secret(tmp_path):
    """Nothing but the rows is kept, so an old copy repeats no sequence."""
    path, backup = tmp_path / "register.sqlite3", tmp_path / "backup.sqlite3"
    with Register(path, create=True) as register:
        register.draw_many(SERIES, 36, [Recipient(who="x")] * 50)
    backup.write_bytes(path.read_bytes())
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        first, second = pool.starmap(_draw_some, [(str(path), 200), (str(backup), 200)])
    assert not set(first) & set(second)  # met by chance once in a million runs
