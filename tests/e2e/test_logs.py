"""The log of fifty audits, and the file that somebody may send: neither holds what is secret."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pura.base import logs
from pura.embed.generate import generate_batch
from pura.scheme import Payload, Profile, SecretKey
from pura_audit.platform import diagnostics
from pura_audit.platform.diagnostic_file import diagnostic_text

pytestmark = [pytest.mark.model, pytest.mark.slow]

TEXTS = 50
KEY = SecretKey(bytes(range(7, 39)))
KEY_NAME = "wombat-newsroom"
CASE = "Quokka inquiry"
AUDITOR = "Berta Echidna"
RECIPIENT = "Platypus Press"


@pytest.fixture
def folder(small_model, tmp_path: Path) -> Path:
    """Fifty files of three kinds, half of them marked, each with a name that nothing else has."""
    folder = tmp_path / "numbat-papers"
    folder.mkdir()
    profile = Profile(payload_bits=12, blocks=4, vocab_size=small_model.vocab_size)
    (tmp_path / "profile.json").write_text(profile.to_json())
    (tmp_path / "key.txt").write_text(KEY.to_hex())
    payloads = [Payload.from_int(1000 + number, 12) for number in range(TEXTS // 2)]
    texts = [
        one.text
        for one in generate_batch(
            small_model,
            ["The harbour"] * len(payloads),
            keys=KEY,
            payloads=payloads,
            profile=profile,
            tokens=60,
            seed=3,
        )
    ]
    texts += [f"Bandicoot {number} ate {number} pears in the garden." for number in range(25)]
    for number, text in enumerate(texts):
        name = folder / f"bilby-{number:02}"
        if number % 3 == 0:
            name.with_suffix(".txt").write_text(text)
        elif number % 3 == 1:
            name.with_suffix(".html").write_text(f"<html><body><p>{text}</p></body></html>")
        else:
            mail = f"From: a@example.org\nSubject: Potoroo\n\n{text}\n"
            name.with_suffix(".eml").write_text(mail)
    return folder


@pytest.fixture
def loudest(tmp_path: Path) -> Iterator[Callable[[], str]]:
    """The log file of the window, with everything in it."""
    diagnostics.start(tmp_path / "log", "debug")
    yield (tmp_path / "log" / diagnostics.LOG).read_text
    diagnostics.stop()
    logs.silence()
    logging.getLogger().setLevel(logging.WARNING)


def secrets(folder: Path) -> list[str]:
    """Everything that must not be in a log."""
    texts = [re.sub(r"<[^>]*>", " ", path.read_text()) for path in folder.iterdir()]
    pieces = {
        " ".join(words[start : start + 3])
        for words in (text.split() for text in texts)
        for start in range(0, len(words) - 3, 3)
    }
    payloads = [Payload.from_int(1000 + number, 12) for number in range(TEXTS // 2)]
    return [
        *pieces,
        *(form for payload in payloads for form in (str(payload), payload.hex)),
        *(path.name for path in folder.iterdir()),
        *("numbat", "bilby", "Potoroo", KEY_NAME, KEY.to_hex(), CASE, AUDITOR, RECIPIENT),
    ]


def test_log_of_fifty_audits_holds_no_secret(pura, folder, tmp_path, loudest):
    settings = ("--key-file", tmp_path / "key.txt", "--profile", tmp_path / "profile.json")
    settings += ("--model", "small")
    batch = pura(
        "-v", "batch", "run", folder, *settings, "-o", tmp_path / "out.jsonl", "--records", tmp_path
    )
    assert batch.returncode == 0, batch.stderr
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(rows) == TEXTS
    assert sum(row["outcome"] == "mark" for row in rows) >= TEXTS // 3
    first = min(folder.iterdir())
    one = pura("-v", "verify", first, *settings, "--save", CASE, "--auditor", AUDITOR)
    assert one.returncode == 0, one.stderr
    refused = pura("-v", "verify", tmp_path / "numbat.pdf", *settings)
    assert refused.returncode != 0
    register = pura(
        "-v",
        "register",
        "issue",
        "--profile",
        tmp_path / "profile.json",
        "--key-file",
        tmp_path / "key.txt",
        "--who",
        RECIPIENT,
    )
    assert register.returncode == 0, register.stderr
    log = loudest()
    printed = [
        line
        for run in (batch, one, register)
        for line in run.stderr.splitlines()
        if re.match(r"\d{4}-\d\d-\d\d ", line)
    ]
    for happened in (
        "PURA ",
        "a file was read",
        "an audit ended",
        "the model read",
        "case log: entry",
        "a batch ended",
        "register: ",
    ):
        assert happened in log, happened
        assert any(happened in line for line in printed), happened
    for text in (log, "\n".join(printed), diagnostic_text(tmp_path / "log", "versions")):
        assert [secret for secret in secrets(folder) if secret in text] == []


def test_lines_of_libraries_are_cut_to_their_head(tmp_path, loudest):
    logging.getLogger("some.package").warning("cannot open /home/berta/numbat.docx")
    logging.getLogger("pura.test").warning("two\nlines")
    logging.getLogger("other").warning("numbat\nnumbat")
    text = diagnostic_text(tmp_path / "log", "Versions 1")
    assert "numbat" in loudest()
    assert "numbat" not in text
    assert text.startswith("Versions 1\n")
    assert "some.package: …" in text
    assert "two\nlines" in text


def test_crash_of_the_last_run_goes_along(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / diagnostics.CRASH).write_text("Fatal Python error: Segmentation fault\n")
    assert "Segmentation fault" in diagnostic_text(folder, "Versions 1")
