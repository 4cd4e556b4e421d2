"""A language is a folder: a third one is there as soon as it is, in command, report and window."""

import json
import shutil
import subprocess
import sys

from pura.base.paths import resource

LOOK = """
import sys
from pathlib import Path
from pura.base import paths

paths._PLACES = (Path(sys.argv[1]), *paths._PLACES)
from pura.base.numerals import LANGUAGES, SPOKEN, count
from pura.report.blocks import Labels
from pura.words.sentences import phrases
from pura.words.sentences import say
from pura.cli.terminal import say as said
from PySide6.QtCore import QCoreApplication
from pura_audit.platform import i18n, settings

assert LANGUAGES[:2] == ("en", "de") and "xx" in LANGUAGES, LANGUAGES
assert SPOKEN["xx"].name == "Français"
assert count(1234567, "xx") == "1 234 567"
assert Labels("xx")("end") == "Fin du rapport"
assert say("note.n1", "xx") == say("note.n1", "de")
assert phrases("xx")
assert "xx" in settings._CHOICES["language"]
app = QCoreApplication([])
i18n.set_language("xx")
assert i18n.translate("Menu", "Light") == "Hell", i18n.translate("Menu", "Light")
"""


def test_another_folder_is_another_language(tmp_path):
    languages = tmp_path / "languages"
    shutil.copytree(resource("languages"), languages)
    own = languages / "xx"
    shutil.copytree(languages / "de", own)
    spoken = json.loads((own / "language.json").read_text(encoding="utf-8"))
    spoken |= {"name": "Français", "group": " "}
    (own / "language.json").write_text(json.dumps(spoken), encoding="utf-8")
    words = json.loads((own / "words/report.json").read_text(encoding="utf-8"))
    words["words"]["end"] = "Fin du rapport"
    (own / "words/report.json").write_text(json.dumps(words), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", LOOK, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
