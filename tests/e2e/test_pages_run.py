"""The blocks of the README and of the guide's pages, run as shown, in one shell a page."""

import hashlib
import io
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Client, Listener
from pathlib import Path

import pytest
from docx import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from pura.embed.generate import generate_batch
from pura.register import store
from pura.register.drawing import draw_number
from pura.scheme import Profile, SecretKey, parse_payload
from pura_audit.tools import demo

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[2]
CUT = "…"
MARK = "-- end of a command:"

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.programs("bash", "sha256sum", "sed"),
]


def house_key() -> SecretKey:
    """Return a key that stands in no file, since those of this project cannot be stored."""
    return SecretKey(hashlib.sha256(b"the house key of the pages").digest())


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A command, and the lines that the page shows below it."""

    command: str
    lines: list[str]


def shown(page: str) -> list[Shown]:
    """What the page lets one run, in its order; a block of Python is a command as well."""
    steps: list[Shown] = []
    for language, block in re.findall(r"```(console|python)\n(.*?)```", page, flags=re.DOTALL):
        if language == "python":
            printed = [line[2:] for line in block.splitlines() if line.startswith("# ")]
            steps.append(Shown(command=f"python - <<'END'\n{block}END", lines=printed))
        else:
            steps += _commands(block)
    return steps


def _commands(block: str) -> list[Shown]:
    steps: list[Shown] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append(Shown(command=line[2:], lines=[]))
        elif line.startswith("> "):
            steps[-1] = Shown(command=f"{steps[-1].command}\n{line[2:]}", lines=[])
        elif steps[-1].command.endswith("\\"):
            steps[-1] = Shown(command=f"{steps[-1].command}\n{line}", lines=[])
        else:
            steps[-1].lines.append(line)
    return steps


def pattern(lines: list[str]) -> re.Pattern[str]:
    """What was printed has to match: a line that is cut stands for any lines, even none."""
    parts = [
        r"(?:.*\n)*?"
        if line == CUT
        else r"[^\n]*".join(re.escape(piece.rstrip()) for piece in line.split(CUT)) + r"[ ]*\n"
        for line in lines
    ]
    return re.compile("".join(parts))


# Hands its words to the process of the tests, which has the model; says its answer.
PROGRAM = """#!{python} -IS
import os, sys
from multiprocessing.connection import Client
mixed = os.path.sameopenfile(1, 2)
with Client({address!r}, "AF_UNIX") as line:
    line.send(({words}, mixed))
    said, complained, code = line.recv()
sys.stdout.write(said)
sys.stderr.write(complained)
sys.exit(code)
"""


@pytest.fixture
def models(request) -> Path:
    """README and first hour are about the built-in model; other pages run with the small one."""
    found: Path = request.getfixturevalue(getattr(request, "param", "installed_models"))
    return found


def run_python(code: str) -> str:
    """Run a block as a program of its own would; return what it printed."""
    with redirect_stdout(io.StringIO()) as said:
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    return said.getvalue()


def run_shell(script: str, folder: Path, pura: Run) -> str:
    """Run a script in a shell; return what it printed.

    Its ``pura`` is the command in this process; its ``python`` runs what it is given here too.
    """
    programs = folder / "programs"
    programs.mkdir()
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join(
        [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    with Listener(family="AF_UNIX") as listener, (folder / "said").open("w+") as said:
        for name, words in (("pura", "sys.argv[1:]"), ("python", "sys.stdin.read()")):
            program = programs / name
            program.write_text(
                PROGRAM.format(python=sys.executable, address=listener.address, words=words)
            )
            program.chmod(0o755)
        with subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=said, stderr=said, env=environment, text=True
        ) as shell:

            def feed() -> None:
                shell.communicate(script)
                Client(listener.address, "AF_UNIX").close()

            feeder = threading.Thread(target=feed)
            feeder.start()
            with suppress(EOFError):  # the feeder's own call, at the end
                while True:
                    with listener.accept() as line:
                        words, mixed = line.recv()
                        if isinstance(words, str):
                            line.send((run_python(words), "", 0))
                            continue
                        done = pura(*words, mixed=mixed)
                        errors = "" if mixed else done.stderr
                        line.send((done.stdout, errors, done.returncode))
            feeder.join()
        said.seek(0)
        return said.read()


def run_steps(
    commands: list[str], folder: Path, pura: Run, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, int]]:
    """Run commands one after the other in one shell; return what each printed, and its status."""
    monkeypatch.chdir(folder)
    return results_of(run_shell(marked_ends(commands), folder.parent, pura), len(commands))


def marked_ends(commands: list[str]) -> str:
    """Return a script that says where each command ends, with its status."""
    # The status of each command is kept for the next, which may ask for it.
    return "".join(
        f'{command}\nstatus=$?; echo "{MARK} $status"; (exit $status)\n' for command in commands
    )


def results_of(said: str, count: int) -> list[tuple[str, int]]:
    """Return what each command printed, and its status; an answer may end within a line."""
    *printed, rest = re.split(rf"{MARK} (\d+)\n", said)
    assert rest == ""
    assert len(printed) == 2 * count, said
    ended = [one if not one or one.endswith("\n") else f"{one}\n" for one in printed[::2]]
    return list(zip(ended, map(int, printed[1::2]), strict=True))


def compare(steps: list[Shown], results: list[tuple[str, int]]) -> None:
    """Hold what was printed against what the page shows."""
    following = [*(step.command for step in steps[1:]), ""]
    for step, (output, status), after in zip(steps, results, following, strict=True):
        assert pattern(step.lines).fullmatch(output), f"$ {step.command}\n{output}"
        assert status == 0 or after == "echo $?", f"$ {step.command} ended with {status}"


def test_the_readme_shows_what_its_command_prints(tmp_path, home, qapp, capsys, monkeypatch):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(page.partition("\n## Documentation\n")[0].split()) <= 450, "for a stranger"
    [step] = shown(page)
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo: ")[2]
    assert step.command == "make demo"
    assert recipe.splitlines()[1].endswith(f"-m {demo.__name__}")
    monkeypatch.setenv("PURA_HOME", str(home))
    # The demonstration draws key and text anew, and now and then a text is a poor one.
    monkeypatch.setattr(SecretKey, "generate", classmethod(lambda kind: kind(bytes(range(32)))))
    monkeypatch.setattr(secrets, "randbits", lambda _bits: 1)
    draws_same_number(monkeypatch)
    monkeypatch.chdir(tmp_path)
    assert demo.main() == 0
    compare([step], [(capsys.readouterr().out, 0)])
    assert len(list((tmp_path / "demo-output").glob("window-*.png"))) == 2


@pytest.mark.sampled
def test_the_first_hour_shows_what_its_commands_print(tmp_path, desktop, pura, monkeypatch):
    steps = shown((ROOT / "docs" / "start" / "first-hour.md").read_text(encoding="utf-8"))
    assert any("--save" in step.command for step in steps)
    office = tmp_path / "office"
    office.mkdir()
    (office / "letter.txt").write_text("Dear neighbours, the street is closed on Friday.\n")
    # The page draws key, number and text anew, and now and then a text looks French: more is said.
    monkeypatch.setattr(SecretKey, "generate", classmethod(lambda _kind: house_key()))
    draws_same_number(monkeypatch)
    commands = [step.command.replace("--tokens 200", "--tokens 200 --seed 1") for step in steps]
    assert commands != [step.command for step in steps]
    compare(steps, run_steps(commands, office, pura, monkeypatch))


def draws_same_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the register draw the same number on every run; a register draws it only once."""
    always = partial(draw_number, randbelow=lambda below: 0x8E41B07C3 % below)
    monkeypatch.setattr(store, "draw_number", always)


def tracked(path: Path, before: str, added: str) -> None:
    """Write a Word file in which the end is a tracked insertion."""
    document = Document()
    paragraph = document.add_paragraph(before)
    insertion = OxmlElement("w:ins")
    insertion.set(qn("w:id"), "1")
    insertion.set(qn("w:author"), "A. Example")
    insertion.append(paragraph.add_run(added)._r)
    paragraph._p.append(insertion)
    document.save(str(path))


@pytest.fixture(scope="session")
def house_sample(small_model, samples) -> dict[str, str]:
    """A marked text of a key that stands in no file: those of the samples cannot be stored."""
    sample = samples["marked-tbcc"]
    prompt, bits = (sample["texts"][0][name] for name in ("prompt", "payload"))
    profile = Profile.from_dict(sample["profile"])
    payload = parse_payload(bits, len(bits))
    [written] = generate_batch(
        small_model, [prompt], [payload], house_key(), profile, tokens=110, seed=1
    )
    return {
        "text": written.text,
        "prompt": prompt,
        "payload": bits,
        "key_hex": house_key().to_hex(),
        "profile": json.dumps(sample["profile"]),
    }


@pytest.fixture
def office(tmp_path, house_sample, certificate, desktop) -> Path:
    """A folder with the files that the pages take for granted, and the user's keyring."""
    folder = tmp_path / "office"
    text, prompt, payload = (house_sample[name] for name in ("text", "prompt", "payload"))
    for name, content in (
        ("text.txt", text),
        ("old.txt", text),
        ("archive/one.txt", text),
        ("drafts/earlier.txt", ""),
        ("prompt.txt", prompt),
        ("requests.txt", "A first\nA second\n"),
        ("issued.csv", f"payload,who\n{payload},Customer 417\n"),
        ("profile.json", house_sample["profile"]),
        ("key.txt", house_sample["key_hex"]),
        ("pass", PASSPHRASE),
        ("words", "seven herons over the harbour"),
        ("request.json", '{"number": "R-2026-117"}'),
        ("watermark.json", '{"algorithm": "gumbel", "key": 42, "context_width": 4}'),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for name in ("pass", "words"):
        (folder / name).chmod(0o600)
    for name in ("essay.docx", "letter.docx", "text.docx"):
        tracked(folder / name, text, " And more.")
    shutil.copy(certificate, folder / "desk.p12")
    shutil.copy(certificate.with_suffix(".pem"), folder / "desk.pem")
    return folder


PASSPHRASE = "Grüße 7"
# What has happened before a page begins.
BEFORE = {
    "how-to/reports.md": ["pura verify text.txt --profile house --key house --save 'Letter 17'"],
    "de/how-to/reports.md": ["pura verify text.txt --profile haus --key haus --save 'Brief 17'"],
    "de/start/install.md": [
        "pura key export haus -o haus.purakey --yes --passphrase-file words",
        "pura key remove haus --yes",
    ],
    "start/install.md": [
        "pura key export house -o house.purakey --yes --passphrase-file words",
        "pura key remove house --yes",
    ],
    "how-it-works/rivals.md": [
        "pura key new gemma",
        "pura profile foreign watermark.json --key gemma --name gemma",
    ],
}
# What a page leaves open, or what is another thing on every computer.
INSTEAD = {
    " 3f09": " $(pura caselog show CASE | sed -n 's/ *letter.docx.*//p')",
    "118:9ac1…": "$(pura caselog verify | grep -o '[0-9]*:[0-9a-f]\\{64\\}' | head -n 1)",
    "/mnt/archive": "archive",
    "letters/ 'mail/**/*.eml' posts.parquet": "archive old.txt",
    "merge part-*.parquet --output": "merge found.parquet --output",
    "--certificate desk.p12": "--certificate desk.p12 --passphrase-file pass",
    # Its own passphrase, and that of the store.
    "--file house.purakey --in-file": "--file house.purakey --passphrase-file words --in-file",
    "key import house --file house": "--passphrase-file words key import house --file house",
    "--passphrase-file FILE": "--passphrase-file words",
}
PAGES = [
    "how-to/guide.md",
    "how-to/batch.md",
    "how-to/reports.md",
    "how-to/caselog.md",
    "start/install.md",
    "how-it-works/rivals.md",
    "de/how-to/guide.md",
    "de/how-to/reports.md",
    "de/how-to/caselog.md",
    "de/start/install.md",
]
# Pages with commands that no test runs as they stand, and why.
NOT_RUN = {
    "CONTRIBUTING.md": "set-up and checks: CI runs them",
    "docs/how-it-works/reproduction.md": "the lab: minutes to hours; tests/core/lab",
    "docs/how-to/custody.md": "forms of commands, with NAME; tests/core/cli",
    "docs/de/how-to/custody.md": "forms of commands, with NAME; tests/core/cli",
    "docs/how-to/duties.md": "ends with 1 where one is absent; tests/core/serve/test_duties.py",
    "docs/de/how-to/duties.md": "the commands of docs/how-to/duties.md",
    "docs/de/how-to/two-layers.md": "the commands of docs/how-to/two-layers.md",
    "docs/how-to/lab.md": "minutes; tests/core/lab",
    "docs/how-to/power.md": "minutes; tests/core/measure",
    "docs/how-to/questions.md": "the same commands: tests/core/cli/test_questions_command.py",
    "docs/how-to/releasing.md": "a release; packaging/release",
    "docs/how-to/serving-a-detector.md": "a service; tests/core/serve",
    "docs/de/how-to/serving-a-detector.md": "a service; tests/core/serve",
    "docs/de/start/first-hour.md": "the commands of docs/start/first-hour.md",
}


def test_every_page_with_commands_is_run_or_says_why_not():
    block = re.compile(
        r"^ {4}(?:pura|python|make|pip|minisign) |^```(?:console|python|sh)$", re.MULTILINE
    )
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    with_blocks = {
        page.relative_to(ROOT).as_posix() for page in pages if block.search(page.read_text("utf-8"))
    }
    # docs/how-to/serving.md: tests/core/embed/test_serving_doc.py; circle.md: test_circle.py;
    # chat-front-ends.md: test_chat_front_ends.py; two-layers.md: test_two_layers.py.
    # docs/reference/api.md: tests/api/test_api_page.py.
    run = {"README.md", "docs/start/first-hour.md", "docs/reference/api.md"}
    elsewhere = ("serving", "circle", "chat-front-ends", "two-layers")
    run |= {f"docs/how-to/{name}.md" for name in elsewhere}
    assert with_blocks == run | {f"docs/{page}" for page in PAGES} | set(NOT_RUN)


@pytest.mark.programs("dbus-run-session", "gnome-keyring-daemon")
@pytest.mark.parametrize("models", ["small_models"], indirect=True)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.sampled] * n.startswith("de/")) for n in PAGES],
)
def test_the_commands_of_a_page_run(name, office, pura, monkeypatch):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    joined = re.sub(r"\\\n\s*", " ", page)
    commands = re.findall(r"^    ((?:pura (?!lab)|printf ).*)$", joined, re.MULTILINE)
    assert commands
    [house] = set(re.findall(r"--key (house|haus|desk)\b", page))
    case = "'Leserbrief'" if name.startswith("de/") else "'Letter to the editor'"
    for old, new in INSTEAD.items():
        old, new = (one.replace("house", house) for one in (old, new.replace("CASE", case)))
        commands = [command.replace(old, new) for command in commands]
    commands = [
        f"pura key import {house} --file key.txt",
        f"pura profile import profile.json --name {house}",
        *BEFORE.get(name, []),
        *commands,
    ]
    results = run_steps(commands, office, pura, monkeypatch)
    for command, (output, status) in zip(commands, results, strict=True):
        assert status == 0, f"$ {command} ended with {status}\n{output}"


@pytest.mark.parametrize(
    ("lines", "printed", "same"),
    [
        (["one", CUT, "four"], "one\ntwo\nthree\nfour\n", True),
        (["one", CUT, "four"], "one\nfour\n", True),
        (["one", "four"], "one\ntwo\nfour\n", False),
        ([f"a {CUT} c"], "a b c\n", True),
        ([f"a {CUT} c"], "a\nb c\n", False),
        (["1.5"], "1x5\n", False),
        ([], "something\n", False),
    ],
)
def test_a_cut_stands_for_what_is_left_out_and_for_nothing_else(lines, printed, same):
    assert bool(pattern(lines).fullmatch(printed)) is same
