"""Make the held-out texts: ``python tests/data/make_held_out.py MODELS``.

Texts of known origin after programs that nobody here wrote; nothing was tuned on them. ``MODELS``
is a folder of models that has the built-in one. The programs stand in :data:`TOOLS`: on the PATH,
those of npm in NODE_PATH. Only this script needs them. The marked texts go on from openings that no
study uses, under keys that anybody can derive.

What must hold of each: a marked text has its mark found where less than a tenth of its tokens were
edited, and is never called unmarked; of any other text no mark is found; no wrong payload is named.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A way through programs that others wrote and packaged.

    Attributes:
        packages: Where they come from: ``debian:``, ``pypi:`` or ``npm:``.
        command: Of the shell; reads ``in.txt``, writes to its output.
    """

    packages: str
    command: str


_HTML = "cmark in.txt > x.html"
_LYNX = "lynx -dump -nolist -assume_charset=utf-8 -display_charset=utf-8 x.html"
_PDF = "pandoc -s -f markdown -t ms in.txt | groff -k -ms -Tps | ps2pdf - x.pdf"
_BY_PDF = "debian:pandoc debian:groff debian:ghostscript debian:poppler-utils"
_OCR = f"{_BY_PDF} debian:tesseract-ocr debian:tesseract-ocr-eng"

TOOLS = {
    "fold": Tool(packages="debian:coreutils", command="fold -s -w 72 in.txt"),
    "fmt": Tool(packages="debian:coreutils", command="fmt -w 65 in.txt"),
    "par": Tool(packages="debian:par", command="par 64j < in.txt"),
    "boxes": Tool(
        packages="debian:coreutils debian:boxes", command="fmt -w 60 in.txt | boxes -d shell"
    ),
    "pr": Tool(
        packages="debian:coreutils", command="fmt -w 66 in.txt | pr -D 2026-11-25 -h page -l 24"
    ),
    "unix2dos": Tool(
        packages="debian:coreutils debian:dos2unix", command="fold -s -w 76 in.txt | unix2dos"
    ),
    "iconv": Tool(packages="debian:libc-bin", command="iconv -t ascii//TRANSLIT in.txt"),
    "uni2ascii": Tool(packages="debian:uni2ascii", command="uni2ascii -q -B in.txt"),
    "mhonarc": Tool(
        packages="debian:coreutils debian:mhonarc debian:lynx",
        command="(printf 'From: a@example.org\\nSubject: Memo\\n"
        "Content-Type: text/plain; charset=utf-8\\n\\n'; fold -s -w 72 in.txt) > x.eml;"
        f" mhonarc -single x.eml > x.html; {_LYNX}",
    ),
    "pandoc": Tool(
        packages="debian:pandoc", command="pandoc -f markdown -t plain --columns=72 in.txt"
    ),
    "pandoc by docx": Tool(
        packages="debian:pandoc",
        command="pandoc -f markdown -o x.docx in.txt; pandoc -t plain --wrap=none x.docx",
    ),
    "pandoc by epub": Tool(
        packages="debian:pandoc",
        command="pandoc -f markdown --metadata title=x -o x.epub in.txt; pandoc -t plain x.epub",
    ),
    "pandoc to rst": Tool(packages="debian:pandoc", command="pandoc -f markdown -t rst in.txt"),
    "groff": Tool(
        packages="debian:pandoc debian:groff debian:bsdextrautils",
        command="pandoc -s -f markdown -t man in.txt | groff -k -man -Tutf8 -P-c | col -bx",
    ),
    "texinfo": Tool(
        packages="debian:pandoc debian:texinfo",
        command="pandoc -s -f markdown -t texinfo in.txt | makeinfo --plaintext --force -",
    ),
    "w3m": Tool(packages="debian:cmark debian:w3m", command=f"{_HTML}; w3m -dump -cols 78 x.html"),
    "lynx": Tool(
        packages="debian:cmark debian:lynx",
        command=f"{_HTML}; {_LYNX}",
    ),
    "links": Tool(
        packages="debian:asciidoctor debian:links",
        command="asciidoctor -a reproducible -o x.html in.txt; links -codepage utf-8 -dump x.html",
    ),
    "unrtf": Tool(
        packages="debian:pandoc debian:unrtf",
        command="pandoc -s -f markdown -t rtf in.txt | unrtf --text",
    ),
    "pdftotext": Tool(packages=_BY_PDF, command=f"{_PDF}; pdftotext x.pdf -"),
    "enscript": Tool(
        packages="debian:libc-bin debian:enscript debian:ghostscript debian:poppler-utils",
        command="iconv -t latin1//TRANSLIT in.txt | enscript -q -b 'Memo|page $%' -X 88591"
        " --word-wrap -p -"
        " | ps2pdf - x.pdf; pdftotext -layout x.pdf -",
    ),
    "tesseract, 200 dpi": Tool(
        packages=_OCR,
        command=f"{_PDF}; pdftoppm -gray -r 200 -singlefile x.pdf x; tesseract x.pgm -",
    ),
    "tesseract, 75 dpi": Tool(
        packages=_OCR,
        command=f"{_PDF}; pdftoppm -gray -r 75 -singlefile x.pdf x; tesseract x.pgm -",
    ),
    "mdformat": Tool(packages="pypi:mdformat", command="mdformat --wrap 80 - < in.txt"),
    "ftfy": Tool(packages="pypi:ftfy", command="ftfy in.txt"),
    "Unidecode": Tool(packages="pypi:Unidecode", command="unidecode -e utf8 in.txt"),
    "codespell": Tool(packages="pypi:codespell", command="codespell -w in.txt >&2; cat in.txt"),
    "autocorrect": Tool(
        packages="pypi:autocorrect",
        command='python3 -c "import autocorrect;'
        " print(autocorrect.Speller()(open('in.txt').read()))\"",
    ),
    "typogrify": Tool(
        packages="debian:cmark pypi:typogrify pypi:html2text",
        command='cmark in.txt | python3 -c "import sys, typogrify.filters as filters;'
        ' print(filters.typogrify(sys.stdin.read()))" | html2text --body-width 76',
    ),
    "trafilatura": Tool(
        packages="debian:cmark pypi:trafilatura",
        command="(echo '<html><body><article>'; cmark in.txt; echo '</article></body></html>')"
        " | trafilatura",
    ),
    "pdfminer": Tool(
        packages="debian:pandoc debian:groff debian:ghostscript pypi:pdfminer.six",
        command=f"{_PDF}; pdf2txt.py x.pdf",
    ),
    "prettier": Tool(
        packages="npm:prettier", command="prettier --parser markdown --prose-wrap always < in.txt"
    ),
    "remark": Tool(packages="npm:remark-cli", command="remark -q < in.txt"),
    "typopo": Tool(
        packages="npm:typopo",
        command="node -e \"process.stdout.write(require('typopo')"
        ".fixTypos(fs.readFileSync('in.txt', 'utf8'), 'en-us'))\"",
    ),
    "html-to-text": Tool(
        packages="npm:marked npm:html-to-text",
        command="node -e \"process.stdout.write(require('html-to-text')"
        ".convert(require('marked').parse(fs.readFileSync('in.txt', 'utf8'))))\"",
    ),
}

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

KNOWN = {
    "pr": {"known": "a wrong payload is named", "log10_e": 46.6, "posterior": 0.9994},
}
"""What does not hold of a marked text yet, by its tool, with what was measured."""
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


def put_through(tool: Tool, text: str) -> str:
    """Return what a tool makes of a text."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.txt").write_text(text, encoding="utf-8", newline="")
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", tool.command],
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
            text = put_through(TOOLS[name], original)
            share = round(edited(model, original, text), 3)
            code = CODES[number % len(CODES)]
            one = {"kind": kind, "tool": name, "code": code, "payload": payload, "edited": share}
            if kind != "marked":
                one["holds"] = "no mark is found"
            else:
                one["holds"] = "the mark is found" if share < 0.1 else "it is not called unmarked"
                one |= KNOWN.get(name, {})
            texts.append(one | {"text": text, "original": original})
            print(kind, name, share, len(original), len(text))
    tools = {
        name: {
            "packages": {package: version(package) for package in tool.packages.split()},
            "command": tool.command,
        }
        for name, tool in TOOLS.items()
    }
    whole = {
        "model": "smollm2-135m",
        "key_hex": key("marked").to_hex(),
        "profiles": {code: Profile.new(model, code=code).to_dict() for code in CODES},
        "tools": tools,
        "texts": texts,
    }
    path = DATA / "held_out.json"
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
