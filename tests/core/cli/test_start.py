"""The first moments of the command: an interruption there ends it without a traceback."""

import os
import signal
import subprocess
import sys
import time
from importlib.metadata import entry_points

import pytest

from pura.cli import interrupt, start

BEGUN = "from pura.cli import interrupt, start; interrupt.end_at_once()"
COMMAND = f"{BEGUN}; import os; os.write(1, b'.'); start.run()"


@pytest.fixture
def caught_interruptions():
    """Children that do not ignore interruptions, as those of a background job do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("caught_interruptions")
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_an_interruption_shows_no_traceback_at_any_moment():
    """From the first import on to the end of ``pura --help``, in steps of 25 ms."""
    ends = set()
    for step in range(32):
        done = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "--help"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert done.stdout is not None
        assert done.stdout.read(1) == "."
        time.sleep(0.025 * step)  # the program is interrupted at another place each time
        done.send_signal(signal.SIGINT)
        _, told = done.communicate(timeout=60)
        assert "Traceback" not in told, (step, told)
        assert "KeyboardInterrupt" not in told, (step, told)
        assert done.returncode in (0, 130, -signal.SIGINT), (step, told)
        ends.add(done.returncode)
    assert -signal.SIGINT in ends


def test_the_installed_command_begins_there():
    [command] = entry_points(group="console_scripts", name="pura")
    assert command.load() is start.run


def test_an_ignored_interruption_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        interrupt.end_at_once()
        interrupt.end_tidily()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
