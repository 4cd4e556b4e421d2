"""The real command, as a person or a script would use it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import c2pa_text
import pytest
from tests.core.certificates import authority, manifest_signer, packed
from tests.core.provenance.test_writing import verdict

from pura.base.errors import CaseLogError
from pura.base.paths import resource
from pura.record.audit import Audit
from pura.record.json_io import from_dict
from pura.usecases.cases import SavingRun
from pura.version import __version__

pytestmark = pytest.mark.model
HUMAN = Path(__file__).resolve().parents[1] / "data" / "human.txt"


def all_german(said: str) -> None:
    """Refuse English sentences; what is quoted, and a path, may be anything."""
    prose = re.sub(r"»[^«]*«|/\S+", "", said)
    words = r"\b(the|of|is|are|were|not|with|cannot|there|this|and|from|no|by|for|to|a|it)\b"
    assert not re.findall(words, prose), prose


def options(folder: Path) -> list[str | Path]:
    return ["--key-file", folder / "key.txt", "--profile", folder / "profile.json"]


def test_version_and_help_need_no_model(pura):
    assert pura("--version").stdout.strip() == f"pura {__version__}"
    for words in ((), ("key",), ("model",), ("profile",), ("verify",), ("generate",)):
        done = pura(*words, "--help")
        assert done.returncode == 0, done.stderr
        assert "Usage" in done.stdout


def test_the_paper_decoder_reads_the_samples(pura, rows, marked, samples):
    files = sorted(marked.glob("[0-9]*.txt"))
    done = pura("verify", *files, *options(marked), "--json", "--decoder", "paper")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    assert [row["input"]["name"] for row in found] == [f.name for f in files]
    for row, text in zip(found, samples["marked"]["texts"], strict=True):
        assert row["payload"] == text["payload"]
        assert row["verdict"] == "mark"
        assert row["decoder"] == "paper"
        assert len(row["bits"]) == 40
        assert {"position", "llr", "readings", "repaired", "parity"} <= row["bits"][0].keys()
        assert row["input"].keys() >= {"name", "sha256", "characters", "tokens"}


def test_generate_then_verify_with_a_known_prompt(pura, rows, tmp_path, marked):
    profile, text, ids = (tmp_path / n for n in ("profile.json", "text.txt", "ids.json"))
    assert pura("profile", "new", "--bits", "24", "-o", profile).returncode == 0
    payload = "010110100111100010101101"
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("The museum opened its doors to visitors on Sunday, and", newline="")
    shared = f"--prompt-file {prompt} --profile {profile} --key-file {marked / 'key.txt'}"
    written = f"--payload {payload} --tokens 60 --seed 7 --ids {ids} -o {text} --who Paper"
    key, certificate = manifest_signer(authority())
    signer, store = tmp_path / "signer.p12", tmp_path / "text.c2pa"
    signer.write_bytes(packed(key, certificate))
    both = f"--certificate {signer} --soft-binding org.example.pura.1 --store {store}"
    made = pura(*f"generate {shared} {written} {both}".split())
    assert made.returncode == 0, made.stderr
    assert len(json.loads(ids.read_text())["ids"]) == 60
    of = ("--profile", profile, "--key-file", marked / "key.txt")
    assert "Paper" in pura("register", "find", payload, *of).stdout
    assert verdict(text.read_bytes(), "a8")[:3] == ("valid", "valid", "match")
    assert c2pa_text.extract_manifest(text.read_text())[0] == store.read_bytes()
    done = pura(*f"verify {text} {shared} --json --full".split())
    assert done.returncode == 0, done.stderr
    [row] = rows(done.stdout)
    assert row["decoded"]["bits"] == payload
    assert row["prompt"]["known"] is True
    assert row["decoder"] == "exact"
    assert row["evidence"]["log10_e"] > 6
    [manifest] = row["provenance"]
    assert manifest["soft_binding"] == "agrees"
    from_dict(row)
    secret = (marked / "key.txt").read_text().strip()
    assert secret not in done.stdout + done.stderr + made.stdout + made.stderr


def test_what_was_found_and_what_failed_is_saved_to_a_case(pura, rows, marked, tmp_path):
    empty, words, pdf = tmp_path / "empty.txt", tmp_path / "words", tmp_path / "out.pdf"
    empty.write_bytes(b"")
    words.write_text("a quiet passphrase")
    save = f"--save Thesis --auditor Anna --keep-text seal --text-passphrase-file {words}"
    done = pura("verify", marked / "00.txt", empty, *options(marked), *save.split(), "--pdf", pdf)
    assert done.returncode == 1, done.stderr  # one file was empty
    assert pdf.read_bytes().startswith(b"%PDF")
    [case] = rows(pura("caselog", "list", "--json").stdout)
    audit, unread = case["audits"]
    assert (audit["verdict"], audit["auditor"]) == ("mark", "Anna")
    assert (unread["verdict"], case["failures"]) == ("not-examinable", 0)
    [shown] = rows(pura("caselog", "show", "Thesis", "--json").stdout)
    history = [entry["action"] for entry in shown["history"]]
    assert history[:2] == ["case-opened", "examination-started"]
    assert history[2:] == ["examination-finished"] * 2 + ["report-drafted"]
    show = ("caselog", "show", "Thesis", audit["id"], "--json")
    assert rows(pura(*show).stdout)[0]["text"] is None
    opened = pura(*show, "--unlock", "--passphrase-file", words)
    assert rows(opened.stdout)[0]["text"] == (marked / "00.txt").read_text(encoding="utf-8")
    assert pura("caselog", "verify").returncode == 0


def test_wrong_use_ends_with_2_before_a_case_is_opened(pura, marked):
    call = ("verify", marked / "00.txt", *options(marked), "--save", "Thesis")
    wrong = (
        ("--encoding", "klingon"),
        ("--input-format", "xyz"),
        ("--device", "foo"),
        ("--dtype", "int4"),
        ("--epochs", "someday"),
        ("--full",),
        ("--force",),
        ("--request", marked / "profile.json"),
        ("--text-passphrase-file", marked / "key.txt"),
    )
    for words in wrong:
        done = pura(*call, *words)
        assert done.returncode == 2, (words, done.stdout, done.stderr)
        assert not done.stdout
    for words in (("--model", "none"), ("--policy", "none"), ("--prompts", "none")):
        assert pura(*call, *words).returncode == 1
    # Without a case, what its texts become has no effect either.
    assert pura(*call[:-2], "--keep-text", "leave-out").returncode == 2
    assert not pura("caselog", "list", "--json").stdout
    german = pura(*call, "--full", "--language", "de").stderr
    assert "Ohne --json bewirkt es nichts." in german
    all_german(german.partition("\n")[2].rpartition("\n")[0].replace("--full", ""))


def test_no_file_is_replaced_and_no_folder_made_unasked(pura, marked, tmp_path):
    there, absent = tmp_path / "there", tmp_path / "absent" / "new"
    there.write_text("precious")
    bits = ("--payload", "0x1", "--tokens", "8", "--prompt", "The")
    text = marked / "00.txt"
    calls: tuple[tuple[Any, ...], ...] = (
        ("generate", *bits, *options(marked), "-o"),
        ("generate", *bits, *options(marked), "--ids"),
        ("verify", text, *options(marked), "-o"),
        ("verify", text, *options(marked), "--pdf"),
        ("profile", "new", "-o"),
        ("lab", "attack", "contractions", text, "-o"),
    )
    for call in calls:
        taken, missing = pura(*call, there), pura(*call, absent)
        assert taken.returncode == missing.returncode == 1, (call, taken.stderr, missing.stderr)
        assert "already" in taken.stderr, call
        assert "there is no folder" in missing.stderr, call
    assert there.read_text() == "precious"
    assert not absent.parent.exists()


@pytest.mark.weekly
def test_a_long_text_goes_on_where_the_command_was_killed(pura, rows, marked, home):
    host, text = HUMAN.read_text(encoding="utf-8"), (marked / "00.txt").read_text(encoding="utf-8")
    (marked / "long.txt").write_text(f"{host}\n\n{text}\n\n{host}", encoding="utf-8")
    files = (marked / "01.txt", marked / "long.txt")
    command = ("verify", *files, *options(marked), "--json", "--full")
    parts = home / "state" / "unfinished"
    words = [sys.executable, "-m", "pura.cli", *map(str, command)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not any(p.stat().st_size for p in parts.glob("*.part")):
            time.sleep(0.02)
        process.kill()
    assert process.returncode
    assert any(parts.iterdir())
    again, whole = (rows(pura(*command).stdout) for _ in range(2))
    assert not any(parts.iterdir())
    read = "had been read before the audit was interrupted"
    for number, (one, other) in enumerate(zip(again, whole, strict=True)):
        assert (one["evidence"], one["tokens"]) == (other["evidence"], other["tokens"])
        assert one["verdict"] == other["verdict"] == "mark"
        said = [from_dict(row).log[4].words("en") for row in (one, other)]
        assert [read in words for words in said] == [number == 1, False]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on a file's size")
def test_a_row_that_the_disk_does_not_take_is_printed(pura, rows, marked, tmp_path):
    import resource as limits

    out = tmp_path / "rows.jsonl"
    call = ("verify", marked / "00.txt", marked / "01.txt", *options(marked), "-o", out)
    assert pura(*call).returncode == 0
    first, second = out.read_text().splitlines()
    out.unlink()
    before = limits.getrlimit(limits.RLIMIT_FSIZE)
    limits.setrlimit(limits.RLIMIT_FSIZE, (len(first.encode()) + len(second) // 2, before[1]))
    try:
        done = pura(*call)
    finally:
        limits.setrlimit(limits.RLIMIT_FSIZE, before)
    assert done.returncode == 1
    assert "cannot be written any more: File too large" in done.stderr
    # What is in the file is whole, and what is not was said.
    [written], [printed] = rows(out.read_text()), rows(done.stdout)
    assert [written["input"]["name"], printed["input"]["name"]] == ["00.txt", "01.txt"]


def test_standard_input_words_german_and_a_model_folder(pura, marked, samples, models):
    text = samples["marked"]["texts"][0]["text"]
    chosen = (*options(marked), "--fdr", "0.1", "--language", "de")
    folder = models / "small"
    done = pura("verify", "-", *chosen, "--model", folder, stdin=text)
    assert done.returncode == 0, done.stderr
    assert "Eine Markierung wurde gefunden" in done.stdout
    assert samples["marked"]["texts"][0]["payload"] in done.stdout
    assert "Von einem Text ist einer ausgewählt" in done.stdout
    assert "\x1b[" not in done.stdout


def test_a_german_command_says_no_english_sentence(pura, rows, marked):
    save = ("--save", "Akte", "--auditor", "Anna")
    audited = pura("--language", "de", "verify", marked / "00.txt", *options(marked), *save)
    assert audited.returncode == 0, audited.stderr
    all_german(audited.stdout + audited.stderr)
    [case] = rows(pura("caselog", "list", "--json").stdout)
    one = case["audits"][0]["id"]
    measured = (*options(marked), "--texts", "1", "--tokens", "40")
    for words in (
        ("caselog", "show", "Akte"),
        ("caselog", "show", "Akte", one),
        ("caselog", "list"),
        ("model", "list"),
        ("model", "show", "small"),
        ("model", "verify", "small"),
        ("model", "fitness", "small", *measured),
    ):
        done = pura("--language", "de", *words)
        assert done.returncode == 0, (words, done.stderr)
        all_german(done.stdout + done.stderr)


def test_a_bad_file_says_why_and_stops_nobody(pura, rows, marked, tmp_path):
    bad = {
        "empty.txt": b"",
        "binary.txt": bytes(range(256)) * 8,
        "nul.txt": b"some words\x00more words",
        "large.txt": b"word " * 1_000_000,
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "short.txt").write_text("Yes.")
    files = [tmp_path / n for n in (*bad, "missing.txt", "short.txt")]
    done = pura("verify", *files, *options(marked), "--json")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    found = rows(done.stdout)
    assert len(found) == len(files)
    for row in found[:-1]:
        assert row["error"]["message"]
        assert row["error"]["hint"]
        present = row["input"]["name"] != "missing.txt"
        assert row.get("verdict") == ("not-examinable" if present else None)
    assert found[-1]["verdict"] == "insufficient"


def test_a_case_that_cannot_be_written_costs_no_finding(pura, rows, tmp_path, marked, monkeypatch):
    names = ["one.txt", "two.txt"]
    for name in names:
        (tmp_path / name).write_text("The ferry was late again.")
    save, tried = SavingRun.save, []

    def refuse_the_first(run: SavingRun, audit: Audit) -> object:
        tried.append(audit.input.name)
        if len(tried) == 1:
            raise CaseLogError("caselog.closed", name="Full")
        return save(run, audit)

    monkeypatch.setattr(SavingRun, "save", refuse_the_first)
    files = [tmp_path / name for name in names]
    done = pura("verify", *files, *options(marked), "--json", "--save", "Full", "--auditor", "Anna")
    assert done.returncode == 1
    found = rows(done.stdout)
    assert [row["input"]["name"] for row in found] == tried == names
    assert [row["input"]["path"] for row in found] == [str(file) for file in files]
    assert "one.txt" in done.stderr
    [case] = rows(pura("caselog", "list", "--json").stdout)
    assert len(case["audits"]) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_output_is_said_in_words(home):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pura.cli", "model", "list", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PURA_HOME": str(home)},
        )
    assert done.returncode == 1
    assert done.stderr.startswith("The output cannot be written: No space left on device.")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"surprise": 1}, "surprise"),
        ({"payload_bits": "36"}, "payload_bits"),
        ({"top_p": 3}, "top_p"),
        ({"blocks": 7}, "blocks"),
        ({"vocab_size": 50000}, "tokenizer"),
        ({"tokenizer": "0" * 16}, "tokenizer"),
        ({"key": "0" * 16}, "key"),
    ],
)
def test_a_wrong_profile_is_one_clear_sentence(pura, rows, marked, change, words):
    path = marked / "profile.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    done = pura("verify", marked / "00.txt", *options(marked), "--json")
    assert done.returncode == 1
    [row] = rows(done.stdout)
    assert words in row["error"]["message"]
    assert row["error"]["hint"]
    assert "Traceback" not in done.stderr


def test_wrong_keys_and_models_are_clear_sentences(pura, rows, marked, tmp_path):
    (tmp_path / "short.key").write_text("abcd")
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    (pickled / "config.json").write_text('{"model_type": "llama"}')
    (pickled / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    text = marked / "00.txt"
    profile = ["--profile", marked / "profile.json"]
    calls = [
        ["verify", text, *profile, "--key-file", tmp_path / "short.key"],
        ["verify", text, *profile, "--key-file", tmp_path / "absent.key"],
        ["verify", text, *profile, "--key", "nobody"],
        ["verify", text, *options(marked), "--model", pickled],
        ["verify", text, *options(marked), "--model", "no-such-model"],
        ["verify", text, "--key-file", marked / "key.txt", "--profile", tmp_path / "no.json"],
        ["verify", text, *options(marked), "--device", "cuda"],
    ]
    for call in calls:
        done = pura(*call, text)
        assert done.returncode == 1, (call, done.stdout)
        said = done.stderr.strip()
        assert said, call
        assert "Traceback" not in said, call
        assert not any(said.count(line) > 1 for line in said.splitlines()), said
        # Once, and no finding, for programs too.
        [row] = rows(pura(*call, text, "--json").stdout)
        assert row["error"]["message"] in said
        assert "input" not in row
    assert pura("verify", text).returncode == 2
    assert pura("nonsense").returncode == 2


def test_a_wrong_key_claims_nothing(pura, rows, marked):
    (marked / "key.txt").write_text("ff" * 32)
    files = [marked / "00.txt", marked / "01.txt"]
    done = pura("verify", *files, *options(marked), "--json", "--fdr", "0.1")
    assert done.returncode == 0, done.stderr
    *found, batch = rows(done.stdout)
    assert batch == {"schema": "pura-choice/1", "fdr": 0.1, "texts": 2, "chosen": []}
    for row in found:
        assert row["verdict"] not in ("mark", "indication")
        assert row["evidence"]["log10_e"] < 1
        assert row["evidence"]["p_bound"] > 0.1


def test_selftest_tells_a_changed_vector(pura, tmp_path):
    done = pura("selftest")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "vectors"
    shutil.copytree(resource("vectors"), folder)
    path = folder / "extract-1.json"
    data = json.loads(path.read_text())
    data["expected"]["box"]["llr"][3] += 1e-6
    path.write_text(json.dumps(data))
    done = pura("selftest", "--vectors", folder)
    assert done.returncode == 1
    assert re.search(r"FAIL extract-1\.json", done.stderr)
    assert done.stderr.count("FAIL") == 1


def test_without_a_keyring_the_command_says_so(pura, rows):
    done = pura("key", "new", "Newsroom")
    assert done.returncode == 1
    assert "keyring" in done.stderr
    assert pura("key", "list").stdout == ""
    listed = pura("model", "list", "--json")
    assert rows(listed.stdout)[0]["name"] == "small"
