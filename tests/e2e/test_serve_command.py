"""``pura serve`` as a process: a kept answer outlives its death; it ends when asked."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from tests.core.programs import lend
from typer.testing import CliRunner

from pura.base.paths import user_paths
from pura.caselog import CaseLog
from pura.cli.__main__ import app


def pura(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code, (words, done.output, done.exception)
    return done.stdout


def test_tokens_are_made_listed_and_revoked(rows):
    made = pura("serve", "token", "new", "City paper", "--role", "trusted", "--per-day", "7")
    assert made.splitlines()[-1].startswith("pura_")
    assert len(made.splitlines()[-1]) == len("pura_") + 43  # 256 bits
    [row] = rows(pura("serve", "token", "list", "--json"))
    assert (row["name"], row["role"], row["per_day"], row["revoked"]) == (
        "City paper",
        "trusted",
        7,
        "",
    )
    assert "7 a day" in pura("serve", "token", "list")
    pura("serve", "token", "revoke", row["id"])
    assert "revoked on" in pura("serve", "token", "list")
    pura("serve", "token", "new", "x", "--role", "king", code=2)
    pura("serve", "token", "new", "x", "--expires", "soon", code=2)
    pura("serve", "--listen", "127.0.0.1:0", code=2)  # without a profile


PROFILE = {
    "scheme": "pura1",
    "code": "tbcc",
    "payload_bits": 16,
    "vocab_size": 49152,
    "fields": [
        {"name": "customer", "bits": 10, "kind": "integer"},
        {"name": "day", "bits": 6, "kind": "integer"},
    ],
}
KEY = "00112233445566ff"


def test_a_publisher_is_granted_values_when_its_token_is_made_and_later(tmp_path, rows):
    profile = tmp_path / "house.json"
    profile.write_text(json.dumps(PROFILE))
    new = ("serve", "token", "new", "press", "--role", "publisher", "--profile", str(profile))
    pura(
        *new,
        "--range",
        "customer=400..499",
        "--range",
        "0x0..0x3f",
        "--key",
        KEY,
        "--epoch",
        "2026-11",
    )
    [row] = rows(pura("serve", "token", "list", "--json"))
    grants = [(one["key"], one["bits"], one["first"], one["last"]) for one in row["grants"]]
    assert grants == [(KEY, 16, 400 << 6, (500 << 6) - 1), (KEY, 16, 0, 63)]
    assert [one["epoch"] for one in row["grants"]] == ["2026-11"] * 2
    assert "0x6400..0x7cff" in pura("serve", "token", "list")
    pura("serve", "token", "grant", "press", "--profile", str(profile))
    [row] = rows(pura("serve", "token", "list", "--json"))
    [grant] = row["grants"]
    assert (grant["key"], grant["epoch"], grant["first"], grant["last"]) == ("", "", 0, 0xFFFF)
    publish = ("serve", "token", "grant", "press", "--profile", str(profile))
    pura(*publish, "--epoch", "2026-11", code=2)  # of which key?
    pura("serve", "token", "grant", row["id"])
    [row] = rows(pura("serve", "token", "list", "--json"))
    assert row["grants"] == []


def test_a_profile_that_names_its_key_grants_marks_of_that_key(tmp_path, rows):
    profile = tmp_path / "house.json"
    profile.write_text(json.dumps(PROFILE | {"key": KEY}))
    pura("serve", "token", "new", "press", "--role", "publisher", "--profile", str(profile))
    [row] = rows(pura("serve", "token", "list", "--json"))
    assert [grant["key"] for grant in row["grants"]] == [KEY]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--role", "publisher"], 2),  # which values?
        (["--role", "publisher", "--range", "customer=400..499"], 2),  # of which profile?
        (["--role", "publisher", "--profile", "P", "--profile", "P", "--range", "0x0..0x1"], 2),
        (["--role", "publisher", "--profile", "P", "--range", "day=1..2"], 1),
        (["--role", "publisher", "--profile", "P", "--key", "nobody"], 1),
        (["--role", "trusted", "--profile", "P"], 1),
    ],
)
def test_a_grant_that_cannot_be_is_refused(tmp_path, rows, options, code):
    profile = tmp_path / "house.json"
    profile.write_text(json.dumps(PROFILE))
    named = [str(profile) if option == "P" else option for option in options]
    pura("serve", "token", "new", "press", *named, code=code)
    assert rows(pura("serve", "token", "list", "--json")) == []


@contextmanager
def served(folder: Path, *words: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """Run the service as a process of its own."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    given = ["--profile", "p.json", "--key-file", "k.hex", "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pura.cli", "serve", *given, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stderr=subprocess.PIPE,
        text=True,
    )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        try:
            while True:
                assert process.poll() is None, process.stderr and process.stderr.read()
                try:
                    if client.get("/readyz").status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.05)  # leaves the processor to the service
            yield client, process
        finally:
            process.kill()
            process.communicate()


@pytest.mark.sampled
@pytest.mark.slow
def test_a_kept_answer_outlives_the_process_and_sigterm_ends_it(tmp_path, small_models, samples):
    lend(small_models, user_paths().models)
    sample = samples["marked-tbcc"]
    (tmp_path / "p.json").write_text(json.dumps(sample["profile"]))
    (tmp_path / "k.hex").write_text(sample["key_hex"])
    (tmp_path / "k.hex").chmod(0o600)
    token = pura("serve", "token", "new", "Desk", "--role", "internal").splitlines()[-1]
    header = {"Authorization": f"Bearer {token}"}
    text = sample["texts"][0]["text"]
    with served(tmp_path, "--anyone") as (client, process):
        asked = {"text": text, "case": "2026-017"}
        told = client.post("/v1/checks", json=asked, headers=header).json()
        while told["status"] == "waiting":
            time.sleep(0.05)
            told = client.get(f"/v1/checks/{told['id']}", headers=header).json()
        process.kill()
        process.wait(60)
    with CaseLog(user_paths().caselog, read_only=True) as log:
        assert len(list(log.acts("examination-finished"))) == 1
    assert told["answer"]["verdict"] == "mark"
    with served(tmp_path, "--anyone") as (client, process):
        assert client.get("/v1/detector").json()["anyone"] is True
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0
    events = [json.loads(line)["event"] for line in said.splitlines() if line.startswith("{")]
    assert events == ["draining", "ends"]
    assert text[:40] not in said
