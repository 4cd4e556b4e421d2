"""Marked texts, written into every format by programs that know nothing of our readers, and back.

For each format the table says how many of the words came back in order, how many texts came back
character by character, and how many payloads were read from what came back, beside the plain text
in the same run::

    python bench/documents.py [--texts N] [--keep FOLDER]

Writers: python-docx, typst, the standard library's e-mail, CSV and JSON, an HTML and an RTF writer
of a few lines below, and LibreOffice where it is installed (rows are left out where it is not).
"""

from __future__ import annotations

import argparse
import csv
import difflib
import email.message
import email.policy
import html
import io
import json
import mailbox
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _common
from pura.base.errors import PuraError
from pura.base.paths import resource
from pura.detect.options import Options
from pura.detect.together import audit_text
from pura.detect.verdict.policy import Policy
from pura.documents import read_data
from pura.scheme import Profile, SecretKey

Writer = Callable[[str, Path], Path]
OFFICE = shutil.which("soffice")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A marked text, and what is in it."""

    text: str
    payload: str
    key: SecretKey
    profile: Profile


def samples(count: int) -> list[Sample]:
    """Return sample texts of both codes in turn."""
    found: list[list[Sample]] = []
    for name in ("marked-tbcc.json", "marked.json"):
        data = json.loads(resource("samples", name).read_text(encoding="utf-8"))
        key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
        found.append(
            [
                Sample(
                    text=t["text"],
                    payload="".join(map(str, t["payload"])),
                    key=key,
                    profile=profile,
                )
                for t in data["texts"]
            ]
        )
    return [s for group in found for s in group][:count]


# Writers: one function a format; each takes the text and a path without an ending.


def plain(text: str, path: Path) -> Path:
    return _bytes(path, ".txt", text.encode())


def utf16(text: str, path: Path) -> Path:
    return _bytes(path, ".txt", text.encode("utf-16"))


def windows(text: str, path: Path) -> Path:
    return _bytes(path, ".txt", text.encode("cp1252", "replace"))


def crlf(text: str, path: Path) -> Path:
    return _bytes(path, ".txt", text.replace("\n", "\r\n").encode())


def csv_cell(text: str, path: Path) -> Path:
    sink = io.StringIO()
    table = csv.writer(sink)
    table.writerow(["id", "text"])
    table.writerow(["1", text])
    return _bytes(path, ".csv", sink.getvalue().encode())


def json_field(text: str, path: Path) -> Path:
    return _bytes(path, ".json", json.dumps({"id": 1, "text": text}).encode())


def json_lines(text: str, path: Path) -> Path:
    return _bytes(path, ".jsonl", (json.dumps({"text": text}) + "\n").encode())


def web_page(text: str, path: Path) -> Path:
    return _bytes(path, ".html", _page(text).encode())


def rich_text(text: str, path: Path) -> Path:
    def sign(char: str) -> str:
        if char in "\\{}":
            return f"\\{char}"
        if char == "\n":
            return "\\par\n"
        return char if ord(char) < 128 else "".join(f"\\u{unit}?" for unit in _units(char))

    body = "".join(map(sign, text))
    head = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Calibri;}}\f0\fs22 "
    return _bytes(path, ".rtf", f"{head}{body}}}".encode("ascii"))


def word(text: str, path: Path) -> Path:
    import docx

    document = docx.Document()
    for line in text.split("\n"):
        document.add_paragraph(line)
    target = path.with_suffix(".docx")
    document.save(str(target))
    return target


def pdf(text: str, path: Path) -> Path:
    import typst

    source = (
        '#set page(paper: "a4", margin: 2.5cm, header: [Confidential], '
        'footer: context align(center, counter(page).display("1")))\n'
        '#set text(size: 11pt, lang: "en", hyphenate: true)\n#set par(justify: true)\n'
        "#let data = json(bytes(sys.inputs.data))\n"
        "#for line in data.lines { par(text(line)) }\n"
    )
    data = json.dumps({"lines": [line for line in text.split("\n") if line.strip()]})
    target = path.with_suffix(".pdf")
    target.write_bytes(typst.compile(source.encode(), sys_inputs={"data": data}))
    return target


def mail(text: str, path: Path) -> Path:
    return _bytes(path, ".eml", _message(text).as_bytes())


def web_mail(text: str, path: Path) -> Path:
    message = _message("")
    message.set_content(_page(text), subtype="html", cte="quoted-printable")
    return _bytes(path, ".eml", message.as_bytes())


def mail_box(text: str, path: Path) -> Path:
    target = path.with_suffix(".mbox")
    box = mailbox.mbox(target)
    box.add(_message(text))
    box.close()
    return target


def by_office(ending: str, first: Writer = word, filter_: str = "") -> Writer:
    """Return a writer that lets LibreOffice turn another format into this one."""

    def write(text: str, path: Path) -> Path:
        source = first(text, path.with_name(path.name + "-source"))
        wanted = ending.lstrip(".") + (f":{filter_}" if filter_ else "")
        assert OFFICE is not None
        subprocess.run(
            [
                OFFICE,
                "--headless",
                f"-env:UserInstallation={path.parent.as_uri()}/office",
                "--convert-to",
                wanted,
                "--outdir",
                str(path.parent),
                str(source),
            ],
            check=True,
            capture_output=True,
            timeout=180,
        )
        return source.with_suffix(ending)

    return write


FORMATS: dict[str, Writer] = {
    "plain text, UTF-8": plain,
    "plain text, UTF-16": utf16,
    "plain text, Windows-1252": windows,
    "plain text, CRLF": crlf,
    "CSV cell": csv_cell,
    "JSON": json_field,
    "JSON lines": json_lines,
    "HTML": web_page,
    "RTF": rich_text,
    "Word (python-docx)": word,
    "PDF (typst, justified)": pdf,
    "e-mail, quoted-printable": mail,
    "e-mail, HTML": web_mail,
    "mailbox": mail_box,
}
BY_OFFICE: dict[str, Writer] = {
    "OpenDocument (LibreOffice)": by_office(".odt"),
    "Word (LibreOffice)": by_office(".docx", by_office(".odt")),
    "RTF (LibreOffice)": by_office(".rtf"),
    "PDF (LibreOffice)": by_office(".pdf"),
    "HTML (LibreOffice)": by_office(".html"),
}


def _bytes(path: Path, ending: str, data: bytes) -> Path:
    target = path.with_suffix(ending)
    target.write_bytes(data)
    return target


def _units(char: str) -> list[int]:
    data = char.encode("utf-16-le")
    units = [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]
    return [unit - 65536 if unit > 32767 else unit for unit in units]


def _page(text: str) -> str:
    body = "\n".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n") if line.strip())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Memo</title>'
        f"<style>p {{ margin: 1em }}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _message(text: str) -> email.message.EmailMessage:
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"], message["To"] = "ann@example.org", "bob@example.org"
    message["Subject"], message["Date"] = "Memo", "Sat, 21 Nov 2026 10:00:00 +0000"
    message.set_content(text, cte="quoted-printable")
    return message


# Measuring


@dataclass
class Tally:
    """What came back of one format."""

    words: float = 0.0
    same: int = 0
    payloads: int = 0
    evidence: float = 0.0
    failed: int = 0
    seconds: float = 0.0


class Bench:
    """Audits each distinct text once, however many formats it came through."""

    def __init__(self, model: Any, texts: list[Sample]) -> None:
        self.model, self.texts = model, texts
        self._known: dict[tuple[int, str], tuple[bool, float]] = {}
        self._options = Options(policy=replace(Policy(), draws=0))

    def audit(self, number: int, text: str) -> tuple[bool, float]:
        """Return whether the payload was read, and log10 e."""
        if (number, text) not in self._known:
            sample = self.texts[number]
            try:
                found = audit_text(
                    text,
                    model=self.model,
                    keys=[(sample.key, None)],
                    profile=sample.profile,
                    options=self._options,
                )
                right = found.verdict == "mark" and found.decoded.bits == sample.payload
                self._known[number, text] = right, found.evidence.log10_e
            except PuraError:
                self._known[number, text] = False, 0.0
        return self._known[number, text]

    def run(self, writer: Writer, folder: Path) -> Tally:
        """Write, read and audit all texts in one format."""
        tally = Tally()
        for number, sample in enumerate(self.texts):
            path = writer(sample.text, folder / f"{number:03}")
            start = time.perf_counter()
            try:
                found = read_data(path.read_bytes(), name=path.name).chosen[0].text
            except PuraError as error:
                print(f"  {path.name}: {error.message}")
                tally.failed += 1
                continue
            finally:
                tally.seconds += time.perf_counter() - start
            right, evidence = self.audit(number, found)
            tally.words += _match(sample.text, found)
            tally.same += found == sample.text
            tally.payloads += right
            tally.evidence += evidence
        return tally


def _match(text: str, found: str) -> float:
    """Return the share of words that stand in the same order in both."""
    a, b = text.split(), found.split()
    matcher = difflib.SequenceMatcher(a=a, b=b, autojunk=False)
    return 2 * sum(m.size for m in matcher.get_matching_blocks()) / max(1, len(a) + len(b))


def main() -> None:
    """Print one row a format."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=24)
    parser.add_argument("--keep", type=Path, help="leave the files there")
    arguments = parser.parse_args()
    _common.print_facts("Documents", 0)
    if OFFICE is not None:
        said = subprocess.run([OFFICE, "--version"], capture_output=True, text=True, check=False)
        print(said.stdout.strip(), "\n")
    else:
        print("LibreOffice is not installed here: its rows are left out.\n")
    bench = Bench(_common.load_builtin(), samples(arguments.texts))
    formats = FORMATS | (BY_OFFICE if OFFICE is not None else {})
    count = len(bench.texts)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for place, (title, writer) in enumerate(formats.items()):
            folder = (arguments.keep or Path(name)) / f"{place:02}"
            folder.mkdir(parents=True, exist_ok=True)
            tally = bench.run(writer, folder)
            rows.append(
                [
                    title,
                    f"{100 * tally.words / count:.2f}",
                    f"{tally.same}/{count}",
                    f"{100 * tally.payloads / count:.1f}",
                    f"{tally.evidence / count:.1f}",
                    str(tally.failed),
                    f"{1000 * tally.seconds / count:.0f}",
                ]
            )
            print(" ".join(rows[-1]), flush=True)
    columns = [
        "format",
        "words %",
        "same text",
        "payload %",
        "log10 e, mean",
        "unread",
        "ms a file",
    ]
    print()
    _common.print_table(columns, rows)


if __name__ == "__main__":
    main()
