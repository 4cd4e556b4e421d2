"""Make the held-out texts: ``python tests/data/make_held_out.py MODELS``.

Texts of known origin after programs that nobody here wrote; nothing was tuned on them. ``MODELS``
is a folder of models that has the built-in one. The programs of :data:`TOOLS` are on the PATH,
those of npm in NODE_PATH. Only this script needs them. The marked texts go on from openings that no
study uses, under keys that anybody can derive.

What must hold of each: a marked text has its mark found where less than a tenth of its tokens were
edited, and is never called unmarked; of any other text no mark is found; no wrong payload is named.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pura.embed.generate import generate_batch
from pura.model.device import choose_device
from pura.model.load import LanguageModel, load_model
from pura.model.store import ModelStore
from pura.model.tokenise import tokenise
from pura.record.comparison import Kind, align
from pura.scheme import Payload, Profile, SecretKey

DATA = Path(__file__).resolve().parent
SEED = 20_261_125
TOKENS = 200
CODES = ("spc", "tbcc")
OPENINGS = (
    "The ferry to the outer islands was late again on Thursday, and",
    "Minutes of the meeting of the allotment society: the treasurer",
    "Dear Mrs. Halloran, we have looked into the damage to your fence and",
    "Our cat stopped eating on Sunday. The vet",
    "Anyone who restores old radios should first",
    "The tide had left a piano on the beach, and by noon",
    "Wool was the wealth of the valley until",
    "Compost needs air, water and",
    "In the municipal archive there is a map of 1788 that",
    "The referee looked at the picture for three minutes before",
    "Applicants for the grant must show that",
)


TOOLS = json.loads((DATA / "tools.json").read_text(encoding="utf-8"))
"""Ways through programs that others wrote and packaged, by name.

``packages`` says where they come from (``debian:``, ``pypi:``, ``npm:``) and in which version;
``command`` is one of the shell, reads ``in.txt`` and writes to its output.
"""

CASES = {
    "marked": (
        *("iconv", "Unidecode", "typopo", "boxes", "pr", "unix2dos", "links", "fold", "typogrify"),
        *("pandoc", "pandoc by docx", "ftfy", "pandoc to rst", "pdfminer", "pdftotext", "groff"),
        *("texinfo", "mhonarc", "html-to-text", "unrtf", "par", "enscript", "tesseract, 200 dpi"),
        *("trafilatura", "mdformat", "pandoc by epub", "uni2ascii", "tesseract, 75 dpi"),
        *("autocorrect", "prettier"),
    ),
    "other key": ("fmt", "lynx", "remark", "codespell"),
    "human": ("w3m", "mdformat", "pdftotext", "tesseract, 200 dpi"),
    "boilerplate": ("prettier", "typogrify"),
}
"""What each kind of text goes through; every tool gets a text of its own, the codes take turns."""

LONGEST = 1500  # characters of a text by people


def key(kind: str) -> SecretKey:
    """Return the key of a kind of marked text. It guards nothing."""
    which = {"marked": "the", "other key": "another"}[kind]
    words = f"{which} public key of the held-out texts"
    return SecretKey(hashlib.sha256(words.encode()).digest())


def generated(model: LanguageModel, kind: str) -> list[tuple[str, str]]:
    """Return the marked texts of a kind, each with its payload."""
    numbers = range(len(CASES[kind]))
    rng = np.random.default_rng(SEED)
    payloads = [Payload.from_bits(rng.integers(0, 2, 36)) for _ in numbers]
    found: dict[int, tuple[str, str]] = {}
    for turn, code in enumerate(CODES):
        mine = numbers[turn :: len(CODES)]
        texts = generate_batch(
            model,
            [OPENINGS[n % len(OPENINGS)] for n in mine],
            [payloads[n] for n in mine],
            key(kind),
            Profile.new(model, code=code),
            tokens=TOKENS,
            seed=list(mine),
            ignore_eos=True,
        )
        found |= {n: (one.text, payloads[n].text) for n, one in zip(mine, texts, strict=True)}
    return [found[n] for n in numbers]


def plain(kind: str) -> list[tuple[str, None]]:
    """Return texts by people."""
    whole = (DATA / f"{kind}.txt").read_text(encoding="utf-8")
    return [(part, None) for part in whole.split("\n%\n") if len(part) < LONGEST]


def put_through(command: str, text: str) -> str:
    """Return what the command of a tool makes of a text."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.txt").write_text(text, encoding="utf-8", newline="")
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", command],
            cwd=folder,
            env=os.environ | {"LC_ALL": "C.UTF-8", "HOME": folder},
            check=True,
            capture_output=True,
        )
    return done.stdout.decode("utf-8")


def version(package: str) -> str:
    """Return the installed version of a package."""
    kind, _, name = package.partition(":")
    if kind == "npm":
        manifest = Path(os.environ["NODE_PATH"]) / name / "package.json"
        return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])
    command = {
        "debian": ["dpkg-query", "-W", "-f", "${Version}", name],
        "pypi": ["python3", "-c", f"import importlib.metadata as m; print(m.version({name!r}))"],
    }[kind]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def edited(model: LanguageModel, original: str, text: str) -> float:
    """Return the share of a text's tokens that are not kept; blanks and line ends do not count."""
    kept = np.zeros(len(original), dtype=bool)
    for pair in align(original, text).pairs:
        if pair.kind is Kind.SAME:
            kept[slice(*pair.left)] = True
    blank = np.array([character.isspace() for character in original])
    spans = [slice(*span) for span in tokenise(model.tokenizer, original).spans.tolist()]
    seen = [span for span in spans if not blank[span].all()]
    return sum(not (kept | blank)[span].all() for span in seen) / len(seen)


def main() -> None:
    """Write the file."""
    model = load_model(ModelStore(Path(sys.argv[1])).get("smollm2-135m"), choose_device("cpu"))
    one: dict[str, Any]
    texts: list[dict[str, Any]] = []
    for kind, names in CASES.items():
        sources = plain(kind) if kind in ("human", "boilerplate") else generated(model, kind)
        for number, (name, (original, payload)) in enumerate(zip(names, sources, strict=False)):
            text = put_through(TOOLS[name]["command"], original)
            share = round(edited(model, original, text), 3)
            code = CODES[number % len(CODES)]
            one = {"kind": kind, "tool": name, "code": code, "payload": payload, "edited": share}
            if kind != "marked":
                one["holds"] = "no mark is found"
            else:
                one["holds"] = "the mark is found" if share < 0.1 else "it is not called unmarked"
            texts.append(one | {"text": text, "original": original})
            print(kind, name, share, len(original), len(text))
    whole = {
        "model": "smollm2-135m",
        "key_hex": key("marked").to_hex(),
        "profiles": {code: Profile.new(model, code=code).to_dict() for code in CODES},
        "texts": texts,
    }
    path = DATA / "held_out.json"
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
