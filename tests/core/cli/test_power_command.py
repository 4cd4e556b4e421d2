"""``pura power`` in this process, with a table that nobody measured."""

import json
import re
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from tests.core.cli.conftest import pura, refusal
from tests.core.detect.verdict.test_power import data_of, entry

from pura.base.catalogue import catalogue
from pura.base.paths import user_paths
from pura.cli.terminal import use_language
from pura.detect.verdict.policy import load_policy
from pura.detect.verdict.power import PowerFile, seal
from pura.scheme import Profile


def table(name: str = "Chat, German") -> PowerFile:
    cold = {"temperature": 0.7, "top_k": 0, "top_p": 0.95}
    found = {"usable": [30, 50], "found": [58, 64], "texts": [64, 64]}
    one = entry(threshold=6.0, sampling=cold, **found)
    conditions = {"name": name, "date": "2026-11-22", "texts": 64, "models": ["0" * 16]}
    conditions |= {"kinds": ["German"], "names": {"generator": "house", "reader": "house"}}
    more = [one | {"text_usable": 480}, one | {"edit": "delete:0.1", "found": [0, 20]}]
    return seal(data_of(one, *more, conditions=conditions))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.json"
    path.write_bytes(table().to_bytes())
    return path


def test_a_table_is_added_shown_relied_on_and_removed(file, tmp_path):
    fingerprint = table().fingerprint
    added = pura("power", "import", file)
    assert added.exit_code == 0, added.output
    shown = pura("power", "show", "Chat, German").output
    assert shown == added.output == pura("power", "show", file).output
    words = " ".join(shown.split())
    for part in (
        fingerprint,
        "64 texts (German) written by “house”",
        "Whole texts, unedited: at least 80 % found from 30 usable positions on",
        "at least 95 % found from 50 usable positions on (64 texts)",
        "Passages in texts of up to 480 usable positions",
        "delete:0.1",
        "Not signed.",
    ):
        assert part in words, words
    assert json.loads(pura("power", "show", file, "--json").output) == table().data
    assert fingerprint[:16] in pura("power", "list").output
    assert "relies on one table" in pura("power", "use", fingerprint[:8]).output
    assert load_policy(user_paths().policy).power_tables == (fingerprint,)
    assert "(the policy relies on it)" in pura("power", "list").output
    assert refusal(pura("power", "remove", "Chat, German", "--yes")) == "power-in-use"
    assert pura("power", "use", "--off", "Chat, German").exit_code == 0
    assert pura("power", "export", fingerprint, "-o", tmp_path / "copy.json").exit_code == 0
    assert (tmp_path / "copy.json").read_bytes() == file.read_bytes()
    assert pura("power", "remove", "Chat, German", "--yes").exit_code == 0
    assert refusal(pura("power", "show", "Chat, German")) == "power-absent"
    assert pura("power", "list").output == ""


def test_a_damaged_file_is_refused(file):
    whole = json.loads(file.read_text())
    whole["table"]["entries"][0]["found"] = [64, 64]
    file.write_text(json.dumps(whole))
    assert refusal(pura("power", "import", file)) == "power-altered"
    file.write_text("{")
    assert refusal(pura("power", "import", file)) == "policy"
    assert not user_paths().power.exists()


def test_a_name_steers_no_terminal(tmp_path):
    path = tmp_path / "odd.json"
    path.write_bytes(table("Odd\x1b[31m").to_bytes())
    assert refusal(pura("power", "import", path)) == "policy"


def test_it_speaks_german(file):
    words = " ".join(pura("--language", "de", "power", "import", file).output.split())
    for part in ("Ganze Texte, unbearbeitet: mindestens 80", "Nicht signiert.", "»house«"):
        assert part in words, words
    used = pura("--language", "de", "power", "use", "Chat, German").output
    assert "stützt sich auf eine eigene Tabelle" in used


def printed(pdf: Path) -> str:
    document = pypdfium2.PdfDocument(pdf)
    text = " ".join(" ".join(p.get_textpage().get_text_range() for p in document).split())
    document.close()
    return text


@pytest.mark.parametrize(
    ("language", "edited"), [("en", "Edited: delete:0.1"), ("de", "Bearbeitet")]
)
def test_an_annex_for_regulators_is_filled_from_the_organisations_own_table(
    file, tmp_path, language, edited
):
    profile = tmp_path / "profile.json"
    known = Profile(
        payload_bits=36, vocab_size=64, code="tbcc", model="0" * 16, temperature=0.7, top_p=0.95
    )
    profile.write_text(known.to_json())
    assert pura("power", "import", file).exit_code == 0
    assert pura("power", "use", table().fingerprint[:16]).exit_code == 0
    pdf = tmp_path / "annex.pdf"
    words = ("report", "annex", "--profile", profile, "--pdf", pdf, "--language", language)
    done = pura(*words)
    use_language("en")
    assert done.exit_code == 0, done.exception
    assert refusal(pura(*words[:-2])) == "file-exists"
    with pikepdf.open(pdf) as inside:
        policy = json.loads(inside.attachments["policy.json"].get_file().read_bytes())
        assert policy["power_tables"] == [table().fingerprint]
    text = printed(pdf)
    assert "Chat, German" in text
    # 58 of 64: the lower limit of Clopper and Pearson, floored.
    assert re.search(r"30 58 (of|von) 64 82 %", text)
    assert "480" in text
    assert edited in text
    assert "1,000,000" in text or "1.000.000" in text
    # It names a detector that others may ask, or says that there is none: never both.
    none = catalogue("duties").fill("detector.none", language, {})
    assert none in text
    assert pura(*words, "--detector", "https://ask.example.org", "--force").exit_code == 0
    use_language("en")
    asked = printed(pdf)
    assert "https://ask.example.org" in asked
    assert none not in asked
    # A profile whose model was never measured gets no rate at all.
    profile.write_text(known.with_(model="f" * 16).to_json())
    assert pura(*words[:-2], "--force").exit_code == 0
    text = printed(pdf)
    assert "Chat, German" not in text
    assert " 64 " not in text
