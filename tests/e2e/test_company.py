"""Several texts in one command: each says what it says alone, whatever becomes of the others."""

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from pura.detect.step_log import STEPS
from pura.detect.unexamined import FAULTS

pytestmark = pytest.mark.model
SAMPLES = Path(__file__).parents[1] / "data" / "samples"


def options(folder: Path) -> list[str | Path]:
    return ["--key-file", folder / "key.txt", "--profile", folder / "profile.json"]


def test_two_plain_texts_say_together_what_each_says_alone(pura, rows, marked, tmp_path):
    plain = json.loads((SAMPLES / "plain.json").read_text(encoding="utf-8"))["texts"]
    words = " ".join(one["text"] for one in plain).split(" ")
    quoted = words[:220]
    quoted[5], quoted[9] = f"“{quoted[5]}", f"{quoted[9]}”"
    files = [tmp_path / "quoted.txt", tmp_path / "wrapped.txt"]
    files[0].write_text(" ".join(quoted), encoding="utf-8")
    files[1].write_text("\n".join(textwrap.wrap(" ".join(words[400:670]), 60)), encoding="utf-8")
    done = pura("verify", *files, *options(marked), "--json")
    assert done.returncode == 0, done.stderr
    together = rows(done.stdout)
    alone = [rows(pura("verify", file, *options(marked), "--json").stdout)[0] for file in files]
    for one, other in zip(together, alone, strict=True):
        assert 150 < one["input"]["tokens"] < 380
        assert "read_alone" not in one  # they were read side by side
        assert (one["input"], one["verdict"]) == (other["input"], other["verdict"])
        assert one["evidence"]["usable"] == other["evidence"]["usable"]
        assert one["evidence"]["log10_e"] == pytest.approx(other["evidence"]["log10_e"], abs=1e-3)


def test_a_fault_costs_one_text_its_finding_and_the_command_says_so(
    pura, rows, faulty, marked, home, samples
):
    payload = samples["marked"]["texts"][1]["payload"]
    noted = pura("register", "add", payload, *options(marked), "--who", "Anna")
    assert noted.returncode == 0, noted.stderr
    (marked / "02.txt").write_text(samples["plain"]["texts"][0]["text"][:200], encoding="utf-8")
    files = sorted(marked.glob("[0-9]*.txt"))
    command = ["verify", *files, *options(marked), "--register", "--json"]
    usual = [row["verdict"] for row in rows(pura(*command).stdout)]
    broken = files[1].read_text(encoding="utf-8")
    for step in (1, 5, len(STEPS)):  # every step: tests/core/usecases/test_contained.py
        met = faulty(step, broken, ValueError(broken))
        done = pura(*command)
        first, second, third = rows(done.stdout)
        assert (met.met, done.returncode) == (2, 1), step  # beside the others, and alone
        assert [first["verdict"], third["verdict"]] == [usual[0], usual[2]]
        assert first["read_alone"] is third["read_alone"] is True
        assert second["error"]["code"] == "internal"
        assert "2 texts were read alone" in done.stderr
        log = (home / "state" / FAULTS).read_text(encoding="utf-8")
        reference = second["error"]["message"].partition("reference ")[2][:8]
        assert f"fault {reference}: ValueError in a group of 1, at " in log
        assert not any(broken[:20] in said for said in (done.stdout, done.stderr, log))
    assert "wurden einzeln gelesen" in pura("--language", "de", *command).stderr
    # So does a batch, and its summary counts them.
    out = ["-o", marked / "out.jsonl", "--register"]
    done = pura("batch", "run", *files, *options(marked), *out)
    assert done.returncode == 1
    assert "1  could not be examined: internal" in done.stdout
    assert "2 texts were read alone" in done.stderr
    out[1] = marked / "other.jsonl"
    done = pura("batch", "run", *files, *options(marked), *out, "--json")
    [summary] = rows(done.stdout)
    assert (done.returncode, summary["errors"], summary["read_alone"]) == (1, {"internal": 1}, 2)


def test_a_fault_while_a_file_is_read_costs_no_other_its_finding(pura, rows, marked, monkeypatch):
    from pura.documents import reading

    usual = reading.from_bytes

    def from_bytes(data: bytes, **more: Any) -> Any:
        if more["name"] == "01.txt":
            raise KeyError(data)
        return usual(data, **more)

    monkeypatch.setattr(reading, "from_bytes", from_bytes)
    files = sorted(marked.glob("[0-9]*.txt"))
    done = pura("verify", *files, *options(marked), "--json")
    first, second = rows(done.stdout)
    assert (first["verdict"], second["error"]["code"], done.returncode) == ("mark", "internal", 1)
