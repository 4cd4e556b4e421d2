"""The sandbox itself: what the child can no longer do, and what the parent makes of a bad child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.core.documents.conftest import child_that
from tests.core.programs import ended, python, run

from pura.base import process
from pura.base.catalogue import catalogue
from pura.base.errors import InputError
from pura.base.numerals import LANGUAGES
from pura.base.process import NOT_SHUT_STATUS
from pura.documents import formats, manifests, read_data
from pura.documents.formats import FORMATS, ReadOptions, damaged
from pura.documents.reading import read_sandboxed
from pura.usecases.doctor import check_sandbox

HTML = formats.FORMATS["html"]
unix = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of the Linux kernel")


def sandboxed(code: str) -> str:
    whole = f"{IMPORT}\n{PRELUDE}\nsandbox.close()\n{code}"
    done = ended(sys.executable, "-c", whole)
    return f"{done.returncode} {done.stdout.strip()}"


IMPORT = "from pura.documents import sandbox"
PRELUDE = """
import socket, subprocess, os, ctypes, sys
def attempt(what):
    try:
        what()
    except BaseException as error:
        print(type(error).__name__)
    else:
        print("reached")
"""


@pytest.mark.parametrize(
    "code",
    [
        "open(sys.executable)",
        "open('/tmp/pura-sandbox-test', 'w')",
        "os.open(sys.executable, os.O_RDONLY)",
        "socket.socket()",
        "subprocess.run(['true'])",
        "os.fork()",
        "os.system('true')",
        "os.truncate(sys.executable, 0)",
        "os.chown(sys.executable, 1, 1)",
        "os.setxattr(sys.executable, 'user.x', b'')",
        "os.execv(sys.executable, [sys.executable])",
        "os.listdir('.')",
        "__import__('xmlrpc.client')",
        "ctypes.CDLL('libm.so.6')",
    ],
)
def test_the_sandbox_is_shut(code: str) -> None:
    called = code.partition("(")[0]
    if called.startswith("os.") and not hasattr(os, called.removeprefix("os.")):
        pytest.skip(f"{called} is not there")
    assert sandboxed(f"attempt(lambda: {code})").endswith("ForbiddenError")


@linux
def test_native_code_finds_every_way_out_shut() -> None:
    found = check_sandbox()
    assert found.problem is None, found.problem.message
    assert found.tried > 30


@linux
def test_the_ways_out_are_open_outside_the_sandbox(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"x")
    harmless = ["open", "truncate", "chmod", "mkfifo", "fork", "socket", "kill", "dup", "mmap"]
    code = (
        "import os, sys; from pura.documents import sandbox as w\n"
        f"ways = w._attempts(os.fsencode({str(tmp_path)!r}), os.getppid())\n"
        f"print([name for name in {harmless} if w._refused(ways[name])])"
    )
    assert python(code).strip() == "[]"


ASKED = json.dumps({"format": "html", "options": {"encoding": None, "format": None, "field": None}})


@linux
def test_a_sandbox_that_cannot_be_entered_reads_nothing() -> None:
    code = (
        "from pura.base import linux; from pura.documents import child\n"
        "linux._MACHINES.clear(); child.main()"
    )
    done = ended(sys.executable, "-c", code, input=f"{ASKED}\n<p>words")
    assert (done.returncode, done.stdout) == (NOT_SHUT_STATUS, "")


@linux
def test_a_sandboxed_child_ends_with_its_parent() -> None:
    child = (
        "import sys, time; from pura.base import linux; from pura.documents import sandbox\n"
        "linux.die_with_parent(); sandbox.close(); sys.stdout.write('in'); sys.stdout.flush()\n"
        "time.sleep(600)"
    )
    parent = (
        "import os, subprocess, sys; from pura.base.linux import PARENT\n"
        f"subprocess.run([sys.executable, '-c', {child!r}],"
        " env=dict(os.environ) | {PARENT: str(os.getpid())})"
    )
    running = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)
    assert running.stdout.read(2) == b"in"
    running.kill()
    # The pipe ends when the last of both has gone.
    assert running.communicate(timeout=60) == (b"", None)


@linux
@pytest.mark.parametrize(
    "module", ["pura.cli.__main__", "pura_audit.__main__", "pura.batch.worker"]
)
def test_who_holds_keys_is_closed_to_others(module: str) -> None:
    code = (
        "import atexit, resource, sys; from pura.base import linux\n"
        "atexit.register(lambda: print(linux.prctl(3) != 1,"
        " resource.getrlimit(resource.RLIMIT_CORE), file=sys.stderr))\n"
        f"sys.argv = ['pura', '--version']; from {module} import main; main()"
    )
    done = ended(sys.executable, "-c", code, input="")
    assert done.stderr.splitlines()[-1] == "True (0, 0)", done.stderr


@linux
def test_memory_and_time_are_limited() -> None:
    assert sandboxed("attempt(lambda: bytearray(2 << 30))").endswith("MemoryError")
    short = "from pura.documents import formats; formats.CHILD_CPU_SECONDS = 1"
    endless = f"{short}\n{IMPORT}\nsandbox.close()\nwhile True: pass"
    assert ended(sys.executable, "-c", endless).returncode == -24  # SIGXCPU


def test_the_child_knows_no_torch_and_no_secrets() -> None:
    code = (
        "import sys, pura.documents.child as c\n"
        "for f in c.FORMATS.values():\n    f.reader and f.load()\n"
        "print([m for m in ('torch','transformers','numpy','keyring') if m in sys.modules])"
    )
    assert python(code).strip() == "[]"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("import os; os.abort()", "memory", marks=unix),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "stopped on this file"),
        ("raise SystemExit(3)", "stopped on this file"),
        ("raise SystemExit(77)", "cannot be set up"),
        ("print('no json')", "cannot be understood"),
        ("print('{}')", "cannot be understood"),
        ("print('{\"extracts\": [{}]}')", "cannot be understood"),
        ("import time; time.sleep(60)", "longer than 0.5 seconds"),
        ("while True: print('x' * 65536)", "more than 1 MiB"),
    ],
)
def test_a_bad_child_is_one_clear_error(
    code: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifests, "start_child", child_that(code))
    monkeypatch.setattr(formats, "MAX_ANSWER_BYTES", 1 << 20)
    if "sleep" in code:
        monkeypatch.setattr(formats, "CHILD_WALL_SECONDS", 0.5)
    with pytest.raises(InputError) as caught:
        read_sandboxed(b"x" * 1_000_000, HTML, ReadOptions())
    assert expected in caught.value.message


def test_the_environment_of_the_child_holds_nothing_of_the_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PURA_SECRET", "x")
    seen: dict[str, dict[str, str]] = {}
    real = subprocess.Popen

    class Spy(real):  # type: ignore[misc, valid-type]
        def __init__(self, *args: object, **more: object) -> None:
            seen["env"] = dict(more["env"])  # type: ignore[call-overload]
            super().__init__(*args, **more)

    monkeypatch.setattr(subprocess, "Popen", Spy)
    assert read_data(b"<p>words", name="a.html").chosen[0].text == "words"
    assert "PURA_SECRET" not in seen["env"]


@linux  # where other systems are played
@pytest.mark.parametrize(
    ("system", "expected"),
    [("linux", ["started"]), ("win32", ["said", "started"]), ("darwin", ["said", "started"])],
)
def test_where_nothing_confines_the_child_that_is_said_before_it_starts(
    system: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    start, popen, here = manifests.start_child, subprocess.Popen, sys.platform

    def started(*args: Any, **more: Any) -> Any:
        done.append("started")
        with monkeypatch.context() as back:
            back.setattr(sys, "platform", here)
            return popen(*args, **more)

    monkeypatch.setattr(process, "unconfined", [lambda: done.append("said")])
    monkeypatch.setattr(subprocess, "Popen", started)
    monkeypatch.setattr(sys, "platform", system)
    assert read_data(b"plain words", name="a.txt").chosen[0].text == "plain words"
    assert done == []  # plain text needs no child
    assert read_data(b"<p>words", name="a.html").chosen[0].text == "words"
    assert done == expected
    start("code", own=True).communicate(b"")  # what it reads is our own
    assert done == [*expected, "started"]


def test_errors_never_quote_the_text() -> None:
    for name, data in {
        "a.json": b'{"text": "SECRETWORDS',
        "a.jsonl": b"SECRETWORDS",
        "a.pdf": b"%PDF-SECRETWORDS",
        "a.docx": b"PK\x03\x04word/documentSECRETWORDS",
    }.items():
        with pytest.raises(InputError) as caught:
            read_data(data, name=name)
        assert "SECRET" not in json.dumps(caught.value.to_dict())


def test_a_child_that_cannot_start_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_module: str) -> subprocess.Popen[bytes]:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(manifests, "start_child", start)
    with pytest.raises(InputError, match="cannot be started"):
        read_data(b"<p>words", name="a.html")


def test_a_packaged_program_is_its_own_child() -> None:
    """A frozen build has no ``python -m``; its start script takes the same arguments."""
    script = Path(__file__).parents[3] / "packaging" / "start_command.py"
    words = ("-P", "-B", "-m", "pura.documents.child")
    said = run(sys.executable, script, *words, input=f"{ASKED}\n<p>words", quiet=True)
    assert json.loads(said)["extracts"][0]["text"] == "words"


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_named_in_the_language_of_whoever_asks(name):
    refusal = damaged(FORMATS[name].label)
    of_kind = catalogue("errors")[f"format.of-{name}"].texts
    for language in LANGUAGES:
        assert of_kind[language] in refusal.words(language)[0]
    assert name == "json" or of_kind["en"] not in refusal.words("de")[0]
