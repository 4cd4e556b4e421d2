"""What everyday handling leaves of a text's two layers: its mark and its signed manifest.

Marked texts of one key are signed in both forms of text (C2PA 2.4: A.8 and A.9), go through what
people and programs do to texts, and are then read, audited and looked up as anybody would::

    python bench/two_layers.py --cache DIR --tools BIN [--texts N] [--ask N]

``BIN`` has the programs of others that Debian lacks (``uv pip install dewatermark antiwatermark
mdformat``). What was done stands in ``DIR/two_layers.csv`` and is not done again.
"""

from __future__ import annotations

import argparse
import csv
import email
import email.message
import email.policy
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the tests' certificates
sys.path.insert(0, str(Path(__file__).resolve().parent))

from tests.core import certificates

import _common
from handling import typographic
from pura.base.identity import load_identity
from pura.base.paths import user_paths
from pura.detect.options import AuditText, Options
from pura.detect.together import audit_documents
from pura.detect.verdict.policy import Policy
from pura.documents import from_text
from pura.documents.characters import cut
from pura.documents.manifests import in_texts
from pura.embed.generate import generate_batch
from pura.keys import KeyRef
from pura.measure.cache import Cache
from pura.measure.corpora import STUDY, corpus
from pura.provenance.binding import binding_value, bits_apart, text_fingerprint
from pura.provenance.writing import COMMENT, WRAPPER, SignedText, sign_manifest
from pura.record.answers import Role
from pura.record.audit import Audit
from pura.scheme import Payload, Profile, SecretKey
from pura.serve.app import create_app
from pura.serve.grants import Grant
from pura.serve.reader import Reader
from pura.serve.settings import Places, Protection, Settings, TokenFile
from pura.usecases.audits import Setup
from pura.usecases.environment import Environment

SEED = 40
TEXTS = 40
TOKENS = 300
_RANDOM = np.random.default_rng(SEED)
KEY = SecretKey(_RANDOM.bytes(32))  # it guards nothing: anyone can derive it
PAYLOADS = [Payload.from_bits(_RANDOM.integers(0, 2, 36).tolist()) for _ in range(TEXTS)]


def texts_of(model: Any, cache: Cache, profile: Profile, count: int, tokens: int) -> list[str]:
    """Return the marked texts, which are generated once."""
    from pura.model.tokenise import decode

    if "texts.two-layers" not in cache:
        made = generate_batch(
            model,
            list(STUDY[:count]),
            PAYLOADS[:count],
            KEY,
            profile,
            tokens=tokens,
            seed=list(range(SEED, SEED + count)),
            ignore_eos=True,
            batch_size=count,
        )
        cache.put("texts.two-layers", {"ids": [one.ids for one in made]})
    return [decode(model.tokenizer, ids) for ids in cache.get("texts.two-layers")["ids"]]


def _run(command: list[str], data: bytes, *, into: Path | None = None) -> str:
    """Run a program of others: the text goes in, or lies in a file, and comes out.

    Some cut lines in the middle of a character; such bytes are no text.
    """
    found = subprocess.run(command, input=data, capture_output=True, check=True, cwd=into)
    return found.stdout.decode(errors="replace")


def by_mail(text: str) -> str:
    """Send it as the body of a mail, and copy it out of the mail that arrives."""
    sent = email.message.EmailMessage(policy=email.policy.SMTP)
    sent["From"], sent["To"], sent["Subject"] = "a@example.org", "b@example.org", "Memo"
    sent.set_content(text, cte="quoted-printable")
    arrived = email.message_from_bytes(sent.as_bytes(), policy=email.policy.default)
    return str(arrived.get_content())


def _paged(text: str, folder: Path) -> Path:
    """Set a text as PDF."""
    import typst

    (folder / "text.txt").write_text(text, encoding="utf-8")
    source = b'#set page(paper: "a4")\n#for p in read("text.txt").split("\\n\\n") [#par(p)]\n'
    (folder / "page.typ").write_bytes(source)
    typst.compile(str(folder / "page.typ"), output=str(folder / "page.pdf"))
    return folder / "page.pdf"


def by_pdf(text: str) -> str:
    """Set it as PDF, and take the text out."""
    with tempfile.TemporaryDirectory() as folder:
        page = _paged(text, Path(folder))
        return _run(["pdftotext", str(page), "-"], b"")


def by_ocr(text: str) -> str:
    """Print it, and have the picture read."""
    with tempfile.TemporaryDirectory() as folder:
        page = _paged(text, Path(folder))
        _run(["pdftoppm", "-r", "200", "-png", str(page), "page"], b"", into=Path(folder))
        pictures = sorted(Path(folder).glob("page*.png"))
        return "\n".join(_run(["tesseract", str(one), "-", "-l", "eng"], b"") for one in pictures)


def _converted(text: str, to: str, suffix: str, back: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        name = str(Path(folder, f"text.{suffix}"))
        _run(["pandoc", "-f", "commonmark", "-t", to, "-s", "-o", name], text.encode())
        return _run([*back, name], b"")


def by_word(text: str) -> str:
    """Make a Word file of it, and text of that."""
    return _converted(text, "docx", "docx", ["pandoc", "-t", "plain", "--wrap=none"])


def by_page(text: str) -> str:
    """Make a web page of it, and copy what a browser shows."""
    return _converted(text, "html", "html", ["w3m", "-dump", "-cols", "80", "-O", "UTF-8"])


def by_spaces(text: str) -> str:
    """Translate every blank into the usual one, and drop characters that show nothing."""
    rules = "[[:Zs:]] > ' '; [[:Cf:][:Variation_Selector:]] > ;"
    return _run(["uconv", "-f", "utf-8", "-t", "utf-8", "-x", rules], text.encode())


def without_paragraph(text: str) -> str:
    """Drop the first paragraph; where there is one only, its first third."""
    first, _, rest = text.partition("\n\n")
    if len(rest.split()) > len(first.split()) // 2:
        return rest
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return " ".join(sentences[len(sentences) // 3 :])


def ways_of(tools: Path) -> dict[str, Callable[[str], str]]:
    """Return what is done to texts, by name."""

    def antiwatermark(text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "text.txt")
            path.write_text(text, encoding="utf-8")
            _run([str(tools / "antiwatermark"), "--inplace", str(path)], b"")
            return path.read_text(encoding="utf-8")

    def piped(*command: str) -> Callable[[str], str]:
        return lambda text: _run(list(command), text.encode())

    return {
        "as signed": lambda text: text,
        "mail": by_mail,
        "PDF and back": by_pdf,
        "Word and back": by_word,
        "web page and back": by_page,
        "Markdown formatter": piped(str(tools / "mdformat"), "-"),
        "dewatermark": piped(str(tools / "dewatermark"), "sanitize"),
        "antiwatermark": antiwatermark,
        "printed and read by OCR": by_ocr,
        "wrapped by fmt": piped("fmt", "-w", "65"),
        "typographic quotes": lambda text: typographic(text, None),  # type: ignore[arg-type]
        "blanks translated": by_spaces,
        "a paragraph deleted": without_paragraph,
    }


NAME = "org.example.pura.1"
FORMS = (WRAPPER, COMMENT)
SMALL = ("as signed", "mail", "a paragraph deleted")
"""Ways that need no program of others."""
PRINTED = ("PDF and back", "printed and read by OCR")
"""Ways by which a comment is lost, since nobody prints one."""
COLUMNS = (
    *("way", "text", "characters", "form", "state", "why", "soft_binding", "apart", "layers"),
    *("comment_form", "comment_state", "log10_e", "verdict", "right", "leads_back", "score"),
)


class Signer:
    """Signs texts with a certificate made for this run.

    Args:
        profile: Of the marks.
    """

    def __init__(self, profile: Profile) -> None:
        root = certificates.authority()
        key, own = certificates.manifest_signer(root)
        pem = certificates.pem(own, root[1])
        self._identity = load_identity(
            pem, None, now=datetime.now(UTC), key=certificates.key_pem(key)
        )
        self._profile = profile.fingerprint
        self.trust = certificates.pem(root[1]).decode()

    def signed(self, text: str, payload: Payload, form: str) -> SignedText:
        """Return a text with a manifest that names a payload, and the manifest."""
        return sign_manifest(
            text,
            self._identity,
            payload=payload.text,
            profile=self._profile,
            soft_binding=NAME,
            form=form,
        )

    def sign(self, text: str, payload: Payload, form: str) -> str:
        """Return a text with a manifest that names a payload."""
        return self.signed(text, payload, form).text


def moved(texts: list[str], number: int, signer: Signer) -> dict[str, str]:
    """Return what is no handling: one layer beside the other one of another text."""
    other = (number + 1) % len(texts)
    mine = signer.sign(texts[number], PAYLOADS[number], WRAPPER)
    wrapper = mine.removeprefix(texts[number])
    prose = corpus("manual")
    frame = [prose[(3 * number + at) % len(prose)] for at in range(3)]
    pasted = "\n\n".join((frame[0], texts[number], *frame[1:]))
    return {
        "manifest put to another text": texts[other] + wrapper,
        "signed for another payload": signer.sign(texts[number], PAYLOADS[other], WRAPPER),
        "words pasted into another text": signer.sign(pasted, PAYLOADS[other], WRAPPER),
    }


def row_of(audit: Audit, number: int, original: str) -> dict[str, Any]:
    """Return what was read of a text, as a row.

    Args:
        audit: Of the text.
        number: The text's.
        original: The text as it was signed.
    """
    one = audit.provenance[0] if audit.provenance else None
    named = [mark.payload.bits for mark in audit.named_marks]
    words = cut(audit.text or "").text
    return {
        "characters": len(words),
        "form": one.form if one else "",
        "state": one.state if one else "",
        "why": one.why if one else "",
        "soft_binding": one.soft_binding if one else "",
        "apart": one.fingerprint_distance if one else None,
        "layers": audit.finding.layers,
        "log10_e": round(audit.evidence.log10_e, 2),
        "verdict": audit.verdict,
        "right": PAYLOADS[number].text in named,
        "leads_back": binding_value(PAYLOADS[number].text, audit.profile.fingerprint)
        in audit.bindings,
        "score": max(0, 100 - bits_apart(text_fingerprint(original), text_fingerprint(words))),
    }


def summary(rows: list[dict[str, str]]) -> list[list[str]]:
    """Return one row a way: how many texts, and of these how many with what."""

    def share(count: int, of: int) -> str:
        return f"{100 * count / of:.0f}"

    table = []
    for name in dict.fromkeys(row["way"] for row in rows):
        mine = [row for row in rows if row["way"] == name]
        counts = {
            "manifest": [row["form"] for row in mine],
            "untouched": [row["state"] == "valid" for row in mine],
            "names the mark": [row["soft_binding"] == "agrees" for row in mine],
            "differs": [row["layers"] == "differ" for row in mine],
            "comment": [row["comment_form"] for row in mine],
            "comment untouched": [row["comment_state"] == "valid" for row in mine],
            "mark": [row["verdict"] == "mark" for row in mine],
            "payload": [row["right"] == "True" for row in mine],
            "leads back": [row["leads_back"] == "True" for row in mine],
        }
        score = statistics.median(int(row["score"]) for row in mine)
        shares = [share(sum(map(bool, found)), len(mine)) for found in counts.values()]
        table.append([name, str(len(mine)), *shares, f"{score:g}"])
    return table


SUMMARY = (
    *("way", "texts", "manifest", "untouched", "names the mark", "differs", "comment"),
    *("comment untouched", "mark", "payload", "leads back", "score"),
)


def ask(
    model: Any,
    profile: Profile,
    texts: list[str],
    ways: dict[str, Callable[[str], str]],
    rows: list[dict[str, str]],
) -> None:
    """Have a service find the manifests of the first texts by content; say where it differs.

    Args:
        model: Reads the texts.
        profile: Of the marks.
        texts: The marked texts; those that are asked about.
        ways: What is done to them.
        rows: What was found without a service.
    """
    from starlette.testclient import TestClient

    known = {(row["way"], int(row["text"])): row for row in rows}
    signer, same = Signer(profile), 0
    with tempfile.TemporaryDirectory() as home:
        at = Environment(
            paths=user_paths(home), lent_model=model, lent_keys={KEY.fingerprint: KEY}, device="cpu"
        )
        made = TokenFile(Places.of(at.paths).tokens).new(
            "press", Role.PUBLISHER, per_day=10**6, grants=[Grant.of_profile(profile)]
        )
        press = {"Authorization": f"Bearer {made}"}
        settings = Settings(
            anyone=True,
            public_lookups=True,
            soft_binding=NAME,
            hosts=("testserver",),
            # Short texts too: the question is where a manifest is, not what is said of a mark.
            protection=Protection(per_day_public=0, per_day_block=0, least_tokens=1),
        )
        setup = Setup(keys=(KeyRef(fingerprint=KEY.fingerprint),), profile=profile)
        with (
            Reader(
                at,
                setup,
                text_s=settings.limits.text_s,
                long_characters=settings.limits.long_characters,
            ) as reader,
            TestClient(create_app(at, reader, settings)) as client,
        ):
            names = []
            for text, payload in zip(texts, PAYLOADS, strict=False):
                kept = signer.signed(text, payload, WRAPPER)
                sent = press | {"Content-Type": "application/c2pa"}
                client.post("/v1/manifests", content=kept.store, headers=sent).raise_for_status()
                value = binding_value(payload.text, profile.fingerprint)
                told = {"manifestId": kept.manifest, "bindingValue": value}
                client.post("/v1/bindings", json=told, headers=press).raise_for_status()
                names.append(kept.manifest)
            for number, text in enumerate(texts):
                signed = signer.signed(text, PAYLOADS[number], WRAPPER).text
                for name, way in ways.items():
                    answer = client.post(
                        "/v1/matches/byContent",
                        content=way(signed).encode(),
                        headers={"Content-Type": "text/plain; charset=utf-8"},
                    )
                    found = answer.raise_for_status().json()["matches"]
                    scores = {one["manifestId"]: one["similarityScore"] for one in found}
                    row = known[name, number]
                    wanted = int(row["score"]) if row["leads_back"] == "True" else None
                    if scores.get(names[number]) == wanted:
                        same += 1
                    else:
                        print(name, number, found, wanted)
    print(f"by content: {same} of {len(texts) * len(ways)} as without a service")


def main() -> None:
    """Handle, read and audit what is missing, and print one row a way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--tools", type=Path, default=Path(), help="not for every way")
    parser.add_argument("--way", nargs="+", help="only these, and what is no handling")
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--ask", type=int, default=0, metavar="N", help="of a service, of N texts")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of a text")
    given = _common.parse(parser, texts=1, way=SMALL, tokens=60)
    _common.print_facts("Two layers", SEED)
    model, cache = _common.load_builtin(), Cache(given.cache)
    profile = Profile.new(model)
    # One layer is put beside the other one of the next text, so one text is too few.
    texts = texts_of(model, cache, profile, 2 if given.small else TEXTS, given.tokens)
    ways = {
        name: way
        for name, way in ways_of(given.tools).items()
        if given.way is None or name in given.way
    }
    signer = Signer(profile)
    options = Options(policy=replace(Policy(), draws=0), trust=signer.trust)
    path = given.cache / "two_layers.csv"
    done = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    known = {(row["way"], int(row["text"])) for row in done}
    with path.open("a", encoding="utf-8", newline="") as sink:
        into = csv.DictWriter(sink, COLUMNS)
        if not done:
            into.writeheader()
        for number in range(given.texts):
            mine = {form: signer.sign(texts[number], PAYLOADS[number], form) for form in FORMS}
            todo = dict.fromkeys(ways, mine) | {
                name: {WRAPPER: text} for name, text in moved(texts, number, signer).items()
            }
            todo = {name: signed for name, signed in todo.items() if (name, number) not in known}
            out = {
                name: {
                    form: ways.get(name, str)(text)
                    for form, text in signed.items()
                    if form == WRAPPER or name not in PRINTED
                }
                for name, signed in todo.items()
            }
            audits = audit_documents(
                [
                    AuditText(document=from_text(one[WRAPPER], name=name))
                    for name, one in out.items()
                ],
                model=model,
                keys=[(KEY, None)],
                profile=profile,
                options=options,
            )
            for (name, each), audit in zip(out.items(), audits, strict=True):
                row = {"way": name, "text": number} | row_of(audit, number, texts[number])
                if COMMENT in each:
                    told = in_texts([(each[COMMENT], "utf-8")], signer.trust)[0]
                    one = told[0] if told else None
                    row["comment_form"] = one.form if one else ""
                    row["comment_state"] = f"{one.state} {one.why}".strip() if one else ""
                into.writerow(row)
            sink.flush()
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    table = summary(rows)
    _common.print_table(SUMMARY, table)
    with (given.cache / "summary.csv").open("w", encoding="utf-8", newline="") as sink:
        csv.writer(sink).writerows([SUMMARY, *table])
    if given.ask:
        ask(model, profile, texts[: given.ask], ways, rows)


if __name__ == "__main__":
    main()
