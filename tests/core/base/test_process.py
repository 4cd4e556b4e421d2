"""How a run ends that somebody else ends."""

import ast
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pura
from pura.base.process import start_child

CODE = """
import signal, sys, time
# Whoever runs the tests in the background, or under nohup, has these ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from pura.cli import __main__ as command
def work():
    try:
        print("a row", flush=True)
        time.sleep(600)
    finally:
        print("its end", flush=True)
command.app = work
command.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_terminate_and_hang_up_end_a_run_like_an_interruption():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = subprocess.Popen(
            [sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert run.stdout.readline() == b"a row\n"
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
        assert (run.returncode, out, err) == (128 + number, b"its end\n", b"Stopped.\n")


def test_a_child_of_ours_sees_no_device(monkeypatch):
    # A torch that sees a device whose driver the sandbox hides cannot load a model.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with start_child("code") as child:
        said, _ = child.communicate(
            b"import os; print('seen', os.environ['CUDA_VISIBLE_DEVICES'])\n"
        )
    assert b"seen " in said.split(b">>> ")[1].splitlines()


def test_no_child_opens_a_window_on_windows_or_hears_ctrl_c_there():
    found = 0
    for path in Path(pura.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "subprocess.Popen":
                flags = [key.value for key in node.keywords if key.arg == "creationflags"]
                assert [ast.unparse(flag) for flag in flags] == ["NO_WINDOW"], path
                found += 1
    assert found == 3
